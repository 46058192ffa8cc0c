/** A unary call whose operation goes wrong: nothing internal leaves, it is answered once, and it is counted. */
import { EventEmitter } from 'node:events'
import { Metadata, status, type ServerUnaryCall } from '@grpc/grpc-js'
import t from 'tap'
import { GATEWAY, GATEWAY_COUNTERS, MATCHER_COUNTERS } from '../../core/ring/counters.ts'
import type { Gateway } from '../../gateway/context.ts'
import { Faults } from '../../gateway/faults.ts'
import { RequestIds } from '../../gateway/request_id.ts'
import { serveUnary } from '../../gateway/grpc/call.ts'
import { clientOf, createFront } from '../../gateway/grpc/front.ts'
import { compileMethods, type Method } from '../../gateway/grpc/methods.ts'
import { loadSchema } from '../../gateway/grpc/schema.ts'
import { createStatusWriter } from '../../gateway/grpc/status.ts'
import type { Call } from '../../gateway/operations/operation.ts'
import { Refused } from '../../gateway/refused.ts'
import { AnonymousWork } from '../../gateway/limits/anonymous.ts'

const root = loadSchema()
const check = compileMethods(root).find(({ name }) => name === 'Check')!

interface Outcome {
  readonly replies: { code: number; details: string }[]
  readonly errors: unknown[]
  readonly counters: Float64Array
  readonly inFlight: number
  readonly call: EventEmitter
}

/** Calls Check with this operation behind it. */
function callWith(run: (call: Call<any>) => void, stopping = false): Outcome {
  const errors: unknown[] = []
  const counters = new Float64Array(GATEWAY_COUNTERS.length)
  const faults = new Faults((error) => errors.push(error))
  const matcher = new Float64Array(MATCHER_COUNTERS.length)
  const anonymous = new AnonymousWork(100, counters, faults)
  const config = { trustedProxies: '' }
  const clocks = { now: Date.now, time: Date.now, requestIds: new RequestIds(1, 0) }
  const gateway = { counters, faults, config, ...clocks, matcher, anonymous, history: { payer: null } } as unknown as Gateway
  const front = createFront(gateway, createStatusWriter(root))
  front.stopping = stopping
  const operation = { ...check.served.operation, run: (_: Gateway, call: Call<any>) => run(call) }
  const method: Method = { ...check, served: { ...check.served, operation } }
  const call = Object.assign(new EventEmitter(), {
    request: Buffer.alloc(0), metadata: new Metadata(), getPeer: () => '::1:4711', sendMetadata: () => undefined,
  })
  const replies: Outcome['replies'] = []
  serveUnary(front, method)(call as unknown as ServerUnaryCall<Buffer, Buffer>, (error, value) => {
    replies.push(error === null ? { code: status.OK, details: String(value) } : (error as Outcome['replies'][number]))
  })
  return { replies, errors, counters, call, get inFlight() { return front.inFlight } }
}

const HEALTH = { status: 'ok', version: '1', sequence: 1, timestamp: new Date(0).toISOString() }

t.test('an operation that throws is INTERNAL, without its text', async (t) => {
  const { replies, errors, counters, inFlight } = callWith(() => {
    throw new Error('select * from secrets')
  })
  t.match(replies, [{ code: status.INTERNAL, details: 'Internal error' }])
  t.notMatch(JSON.stringify(replies), /secrets/)
  t.match(errors, [{ message: /secrets/ }], 'it is logged')
  t.same([counters[GATEWAY.requests], counters[GATEWAY.responses_5xx], inFlight], [1, 1, 0])
})

t.test('an output that has no message is INTERNAL', async (t) => {
  const { replies, errors } = callWith((call) => call.answer({ ...HEALTH, status: 'splendid' }))
  t.match(replies, [{ code: status.INTERNAL }])
  t.match(errors, [{ message: /no value for splendid/ }])
})

t.test('a call is answered once', async (t) => {
  const { replies, counters, inFlight } = callWith((call) => {
    t.equal(call.ip(), '::1')
    call.answer(HEALTH)
    call.answer(HEALTH)
    call.refuse(new Refused('NOT_FOUND'))
  })
  t.match(replies, [{ code: status.OK }])
  t.same([counters[GATEWAY.responses_2xx], counters[GATEWAY.responses_4xx], inFlight], [1, 0, 0])
})

t.test('a cancelled call is dropped', async (t) => {
  let late: Call<any> | null = null
  const outcome = callWith((call) => (late = call))
  t.equal(outcome.inFlight, 1)
  outcome.call.emit('cancelled')
  late!.answer(HEALTH)
  t.same(outcome.replies, [])
  t.same([outcome.counters[GATEWAY.aborted], outcome.counters[GATEWAY.responses_2xx], outcome.inFlight], [1, 0, 0])
})

t.test('during a stop nothing is run', async (t) => {
  const { replies } = callWith(() => t.fail('it was run'), true)
  t.match(replies, [{ code: status.UNAVAILABLE, details: /shutting down; nothing was applied/ }])
})

t.test('the address of a peer is what is before the port', async (t) => {
  const front = createFront({ config: { trustedProxies: '' } } as Gateway, createStatusWriter(root))
  t.equal(clientOf(front, '127.0.0.1:80', new Metadata()), '127.0.0.1')
  t.equal(clientOf(front, '2001:db8::1:4711', new Metadata()), '2001:db8::1')
})
