/**
 * Promise: the history is what happened. Random workloads through the engine and the projector: balances equal the engine's after every
 * transaction, every order ever accepted, every trade and every movement equal those read off the events one by one, what rests equals
 * the engine's rows, movements lead from nothing to the balances without a gap, and profit, cost and fees account for every credit.
 *
 * One run again: SEED=7 VARIANT=tight COMMANDS=5000 node ... test/property/history_equals_engine.test.ts
 */
import { BALANCE } from '../../core/state/columns.ts'
import { balanceRow, getI64 } from '../../core/state/rows.ts'
import t, { type Test } from 'tap'
import { HOLDING, holdingAt, TALLY, wideAt } from '../../core/history/project/accounts.ts'
import { Entry, Transaction, type HistoryMovement } from '../../core/history/answer/queries.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { Flag } from '../../core/layout/command.ts'
import { Status } from '../../core/layout/event.ts'
import { copyOrder, type OrderView } from '../../core/view/accounts.ts'
import { ask, balanceDifference, everything, runHistory, type HistoryRun } from '../support/history.ts'

const { SEED, VARIANT, COMMANDS } = process.env
const given = SEED !== undefined || VARIANT !== undefined
const RUNS = given
  ? [[VARIANT ?? 'market', Number(SEED ?? 1), Number(COMMANDS ?? 5000)] as const]
  : ([
      ['market', 31, 25_000], ['tight', 37, 12_000], ['fees', 33, 12_000], ['deep', 34, 12_000], ['builder', 35, 12_000],
      ['referred', 36, 12_000], ['vault', 38, 14_000],
    ] as const)
const place = ({ sequence }: { sequence: number }): { sequence: number; index: number } => ({ sequence, index: 0 })
/** Flags that the engine adds and the history leaves out. */
const ADDED = Flag.RESTING | Flag.BY_AGENT | Flag.ADD_ON
/** Transactions that come from outside of what an account trades. */
const GIVEN: readonly number[] = [
  Transaction.FAUCET, Transaction.TRANSFER, Transaction.REFERRAL_REWARD, Transaction.DEPOSIT, Transaction.WITHDRAWAL,
]
const WALK = { limit: 1000, skip: 0, countMost: 0 }

const accountsOf = ({ state }: HistoryRun): number[] => Array.from({ length: state.scalars[SCALAR.ACCOUNTS]! }, (_, account) => account)

/** Movements of one account as the history lists them, oldest first. */
const movementsOf = ({ answers }: HistoryRun, account: number): HistoryMovement[] =>
  everything((after) => ask(answers, 'movements', { ...WALK, account, after }), (row) => row).reverse()

/** First movement that does not follow from the one before it, as text, or null. */
function gap(movements: readonly HistoryMovement[]): string | null {
  const last = new Map<number, HistoryMovement>()
  for (const movement of movements) {
    const { available = 0n, locked = 0n } = last.get(movement.asset) ?? {}
    const { entry, amount } = movement
    const total = entry === Entry.CREDIT ? amount : entry === Entry.DEBIT ? -amount : 0n
    const held = entry === Entry.LOCK ? amount : entry === Entry.UNLOCK ? -amount : movement.locked - locked
    const follows = movement.available + movement.locked === available + locked + total && movement.locked === locked + held
    if (!follows || amount <= 0n || movement.available < 0n || movement.locked < 0n) return `${movement.sequence}/${movement.index}`
    last.set(movement.asset, movement)
  }
  return null
}

for (const [variant, seed, commands] of RUNS) {
  t.test(`${variant}, seed ${seed}, ${commands} commands`, async (t) => {
    t.comment(`again: SEED=${seed} VARIANT=${variant} COMMANDS=${commands} node ... test/property/history_equals_engine.test.ts`)
    const differences: string[] = []
    let checks = 0
    const run = runHistory(variant, seed, commands, ({ projector, state }, index) => {
      const difference = balanceDifference(projector, state)
      checks++
      if (difference !== null) differences.push(`after command ${index}: ${difference}`)
    })
    const { answers, plain, state, projector } = run
    const [orders, fills] = [plain.orders.length, plain.trades.length]
    const moved = plain.movements.filter(({ transaction }) => transaction === Transaction.TRANSFER).length
    const funded = plain.orders.filter(({ flags }) => (flags & Flag.MASTER_FUNDED) !== 0)
    const traded = funded.filter(({ filledQuote }) => filledQuote > 0n).length
    t.comment(`${moved} movements of transfers; masters paid for ${funded.length} orders, ${traded} of which traded`)
    if (!given) t.ok(variant === 'tight' || (moved > 20 && funded.length > 20 && traded > 5), 'families were busy')
    t.ok(fills > commands / 100 && orders > commands / 20, `${orders} orders, ${fills} trades`)
    t.strictSame(differences.slice(0, 1), [], `balances equal the engine's, ${checks} times`)

    const trades = everything((after) => ask(answers, 'trades', { ...WALK, after }), (row) => row)
    t.strictSame(trades.reverse(), plain.trades.map((trade) => plain.settlement.trade(trade)), 'every trade')
    const settled = plain.settlement.orders(plain.orders, plain.trades)
    for (const account of accountsOf(run)) {
      const orders = everything((after) => ask(answers, 'orders', { ...WALK, account, after }), place)
      t.strictSame(orders.reverse(), settled.filter((order) => order.account === account), `every order of ${account}`)
      const movements = movementsOf(run, account)
      t.strictSame(movements, plain.movements.filter((movement) => movement.account === account), `every movement of ${account}`)
      t.equal(gap(movements), null, `movements of ${account} follow from each other`)
      checkOpen(t, run, account)
      checkCharges(t, run, account)
      const earned = plain.rewards.of(account)
      t.strictSame(ask(answers, 'rewards', { account }), earned.rewards(), `what ${account} earned`)
      t.strictSame(ask(answers, 'rewardSources', { account }), earned.rewardSources(), `of whom ${account} earned`)
      checkSums(t, run, account, movements)
    }
    t.equal(balanceDifference(projector, state), null, 'balances at the end')
    if (variant === 'referred' && !given) t.ok(plain.rewards.count > 200, `${plain.rewards.count} rewards`)
  })
}

