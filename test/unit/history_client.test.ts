/** Promise: a question to the history is answered exactly once, by a reader or by a refusal, and never waits without end. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { CLOCK } from '../../core/state/columns.ts'
import type { HistoryReply, HistoryRequest, HistoryTrade } from '../../core/history/answer/queries.ts'
import { HISTORY } from '../../core/ring/counters.ts'
import { askHistory, closeHistory, createHistory, OPEN_MAX, type History } from '../../gateway/bridge/history.ts'
import { Faults } from '../../gateway/faults.ts'
import { Refused } from '../../gateway/refused.ts'

interface Bench {
  readonly history: History
  /** The readers' ends. */
  readonly readers: MessagePort[]
  readonly asked: HistoryRequest[][]
  readonly errors: unknown[]
}

/** A client and its readers, which answer with `answer`; `null`: not at all. */
function bench(t: Test, answer: (request: HistoryRequest, reader: number) => HistoryReply | null, count = 1, deadlineMs?: number): Bench {
  const counters = new Float64Array(8)
  counters[HISTORY.up] = 1
  const channels = Array.from({ length: count }, () => new MessageChannel())
  const asked: HistoryRequest[][] = channels.map(() => [])
  const errors: unknown[] = []
  const readers = channels.map(({ port1 }, reader) => port1.on('message', (request: HistoryRequest) => {
    asked[reader]!.push(request)
    const reply = answer(request, reader)
    if (reply !== null) port1.postMessage(reply)
  }))
  const ports = channels.map(({ port2 }) => port2)
  const history = createHistory(ports, counters, new Float64Array(4), new Faults((error) => errors.push(error)), deadlineMs)
  t.teardown(() => {
    closeHistory(history)
    for (const reader of readers) reader.close()
  })
  return { history, readers, asked, errors }
}

const ask = (history: History, sequence = 1): Promise<HistoryTrade | null | Refused> =>
  new Promise((resolve) => askHistory(history, 'trade', { sequence, index: 0 }, resolve))
const codeOf = (answer: unknown): string => (answer instanceof Refused ? answer.code : 'answered')
const UNAVAILABLE = 'HISTORY_UNAVAILABLE'

t.test('every answer goes to its question, whatever the order they come in', async (t) => {
  const held: HistoryRequest[] = []
  const { history, readers, asked } = bench(t, (request) => {
    held.push(request)
    if (held.length === 20) {
      for (const { id, ask } of held.reverse()) {
        readers[0]!.postMessage({ id, answer: { sequence: (ask as { sequence: number }).sequence }, sequence: 1 })
      }
    }
    return null
  })
  history.clock[CLOCK.SEQUENCE] = 77
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(history, i)))
  t.same(answers.map((answer) => (answer as HistoryTrade).sequence), Array.from({ length: 20 }, (_, i) => i))
  t.ok(asked[0]!.every(({ atLeast }) => atLeast === 77), 'the reader is told what must be in it')
  t.equal(history.open.size, 0)
})

t.test('an answer says what it is complete to', async (t) => {
  const { history } = bench(t, ({ id, atLeast }) => ({ id, answer: null, sequence: atLeast + 3 }))
  history.clock[CLOCK.SEQUENCE] = 40
  const sequence = await new Promise((resolve) => askHistory(history, 'trade', { sequence: 1, index: 0 }, (_, reached) => resolve(reached)))
  t.equal(sequence, 43)
  history.counters[HISTORY.up] = 0
  askHistory(history, 'trade', { sequence: 1, index: 0 }, (_, reached) => t.equal(reached, 0, 'and a refusal nothing'))
})

t.test('readers take turns', async (t) => {
  const { history, asked } = bench(t, ({ id }) => ({ id, answer: null, sequence: 1 }), 3)
  await Promise.all(Array.from({ length: 12 }, () => ask(history)))
  t.same(asked.map((each) => each.length), [4, 4, 4])
})

t.test('refused at once when the history is down, when it has no reader, and when too much is open', async (t) => {
  const { history } = bench(t, () => null)
  const waiting = Array.from({ length: OPEN_MAX }, () => ask(history))
  t.equal(history.open.size, OPEN_MAX)
  t.equal(codeOf(await ask(history)), UNAVAILABLE, 'the queue is bounded')
  t.equal(history.open.size, OPEN_MAX)
  const none = bench(t, () => null, 0)
  t.equal(codeOf(await ask(none.history)), UNAVAILABLE)
  const down = bench(t, ({ id }) => ({ id, answer: null, sequence: 1 }))
  down.history.counters[HISTORY.up] = 0
  t.equal(codeOf(await ask(down.history)), UNAVAILABLE)
  t.equal(down.asked[0]!.length, 0)
  down.history.counters[HISTORY.up] = 1
  t.equal(await ask(down.history), null, 'and asked again when it is up')
  down.history.counters[HISTORY.silence_seconds] = 60
  t.equal(codeOf(await ask(down.history)), UNAVAILABLE, 'a silent one has stopped')
  t.ok(waiting.length > 0)
})

t.test('a failed and a late reader are refusals, and a late answer is dropped', async (t) => {
  const failing = bench(t, ({ id }) => ({ id, failed: 'disk' }))
  t.equal(codeOf(await ask(failing.history)), UNAVAILABLE)
  const late = bench(t, () => null, 1, 1)
  t.equal(codeOf(await ask(late.history)), UNAVAILABLE)
  // The refusal may come before the question is at the reader.
  for (let look = 0; look < 5000 && late.asked[0]!.length === 0; look++) await new Promise((resolve) => setTimeout(resolve, 1))
  late.readers[0]!.postMessage({ id: late.asked[0]![0]!.id, answer: null, sequence: 1 })
  t.equal(codeOf(await ask(late.history)), UNAVAILABLE)
  t.equal(late.history.open.size, 0)
})

t.test('a reader that ends takes its questions with it; the others go on', async (t) => {
  const { history, readers } = bench(t, ({ id }, reader) => (reader === 0 ? null : { id, answer: null, sequence: 1 }), 2)
  const answers = Promise.all([ask(history), ask(history)])
  readers[0]!.close()
  t.same((await answers).map(codeOf).sort(), [UNAVAILABLE, 'answered'])
  t.same((await Promise.all([ask(history), ask(history)])).map(codeOf), ['answered', 'answered'])
})

t.test('a handler that throws is reported, and its question refused', async (t) => {
  const { history, errors } = bench(t, ({ id }) => ({ id, answer: null, sequence: 1 }))
  const seen: string[] = []
  await new Promise<void>((resolve) => askHistory(history, 'trade', { sequence: 1, index: 0 }, (answer) => {
    seen.push(codeOf(answer))
    if (!(answer instanceof Refused)) throw new Error('a mistake')
    resolve()
  }))
  t.same(seen, ['answered', 'INTERNAL'])
  t.match(errors, [{ message: 'a mistake' }])
})
