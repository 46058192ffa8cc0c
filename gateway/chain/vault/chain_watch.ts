/**
 * One chain as it is followed: which block counts, whether the journaled cursor is still on the chain, and what the vault's logs between
 * the two say, in order.
 *
 * Everything of a range is told before the cursor goes on, so what a stop cut off is read again, and the engine knows what it had. Ranges
 * without anything move the cursor in memory alone; the journal hears of them once a minute.
 *
 * The block of the cursor must have the hash that the journal has. When it has another one, the chain reorganised behind the confirmations:
 * nothing is told any more until the operator rewinds the cursor. A node that has not come so far yet only lags.
 *
 * Deposits that were taken behind the cursor, before a stop or a crash cut the range off, are looked for as well: they must be where they
 * were, and none may have come before the last of them. Otherwise one that moved would be taken again, or one that came be passed by.
 */
import { CommandType } from '../../../core/layout/command.ts'
import type { ChainCursorView, TakenView } from '../../../core/view/vault.ts'
import { reasonOf, wasTaken } from './commands.ts'
import { DEPOSIT_TOPIC, readDeposit } from './events.ts'
import type { ChainParts } from './parts.ts'
import type { At, Hex, NodeBlock, NodeLog } from './types.ts'
import { Changes } from './tell.ts'

/** Blocks of one question for logs, and questions of one turn. */
const RANGE = 2_000
const RANGES_PER_TURN = 8
/** The journal hears of blocks without anything for it so often, ms. */
const QUIET_MS = 60_000

export interface WatchParts extends Omit<ChainParts, 'places' | 'sender' | 'tokens'> {
  /** Contracts and topics of the logs that are told. */
  readonly addresses: readonly Hex[]
  readonly topics: readonly Hex[]
  /** Blocks after which one counts, its own among them. */
  readonly confirmations: number
}

/** The chain in this turn: its cursor was checked. */
export interface ChainSight {
  readonly head: NodeBlock
  /** The newest block that counts. */
  readonly confirmed: NodeBlock
  /** Row of its cursor. */
  readonly chain: number
  /** All logs up to `confirmed` were told. */
  readonly caughtUp: boolean
}

/** Takes logs of blocks that count, in their order: how many of them are done with. The others come again. */
export type TakeLogs = (logs: readonly NodeLog[], cursor: ChainCursorView) => Promise<number>

const nameOf = ({ block, logIndex, txHash }: TakenView | NodeLog): string => `${block}/${logIndex}/${txHash}`

export class ChainWatch {
  readonly #parts: WatchParts
  readonly #changes: Changes
  /** How far it was read; at least the journaled cursor. */
  #read: At | null = null
  #saidAt = -Infinity
  /** The journaled cursor is on a chain that is no more. */
  reorganised = false
  head = -1
  confirmed = -1
  connected = false

  constructor(parts: WatchParts) {
    this.#parts = parts
    this.#changes = new Changes(parts.tell)
  }

  get chainId(): number {
    return this.#parts.node.chainId
  }

  get cursor(): ChainCursorView | undefined {
    return this.#parts.books.cursors().find((each) => each.chainId === this.chainId)
  }

