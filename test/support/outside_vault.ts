/** A chain outside the exchange with the contracts of one, and what the exchange needs to know of them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey } from 'viem/accounts'
import type { Genesis } from '../../core/state/genesis.ts'
import { setUpOwnVault } from '../../gateway/chain/vault/deploy.ts'
import { createChainNode } from '../../gateway/chain/vault/node.ts'
import { startSigner } from '../../gateway/chain/vault/signer.ts'
import type { Hex, Places } from '../../gateway/chain/vault/types.ts'
import type { DevnetNode } from './devnet_node.ts'

export interface OutsideVault extends Places {
  /** Owner and operator of the contracts, minter of the tokens. */
  readonly key: Hex
  /** For --vault-key-file and --genesis. */
  readonly keyFile: string
  readonly genesisFile: string
}

/** Sets up the vault of a new key on a chain that is prepared for `genesis`; `genesisText` is that of the exchange. */
export async function setUpOutsideVault(
  { url, directory }: DevnetNode, genesis: Pick<Genesis, 'chainId' | 'sweeperChains'>, genesisText: string,
): Promise<OutsideVault> {
  const key = generatePrivateKey()
  const { signer, end } = await startSigner({ kind: 'given', key })
  const node = createChainNode({ chainId: genesis.chainId, url, timeoutMs: 10_000, now: Date.now })
  const places = await setUpOwnVault({ node, signer, genesis, dataDir: directory, feePerGasMax: 10n ** 9n })
  await end()
  const [genesisFile, keyFile] = [join(directory, 'genesis.json'), join(directory, 'operator.key')]
  writeFileSync(genesisFile, genesisText)
  writeFileSync(keyFile, key.slice(2), { mode: 0o600 })
  return { ...places, key, keyFile, genesisFile }
}
