/**
 * Promise: what the history says of margin trading is what the engine has. Random margin commands through the engine and the projector,
 * written and stopped at any moment: wallet balances, the balance of every margin account, every open position and the open interest equal
 * the engine's rows; movements of every margin account follow from each other; open liquidations are those of the engine; and of every
 * account, what it has is what came from outside, with its profit and without its fees.
 *
 * One run again: SEED=7 VARIANT=perpsTight COMMANDS=5000 node ... test/property/history_margin_engine.test.ts
 */
import t, { type Test } from 'tap'
import { createAnswers, type Answers } from '../../core/history/answer/answers.ts'
import { Entry, Transaction, type HistoryMovement, type HistoryPosition, type Position } from '../../core/history/answer/queries.ts'
import { identitiesOf } from '../../core/history/project/identities.ts'
import { createProjector } from '../../core/history/project/projector.ts'
import { openWriter, writePosition } from '../../core/history/store/store.ts'
import { COMMAND_SLOTS } from '../../core/layout/command.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { createTimers, writeDue } from '../../core/sequencer/timers.ts'
import { ACCOUNT, CLOCK, SCALAR } from '../../core/state/columns.ts'
import { MARGIN_ACCOUNT, MarginAccountKind, PERP, POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { accountRow, bucketRow, get, getF64, getI64, marginAccountRow, perpRow, positionRow } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { ask, balanceDifference, everything, positionAt } from '../support/history.ts'
import { createBench } from '../support/naive_compare.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'
import { MarginWorkload } from '../support/workload_margin.ts'

const { SEED, VARIANT, COMMANDS } = process.env
const RUNS = SEED !== undefined || VARIANT !== undefined
  ? [[VARIANT ?? 'perps', Number(SEED ?? 1), Number(COMMANDS ?? 5000)] as const]
  : ([['perps', 71, 16_000], ['perpsTight', 72, 8_000], ['perpsBuilder', 73, 8_000], ['perpsVault', 74, 8_000]] as const)
/** Transactions that come from outside of what an account trades. */
const GIVEN: readonly number[] = [
  Transaction.FAUCET, Transaction.TRANSFER, Transaction.REFERRAL_REWARD, Transaction.DEPOSIT, Transaction.WITHDRAWAL,
]
const WALK = { limit: 1000, skip: 0, countMost: 0 }
const [TURN_EVERY, TURN_MOST] = [7, 48]
t.setTimeout(300_000)

/** Over all runs. */
const met = { liquidations: 0, payments: 0 }

/** Runs a workload through engine and history; `check` is called after every flush. */
function run(
  variant: string, seed: number, commands: number, check: (state: State, answers: Answers, difference: string | null) => void,
): { state: State; answers: Answers } {
  const { state, run: apply, said } = createBench(genesisText(VARIANTS[variant]!))
  const database = openWriter(':memory:')
  let projector = createProjector(database, state.genesis, identitiesOf(state))
  const workload = new MarginWorkload(seed, state.genesis, VARIANTS[variant])
  const answers = createAnswers(database, state.genesis)
  const random = createPrng(seed)
  const timers = createTimers()
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  const batch = viewsOf(new ArrayBuffer(TURN_MOST * RECORD_BYTES))
  const one = (views: Views, base: number): void => {
    const records = apply(views, base, workload.time)
    projector.project(said, records)
    workload.learn(said, records)
  }
  for (let index = 0; index < commands; index++) {
    workload.next(command, 0)
    one(command, 0)
    if (index % TURN_EVERY === 0) {
      const used = writeDue(timers, state, workload.time, batch, 0, TURN_MOST)
      for (let place = 0; place < used; place++) one(batch, place * RECORD_WORDS)
    }
    if (random.below(400) > 0 && index < commands - 1) continue
    database.transaction(() => writePosition(database, positionAt(index + 1, projector.flush())))()
    check(state, answers, balanceDifference(projector, state))
    if (random.below(3) === 0) projector = createProjector(database, state.genesis, identitiesOf(state))
  }
  return { state, answers }
}

const accountsOf = (state: State): number[] => Array.from({ length: state.scalars[SCALAR.ACCOUNTS]! }, (_, account) => account)

/** What the engine says of an open position. */
type Figures = Record<'lots' | 'cost' | 'realized' | 'funding' | 'fees' | 'version' | 'leverage', number | bigint>

/** Open positions of the engine by account, and those of the history: opened sequence and row, and figures. */
function openPositions(state: State): Map<string, Figures> {
  const all = new Map<string, Figures>()
  for (let row = 0; row < state.scalars[SCALAR.POSITIONS_USED]!; row++) {
    const at = positionRow(state, row)
    if (get(state, at, POSITION.LOTS) === 0) continue
    all.set(`${get(state, at, POSITION.ACCOUNT)}: ${getF64(state, at, POSITION.OPENED_SEQUENCE)}/${row}`, {
      lots: get(state, at, POSITION.LOTS), cost: getI64(state, at, POSITION.COST), realized: getI64(state, at, POSITION.REALIZED),
      funding: getI64(state, at, POSITION.FUNDING), fees: getI64(state, at, POSITION.FEES), version: getF64(state, at, POSITION.VERSION),
      leverage: get(state, at, POSITION.LEVERAGE),
    })
  }
  return all
}

function toldPositions(state: State, answers: Answers): Map<string, Figures> {
  const place = ({ sequence, index }: HistoryPosition): Position => ({ sequence, index })
  const all = accountsOf(state).flatMap((account): HistoryPosition[] =>
    everything((after) => ask(answers, 'positions', { ...WALK, account, open: true, after }), place))
  return new Map(all.map(({ account, sequence, row, lots, entryCost: cost, realized, funding, fees, version, leverage }) =>
    [`${account}: ${sequence}/${row}`, { lots, cost, realized, funding, fees, version, leverage }]))
}

const keyOf = ({ margin }: HistoryMovement): string =>
  (margin === undefined ? 'wallet' : `${margin.account.sequence}/${margin.account.row}`)

/** The last movement of each margin account and balance, or the first that does not follow from the one before it. */
function lastMovements(movements: readonly HistoryMovement[]): Map<string, HistoryMovement> | string {
  const last = new Map<string, HistoryMovement>()
  for (const movement of movements) {
    const key = `${keyOf(movement)} ${movement.asset}`
    const { available = 0n, locked = 0n } = last.get(key) ?? {}
    const { entry, amount } = movement
    const total = entry === Entry.CREDIT ? amount : entry === Entry.DEBIT ? -amount : 0n
    const held = entry === Entry.LOCK ? amount : entry === Entry.UNLOCK ? -amount : movement.locked - locked
    const follows = movement.available + movement.locked === available + locked + total && movement.locked === locked + held
    if (!follows || amount <= 0n) return `${movement.sequence}/${movement.index} of ${key}`
    last.set(key, movement)
  }
  return last
}

/** What margin accounts have, deposited and realised, and what of that their buckets have, by account and public name. */
function marginBalances(state: State): Map<string, { total: bigint; locked: bigint }> {
  const all = new Map<string, { total: bigint; locked: bigint }>()
  for (let row = 0; row < state.scalars[SCALAR.MARGIN_ACCOUNTS_USED]!; row++) {
    const at = marginAccountRow(state, row)
    if (get(state, at, MARGIN_ACCOUNT.OPEN) === 0) continue
    const account = get(state, at, MARGIN_ACCOUNT.ACCOUNT)
    let total = getI64(state, at, MARGIN_ACCOUNT.DEPOSITED)
    let link = get(state, at, MARGIN_ACCOUNT.FIRST_BUCKET)
    for (; link !== 0; link = get(state, bucketRow(state, link - 1), RISK_BUCKET.NEXT)) {
      total += getI64(state, bucketRow(state, link - 1), RISK_BUCKET.REALIZED)
    }
    const parent = get(state, at, MARGIN_ACCOUNT.KIND) === MarginAccountKind.PARENT
    const made = parent ? getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE)
      : getF64(state, at, MARGIN_ACCOUNT.CREATED_SEQUENCE)
    all.set(`${account}: ${made}/${parent ? -1 : row}`, { total, locked: getI64(state, at, MARGIN_ACCOUNT.EARMARKED) })
  }
  return all
}

