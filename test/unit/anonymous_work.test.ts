/**
 * Promise: requests without a signature have a share of a thread's time while signed ones come, and all of it otherwise; clients have
 * it in rotation; what waits is bounded, and refused by name; reads that wait for the history are few at a time.
 * Alone: it measures what jobs take.
 */
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { GATEWAY, GATEWAY_COUNTERS } from '../../core/ring/counters.ts'
import type { Refused } from '../../gateway/refused.ts'
import { Faults } from '../../gateway/faults.ts'
import { AnonymousWork, MESSAGES_BYTES, QUEUE_MAX, READS_MAX, type Job, type Payer } from '../../gateway/limits/anonymous.ts'

const busy = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

class Request implements Job {
  readonly client: string
  readonly reads: boolean
  readonly #ms: number
  readonly #ran: string[]
  over = false
  kept = 0
  ran = 0
  refused = ''
  took = 0
  payer: Payer | null = null

  constructor(client: string, ms: number, ran: string[] = [], reads = false) {
    this.client = client
    this.#ms = ms
    this.#ran = ran
    this.reads = reads
  }

  keep(): void {
    this.kept++
  }

  run(payer: Payer): void {
    const from = performance.now()
    busy(this.#ms)
    this.took = performance.now() - from + 1
    this.payer = payer
    this.ran++
    this.#ran.push(this.client)
    this.over = !this.reads
  }

  refuse(refused: Refused): void {
    this.refused = refused.code
    this.over = true
  }
}

function start(percent = 25, proxies?: ReadonlySet<string>): { work: AnonymousWork; counters: Float64Array } {
  const counters = new Float64Array(GATEWAY_COUNTERS.length)
  return { work: new AnonymousWork(percent, counters, new Faults(() => undefined), proxies), counters }
}

/** The time of the request that took longest, ms. */
const costliest = (jobs: readonly Request[]): number => Math.max(...jobs.map(({ took }) => took))

async function until(holds: () => boolean): Promise<boolean> {
  for (let look = 0; look < 20_000; look++) {
    if (holds()) return true
    await pause(1)
  }
  return false
}

t.test('one after the other is done at once', async (t) => {
  const { work } = start()
  for (let i = 0; i < 100; i++) {
    const job = new Request('a', 0.01)
    work.submit(job)
    t.equal(job.ran + job.kept, job.ran, 'nothing is copied that does not wait')
    await turn()
  }
  work.close()
})

t.test('much at once is done in turns, and other things in between', async (t) => {
  const { work } = start()
  const jobs = Array.from({ length: 60 }, () => new Request('a', 1))
  for (const job of jobs) work.submit(job)
  const inline = jobs.filter((job) => job.ran > 0).length
  t.ok(inline >= 1 && inline <= 11, `${inline} at once`)
  let turns = 0
  while (jobs.some((job) => job.ran === 0) && turns < 10_000) {
    turns++
    await turn()
  }
  t.ok(turns >= 5, `${turns} turns`)
  t.ok(jobs.every((job) => job.ran === 1 && job.refused === ''))
  work.close()
})

t.test('beside signed requests it has its share', async (t) => {
  const began = performance.now()
  const { work, counters } = start(25)
  const spent = (): number => counters[GATEWAY.anonymous_seconds]! * 1000
  let over = 0
  const jobs = Array.from({ length: 200 }, (_, i) => new Request(`${i % 4}`, 1))
  work.signed(began, performance.now())
  for (const job of jobs) work.submit(job)
  for (let done = 0; jobs.some((job) => !job.over);) {
    work.signed(began, performance.now())
    await turn()
    const now = jobs.filter((job) => job.ran > 0).length
    // Before the last request began there was something left of a quarter and of what was saved up.
    if (now > done && spent() - costliest(jobs) > (performance.now() - began) * 0.25 + 50) over++
    done = now
  }
  t.equal(over, 0)
  t.ok(jobs.filter((job) => job.ran > 0).length > 50, 'it is not starved')
  work.close()
})

t.test('clients have their turns by time', async (t) => {
  const { work } = start()
  const ran: string[] = []
  const greedy = Array.from({ length: 200 }, () => new Request('greedy', 1, ran))
  for (const job of greedy) work.submit(job)
  const other = new Request('other', 1, ran)
  work.submit(other)
  t.ok(await until(() => other.ran === 1))
  const before = ran.indexOf('other')
  t.ok(before < 40, `${before} of the other's 200 went before`)
  work.close()
})

t.test('what waits is bounded, for each and for all', async (t) => {
  const { work, counters } = start()
  const flood = Array.from({ length: 2 * QUEUE_MAX }, () => new Request('flood', 0))
  busy(1)
  work.signed(0, performance.now())
  work.submit(new Request('before', 60))
  for (const job of flood) work.submit(job)
  const refused = flood.filter((job) => job.refused !== '')
  t.same([...new Set(refused.map((job) => job.refused))], ['RATE_LIMIT_EXCEEDED'])
  t.equal(flood.length - refused.length, QUEUE_MAX / 2, 'half of the queue is one client\'s')
  const others = Array.from({ length: QUEUE_MAX }, (_, i) => new Request(`other ${i}`, 0))
  for (const job of others) work.submit(job)
  t.equal(others.filter((job) => job.kept === 1).length, QUEUE_MAX / 2, 'others have the rest')
  t.same([...new Set(others.filter((job) => job.refused !== '').map((job) => job.refused))], ['OVERLOADED'])
  t.equal(counters[GATEWAY.anonymous_refused], refused.length + QUEUE_MAX / 2)
  t.ok(await until(() => flood.concat(others).every((job) => job.over)), 'each was done or refused in the end')
  t.equal(counters[GATEWAY.anonymous_queued], 0)
  work.close()
})

t.test('a proxy has its clients’ places, and leaves some alone', async (t) => {
  const { work } = start(25, new Set(['proxy']))
  work.signed(0, performance.now())
  work.submit(new Request('before', 60))
  const flood = Array.from({ length: QUEUE_MAX }, () => new Request('proxy', 0))
  for (const job of flood) work.submit(job)
  t.equal(flood.filter((job) => job.kept === 1).length, QUEUE_MAX - Math.floor(QUEUE_MAX / 10))
  const other = new Request('other', 0)
  work.submit(other)
  t.equal(other.kept, 1)
  t.ok(await until(() => flood.concat(other).every((job) => job.over)))
  work.close()
})

t.test('nobody waits for longer than two seconds, also when nothing may be given', async (t) => {
  const { work, counters } = start(1)
  const began = performance.now()
  work.signed(began, began)
  work.submit(new Request('before', 100))
  const waiting = Array.from({ length: 10 }, (_, i) => new Request(`${i}`, 0))
  for (const job of waiting) work.submit(job)
  t.ok(await until(() => {
    work.signed(began, performance.now())
    return waiting.every((job) => job.over)
  }))
  t.same([...new Set(waiting.map((job) => job.refused))], ['OVERLOADED'])
  const next = new Request('next', 0)
  work.submit(next)
  t.equal(next.kept, 1, 'what is owed, five seconds of the share, is not there again')
  next.over = true
  t.ok(await until(() => counters[GATEWAY.anonymous_queued] === 0))
  work.close()
})

t.test('what was done at once takes nothing from others, and its client has less of the rotation', async (t) => {
  const { work, counters } = start()
  const ran: string[] = []
  work.signed(0, performance.now())
  work.charge('flood', 500)
  t.equal(counters[GATEWAY.anonymous_seconds], 0.5)
  await turn()
  work.signed(0, performance.now())
  const first = new Request('other', 0, ran)
  work.submit(first)
  t.equal(first.ran, 1, 'nothing is owed')
  work.submit(new Request('before', 60))
  const flood = new Request('flood', 0, ran)
  work.submit(flood)
  work.charge('flood', 50)
  const others = Array.from({ length: 20 }, () => new Request('other', 0, ran))
  for (const job of others) work.submit(job)
  t.ok(await until(() => flood.over && others.every((job) => job.over)))
  t.equal(ran.at(-1), 'flood', 'the others went before')
  work.close()
})

t.test('messages of sockets wait for as long as it takes, and hold a bounded room', async (t) => {
  const { work, counters } = start(1)
  const began = performance.now()
  work.signed(began, began)
  work.submit(new Request('before', 75))
  const waiting = Array.from({ length: 6 }, (_, i) =>
    Object.assign(new Request('flood', 0), { bytes: MESSAGES_BYTES / 8, queue: `queue ${i % 2}` }))
  for (const job of waiting) work.submit(job)
  t.same(waiting.map(({ refused }) => refused), ['', '', '', '', 'RATE_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED'], 'half is one client’s')
  t.equal(counters[GATEWAY.ws_changes_bytes], MESSAGES_BYTES / 2)
  t.equal(counters[GATEWAY.anonymous_queued], 0)
  const requests = new Request('flood', 0)
  work.submit(requests)
  t.ok(await until(() => {
    work.signed(began, performance.now())
    return waiting.every((job) => job.over)
  }))
  t.equal(waiting.filter(({ ran }) => ran === 1).length, 4, 'each that waited was done')
  t.equal(requests.refused, 'OVERLOADED', 'when requests had waited for too long')
  t.equal(counters[GATEWAY.ws_changes_bytes], 0)
  work.close()
})

t.test('few reads wait for the history at a time', async (t) => {
  const { work, counters } = start()
  const reads = Array.from({ length: 40 }, () => new Request('a', 0, [], true))
  const began = performance.now()
  for (const job of reads) work.submit(job)
  for (let look = 0; look < 20_000 && reads.some((job) => !job.over); look++) {
    const asked = reads.filter((job) => job.ran === 1 && !job.over)
    if (asked.length > READS_MAX) t.fail(`${asked.length} at once`)
    const [first] = asked
    if (first === undefined) await pause(1)
    else {
      first.payer!.charge(1)
      first.over = true
    }
  }
  const asked = reads.filter((job) => job.ran === 1)
  t.ok(reads.every((job) => job.over))
  t.ok(asked.length === reads.length || performance.now() - began > 2000, 'only who waited for two seconds was refused')
  t.ok(counters[GATEWAY.anonymous_seconds]! >= asked.length / 1000, 'answers are paid for')
  work.close()
})

t.test('who left is forgotten', async (t) => {
  const { work, counters } = start()
  work.signed(0, performance.now())
  work.submit(new Request('before', 60))
  const gone = Array.from({ length: 10 }, () => new Request('gone', 0))
  for (const job of gone) work.submit(job)
  for (const job of gone) job.over = true
  t.ok(await until(() => counters[GATEWAY.anonymous_queued] === 0))
  t.ok(gone.every((job) => job.ran === 0))
  work.close()
})
