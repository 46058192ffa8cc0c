/** The bridge between requests and rings: credits, deadlines, late replies, sleeping and waking. Both ring ends are in this thread. */
import t from 'tap'
import { CANCEL_ALL_MAX } from '../../core/layout/command.ts'
import { EventType, ORDER_ENDED, RESULT } from '../../core/layout/event.ts'
import { encode } from '../../core/layout/table.ts'
import { attachRing, available, consume, createRing, publish, reserve, waiting } from '../../core/ring/spsc.ts'
import { WAIT, WAIT_WORDS, wake } from '../../core/ring/wait.ts'
import {
  CANCEL_ALL_CREDITS, closeBridge, createBridge, CREDIT, enlist, hasRoom, send, slotAt, type Bridge, type Waiter,
} from '../../gateway/bridge/pending.ts'

const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)

function setUp(commands = 64, replies = 4096): { bridge: Bridge; matcher: ReturnType<typeof matcherSide>; errors: unknown[] } {
  const lane = { commands: createRing(commands).buffer, replies: createRing(replies).buffer, wait: cell() }
  const errors: unknown[] = []
  const bridge = createBridge(lane, cell(), 1, new Float64Array(64), (error) => errors.push(error))
  return { bridge, errors, matcher: matcherSide(lane.commands, lane.replies, lane.wait) }
}

function matcherSide(commandBuffer: SharedArrayBuffer, replyBuffer: SharedArrayBuffer, wait: SharedArrayBuffer) {
  const commands = attachRing(commandBuffer)
  const replies = attachRing(replyBuffer)
  const reply = (kind: number, correlation: number): void => {
    const at = reserve(replies, 0)
    if (at < 0) throw new Error('the reply ring is full')
    encode(kind === EventType.RESULT ? RESULT : ORDER_ENDED, replies.slots, at, { kind, correlation })
    publish(replies, 1)
    wake(new Int32Array(wait))
  }
  return { commands, replies, reply }
}

const silent: Waiter = { onResult: () => undefined, onDeadline: () => undefined }
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
async function until(condition: () => boolean): Promise<boolean> {
  for (let i = 0; i < 4000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 1))
  return condition()
}

function post(bridge: Bridge, waiter: Waiter, credits = CREDIT, deadlineMs = 10_000): number {
  slotAt(bridge, 0)
  const row = enlist(bridge, waiter, credits, deadlineMs)
  send(bridge, 1)
  return row
}

t.test('a full command ring is an answer', async (t) => {
  const { bridge } = setUp(64)
  t.ok(hasRoom(bridge, 64, 64))
  t.notOk(hasRoom(bridge, 65, 65), 'a batch fits whole or not at all')
  for (let i = 0; i < 64; i++) post(bridge, silent)
  t.notOk(hasRoom(bridge, 1, 1))
  closeBridge(bridge)
})

t.test('replies in flight never exceed the reply ring', async (t) => {
  const { bridge, matcher } = setUp(8192, 4096)
  const rows: number[] = []
  while (hasRoom(bridge, 1, CANCEL_ALL_CREDITS)) rows.push(post(bridge, silent, CANCEL_ALL_CREDITS))
  while (hasRoom(bridge, 1, CREDIT)) rows.push(post(bridge, silent))
  t.equal(bridge.credits, 0)
  // Everything the commands may cause fits: mass cancels with all their orders, then the rest.
  for (
    let i = 0; i < Math.floor(4096 / CANCEL_ALL_CREDITS); i++
  ) for (let n = 0; n < CANCEL_ALL_MAX; n++) matcher.reply(EventType.ORDER_ENDED, rows[i]!)
  for (const row of rows) matcher.reply(EventType.RESULT, row)
  t.equal(waiting(matcher.replies), 4096)
  t.ok(await until(() => bridge.inFlight === 0))
  t.equal(bridge.credits, 4096)
  t.equal(new Set(rows).size, rows.length, 'every command has a number of its own')
  closeBridge(bridge)
})

t.test('a parked gateway is woken by its reply', async (t) => {
  const { bridge, matcher } = setUp()
  let answered = 0
  const row = post(bridge, { ...silent, onResult: () => answered++ })
  t.ok(await until(() => Atomics.load(bridge.cell, WAIT.SLEEPING) === 1), 'parks when nothing comes')
  const from = performance.now()
  matcher.reply(EventType.RESULT, row)
  t.ok(await until(() => answered === 1))
  t.ok(performance.now() - from < 500, 'long before it would have looked by itself')
  t.equal(Atomics.load(bridge.cell, WAIT.SLEEPING), 0)
  await turn()
  t.equal(bridge.polling, false, 'and rests when nothing is in flight')
  closeBridge(bridge)
})

t.test('a sleeping matcher is woken once per turn', async (t) => {
  const { bridge } = setUp()
  Atomics.store(bridge.matcherCell, WAIT.SLEEPING, 1)
  for (let i = 0; i < 10; i++) post(bridge, silent)
  t.equal(Atomics.load(bridge.matcherCell, WAIT.WAKE), 0)
  await turn()
  t.equal(Atomics.load(bridge.matcherCell, WAIT.WAKE), 1)
  closeBridge(bridge)
})

t.test('a deadline gives the waiter up, its late reply only frees the row', async (t) => {
  const { bridge, matcher, errors } = setUp()
  const seen: string[] = []
  const row = post(bridge, { onResult: () => seen.push('result'), onDeadline: () => seen.push('deadline') }, CREDIT, 1)
  t.ok(await until(() => seen.length > 0))
  t.same(seen, ['deadline'])
  t.equal(bridge.credits, 4095, 'the credit stays reserved while a reply may come')
  matcher.reply(EventType.RESULT, row)
  t.ok(await until(() => bridge.inFlight === 0))
  t.same(seen, ['deadline'])
  t.equal(bridge.credits, 4096)
  matcher.reply(EventType.RESULT, row + 7)
  post(bridge, silent)
  t.ok(await until(() => errors.length === 1), 'a reply to nothing is reported')
  closeBridge(bridge)
})

t.test('a waiter that throws harms nobody else', async (t) => {
  const { bridge, matcher, errors } = setUp()
  let answered = 0
  const bad = post(bridge, { ...silent, onResult: () => { throw new Error('boom') } })
  const good = post(bridge, { ...silent, onResult: () => answered++ })
  matcher.reply(EventType.RESULT, bad)
  matcher.reply(EventType.RESULT, good)
  t.ok(await until(() => answered === 1))
  t.equal(errors.length, 1)
  t.equal(bridge.inFlight, 0)
  consume(matcher.commands, available(matcher.commands))
  closeBridge(bridge)
})