/** What an account has of the collateral is what came from outside, with its profit and without its fees. */
function isAccountedFor(state: State, answers: Answers, account: number, movements: readonly HistoryMovement[], has: bigint): boolean {
  // From outside: the faucet, its master or its sub-accounts, what its application charged others and got of the house. Transfers
  // within the account come and go.
  const credited = movements.reduce((sum, { transaction, entry, asset, amount }) => {
    const paidOut = transaction === Transaction.REVENUE_SHARE || (transaction === Transaction.APPLICATION_FEE && entry === Entry.CREDIT)
    const given = paidOut || GIVEN.includes(transaction)
    const outside = asset === state.collateralAsset && given
    return !outside || (entry !== Entry.CREDIT && entry !== Entry.DEBIT) ? sum : entry === Entry.CREDIT ? sum + amount : sum - amount
  }, 0n)
  const { realizedPnl, fees } = ask(answers, 'portfolio', { account, period: 'all', now: state.clock[CLOCK.TIME]! })
  return has === credited + realizedPnl - fees
}

function checkMargins(t: Test, state: State, answers: Answers): void {
  const wanted = marginBalances(state)
  for (const account of accountsOf(state)) {
    const movements = everything((after) => ask(answers, 'movements', { ...WALK, account, after }), (row) => row).reverse()
    const last = lastMovements(movements)
    if (typeof last === 'string') {
      t.fail(`movements of ${account} follow from each other: ${last}`)
      continue
    }
    const wallet = last.get(`wallet ${state.collateralAsset}`)
    let has = (wallet?.available ?? 0n) + (wallet?.locked ?? 0n)
    for (const [key, { total, locked }] of wanted) {
      if (!key.startsWith(`${account}: `)) continue
      has += total
      const told = last.get(`${key.slice(key.indexOf(' ') + 1)} ${state.collateralAsset}`)
      t.strictSame([(told?.available ?? 0n) + (told?.locked ?? 0n), told?.locked ?? 0n], [total, locked], `margin account ${key}`)
    }
    t.ok(isAccountedFor(state, answers, account, movements, has), `what ${account} has is accounted for`)
  }
}

