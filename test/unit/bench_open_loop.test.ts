/** The benches' generator at fixed times: a stall moves no request, it makes them late. */
import t from 'tap'
import { offer } from '../../bench/system/open_loop.ts'

const STALL_MS = 30

t.test('requests are due at fixed times although the generator stalls, and how late they were sent is told', async (t) => {
  const dues: number[] = []
  let flushed = 0
  let flushes = 0
  const late = await offer({ perSecond: 1000, ms: 100 }, (due, index) => {
    t.equal(index, dues.length, 'in order, each once')
    dues.push(due)
    if (index === 50) for (const end = performance.now() + STALL_MS; performance.now() < end; );
  }, () => {
    t.ok(dues.length > flushed, 'something is flushed')
    flushed = dues.length
    flushes++
  })
  t.equal(dues.length, 100)
  t.equal(flushed, 100, 'all are flushed')
  t.ok(flushes >= 2, 'not all at once')
  t.strictSame(dues.map((due) => Math.round(due - dues[0]!)), dues.map((_, index) => index))
  t.equal(late.length, 100)
  t.ok(late.at(-1)! >= STALL_MS - 2, 'the one behind the stall is late by it')
  t.ok(late[0]! >= 0 && late.every((each, i) => i === 0 || each >= late[i - 1]!), 'sorted, none is early')
})
