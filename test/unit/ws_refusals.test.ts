/**
 * Promise: an order message beyond its share draws the same from its connection, whether its id can be read without parsing it or not: no
 * way of writing one makes refusals free.
 */
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { GATEWAY, GATEWAY_COUNTERS } from '../../core/ring/counters.ts'
import type { Gateway } from '../../gateway/context.ts'
import { Faults } from '../../gateway/faults.ts'
import { Connection, type Context } from '../../gateway/ws/connection.ts'
import type { Signer } from '../../gateway/stream/signature_shares.ts'

/** How often a known account that has had its share is refused until its connection ends, and why that ends. */
function refusalsOf(text: string): { refused: number; counted: number; end: string } {
  const counters = new Float64Array(GATEWAY_COUNTERS.length)
  const gateway = {
    config: readConfig(['--ws-order-entry', '1'], {})!, counters, now: () => 0, time: () => 0,
    anonymous: { signed: () => undefined }, reads: { precede: () => undefined }, faults: new Faults((error) => t.fail(String(error))),
  } as unknown as Gateway
  const isOver = (signer: Signer): boolean => {
    signer.account = 1
    return true
  }
  const context = {
    gateway, fanOut: { betweenCommands: (work: () => void) => work() }, channels: new Map(), dirty: new Set(), accountSockets: null,
    signatures: { isOver, take: () => false }, flushSoon: () => undefined, stopping: () => false,
  } as unknown as Context
  let [refused, end] = [0, '']
  const connection = new Connection(context, {
    send: (frame) => {
      if (Buffer.from(frame).includes('OVERLOADED')) refused++
      return true
    },
    buffered: () => 0, holds: () => undefined, together: (write) => write(), drop: () => undefined,
    end: (code, reason) => void (end = `${code} ${reason}`),
  })
  const bytes = new TextEncoder().encode(text)
  for (let sent = 0; end === '' && sent < 100_000; sent++) {
    connection.receive(bytes.slice().buffer, false)
    connection.flush()
  }
  return { refused, counted: counters[GATEWAY.ws_orders_refused]!, end }
}

t.test('what a refusal draws', async (t) => {
  const plain = refusalsOf('{"type":"order.cancel","id":1,"timestamp":"1"}')
  const odd = refusalsOf('{"a":{},"type":"order.cancel","id":1,"timestamp":"1"}')
  for (const { refused, counted, end } of [plain, odd]) {
    t.ok(refused > 10_000 && refused < 50_000, `${refused} refusals`)
    t.ok(counted - refused <= 1, 'each is counted')
    t.equal(end, '1008 MESSAGE_RATE_LIMIT')
  }
  // Bytes come back while it goes on, more of them where each takes longer.
  t.ok(odd.refused < 1.5 * plain.refused, 'parsed or not')
})