/** The trades of an account say what its application charged for each. */
function checkCharges(t: Test, { answers, plain }: HistoryRun, account: number): void {
  const trades = everything((after) => ask(answers, 'trades', { ...WALK, account, after }), (row) => row)
  const told = trades.reverse().filter(({ applicationFee }) => applicationFee !== undefined)
    .map(({ sequence, index, applicationFee }) => [sequence, index, applicationFee])
  const own = plain.charges.filter((charge) => charge.account === account)
  const charged = own.map(({ sequence, index, amount }) => [sequence, index, amount])
  t.strictSame(told, charged, `${charged.length} trades of ${account} that its application charged for`)
}

/** What the history says is open is what rests in the engine, field by field. */
function checkOpen(t: Test, { answers, state }: HistoryRun, account: number): void {
  const statuses = [Status.SUBMITTED, Status.PARTIALLY_FILLED]
  const open = everything((after) => ask(answers, 'orders', { ...WALK, account, statuses, after }), place)
  const byAge = (a: { sequence: number }, b: { sequence: number }): number => a.sequence - b.sequence
  const facts = open.map(({ outcome: _outcome, slippageBps: _slippage, ...order }) => order).sort(byAge)
  const slots: OrderView[] = Array.from({ length: state.scalars[SCALAR.ORDERS_USED]! }, (_, slot) => copyOrder(state, slot))
  const resting = slots.filter((order) => order.account === account && (order.flags & Flag.RESTING) !== 0).sort(byAge)
  const rows = resting.map((order) => ({ ...order, flags: (order.flags & ~ADDED) >>> 0, updatedAt: 0 }))
  t.strictSame(facts.map((order) => ({ ...order, updatedAt: 0 })), rows, `what rests of ${account}`)
}

/** The last movements are the engine's balances, and reference balance + costs = credits + realised PnL - fees. */
function checkSums(t: Test, run: HistoryRun, account: number, movements: readonly HistoryMovement[]): void {
  const { state, projector, genesis } = run
  const row = projector.accounts.look(account)
  const { rows } = projector.accounts
  const reference = genesis.feeTiers.asset
  let sum = 0n
  for (const { index } of genesis.assets) {
    const last = movements.findLast((movement) => movement.asset === index)
    const at = balanceRow(state, account, index)
    const engine = [getI64(state, at, BALANCE.AVAILABLE), getI64(state, at, BALANCE.LOCKED)]
    t.strictSame([last?.available ?? 0n, last?.locked ?? 0n], engine, `the last movement of asset ${index} of ${account}`)
    const cost = wideAt(rows, holdingAt(row, index) + HOLDING.COST)
    sum += index === reference ? engine[0]! + engine[1]! : cost
    if (engine[0]! + engine[1]! === 0n) t.equal(cost, 0n, 'nothing held costs nothing')
  }
  const value = movements.reduce((total, each) => total + creditValue(run, each), 0n)
  t.equal(sum, value + wideAt(rows, row + TALLY.REALIZED) - wideAt(rows, row + TALLY.FEES), `what ${account} has is accounted for`)
}

/**
 * What a credit, a transfer or what an application got was worth in the reference asset when it came, less than 0 when it went; 0 for
 * other movements.
 */
function creditValue({ genesis, plain }: HistoryRun, { transaction, entry, asset, amount: atoms, sequence }: HistoryMovement): bigint {
  const reference = genesis.feeTiers.asset
  const isPaidOut = transaction === Transaction.REVENUE_SHARE || (transaction === Transaction.APPLICATION_FEE && entry === Entry.CREDIT)
  const comes = isPaidOut || (GIVEN.includes(transaction) && (entry === Entry.CREDIT || entry === Entry.DEBIT))
  if (!comes) return 0n
  const amount = entry === Entry.DEBIT ? -atoms : atoms
  if (asset === reference) return amount
  const pair = genesis.pairs.find((each) => each.base === asset && each.quote === reference)
  const trade = plain.trades.findLast((each) => each.pair === pair?.index && each.sequence < sequence)
  return pair === undefined || trade === undefined ? 0n : (amount * BigInt(trade.price) * pair.tickLotAtoms) / pair.lotAtoms
}
