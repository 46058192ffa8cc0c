/**
 * What the faucet issued is minted on the hub too, to the vault, when the token is a TestToken whose minter is the exchange's key.
 *
 * The id of a mint follows from what was minted before it, so a mint that was cut off is not made twice; what it was for is then read
 * from the chain. The engine hears of a mint when its block counts.
 */
import { encodeAbiParameters, encodeFunctionData, keccak256 } from 'viem'
import { CommandType } from '../../../core/layout/command.ts'
import { atomsOf, rawOf } from './amounts.ts'
import { TOKEN_ABI } from './artifacts.ts'
import type { ChainSight } from './chain_watch.ts'
import { wasTaken } from './commands.ts'
import { MINTED_TOPIC, readMinted, type MintedLog } from './events.ts'
import { findLog } from './find_log.ts'
import { Job } from './job.ts'
import type { ChainParts } from './parts.ts'
import type { ChainToken } from './tokens.ts'
import type { Hex, NodeBlock } from './types.ts'

/** Whose tokens they are is asked again after this long, ms. */
const MINTER_MS = 60_000
/** Requests so long before the block of a mint that nobody remembers are taken to be in it, ms. */
const FORGOTTEN_MS = 60_000

export type FaucetParts = ChainParts

interface Token {
  readonly of: ChainToken
  readonly job: Job
  ours: boolean
  askedAt: number
  /** What the last mint of this thread was for: its id, and every request up to this sequenced time. */
  sent: { readonly id: Hex; readonly through: number } | null
}

export class FaucetMinter {
  readonly #parts: FaucetParts
  readonly #tokens: readonly Token[]
  mints = 0
  waitsForBlock = false

  constructor(parts: FaucetParts) {
    this.#parts = parts
    this.#tokens = [...parts.tokens.values()].map((of) => ({
      of, job: new Job(`minting ${of.asset.symbol} of the faucet`, parts.tell, parts.clock), ours: false, askedAt: -Infinity, sent: null,
    }))
  }

  /** Throws ChainUnavailable. */
  async look(sight: ChainSight): Promise<void> {
    this.waitsForBlock = false
    for (const token of this.#tokens) await this.#lookAt(token, sight)
  }

  async idle(): Promise<void> {
    for (const { job } of this.#tokens) await job.idle()
  }

  async #lookAt(token: Token, { head, confirmed }: ChainSight): Promise<void> {
    const { books, tell } = this.#parts
    const { of, job } = token
    const { time } = books.applied()
    const { faucetOutstanding, minted } = books.totals(of.asset)
    if (faucetOutstanding <= 0n || !job.isFree || !(await this.#isOurs(token))) return
    const id = mintId(of.token, minted)
    if (await this.#isMinted(of.token, id, confirmed)) return this.#tellEngine(token, id, confirmed)
    if (head.number > confirmed.number && (await this.#isMinted(of.token, id, head))) {
      this.waitsForBlock = true
      return
    }
    const { decimals, asset } = of
    // Atoms that are no whole base unit of the token wait for more.
    const unit = decimals < asset.scale ? 10n ** BigInt(asset.scale - decimals) : 1n
    const raw = rawOf(faucetOutstanding - (faucetOutstanding % unit), decimals, asset.scale)!
    if (raw === 0n) return
    token.sent = { id, through: time }
    job.start(async () => {
      const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [id, this.#parts.places.vault, raw] })
      const { succeeded, txHash } = await this.#parts.sender.send(of.token, data)
      if (!succeeded) tell('warn', 'a mint of the faucet reverted', { token: of.token, txHash })
    })
  }

  /** The mint counts: the engine hears what it was of. */
  async #tellEngine(token: Token, id: Hex, confirmed: NodeBlock): Promise<void> {
    const { node, places, commands, books, first } = this.#parts
    const { asset, decimals, token: address } = token.of
    const log = await findLog(node, address, [MINTED_TOPIC, id], await first(), confirmed)
    const read = log === null ? null : readMinted(log)
    if (read === null || read.to !== places.vault) return
    const { atoms } = atomsOf(read.amount, decimals, asset.scale)
    const { time } = books.applied()
    const { faucetOutstanding } = books.totals(asset)
    const amount = atoms > faucetOutstanding ? faucetOutstanding : atoms
    const through = amount === faucetOutstanding ? time : await this.#throughOf(token, id, read)
    const outcome = await commands.send(CommandType.FAUCET_MINTED, { asset: asset.index, amount, through, txHash: read.txHash.slice(2) })
    if (wasTaken(outcome)) this.mints++
  }

  /** Every request up to this time is in the mint, which is not of all of them. */
  async #throughOf({ sent }: Token, id: Hex, { block }: MintedLog): Promise<number> {
    if (sent?.id === id) return sent.through
    const found = await this.#parts.node.block(block)
    return Math.max(0, (found?.time ?? 0) - FORGOTTEN_MS)
  }

  async #isOurs(token: Token): Promise<boolean> {
    const { node, sender, clock } = this.#parts
    if (clock() - token.askedAt < MINTER_MS) return token.ours
    const minter = await node.call(token.of.token, encodeFunctionData({ abi: TOKEN_ABI, functionName: 'minter' }))
    token.ours = minter !== null && minter.length === 66 && `0x${minter.slice(-40)}` === sender.address.toLowerCase()
    token.askedAt = clock()
    return token.ours
  }

  async #isMinted(token: Hex, id: Hex, at: NodeBlock): Promise<boolean> {
    const answer = await this.#parts.node.call(token, encodeFunctionData({ abi: TOKEN_ABI, functionName: 'minted', args: [id] }), at)
    return answer !== null && answer.length === 66 && BigInt(answer) === 1n
  }
}

/** Of the mint behind so many minted atoms. */
export const mintId = (token: Hex, mintedBefore: bigint): Hex => keccak256(encodeAbiParameters(
  [{ type: 'string' }, { type: 'address' }, { type: 'uint256' }], ['faucet', token, mintedBefore],
))
