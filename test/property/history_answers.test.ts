/**
 * Promise: every question to the history is answered as a search through all rows would: any filter, by page and by cursor, totals and
 * ends, single orders and trades, own and others', and the portfolio at every hour.
 *
 * One run again: SEED=7 VARIANT=tight COMMANDS=5000 node ... test/property/history_answers.test.ts
 */
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { HOUR_MS } from '../../core/history/project/accounts.ts'
import {
  Entry, PERIODS, Transaction, type DepositsAsk, type HistoryMovement, type HistoryRequest, type HistoryTrade, type MovementsAsk,
  type OrdersAsk, type Position, type TradesAsk, type Walk, type WithdrawalsAsk,
} from '../../core/history/answer/queries.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import { Status } from '../../core/layout/event.ts'
import { WithdrawalStatus } from '../../core/layout/vault.ts'
import { ask, Questioner, runHistory, type HistoryRun } from '../support/history.ts'
import { answerNaively } from '../support/naive_history.ts'

const { SEED, VARIANT, COMMANDS } = process.env
const given = SEED !== undefined || VARIANT !== undefined
const RUNS = given
  ? [[VARIANT ?? 'market', Number(SEED ?? 1), Number(COMMANDS ?? 5000)] as const]
  : ([['market', 41, 12_000], ['fees', 42, 8_000], ['vault', 43, 10_000]] as const)
const QUESTIONS = 400
const NAMES = ['orders', 'trades', 'movements', 'order', 'trade'] as const
const VAULT_NAMES = ['withdrawals', 'withdrawal', 'deposits', 'settlement', 'tradeProof'] as const
const HOURS = { '24h': 24, '7d': 168, '30d': 720 } as const

class Asker extends Questioner {
  private account(): number {
    return this.random.below(this.run.state.scalars[SCALAR.ACCOUNTS]! + 1)
  }

  /** A time of the run, an end of it or one beyond. */
  private time(): number {
    const { trades } = this.run.plain
    return this.pick(trades).time + this.pick([0, 0, 1, -1, 3_600_000])
  }

  private walk(position: () => Position): Walk {
    const limit = this.pick([1, 3, 20, 100, 1000])
    const byPage = this.random.below(2) === 0
    const after = byPage ? null : (this.maybe(4, () => null) ?? position())
    return { limit, skip: byPage ? this.pick([0, 0, 1, limit, 50]) : 0, after, countMost: this.pick([0, 0, 1, 10, 10_000]) }
  }

  private window(): { from?: number; to?: number } {
    const from = this.maybe(4, () => this.time())
    const to = this.maybe(4, () => this.time())
    return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
  }

  orders(): OrdersAsk {
    const { orders } = this.run.plain
    const position = (): Position => ({ sequence: this.pick(orders).sequence + this.pick([0, 1]), index: 0 })
    return {
      account: this.account(), ...this.walk(position), ...this.window(),
      statuses: this.maybe(3, () => [this.pick(Object.values(Status)), Status.FILLED]),
      pair: this.maybe(3, () => this.random.below(4)),
      sell: this.maybe(3, () => this.random.below(2) === 0),
      market: this.maybe(4, () => this.random.below(2) === 0),
      clientOrderId: this.maybe(6, () => this.pick(orders).clientOrderId),
    } as OrdersAsk
  }

  trades(): TradesAsk {
    const { trades } = this.run.plain
    const account = this.maybe(1 + this.random.below(2), () => this.account())
    const trade = this.pick(trades)
    const own = {
      account, sell: this.maybe(3, () => this.random.below(2) === 0),
      orderSequence: this.maybe(4, () => this.pick([trade.sequence, trade.makerSequence])),
    }
    return {
      ...this.walk(() => trade), ...this.window(), pair: this.maybe(2, () => this.random.below(4)),
      ...(account === undefined ? {} : own),
    } as TradesAsk
  }

  movements(): MovementsAsk {
    const movement = this.pick(this.run.plain.movements)
    return {
      account: this.account(), ...this.walk(() => movement), ...this.window(),
      asset: this.maybe(3, () => this.random.below(4)), entry: this.maybe(3, () => this.pick(Object.values(Entry))),
      transaction: this.maybe(3, () => this.pick(Object.values(Transaction))),
    } as MovementsAsk
  }

