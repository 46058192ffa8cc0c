/**
 * Whether the vault has what users have, token by token of the hub, at one block that counts:
 *
 *   what the vault holds + what it paid and the engine does not know of yet + what vaults on other chains hold
 *     >= ISSUED - what the faucet issued and nobody minted
 *
 * The engine knows of no deposit, payment or mint of a later block, so the state may be read after the block was chosen. A withdrawal that
 * was paid and not confirmed is looked for only when the sum does not come out without it, and other chains are asked only then; so none of
 * them can hold up the hub otherwise. A deficit that is seen twice stops withdrawals; the operator alone lets them go on.
 */
import { CommandType } from '../../../core/layout/command.ts'
import { WithdrawalStatus, WithdrawalStop } from '../../../core/layout/vault.ts'
import type { Asset } from '../../../core/state/genesis.ts'
import type { WithdrawalView } from '../../../core/view/vault.ts'
import { rawOf } from './amounts.ts'
import type { TokenSolvency } from './messages.ts'
import type { ChainParts } from './parts.ts'
import { tokenOfAsset, type ChainToken } from './tokens.ts'
import type { NodeBlock } from './types.ts'

/** Between two looks when nobody needs one, ms. */
const LOOK_MS = 5_000
/** Nonces that are asked about at once, and at most. */
const ASKED = 8
const ASKED_MAX = 4_096
/** So many looks in a row have to find a deficit. */
const STRIKES = 2

export interface SolvencyParts extends Omit<ChainParts, 'sender' | 'first'> {
  /** Atoms of an asset that vaults on other chains have. Throws ChainUnavailable. */
  readonly elsewhere: (asset: Asset) => Promise<bigint>
}

/** Base units of atoms, rounded up. */
export function rawUp(atoms: bigint, decimals: number, scale: number): bigint {
  if (decimals >= scale) return rawOf(atoms, decimals, scale)!
  const unit = 10n ** BigInt(scale - decimals)
  return atoms > 0n ? (atoms + unit - 1n) / unit : atoms / unit
}

/** Whole base units of atoms. */
const rawDown = (atoms: bigint, decimals: number, scale: number): bigint =>
  decimals >= scale ? rawOf(atoms, decimals, scale)! : atoms / 10n ** BigInt(scale - decimals)

export class Solvency {
  readonly #parts: SolvencyParts
  #rows: TokenSolvency[] = []
  readonly #holdings = new Map<number, bigint>()
  /** Looks in a row that found a deficit. */
  #strikes = 0
  #lookedAt = -Infinity

  constructor(parts: SolvencyParts) {
    this.#parts = parts
  }

  get rows(): readonly TokenSolvency[] {
    return this.#rows
  }

  /** Some token has less than it should; nothing is authorised. */
  get inDeficit(): boolean {
    return this.#strikes > 0
  }

  /** Base units that are there for one more authorisation of an asset at the last look; `null`: not known. */
  room(asset: number, open: readonly WithdrawalView[]): bigint | null {
    const holdings = this.#holdings.get(asset)
    const token = tokenOfAsset(this.#parts.tokens, asset)
    if (holdings === undefined || token === undefined) return null
    let room = holdings
    for (const each of open) {
      if (each.asset !== asset || each.status === WithdrawalStatus.PENDING) continue
      room -= rawUp(each.amount, token.decimals, token.asset.scale)
    }
    return room
  }

  /** Looks at all tokens at the block, if it is time or `now`. Throws ChainUnavailable; then nothing is known. */
  async look(at: NodeBlock, now: boolean): Promise<void> {
    const { clock, tokens } = this.#parts
    if (!now && this.#strikes === 0 && clock() - this.#lookedAt < LOOK_MS) return
    this.#holdings.clear()
    const rows: TokenSolvency[] = []
    for (const token of tokens.values()) rows.push(await this.#tokenAt(token, at))
    this.#lookedAt = clock()
    this.#rows = rows
    await this.#judge(rows.filter(({ deficit }) => deficit !== '0'))
  }

  async #tokenAt(token: ChainToken, at: NodeBlock): Promise<TokenSolvency> {
    const { node, places, books, elsewhere: heldElsewhere } = this.#parts
    const { asset, decimals } = token
    const holdings = await node.balanceOf(token.token, places.vault, at)
    this.#holdings.set(asset.index, holdings)
    const { issued, faucetOutstanding } = books.totals(asset)
    const liabilities = rawUp(issued - faucetOutstanding, decimals, asset.scale)
    const inFlight = holdings < liabilities ? await this.#paid(token, at) : 0n
    const missing = liabilities - holdings - inFlight
    const elsewhere = missing > 0n ? rawDown(await heldElsewhere(asset), decimals, asset.scale) : 0n
    const deficit = missing - elsewhere
    return {
      asset: asset.index, symbol: asset.symbol, token: token.token, holdings: String(holdings), liabilities: String(liabilities),
      inFlight: String(inFlight), elsewhere: String(elsewhere), deficit: String(deficit > 0n ? deficit : 0n),
    }
  }

  /** Base units of open withdrawals whose nonce is used at the block. */
  async #paid({ asset, decimals }: ChainToken, at: NodeBlock): Promise<bigint> {
    const { node, places, books } = this.#parts
    const open = books.withdrawals().filter((each) => each.asset === asset.index).slice(0, ASKED_MAX)
    let paid = 0n
    for (let from = 0; from < open.length; from += ASKED) {
      const some = open.slice(from, from + ASKED)
      const used = await Promise.all(some.map(({ sequence }) => node.isNonceUsed(places.vault, BigInt(sequence), at)))
      for (const [i, each] of some.entries()) if (used[i]!) paid += rawUp(each.amount, decimals, asset.scale)
    }
    return paid
  }

  async #judge(short: readonly TokenSolvency[]): Promise<void> {
    const { commands, books, tell } = this.#parts
    if (short.length === 0) {
      if (this.#strikes > 0) tell('info', 'the vault has what users have again', {})
      this.#strikes = 0
      return
    }
    this.#strikes++
    if (this.#strikes === 1) tell('error', 'the vault has less than users have; nothing is authorised', { tokens: short })
    if (this.#strikes < STRIKES || books.stopped() === WithdrawalStop.SOLVENCY) return
    if (this.#strikes === STRIKES) tell('error', 'withdrawals are stopped until the operator allows them', { tokens: short })
    await commands.send(CommandType.STOP_WITHDRAWALS, { cause: WithdrawalStop.SOLVENCY })
  }
}
