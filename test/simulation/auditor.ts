/**
 * The auditor knows what must be true. It reads the journal as anybody could, gives each command to the naive exchange,
 * and holds against that: the events the journal has checksums of, the events and answers that left the exchange,
 * balances, every row of margin trading and the invariants of its state.
 *
 * What it has read once must stay: an exchange that comes back with less, or with something else, has lost what it had
 * let out. What it reads must have been posted by somebody in this life of the exchange, once; and no key may be
 * accepted twice, whatever the receipts say.
 */
import { crc32 } from 'node:zlib'
import { CommandType, gatewayOfKind, slotsOfKind, typeOfKind } from '../../core/layout/command.ts'
import { EventType, eventTypeOf, RESULT } from '../../core/layout/event.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../../core/layout/table.ts'
import { readGenesis } from '../../core/journal/genesis_batch.ts'
import type { Batch } from '../../core/journal/frame.ts'
import { endSequence, placeBehind, readBatches, START, type Place } from '../../core/journal/reader.ts'
import type { JournalStore } from '../../core/journal/store.ts'
import { Flag } from '../../core/layout/command.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import { NaiveExchange } from '../support/naive.ts'
import { compareCopies } from '../support/naive_copies_compare.ts'
import { dueConditionals, type Conditional } from '../support/naive_conditional.ts'
import { dueOrders } from '../support/naive_orders.ts'
import type { Order } from '../support/naive_terms.ts'
import { dueDeadlines } from '../support/naive_sweeps.ts'
import { compareBalances } from '../support/naive_compare.ts'
import { decodeCommand, encodeEvents, printEvents } from '../support/naive_events.ts'
import { compareMargins, unhealthyOf } from '../support/margin_duel.ts'
import { fundingDue } from '../support/naive_margin_prices.ts'
import { isTriggered } from '../support/naive_triggers.ts'
import { dueTwaps, type Twap } from '../support/naive_twap.ts'
import { compareVault } from '../support/naive_vault_compare.ts'
import { answerOf } from './answer_of.ts'
import { identityIn, type Foreseen, type Request } from './clients.ts'
import { marginKind, waitingKind } from './kinds.ts'
import { PROGRAMS } from './programs/all.ts'
import type { ProgramAudit } from './programs/program.ts'
import { Violation } from './violation.ts'

/** Commands that the sequencer makes itself: posted by nobody, answered to nobody. */
const OWN: readonly number[] = [
  CommandType.EXPIRE_ORDER, CommandType.CONTINUE_CANCEL, CommandType.SET_RULES, CommandType.ACCEPT_LOSS, CommandType.FUNDING_STEP,
  CommandType.LIQUIDATION_STEP, CommandType.SETTLEMENT_STEP, CommandType.EXPIRE_CONDITIONAL, CommandType.TRIGGER_STEP,
  CommandType.TWAP_STEP, CommandType.COPY_STEP,
]
/** Those of them that name something whose time has come. */
const WAITING_STEPS: readonly number[] = [CommandType.TWAP_STEP, CommandType.EXPIRE_CONDITIONAL]
/** Refusals that no preview tells. */
const NOT_FORESEEN: readonly number[] = [
  REFUSALS.PRICE_STALE, REFUSALS.SESSION_INVALID, REFUSALS.ORDER_SUBMISSION_CAPACITY_EXCEEDED, REFUSALS.LEASE_LOST,
].map(({ number }) => number)
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/** Whether there is something to do of each work of copy trading (layout/copying.ts, CopyWork). */
const dueCopies = ({ copies, now }: NaiveExchange, time: number): readonly boolean[] =>
  [copies.leads.length > 0, copies.closing.some(([first]) => first !== undefined && first.closeAt <= Math.max(now, time))]

/** What a step that time brings names. */
const nameOf = (waiting: Twap | Conditional): string =>
  `${'nextAt' in waiting ? 'twap' : 'conditional'} ${waiting.row} of ${waiting.createdSequence}`

