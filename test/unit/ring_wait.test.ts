/**
 * Promise: a parked thread is never forgotten and an awake one costs its producer nothing. The file is also the other thread.
 * Alone: two threads that wait for each other want both cores.
 */
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createPrng } from '../../core/lib/prng.ts'
import { WAIT, WAIT_WORDS, waitFor, wake } from '../../core/ring/wait.ts'

/** A wait that lasts this long was never woken. */
const FORGOTTEN_MS = 20_000
const HANDOVERS = 20_000
/** Words of the ball: whose turn it is, as a number that grows. */
const BALL = 0

interface Job {
  kind: 'play' | 'sleep'
  seed: number
  ball: SharedArrayBuffer
  mine: SharedArrayBuffer
  theirs: SharedArrayBuffer
}

const cellOf = (buffer: SharedArrayBuffer): Int32Array => new Int32Array(buffer)
const newCell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)

/** Waits for the ball to reach `awaited`, passes it on, `turns` times; how often nobody woke it. Delays and spins are random. */
function play({ ball, mine, theirs, seed }: Job, first: number, turns: number): number {
  const random = createPrng(seed)
  const [word, cell, other] = [cellOf(ball), cellOf(mine), cellOf(theirs)]
  let awaited = first
  let forgotten = 0
  let rest = 0
  const ready = (): boolean => Atomics.load(word, BALL) >= awaited
  const delay = (): void => {
    for (let steps = random.below(4) === 0 ? random.below(5000) : 0; steps > 0; steps--) rest = (rest * 31 + steps) | 0
  }
  for (let turn = 0; turn < turns && forgotten === 0; turn++, awaited += 2) {
    delay()
    while (!ready() && forgotten === 0) {
      const began = performance.now()
      waitFor(cell, ready, random.below(3) === 0 ? random.below(300) : 0, FORGOTTEN_MS)
      if (performance.now() - began >= FORGOTTEN_MS) forgotten++
    }
    delay()
    Atomics.store(word, BALL, awaited + 1)
    wake(other)
  }
  return forgotten
}

/** Sleeps until the ball moves. */
function sleep({ ball, mine }: Job): number {
  const word = cellOf(ball)
  const ready = (): boolean => Atomics.load(word, BALL) > 0
  for (let waits = 0; waits < 100 && !ready(); waits++) waitFor(cellOf(mine), ready, 0, FORGOTTEN_MS)
  return Atomics.load(cellOf(mine), WAIT.WAKE)
}

async function tests(): Promise<void> {
  const { default: t } = await import('tap')
  const seed = Number(process.env['SEED'] ?? 9)
  t.comment(`SEED=${seed} node_modules/.bin/node --disable-warning=ExperimentalWarning test/unit/ring_wait.test.ts`)

  t.test(`${HANDOVERS} hand-overs between two threads, none forgotten`, async (t) => {
    const [ball, here, there] = [newCell(), newCell(), newCell()]
    const job: Job = { kind: 'play', seed, ball, mine: there, theirs: here }
    const worker = new Worker(new URL(import.meta.url), { workerData: job })
    await once(worker, 'online')
    const message = once(worker, 'message')
    const forgotten = play({ ...job, seed: seed + 1, mine: here, theirs: there }, 0, HANDOVERS / 2)
    t.same([forgotten, ...(await message)], [0, 0])
    t.equal(cellOf(ball)[BALL], HANDOVERS)
    t.same([here, there].map((cell) => cellOf(cell)[WAIT.SLEEPING]), [0, 0], 'nobody is left sleeping')
    t.ok(cellOf(here)[WAIT.WAKE]! + cellOf(there)[WAIT.WAKE]! > 100, 'many of them were woken from sleep')
  })

  t.test('a sleeping consumer is notified', async (t) => {
    const [ball, mine] = [newCell(), newCell()]
    const worker = new Worker(new URL(import.meta.url), { workerData: { kind: 'sleep', seed, ball, mine, theirs: mine } satisfies Job })
    const message = once(worker, 'message')
    await once(worker, 'online')
    for (let looks = 0; looks < 10_000_000 && Atomics.load(cellOf(mine), WAIT.SLEEPING) === 0; looks++) await new Promise(setImmediate)
    t.equal(Atomics.load(cellOf(mine), WAIT.SLEEPING), 1)
    Atomics.store(cellOf(ball), BALL, 1)
    wake(cellOf(mine))
    t.same(await message, [1], 'woken by one change of its word')
  })

  t.test('an awake consumer is left alone', async (t) => {
    const cell = cellOf(newCell())
    for (let i = 0; i < 10; i++) wake(cell)
    t.equal(cell[WAIT.WAKE], 0)
    let looks = 0
    waitFor(cell, () => ++looks === 3, 10, FORGOTTEN_MS)
    t.equal(looks, 3, 'found while spinning')
    t.same([cell[WAIT.WAKE], cell[WAIT.SLEEPING]], [0, 0], 'it never said that it sleeps')
  })

  t.test('what comes between the last look and the wait ends the wait', async (t) => {
    const cell = cellOf(newCell())
    let calls = 0
    const ready = (): boolean => {
      calls++
      if (cell[WAIT.SLEEPING] === 1) wake(cell)
      return false
    }
    const began = performance.now()
    waitFor(cell, ready, 5, FORGOTTEN_MS)
    t.ok(performance.now() - began < FORGOTTEN_MS, 'it did not sleep through')
    t.equal(calls, 6, 'five looks and the last one')
    t.same([cell[WAIT.WAKE], cell[WAIT.SLEEPING]], [1, 0])
  })

  t.test('a wait without anything to wait for ends by itself', async (t) => {
    const cell = cellOf(newCell())
    waitFor(cell, () => false, 0, 1)
    t.same([cell[WAIT.WAKE], cell[WAIT.SLEEPING]], [0, 0])
  })
}

if (isMainThread) await tests()
else {
  const job = workerData as Job
  parentPort!.postMessage(job.kind === 'play' ? play(job, 1, HANDOVERS / 2) : sleep(job))
}
