/** Histories made from random workloads, with a plain copy of what they must say, and whole stores to compare. */
import type { Answers } from '../../core/history/answer/answers.ts'
import { createAnswers } from '../../core/history/answer/answers.ts'
import { HOLDING, holdingAt } from '../../core/history/project/accounts.ts'
import { HISTORY_FORMAT } from '../../core/history/store/layout.ts'
import { identitiesOf } from '../../core/history/project/identities.ts'
import { createProjector, type Projector } from '../../core/history/project/projector.ts'
import {
  Entry, Reference, Transaction, type HistoryMovement, type HistoryOrder, type HistoryTrade, type HistoryWithdrawal, type Listing,
  type Position, type Queries, type QueryName,
} from '../../core/history/answer/queries.ts'
import { openWriter, writePosition, type HistoryDatabase, type StorePosition } from '../../core/history/store/store.ts'
import { userId } from '../../core/layout/ids.ts'
import { accountRow, balanceRow, getF64, getI64 } from '../../core/state/rows.ts'
import { ACCOUNT, BALANCE, SCALAR } from '../../core/state/columns.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import { CommandType, Flag, FLAG_ORDER_MASK, ORIGIN_MASK, CLIENT_ORDER_ID_SHIFT, COMMAND_SLOTS } from '../../core/layout/command.ts'
import { answeredTypeOf, CreditSource, EVENT_LAYOUTS, EventType, eventTypeOf, outcomeOf, Reason, Status } from '../../core/layout/event.ts'
import { SettlementStatus, WithdrawalStatus } from '../../core/layout/vault.ts'
import { decode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { createBench } from './naive_compare.ts'
import { createNaiveHistory, type NaiveHistory } from './naive_history.ts'
import { genesisText, VARIANTS } from './variants.ts'
import { Workload } from './workload.ts'

const KEPT = (FLAG_ORDER_MASK | ORIGIN_MASK | (0xff << CLIENT_ORDER_ID_SHIFT)) >>> 0

/** The history as plain rows, from decoded events, one at a time. */
export class PlainHistory {
  readonly naive: NaiveHistory = createNaiveHistory()
  readonly #genesis: Genesis
  readonly #balances = new Map<string, { available: bigint; locked: bigint }>()
  readonly #orders = new Map<number, HistoryOrder>()
  readonly #labels = new Map<number, string>()
  /** Master of each sub-account. */
  readonly #masters = new Map<number, number>()
  /** Last price of each pair. */
  readonly #prices = new Map<number, number>()
  readonly #applicationOf: (account: number) => number
  #sequence = 0
  #number = 0

  /** `applicationOf` an account that was just made: no event says it. */
  constructor(genesis: Genesis, applicationOf: (account: number) => number) {
    this.#genesis = genesis
    this.naive.settlement.pair = (pair) => genesis.pairs[pair]!.id
    this.#applicationOf = applicationOf
    this.naive.portfolio.asset = genesis.feeTiers.asset
  }

  take(events: Views, count: number): void {
    for (let record = 0; record < count; record++) {
      const base = record * RECORD_WORDS
      const type = eventTypeOf(events.u32[base]!)
      const event = decode(EVENT_LAYOUTS[type]!, events, base)
      if (type === EventType.LABEL) {
        const text = Buffer.from(String(event['label']), 'hex').toString('latin1')
        this.#labels.set(Number(event['orderSequence']), text.slice(0, Number(event['length'])))
        continue
      }
      if (event['sequence'] !== this.#sequence) this.#number = 0
      this.#sequence = Number(event['sequence'])
      if (type === EventType.FILL) this.#fill(event)
      else if (type === EventType.ORDER_ENDED) this.#end(event, event['released'] as bigint)
      else if (type === EventType.CREDIT) this.#credit(event)
      else if (type === EventType.APPLICATION_FEE) this.#charge(event)
      else if (type === EventType.REFERRAL_REWARD) this.naive.rewards.reward(event)
      else if (type === EventType.WITHDRAWAL) this.#withdraw(event)
      else if (type === EventType.DEPOSIT) this.#deposit(event)
      else if (type === EventType.SETTLEMENT) this.#settle(event)
      else this.#result(answeredTypeOf(events.u32[base]!), event)
    }
  }

  /** One movement: `by` is what it adds to available and to locked. */
  #move(event: Decoded, account: number, asset: number, by: readonly [bigint, bigint], change: Partial<HistoryMovement>): void {
    const key = `${account} ${asset}`
    const before = this.#balances.get(key) ?? { available: 0n, locked: 0n }
    const after = { available: before.available + by[0], locked: before.locked + by[1] }
    this.#balances.set(key, after)
    const sequence = this.#sequence
    this.naive.movements.push({
      account, asset, sequence, index: this.#number++, time: Number(event['time']), entry: 0, transaction: Transaction.TRADE, amount: 0n,
      reference: Reference.TRADE, referenceSequence: sequence, referenceSlot: 0, ...after, ...change,
    })
  }

  #fill(event: Decoded): void {
    const n = (name: string): number => Number(event[name])
    const pair = n('pair')
    const makerSells = (n('makerFlags') & Flag.SELL) !== 0
    const trade: HistoryTrade = {
      pair, makerSells, sequence: n('sequence'), index: n('index'), time: n('time'), price: n('price'), lots: n('lots'),
      quote: event['quote'] as bigint, makerAccount: n('makerAccount'), takerAccount: n('takerAccount'), makerSequence: n('makerSequence'),
      makerSlot: n('makerSlot'), takerSlot: n('takerSlot'), makerFee: event['makerFee'] as bigint, takerFee: event['takerFee'] as bigint,
    }
    this.naive.trades.push(trade)
    this.#prices.set(pair, trade.price)
    const { quote } = this.#genesis.pairs[pair]!
    const [value, makerFee, takerFee] = [trade.quote, trade.makerFee, trade.takerFee].map((atoms) => this.#valueOf(quote, atoms))
    this.naive.values.set(trade, { quote: value!, makerFee: makerFee!, takerFee: takerFee! })
    this.#side(event, this.#payer(n('takerAccount'), n('takerFlags')), makerSells, false, trade.takerFee)
    this.#side(event, this.#payer(n('makerAccount'), n('makerFlags')), !makerSells, true, trade.makerFee)
    const order = this.#order(n('makerSequence'))
    const remaining = n('makerRemaining')
    Object.assign(order, {
      remaining, filledQuote: event['makerFilledQuote'], fee: event['makerTotalFee'], updatedAt: n('time'),
      outcome: outcomeOf(remaining === 0 ? Status.FILLED : Status.PARTIALLY_FILLED, Reason.NONE),
    })
  }

  /** In the reference asset at the last price, toward zero; without a price nothing. */
  #valueOf(asset: number, atoms: bigint): bigint {
    const reference = this.#genesis.feeTiers.asset
    if (asset === reference) return atoms
    const pair = this.#genesis.pairs.find((each) => each.base === asset && each.quote === reference)
    const price = pair === undefined ? undefined : this.#prices.get(pair.index)
    return price === undefined ? 0n : (atoms * BigInt(price) * pair!.tickLotAtoms) / pair!.lotAtoms
  }

  /** Whose balances an order of `account` with these flags moves. */
  #payer(account: number, flags: number): number {
    return (flags & Flag.MASTER_FUNDED) === 0 ? account : this.#masters.get(account)!
  }

  #order(sequence: number): HistoryOrder {
    return this.#orders.get(sequence)!
  }

  #side(event: Decoded, account: number, buys: boolean, rests: boolean, fee: bigint): void {
    const pair = this.#genesis.pairs[Number(event['pair'])]!
    const quote = event['quote'] as bigint
    const base = BigInt(Number(event['lots'])) * pair.lotAtoms
    const referenceSlot = Number(event['index'])
    // What rests pays from what it locked, and so does the fee of a resting BUY; what comes in is available.
    const pays = (atoms: bigint): [bigint, bigint] => (rests ? [0n, -atoms] : [-atoms, 0n])
    const [quoteEntry, baseEntry] = buys ? [Entry.DEBIT, Entry.CREDIT] : [Entry.CREDIT, Entry.DEBIT]
    this.#move(event, account, pair.quote, buys ? pays(quote) : [quote, 0n], { entry: quoteEntry, amount: quote, referenceSlot })
    this.#move(event, account, pair.base, buys ? [base, 0n] : pays(base), { entry: baseEntry, amount: base, referenceSlot })
    if (fee === 0n) return
    const change =
      fee > 0n
        ? { entry: Entry.DEBIT, transaction: Transaction.FEE, amount: fee, referenceSlot }
        : { entry: Entry.CREDIT, transaction: Transaction.REBATE, amount: -fee, referenceSlot }
    this.#move(event, account, pair.quote, buys && fee > 0n ? pays(fee) : [-fee, 0n], change)
  }

  #hold(event: Decoded, atoms: bigint, entry: number): void {
    if (atoms === 0n) return
    const { base, quote } = this.#genesis.pairs[Number(event['pair'])]!
    const asset = (Number(event['flags']) & Flag.SELL) !== 0 ? base : quote
    const signed = entry === Entry.LOCK ? atoms : -atoms
    const named = { reference: Reference.ORDER, referenceSequence: Number(event['orderSequence']), referenceSlot: Number(event['slot']) }
    const payer = this.#payer(Number(event['account']), Number(event['flags']))
    this.#move(event, payer, asset, [-signed, signed], { entry, amount: atoms, ...named })
  }

  #end(event: Decoded, released: bigint): void {
    const order = this.#order(Number(event['orderSequence']))
    const flags = order.flags | (Number(event['flags']) & Flag.BY_OPERATOR)
    Object.assign(order, { outcome: Number(event['outcome']), updatedAt: Number(event['time']), flags })
    this.#hold(event, released, Entry.UNLOCK)
  }

  #credit(event: Decoded): void {
    const amount = event['amount'] as bigint
    // The DEPOSIT behind it says which.
    if (event['source'] === CreditSource.DEPOSIT) return
    const transaction = CREDITED[Number(event['source'])]
    const change =
      transaction !== undefined
        ? { entry: Entry.CREDIT, transaction, amount, reference: Reference.CREDIT }
        : {
            entry: amount < 0n ? Entry.DEBIT : Entry.CREDIT, transaction: Transaction.TRANSFER, amount: amount < 0n ? -amount : amount,
            reference: Reference.TRANSFER,
          }
    this.#move(event, Number(event['account']), Number(event['asset']), [amount, 0n], change)
  }

  /** APPLICATION_FEE: of a spot order whoever pays for it pays that too. */
  #charge(event: Decoded): void {
    const [account, amount] = [Number(event['account']), event['amount'] as bigint]
    const [sequence, index, time] = [Number(event['sequence']), Number(event['index']), Number(event['time'])]
    this.naive.charges.push({ account, sequence, index, time, amount, value: this.#valueOf(Number(event['asset']), amount) })
    const flags = Number(event['flags'])
    if ((flags & Flag.MARGIN) !== 0) return
    const change = { entry: Entry.DEBIT, transaction: Transaction.APPLICATION_FEE, amount, referenceSlot: Number(event['index']) }
    const fromHold = event['rested'] === 1 && (flags & Flag.SELL) === 0
    this.#move(event, this.#payer(account, flags), Number(event['asset']), fromHold ? [0n, -amount] : [-amount, 0n], change)
  }

  /** Its CREDIT was before it, unless nothing of it was as much as an atom. */
  #deposit(event: Decoded): void {
    const [account, amount] = [Number(event['account']), event['amount'] as bigint]
    if (account < 0) return
    const [sequence, asset] = [Number(event['sequence']), Number(event['asset'])]
    const txHash = `0x${event['txHash']}`
    this.naive.settlement.deposits.push({
      account, sequence, asset, amount, txHash, time: Number(event['time']), chain: Number(event['chain']), block: Number(event['block']),
      logIndex: Number(event['logIndex']), beneficiary: `0x${event['beneficiary']}`, remainder: event['remainder'] as bigint,
    })
    this.#move(event, account, asset, [amount, 0n], {
      entry: Entry.CREDIT, transaction: Transaction.DEPOSIT, amount, reference: Reference.DEPOSIT, txHash,
    })
  }

  /** It locks when it is made; its end takes from that or gives it back. */
  #withdraw(event: Decoded): void {
    const n = (name: string): number => Number(event[name])
    const [account, asset, status, amount] = [n('account'), n('asset'), n('status'), event['amount'] as bigint]
    const hash = /^0*$/.test(String(event['txHash'])) ? null : `0x${event['txHash']}`
    const withdrawal: HistoryWithdrawal = {
      account, asset, amount, status, sequence: n('withdrawalSequence'), row: n('row'), destination: `0x${event['destination']}`,
      flags: n('flags'), createdAt: n('createdAt'), updatedAt: n('time'), deadline: n('deadline'), txHash: hash,
    }
    const { withdrawals } = this.naive.settlement
    if (n('before') === 0) withdrawals.push(withdrawal)
    else Object.assign(withdrawals.find(({ sequence }) => sequence === withdrawal.sequence)!, withdrawal)
    const named = {
      amount, transaction: Transaction.WITHDRAWAL, reference: Reference.WITHDRAWAL, referenceSequence: withdrawal.sequence,
      referenceSlot: withdrawal.row,
    }
    const { PENDING, SIGNED, SUBMITTED, CONFIRMED } = WithdrawalStatus
    if (n('before') === 0) this.#move(event, account, asset, [-amount, amount], { ...named, entry: Entry.LOCK })
    else if (status === CONFIRMED) this.#move(event, account, asset, [0n, -amount], { ...named, entry: Entry.DEBIT, txHash: hash! })
    else if (![PENDING, SIGNED, SUBMITTED].includes(status as 1)) {
      this.#move(event, account, asset, [amount, -amount], { ...named, entry: Entry.UNLOCK })
    }
  }

  #settle(event: Decoded): void {
    const { batches } = this.naive.settlement
    const n = (name: string): number => Number(event[name])
    if (n('status') === SettlementStatus.OPENED) {
      batches.push({
        batch: n('batch'), from: n('from'), through: n('through'), fills: n('fills'), status: SettlementStatus.OPENED, openedAt: n('time'),
        confirmedAt: 0, block: 0, txHash: null,
      })
      return
    }
    const confirmed = { status: SettlementStatus.CONFIRMED, confirmedAt: n('time'), block: n('block'), txHash: `0x${event['txHash']}` }
    Object.assign(batches[n('batch') - 1]!, confirmed)
  }

  #result(type: number, event: Decoded): void {
    const n = (name: string): number => Number(event[name])
    const flags = n('flags')
    if (n('code') !== 0 || (flags & Flag.REPEATED) !== 0) return
    const { applications } = this.naive
    if (type === CommandType.CREATE_SUB_ACCOUNT) this.#masters.set(n('detail'), n('account'))
    if (type === CommandType.CREATE_SUB_ACCOUNT) applications.set(n('detail'), this.#applicationOf(n('detail')))
    if (type === CommandType.OPEN_SESSION) applications.set(n('account'), this.#applicationOf(n('account')))
    if (type === CommandType.CANCEL_ORDER) return this.#end(event, event['hold'] as bigint)
    if (type !== CommandType.PLACE_ORDER && type !== CommandType.REPLACE_ORDER && type !== CommandType.ENTER_ORDER) return
    const sequence = n('orderSequence')
    const order: HistoryOrder = {
      sequence, slot: n('slot'), account: n('account'), pair: n('pair'), flags: (flags & KEPT) >>> 0, price: n('price'), lots: n('lots'),
      remaining: n('remaining'), filledQuote: event['filledQuote'] as bigint, fee: event['fee'] as bigint, createdAt: n('time'),
      updatedAt: n('time'), expiresAt: n('expiresAt'), outcome: n('outcome'),
      slippageBps: (flags & Flag.SLIPPAGE) === 0 ? 0 : n('detail2'),
      clientOrderId: flags >>> CLIENT_ORDER_ID_SHIFT === 0 ? '' : this.#labels.get(sequence)!,
    }
    this.naive.orders.push(order)
    this.#orders.set(sequence, order)
    const status = n('outcome') & 0xff
    if (status === Status.SUBMITTED || status === Status.PARTIALLY_FILLED) this.#hold(event, event['hold'] as bigint, Entry.LOCK)
  }
}

