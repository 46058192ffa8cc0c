/**
 * Promise: while orders come, signed reads have a share of a thread's time, and a family half of it: a family that owes time waits by
 * itself, and is refused with the time after which it may read again; other families read meanwhile. Without orders nobody waits.
 */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { GATEWAY, GATEWAY_COUNTERS } from '../../core/ring/counters.ts'
import { Faults } from '../../gateway/faults.ts'
import { READS_OF_ONE, SignedReads } from '../../gateway/limits/reads.ts'
import type { Job, Payer } from '../../gateway/limits/time_share.ts'
import type { Refused } from '../../gateway/refused.ts'
import { until } from '../support/until.ts'

class Read implements Job {
  readonly client: string
  readonly reads: boolean
  over = false
  ran = 0
  refused: Refused | null = null
  payer: Payer | null = null

  constructor(client: string, reads = false) {
    this.client = client
    this.reads = reads
  }

  keep(): void {
    // Nothing to copy.
  }

  run(payer: Payer): void {
    this.payer = payer
    this.ran++
    this.over = !this.reads
  }

  refuse(refused: Refused): void {
    this.refused = refused
    this.over = true
  }
}

function start(percent: number): { work: SignedReads; counters: Float64Array } {
  const counters = new Float64Array(GATEWAY_COUNTERS.length)
  return { work: new SignedReads(percent, counters, new Faults(() => undefined)), counters }
}

/** Lets orders come until this holds. */
const beside = (work: SignedReads, holds: () => boolean): Promise<boolean> => until(() => {
  work.precede(performance.now())
  return holds()
})

t.test('a family that owes time waits and is refused; another reads', async (t) => {
  const { work, counters } = start(40)
  work.precede(performance.now())
  const first = new Read('greedy', true)
  work.submit(first)
  t.equal(first.ran, 1, 'at once')
  // Its answer took a reader of the history two seconds: ten of the family's fifth.
  first.payer!.charge(1, 2_500)
  first.over = true
  t.ok(counters[GATEWAY.read_seconds]! >= 1, 'the time of the history counts')
  const more = Array.from({ length: 24 }, () => new Read('greedy'))
  for (const read of more) work.submit(read)
  const other = new Read('other')
  work.submit(other)
  t.equal(counters[GATEWAY.reads_queued], 25)
  t.ok(await beside(work, () => other.over))
  t.equal(other.refused, null, 'the other family reads')
  t.equal(more.filter(({ ran }) => ran > 0).length, 0, 'while the first waits')
  t.ok(await beside(work, () => more.every(({ over }) => over)))
  t.ok(more.every(({ refused }) => refused?.code === 'RATE_LIMIT_EXCEEDED'))
  const { retryAfter } = more[0]!.refused!.details!
  t.ok(Number(retryAfter) >= 1 && Number(retryAfter) <= 10, `again in ${retryAfter} s`)
  t.equal(counters[GATEWAY.reads_refused], 24)
  t.equal(counters[GATEWAY.reads_queued], 0)
  work.close()
})

t.test('without orders a family has all the time there is', async (t) => {
  const { work, counters } = start(1)
  for (let i = 0; i < 50; i++) {
    const read = new Read('greedy', true)
    work.submit(read)
    t.equal(read.refused, null)
    if (!await until(() => read.ran === 1)) t.fail('it never reads')
    read.payer!.charge(0, 1_000)
    read.over = true
    await pause(0)
  }
  t.ok(counters[GATEWAY.read_seconds]! >= 50)
  t.equal(counters[GATEWAY.reads_refused], 0)
  work.close()
})

t.test('few reads of a family wait for the history at a time, and leave room for others', async (t) => {
  const { work } = start(100)
  const mine = Array.from({ length: 12 }, () => new Read('greedy', true))
  for (const read of mine) work.submit(read)
  const other = new Read('other', true)
  work.submit(other)
  t.ok(await until(() => other.ran === 1))
  t.equal(mine.filter(({ ran }) => ran === 1).length, READS_OF_ONE)
  mine[0]!.over = true
  t.ok(await until(() => mine.filter(({ ran }) => ran === 1).length === READS_OF_ONE + 1), 'the next follows')
  work.close()
})

t.test('a signature that was checked for a refused read is paid for by its family', async (t) => {
  const { work } = start(40)
  work.precede(performance.now())
  work.charge('flood', 500)
  const [flood, other] = [new Read('flood'), new Read('other')]
  work.submit(flood)
  work.submit(other)
  t.ok(await beside(work, () => other.over))
  t.equal(other.ran, 1)
  t.equal(flood.ran, 0)
  work.close()
})
