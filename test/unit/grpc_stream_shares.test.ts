/**
 * Promise: the share of signatures of a turn (gateway/stream/signature_shares.ts) holds on StreamOrders too: an action of who had his share
 * waits for the next turn and is not refused, and nothing more is read meanwhile.
 */
import type { ServerInterceptingCallInterface } from '@grpc/grpc-js'
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { GATEWAY_COUNTERS } from '../../core/ring/counters.ts'
import { Faults } from '../../gateway/faults.ts'
import type { Front } from '../../gateway/grpc/front.ts'
import { compileMethods } from '../../gateway/grpc/methods.ts'
import { loadSchema } from '../../gateway/grpc/schema.ts'
import { OrderStream } from '../../gateway/grpc/stream.ts'
import { streamTypes } from '../../gateway/grpc/stream_call.ts'

const root = loadSchema()
const types = streamTypes(root, compileMethods(root))

t.test('an action beyond the share waits for the next turn', async (t) => {
  let over = true
  const told: string[] = []
  const gateway = {
    config: readConfig([], {})!, counters: new Float64Array(GATEWAY_COUNTERS.length), faults: new Faults((error) => t.fail(String(error))),
    anonymous: { signed: () => undefined, charge: () => undefined }, reads: { precede: () => undefined },
    watch: { remove: () => undefined },
  }
  const front = {
    gateway, signatures: { isOver: () => over, take: () => true }, inFlight: 0, stopping: false,
    statuses: { ending: ({ code }: { code: string }) => code },
  } as unknown as Front
  const call = {
    startRead: () => told.push('read'), sendStatus: (status: unknown) => told.push(String(status)), sendMessage: () => undefined,
  }
  const stream = new OrderStream(front, types, call as unknown as ServerInterceptingCallInterface, 'client')
  stream.take(Buffer.from('0affff', 'hex'))
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.same(told, [], 'neither served nor refused, and nothing more is read')
  over = false
  for (let turn = 0; turn < 5 && told.length === 0; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.same(told, ['MALFORMED_REQUEST'], 'served in its turn')
})