/** Transactions of credits that are no transfer. */
const CREDITED: Readonly<Record<number, number>> = {
  [CreditSource.FAUCET]: Transaction.FAUCET, [CreditSource.APPLICATION_FEE]: Transaction.APPLICATION_FEE,
  [CreditSource.REVENUE_SHARE]: Transaction.REVENUE_SHARE, [CreditSource.REFERRAL_REWARD]: Transaction.REFERRAL_REWARD,
}

export interface HistoryRun {
  readonly database: HistoryDatabase
  readonly projector: Projector
  readonly answers: Answers
  readonly plain: NaiveHistory
  readonly state: State
  readonly genesis: Genesis
}

/** Public ids of accounts that have traded: their rows are theirs for good. */
export const usersOf = (state: State) => (account: number): string =>
  userId(getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE), account)

/** The position of a store that belongs to no journal. */
export const positionAt = (sequence: number, roots: Buffer): StorePosition => ({
  format: HISTORY_FORMAT, genesis: '', sequence, time_ms: 0, batch_checksum: 0, events_checksum: 0, events: 0, roots,
})

/** Runs a workload through the engine and a history in memory. `check` is called after every flush, at most `apart` commands apart. */
export function runHistory(
  variant: string, seed: number, commands: number, check: (run: HistoryRun, index: number) => void = () => undefined, apart = 400,
): HistoryRun {
  const { clients, visitors, builder, referrals, vault, ...spec } = VARIANTS[variant]!
  const { state, run, said } = createBench(genesisText(spec))
  const { genesis } = state
  const database = openWriter(':memory:')
  const identities = identitiesOf(state)
  const projector = createProjector(database, genesis, identities)
  const plain = new PlainHistory(genesis, identities.applicationOf)
  plain.naive.settlement.user = usersOf(state)
  const workload = new Workload(seed, genesis, { ownOrders: true, families: true, clients, visitors, builder, referrals, vault })
  const random = createPrng(seed)
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  const history: HistoryRun = {
    database, projector, state, genesis, plain: plain.naive,
    answers: createAnswers(database, genesis, { names: identities, balances: () => null }),
  }
  let flushAt = 0
  for (let index = 0; index < commands; index++) {
    workload.next(command, 0)
    const records = run(command, 0, workload.time)
    projector.project(said, records)
    plain.take(said, records)
    workload.learn(said, records)
    if (index < flushAt && index < commands - 1) continue
    flushAt = index + random.below(apart)
    database.transaction(() => {
      writePosition(database, positionAt(index + 1, projector.flush()))
    })()
    check(history, index)
  }
  return history
}

