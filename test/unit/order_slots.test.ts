/**
 * Promise: an order is posted with the slots of what it carries, one to three, whole and in a row, also where the ring wraps; and nothing
 * beside them is touched.
 */
import t from 'tap'
import { CommandType, kindOf, Option, ORDER_COMMAND, slotsOfKind } from '../../core/layout/command.ts'
import { decode, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { attachRing, available, consume, createRing, front, publish, reserve, type Ring } from '../../core/ring/spsc.ts'
import { encodeOrder } from '../../gateway/bridge/encode.ts'
import type { EngineClient } from '../../gateway/bridge/engine_client.ts'
import type { OrderTerms } from '../../gateway/bridge/terms.ts'

const caller = { account: 4, session: 7, generation: 9 } as Parameters<typeof encodeOrder>[4]
const TERMS: OrderTerms = {
  pair: 1, flags: 0, price: 3000, lots: 100, slippageBps: 0, targetSlot: 0, expiresAt: 0, targetSequence: 0, options: 0, key: '',
  clientOrderId: '', named: null, margin: null, legs: null,
} as unknown as OrderTerms
const ORDERS: readonly [terms: Partial<OrderTerms>, slots: number][] = [
  [{}, 1], [{ clientOrderId: 'quote-1' }, 2], [{ options: Option.LEGS }, 3],
  [{ options: Option.LEGS, key: 'a key', clientOrderId: 'quote-2' }, 3],
]

/** What the consumer finds, each order by itself. */
function taken(ring: Ring): Decoded[] {
  const found: Decoded[] = []
  while (available(ring) > 0) {
    const slots = slotsOfKind(ring.slots.u32[front(ring, 0)]!)
    const record = viewsOf(new ArrayBuffer(slots * RECORD_WORDS * 4))
    for (let slot = 0; slot < slots; slot++) {
      const at = front(ring, slot)
      record.i32.set(ring.slots.i32.subarray(at, at + RECORD_WORDS), slot * RECORD_WORDS)
    }
    found.push(decode(ORDER_COMMAND, record, 0))
    consume(ring, slots)
  }
  return found
}

t.test('one after the other, from wherever the ring stands', async (t) => {
  for (let start = 0; start < 16; start++) {
    const commands = createRing(16)
    const consumer = attachRing(commands.buffer)
    publish(commands, start)
    consume(consumer, start)
    commands.slots.i32.fill(-1)
    const bridge = { gateway: 3, commands, written: 0, formerKeys: () => false } as unknown as EngineClient
    ORDERS.forEach(([terms], index) =>
      encodeOrder(bridge, reserve(commands, bridge.written), CommandType.PLACE_ORDER, index, caller, { ...TERMS, ...terms }))
    t.equal(bridge.written, 9)
    const untouched = commands.slots.i32.filter((word) => word === -1).length
    t.equal(untouched, 7 * RECORD_WORDS, `from slot ${start}: the slots that are free`)
    publish(commands, bridge.written)
    const found = taken(consumer)
    t.match(found, ORDERS.map(([, slots], correlation) =>
      ({ kind: kindOf(CommandType.PLACE_ORDER, slots, 3), correlation, session: 7, price: 3000, lots: 100 })))
    t.same(found.map((order) => [order['label'] !== undefined, order['trailBps']]), [
      [false, undefined], [true, undefined], [true, 0], [true, 0],
    ], 'what each has')
    t.equal(Buffer.from(found[3]!['label'] as string, 'hex').toString().replace(/\0+$/, ''), 'quote-2')
  }
})