for (const [variant, seed, commands] of RUNS) {
  t.test(`${variant}, seed ${seed}, ${commands} commands`, async (t) => {
    let looks = 0
    const differences: (string | null)[] = []
    const { state, answers } = run(variant, seed, commands, (state, answers, difference) => {
      differences.push(difference)
      if (looks++ % 4 === 0) t.strictSame(toldPositions(state, answers), openPositions(state), `open positions, look ${looks}`)
    })
    t.strictSame(differences.filter((each) => each !== null).slice(0, 1), [], `wallets equal the engine's, ${differences.length} times`)
    const open = openPositions(state)
    t.strictSame(toldPositions(state, answers), open, `${open.size} open positions`)
    checkMargins(t, state, answers)
    for (const { index, perp } of state.genesis.pairs) {
      if (perp === null) continue
      const told = accountsOf(state).flatMap((account) =>
        ask(answers, 'positions', { ...WALK, account, open: true, pair: index, after: null }).rows)
      const longs = told.reduce((sum, { lots }) => sum + Math.max(0, lots), 0)
      t.equal(longs, getF64(state, perpRow(state, index), PERP.OPEN_LOTS), `open interest of ${index}`)
    }
    const liquidated: string[] = []
    for (let row = 0; row < state.scalars[SCALAR.BUCKETS_USED]!; row++) {
      const began = getF64(state, bucketRow(state, row), RISK_BUCKET.LIQUIDATION)
      if (began > 0) liquidated.push(`${began}/${row}`)
    }
    const all = accountsOf(state).flatMap((account) => ask(answers, 'liquidations', { ...WALK, account, after: null }).rows)
    const unresolved = all.filter(({ endedAt }) => endedAt === 0).map(({ sequence, bucket }) => `${sequence}/${bucket.row}`)
    t.strictSame(unresolved.sort(), liquidated.sort(), 'liquidations under way')
    const payments = accountsOf(state).flatMap((account) => ask(answers, 'fundingPayments', { ...WALK, account, after: null }).rows)
    met.liquidations += all.length
    met.payments += payments.length
  })
}

t.test('there was something to tell', async (t) => {
  t.ok(SEED !== undefined || (met.liquidations > 20 && met.payments > 40), JSON.stringify(met))
})