/** First balance in which history and engine differ, or null. */
export function balanceDifference({ accounts }: Projector, state: State): string | null {
  for (let account = 0; account < state.scalars[SCALAR.ACCOUNTS]!; account++) {
    const row = accounts.look(account)
    for (const { index, symbol } of state.genesis.assets) {
      const ours = holdingAt(row, index)
      const theirs = balanceRow(state, account, index)
      const [available, locked] = [accounts.rows[ours + HOLDING.AVAILABLE]!, accounts.rows[ours + HOLDING.LOCKED]!]
      const [engine, held] = [getI64(state, theirs, BALANCE.AVAILABLE), getI64(state, theirs, BALANCE.LOCKED)]
      if (available !== engine || locked !== held) return `${symbol} of ${account}: ${available}/${locked}, engine ${engine}/${held}`
    }
  }
  return null
}

/** The answer to one question. */
export function ask<Name extends QueryName>(answers: Answers, name: Name, question: Queries[Name]['ask']): Queries[Name]['answer'] {
  answers.forget()
  const work = (answers[name] as (ask: unknown) => Generator<undefined, Queries[Name]['answer']>)(question)
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** Everything a listing has, by cursor, newest first. */
export function everything<Row>(list: (after: Position | null) => Listing<Row>, position: (row: Row) => Position): Row[] {
  const rows: Row[] = []
  for (let after: Position | null = null; ; ) {
    const { rows: page, more } = list(after)
    rows.push(...page)
    if (!more) return rows
    after = position(page.at(-1)!)
  }
}

/** Random choices about the questions put to one run's history; what is asked is the test's own. */
export class Questioner {
  readonly run: HistoryRun
  readonly random: Prng
  constructor(run: HistoryRun, seed: number) {
    this.run = run
    this.random = createPrng(seed)
  }

  protected pick<T>(list: readonly T[]): T {
    return list[this.random.below(list.length)]!
  }

  /** `make` once in `of` times. */
  protected maybe<T>(of: number, make: () => T): T | undefined {
    return this.random.below(of) === 0 ? make() : undefined
  }
}
