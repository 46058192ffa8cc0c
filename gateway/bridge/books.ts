/**
 * Order books of the shared columns for those who read them: a copy where one can be made, else an answer of the matcher.
 *
 * A book that moves without rest leaves no time to copy it (core/view/consistent.ts). Then it is walked by questions (asker.ts), each of
 * which gives the next 1,000 levels of each side at most, as of one sequence, and says where in the event ring that is. What happens
 * between two questions to levels that were walked is taken from the events there, so that at each answer everything walked is as of that
 * answer, whole and exact, however long the walk is and however fast the book moves.
 *
 * There is one walk a pair at a time, and all who wait for that book wait for it: who wants ten levels has them with the first answer,
 * who wants a wide grouping of a hundred thousand with the last. Equal questions are one. An answer counts for those only who asked before
 * its question was put: what a client did and knows of is in the book that it reads.
 *
 * Bounded: {@link QUESTIONS_MAX} different questions, of which a client may have as many as are left free; {@link WAIT_MS}; levels of a
 * side as in {@link WALK_MAX}. Over these it is ENGINE_UNAVAILABLE. Nothing that is not whole is ever given as if it were.
 */
import { Ask, FIGURE, LEVEL_ANSWER_WORDS, LEVELS_MAX, PATH_QUESTION, TICK_LOTS, type Cell } from '../../core/ring/questions.ts'
import { createReader, read, type Broadcast, type Reader } from '../../core/ring/broadcast.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { readDepth, type Depth } from '../../core/view/book.ts'
import { readFillPath, type FillPath, type Incoming } from '../../core/view/fill_path.ts'
import type { State } from '../../core/state/state.ts'
import type { Faulted, Faults } from '../faults.ts'
import { Refused } from '../refused.ts'
import type { Payer } from '../limits/anonymous.ts'
import { Shares, type Proxies } from '../limits/shares.ts'
import type { Asker, Task } from './asker.ts'
import { noChange, pairOfEvent, readBookChange } from './book_events.ts'
import { WalkedSide } from './walked_side.ts'

/** Different questions that one thread has, at most. */
export const QUESTIONS_MAX = 64
/** Who waits longer is refused, ms. */
export const WAIT_MS = 5_000
/** Before a side is looked through again it has grown by this part. */
const GROWTH = 1.25

/** What a read of a book ends with: the book, its last groups maybe missing when it is `cut`; or why there is none. */
export type BookDone = (book: Depth | Refused) => void

interface Call {
  readonly done: BookDone
  readonly payer: Payer | null
  /** Which request waits; `null`: none. */
  readonly request: Faulted | null
  /** performance.now() of giving up. */
  readonly until: number
  /** Questions of the walk that were put before it came. */
  readonly after: number
}

/** One question, of all who ask it. */
interface Wait {
  readonly depth: number
  readonly group: number
  readonly client: string
  calls: Call[]
  /** Of each side: whether it has not enough, and how many ticks must have been walked before it is looked at again. */
  readonly short: [boolean, boolean]
  readonly lookAt: [number, number]
}

interface SlicesCopy {
  readonly figures: Float64Array
  readonly i32: Int32Array
  readonly f64: Float64Array
}

/** What a walk needs of its thread. */
interface Walking {
  /** Levels of a side that a question asks, at most. */
  readonly levels: number
  readonly waitMs: number
  readonly events: Broadcast
  readonly counters: Float64Array
  readonly places: Shares
  readonly over: (walk: Walk) => void
  readonly faults: Faults
}

/** The walk of one pair's book, and who waits for it. */
class Walk implements Task<SlicesCopy> {
  readonly pair: number
  readonly #walking: Walking
  readonly #waits = new Map<string, Wait>()
  #sides: [WalkedSide, WalkedSide] = [new WalkedSide(true), new WalkedSide(false)]
  /** Behind the last event that is in the sides; `null` before the first answer. */
  #reader: Reader | null = null
  #records: Views | null = null
  readonly #change = noChange()
  #put = 0
  #asked: [number, number] = [0, 0]

  constructor(pair: number, walking: Walking) {
    this.pair = pair
    this.#walking = walking
  }

