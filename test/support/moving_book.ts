/**
 * A deep book that moves as fast as the matcher can: a thread that posts orders and cancels on the operator's lane of a harness. Command n
 * is a function of n and of the slots that the engine gave to orders long before it, so an engine beside makes the same book again, at any
 * sequence.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { apply, setTime } from '../../core/engine/apply.ts'
import { CommandType, Flag, kindOf, ORDER_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, viewsOf, type Views } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { attachRing, available, consume, front, publish, reserve } from '../../core/ring/spsc.ts'
import { wake } from '../../core/ring/wait.ts'
import { BALANCE, CLOCK } from '../../core/state/columns.ts'
import { createOutbox } from '../../core/state/outbox.ts'
import { balanceRow, setI64 } from '../../core/state/rows.ts'
import { attachState, type State } from '../../core/state/state.ts'
import { readSessionRow } from '../../core/view/accounts.ts'
import type { Lane } from '../../core/threads.ts'
import type { Harness, Session } from './gateway_harness.ts'

/** Commands there can be, those under way at once, and how long before its cancel an order was placed; odd. */
const MOST = 1 << 21
const [IN_FLIGHT, AGO] = [4096, 8193]
const MIDDLE = 1_000_000
/** Of three ticks one has a level in the beginning. */
const GAP = 3

type Trader = Pick<Session, 'row' | 'generation'>

/** The commands. */
export class Moves {
  readonly #traders: readonly Trader[]
  readonly #levels: number
  readonly #random
  /** By number of the command that placed it. */
  readonly slots = new Int32Array(MOST)
  readonly #first: number

  /** `levels` of each side; `first`: sequence of command 0. */
  constructor(traders: readonly Trader[], levels: number, first: number, seed: number) {
    this.#traders = traders
    this.#levels = levels
    this.#first = first
    this.#random = createPrng(seed)
  }

