/**
 * Promise: the history of margin trading is what happened. Events made up at random (support/margin_tale.ts), written and stopped at any
 * moment: positions, funding, liquidations, rates and every movement with its balances are those of a plain list; movements of a margin
 * account follow from each other; open interest is the mean of one sample a minute; equity, profit, volume and fees of the portfolio
 * are those that the tale adds up, short positions, losses and negative bases included; fills of perpetuals move no balance; and the rows
 * are the same however the store was written.
 *
 * One run again: SEED=7 npm test -- test/property/history_margin.test.ts
 */
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { createAnswers } from '../../core/history/answer/answers.ts'
import {
  Entry, type HistoryMovement, type Listing, type Position, type Queries,
} from '../../core/history/answer/queries.ts'
import { HOLDING, holdingAt } from '../../core/history/project/accounts.ts'
import { createProjector } from '../../core/history/project/projector.ts'
import { openWriter, writePosition, type HistoryDatabase } from '../../core/history/store/store.ts'
import { compareStores } from '../../core/history/store/verify.ts'
import type { Views } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { ACCOUNTS, MarginTale } from '../support/margin_tale.ts'
import { ask, everything, positionAt } from '../support/history.ts'
import { genesisText, pairSpec, perpPair } from '../support/variants.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const STEPS = 800
const HOUR = 3_600_000
const WALK = { limit: 100, skip: 0, countMost: 0 }
t.setTimeout(300_000)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/property/history_margin.test.ts`)

const genesis = parseGenesis(genesisText({
  limits: { priceTicks: 65_536, positions: 8192 }, dailyLimit: 5, assets: [['USD', 6, '1000000'], ['BTC', 8, '1000'], ['ETH', 8, '1000']],
  pairs: [pairSpec('BTC/USD'), perpPair('BTC/USD-PERP'), perpPair('ETH/USD-PERP')],
}))
const identities = {
  applicationOf: (): number => 0, payerOf: (account: number): number => account,
  createdSequenceOf: (account: number): number => account, pairId: (pair: number): string => genesis.pairs[pair]!.id,
}

/** A tale of `steps` commands, at most `apart` ms from each other; flushed, and gone on with as after a stop, where `cuts` says. */
function tell(
  steps: number, apart: number, cuts: (step: number) => 'none' | 'flush' | 'stop',
): { database: HistoryDatabase; tale: MarginTale } {
  const database = openWriter(':memory:')
  let projector = createProjector(database, genesis, identities)
  const hear = (events: Views, count: number): void => projector.project(events, count)
  const tale = new MarginTale(genesis, createPrng(SEED), Date.UTC(2026, 1, 26, 22, 58, 30), hear)
  const flush = (): void => void database.transaction(() => writePosition(database, positionAt(tale.sequence, projector.flush())))()
  for (let step = 0; step < steps; step++) {
    tale.step(apart)
    const cut = cuts(step)
    if (cut !== 'none') flush()
    if (cut === 'stop') projector = createProjector(database, genesis, identities)
  }
  flush()
  return { database, tale }
}

const random = createPrng(SEED + 1)
const { database, tale } = tell(STEPS, 90_000, () => (random.below(40) > 0 ? 'none' : random.below(3) > 0 ? 'flush' : 'stop'))
const answers = createAnswers(database, genesis)
type ListingOf<Name extends keyof Queries> = Queries[Name]['answer'] extends Listing<infer Row> ? Row : never
/** Everything of a listing, oldest first. */
function all<Name extends 'positions' | 'fundingPayments' | 'fundingRates' | 'liquidations' | 'movements'>(
  name: Name, filters: object,
): ListingOf<Name>[] {
  const list = (after: Position | null): Listing<ListingOf<Name>> =>
    ask(answers, name, { ...WALK, ...filters, after } as unknown as Queries[Name]['ask']) as unknown as Listing<ListingOf<Name>>
  return everything(list, (row) => row as Position).reverse()
}
/** Both lists are the same; otherwise the first rows that differ, because a comparison of all of them takes minutes. */
function same(t: Test, found: readonly object[], wanted: readonly object[], what = 'as it was told'): void {
  const at = found.length === wanted.length && isDeepStrictEqual(found, wanted) ? -1
    : wanted.findIndex((row, index) => !isDeepStrictEqual(found[index], row))
  t.strictSame({ rows: found.length, at, row: found[at] }, { rows: wanted.length, at: -1, row: at < 0 ? undefined : wanted[at] }, what)
}
const of = <Row extends { account: number }>(rows: readonly Row[], account: number): Row[] => rows.filter((row) => row.account === account)

t.test('positions', async (t) => {
  for (let account = 0; account < ACCOUNTS; account++) {
    const wanted = of(tale.positions, account)
    same(t, all('positions', { account }), wanted, `those of ${account}`)
    same(t, all('positions', { account, open: true, pair: 1 }), wanted.filter(({ lots, pair }) => lots !== 0 && pair === 1))
    const { marginAccount, bucket, sequence, row } = wanted[wanted.length >> 1]!
    same(t, all('positions', { account, marginAccount }), wanted.filter((each) => isDeepStrictEqual(each.marginAccount, marginAccount)))
    const closed = wanted.filter((each) => each.lots === 0 && isDeepStrictEqual(each.bucket, bucket))
    same(t, all('positions', { account, bucket, open: false }), closed)
    t.strictSame(ask(answers, 'position', { account, sequence, row }), wanted[wanted.length >> 1])
    t.equal(ask(answers, 'position', { account, sequence, row: row + 1000 }), null, 'another row is another position')
    t.equal(ask(answers, 'position', { account: account + 7, sequence, row }), null, 'and it is nobody else\'s')
    const page = ask(answers, 'positions', { account, limit: 3, skip: 2, after: null, countMost: 50 })
    t.strictSame(page.rows, wanted.toReversed().slice(2, 5))
    t.equal(page.total, Math.min(50, wanted.length))
  }
  t.ok(tale.positions.some(({ lots, closedAt }) => lots === 0 && closedAt > 0) && tale.positions.length > 60, `${tale.positions.length}`)
  t.ok(tale.positions.some(({ entryLots }) => entryLots < 0), 'short ones among them')
})

t.test('funding and liquidations', async (t) => {
  for (let account = 0; account < ACCOUNTS; account++) {
    const payments = of(tale.payments, account).map(({ account: _, ...payment }) => payment)
    same(t, all('fundingPayments', { account }), payments)
    const { position } = payments.at(-1)!
    const its = payments.filter((each) => JSON.stringify(each.position) === JSON.stringify(position))
    same(t, all('fundingPayments', { account, position }), its, 'those of one position')
    same(t, all('fundingPayments', { account, position: { ...position, row: 9999 } }), [], 'of none')
    const unresolved = of(tale.liquidations, account).filter(({ endedAt }) => endedAt === 0)
    same(t, all('liquidations', { account }), of(tale.liquidations, account))
    same(t, all('liquidations', { account, unresolved: true }), unresolved)
  }
  same(t, all('fundingRates', { pair: 1 }), tale.rates.filter(({ pair }) => pair === 1))
  const middle = tale.rates[tale.rates.length >> 1]!.time
  const before = tale.rates.filter(({ pair, time }) => pair === 2 && time <= middle)
  same(t, all('fundingRates', { pair: 2, to: middle }), before)
  const [payments, liquidations] = [tale.payments.length, tale.liquidations.length]
  t.ok(payments > 30 && liquidations > 10, `${payments} payments, ${liquidations} liquidations`)
})

/** First movement of a margin account or wallet that does not follow from the one before it, as text, or null. */
function gap(movements: readonly HistoryMovement[]): string | null {
  const last = new Map<string, HistoryMovement>()
  for (const movement of movements) {
    const key = JSON.stringify(movement.margin?.account ?? null)
    const { available = 0n, locked = 0n } = last.get(key) ?? {}
    const { entry, amount } = movement
    const total = entry === Entry.CREDIT ? amount : entry === Entry.DEBIT ? -amount : 0n
    const held = entry === Entry.LOCK ? amount : entry === Entry.UNLOCK ? -amount : 0n
    const follows = movement.available === available + total - held && movement.locked === locked + held
    if (!follows || amount <= 0n) return `${movement.sequence}/${movement.index}`
    last.set(key, movement)
  }
  return null
}

t.test('movements', async (t) => {
  for (let account = 0; account < ACCOUNTS; account++) {
    const movements = all('movements', { account })
    same(t, movements, of(tale.movements, account), `those of ${account}`)
    t.equal(gap(movements), null, 'each follows from the one before')
    for (const transaction of new Set(tale.movements.map((each) => each.transaction))) {
      const wanted = of(tale.movements, account).filter((each) => each.transaction === transaction)
      same(t, all('movements', { account, transaction }), wanted, `transaction ${transaction}`)
    }
  }
  const list = (after: Position | null): Listing<HistoryMovement> =>
    ask(answers, 'applicationMovements', { ...WALK, application: 0, after })
  same(t, everything(list, ({ sequence, index }) => ({ sequence, index })).reverse(), tale.movements, 'those of the application')
  const page = ask(answers, 'applicationMovements', { application: 0, limit: 7, skip: 100, after: null, countMost: 1e6 })
  t.strictSame(page, { rows: tale.movements.toReversed().slice(100, 107), total: tale.movements.length, more: true }, 'a page of them')
})

t.test('trades move no balance', async (t) => {
  const { accounts } = createProjector(database, genesis, identities)
  for (let account = 0; account < ACCOUNTS; account++) {
    const row = accounts.look(account)
    const held = genesis.assets.map(({ index }) => accounts.rows[holdingAt(row, index) + HOLDING.AVAILABLE]!)
    t.strictSame(held, [tale.users[account]!.wallet, 0n, 0n])
    const own = ask(answers, 'trades', { ...WALK, account, after: null })
    t.ok(own.rows.length > 20 && own.rows.every(({ pair }) => pair > 0), 'they are trades of the account')
    const orders = ask(answers, 'orders', { ...WALK, account, margin: true, after: null })
    t.ok(orders.rows.length > 20 && orders.rows.every(({ margin }) => margin !== undefined && margin.leverage === 1000))
    t.strictSame(ask(answers, 'orders', { ...WALK, account, margin: false, after: null }).rows, [])
  }
})

t.test('portfolio', async (t) => {
  const end = Math.floor(tale.time / HOUR)
  for (let account = 0; account < ACCOUNTS; account++) {
    const found = ask(answers, 'portfolio', { account, period: 'all', now: tale.time })
    t.equal(found.realizedPnl, tale.realized[account], 'profit and funding')
    t.equal(found.fees, tale.fees[account], 'fees, those of liquidations too')
    t.equal(found.volume, tale.volume[account], 'volume')
    for (const { time, equity } of found.points.slice(1)) {
      const until = time === tale.time ? (end + 1) * HOUR : time
      const worth = tale.worths[account]!.findLast((each) => each.time < until)
      if (worth === undefined) continue
      let wanted = worth.wallet + worth.collateral
      for (const [pair, { lots, cost }] of worth.held) {
        const mark = tale.interest.findLast((each) => each.pair === pair && each.time < until)!.mark
        wanted += BigInt(lots) * BigInt(mark) * genesis.pairs[pair]!.tickLotAtoms - cost
      }
      t.equal(equity, wanted, `equity of ${account} at ${new Date(time).toISOString()}`)
    }
    const { realized, fees } = tale
    const now = tale.worths[account]!.at(-1)!
    t.equal(now.wallet + now.collateral, 1_000_000_000_000n + realized[account]! - fees[account]!, 'what it has is accounted for')
  }
})

/** Mean of one sample a minute, of those that are over and begin in `minutes` from `from` on; `null`: too few have one. */
function meanInterest({ interest }: MarginTale, pair: number, from: number, minutes: number, now: number): bigint | null {
  const last = new Map<number, bigint>()
  for (const { pair: its, time, lots, mark } of interest) {
    if (its === pair) last.set(Math.floor(time / 60_000), BigInt(lots) * BigInt(mark) * genesis.pairs[pair]!.tickLotAtoms)
  }
  const first = from / 60_000
  const current = Math.max(Math.floor(now / 60_000), ...last.keys())
  const samples = [...last].filter(([minute]) => minute >= first && minute < first + minutes && minute < current).map(([, value]) => value)
  return samples.length < 0.95 * minutes ? null : samples.reduce((sum, value) => sum + value, 0n) / BigInt(samples.length)
}

t.test('open interest', async (t) => {
  // Every minute several events: windows are covered. Then a pause, after which they are not.
  const { database: busy, tale: told } = tell(2_500, 8_000, (step) => (step % 700 === 0 ? 'stop' : 'none'))
  const reader = createAnswers(busy, genesis)
  let known = 0
  for (const later of [0, 1, 59_999, 60_000, 180_000, 240_000, 3_600_000, 90_000_000]) {
    const now = told.time + later
    const { rows } = ask(reader, 'screener', { limit: 10, skip: 0, now })
    t.equal(rows.find(({ pair }) => pair === 0)!.openInterest, null, 'a spot pair has none')
    for (const pair of [1, 2]) {
      const found = rows.find((row) => row.pair === pair)!.openInterest!
      const minute = now - (now % 60_000)
      for (const [name, minutes] of [['1h', 60], ['24h', 1440], ['7d', 10_080]] as const) {
        t.equal(found[name], meanInterest(told, pair, minute - minutes * 60_000, minutes, now), `${name} of ${pair}, ${later} ms later`)
        if (found[name] !== null) known++
      }
      const today = minute - (minute % 86_400_000)
      const days = Array.from({ length: 7 }, (_, day) => meanInterest(told, pair, today - (6 - day) * 86_400_000, 1440, now))
      t.strictSame(found.days, days)
    }
  }
  t.ok(known > 0, `${known} means were known`)
})

t.test('the rows depend on the events alone', async (t) => {
  const { database: whole } = tell(STEPS, 90_000, () => 'none')
  const { rows, differences } = compareStores(database, whole)
  t.strictSame(differences, [])
  const tables = ['position_page', 'margin_hour_page', 'mark_page', 'funding_payment_page', 'risk_bucket_page']
  for (const table of tables) t.ok(rows[table]! > 0, table)
})
