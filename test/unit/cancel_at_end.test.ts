/**
 * Promise: the mass cancel of a connection that ended is given to the engine once there is room for its account, whoever has taken what
 * there is, and when the disk takes commands again; one for each holder of sessions; and an orderly stop waits for it, not for ever.
 */
import t, { type Test } from 'tap'
import { AT_END, CANCEL_ALL_COMMAND, CommandType, slotsOfKind, typeOfKind } from '../../core/layout/command.ts'
import { EventType, RESULT } from '../../core/layout/event.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { decode, encode, type Decoded } from '../../core/layout/table.ts'
import { DISK, GATEWAY, MATCHER } from '../../core/ring/counters.ts'
import { attachRing, available, commandSlots, consume, createRing, front, publish, reserve } from '../../core/ring/spsc.ts'
import { WAIT_WORDS } from '../../core/ring/wait.ts'
import type { FromThread } from '../../core/threads.ts'
import { CancelsAtEnd, settleCancels, type Ending } from '../../gateway/bridge/cancel_at_end.ts'
import { encodeDeadline } from '../../gateway/bridge/encode.ts'
import {
  allowance, closeEngineClient, createEngineClient, CREDIT, register, send, slotAt, WAY_OUT,
} from '../../gateway/bridge/engine_client.ts'
import { Faults } from '../../gateway/faults.ts'

const ROOM = 16
const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)
const holder = (account: number, agent = -1): Ending =>
  ({ account, application: 0, session: 10 + account, generation: 7, agent, accountSequence: 100 + account })

/** The gateway's side with the matcher's in the hands of the test. */
function stageOf(t: Test) {
  const [commands, replies] = [createRing(commandSlots({ commandRing: ROOM })), createRing(256)]
  const lane = { commands: commands.buffer, replies: replies.buffer, wait: cell(), questions: cell() }
  const counters = new Float64Array(128)
  const matcher = new Float64Array(128)
  matcher[MATCHER.disk_level] = DISK.OPEN
  const engine = createEngineClient({
    lane, matcherWait: cell(), gateway: 1, accounts: 64, counters, matcher, faults: new Faults(() => t.fail('a fault')),
    formerKeys: () => false, polls: 32,
  })
  const said: unknown[] = []
  const cancels = new CancelsAtEnd(engine, 10_000, (_message, fields) => said.push(fields))
  t.teardown(() => {
    cancels.close()
    closeEngineClient(engine)
  })
  const [taken, answered] = [attachRing(lane.commands), attachRing(lane.replies)]
  /** What the matcher takes from the ring now, which it answers. */
  const take = (code = 0): Decoded[] => {
    const found: Decoded[] = []
    while (available(taken) > 0) {
      const at = front(taken, 0)
      const { u32 } = taken.slots
      if (typeOfKind(u32[at]!) !== CommandType.CANCEL_ALL) throw new Error('another command')
      found.push(decode(CANCEL_ALL_COMMAND, taken.slots, at))
      const correlation = u32[at + CANCEL_ALL_COMMAND.at.correlation]!
      encode(RESULT, answered.slots, reserve(answered, 0), { kind: EventType.RESULT, correlation, code, account: 3 })
      publish(answered, 1)
      consume(taken, slotsOfKind(u32[at]!))
    }
    return found
  }
  /** Takes what the account may have in flight. */
  const fill = (account: number): void => {
    const nobody = { onResult: () => undefined, onDeadline: () => undefined }
    while (allowance(engine, account, WAY_OUT) >= CREDIT) {
      const correlation = register(engine, nobody, account, CREDIT, WAY_OUT, 10_000)
      encodeDeadline(engine, slotAt(engine), correlation, holder(account), 5)
      send(engine)
    }
  }
  /** Takes until `count` ends of connections came, or too long. */
  const endings = async (count: number): Promise<Decoded[]> => {
    const found: Decoded[] = []
    for (let look = 0; look < 1000 && found.length < count; look++) {
      found.push(...take().filter(({ afterMs }) => afterMs === AT_END))
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    return found
  }
  return { cancels, counters, matcher, take, fill, endings, said }
}

t.test('one that the engine refuses is said to the operator', async (t) => {
  const { cancels, take, said } = stageOf(t)
  for (const code of [0, REFUSALS.AGENT_NOT_ALLOWED.number]) {
    cancels.post(holder(3, 5))
    take(code)
  }
  for (let look = 0; look < 1000 && said.length === 0; look++) await new Promise((resolve) => setTimeout(resolve, 2))
  t.same(said, [{ account: 3, refusal: 'AGENT_NOT_ALLOWED' }], 'and one that is done is not')
})

t.test('names whose it was, at once when there is room', (t) => {
  const { cancels, take, counters } = stageOf(t)
  cancels.post(holder(3, 5))
  t.match(take(), [{ session: 13, sessionGeneration: 7, pair: -1, limit: 1, fromSlot: 3, fromSequence: 103, afterMs: AT_END }])
  t.same([counters[GATEWAY.cancels_at_end], counters[GATEWAY.cancels_at_end_waiting]], [1, 0])
  t.end()
})

t.test('waits while its account has its share in flight, and holds up no other', async (t) => {
  const { cancels, fill, endings, counters, take } = stageOf(t)
  fill(1)
  for (let again = 0; again < 3; again++) cancels.post(holder(1))
  cancels.post(holder(1, 4))
  cancels.post(holder(1, 4), false)
  t.equal(counters[GATEWAY.cancels_at_end_waiting], 3, 'one for each holder and what becomes of its connections')
  cancels.post(holder(2))
  t.match(take().filter(({ afterMs }) => afterMs === AT_END), [{ fromSlot: 2 }], 'that of another goes along')
  t.match(await endings(2), [{ fromSlot: 1, limit: 3, afterMs: AT_END }, { fromSlot: 1, limit: 1, afterMs: AT_END }])
  t.equal(counters[GATEWAY.cancels_at_end_waiting], 0)
})

t.test('waits while the ring or the disk is full, with many others', async (t) => {
  const { cancels, fill, endings, matcher } = stageOf(t)
  for (let account = 40; account < 60; account++) fill(account)
  for (let account = 0; account < 30; account++) cancels.post(holder(account))
  t.same((await endings(30)).map(({ fromSlot }) => Number(fromSlot)).sort((a, b) => a - b), Array.from({ length: 30 }, (_, index) => index))
  matcher[MATCHER.disk_level] = DISK.FULL
  cancels.post(holder(1))
  setTimeout(() => (matcher[MATCHER.disk_level] = DISK.OPEN), 20)
  t.equal((await endings(1)).length, 1)
})

t.test('a stop waits for those that wait, as long as it may, and says what is left', async (t) => {
  const { cancels, matcher, take } = stageOf(t)
  const said: FromThread[] = []
  matcher[MATCHER.disk_level] = DISK.FULL
  cancels.post(holder(1))
  cancels.post(holder(2))
  await settleCancels(cancels, 30, (message) => said.push(message))
  t.match(said, [{ type: 'log', level: 'error', fields: { accounts: 2 } }])
  setTimeout(() => (matcher[MATCHER.disk_level] = DISK.OPEN), 20)
  await settleCancels(cancels, 5000, (message) => said.push(message))
  t.equal(take().length, 2)
  t.equal(said.length, 1)
})
