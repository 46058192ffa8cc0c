/**
 * Promise: a signature opens one session, whatever thread it comes to and whatever the clock does: of threads that race for it exactly one
 * gets it. The file is also the other threads.
 */
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { budgetsBytes } from '../../core/ring/budgets.ts'
import { createReplayGuard, REPLAY_GUARD, OPENINGS_MAX, OPENINGS_PER_ACCOUNT, replayGuardShare } from '../../core/ring/replay_guard.ts'
import { ReplayGuard } from '../../gateway/auth/replay_guard.ts'
import { FRESHNESS_MS } from '../../gateway/auth/signed_request.ts'

const START = 1_700_000_000_000
const HEAD = REPLAY_GUARD.HEAD_WORDS
const THREADS = 4
const ROUNDS = 100
/** Signatures all threads want in a round. */
const WANTED = 200

const signature = (name: string | number): string => hash('sha512', `signature ${name}`)
/** More than fill the table, whatever their shares. */
const ACCOUNTS = OPENINGS_MAX / replayGuardShare(OPENINGS_MAX - 1) + 1
const newBudgets = (): SharedArrayBuffer => new SharedArrayBuffer(budgetsBytes(ACCOUNTS))
const newOpenings = (): ReplayGuard => new ReplayGuard(createReplayGuard(START, randomBytes(REPLAY_GUARD.KEY_BYTES)), newBudgets())

interface Job {
  readonly openings: SharedArrayBuffer
  readonly budgets: SharedArrayBuffer
  /** Word 0: the round. Word 1: threads that are done with it. Then how often each signature was taken, and how often it was used. */
  readonly board: SharedArrayBuffer
}

/** Takes every signature of a round, each thread beginning somewhere else. */
function race({ openings, budgets, board }: Job, thread: number): void {
  const words = new Int32Array(board)
  const mine = new ReplayGuard(openings, budgets)
  for (let round = 1; round <= ROUNDS; round++) {
    while (Atomics.load(words, 0) < round) Atomics.wait(words, 0, round - 1, 1000)
    // Time goes on, so that tables are turned in the middle of the race too.
    const now = START + round * FRESHNESS_MS
    for (let i = 0; i < WANTED; i++) {
      const which = round % 2 === 0 ? i : (i + thread * 7) % WANTED
      const taken = mine.take(signature(`${round} ${which}`), which, now, now)
      Atomics.add(words, 2 + which + (taken === 'taken' ? 0 : WANTED), 1)
    }
    Atomics.add(words, 1, 1)
  }
}

async function tests(): Promise<void> {
  const { default: t } = await import('tap')

  t.test('a signature is taken once while it may be fresh, and never again', async (t) => {
    // Whatever the moment within the periods.
    for (const offset of [0, 1, FRESHNESS_MS, 2 * FRESHNESS_MS - 1, 2 * FRESHNESS_MS, 5 * FRESHNESS_MS]) {
      const openings = newOpenings()
      openings.take(signature('other'), 0, START, START)
      const at = START + offset
      t.equal(openings.take(signature('s'), 0, at, at), 'taken')
      for (let later = 0; later <= 12 * FRESHNESS_MS; later += FRESHNESS_MS / 2) {
        t.equal(openings.take(signature('s'), 0, at, at + later), 'used', `${offset} + ${later}`)
        const now = at + later
        t.equal(openings.take(signature(`${offset} ${later}`), 0, now, now), 'taken', 'another one is')
      }
    }
  })

  t.test('a clock that is set forward and back makes nothing good again', async (t) => {
    const openings = newOpenings()
    t.equal(openings.take(signature('s'), 0, START + 1, START), 'taken')
    for (let hours = 1; hours <= 3; hours++) openings.take(signature(hours), 0, START + hours * 3_600_000, START + hours * 3_600_000)
    t.equal(openings.take(signature('s'), 0, START + 1, START + 2), 'used')
  })

  t.test('what was signed before the start opens nothing', async (t) => {
    const openings = newOpenings()
    t.equal(openings.take(signature('s'), 0, START - 1, START), 'used')
    t.equal(openings.take(signature('s'), 0, START, START), 'taken')
  })

  t.test('the key decides where a signature stands', async (t) => {
    const [one, two] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)].map((key) => createReplayGuard(START, key)) as
      [SharedArrayBuffer, SharedArrayBuffer]
    for (const buffer of [one, two]) new ReplayGuard(buffer, newBudgets()).take(signature('s'), 0, START, START)
    const place = (buffer: SharedArrayBuffer): number => new Int32Array(buffer).findIndex((word, i) => i >= HEAD && word !== 0)
    t.ok(place(one) > 0)
    t.not(place(one), place(two))
  })
}