  order(): { account: number; sequence: number } {
    const { account, sequence } = this.pick(this.run.plain.orders)
    return { account: this.pick([account, account, this.account()]), sequence: sequence + this.pick([0, 0, 0, 1]) }
  }

  trade(): { sequence: number; index: number } {
    const { sequence, index } = this.pick(this.run.plain.trades)
    return { sequence: sequence + this.pick([0, 0, 0, 1]), index: index + this.pick([0, 0, 0, 1]) }
  }

  tradeProof(): { sequence: number; index: number } {
    return this.trade()
  }

  withdrawals(): WithdrawalsAsk {
    const { sequence } = this.pick(this.run.plain.settlement.withdrawals)
    return {
      account: this.account(), ...this.walk(() => ({ sequence, index: 0 })), asset: this.maybe(3, () => this.random.below(4)),
      statuses: this.maybe(3, () => [this.pick(Object.values(WithdrawalStatus)), WithdrawalStatus.CONFIRMED]),
    } as WithdrawalsAsk
  }

  withdrawal(): { account: number; sequence: number; row: number } {
    const { account, sequence, row } = this.pick(this.run.plain.settlement.withdrawals)
    return {
      account: this.pick([account, account, this.account()]), sequence: sequence + this.pick([0, 0, 0, 1]),
      row: row + this.pick([0, 0, 0, 1]),
    }
  }

  deposits(): DepositsAsk {
    const { sequence } = this.pick(this.run.plain.settlement.deposits)
    return {
      account: this.account(), ...this.walk(() => ({ sequence, index: 0 })), asset: this.maybe(3, () => this.random.below(4)),
    } as DepositsAsk
  }

  settlement(): { batch: number } {
    return { batch: this.random.below(this.run.plain.settlement.batches.length + 2) }
  }
}

for (const [variant, seed, commands] of RUNS) {
  const run = runHistory(variant, seed, commands)
  t.test(`${variant}, seed ${seed}, ${commands} commands`, async (t) => {
    t.comment(`again: SEED=${seed} VARIANT=${variant} COMMANDS=${commands} node ... test/property/history_answers.test.ts`)
    const asker = new Asker(run, seed)
    for (const name of [...NAMES, ...(run.plain.settlement.batches.length === 0 ? [] : VAULT_NAMES)]) {
      let rows = 0
      let different: unknown = null
      for (let number = 0; number < QUESTIONS && different === null; number++) {
        const question = asker[name]()
        const answer = ask(run.answers, name, question as never)
        const naive = answerNaively(run.plain, { id: 1, name, ask: question, atLeast: 0 } as HistoryRequest) as { answer: unknown }
        rows += answer === null ? 0 : 'rows' in answer ? answer.rows.length : 1
        if (!isDeepStrictEqual(answer, naive.answer)) different = { question, answer, wanted: naive.answer }
      }
      t.equal(different, null, `${QUESTIONS} questions for ${name}`)
      t.ok(rows > QUESTIONS / 4, `${rows} rows were found`)
    }
    checkPortfolios(t, run)
  })
}

/** Value of `atoms` of an asset in the reference asset after the trades that `counts` lets count; null: it has no price. */
function valueOf({ genesis, plain }: HistoryRun, asset: number, atoms: bigint, counts: (trade: HistoryTrade) => boolean): bigint | null {
  const reference = genesis.feeTiers.asset
  if (asset === reference || atoms === 0n) return atoms
  const pair = genesis.pairs.find((each) => each.base === asset && each.quote === reference)
  const last = plain.trades.findLast((trade) => trade.pair === pair?.index && counts(trade))
  return pair === undefined || last === undefined ? null : (atoms * BigInt(last.price) * pair.tickLotAtoms) / pair.lotAtoms
}

/** What an account was worth before `time`. */
function equityBefore(run: HistoryRun, movements: readonly HistoryMovement[], time: number): bigint | null {
  let equity: bigint | null = 0n
  for (const { index } of run.genesis.assets) {
    const last = movements.findLast((movement) => movement.asset === index && movement.time < time)
    const value = last === undefined ? 0n : valueOf(run, index, last.available + last.locked, (trade) => trade.time < time)
    equity = equity === null || value === null ? null : equity + value
  }
  return equity
}