  /** Writes command `n`; in the order of their numbers. */
  write(views: Views, at: number, n: number): void {
    const moved = n - 2 * this.#levels
    const order = moved % 2 === 1 ? n - AGO : n
    const { row: session, generation: sessionGeneration } = this.#traders[order % this.#traders.length]!
    const by = { session, sessionGeneration, correlation: n }
    if (moved > AGO && moved % 2 === 1) {
      const kind = kindOf(CommandType.CANCEL_ORDER, 1, 0)
      encode(ORDER_COMMAND, views, at, { kind, ...by, targetSequence: this.#first + order, targetSlot: this.slots[order]! })
      return
    }
    const bid = n % 4 < 2
    const takes = moved > 0 && n % 32 === 0
    const away = moved < 0 ? GAP * (n >>> 2) + (n & 1) : this.#random.below(GAP * this.#levels)
    const price = takes ? (bid ? MIDDLE + 2000 : MIDDLE - 2000) : bid ? MIDDLE - 1 - away : MIDDLE + away
    const flags = (bid ? 0 : Flag.SELL) | (takes ? Flag.IOC : 0)
    encode(ORDER_COMMAND, views, at, { kind: kindOf(CommandType.PLACE_ORDER, 1, 0), ...by, pair: 0, flags, price, lots: 10 + (n % 7) })
  }
}

interface MoverData {
  readonly lane: Lane
  readonly matcherWait: SharedArrayBuffer
  readonly traders: readonly Trader[]
  readonly levels: number
  readonly first: number
  readonly seed: number
  readonly control: SharedArrayBuffer
}
/** Words of the control: commands that may be sent, that were answered; 1: end. */
const [LIMIT, DONE, END] = [0, 1, 2]

/** The thread: always something under way, up to the limit. */
function move({ lane, matcherWait, traders, levels, first, seed, control }: MoverData): void {
  const [commands, replies] = [attachRing(lane.commands), attachRing(lane.replies)]
  const [words, matcher] = [new Int32Array(control), new Int32Array(matcherWait)]
  const moves = new Moves(traders, levels, first, seed)
  for (let [sent, done] = [0, 0]; Atomics.load(words, END) === 0;) {
    let more = 0
    for (const limit = Atomics.load(words, LIMIT); sent < limit && sent - done < IN_FLIGHT; sent++, more++) {
      const at = reserve(commands, more)
      if (at < 0) break
      moves.write(commands.slots, at, sent)
    }
    if (more > 0) publish(commands, more)
    wake(matcher)
    const answered = available(replies)
    for (let i = 0; i < answered; i++) {
      const at = front(replies, i)
      moves.slots[replies.slots.u32[at + RESULT.at.correlation]!] = replies.slots.i32[at + RESULT.at.slot]!
    }
    if (answered > 0) consume(replies, answered)
    done += answered
    Atomics.store(words, DONE, done)
  }
}

export class MovingBook {
  readonly #words = new Int32Array(new SharedArrayBuffer(64))
  readonly #harness: Harness
  readonly #data: MoverData
  readonly #worker: Worker
  #again: State | null = null
  /** Sequence up to which the engine beside is, and its commands. */
  #sequence = 0
  #moves: Moves | null = null

  /** A book with `levels` on each side, made by `traders`. Nobody else may use the operator's lane meanwhile. */
  constructor(harness: Harness, traders: readonly Session[], levels: number, seed: number) {
    this.#harness = harness
    const { state, shared } = harness
    for (const { row } of traders) {
      for (const { index } of harness.genesis.assets) {
        setI64(state, balanceRow(state, readSessionRow(state, row)!.account, index), BALANCE.AVAILABLE, 10n ** 17n)
      }
    }
    this.#data = {
      lane: shared.lanes[0]!, matcherWait: shared.matcherWait, levels, seed, control: this.#words.buffer as SharedArrayBuffer,
      traders: traders.map(({ row, generation }) => ({ row, generation })), first: harness.lastSequence() + 1,
    }
    this.#again = this.#copy()
    this.#worker = new Worker(import.meta.filename, { workerData: this.#data })
  }

  /** An engine that is where that of the harness is, which must be at rest. */
  #copy(): State {
    const { buffers } = this.#harness.state
    const memory = new SharedArrayBuffer(buffers.memory.byteLength)
    new Uint8Array(memory).set(new Uint8Array(buffers.memory))
    const state = attachState(this.#harness.genesis, { ...buffers, memory }, createOutbox(8192))
    state.outbox.overflow = () => (state.outbox.count = 0)
    this.#sequence = state.clock[CLOCK.SEQUENCE]!
    this.#moves = new Moves(this.#data.traders, this.#data.levels, this.#data.first, this.#data.seed)
    return state
  }

  /** Waits until the book stands. */
  async built(): Promise<void> {
    await this.#upTo(2 * this.#data.levels)
  }

  /** From here on it moves. */
  go(): void {
    Atomics.store(this.#words, LIMIT, MOST)
  }

  /** Commands answered so far. */
  get done(): number {
    return Atomics.load(this.#words, DONE)
  }

  /** Comes to rest; sequence of the last command. */
  async rest(): Promise<number> {
    await this.#upTo(Math.min(MOST, this.done + 2 * IN_FLIGHT))
    return this.#harness.lastSequence()
  }

  async #upTo(limit: number): Promise<void> {
    Atomics.store(this.#words, LIMIT, limit)
    for (let look = 0; look < 10_000 && this.done < limit; look++) await new Promise((resolve) => setTimeout(resolve, 2))
    if (this.done < limit) throw new Error('the book does not come to rest')
  }

  async end(): Promise<void> {
    Atomics.store(this.#words, END, 1)
    await new Promise((resolve) => this.#worker.once('exit', resolve))
  }

  /** The state as it was behind the command with this sequence; not before that of the last call. */
  stateAt(sequence: number): State {
    const state = this.#again!
    if (sequence < this.#sequence) throw new Error('the engine beside is behind that')
    const command = viewsOf(new ArrayBuffer(RECORD_BYTES))
    for (; this.#sequence < sequence; this.#sequence++) {
      const n = this.#sequence + 1 - this.#data.first
      this.#moves!.write(command, 0, n)
      setTime(state, state.clock[CLOCK.TIME]!)
      apply(state, command, 0)
      const { outbox } = state
      this.#moves!.slots[n] = outbox.i32[(outbox.count - 1) * (RECORD_BYTES / 4) + RESULT.at.slot]!
      outbox.count = 0
    }
    return state
  }
}

if (!isMainThread && (workerData as Partial<MoverData> | null)?.lane !== undefined) move(workerData as MoverData)
