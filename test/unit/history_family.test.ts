/**
 * Promise: the history of a family. A transfer is two movements that name each other; what an order of a sub-account does on its master's
 * balance stands in the master's movements, while the order, its trades, its volume and its place in the statistics stay the
 * sub-account's, whether it takes or rests. Events are made by hand, so that every number here can be followed.
 */
import t from 'tap'
import { createAnswers, type Answers } from '../../core/history/answer/answers.ts'
import { HOLDING, holdingAt, TALLY, wideAt } from '../../core/history/project/accounts.ts'
import type { Identities } from '../../core/history/project/identities.ts'
import { createProjector, type Projector } from '../../core/history/project/projector.ts'
import { ENTRY_NAMES, Reference, Transaction, TRANSACTION_NAMES } from '../../core/history/answer/queries.ts'
import { openWriter, writePosition, type HistoryDatabase } from '../../core/history/store/store.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { CommandType, Flag } from '../../core/layout/command.ts'
import { CREDIT, CreditSource, EventType, FILL, outcomeOf, Reason, RESULT, Status } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { ask, positionAt } from '../support/history.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const genesis = parseGenesis(genesisText(VARIANTS['market']!))
const [USD, BTC] = [0, 1]
const [MASTER, SUB, STRANGER] = [0, 1, 2]
const identities: Identities = {
  applicationOf: (account) => (account === STRANGER ? 1 : 0),
  payerOf: (account, flags) => ((flags & Flag.MASTER_FUNDED) === 0 ? account : MASTER),
  createdSequenceOf: (account) => account,
  pairId: (pair) => genesis.pairs[pair]!.id,
}
/** Atoms of 10,000 ticks × 10 lots of BTC/USD, and of those lots. */
const QUOTE = 100_000n
const BASE = 100_000n
const TERMS = { pair: 0, price: 10_000 }
const NAMES = { [EventType.FILL]: FILL, [EventType.RESULT]: RESULT, [EventType.CREDIT]: CREDIT } as Record<number, Layout>

const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
const say = (projector: Projector, kind: number, values: Decoded): void => {
  const { sequence } = values as { sequence: number }
  encode(NAMES[kind & 0xff]!, record, 0, { kind, time: 1_700_000_000_000 + sequence, ...values })
  projector.project(record, 1)
}
const result = (command: number): number => EventType.RESULT | (command << 8)
const { OPEN_SESSION, CREATE_SUB_ACCOUNT, TRANSFER, PLACE_ORDER, CANCEL_ORDER } = CommandType
const SUBMITTED = outcomeOf(Status.SUBMITTED, Reason.NONE)
const FUNDED = Flag.MASTER_FUNDED

/** What happened, one line an event. */
function tell(projector: Projector): void {
  const event = (kind: number, values: Decoded): void => say(projector, kind, values)
  event(result(OPEN_SESSION), { sequence: 1, account: MASTER, trades: 1 })
  event(result(CREATE_SUB_ACCOUNT), { sequence: 2, account: MASTER, detail: SUB })
  event(result(OPEN_SESSION), { sequence: 3, account: STRANGER, trades: 1 })
  event(result(OPEN_SESSION), { sequence: 4, account: SUB, trades: 0 })
  event(EventType.CREDIT, { sequence: 5, account: MASTER, asset: USD, source: CreditSource.FAUCET, amount: 1_000_000n })
  event(EventType.CREDIT, { sequence: 6, account: STRANGER, asset: BTC, source: CreditSource.FAUCET, amount: 1_000_000n })
  // 300 of the million to the sub-account.
  event(EventType.CREDIT, { sequence: 7, account: MASTER, asset: USD, source: CreditSource.TRANSFER, amount: -300n })
  event(EventType.CREDIT, { sequence: 7, account: SUB, asset: USD, source: CreditSource.TRANSFER, amount: 300n })
  event(result(TRANSFER), { sequence: 7, account: MASTER, detail: SUB, detail2: USD })
  // The stranger offers 10 lots; the sub-account takes them and rests with 20 more, on the master's money.
  const offer = { ...TERMS, lots: 10, remaining: 10, flags: Flag.SELL, slot: 0, orderSequence: 8, hold: BASE, outcome: SUBMITTED }
  event(result(PLACE_ORDER), { sequence: 8, account: STRANGER, ...offer })
  event(EventType.FILL, {
    sequence: 9, ...TERMS, lots: 10, quote: QUOTE, index: 0, makerAccount: STRANGER, makerSlot: 0, makerSequence: 8, makerFee: 0n,
    makerFlags: Flag.SELL, takerAccount: SUB, takerSlot: 1, takerFee: 50n, takerRemaining: 20, takerFlags: FUNDED, makerFilledQuote: QUOTE,
  })
  event(result(PLACE_ORDER), {
    sequence: 9, account: SUB, ...TERMS, lots: 30, remaining: 20, flags: FUNDED, slot: 1, orderSequence: 9, hold: 2n * QUOTE + 20n,
    outcome: outcomeOf(Status.PARTIALLY_FILLED, Reason.NONE), filledQuote: QUOTE, fee: 50n,
  })
  // The stranger sells 10 lots into what rests; the maker's fee comes out of what was locked. The rest is cancelled.
  event(EventType.FILL, {
    sequence: 10, ...TERMS, lots: 10, quote: QUOTE, index: 0, makerAccount: SUB, makerSlot: 1, makerSequence: 9, makerRemaining: 10,
    makerFee: 10n, makerFlags: FUNDED, takerAccount: STRANGER, takerSlot: 2, takerFee: 40n, takerFlags: Flag.SELL,
    makerFilledQuote: 2n * QUOTE, makerTotalFee: 60n,
  })
  event(result(PLACE_ORDER), {
    sequence: 10, account: STRANGER, ...TERMS, lots: 10, flags: Flag.SELL, slot: 2, orderSequence: 10,
    outcome: outcomeOf(Status.FILLED, Reason.NONE), filledQuote: QUOTE, fee: 40n,
  })
  event(result(CANCEL_ORDER), {
    sequence: 11, account: SUB, ...TERMS, lots: 30, remaining: 10, flags: FUNDED, slot: 1, orderSequence: 9, hold: QUOTE + 10n,
    outcome: outcomeOf(Status.CANCELLED, Reason.USER_CANCELLED), filledQuote: 2n * QUOTE, fee: 60n,
  })
}