const printed = (record: Uint8Array): string => printEvents(viewsOf(Uint8Array.from(record).buffer), 1)

/** Records that must come, in order, and those that came. */
class Stream {
  readonly #name: string
  readonly #expected: Buffer[] = []
  readonly #seen: Buffer[] = []

  constructor(name: string) {
    this.#name = name
  }

  expect(record: Buffer): void {
    this.#expected.push(record)
  }

  saw(record: Uint8Array): void {
    this.#seen.push(Buffer.from(record))
  }

  /** Holds what came against what had to come. */
  check(): void {
    const { length } = this.#seen
    if (length > this.#expected.length) {
      throw new Violation(`${this.#name}: what was let out is not in the journal:\n${printed(this.#seen[this.#expected.length]!)}`)
    }
    for (let index = 0; index < length; index++) {
      if (this.#seen[index]!.equals(this.#expected[index]!)) continue
      const [seen, expected] = [this.#seen[index]!, this.#expected[index]!].map(printed)
      throw new Violation(`${this.#name}: another record than journal and specification say:\n${seen}\ninstead of\n${expected}`)
    }
    this.#seen.length = 0
    this.#expected.splice(0, length)
  }

  /** What was not let out by now never will be. */
  clear(): void {
    this.#expected.length = 0
    this.#seen.length = 0
  }
}

export class Auditor {
  readonly #genesis: string
  #naive: NaiveExchange
  /** Every batch that was read and is not lost. */
  #kept: Batch[] = []
  /** Last sequence that was ever seen; and the sequence behind which a loss must be declared next; -1: none. */
  #reached = 0
  #undeclared = -1
  #place: Place = { ...START }
  /** Chained checksum of all events so far. */
  #events = 0
  /** Records under way, and which request each is. */
  readonly #posted = new Map<string, Request[]>()
  /** By client and key: the sequence that accepted it. */
  readonly #accepted = new Map<string, number>()
  readonly #answers: Stream[]
  readonly #let: Stream
  /** What they know goes as far as the twin's. */
  #programs: readonly ProgramAudit[] = PROGRAMS.map(({ audit }) => audit())
  /** Batches read; commands read. */
  batches = 0
  commands = 0
  /** How often each kind of thing was seen. */
  readonly seen = new Map<string, number>()

  constructor(genesis: string, lanes: number) {
    this.#genesis = genesis
    this.#naive = new NaiveExchange(parseGenesis(genesis))
    this.#answers = Array.from({ length: lanes }, (_, lane) => new Stream(`answers of lane ${lane}`))
    this.#let = new Stream('event ring')
  }

  get sequence(): number {
    return this.#place.sequence - 1
  }

  /** Checksums of the journal up to the last batch that was read. */
  get place(): Readonly<Place> {
    return this.#place
  }

  posted(record: Uint8Array, request: Request): void {
    const text = textOf(record)
    const known = this.#posted.get(text)
    if (known === undefined) this.#posted.set(text, [request])
    else known.push(request)
  }

  answered(lane: number, record: Uint8Array): void {
    this.#answers[lane]!.saw(record)
  }

  /** An event left on the ring. */
  told(record: Uint8Array): void {
    this.#let.saw(record)
  }

  /** Reads what is new in the journal and holds everything that was let out against it. */
  follow(journal: JournalStore): void {
    if (endSequence(journal) < this.sequence) {
      throw new Violation(`the journal ends at ${endSequence(journal)}, but ${this.sequence} was answered, or seen in it`)
    }
    for (const batch of readBatches(journal, this.#place)) this.#read(batch)
    for (const answers of this.#answers) answers.check()
    this.#let.check()
  }

  /** The exchange died: what is under way is lost or in the journal, which must have been followed. */
  died(): void {
    this.#posted.clear()
    for (const answers of this.#answers) answers.clear()
    this.#let.clear()
  }

  #read(batch: Batch): void {
    if (batch.events !== this.#events) {
      throw new Violation(`batch ${batch.sequence}: the events before it are not those of the specification`)
    }
    this.batches++
    this.#kept.push({ ...batch, records: Buffer.from(batch.records) })
    this.#checkDeclared(batch)
    this.#reached = Math.max(this.#reached, batch.next - 1)
    if (batch.sequence === 1) {
      readGenesis(batch)
      this.#naive.sequence = 1
    } else this.#apply(batch)
    this.#place = placeBehind(batch)
  }

  #apply(batch: Batch): void {
    const views = viewsOf(Uint8Array.from(batch.records).buffer)
    const due = dueOrders(this.#naive, batch.time)
    const copies = dueCopies(this.#naive, batch.time)
    const waiting = new Set([...dueTwaps(this.#naive, batch.time), ...dueConditionals(this.#naive, batch.time)].map(nameOf))
    for (let slot = 0; slot < batch.slots; ) {
      const at = slot * RECORD_WORDS
      const slots = slotsOfKind(views.u32[at]!)
      const request = this.#requestOf(views, at, slots)
      const command = decodeCommand(views, at)
      if (typeOfKind(views.u32[at]!) === CommandType.EXPIRE_ORDER) this.#expires(command, batch.time, due)
      if (typeOfKind(views.u32[at]!) === CommandType.CONTINUE_CANCEL && command['fires'] === 1) this.#fires(command, batch.time)
      if (typeOfKind(views.u32[at]!) === CommandType.FUNDING_STEP) this.#funds(command, batch.time)
      if (WAITING_STEPS.includes(typeOfKind(views.u32[at]!))) this.#isDue(command, waiting)
      if (typeOfKind(views.u32[at]!) === CommandType.COPY_STEP) this.#copies(command, copies)
      const events = encodeEvents(this.#naive.apply(command, batch.time))
      this.#events = crc32(events.bytes, this.#events)
      this.#see(command, events, (name) => this.seen.set(name, (this.seen.get(name) ?? 0) + 1))
      this.#expect(command, events, request)
      this.commands++
      slot += slots
    }
  }

  /**
   * What came after sequence `end` is lost by word of the exchange: the twin is what it was then, and keys that were accepted later were
   * not. The exchange must declare it in the journal before anything else, and never give out a sequence again.
   */
  rewind(end: number): void {
    if (end >= this.sequence) return
    this.died()
    const kept = this.#kept.filter(({ next }) => next <= end + 1)
    if ((kept.at(-1)?.next ?? 1) !== end + 1) throw new Violation(`sequence ${end} is said to be the last, and no batch ends there`)
    this.#kept = kept
    this.#naive = new NaiveExchange(parseGenesis(this.#genesis))
    this.#naive.sequence = 1
    this.#events = 0
    this.#programs = PROGRAMS.map(({ audit }) => audit())
    for (const batch of kept.slice(1)) {
      const views = viewsOf(Uint8Array.from(batch.records).buffer)
      for (let slot = 0; slot < batch.slots; slot += slotsOfKind(views.u32[slot * RECORD_WORDS]!)) {
        const command = decodeCommand(views, slot * RECORD_WORDS)
        const events = encodeEvents(this.#naive.apply(command, batch.time))
        this.#events = crc32(events.bytes, this.#events)
        this.#see(command, events, () => undefined)
      }
    }
    for (const [key, sequence] of this.#accepted) if (sequence > end) this.#accepted.delete(key)
    this.#place = { sequence: end + 1, checksum: kept.at(-1)!.checksum }
    this.#undeclared = end
  }

  /** Behind a loss comes its declaration, with a sequence that nothing lost can have had. */
  #checkDeclared({ sequence, next, records }: Batch): void {
    const declares = typeOfKind(records.readUInt32LE(0)) === CommandType.ACCEPT_LOSS && sequence > 1
    if (declares && next - 1 <= this.#reached) {
      throw new Violation(`the loss is declared as ${next - 1}, and sequences were given out up to ${this.#reached}`)
    }
    if (this.#undeclared < 0) return
    if (!declares) throw new Violation(`what came after ${this.#undeclared} is lost, and the journal goes on without a word of it`)
    this.#undeclared = -1
  }

  #see(command: Decoded, events: Views, met: (what: string) => void): void {
    const type = typeOfKind(Number(command['kind']))
    for (const audit of this.#programs) audit.see({ type, command, events, met })
  }

  /** Orders end by expiry and then by sequence, whatever the exchange went through since they were placed. */
  #expires(command: Decoded, time: number, due: readonly Order[]): void {
    const left = dueOrders(this.#naive, time)
    const [first] = left
    if (first?.slot === command['targetSlot'] && first?.sequence === command['targetSequence']) return
    // It was due, and a liquidation or a settlement earlier in the batch has ended it: the command is refused.
    const named = due.find(({ sequence }) => sequence === command['targetSequence'])
    if (named !== undefined && !left.includes(named)) return
    throw new Violation(`order ${String(command['targetSequence'])} expires at ${time}, the next that is due is ${first?.sequence}`)
  }

  /** Deadlines fire in their order, whatever the exchange went through since they were set. */
  #fires(command: Decoded, time: number): void {
    const first = dueDeadlines(this.#naive, time)[0]
    if (first?.account === command['account']) return
    throw new Violation(`the deadline of account ${String(command['account'])} fires at ${time}, the next is of ${first?.account}`)
  }

  /** Funding is sampled and paid when it is due, once, whatever the exchange went through meanwhile. */
  #funds({ pair }: Decoded, time: number): void {
    if (fundingDue(this.#naive, time).includes(Number(pair))) return
    throw new Violation(`funding of pair ${String(pair)} is not due at ${time}`)
  }

  /** Time ends a conditional order, and gives a TWAP order its slice, when it is due at the begin of the batch, whatever came between. */
  #isDue({ twap, conditional, createdSequence }: Decoded, due: ReadonlySet<string>): void {
    const named = `${twap === undefined ? `conditional ${String(conditional)}` : `twap ${String(twap)}`} of ${String(createdSequence)}`
    if (!due.has(named)) throw new Violation(`${named} is not due`)
  }

  /** What leaders did is mirrored, and stops go on, when there is something of it to do. */
  #copies({ work }: Decoded, due: readonly boolean[]): void {
    if (due[Number(work)] !== true) throw new Violation(`nothing is to be done of work ${String(work)} of copy trading`)
  }

  /**
   * What the timers must do something about at `now`: buckets with less equity than they must have, where prices are good
   * enough to say so; funding that is due; orders that wait, whose price or time has come; what leaders did, and follows that stop.
   */
  undone(now: number): number {
    this.#naive.now = Math.max(this.#naive.now, now)
    const triggered = this.#naive.genesis.pairs.filter(({ index }) => isTriggered(this.#naive, index))
    const waiting = triggered.length + dueTwaps(this.#naive, now).length + dueConditionals(this.#naive, now).length
    const copies = dueCopies(this.#naive, now).filter(Boolean).length
    return unhealthyOf(this.#naive).length + fundingDue(this.#naive, now).length + waiting + copies
  }

  /** Who posted the record; each posted record may be in the journal once. */
  #requestOf(views: Views, at: number, slots: number): Request | null {
    const type = typeOfKind(views.u32[at]!)
    if (OWN.includes(type)) return null
    const text = textOf(views.bytes.subarray(at * 4, at * 4 + slots * RECORD_BYTES))
    const requests = this.#posted.get(text)
    const request = requests?.shift()
    if (request === undefined) throw new Violation(`a command of type ${type} that nobody posted, or not so often, is in the journal`)
    if (requests!.length === 0) this.#posted.delete(text)
    return request
  }

  #expect(command: Decoded, events: Views, request: Request | null): void {
    const [kind, correlation] = [Number(command['kind']), Number(command['correlation'])]
    const type = typeOfKind(kind)
    for (let record = 0; record * RECORD_BYTES < events.bytes.length; record++) {
      const base = record * RECORD_WORDS
      const bytes = Buffer.from(events.bytes.subarray(base * 4, base * 4 + RECORD_BYTES))
      const event = eventTypeOf(events.u32[base]!)
      this.#let.expect(bytes)
      const met = marginKind(events, base) ?? waitingKind(events, base)
      if (met !== null) this.seen.set(met, (this.seen.get(met) ?? 0) + 1)
      const answered = OWN.includes(type) ? null : answerOf(type, correlation, events, base, bytes)
      if (answered !== null) this.#answers[gatewayOfKind(kind)]!.expect(answered)
      if (event === EventType.RESULT) this.#result(type, events, base, request)
    }
  }

  #result(type: number, events: Views, base: number, request: Request | null): void {
    const code = events.i32[base + RESULT.at.code]!
    const name = `type ${type} code ${code}`
    this.seen.set(name, (this.seen.get(name) ?? 0) + 1)
    const repeated = (events.u32[base + RESULT.at.flags]! & Flag.REPEATED) !== 0
    if (request?.foreseen !== undefined && !repeated) this.#foreseen(request.foreseen, events, base)
    if (code !== 0 || request === null || request.key === '') return
    if (repeated) this.seen.set('repeated', (this.seen.get('repeated') ?? 0) + 1)
    if (repeated) return
    const sequence = identityIn(type, events, base)
    const before = this.#accepted.get(request.key)
    if (before !== undefined) throw new Violation(`key ${request.key} was accepted twice: as ${before} and ${sequence}`)
    this.#accepted.set(request.key, sequence)
  }

  /**
   * An order that was previewed, with no command between, is what its preview said. Time may have passed: a price that was fresh may be
   * stale by now. What a preview does not look at is who signs, and whether there is room for a key.
   */
  #foreseen({ behind, ...said }: Foreseen, { i32, f64 }: Views, base: number): void {
    const { at } = RESULT
    const code = i32[base + at.code]!
    if (f64[(base + at.sequence) >>> 1] !== behind + 1 || NOT_FORESEEN.includes(code)) return
    const filled = i32[base + at.lots]! - i32[base + at.remaining]!
    const placed = { code, filled, trades: i32[base + at.trades]!, best: i32[base + at.bestPrice]!, worst: i32[base + at.worstPrice]! }
    this.seen.set('previews held against placings', (this.seen.get('previews held against placings') ?? 0) + 1)
    const same = code !== 0 ? code === said.code : JSON.stringify(placed) === JSON.stringify(said)
    if (!same) throw new Violation(`preview behind ${behind}: ${JSON.stringify(said)}, placed next: ${JSON.stringify(placed)}`)
  }

  /** The sequence as which a key was accepted; undefined: it was not. */
  accepted(key: string): number | undefined {
    return this.#accepted.get(key)
  }

  /**
   * Every balance and every row of margin trading to the atom, and every invariant of the state, which must be at the place up to which
   * this has read.
   */
  compare(state: State, events: number): void {
    const at = state.clock[CLOCK.SEQUENCE]!
    if (at !== this.sequence) throw new Violation(`the engine is at ${at}, the journal at ${this.sequence}`)
    if (events !== this.#events) throw new Violation(`the engine's events up to ${at} are not those of the specification`)
    try {
      checkInvariants(state)
      compareBalances(state, this.#naive)
      compareVault(state, this.#naive)
      if (state.collateralAsset >= 0) compareMargins(state, this.#naive)
      if (state.collateralAsset >= 0) compareCopies(state, this.#naive)
    } catch (error) {
      throw new Violation((error as Error).message, { cause: error })
    }
  }
}
