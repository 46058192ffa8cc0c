/** Where the contracts of the exchange are, and that they are its own: before that nothing is read or sent. */
import { encodeFunctionData } from 'viem'
import type { Genesis } from '../../../core/state/genesis.ts'
import { ChainUnavailable } from '../client.ts'
import { VAULT_ABI } from './artifacts.ts'
import { problemsOf } from './check.ts'
import { hubTokens, scopeOf, setUpOwnVault } from './deploy.ts'
import type { Tell } from './tell.ts'
import type { At, ChainNode, Places, Signer } from './types.ts'

/** A question about an old block that fails so often is one that the node cannot answer. */
const TRIES = 3

export interface ContractsParts {
  /** The hub. */
  readonly node: ChainNode
  readonly signer: Signer
  readonly genesis: Genesis
  readonly dataDir: string
  /** Of an outside node; `null`: the embedded chain, whose contracts are made. */
  readonly places: Places | null
  /** Other chains on which is swept. */
  readonly chains: readonly number[]
  readonly feePerGasMax: bigint
  readonly tell: Tell
}

/** What is wrong, in words: somebody has to do something. */
export class WrongContracts extends Error {
  override name = 'WrongContracts'
}

/** Finds or makes them, and tells the signer its scope. Throws {@link WrongContracts}, and what node and signer throw. */
export async function findContracts(parts: ContractsParts): Promise<Places> {
  const { node, signer, genesis, dataDir, places, chains, feePerGasMax, tell } = parts
  if (places === null) {
    const said = (step: string): void => tell('info', 'contracts of the exchange', { step })
    return setUpOwnVault({ node, signer, genesis, dataDir, chains, feePerGasMax, said })
  }
  const tokens = hubTokens(genesis, false)
  const problems = await problemsOf(node, places, await signer.address(), tokens)
  // A vault that is paused, or pays less than all tokens, works again by itself later.
  const grave = problems.filter((problem) => problem !== 'the vault is paused' && !problem.startsWith('the vault does not list'))
  if (grave.length > 0) throw new WrongContracts(grave.join('; '))
  if (problems.length > 0) tell('warn', 'the vault cannot pay everything now', { problems })
  const own = { tokens: tokens.map(({ address }) => address), chains: [...new Set([places.chainId, ...chains])] }
  await signer.bind(scopeOf(places, { ...own, deploys: false, feePerGasMax }))
  return places
}

/**
 * The first block that has the vault, or one shortly before it. A node without old states can be asked about new blocks only: then it is
 * the first that it knows of, and the log says so.
 */
export async function firstBlock(node: ChainNode, { vault }: Pick<Places, 'vault'>, tell: Tell): Promise<number> {
  const data = encodeFunctionData({ abi: VAULT_ABI, functionName: 'lastBatch' })
  const head = await node.head()
  let [low, high, forgotten] = [-1, head.number, false]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const there = await isThere(node, middle, (at) => node.call(vault, data, at))
    forgotten ||= there === null
    if (there === true) high = middle
    else low = middle
  }
  if (forgotten) {
    const from = { chainId: node.chainId, block: high }
    tell('warn', 'the node does not know old states; deposits are read from here, and the operator may rewind', from)
  }
  return high
}

/** `null`: the node does not say. */
async function isThere(node: ChainNode, number: number, ask: (at: At) => Promise<string | null>): Promise<boolean | null> {
  const block = await node.block(number)
  if (block === null) throw new ChainUnavailable(`the node has no block ${number}`)
  for (let tries = 1; ; tries++) {
    try {
      const answer = await ask(block)
      return answer !== null && answer !== '0x'
    } catch (error) {
      if (tries === TRIES) return null
      if (!(error instanceof ChainUnavailable)) throw error
    }
  }
}
