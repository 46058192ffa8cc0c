/**
 * A gateway thread, or the gRPC thread, one of whose operations fails in the way that the test says: everything else is as it is. The fault
 * is thrown where a handler's own code stands: in the handler, or in a callback that it gave to the engine client, the history, the
 * sign-in thread or the books.
 */
import { workerData } from 'node:worker_threads'
import { askChallenge } from '../../gateway/auth/sign_in_client.ts'
import { encodeCancelAll } from '../../gateway/bridge/encode.ts'
import { CREDIT, register, send, slotAt, WAY_OUT, type PendingRequest } from '../../gateway/bridge/engine_client.ts'
import { askHistory } from '../../gateway/bridge/history.ts'
import type { Gateway } from '../../gateway/context.ts'
import { OPERATIONS } from '../../gateway/operations/index.ts'
import type { Call } from '../../gateway/operations/operation.ts'
import { FAULTS, type Fault } from './faults.ts'

const { faults, thread } = workerData as { faults: SharedArrayBuffer; thread: string }
const word = new Int32Array(faults)

/** What no log may have: a key's hex digits. */
const boom = (fault: string): never => {
  throw new Error(`fault in ${fault} of ${'ab'.repeat(32)}`)
}

/** Sends a mass cancel whose pending request fails in one of its callbacks. */
function cancelAll(gateway: Gateway, call: Call<never>, fault: Fault): void {
  const { engine } = gateway
  const pending: PendingRequest = {
    onResult: () => (fault === 'onResult' ? boom(fault) : undefined),
    onRecord: () => (fault === 'onRecord' ? boom(fault) : undefined),
    onDeadline: () => boom(fault),
  }
  const correlation = register(engine, pending, call.account, CREDIT + 1, WAY_OUT, fault === 'onDeadline' ? 1 : 60_000)
  encodeCancelAll(engine, slotAt(engine), correlation, call, -1, 1, { slot: 0, sequence: 0 })
  send(engine)
}

function fail(gateway: Gateway, call: Call<any>, fault: Fault): void {
  const { signIn, history, books, faults } = gateway
  switch (fault) {
    case 'handler':
      return boom(fault)
    case 'output':
      return call.answer({ totalCancelled: 1n, orderIds: [] })
    case 'onResult':
    case 'onRecord':
    case 'onDeadline':
      return cancelAll(gateway, call as Call<never>, fault)
    case 'history':
      return askHistory(history, 'trade', { sequence: 1, index: 0 }, () => boom(fault))
    case 'sign-in': {
      const id = signIn.next
      askChallenge(signIn, { address: '', sessionPublicKey: '', clientId: undefined, subAccountOf: undefined, ip: '' }, () => boom(fault))
      return void setImmediate(() => signIn.port.emit('message', { id, refusal: 'NOT_FOUND' }))
    }
    case 'book':
      return books.ask(0, 1, 1, 'client', () => boom(fault))
    case 'timer':
      return void setTimeout(() => faults.guard(call, () => boom(fault)), 1)
  }
}

for (const name of ['BatchCancelAllOrders', 'Check']) {
  const served = OPERATIONS.find((each) => each.name === name)
  if (served === undefined) continue
  const operation = served.operation as { run: (gateway: Gateway, call: Call<any>, input: never) => void }
  const { run } = operation
  operation.run = (gateway, call, input) => {
    const fault = FAULTS[Atomics.load(word, 0) - 1]
    if (fault === undefined) run(gateway, call, input)
    else fail(gateway, call, fault)
  }
}
await import(thread)