interface Tally {
  realizedPnl: bigint
  volume: bigint
  fees: bigint
}

/** What an account traded, and what it paid and earned from `since` on, movement by movement. Who trades need not be who pays. */
function tallyOf(run: HistoryRun, account: number, movements: readonly HistoryMovement[], since: number): Tally {
  const { genesis, plain } = run
  const held = new Map<number, { atoms: bigint; cost: bigint }>()
  const tally: Tally = { realizedPnl: 0n, volume: 0n, fees: 0n }
  for (const { makerAccount, takerAccount, pair, quote, sequence, index, time } of plain.trades) {
    if (time < since || (makerAccount !== account && takerAccount !== account)) continue
    const counts = (each: HistoryTrade): boolean => each.sequence < sequence || (each.sequence === sequence && each.index <= index)
    tally.volume += valueOf(run, genesis.pairs[pair]!.quote, quote, counts) ?? 0n
  }
  for (const { entry, transaction, asset, amount, sequence, time, referenceSlot } of movements) {
    if (entry === Entry.LOCK || entry === Entry.UNLOCK) continue
    const trade = plain.trades.find((each) => each.sequence === sequence && each.index === referenceSlot)
    const quote = trade === undefined ? -1 : genesis.pairs[trade.pair]!.quote
    const traded = transaction === Transaction.TRADE
    const what = traded ? [quote, trade!.quote] as const : [asset, amount] as const
    const value = valueOf(run, ...what, (each) => each.sequence <= sequence) ?? 0n
    const counts = time >= since
    if (counts && transaction === Transaction.FEE) tally.fees += value
    if (counts && transaction === Transaction.REBATE) tally.fees -= value
    if (asset === genesis.feeTiers.asset) continue
    const { atoms, cost } = held.get(asset) ?? { atoms: 0n, cost: 0n }
    const share = entry === Entry.DEBIT ? (cost * amount) / atoms : 0n
    if (entry === Entry.CREDIT) held.set(asset, { atoms: atoms + amount, cost: cost + value })
    else held.set(asset, { atoms: atoms - amount, cost: cost - share })
    if (counts && entry === Entry.DEBIT) tally.realizedPnl += value - share
  }
  return tally
}

/** Every period of every account against its movements and the trades. */
function checkPortfolios(t: Test, run: HistoryRun): void {
  const { state, plain, genesis, answers } = run
  const now = state.clock[CLOCK.TIME]! + 1
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS
  let priced = 0
  for (let account = 0; account <= state.scalars[SCALAR.ACCOUNTS]!; account++) {
    const movements = plain.movements.filter((movement) => movement.account === account)
    // A sub-account may trade on its master's balance, which is volume of its own, before anything of its own moves.
    const traded = plain.trades.find(({ makerAccount, takerAccount }) => makerAccount === account || takerAccount === account)
    const first = Math.floor(Math.min(movements[0]?.time ?? now, traded?.time ?? now) / HOUR_MS) * HOUR_MS
    for (const period of PERIODS) {
      const { asset, points, ...tally } = ask(answers, 'portfolio', { account, period, now })
      const since = period === 'all' ? 0 : hour - HOURS[period] * HOUR_MS
      const times = points.map(({ time }) => time)
      const isSound = (time: number, i: number): boolean =>
        i === times.length - 1 || (time % HOUR_MS === 0 && time >= Math.max(since, first) && time < times[i + 1]!)
      t.equal(asset, genesis.feeTiers.asset, 'in the reference asset')
      t.ok(times.every(isSound) && times.at(-1) === now && times.length <= 122, `points of ${account}, ${period}`)
      t.strictSame(points, times.map((time) => ({ time, equity: equityBefore(run, movements, time) })), `equity of ${account}, ${period}`)
      t.strictSame(tally, tallyOf(run, account, movements, since), `tallies of ${account}, ${period}`)
      priced += points.filter(({ equity }) => equity !== null && equity !== 0n).length
    }
  }
  t.ok(priced > 50, `${priced} points with a value`)
}
