/** Promise: what is left of an answer is held only while there is room; else its connection is closed, and nothing is held of it. */
import t from 'tap'
import type { HttpResponse } from 'uWebSockets.js'
import { GATEWAY } from '../../core/ring/counters.ts'
import { Unsent } from '../../gateway/http/unsent.ts'

const MB = 1024 * 1024
const answer = Buffer.alloc(MB, 'x')

/** A response of which the kernel takes nothing until it is told to. */
class Stuck {
  closed = false
  sent = 0
  #aborted = (): void => undefined
  #writable = (_offset: number): boolean => false

  onAborted(handler: () => void): void {
    this.#aborted = handler
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#writable = handler
  }

  getWriteOffset(): number {
    return this.sent
  }

  tryEnd(chunk: Uint8Array, total: number): [boolean, boolean] {
    this.sent += chunk.length
    return [true, this.sent === total]
  }

  close(): void {
    this.closed = true
    this.#aborted()
  }

  drain(): void {
    this.#writable(this.sent)
  }
}

t.test('room for what is left', (t) => {
  const counters = new Float64Array(Object.keys(GATEWAY).length)
  const unsent = new Unsent({ answerMb: 8, answerKbPerSecond: 16, proxyAddresses: '127.0.0.5', trustedProxies: '' }, counters)
  t.teardown(() => unsent.close())
  const hold = (address: string, text: string | Uint8Array = answer): Stuck => {
    const stuck = new Stuck()
    unsent.hold(stuck as unknown as HttpResponse, address, text)
    return stuck
  }
  const held = (): number => counters[GATEWAY.unsent_bytes]!

  const mine = Array.from({ length: 6 }, () => hold('127.0.0.2'))
  t.same(mine.map(({ closed }) => closed), [false, false, false, false, true, true], 'half of it is one client\'s')
  t.equal(held(), 4 * MB)
  t.equal(counters[GATEWAY.answers_no_room], 2)
  t.match(unsent.refusal('127.0.0.2', MB), { code: 'RATE_LIMIT_EXCEEDED', details: { retryAfter: 1 } })
  t.equal(unsent.refusal('127.0.0.3', MB), null)
  t.match(unsent.refusal('127.0.0.3', 5 * MB), { code: 'OVERLOADED' })
  t.equal(held(), 4 * MB, 'asking takes nothing')
  const proxied = Array.from({ length: 4 }, () => hold('127.0.0.5'))
  t.same(proxied.map(({ closed }) => closed), [false, false, false, true], 'a proxy leaves the last tenth')

  for (const stuck of [...mine, ...proxied].filter(({ closed }) => !closed)) stuck.drain()
  t.equal(held(), 0, 'what is taken is given back')
  const text = 'ä'.repeat(100_000)
  const written = hold('127.0.0.2', text)
  t.equal(held(), 200_000, 'bytes, not characters')
  written.close()
  t.equal(held(), 0, 'and so is what was left of a connection that is gone')
  t.end()
})
