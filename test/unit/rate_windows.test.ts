/**
 * Promise: a draw is granted exactly when every window it concerns, the account's and the family's, has room for all its items; one that
 * is not granted takes nothing; and what is left and how long to wait are told exactly.
 */
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { PROFILE } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { profileRow, set } from '../../core/state/rows.ts'
import { createState } from '../../core/state/state.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { budgetsBytes } from '../../core/ring/budgets.ts'
import { familyOf } from '../../gateway/limits/families.ts'
import { budgetHeaders } from '../../gateway/limits/budget.ts'
import { createRateLimiter, acquire, type RateLimiter, type RateLimitedClass } from '../../gateway/limits/rate_limiter.ts'
import { itemsOf } from '../../gateway/operations/admission.ts'
import { TABLE } from '../../gateway/operations/index.ts'
import type { Row } from '../../gateway/operations/row.ts'
import { testGenesis } from '../support/gateway_harness.ts'

/** A whole day of UTC begins here. */
const DAY = Date.UTC(2026, 0, 1)

interface Bench {
  readonly meter: RateLimiter
  at: number
}

/** Everybody is his own master. */
const alone = (account: number): number => account

/** A meter whose clock is `at`. */
function bench(flags: string[] = [], families: RateLimiter['familyOf'] = alone): Bench {
  const made = { at: DAY } as { meter: RateLimiter; at: number }
  made.meter = createRateLimiter(readConfig(flags, {})!, new SharedArrayBuffer(budgetsBytes(1000)), () => made.at, families)
  return made
}

/** How many of `tries` draws of `items` are granted. */
const granted = ({ meter }: Bench, name: RateLimitedClass, tries: number, account = 0, items = 1): number =>
  Array.from({ length: tries }, () => acquire(meter, name, account, items).waitMs).filter((wait) => wait === 0).length

t.test('the budgets of the specification by default', async (t) => {
  const b = bench()
  t.equal(granted(b, 'create', 110), 100, 'create: 100 in a second, a full batch')
  t.equal(granted(b, 'reduce', 210), 200, 'reduce: 200 in a second')
  t.equal(granted(b, 'movement', 12), 10, 'movement: 10 in a minute')
  t.equal(granted(b, 'close', 7), 5, 'close: 5 in a second')
  t.equal(granted(b, 'create', 1, 1), 1, 'another account has its own')
  let [creates, reduces] = [100, 200]
  for (b.at += 1000; b.at < DAY + 60_000; b.at += 1000) {
    creates += granted(b, 'create', 101)
    reduces += granted(b, 'reduce', 201)
  }
  t.equal(creates, 3000, 'create: 3,000 in a minute')
  t.equal(reduces, 6000, 'reduce: 6,000 in a minute')
  let movements = 10
  for (; b.at < DAY + 86_400_000; b.at += 60_000) movements += granted(b, 'movement', 11)
  t.equal(movements, 200, 'movement: 200 in a day')
  t.equal(granted(b, 'movement', 11), 10, 'the next day has its own')
})

