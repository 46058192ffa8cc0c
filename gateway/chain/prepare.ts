/**
 * What the embedded chain has from its first blocks on, besides what is sent to it: the deployer of contracts that other chains have too,
 * and the code of the tokens of the exchange at the addresses that its genesis names. Who the minter of a token is the vault thread says
 * (vault/deploy.ts), before it relies on any. Idempotent: what is there stays, of whatever version it is.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import type { Devnet } from './devnet.ts'
import { CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE } from './vault/artifacts.ts'
import { artifact } from './vault/artifact_file.ts'
import type { SetCode } from './set_code.ts'
import type { Hex } from './values.ts'

/** Addresses of the tokens on the chain of settlement; none when the embedded chain is not that. Lowercase. */
export function tokensOf({ chainId, sweeperChains }: Pick<Genesis, 'chainId' | 'sweeperChains'>): readonly Hex[] {
  const hub = sweeperChains.find((chain) => chain.hub)
  return hub === undefined || hub.chainId !== chainId ? [] : hub.assets.map(({ tokenAddress }) => tokenAddress.toLowerCase() as Hex)
}

/** Puts code where there is none yet; to how many addresses. */
export async function prepareChain(devnet: Devnet, genesis: Pick<Genesis, 'chainId' | 'sweeperChains'>): Promise<number> {
  const tokens = tokensOf(genesis)
  if (tokens.length === 0) return 0
  const code = artifact('TestToken').deployedBytecode
  const wanted: SetCode[] = [
    { address: CREATE2_DEPLOYER, code: CREATE2_DEPLOYER_CODE }, ...tokens.map((address): SetCode => ({ address, code })),
  ]
  let put = 0
  for (const what of wanted) {
    if ((await devnet.code(what.address, devnet.find('latest')!)) !== '0x') continue
    await devnet.setCode(what)
    put++
  }
  return put
}
