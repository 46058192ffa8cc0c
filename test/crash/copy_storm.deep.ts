/**
 * Promise: an exchange that is killed while a leader's fills are mirrored to his followers goes on with it: no copy is placed twice, and
 * none is lost.
 *
 * A leader trades several times, and the process is killed (-9) as soon as half of his followers have their copies. Started again, without
 * another order of his, it comes to the end. Then the naive exchange (support/naive.ts), given nothing but the commands of the journal,
 * says the same of every one of them, event by event, and in the end of every follow; every follower reads the position that it has there;
 * all invariants hold, and snapshots have the digest that replay gives. A kill that came too late is tried again. 25
 * storms.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CommandType, typeOfKind } from '../../core/layout/command.ts'
import { FOLLOW_CHANGED, FollowReason, followReasonOf } from '../../core/layout/copying.ts'
import { EventType, eventTypeOf } from '../../core/layout/event.ts'
import { followId } from '../../core/layout/ids.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { firstLead } from '../../core/margin/leads.ts'
import { openSource } from '../../core/replay/steps.ts'
import { verify } from '../../core/replay/verify.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { clientOf, copied, copyGenesis, gatherStorm, lead, makeMarket, setPrice, waiting } from '../support/copy_storm.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { NaiveExchange } from '../support/naive.ts'
import { compareEvents } from '../support/naive_compare.ts'
import { compareCopies } from '../support/naive_copies_compare.ts'
import { decodeCommand, encodeEvents } from '../support/naive_events.ts'
import { bucketsOf, positionsOf } from '../support/naive_margin.ts'
import { untilRead } from '../support/until_read.ts'
import { eachRound } from '../suite/rounds.ts'

const [FOLLOWERS, ORDERS] = [120, 3]
/** Storms that one round may need until a kill comes in the middle of one. */
const TRIES = 5
t.setTimeout(0)

const views = (bytes: Uint8Array): Views => {
  const own = new Uint8Array(Math.ceil(bytes.length / RECORD_BYTES) * RECORD_BYTES)
  own.set(bytes)
  return viewsOf(own.buffer)
}

/** Whether the journal, replayed, ends with something that is not mirrored to everybody, though some copies were placed. */
async function endsInTheMiddle(directory: string, from: number): Promise<boolean> {
  const source = openSource(directory)
  let copies = 0
  for (const { sequence, events } of source.steps) {
    if (sequence > from) copies += copiesIn(views(events))
  }
  const middle = copies > 0 && firstLead(source.replayer.state) >= 0
  await source.database.close()
  return middle
}

function copiesIn({ u32, i32 }: Views): number {
  let copies = 0
  for (let base = 0; base < u32.length; base += RECORD_WORDS) {
    if (eventTypeOf(u32[base]!) !== EventType.FOLLOW) continue
    if (followReasonOf(i32[base + FOLLOW_CHANGED.at.what]!) === FollowReason.COPIED) copies++
  }
  return copies
}

interface Replayed {
  readonly naive: NaiveExchange
  readonly commands: number
  readonly copies: number
}

/** Every command of the journal through the naive exchange, whose events must be those of replaying it; and its rows, in the end. */
async function replayNaively(directory: string): Promise<Replayed> {
  const source = openSource(directory)
  const { state } = source.replayer
  const naive = new NaiveExchange(state.genesis)
  let [commands, copies] = [0, 0]
  for (const { sequence, command, events, time } of source.steps) {
    const given = views(command)
    // The genesis is the first command, or a batch of it stands in front.
    naive.sequence = sequence - 1
    if (typeOfKind(given.u32[0]!) === CommandType.GENESIS) continue
    const said = views(events)
    compareEvents(said, events.length / RECORD_BYTES, encodeEvents(naive.apply(decodeCommand(given, 0), time)))
    commands++
    copies += copiesIn(said)
  }
  checkInvariants(state)
  compareCopies(state, naive)
  await source.database.close()
  return { naive, commands, copies }
}