  /** Blocks between what was read and what counts. */
  get lag(): number {
    return this.confirmed < 0 ? 0 : Math.max(0, this.confirmed - (this.#read?.number ?? this.cursor?.block ?? 0))
  }

  /** One bounded turn; `null`: nothing can be said of the chain now. Throws ChainUnavailable. */
  async look(take: TakeLogs): Promise<ChainSight | null> {
    const { node, confirmations } = this.#parts
    const head = await node.head()
    this.head = head.number
    const number = Math.max(0, head.number - (confirmations - 1))
    const confirmed = number === head.number ? head : await node.block(number)
    if (confirmed === null) return null
    this.confirmed = number
    const cursor = this.cursor ?? (await this.#begin(confirmed))
    if (cursor === undefined || !(await this.#check(cursor, confirmed))) return null
    const caughtUp = await this.#readOn(cursor, confirmed, take)
    return caughtUp === null ? null : { head, confirmed, chain: cursor.chain, caughtUp }
  }

  /** The cursor of a chain that was never read: just before the vault was. */
  async #begin(confirmed: NodeBlock): Promise<ChainCursorView | undefined> {
    const { node, books, tell, first } = this.#parts
    const block = await node.block(Math.max(0, (await first()) - 1))
    if (block === null || block.number > confirmed.number) return undefined
    if (!(await this.#advance(books.cursors().length, block))) return undefined
    tell('info', 'the chain is followed from here', { chainId: this.chainId, block: block.number })
    return this.cursor
  }

  /** Whether the block of the cursor is on the chain, and what was taken up to `confirmed` behind it where it was. */
  async #check(cursor: ChainCursorView, confirmed: NodeBlock | null = null): Promise<boolean> {
    const { node, tell } = this.#parts
    const { block, blockHash } = cursor
    const found = this.head < block ? null : await node.block(block)
    this.#changes.say(
      'behind', found === null ? 'behind' : 'there', 'there', 'warn',
      found === null ? 'the node has not come to the cursor of the journal; it is waited for' : 'the node has the cursor of the journal',
      { chainId: this.chainId, cursor: block, head: this.head },
    )
    if (found === null) return false
    const stands = found.hash === blockHash && confirmed !== null ? await this.#hasTaken(cursor, confirmed) : true
    if (stands === null) return false
    const reorganised = found.hash !== blockHash || !stands
    if (reorganised !== this.reorganised) {
      const fields = { chainId: this.chainId, block, journal: blockHash, chain: found.hash }
      const gone = 'the chain reorganised behind its confirmations; nothing of it is taken until the operator rewinds'
      if (reorganised) tell('error', gone, fields)
      else tell('info', 'the cursor of the chain is on it again', fields)
    }
    this.reorganised = reorganised
    if (reorganised) this.#read = null
    return !reorganised
  }

  /** Whether what was taken behind the cursor is where it was, and nothing before it that was not; `null`: that is not known now. */
  async #hasTaken({ chain, block, depositBlock, depositLog }: ChainCursorView, confirmed: NodeBlock): Promise<boolean | null> {
    const { node, books, addresses } = this.#parts
    const { taken, whole } = books.taken(chain, block)
    const last = taken.reduce((most, each) => Math.max(most, each.block), block)
    if (last > confirmed.number) return null
    const left = new Set(taken.map(nameOf))
    for (let from = block + 1; from <= last; from += RANGE) {
      const to = await node.block(Math.min(last, from + RANGE - 1))
      if (to === null) return null
      for (const log of await node.logs({ from, to, addresses, topics: [DEPOSIT_TOPIC] })) {
        const known = left.delete(nameOf(log))
        const passed = log.block < depositBlock || (log.block === depositBlock && log.logIndex <= depositLog)
        if (!known && passed && whole && readDeposit(log) !== null) return false
      }
    }
    return left.size === 0
  }

  /** Tells what is between the cursor and `confirmed`: whether that is all; `null`: the chain is another one meanwhile. */
  async #readOn(cursor: ChainCursorView, confirmed: NodeBlock, take: TakeLogs): Promise<boolean | null> {
    const { node, addresses, topics } = this.#parts
    let at = await this.#where(cursor)
    for (let range = 0; at.number < confirmed.number; range++) {
      if (range === RANGES_PER_TURN) return false
      const number = Math.min(at.number + RANGE, confirmed.number)
      const to = number === confirmed.number ? confirmed : await node.block(number)
      if (to === null) return null
      const logs = await node.logs({ from: at.number + 1, to, addresses, topics: [topics] })
      // A cursor that is still on the chain now was so while the logs were read, or they are those of the chain as it is now.
      if (logs.length > 0) {
        if (!(await this.#check(cursor))) return null
        const done = await take(logs, cursor)
        if (done < logs.length) return this.#advanceBefore(cursor, logs[done]!)
        if (!(await this.#advance(cursor.chain, to))) return false
      }
      at = this.#read = { number: to.number, hash: to.hash }
    }
    const isQuiet = this.#parts.clock() - this.#saidAt >= QUIET_MS
    if (isQuiet && at.number === confirmed.number && at.number > (this.cursor?.block ?? at.number)) {
      await this.#advance(cursor.chain, confirmed)
    }
    return true
  }

  /** The cursor goes to the block before the first log that is not done with. */
  async #advanceBefore(cursor: ChainCursorView, log: NodeLog): Promise<false> {
    const block = log.block - 1 > cursor.block ? await this.#parts.node.block(log.block - 1) : null
    if (block !== null && (await this.#check(cursor))) await this.#advance(cursor.chain, block)
    return false
  }

  /** From where on it is read: from memory when that block is still on the chain, else from the journal. */
  async #where(cursor: ChainCursorView): Promise<At> {
    const read = this.#read
    if (read !== null && read.number > cursor.block && read.number <= this.head) {
      const found = await this.#parts.node.block(read.number)
      if (found?.hash === read.hash) return read
    }
    return { number: cursor.block, hash: cursor.blockHash as Hex }
  }

  async #advance(chain: number, { number, hash, time }: NodeBlock): Promise<boolean> {
    const { commands, tell } = this.#parts
    const values = { chain, chainId: this.chainId, block: number, blockTime: time, blockHash: hash.slice(2) }
    const outcome = await commands.send(CommandType.ADVANCE_CHAIN, values)
    if (wasTaken(outcome)) this.#saidAt = this.#parts.clock()
    else tell('warn', 'the cursor of a chain was not taken', { chainId: this.chainId, block: number, reason: reasonOf(outcome) })
    return wasTaken(outcome)
  }
}