t.test('remaining figures and waits', async (t) => {
  const b = bench(['--rate-create-per-second', '10', '--rate-create-per-minute', '15'])
  b.at = DAY + 58_400
  t.same(acquire(b.meter, 'create', 7, 4), { limitSecond: 10, limitMinute: 15, remainingSecond: 6, remainingMinute: 11, waitMs: 0 })
  t.same(acquire(b.meter, 'create', 7, 7), { limitSecond: 10, limitMinute: 15, remainingSecond: 6, remainingMinute: 11, waitMs: 600 },
    'more than is left of the second: nothing drawn, wait for its end')
  t.equal(acquire(b.meter, 'create', 7, 6).waitMs, 0)
  b.at = DAY + 59_000
  t.same(acquire(b.meter, 'create', 7, 6), { limitSecond: 10, limitMinute: 15, remainingSecond: 10, remainingMinute: 5, waitMs: 1000 },
    'more than is left of the minute')
  t.equal(acquire(b.meter, 'create', 7, 5).waitMs, 0)
  b.at = DAY + 59_999
  t.equal(acquire(b.meter, 'create', 7, 1).waitMs, 1, 'the last millisecond')
  b.at = DAY + 60_000
  t.equal(acquire(b.meter, 'create', 7, 10).waitMs, 0, 'the next window')
  t.equal(acquire(b.meter, 'create', 7, 11).waitMs, 60_000, 'the minute ends last')
  t.same(acquire(b.meter, 'movement', 7, 1), { limitSecond: 10, limitMinute: 10, remainingSecond: 9, remainingMinute: 9, waitMs: 0 })
  t.same(acquire(b.meter, 'close', 7, 1), { limitSecond: 5, limitMinute: 300, remainingSecond: 4, remainingMinute: 299, waitMs: 0 })
  const day = bench(['--rate-movement-per-day', '12'])
  t.equal(granted(day, 'movement', 11), 10)
  day.at += 60_000
  t.equal(acquire(day.meter, 'movement', 0, 1).remainingMinute, 1, 'what is left of the day, when that is less')
  t.equal(granted(day, 'movement', 2), 1)
  t.equal(acquire(day.meter, 'movement', 0, 1).waitMs, 86_340_000, 'until the day ends')
})

t.test('a family shares four budgets', async (t) => {
  const b = bench([], (account) => account - (account % 100))
  const family = [200, 201, 202, 203, 204, 205]
  const each = family.map((account) => granted(b, 'create', 110, account))
  t.same(each, [100, 100, 100, 100, 0, 0])
  t.equal(acquire(b.meter, 'create', 204, 1).remainingSecond, 0, 'the tighter tier is told')
  t.equal(granted(b, 'reduce', 110, 205, 2), 100, 'cancels have their own')
  t.equal(granted(b, 'create', 110, 300), 100, 'another family has its own')
  b.at += 1000
  t.equal(granted(b, 'create', 110, 205), 100)
})

t.test('a batch over budget takes nothing', async (t) => {
  const b = bench()
  t.equal(acquire(b.meter, 'create', 0, 60).waitMs, 0)
  t.ok(acquire(b.meter, 'create', 0, 60).waitMs > 0)
  t.equal(acquire(b.meter, 'create', 0, 40).remainingSecond, 0)
  t.ok(acquire(b.meter, 'create', 1, 101).waitMs > 0, 'more than a window holds never fits')
  t.equal(acquire(b.meter, 'create', 1, 100).waitMs, 0)
})

t.test('a clock that is set back opens a new window', async (t) => {
  const b = bench()
  t.equal(granted(b, 'create', 110), 100)
  b.at -= 3_600_000
  t.equal(granted(b, 'create', 110), 100)
})

/** The same rule with a Map per window. */
class Naive {
  readonly #drawn = new Map<string, number>()
  readonly #limits: Record<string, [owner: 'own' | 'family', ms: number, limit: number][]> = {
    create: [['own', 1000, 5], ['own', 60_000, 40], ['family', 1000, 10], ['family', 60_000, 80]],
    reduce: [['own', 1000, 10], ['own', 60_000, 80], ['family', 1000, 20], ['family', 60_000, 160]],
    movement: [['own', 60_000, 3], ['own', 86_400_000, 20]],
    close: [['own', 1000, 2]],
  }

  draw(name: RateLimitedClass, account: number, items: number, now: number): { wait: number; second: number; minute: number } {
    const windows = this.#limits[name]!.map(([owner, ms, limit]) => {
      const key = `${name} ${owner} ${owner === 'own' ? account : account - (account % 100)} ${ms} ${Math.floor(now / ms)}`
      return { key, ms, limit, drawn: this.#drawn.get(key) ?? 0 }
    })
    const refusing = windows.filter(({ drawn, limit }) => drawn + items > limit)
    if (refusing.length === 0) for (const { key, drawn } of windows) this.#drawn.set(key, drawn + items)
    const left = (which: (ms: number) => boolean): number => Math.min(
      ...windows.filter(({ ms }) => which(ms)).map(({ key, limit }) => limit - (this.#drawn.get(key) ?? 0)),
    )
    return {
      wait: Math.max(0, ...refusing.map(({ ms }) => ms - (now % ms))),
      // Without a window of a second: what is left of the minute. Without one of a minute: what is left of its seconds.
      second: Math.min(left((ms) => ms === 1000), name === 'movement' ? left(() => true) : Infinity),
      minute: name === 'close' ? left(() => true) + 2 * (59 - (Math.floor(now / 1000) % 60)) : left((ms) => ms !== 1000),
    }
  }
}

