/**
 * Promise: an exchange that is killed in the middle of a storm of triggers and in the middle of TWAP orders goes on with both: nothing
 * fires twice, nothing is forgotten, and no TWAP order trades more than it has or after its end.
 *
 * A price crosses the stop-losses of many positions while TWAP orders run; the process is killed (-9) as soon as some have fired. Started
 * again, without a new price, it comes to the end. Then the journal says of every stop-loss that was answered that it fired once and closed
 * exactly its lots, of every TWAP order that it ended once, with slices that add up to what it says it filled, none of them placed at or
 * behind its end; all invariants hold, and snapshots have the digest that replay gives. A kill that came too late for its storm is tried
 * again. 25 storms.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  CONDITIONAL_ORDER, ConditionalReason, conditionalReasonOf, conditionOf,
} from '../../core/layout/conditional.ts'
import { eventTypeOf, EventType, RESULT } from '../../core/layout/event.ts'
import { conditionalOrderId, orderId, twapOrderId } from '../../core/layout/ids.ts'
import { RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { CHILD_ORDER, TWAP_ORDER, twapStateOf, TwapState } from '../../core/layout/twap.ts'
import { openSource } from '../../core/replay/steps.ts'
import { verify } from '../../core/replay/verify.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { untilRead } from '../support/until_read.ts'
import {
  buildUp, FALLEN, gatherStorm, LOTS, setPrice, tidyUp, TWAP_LOTS, waiting, waitingGenesis,
} from '../support/waiting_storm.ts'
import { eachRound } from '../suite/rounds.ts'

const [OWNERS, BUCKETS] = [4, 24]
/** Storms that one round may need until a kill comes in the middle of one. */
const TRIES = 5
t.setTimeout(0)

/** What the journal says of a stop-loss: how often it fired, and lots of its orders. */
interface Stop { fired: number; lots: number }
/** Of a TWAP order: how often it ended, what it says it filled, what its slices filled, and those placed at its end or behind. */
interface Twap { ended: number; filled: number; lots: number; late: number; endAt: number }

interface Read {
  readonly stops: Map<string, Stop>
  readonly twaps: Map<string, Twap>
  /** Orders that were entered by conditional or TWAP orders, by id. */
  readonly filled: Map<string, number>
}

/** Replays the whole journal, whose state must be sound at its end. */
async function readJournal(directory: string): Promise<Read> {
  const source = openSource(directory)
  const read: Read = { stops: new Map(), twaps: new Map(), filled: new Map() }
  for (const { events } of source.steps) {
    const views = viewsOf(Uint8Array.from(events).buffer)
    for (let base = 0; base < views.i32.length; base += RECORD_WORDS) note(read, views, base)
  }
  checkInvariants(source.replayer.state)
  await source.database.close()
  return read
}

function note(read: Read, views: Views, base: number): void {
  const event = eventTypeOf(views.u32[base]!)
  if (event === EventType.RESULT) noteResult(read, views, base)
  else if (event === EventType.CONDITIONAL) noteStop(read, views, base)
  else if (event === EventType.TWAP) noteTwap(read, views, base)
  else if (event === EventType.CHILD_ORDER) noteSlice(read, views, base)
}

const f64 = ({ f64: doubles }: Views, base: number, field: number): number => doubles[(base + field) >>> 1]!

/** Orders that the exchange entered itself end with their RESULT: they are MARKET orders. */
function noteResult({ filled }: Read, views: Views, base: number): void {
  const { at } = RESULT
  if (views.i32[base + at.code] !== 0) return
  const id = orderId(f64(views, base, at.orderSequence), views.i32[base + at.slot]!)
  filled.set(id, views.i32[base + at.lots]! - views.i32[base + at.remaining]!)
}

function noteStop({ stops, filled }: Read, views: Views, base: number): void {
  const { at } = CONDITIONAL_ORDER
  const what = views.i32[base + at.what]!
  const id = conditionalOrderId(f64(views, base, at.createdSequence), conditionOf(what))
  const known = stops.get(id) ?? { fired: 0, lots: 0 }
  stops.set(id, known)
  if (conditionalReasonOf(what) !== ConditionalReason.TRIGGERED) return
  known.fired++
  known.lots += filled.get(orderId(f64(views, base, at.orderSequence), views.i32[base + at.orderSlot]!)) ?? 0
}