  /** Waits for `depth` groups of `group` ticks of each side; `false`: there is no place. */
  wait(depth: number, group: number, client: string, done: BookDone, payer: Payer | null): boolean {
    const key = `${depth}/${group}`
    let wait = this.#waits.get(key)
    if (wait === undefined) {
      if (this.#walking.places.take(client) !== null) return false
      wait = { depth, group, client, calls: [], short: [true, true], lookAt: [0, 0] }
      this.#waits.set(key, wait)
    }
    const { faults, waitMs } = this.#walking
    wait.calls.push({ done, payer, request: faults.current, until: performance.now() + waitMs, after: this.#put })
    return true
  }

  next(): readonly number[] | null {
    if (this.#waits.size === 0) {
      this.#walking.over(this)
      return null
    }
    this.#put++
    this.#asked = [this.#wanted(0), this.#wanted(1)]
    const [bids, asks] = this.#sides
    return [Ask.LEVELS, this.pair, bids.edge, asks.edge, ...this.#asked]
  }

  /** Levels that are asked of a side: as many as somebody lacks. */
  #wanted(index: 0 | 1): number {
    const side = this.#sides[index]
    if (side.done) return 0
    const { levels } = this.#walking
    let wanted = 0
    for (const { depth, group, short } of this.#waits.values()) {
      if (short[index]) wanted = Math.max(wanted, group === 1 ? Math.min(levels, Math.max(1, depth - side.size)) : levels)
    }
    return wanted
  }

  copy({ figures, i32, f64 }: Cell): SlicesCopy {
    const words = LEVEL_ANSWER_WORDS * Math.min(2 * LEVELS_MAX, Math.max(0, figures[FIGURE.BIDS]! + figures[FIGURE.ASKS]!))
    return { figures: figures.slice(), i32: i32.slice(0, words), f64: f64.slice(0, words >>> 1) }
  }

  take({ figures, i32, f64 }: SlicesCopy): void {
    const began = performance.now()
    if (!this.#follow(figures[FIGURE.POSITION]!)) return
    const [bids, asks] = [figures[FIGURE.BIDS]!, figures[FIGURE.ASKS]!]
    if (this.#asked[0] > 0) this.#sides[0].append({ i32, f64, first: 0, count: bids }, this.#asked[0])
    if (this.#asked[1] > 0) this.#sides[1].append({ i32, f64, first: bids, count: asks }, this.#asked[1])
    const answers: [Call[], Depth][] = []
    for (const wait of [...this.#waits.values()]) {
      const book = this.#bookOf(wait, figures[FIGURE.SEQUENCE]!)
      if (book !== null) answers.push([this.#leave(wait, ({ after }) => after < this.#put), book])
    }
    // The walk is paid for by one of those it was for; who waits on pays the next time.
    const payer = answers[0]?.[0][0]?.payer ?? [...this.#waits.values()][0]?.calls[0]?.payer
    payer?.charge(performance.now() - began)
    for (const [calls, book] of answers) this.#answerAll(calls, book)
  }

  /** Takes in the events up to `position`; false: they are gone, and the walk begins anew. */
  #follow(position: number): boolean {
    const { events, counters } = this.#walking
    if (this.#reader === null) {
      this.#reader = createReader(events, 256, position)
      this.#records = viewsOf(this.#reader.copy.buffer)
    }
    const reader = this.#reader
    while (reader.position < position) {
      const count = read(reader)
      if (count < 0) {
        counters[GATEWAY.lapped]!++
        return this.#beginAnew()
      }
      if (count === 0) throw new Error('an answer has events that are not in the ring')
      const mine = Math.min(count, position - (reader.position - count))
      reader.position -= count - mine
      for (let record = 0; record < mine; record++) this.#hear(this.#records!, record * RECORD_WORDS)
    }
    return true
  }

  #beginAnew(): false {
    this.#sides = [new WalkedSide(true), new WalkedSide(false)]
    this.#reader = null
    for (const wait of this.#waits.values()) {
      wait.short.fill(true)
      wait.lookAt.fill(0)
    }
    return false
  }

  #hear(records: Views, base: number): void {
    if (pairOfEvent(records, base) !== this.pair || !readBookChange(records, base, this.#change)) return
    const { sell, tick, lots, orders } = this.#change
    this.#sides[sell ? 1 : 0].change(tick, lots, orders)
  }

  /** The book that is waited for, as of now; `null`: not enough of it was walked. */
  #bookOf(wait: Wait, sequence: number): Depth | null {
    const found: [Depth['bids'] | null, Depth['asks'] | null] = [null, null]
    // The side that lacked something is looked at first: where it still does the other need not be looked through.
    for (const index of wait.short[1] ? ([1, 0] as const) : ([0, 1] as const)) {
      found[index] = this.#sideOf(wait, index)
      if (found[index] === null) return null
    }
    const [bids, asks] = found as [Depth['bids'], Depth['asks']]
    const cut = [bids, asks].some((side, index) => side.length < wait.depth && !this.#sides[index as 0 | 1].ended)
    const [bestBid, bestAsk] = this.#sides.map((side) => side.best(1, 1)[0]?.price ?? null)
    return { bids, asks, bestBid: bestBid!, bestAsk: bestAsk!, sequence, cut }
  }

  #sideOf({ depth, group, short, lookAt }: Wait, index: 0 | 1): Depth['bids'] | null {
    const side = this.#sides[index]
    short[index] = true
    if (!side.mayHave(depth, group) || (!side.done && side.walked < lookAt[index])) return null
    const groups = side.best(depth, group)
    if (groups.length < depth && !side.done) {
      lookAt[index] = side.walked * GROWTH
      return null
    }
    short[index] = false
    return groups
  }

  /** Takes calls out of a question; without any it is forgotten. */
  #leave(wait: Wait, leaves: (call: Call) => boolean): Call[] {
    const calls = wait.calls.filter(leaves)
    wait.calls = wait.calls.filter((call) => !leaves(call))
    if (wait.calls.length === 0) {
      this.#waits.delete(`${wait.depth}/${wait.group}`)
      this.#walking.places.give(wait.client)
    }
    return calls
  }

  expire(now: number): void {
    this.#refuse(({ until }) => until <= now)
  }

  fail(): void {
    this.#walking.over(this)
    this.#refuse(() => true)
  }

  #refuse(which: (call: Call) => boolean): void {
    const refused = [...this.#waits.values()].flatMap((wait) => this.#leave(wait, which))
    this.#walking.counters[GATEWAY.questions_refused]! += refused.length
    this.#answerAll(refused, new Refused('ENGINE_UNAVAILABLE'))
  }

  #answerAll(calls: readonly Call[], book: Depth | Refused): void {
    for (const { done, payer, request } of calls) {
      const from = performance.now()
      // Without a request the question itself is refused.
      this.#walking.faults.guard(request ?? { refuse: done }, () => done(book))
      payer?.charge(performance.now() - from)
    }
  }
}

type PathDone = (path: FillPath | Refused) => void

/** The question what an order would meet. */
class PathQuestion implements Task<FillPath> {
  readonly #incoming: Incoming
  readonly #until: number
  #done: PathDone | null

  constructor(incoming: Incoming, waitMs: number, done: PathDone) {
    this.#incoming = incoming
    this.#until = performance.now() + waitMs
    this.#done = done
  }

  next(): readonly number[] | null {
    if (this.#done === null) return null
    const { account, pair, flags, price, lots } = this.#incoming
    const question: number[] = [Ask.FILL_PATH]
    question[PATH_QUESTION.PAIR] = pair
    question[PATH_QUESTION.ACCOUNT] = account
    question[PATH_QUESTION.FLAGS] = flags | 0
    question[PATH_QUESTION.PRICE] = price
    question[PATH_QUESTION.LOTS] = lots
    return question
  }

  copy({ figures, i64 }: Cell): FillPath {
    return {
      filled: figures[FIGURE.FILLED]!, meetsOwn: figures[FIGURE.MEETS_OWN] === 1, tooLong: figures[FIGURE.TOO_LONG] === 1,
      tickLots: i64[TICK_LOTS]!,
    }
  }

  take(path: FillPath): void {
    this.#answerAll(path)
  }

  fail(): void {
    this.#answerAll(new Refused('ENGINE_UNAVAILABLE'))
  }

  expire(now: number): void {
    if (this.#until <= now) this.fail()
  }

  #answerAll(path: FillPath | Refused): void {
    const done = this.#done
    this.#done = null
    done?.(path)
  }
}

export interface BooksParts {
  readonly state: State
  /** Word APPLYING. */
  readonly gate: Int32Array
  readonly events: Broadcast
  readonly asker: Asker
  readonly counters: Float64Array
  /** Clients that stand for many. */
  readonly proxies: Proxies
  readonly faults: Faults
  /** Levels of a side that a question asks; as many as an answer may have, if absent. */
  readonly levels?: number
  /** How long somebody waits, ms; {@link WAIT_MS} if absent. */
  readonly waitMs?: number
}

export class Books {
  readonly #parts: BooksParts
  readonly #places: Shares
  readonly #walks = new Map<number, Walk>()

  constructor(parts: BooksParts) {
    this.#parts = parts
    this.#places = new Shares(QUESTIONS_MAX, parts.proxies)
    parts.counters[GATEWAY.questions_capacity] = QUESTIONS_MAX
  }

  /**
   * The `depth` best groups of `group` ticks of each side of a book, at once where it can be copied, else later; for `client`
   * (limits/network.ts), which is asked for only then, and at the cost of `payer`.
   */
  read(pair: number, depth: number, group: number, client: () => string, done: BookDone, payer: Payer | null = null): void {
    const { state, gate } = this.#parts
    const book = readDepth(state, gate, pair, depth, group)
    if (book !== null) return done(book)
    this.ask(pair, depth, group, client(), done, payer)
  }

  /** The same from the matcher, which is never at once. */
  ask(pair: number, depth: number, group: number, client: string, done: BookDone, payer: Payer | null = null): void {
    const { asker, events, counters, faults, levels = LEVELS_MAX, waitMs = WAIT_MS } = this.#parts
    counters[GATEWAY.questions]!++
    const known = this.#walks.get(pair)
    const over = (walk: Walk): void => {
      if (this.#walks.get(pair) === walk) this.#walks.delete(pair)
    }
    const walk = known ?? new Walk(pair, { levels, waitMs, events, counters, places: this.#places, over, faults })
    const counted: BookDone = (answer) => {
      this.#count()
      done(answer)
    }
    if (!walk.wait(depth, group, client, counted, payer)) {
      counters[GATEWAY.questions_refused]!++
      return done(new Refused('ENGINE_UNAVAILABLE'))
    }
    this.#count()
    if (known !== undefined) return
    this.#walks.set(pair, walk)
    asker.add(walk)
  }

  /** What `incoming` would meet if it were placed now (core/view/fill_path.ts), at once or later. `now`: Unix ms. */
  path(incoming: Incoming, now: number, done: PathDone): void {
    const { state, gate } = this.#parts
    const path = readFillPath(state, gate, incoming, now)
    if (path !== null) done(path)
    else this.askPath(incoming, done)
  }

  /** The same from the matcher, by its clock. */
  askPath(incoming: Incoming, done: PathDone): void {
    const { asker, counters, faults, waitMs = WAIT_MS } = this.#parts
    const request = faults.current
    counters[GATEWAY.questions]!++
    const client = `account ${incoming.account}`
    const refuse = (refused: Refused): void => {
      counters[GATEWAY.questions_refused]!++
      done(refused)
    }
    if (this.#places.take(client) !== null) return refuse(new Refused('ENGINE_UNAVAILABLE'))
    this.#count()
    asker.add(new PathQuestion(incoming, waitMs, (answer) => {
      this.#places.give(client)
      this.#count()
      faults.guard(request ?? { refuse: done }, () => {
        if (answer instanceof Refused) refuse(answer)
        else done(answer)
      })
    }))
  }

  #count(): void {
    this.#parts.counters[GATEWAY.questions_waiting] = this.#places.total
  }
}