t.test('random draws equal a naive account of them', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
  t.comment(`SEED=${seed} npm test -- test/unit/rate_windows.test.ts`)
  const random = createPrng(seed)
  const flags = ['--rate-create-per-second', '5', '--rate-create-per-minute', '40', '--rate-family-factor', '2']
  const b = bench([...flags, '--rate-movement-per-minute', '3', '--rate-movement-per-day', '20', '--rate-close-per-second', '2'],
    (account) => account - (account % 100))
  const naive = new Naive()
  const names: RateLimitedClass[] = ['create', 'create', 'reduce', 'movement', 'close']
  let [wrong, refused] = [0, 0]
  for (let step = 0; step < 100_000 && wrong === 0; step++) {
    b.at += random.below(10) === 0 ? random.below(random.below(100) === 0 ? 4_000_000 : 2000) : random.below(60)
    const name = names[random.below(names.length)]!
    const account = random.below(3) * 100 + random.below(4)
    const items = name === 'create' || name === 'reduce' ? 1 + random.below(random.below(5) === 0 ? 12 : 2) : 1
    const drawn = acquire(b.meter, name, account, items)
    const expected = naive.draw(name, account, items, b.at)
    const figures = {
      wait: drawn.waitMs,
      second: drawn.remainingSecond,
      minute: drawn.remainingMinute,
    }
    if (drawn.waitMs > 0) refused++
    if (JSON.stringify(figures) !== JSON.stringify(expected)) {
      t.same(figures, expected, `step ${step}: ${name}, account ${account}, ${items} items`)
      wrong++
    }
  }
  t.equal(wrong, 0)
  t.ok(refused > 10_000 && refused < 90_000, `${refused} of 100,000 were over budget`)
})

t.test('headers of a budget', async (t) => {
  const figures = { limitSecond: 50, limitMinute: 1500, remainingSecond: 0, remainingMinute: 7 }
  t.same(budgetHeaders(figures), [
    ['X-RateLimit-Limit-Second', '50'], ['X-RateLimit-Limit-Minute', '1500'],
    ['X-RateLimit-Remaining-Second', '0'], ['X-RateLimit-Remaining-Minute', '7'],
  ])
  t.same(budgetHeaders(null), [])
})

t.test('what an operation counts for', async (t) => {
  const rows = Object.entries(TABLE) as [string, Row][]
  const lists: Record<string, string> = { BatchCreateOrders: 'orders', BatchReplaceOrders: 'orders', BatchCancelOrders: 'orderIds' }
  for (const [name, row] of rows) {
    t.ok(row.rate === 'none' || row.access === 'session', `${name}: what draws from a budget has an account`)
    const many = { orders: [1, 2, 3], orderIds: ['a', 'b', 'c', 'd'] }
    t.equal(itemsOf(row, many), lists[name] === undefined ? 1 : many[lists[name] as keyof typeof many].length, name)
  }
  t.equal(itemsOf(TABLE.CreateOrder, { orders: [] }), 1, 'a list that is none of the operation\'s counts for nothing')
})

t.test('a family is a master and its sub-accounts', async (t) => {
  const state = createState(parseGenesis(testGenesis()))
  for (const [sub, master, consented] of [[4, 0, 1], [5, 17, 1], [6, 17, 0]] as const) {
    set(state, profileRow(state, sub), PROFILE.MASTER, master + 1)
    set(state, profileRow(state, sub), PROFILE.CONSENTED, consented)
  }
  t.same([0, 4, 5, 17, 3].map((account) => familyOf(state, account)), [0, 0, 17, 17, 3])
  t.equal(familyOf(state, 6), 6, 'who has not agreed to a master shares no budget with him')
})