/** Who gets how many. */
async function shares(): Promise<void> {
  const { default: t } = await import('tap')

  t.test('what is remembered is bounded', async (t) => {
    const openings = newOpenings()
    let taken = 0
    for (let account = 0; account < ACCOUNTS; account++) {
      while (openings.take(signature(taken), account, START, START) === 'taken') taken++
    }
    t.equal(taken, OPENINGS_MAX)
    t.equal(openings.take(signature('more'), ACCOUNTS - 1, START, START), 'full')
    t.equal(openings.take(signature(7), 0, START, START), 'used', 'what is known stays known')
    const next = START + 2 * FRESHNESS_MS
    t.equal(openings.take(signature('more'), ACCOUNTS - 1, next, next), 'taken', 'there is room again')
    t.equal(openings.take(signature(7), 0, START, next), 'used')
  })

  t.test('accounts that open all they may leave the last tenth to those that open little', async (t) => {
    const openings = newOpenings()
    const greedy = 1024
    let taken = 0
    for (let account = 0; account < greedy; account++) {
      while (openings.take(signature(taken), account, START, START) === 'taken') taken++
    }
    t.ok(taken <= OPENINGS_MAX * 0.92, `${taken} of ${OPENINGS_MAX} by ${greedy} accounts`)
    for (let account = greedy; account < greedy + 500; account++) {
      if (openings.take(signature(`honest ${account}`), account, START, START) !== 'taken') t.fail(`${account}`)
    }
  })

  t.test('one account does not fill the table of all', async (t) => {
    const openings = newOpenings()
    for (let i = 0; i < OPENINGS_PER_ACCOUNT; i++) if (openings.take(signature(i), 3, START, START) !== 'taken') t.fail(`${i}`)
    t.equal(openings.take(signature('more'), 3, START, START), 'full')
    t.equal(openings.take(signature(7), 3, START, START), 'used', 'what is known stays known')
    t.equal(openings.take(signature('theirs'), 4, START, START), 'taken', 'another account has its own')
    const next = START + 2 * FRESHNESS_MS
    t.equal(openings.take(signature('more'), 3, next, next), 'taken', 'what was refused is not remembered, and there is room again')
  })
}

/** Threads that want the same signatures. */
async function races(): Promise<void> {
  const { default: t } = await import('tap')
  t.test(`${THREADS} threads, ${ROUNDS} races for ${WANTED} signatures: each is won once`, async (t) => {
    const openings = createReplayGuard(START, randomBytes(REPLAY_GUARD.KEY_BYTES))
    const budgets = newBudgets()
    const board = new SharedArrayBuffer((2 + 2 * WANTED) * 4)
    const words = new Int32Array(board)
    const workers = Array.from({ length: THREADS }, (_, thread) =>
      new Worker(import.meta.filename, { workerData: { job: { openings, budgets, board }, thread } }))
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
      const won = words.subarray(2, 2 + WANTED)
      const lost = words.subarray(2 + WANTED)
      if (won.every((times) => times === 1) && lost.every((times) => times === THREADS - 1)) exact++
    }
    await ended
    t.equal(exact, ROUNDS)
    t.equal(new Int32Array(openings)[REPLAY_GUARD.LOCK], 0, 'the lock is free')
  })
}

if (isMainThread) {
  await tests()
  await shares()
  await races()
} else {
  const { job, thread } = workerData as { job: Job; thread: number }
  race(job, thread)
}