function twapOf({ twaps }: Read, id: string): Twap {
  const known = twaps.get(id) ?? { ended: 0, filled: 0, lots: 0, late: 0, endAt: Infinity }
  twaps.set(id, known)
  return known
}

function noteTwap(read: Read, views: Views, base: number): void {
  const { at } = TWAP_ORDER
  const known = twapOf(read, twapOrderId(f64(views, base, at.createdSequence), views.i32[base + at.twap]!))
  known.filled = views.i32[base + at.filled]!
  known.endAt = f64(views, base, at.endAt)
  const slot = views.i32[base + at.childSlot]!
  if (slot >= 0) known.lots += read.filled.get(orderId(f64(views, base, at.sequence), slot)) ?? 0
  if (slot >= 0 && f64(views, base, at.time) >= known.endAt) known.late++
  if (twapStateOf(views.i32[base + at.what]!) > TwapState.ACTIVE) known.ended++
}

function noteSlice(read: Read, views: Views, base: number): void {
  const { at } = CHILD_ORDER
  twapOf(read, twapOrderId(f64(views, base, at.twapSequence), views.i32[base + at.twap]!))
}

t.test('kill -9 in a storm of triggers and in the middle of TWAP orders', async (t) => {
  const directory = temporaryDirectory()
  const genesis = join(directory, 'genesis.json')
  writeFileSync(genesis, waitingGenesis())
  let running: Exchange | null = null
  t.teardown(async () => {
    await running?.kill()
    removeDirectory(directory)
  })
  // A batch of four slots has two triggers or slices, so a storm takes many commits, and there is time for a kill in between.
  const flags = ['--genesis', genesis, '--snapshot-every', '400', '--batch-max', '4', '--chain', '0', '--grpc-thread', '0']
  const start = async (): Promise<Exchange> => (running = await startExchange(directory, flags))
  let exchange = await start()
  const storm = await gatherStorm(exchange, OWNERS, BUCKETS)
  const all = OWNERS * BUCKETS
  /** Builds up and kills; whether some stop-losses of this storm had fired by then, and some had not. */
  const strike = async (): Promise<boolean> => {
    await buildUp(exchange, storm)
    const before = storm.stops.length - all
    // Its answer may never come.
    const fallen = setPrice(exchange, FALLEN).catch(() => undefined)
    await untilRead(async () => (await waiting(exchange, storm)).stops < all)
    await exchange.kill()
    await fallen
    const { stops } = await readJournal(directory)
    const fired = storm.stops.slice(before).filter((id) => stops.get(id)?.fired === 1).length
    exchange = await start()
    const ends = await untilRead(async () => {
      const { stops: left, twaps } = await waiting(exchange, storm)
      return left === 0 && twaps === 0
    })
    t.ok(ends, 'it comes to its end')
    await tidyUp(exchange, storm)
    return fired > 0 && fired < all
  }
  for (const _round of eachRound(t, { short: 1, deep: 25 })) {
    let found = false
    for (let tried = 0; tried < TRIES && !found; tried++) found = await strike()
    t.ok(found, 'killed in the middle of a storm')
  }
  t.equal(await exchange.stop(), 0, 'orderly stop')
  running = null
  const { stops, twaps } = await readJournal(directory)
  const odd = storm.stops.filter((id) => stops.get(id)?.fired !== 1 || stops.get(id)?.lots !== LOTS)
  t.strictSame(odd, [], `${storm.stops.length} stop-losses fired once each and closed what they were for`)
  const wrong = storm.twaps.map((id) => twaps.get(id)).filter((twap) =>
    twap === undefined || twap.ended !== 1 || twap.filled !== twap.lots || twap.lots > TWAP_LOTS || twap.late !== 0)
  t.strictSame(wrong, [], `${storm.twaps.length} TWAP orders ended once, in time, with the sum of their slices`)
  const verified = verify(directory, () => undefined)
  t.ok(verified.snapshots.length > 0 && verified.snapshots.every(({ verdict }) => verdict === 'ok'), 'snapshots are what replay gives')
})
