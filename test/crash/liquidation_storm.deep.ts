/**
 * Promise: an exchange that is killed in the middle of a storm of liquidations goes on with it, and nothing is lost, done twice or left.
 *
 * Many buckets fail at one price; the process is killed (-9) as soon as some are seen to be closed. Started again, with a fresh price, it
 * comes to the end: no bucket is in liquidation and no position is left. Then the journal says that each liquidation began once,
 * ended once and took exactly the lots that there were; that every order that was acknowledged is in it, once; all invariants hold, sums
 * among them; and snapshots have the digest that replay gives. A kill that came too late for its storm is tried again with another one.
 * 25 storms.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openSource } from '../../core/replay/steps.ts'
import { verify } from '../../core/replay/verify.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { POSITION } from '../../core/state/margin_rows.ts'
import { get, positionRow } from '../../core/state/rows.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { CommandType, typeOfKind } from '../../core/layout/command.ts'
import { eventTypeOf, EventType, RESULT } from '../../core/layout/event.ts'
import { orderId } from '../../core/layout/ids.ts'
import { LIQUIDATION, LiquidationStatus } from '../../core/layout/margin_events.ts'
import { RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import {
  breakOut, buildUp, gatherStorm, liquidating, LOTS, openInterest, RESTS_EVERY, stormGenesis,
} from '../support/liquidation_storm.ts'
import { eachRound } from '../suite/rounds.ts'

const [OWNERS, BUCKETS] = [4, 24]
/** Storms that one round may need until a kill comes in the middle of one. */
const TRIES = 5
t.setTimeout(0)

/** What the journal says of one liquidation. */
interface Liquidation { began: number; ended: number; lots: number; orders: number }

interface Read {
  readonly liquidations: ReadonlyMap<string, Liquidation>
  /** By id: how often it was accepted. */
  readonly orders: ReadonlyMap<string, number>
  /** Steps of liquidation. */
  readonly steps: number
}

/** Replays the whole journal, whose state must be sound at its end. */
async function readJournal(directory: string): Promise<Read & { lots: number; left: number }> {
  const source = openSource(directory)
  const liquidations = new Map<string, Liquidation>()
  const orders = new Map<string, number>()
  let steps = 0
  for (const { command, events, sequence } of source.steps) {
    const type = typeOfKind(command.readUInt32LE(0))
    if (type === CommandType.LIQUIDATION_STEP) steps++
    const views = viewsOf(Uint8Array.from(events).buffer)
    for (let base = 0; base < views.i32.length; base += RECORD_WORDS) {
      const event = eventTypeOf(views.u32[base]!)
      if (event === EventType.LIQUIDATION) noteLiquidation(liquidations, views, base)
      if (event !== EventType.RESULT || type !== CommandType.PLACE_ORDER || views.i32[base + RESULT.at.code] !== 0) continue
      const id = orderId(sequence, views.i32[base + RESULT.at.slot]!)
      orders.set(id, (orders.get(id) ?? 0) + 1)
    }
  }
  const { state } = source.replayer
  checkInvariants(state)
  let lots = 0
  for (let row = 0; row < state.scalars[SCALAR.POSITIONS_USED]!; row++) lots += Math.abs(get(state, positionRow(state, row), POSITION.LOTS))
  await source.database.close()
  return { liquidations, orders, steps, lots, left: state.scalars[SCALAR.LIQUIDATIONS]! }
}

function noteLiquidation(liquidations: Map<string, Liquidation>, { i32, f64 }: ReturnType<typeof viewsOf>, base: number): void {
  const { at } = LIQUIDATION
  const id = `${i32[base + at.bucket]} ${f64[(base + at.bucketSequence) >>> 1]} ${f64[(base + at.began) >>> 1]}`
  const known = liquidations.get(id) ?? { began: 0, ended: 0, lots: 0, orders: 0 }
  liquidations.set(id, known)
  const status = i32[base + at.status]
  if (status === LiquidationStatus.STARTED) known.began++
  else if (status === LiquidationStatus.COMPLETED) known.ended++
  else if (status === LiquidationStatus.ORDERS_CANCELLED) known.orders++
  else known.lots += i32[base + at.lots]!
}

