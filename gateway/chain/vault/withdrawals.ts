/**
 * The life of withdrawals on the hub. What is decided here goes into the journal first:
 *
 *   PENDING -> SIGNED       with a deadline, while the vault can pay it and its day has room, the oldest first; only then may anybody get
 *                           a signature
 *   SIGNED -> SUBMITTED     its payment is in a block that does not count yet; back when it is not any more
 *   -> CONFIRMED            its payment is in a block that counts (logs of chain_watch.ts)
 *   -> EXPIRED              a block that counts is behind the deadline, and at that very block the nonce is unused: it is never paid
 *   PENDING -> FAILED       the vault can never pay it: the hub has no such token, or no such amount of it
 *
 * All of it happens in a turn in which the journaled cursor was found on the chain.
 */
import { CommandType } from '../../../core/layout/command.ts'
import type { Decoded } from '../../../core/layout/table.ts'
import { WithdrawalStatus } from '../../../core/layout/vault.ts'
import { dayCeiling, type WithdrawalView } from '../../../core/view/vault.ts'
import { rawOf } from './amounts.ts'
import type { ChainSight } from './chain_watch.ts'
import { wasTaken } from './commands.ts'
import { readPaid, topicOf, WITHDRAWAL_TOPIC, type PaidLog } from './events.ts'
import { findLog } from './find_log.ts'
import { BATCH_MAX } from './messages.ts'
import type { ChainParts } from './parts.ts'
import { Changes } from './tell.ts'
import { tokenOfAsset, type ChainToken } from './tokens.ts'
import type { NodeLog } from './types.ts'

/** Of one turn: those that are signed, and nonces that are asked about. */
const SIGNED_PER_TURN = 600
const EXPIRED_PER_TURN = 64

export interface WithdrawalParts extends Omit<ChainParts, 'sender' | 'clock'> {
  /** Sequenced time, Unix ms. */
  readonly time: () => number
}

/** Whether the vault can pay now. */
export interface Payable {
  /** False: nothing is authorised. */
  readonly any: boolean
  /** Base units that there are for one more authorisation; `null`: not of this token now. */
  room(token: ChainToken): bigint | null
}

type Advance = Omit<Decoded, 'row'>

/** What may be signed today of each asset. The engine decides; here it is only kept from being asked what it would refuse. */
class SignedToday {
  readonly #books: ChainParts['books']
  readonly #used = new Map<number, bigint>()

  constructor(books: ChainParts['books']) {
    this.#books = books
  }

  /** Whether this one fits beside what is signed and was taken here; then it is taken. */
  take({ asset, amount, countsAsFirst }: WithdrawalView): boolean {
    if (countsAsFirst === null) return true
    const { usedToday, totalDaily } = this.#books.totals(this.#books.genesis.assets[asset]!)
    const used = (this.#used.get(asset) ?? usedToday) + amount
    if (totalDaily > 0n && used > dayCeiling(totalDaily, amount, countsAsFirst)) return false
    this.#used.set(asset, used)
    return true
  }
}

export class Withdrawals {
  readonly #parts: WithdrawalParts
  readonly #changes: Changes
  confirmed = 0
  expired = 0
  /** Something waits for a block that would not come by itself on a chain that has one only with a transaction. */
  waitsForBlock = false

  constructor(parts: WithdrawalParts) {
    this.#parts = parts
    this.#changes = new Changes(parts.tell)
  }

