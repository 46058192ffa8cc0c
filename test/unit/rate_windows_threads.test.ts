/**
 * Promise: however many gateway threads one account uses at once, exactly its budget is granted, in items and in every window. The file
 * is also the other threads.
 */
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { readConfig } from '../../core/config.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { BUDGET, BUDGET_ROW_WORDS, budgetsBytes } from '../../core/ring/budgets.ts'
import { createRateLimiter, acquire } from '../../gateway/limits/rate_limiter.ts'

const THREADS = 4
const ROUNDS = 300
/** Items a window grants; the family's are twice as many and shared by three accounts. */
const LIMIT = 2000
const ACCOUNTS = 3
const DRAWS = 400

interface Job {
  readonly seed: number
  readonly thread: number
  readonly budgets: SharedArrayBuffer
  /** Word 0: the window, which is the meter's clock. Word 1: threads that are done with it. Then items granted per account. */
  readonly board: SharedArrayBuffer
}

const FLAGS = ['--rate-create-per-second', String(LIMIT), '--rate-create-per-minute', '10000000', '--rate-family-factor', '2']

/** Draws in every window until the main thread opens the next one. */
function hammer({ seed, thread, budgets, board }: Job): void {
  const words = new Int32Array(board)
  const random = createPrng(seed + thread)
  let round = 0
  const meter = createRateLimiter(readConfig(FLAGS, {})!, budgets, () => round * 1000, () => 0)
  for (round = 1; round <= ROUNDS; round++) {
    while (Atomics.load(words, 0) < round) Atomics.wait(words, 0, round - 1, 1000)
    for (let i = 0; i < DRAWS; i++) {
      const account = random.below(ACCOUNTS)
      const items = 1 + random.below(20)
      if (acquire(meter, 'create', account, items).waitMs === 0) Atomics.add(words, 2 + account, items)
    }
    // Single items at the end take what is left, so that the last item of every budget is fought over.
    for (let i = 0; i < 3 * LIMIT; i++) {
      const account = i % ACCOUNTS
      if (acquire(meter, 'create', account, 1).waitMs === 0) Atomics.add(words, 2 + account, 1)
    }
    Atomics.add(words, 1, 1)
    Atomics.notify(words, 1)
  }
}

async function tests(): Promise<void> {
  const { default: t } = await import('tap')
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
  t.comment(`SEED=${seed} npm test -- test/unit/rate_windows_threads.test.ts`)

  t.test(`${THREADS} threads, ${ROUNDS} windows`, async (t) => {
    const budgets = new SharedArrayBuffer(budgetsBytes(ACCOUNTS))
    const board = new SharedArrayBuffer((2 + ACCOUNTS) * 4)
    const words = new Int32Array(board)
    const workers = Array.from({ length: THREADS }, (_, thread) =>
      new Worker(import.meta.filename, { workerData: { seed, thread, budgets, board } satisfies Job }))
    const ended = Promise.all(workers.map((worker) => once(worker, 'exit')))
    const failed = new Promise<never>((_, reject) => workers.forEach((worker) => worker.on('error', reject)))
    let exact = 0
    for (let round = 1; round <= ROUNDS; round++) {
      words.fill(0, 1)
      Atomics.store(words, 0, round)
      Atomics.notify(words, 0)
      for (let waits = 0; Atomics.load(words, 1) < THREADS && waits < 60_000; waits++) {
        await Promise.race([new Promise((resolve) => setTimeout(resolve, 1)), failed])
      }
      const perAccount = [...words.subarray(2)]
      const family = perAccount.reduce((sum, items) => sum + items, 0)
      if (perAccount.every((items) => items <= LIMIT) && family === 2 * LIMIT) exact++
    }
    await ended
    t.equal(exact, ROUNDS, 'no account had more than its budget, and the family exactly its own')
    t.equal(new Int32Array(budgets)[BUDGET.LOCK], 0, 'the lock is free')
  })

  t.test('a lock whose holder sleeps is waited for', async (t) => {
    const budgets = new SharedArrayBuffer(budgetsBytes(1))
    const rows = new Int32Array(budgets)
    Atomics.store(rows, BUDGET.LOCK, 1)
    const board = new SharedArrayBuffer((2 + ACCOUNTS) * 4)
    const waiting = new Worker(import.meta.filename, { workerData: { seed: -1, thread: 0, budgets, board } satisfies Job })
    const answer = once(waiting, 'message')
    let asleep = 0
    for (let looks = 0; looks < 20_000 && asleep === 0; looks++) {
      asleep = Atomics.notify(rows, BUDGET.LOCK)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    t.equal(asleep, 1, 'it sleeps on the lock')
    t.equal(rows[BUDGET.CREATE_SECOND + 1], 0, 'and has drawn nothing')
    Atomics.store(rows, BUDGET.LOCK, 0)
    t.same((await answer)[0], { left: LIMIT - 1 })
    t.equal(rows[BUDGET.CREATE_SECOND + 1], 1)
    t.equal(rows.length, BUDGET_ROW_WORDS)
  })
}

function drawOnce({ budgets }: Job): void {
  const meter = createRateLimiter(readConfig(FLAGS, {})!, budgets, () => 1000, (account) => account)
  parentPort!.postMessage({ left: acquire(meter, 'create', 0, 1).remainingSecond })
}

if (isMainThread) await tests()
else if ((workerData as Job).seed < 0) drawOnce(workerData as Job)
else hammer(workerData as Job)