t.test('kill -9 while the fills of a leader are mirrored', async (t) => {
  const directory = temporaryDirectory()
  const genesis = join(directory, 'genesis.json')
  writeFileSync(genesis, copyGenesis())
  let running: Exchange | null = null
  t.teardown(async () => {
    await running?.kill()
    removeDirectory(directory)
  })
  // A batch of four slots has few copies, so mirroring takes many commits, and there is time for a kill in between.
  const small = ['--snapshot-every', '25', '--batch-max', '4', '--chain', '0', '--grpc-thread', '0']
  const flags = ['--genesis', genesis, '--sign-in-per-ip', '1000', ...small]
  const start = async (): Promise<Exchange> => (running = await startExchange(directory, flags))
  let exchange = await start()
  const storm = await gatherStorm(exchange, FOLLOWERS)
  // Of the one in the middle, so that a snapshot may stand between the fill and the kill.
  const middle = storm.followers[FOLLOWERS / 2]!
  const copiedSoFar = async (): Promise<number> => (await clientOf(exchange, middle).ListFollows()).follows[0]!.ordersCopied
  const sequenceNow = async (): Promise<number> =>
    ((await (await fetch(`${exchange.baseUrl}/api/v1/health`)).json()) as { sequence: number }).sequence
  /** Trades and kills; whether some followers had their copies by then, and some had not. */
  const strike = async (side: 'BUY' | 'SELL'): Promise<boolean> => {
    await makeMarket(exchange, storm, 2 * ORDERS)
    const [before, from] = [await copiedSoFar(), await sequenceNow()]
    // The answer of the last one may never come.
    const led = lead(exchange, storm, side, ORDERS).catch(() => undefined)
    await untilRead(async () => await copiedSoFar() > before)
    await exchange.kill()
    await led
    const found = await endsInTheMiddle(directory, from)
    exchange = await start()
    await setPrice(exchange)
    t.ok(await untilRead(async () => await waiting(exchange) === 0), 'it comes to its end')
    return found
  }
  /** One more order of the leader to the side of his position: strikes to both sides may have left nobody any. */
  const enlarge = async (): Promise<void> => {
    await makeMarket(exchange, storm, 2)
    const { positions } = await clientOf(exchange, storm.leader).ListPositions()
    await lead(exchange, storm, positions[0]?.side === 'SHORT' ? 'SELL' : 'BUY', 1)
    t.ok(await untilRead(async () => await waiting(exchange) === 0), 'mirrored without a kill')
  }
  let side: 'BUY' | 'SELL' = 'BUY'
  for (const _round of eachRound(t, { short: 1, deep: 25 })) {
    let found = false
    for (let tried = 0; tried < TRIES && !found; tried++) {
      found = await strike(side)
      side = side === 'BUY' ? 'SELL' : 'BUY'
    }
    t.ok(found, 'killed in the middle of mirroring')
  }
  await enlarge()
  const read = await copied(exchange, storm)
  t.equal(await exchange.stop(), 0, 'orderly stop')
  running = null
  const { naive, commands, copies } = await replayNaively(directory)
  const wanted = new Map(naive.copies.follows.map(({ createdSequence, row, margin }) => {
    const lots = bucketsOf(naive, margin).flatMap((bucket) => positionsOf(naive, bucket)).reduce((sum, each) => sum + each.lots, 0)
    return [followId(createdSequence, row), lots]
  }))
  t.ok(copies >= FOLLOWERS, `${copies} copies in ${commands} commands`)
  t.ok([...wanted.values()].some((lots) => lots !== 0), 'there are positions')
  t.strictSame([...read].sort(), [...wanted].sort(), `${wanted.size} followers have what the naive exchange says`)
  const verified = verify(directory, () => undefined)
  t.ok(verified.snapshots.length > 0 && verified.snapshots.every(({ verdict }) => verdict === 'ok'), 'snapshots are what replay gives')
})