/** Waits until `reached`, asking as often as it can, but not for ever. */
async function until(reached: () => Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < 4000; look++) if (await reached()) return true
  return false
}

t.test('kill -9 in a storm of liquidations', async (t) => {
  const directory = temporaryDirectory()
  const genesis = join(directory, 'genesis.json')
  writeFileSync(genesis, stormGenesis())
  let running: Exchange | null = null
  t.teardown(async () => {
    await running?.kill()
    removeDirectory(directory)
  })
  // A batch of four slots has two steps of liquidation, so a storm of 96 buckets takes at least 48 commits: however slow whoever looks is,
  // there is time for a kill in between. What nobody asks for here is not started.
  const flags = ['--genesis', genesis, '--snapshot-every', '400', '--batch-max', '4', '--chain', '0', '--grpc-thread', '0']
  const start = async (): Promise<Exchange> => (running = await startExchange(directory, flags))
  let exchange = await start()
  const storm = await gatherStorm(exchange, OWNERS, BUCKETS)
  const each = OWNERS * BUCKETS
  let storms = 0
  /** Builds up and kills; whether some liquidations of this storm were over by then, and some were not. */
  const strike = async (): Promise<boolean> => {
    await buildUp(exchange, storm)
    const all = await openInterest(exchange)
    // Its answer may never come.
    const broken = breakOut(exchange).catch(() => undefined)
    await until(async () => (await openInterest(exchange)) !== all)
    await exchange.kill()
    await broken
    storms++
    const { liquidations } = await readJournal(directory)
    const ended = [...liquidations.values()].filter((each) => each.ended === 1).length
    exchange = await start()
    await comesToAnEnd(t, exchange)
    return ended > (storms - 1) * each && ended < storms * each
  }
  let inTheMiddle = 0
  for (const _round of eachRound(t, { short: 1, deep: 25 })) {
    let found = false
    for (let tried = 0; tried < TRIES && !found; tried++) found = await strike()
    t.ok(found, 'killed in the middle of a storm')
    inTheMiddle++
  }
  t.equal(await exchange.stop(), 0, 'orderly stop')
  running = null
  const { liquidations, orders, steps, lots, left } = await readJournal(directory)
  const odd = [...liquidations].filter(([, { began, ended, lots, orders }]) => began !== 1 || ended !== 1 || lots !== LOTS || orders > 1)
  t.strictSame(odd, [], 'each began once, ended once and took exactly its lots')
  const swept = [...liquidations.values()].filter(({ orders }) => orders === 1).length
  t.equal(swept, storms * OWNERS * Math.ceil(BUCKETS / RESTS_EVERY), 'and the orders that rested beside, once')
  t.equal(liquidations.size, storms * each, `${storms} storms, ${inTheMiddle} killed in the middle, ${steps} steps`)
  t.strictSame([lots, left], [0, 0], 'nothing is left')
  const lost = storm.acknowledged.filter((id) => orders.get(id) !== 1)
  t.strictSame(lost, [], `${storm.acknowledged.length} orders that were answered are there, once each`)
  const verified = verify(directory, () => undefined)
  t.ok(verified.snapshots.length > 0 && verified.snapshots.every(({ verdict }) => verdict === 'ok'), 'snapshots are what replay gives')
})

/** Nothing more is done to it than a fresh price, which it had before. */
async function comesToAnEnd(t: Test, exchange: Exchange): Promise<void> {
  await breakOut(exchange)
  t.ok(await until(async () => (await liquidating(exchange)) === 0 && (await openInterest(exchange)) === '0'), 'it comes to its end')
}
