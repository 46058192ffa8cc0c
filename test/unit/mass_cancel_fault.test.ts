/**
 * Promise: a mass cancel that cannot read what it left tries again, and what throws then ends its request, as everywhere, and no thread.
 */
import t from 'tap'
import { EventType, RESULT } from '../../core/layout/event.ts'
import { encode } from '../../core/layout/table.ts'
import { APPLYING, DISK, GATEWAY_COUNTERS, MATCHER, MATCHER_COUNTERS } from '../../core/ring/counters.ts'
import { attachRing, commandSlots, createRing, publish, reserve } from '../../core/ring/spsc.ts'
import { WAIT_WORDS } from '../../core/ring/wait.ts'
import { closeEngineClient, createEngineClient } from '../../gateway/bridge/engine_client.ts'
import type { Gateway } from '../../gateway/context.ts'
import { Faults } from '../../gateway/faults.ts'
import { BatchCancelAllOrders } from '../../gateway/operations/mass_cancel.ts'
import type { Call } from '../../gateway/operations/operation.ts'
import type { Refused } from '../../gateway/refused.ts'

const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)

t.test('a fault of the second look is INTERNAL', async (t) => {
  const commands = createRing(commandSlots({ commandRing: 64 }))
  const lane = { commands: commands.buffer, replies: createRing(1024).buffer, wait: cell(), questions: cell() }
  const matcher = new Float64Array(MATCHER_COUNTERS.length)
  matcher[MATCHER.disk_level] = DISK.OPEN
  const faults = new Faults(() => undefined)
  const engine = createEngineClient({
    lane, matcherWait: cell(), gateway: 1, accounts: 16, counters: new Float64Array(GATEWAY_COUNTERS.length), matcher, faults,
    formerKeys: () => false, polls: 32,
  })
  t.teardown(() => closeEngineClient(engine))
  // A batch is being applied for good.
  const gate = new Int32Array(new SharedArrayBuffer(64))
  gate[APPLYING] = 1
  let looks = 0
  const state = {
    accountsAt: 0,
    get i32(): Int32Array {
      if (looks++ > 0) throw new Error('a fault')
      return new Int32Array(new SharedArrayBuffer(4096))
    },
  }
  const gateway = { engine, faults, state, gate, genesis: {}, config: { deadlineMs: 60_000 } } as unknown as Gateway
  const refused = new Promise<Refused>((refuse) => {
    const call = { account: 0, session: 0, generation: 0, agent: -1, refuse } as unknown as Call<never>
    faults.guard(call, () => BatchCancelAllOrders.run(gateway, call, {}))
  })
  const replies = attachRing(lane.replies)
  const correlation = engine.held.findIndex((credits) => credits > 0)
  encode(RESULT, replies.slots, reserve(replies, 0), { kind: EventType.RESULT, correlation })
  publish(replies, 1)
  t.equal((await refused).code, 'INTERNAL')
  t.equal(looks, 2)
})
