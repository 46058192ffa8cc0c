/**
 * Promise: hostile ed25519 signatures and keys open nothing over any transport: legacy headers, RFC 9421, gRPC calls, actions of a stream.
 * hostile_signatures.test.ts asks the verifier alone; here are the ways to it, each with its own reading of the bytes. Keys of small order
 * are put into the sessions behind the sign-in thread's back, which refuses them: what would happen if it did not.
 */
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { CommandType, OPEN_SESSION_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { request, signed, startHarness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, credentialsFor, detailsOf, encodeMessage, pathOf, schema } from '../support/grpc.ts'
import { encodeAction, signAction, StreamClient } from '../support/grpc_stream.ts'
import {
  bytesOf, hostileSignatures, joined, little, movedKeys, NON_CANONICAL, OFF_CURVE, SMALL_ORDER, wrongLengths,
} from '../support/hostile_vectors.ts'
import { messageSigned } from '../support/message_signature.ts'
import { sampleOrder } from '../support/session_samples.ts'

// Refused signatures draw from the budget of messages of their stream, which is not what is tested here.
const harness = await startHarness(['--grpc-thread', '1', '--ws-messages-per-second', '100000', '--ws-message-burst', '100000'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const session = await harness.openSession()

const ORDERS = '/api/v1/orders'
const order = sampleOrder(harness.genesis)
const body = JSON.stringify(order)
const path = pathOf('CreateOrder')
const message = { ...order, orderType: 'ORDER_TYPE_LIMIT', side: 'SIDE_BUY' }
const bytes = encodeMessage('CreateOrderRequest', message)
const stream = new StreamClient(client)
let asked = 0

/** The code of what became of an order, 'served' when the engine was asked. */
type Outcome = string

/** An order by `key`, whose good signature is replaced with what `change` makes of it. */
type Way = (key: string, change: (good: Uint8Array) => Uint8Array) => Promise<Outcome>

const http = async (headers: Record<string, string>): Promise<Outcome> => {
  const { status: code, json } = await request(harness.port, 'POST', ORDERS, headers, body)
  return code === 401 ? json.code : 'served'
}
const hex = (signature: Uint8Array): string => Buffer.from(signature).toString('hex')
const signer = (key: string): Session => ({ ...session, publicKey: key })

const WAYS: Record<string, Way> = {
  'legacy headers': (key, change) => {
    const headers = signed(signer(key), 'POST', ORDERS, body)
    return http({ ...headers, 'X-Svc-Signature': hex(change(bytesOf(headers['X-Svc-Signature']!))) })
  },
  'RFC 9421': (key, change) => {
    const headers = messageSigned(signer(key), 'POST', ORDERS, body)
    const good = Buffer.from(headers['Signature']!.slice('svc=:'.length, -1), 'base64')
    return http({ ...headers, Signature: `svc=:${Buffer.from(change(good)).toString('base64')}:` })
  },
  'a gRPC call': async (key, change) => {
    const entries = credentialsFor(signer(key), path, bytes)
    const reply = await client.send(path, bytes, { ...entries, 'x-svc-signature': hex(change(bytesOf(entries['x-svc-signature']!))) })
    return reply.code === status.UNAUTHENTICATED ? reply.reason! : 'served'
  },
  'an action of a stream': async (key, change) => {
    const requestId = `${asked++}`
    const action = encodeAction({ requestId, createOrder: message })
    const fields = signAction(signer(key), action) as { signature: string }
    stream.call.write(encodeMessage('StreamOrdersRequest', { action, ...fields, signature: hex(change(bytesOf(fields.signature))) }))
    await stream.count(1, (id) => id === requestId)
    const { error } = stream.answers.get(requestId)
    if (error?.code !== status.UNAUTHENTICATED) return 'served'
    const type = schema.lookupType('google.rpc.Status')
    return detailsOf(type.encode(type.fromObject(error)).finish()).reason!
  },
}

for (const [way, attempt] of Object.entries(WAYS)) {
  t.test(`${way}: no signature made from a good one`, async (t) => {
    t.equal(await attempt(session.publicKey, (good) => good), 'served', 'the good one')
    const before = harness.lastSequence()
    let tried = 0
    // Each request has a signature of its own, and so a list of its own; they differ by a multiple of L at most.
    for (let last = false; !last; tried++) {
      let name = ''
      const outcome = await attempt(session.publicKey, (good) => {
        const list = [...hostileSignatures(good), ...wrongLengths(good)]
        const [what, signature] = list[Math.min(tried, list.length - 1)]!
        name = what
        last = tried >= list.length - 1
        return signature
      })
      if (outcome !== 'INVALID_SIGNATURE') t.fail(`${name}: ${outcome}`)
    }
    t.ok(tried > 75, `${tried} signatures`)
    t.equal(harness.lastSequence(), before, 'nothing reached the engine')
  })
}

/** Makes `publicKey` a session without asking the sign-in thread. */
async function force(publicKey: string): Promise<void> {
  const address = (0xabcdef000000n + BigInt(asked++)).toString(16).padStart(40, '0')
  const record = await harness.operate(CommandType.OPEN_SESSION, OPEN_SESSION_COMMAND, { session: -1, application: 0, address, publicKey })
  if (record[RESULT.at.code] !== 0) throw new Error(`not opened: ${record[RESULT.at.code]}`)
}

t.test('keys of small order, beyond the field, moved or off the curve sign nothing, even where they are sessions', async (t) => {
  const keys = new Set([...SMALL_ORDER, ...NON_CANONICAL, ...movedKeys(session.publicKey), OFF_CURVE])
  for (const key of keys) await force(key)
  const before = harness.lastSequence()
  let tried = 0
  for (const key of keys) {
    for (const [way, attempt] of Object.entries(WAYS)) {
      // Of these eight one satisfies the equation of a verifier that does not look at the order, whatever the message.
      for (const point of SMALL_ORDER) {
        const outcome = await attempt(key, () => joined(bytesOf(point), little(0n)))
        if (outcome !== 'INVALID_SIGNATURE') t.fail(`${way}: key ${key}, R ${point}: ${outcome}`)
        tried++
      }
      const outcome = await attempt(key, (good) => good)
      if (outcome !== 'INVALID_SIGNATURE') t.fail(`${way}: key ${key}, a signature by the key it was made from: ${outcome}`)
    }
  }
  t.ok(tried > 1500, `${tried} signatures`)
  t.equal(harness.lastSequence(), before, 'nothing reached the engine')
  t.equal(await WAYS['legacy headers']!(session.publicKey, (good) => good), 'served', 'the verifier still takes what is good')
  stream.call.cancel()
})