const WALK = { limit: 100, skip: 0, after: null, countMost: 1000 }

/** Movements of an account, oldest first: sequence, asset, entry, transaction, amount, available, locked, what it names. */
function movements(answers: Answers, account: number): unknown[] {
  const { rows } = ask(answers, 'movements', { ...WALK, account })
  return rows.reverse().map((row) => [
    row.sequence, row.asset === USD ? 'USD' : 'BTC', ENTRY_NAMES[row.entry], TRANSACTION_NAMES[row.transaction], row.amount, row.available,
    row.locked, row.reference, row.referenceSequence,
  ])
}

function open(): { database: HistoryDatabase; projector: Projector; answers: Answers } {
  const database = openWriter(':memory:')
  const projector = createProjector(database, genesis, identities)
  tell(projector)
  database.transaction(() => writePosition(database, positionAt(1, projector.flush())))()
  return { database, projector, answers: createAnswers(database, genesis) }
}

const { projector, answers } = open()
const { ORDER, TRADE, CREDIT: GIFT, TRANSFER: MOVED } = Reference

t.test('every movement of the order is the master\'s, transfers are two movements with one name', async (t) => {
  t.strictSame(movements(answers, MASTER), [
    [5, 'USD', 'CREDIT', 'FAUCET', 1_000_000n, 1_000_000n, 0n, GIFT, 5],
    [7, 'USD', 'DEBIT', 'TRANSFER', 300n, 999_700n, 0n, MOVED, 7],
    [9, 'USD', 'DEBIT', 'TRADE', 100_000n, 899_700n, 0n, TRADE, 9],
    [9, 'BTC', 'CREDIT', 'TRADE', 100_000n, 100_000n, 0n, TRADE, 9],
    [9, 'USD', 'DEBIT', 'FEE', 50n, 899_650n, 0n, TRADE, 9],
    [9, 'USD', 'LOCK', 'TRADE', 200_020n, 699_630n, 200_020n, ORDER, 9],
    [10, 'USD', 'DEBIT', 'TRADE', 100_000n, 699_630n, 100_020n, TRADE, 10],
    [10, 'BTC', 'CREDIT', 'TRADE', 100_000n, 200_000n, 0n, TRADE, 10],
    [10, 'USD', 'DEBIT', 'FEE', 10n, 699_630n, 100_010n, TRADE, 10],
    [11, 'USD', 'UNLOCK', 'TRADE', 100_010n, 799_640n, 0n, ORDER, 9],
  ])
  t.strictSame(movements(answers, SUB), [[7, 'USD', 'CREDIT', 'TRANSFER', 300n, 300n, 0n, MOVED, 7]])
})