  /** Payments in blocks that count become CONFIRMED: whether all of them are. */
  async take(logs: readonly NodeLog[]): Promise<boolean> {
    const paid = logs.flatMap((log) => readPaid(log) ?? [])
    if (paid.length === 0) return true
    const open = bySequence(this.#parts.books.withdrawals())
    const commands = paid.flatMap((log) => {
      const row = this.#paidRow(open, log)
      return row === null ? [] : [this.#advance(row, WithdrawalStatus.CONFIRMED, { block: log.block, txHash: log.txHash.slice(2) })]
    })
    const taken = await this.#send(commands)
    this.confirmed += taken
    return taken === commands.length
  }

  /** The rest of a turn. `open`: all that are under way. */
  async look(sight: ChainSight, open: readonly WithdrawalView[], payable: Payable): Promise<void> {
    await this.#sign(open.filter(({ status, needsApproval }) => status === WithdrawalStatus.PENDING && !needsApproval), sight, payable)
    const signed = open.filter(({ status }) => status === WithdrawalStatus.SIGNED || status === WithdrawalStatus.SUBMITTED)
    await this.#follow(signed, sight)
    await this.#expire(signed, sight)
  }

  /** The row that was paid; `null`: it is known already, or it is none of ours. */
  #paidRow(open: ReadonlyMap<number, WithdrawalView>, log: PaidLog): WithdrawalView | null {
    const { books, tell } = this.#parts
    const row = open.get(Number(log.nonce))
    const { token: paidToken, destination, txHash } = log
    const fields = { nonce: String(log.nonce), txHash, amount: String(log.amount), token: paidToken, destination }
    if (row === undefined) {
      if (log.nonce > BigInt(books.applied().sequence)) tell('error', 'the vault paid what this exchange never authorised', fields)
      return null
    }
    const token = this.#tokenOf(row)
    const same = token?.token === log.token && row.destination === log.destination && this.#rawOf(row, token) === log.amount
    if (same && row.status !== WithdrawalStatus.PENDING) return row
    this.#changes.say(`paid ${row.sequence}`, 'other', '', 'error', 'the vault paid another withdrawal under this nonce', fields)
    return null
  }

  async #sign(pending: readonly WithdrawalView[], { head }: ChainSight, payable: Payable): Promise<void> {
    const { books, time } = this.#parts
    const now = Math.max(time(), head.time)
    const deadline = Math.ceil((now + books.genesis.limits.withdrawalLifetimeMs) / 1000) * 1000
    const left = new Map<number, bigint>()
    const day = new SignedToday(books)
    const commands: Decoded[] = []
    for (const row of [...pending].sort((a, b) => a.sequence - b.sequence)) {
      const token = this.#tokenOf(row)
      const raw = token === undefined ? null : this.#rawOf(row, token)
      if (token === undefined || raw === null) {
        commands.push(this.#advance(row, WithdrawalStatus.FAILED, {}))
        continue
      }
      const room = payable.any ? (left.get(row.asset) ?? payable.room(token)) : null
      if (room === null || room < raw || !day.take(row)) continue
      left.set(row.asset, room - raw)
      commands.push(this.#advance(row, WithdrawalStatus.SIGNED, { deadline }))
      if (commands.length >= SIGNED_PER_TURN) break
    }
    await this.#send(commands)
  }

  /** SIGNED <-> SUBMITTED by the blocks that do not count yet. */
  async #follow(signed: readonly WithdrawalView[], sight: ChainSight): Promise<void> {
    this.waitsForBlock = false
    if (signed.length === 0 || !sight.caughtUp) return
    const paid = await this.#paidSince(sight)
    this.waitsForBlock = paid.size > 0
    const commands = signed.flatMap((row) => {
      const log = paid.get(row.sequence)
      const isSubmitted = row.status === WithdrawalStatus.SUBMITTED
      if (log === undefined) return isSubmitted ? [this.#advance(row, WithdrawalStatus.SIGNED, { deadline: row.deadline })] : []
      if (isSubmitted && row.block === log.block && row.txHash === log.txHash) return []
      // From one block to another it goes by way of SIGNED.
      if (isSubmitted) return [this.#advance(row, WithdrawalStatus.SIGNED, { deadline: row.deadline })]
      return [this.#advance(row, WithdrawalStatus.SUBMITTED, { block: log.block, txHash: log.txHash.slice(2), deadline: row.deadline })]
    })
    await this.#send(commands)
  }

  /** Payments in blocks that do not count yet, by nonce. */
  async #paidSince({ head, confirmed }: ChainSight): Promise<ReadonlyMap<number, PaidLog>> {
    const { node, places } = this.#parts
    if (head.number <= confirmed.number) return new Map()
    const query = { from: confirmed.number + 1, to: head, addresses: [places.vault], topics: [WITHDRAWAL_TOPIC] }
    const paid = (await node.logs(query)).flatMap((log) => readPaid(log) ?? [])
    return new Map(paid.map((log) => [Number(log.nonce), log]))
  }

  /** Those behind whose deadline there is a block that counts. */
  async #expire(signed: readonly WithdrawalView[], { confirmed, caughtUp }: ChainSight): Promise<void> {
    const { node, places, time } = this.#parts
    if (!caughtUp) return
    const over = signed.filter(({ deadline }) => confirmed.time > deadline)
    this.waitsForBlock ||= signed.some(({ deadline }) => confirmed.time <= deadline && time() > deadline + 1000)
    const commands: Decoded[] = []
    for (const row of over.slice(0, EXPIRED_PER_TURN)) {
      const used = await node.isNonceUsed(places.vault, BigInt(row.sequence), confirmed)
      if (used) await this.#findPaid(row, confirmed)
      else commands.push(this.#advance(row, WithdrawalStatus.EXPIRED, { block: confirmed.number, deadline: row.deadline }))
    }
    this.expired += await this.#send(commands)
  }

  /** It was paid, and its log was not among those that were told: it is looked for by its nonce. */
  async #findPaid(row: WithdrawalView, confirmed: ChainSight['confirmed']): Promise<void> {
    const { node, places, first } = this.#parts
    const topics = [WITHDRAWAL_TOPIC, topicOf(BigInt(row.sequence))]
    const log = await findLog(node, places.vault, topics, await first(), confirmed)
    if (log !== null) await this.take([log])
    else {
      const fields = { sequence: row.sequence }
      this.#changes.say(`lost ${row.sequence}`, 'lost', '', 'error', 'a withdrawal was paid, and its payment is not found', fields)
    }
  }

  /** Sends them; how many were taken. Stops where there is no room, or no answer. */
  async #send(all: readonly Decoded[]): Promise<number> {
    let taken = 0
    for (let from = 0; from < all.length; from += BATCH_MAX) {
      const outcomes = await this.#parts.commands.sendAll(CommandType.ADVANCE_WITHDRAWAL, all.slice(from, from + BATCH_MAX))
      taken += outcomes.filter(wasTaken).length
      if (outcomes.some((outcome) => typeof outcome === 'string')) break
    }
    return taken
  }

  #advance({ row, sequence }: WithdrawalView, to: number, more: Advance): Decoded {
    return { row, withdrawalSequence: sequence, to, ...more }
  }

  #tokenOf({ asset }: WithdrawalView): ChainToken | undefined {
    return tokenOfAsset(this.#parts.tokens, asset)
  }

  #rawOf({ amount }: WithdrawalView, { decimals, asset }: ChainToken): bigint | null {
    return rawOf(amount, decimals, asset.scale)
  }
}

const bySequence = (rows: readonly WithdrawalView[]): ReadonlyMap<number, WithdrawalView> =>
  new Map(rows.map((row) => [row.sequence, row]))