t.test('the order and its trades are the sub-account\'s', async (t) => {
  const sequences = (account: number): number[] => ask(answers, 'trades', { ...WALK, account }).rows.map(({ sequence }) => sequence)
  t.strictSame(sequences(SUB), [10, 9])
  t.strictSame(sequences(MASTER), [])
  t.strictSame(sequences(STRANGER), [10, 9])
  const [made] = ask(answers, 'trades', { ...WALK, account: SUB, orderSequence: 9, limit: 1 }).rows
  t.match(made, { makerAccount: SUB, makerFee: 10n, takerAccount: STRANGER, takerFee: 40n, makerSequence: 9, makerSells: false })
  t.equal(ask(answers, 'order', { account: MASTER, sequence: 9 }), null)
  const order = ask(answers, 'order', { account: SUB, sequence: 9 })
  t.match(order, { filledQuote: 2n * QUOTE, fee: 60n, flags: FUNDED, outcome: outcomeOf(Status.CANCELLED, Reason.USER_CANCELLED) })
})

t.test('volume is the trader\'s, cost and fees are the payer\'s', async (t) => {
  const tally = (account: number, word: number): bigint => wideAt(projector.accounts.rows, projector.accounts.look(account) + word)
  t.strictSame([MASTER, SUB, STRANGER].map((account) => tally(account, TALLY.VOLUME)), [0n, 2n * QUOTE, 2n * QUOTE])
  t.strictSame([MASTER, SUB, STRANGER].map((account) => tally(account, TALLY.FEES)), [60n, 0n, 40n])
  const cost = wideAt(projector.accounts.rows, holdingAt(projector.accounts.look(MASTER), BTC) + HOLDING.COST)
  // What the master has: 799,640 and the cost of what was bought. What he was given, less what he gave and the fees.
  t.equal(799_640n + cost, 1_000_000n - 300n + tally(MASTER, TALLY.REALIZED) - 60n)
})

t.test('a transfer of something that has a price takes its share of the cost along', async (t) => {
  const { projector } = open()
  const { accounts } = projector
  const holding = (account: number): number => holdingAt(accounts.look(account), BTC) + HOLDING.COST
  const cost = (account: number): bigint => wideAt(accounts.rows, holding(account))
  t.equal(cost(MASTER), 2n * QUOTE, 'bought for that')
  const fill = { pair: 0, price: 20_000, lots: 10, quote: 2n * QUOTE, makerFee: 0n, takerFee: 0n, makerFlags: Flag.SELL }
  say(projector, result(PLACE_ORDER), {
    sequence: 12, account: STRANGER, pair: 0, price: 20_000, lots: 10, remaining: 10, flags: Flag.SELL, slot: 0, orderSequence: 12,
    hold: BASE, outcome: SUBMITTED,
  })
  say(projector, EventType.FILL, {
    sequence: 13, ...fill, makerAccount: STRANGER, makerSequence: 12, takerAccount: SUB, takerFlags: FUNDED, takerSlot: 3,
  })
  t.equal(cost(MASTER), 4n * QUOTE, 'and at twice the price')
  say(projector, EventType.CREDIT, { sequence: 14, account: MASTER, asset: BTC, source: CreditSource.TRANSFER, amount: -150_000n })
  say(projector, EventType.CREDIT, { sequence: 14, account: SUB, asset: BTC, source: CreditSource.TRANSFER, amount: 150_000n })
  t.equal(cost(MASTER), 2n * QUOTE, 'half of the holding left with half of the cost')
  t.equal(wideAt(accounts.rows, accounts.look(MASTER) + TALLY.REALIZED), 3n * QUOTE - 2n * QUOTE, 'at what it is worth now')
  t.equal(cost(SUB), 3n * QUOTE, 'which is what it comes in at')
})

t.test('the application sees the family, and nothing of the stranger', async (t) => {
  const all = ask(answers, 'applicationMovements', { ...WALK, application: 0 })
  t.strictSame([all.total, all.rows.filter(({ account }) => account === STRANGER)], [11, []])
  const transfers = ask(answers, 'applicationMovements', { ...WALK, application: 0, transaction: Transaction.TRANSFER })
  t.strictSame(transfers.rows.map(({ account }) => account), [SUB, MASTER])
  t.strictSame(ask(answers, 'applicationOrders', { ...WALK, application: 0 }).rows.map(({ account }) => account), [SUB])
  const stats = { asset: USD, totalTrades: 2, volume: QUOTE, applicationFee: 0n }
  t.strictSame(ask(answers, 'applicationStats', { application: 0, since: 0 }), {
    ...stats, makerFee: 10n, takerFee: 50n, totalUsers: 2, activeUsers: 1,
  })
  t.strictSame(ask(answers, 'applicationStats', { application: 1, since: 0 }), {
    ...stats, makerFee: 0n, takerFee: 40n, totalUsers: 1, activeUsers: 1,
  })
})
