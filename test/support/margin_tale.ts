/**
 * Margin trading as the engine tells of it, made up at random, and beside it what a reader must know afterwards: positions, funding,
 * movements with the balances after them, open interest, profit and fees. Kept as plain lists and sums; nothing is shared with the
 * history but the shapes of its answers. Accounts have a parent and a sub-account. One command at a time.
 */
import {
  Entry, Reference, Transaction, type HistoryFundingPayment, type HistoryFundingRate, type HistoryLiquidation, type HistoryMovement,
  type HistoryPosition,
} from '../../core/history/answer/queries.ts'
import type { Bucket, Holding, InterestChange, Margin, User, Worth } from './margin_tale_parts.ts'
import { CommandType, Flag } from '../../core/layout/command.ts'
import { CreditSource, EVENT_LAYOUTS, EventType, outcomeOf, Reason, Status } from '../../core/layout/event.ts'
import { CollateralReason, LiquidationStatus, PositionReason } from '../../core/layout/margin_events.ts'
import { encode, RECORD_BYTES, viewsOf, type Decoded, type Views } from '../../core/layout/table.ts'
import type { Prng } from '../../core/lib/prng.ts'
import type { Genesis } from '../../core/state/genesis.ts'

export const ACCOUNTS = 3
const PERPS = [1, 2]
const COLLATERAL_ASSET = 0
const RICH = 1_000_000_000_000n

export class MarginTale {
  readonly users: User[]
  readonly positions: HistoryPosition[] = []
  readonly payments: (HistoryFundingPayment & { account: number })[] = []
  readonly rates: HistoryFundingRate[] = []
  readonly liquidations: HistoryLiquidation[] = []
  readonly movements: HistoryMovement[] = []
  readonly interest: InterestChange[] = []
  readonly worths: Worth[][] = Array.from({ length: ACCOUNTS }, () => [])
  /** Atoms by account: profit and funding; fees; value of trades. */
  readonly realized = Array<bigint>(ACCOUNTS).fill(0n)
  readonly fees = Array<bigint>(ACCOUNTS).fill(0n)
  readonly volume = Array<bigint>(ACCOUNTS).fill(0n)
  time: number
  sequence = 0
  #number = 0
  #rows = 0
  #events: Decoded[] = []
  readonly #marks = new Map<number, number>()
  readonly #genesis: Genesis
  readonly #random: Prng
  readonly #sink: (events: Views, count: number) => void

  constructor(genesis: Genesis, random: Prng, time: number, sink: (events: Views, count: number) => void) {
    this.#genesis = genesis
    this.#random = random
    this.#sink = sink
    this.time = time
    this.users = Array.from({ length: ACCOUNTS }, () => ({ wallet: 0n, margins: [], buckets: [], holdings: [] }))
    for (let account = 0; account < ACCOUNTS; account++) {
      this.#command(CommandType.MINT, account, () => {
        this.#say(EventType.CREDIT, { account, asset: COLLATERAL_ASSET, source: CreditSource.FAUCET, amount: RICH })
        this.#wallet(account, RICH, Transaction.FAUCET, Reference.CREDIT)
      })
    }
  }

  /** One command, after some time. */
  step(apart: number): void {
    this.time += this.#random.below(apart)
    const dice = this.#random.below(100)
    if (dice < 20 || this.#marks.size < PERPS.length) this.#mark()
    else if (dice < 35) this.#move()
    else if (dice < 45) this.#allocate()
    else if (dice < 55) this.#rate()
    else if (dice < 60) this.#liquidate()
    else this.#trade()
    for (let account = 0; account < ACCOUNTS; account++) this.#worth(account)
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random.below(list.length)]!
  }

  /** Says what `tell` says, and the RESULT; only whole commands are heard. */
  #command(type: number, account: number, tell: () => Decoded | void): void {
    this.sequence++
    this.#number = 0
    const more = tell() ?? {}
    this.#say(EventType.RESULT, { account, flags: 0, ...more }, type)
    const views = viewsOf(new ArrayBuffer(this.#events.length * RECORD_BYTES))
    this.#events.forEach((event, record) => encode(EVENT_LAYOUTS[Number(event['kind']) & 0xff]!, views, record * (RECORD_BYTES / 4), event))
    const count = this.#events.length
    this.#events = []
    this.#sink(views, count)
  }

  #say(type: number, values: Decoded, command = 0): void {
    const moment: Decoded = type === EventType.MARGIN_ORDER ? {} : { sequence: this.sequence, time: this.time }
    this.#events.push({ ...moment, ...values, kind: type | (command << 8) })
  }

  /** A movement; balances of a margin account are what it has deposited and realised, less and as earmarked. */
  #moved(account: number, margin: Margin | null, bucket: Bucket | null, change: Partial<HistoryMovement>): void {
    const { wallet, buckets } = this.users[account]!
    const own = buckets.filter((each) => each.margin === margin).reduce((sum, each) => sum + each.realized, 0n)
    const available = margin === null ? wallet : margin.deposited + own - margin.earmarked
    const movement: HistoryMovement = {
      account, sequence: this.sequence, index: this.#number++, time: this.time, asset: COLLATERAL_ASSET, entry: 0, transaction: 0,
      amount: 0n, available, locked: margin === null ? 0n : margin.earmarked, reference: 0, referenceSequence: this.sequence,
      referenceSlot: 0, ...change,
    }
    if (margin !== null) {
      const name = bucket === null ? null : { sequence: bucket.sequence, row: bucket.row }
      movement.margin = { account: { sequence: margin.sequence, row: margin.row }, bucket: name }
    }
    this.movements.push(movement)
  }

  /** Below 0: less. */
  #gets(atoms: bigint): { entry: number; amount: bigint } {
    return { entry: atoms < 0n ? Entry.DEBIT : Entry.CREDIT, amount: atoms < 0n ? -atoms : atoms }
  }

  #wallet(account: number, atoms: bigint, transaction: number, reference: number): void {
    this.users[account]!.wallet += atoms
    this.#moved(account, null, null, { ...this.#gets(atoms), transaction, reference })
  }

  /** A margin account of the user: now and then the sub-account, made when it is needed. */
  #margin(account: number): Margin {
    const { margins } = this.users[account]!
    const wanted = this.#random.below(3) === 0 ? 1 : 0
    while (margins.length <= wanted) {
      const parent = margins.length === 0
      margins.push({ sequence: parent ? account + 1 : this.sequence, row: parent ? -1 : 50 + account, deposited: 0n, earmarked: 0n })
    }
    return margins[wanted]!
  }

  #collateral(account: number, margin: Margin, bucket: Bucket | null, reason: number): void {
    const parent = margin.row < 0
    this.#say(EventType.COLLATERAL, {
      account, marginAccount: parent ? 10 + account : margin.row, bucket: bucket?.row ?? -1, reason, state: bucket === null ? 0 : 1,
      amount: 0n, deposited: margin.deposited, earmarked: margin.earmarked, allocated: bucket?.allocated ?? 0n, pending: 0n,
      realized: bucket?.realized ?? 0n, marginAccountSequence: margin.sequence, bucketSequence: bucket?.sequence ?? 0,
      accountKind: parent ? 0 : 1, asset: COLLATERAL_ASSET,
    })
  }

  /** Wallet to a margin account and back, or between two of them. */
  #move(): void {
    const account = this.#random.below(ACCOUNTS)
    this.#command(CommandType.MOVE_COLLATERAL, account, () => {
      const margin = this.#margin(account)
      const other = this.users[account]!.margins.find((each) => each !== margin)
      const free = margin.deposited - margin.earmarked
      const named = { transaction: Transaction.TRANSFER, reference: Reference.TRANSFER }
      if (other !== undefined && free > 0n && this.#random.below(3) === 0) {
        for (const [to, atoms] of [[margin, -free / 2n - 1n], [other, free / 2n + 1n]] as const) {
          to.deposited += atoms
          this.#collateral(account, to, null, CollateralReason.SUB_ACCOUNT)
          this.#moved(account, to, null, { ...this.#gets(atoms), ...named })
        }
        return
      }
      const takes = free > 0n && this.#random.below(4) === 0
      const atoms = takes ? -free / 3n - 1n : BigInt(1 + this.#random.below(1_000_000_000))
      this.#say(EventType.CREDIT, { account, asset: COLLATERAL_ASSET, source: CreditSource.COLLATERAL, amount: -atoms })
      this.#wallet(account, -atoms, Transaction.TRANSFER, Reference.TRANSFER)
      margin.deposited += atoms
      this.#collateral(account, margin, null, takes ? CollateralReason.WITHDRAW : CollateralReason.DEPOSIT)
      this.#moved(account, margin, null, { ...this.#gets(atoms), ...named })
    })
  }

  /** Into a bucket or out of it; one that is flat may settle. */
  #allocate(): void {
    const account = this.#random.below(ACCOUNTS)
    const { buckets, holdings } = this.users[account]!
    if (buckets.length === 0) return
    this.#command(CommandType.MOVE_COLLATERAL, account, () => {
      const bucket = this.#pick(buckets)
      const { margin } = bucket
      const flat = holdings.every((each) => each.bucket !== bucket)
      const settles = flat && bucket.allocated > 0n && bucket.allocated + bucket.realized >= 0n && this.#random.below(2) === 0
      const some = this.#random.below(3) === 0 ? -bucket.allocated / 2n : (margin.deposited - margin.earmarked) / 4n
      const hold = settles ? -bucket.allocated : some
      margin.earmarked += hold
      bucket.allocated += hold
      if (settles) {
        margin.deposited += bucket.realized
        bucket.realized = 0n
      }
      this.#collateral(account, margin, bucket, settles ? CollateralReason.SETTLED : CollateralReason.BUCKET)
      this.#held(account, bucket, hold, { transaction: Transaction.TRANSFER, reference: Reference.TRANSFER })
    })
  }

  #held(account: number, bucket: Bucket, hold: bigint, change: Partial<HistoryMovement>): void {
    if (hold === 0n) return
    const entry = hold < 0n ? Entry.UNLOCK : Entry.LOCK
    this.#moved(account, bucket.margin, bucket, { entry, amount: hold < 0n ? -hold : hold, ...change })
  }

  #mark(): void {
    const pair = this.#pick(PERPS)
    this.#command(CommandType.SET_INDEX_PRICE, -1, () => {
      const mark = 9_000 + this.#random.below(2_000)
      this.#marks.set(pair, mark)
      const openLots = this.#openLots(pair)
      this.#say(EventType.MARK, { pair, index: mark + 3, mark, openLots, predictedRate: 7, nextFundingAt: this.time + 1000 })
      this.interest.push({ pair, time: this.time, lots: openLots, mark })
    })
  }

  #openLots(pair: number): number {
    const all = this.users.flatMap(({ holdings }) => holdings).filter(({ record }) => record.pair === pair)
    return all.reduce((sum, { record }) => sum + Math.max(0, record.lots), 0)
  }

  #rate(): void {
    const pair = this.#pick(PERPS)
    this.#command(CommandType.FUNDING_STEP, -1, () => {
      const mark = this.#marks.get(pair)!
      const rate = this.#random.below(2001) - 1000
      const openLots = this.#openLots(pair)
      this.#say(EventType.FUNDING_RATE, { pair, rate, samples: 60, index: mark + 3, mark, cumulative: 0n, openLots })
      this.rates.push({ sequence: this.sequence, index: 0, time: this.time, pair, rate, samples: 60, indexPrice: mark + 3, mark, openLots })
    })
  }

  /** Somebody's order rests, and another account's takes it. */
  #trade(): void {
    const maker = this.#random.below(ACCOUNTS)
    const taker = (maker + 1 + this.#random.below(ACCOUNTS - 1)) % ACCOUNTS
    const pair = this.#pick(PERPS)
    const sells = this.#random.below(2) === 0
    const lots = 1 + this.#random.below(30)
    const price = this.#marks.get(pair)! + this.#random.below(101) - 50
    const flagsOf = (sell: boolean, bucket: Bucket): number => Flag.MARGIN | (sell ? Flag.SELL : 0) | (bucket.mode === 1 ? Flag.CROSS : 0)
    const buckets = new Map<number, Bucket>()
    const order = (account: number, flags: number, slot: number, bucket: Bucket, rest: Decoded): Decoded => {
      this.#say(EventType.MARGIN_ORDER, {
        account, orderSequence: this.sequence, slot, pair, marginAccount: bucket.margin.row, bucket: bucket.row,
        marginAccountSequence: bucket.margin.sequence, bucketSequence: bucket.sequence, leverage: 1000, flags, collateral: 0n,
        strategyKey: Buffer.alloc(48).fill(bucket.key, 0, bucket.key.length, 'latin1').toString('hex'),
      })
      return { pair, flags, slot, price, lots, orderSequence: this.sequence, ...rest }
    }
    let makerSequence = 0
    this.#command(CommandType.PLACE_ORDER, maker, () => {
      const bucket = this.#bucket(maker, pair)
      buckets.set(maker, bucket)
      makerSequence = this.sequence
      this.#bring(maker, bucket)
      const rests = { remaining: lots, hold: 77n, outcome: outcomeOf(Status.SUBMITTED, Reason.NONE) }
      return order(maker, flagsOf(sells, bucket), 1, bucket, rests)
    })
    this.#command(CommandType.PLACE_ORDER, taker, () => {
      const bucket = this.#bucket(taker, pair)
      const quote = BigInt(lots) * BigInt(price) * this.#genesis.pairs[pair]!.tickLotAtoms
      const [makerFee, takerFee] = [quote / -20_000n, quote / 2_000n]
      this.#bring(taker, bucket)
      this.#say(EventType.FILL, {
        pair, price, lots, quote, index: 0, makerAccount: maker, makerSlot: 1, makerSequence, makerFee, takerFee, takerAccount: taker,
        takerSlot: 2, makerRemaining: 0, takerRemaining: 0, makerLots: lots, makerFlags: flagsOf(sells, buckets.get(maker)!),
        takerFlags: flagsOf(!sells, bucket), makerFilledQuote: quote, makerTotalFee: makerFee, makerCreatedAt: this.time,
      })
      for (const account of [maker, taker]) this.volume[account]! += quote
      this.#fill(taker, bucket, pair, sells ? lots : -lots, price, takerFee)
      this.#fill(maker, buckets.get(maker)!, pair, sells ? -lots : lots, price, makerFee)
      const filled = { outcome: outcomeOf(Status.FILLED, Reason.NONE), filledQuote: quote, fee: takerFee }
      return order(taker, flagsOf(!sells, bucket), 2, bucket, filled)
    })
  }

  /** What an order brings into its bucket, which is told of a new bucket at least. */
  #bring(account: number, bucket: Bucket): void {
    const hold = (bucket.margin.deposited - bucket.margin.earmarked) / 10n
    bucket.margin.earmarked += hold
    bucket.allocated += hold
    this.#collateral(account, bucket.margin, bucket, CollateralReason.ORDER)
    this.#held(account, bucket, hold, {
      transaction: Transaction.TRADE, reference: Reference.RISK_BUCKET, referenceSequence: bucket.sequence, referenceSlot: bucket.row,
    })
  }

  #bucket(account: number, pair: number): Bucket {
    const { buckets } = this.users[account]!
    const mode = this.#random.below(2)
    const key = this.#pick(['', 'grid', 'copy:7'])
    const margin = this.#margin(account)
    const fits = (each: Bucket): boolean => each.margin === margin && each.mode === mode && each.key === key
    const found = buckets.find((each) => fits(each) && (mode === 1 || each.pair === pair))
    if (found !== undefined) return found
    const bucket: Bucket = { sequence: this.sequence, row: this.#rows++, margin, mode, pair, key, allocated: 0n, realized: 0n }
    buckets.push(bucket)
    return bucket
  }

  /** `lots` at `price` into the position of a bucket: closes what is against it, then opens the rest. */
  #fill(account: number, bucket: Bucket, pair: number, lots: number, price: number, fee: bigint): void {
    const { holdings } = this.users[account]!
    let left = lots
    let owed = fee
    const holding = holdings.find((each) => each.bucket === bucket && each.record.pair === pair)
    if (holding !== undefined) this.#fund(account, holding)
    if (holding !== undefined && Math.sign(holding.record.lots) !== Math.sign(lots)) {
      const closed = Math.sign(lots) * Math.min(Math.abs(lots), Math.abs(holding.record.lots))
      this.#change(account, holding, closed, price, owed, PositionReason.TRADE)
      owed = 0n
      left -= closed
    }
    if (left === 0) return
    const still = holdings.find((each) => each.bucket === bucket && each.record.pair === pair)
    this.#change(account, still ?? this.#open(account, bucket, pair), left, price, owed, PositionReason.TRADE)
  }

  #open(account: number, bucket: Bucket, pair: number): Holding {
    const row = this.#rows++
    const name = ({ sequence, row }: Margin | Bucket) => ({ sequence, row })
    const record: HistoryPosition = {
      account, sequence: this.sequence, row, index: this.positions.filter((each) => each.account === account).length, pair, lots: 0,
      entryLots: 0, entryCost: 0n, leverage: 1000, realized: 0n, funding: 0n, fees: 0n, allocated: 0n, mark: 0, reason: 0, version: 0,
      openedAt: this.time, updatedAt: this.time, closedAt: 0, marginAccount: name(bucket.margin), bucket: name(bucket), mode: bucket.mode,
      strategyKey: bucket.key,
    }
    const holding: Holding = { record, bucket, cost: 0n, fundedTo: this.rates.length }
    this.positions.push(record)
    this.users[account]!.holdings.push(holding)
    return holding
  }

  /** A position changes by `lots` at `price` and pays `fee`. */
  #change(account: number, holding: Holding, lots: number, price: number, fee: bigint, reason: number): void {
    const { record, bucket } = holding
    const value = BigInt(lots) * BigInt(price) * this.#genesis.pairs[record.pair]!.tickLotAtoms
    let profit = 0n
    if (record.lots !== 0 && Math.sign(record.lots) !== Math.sign(lots)) {
      const part = (holding.cost * BigInt(Math.abs(lots))) / BigInt(Math.abs(record.lots))
      profit = -value - part
      holding.cost -= part
    } else holding.cost += value
    record.lots += lots
    Object.assign(record, { realized: record.realized + profit, fees: record.fees + fee })
    bucket.realized += profit - fee
    this.#tell(account, holding, reason, profit)
    const open = { transaction: reason === PositionReason.TRADE ? Transaction.TRADE : Transaction.LIQUIDATION }
    this.#realize(account, holding, [[profit, open], [-fee, { transaction: fee > 0n ? Transaction.FEE : Transaction.REBATE }]])
    this.realized[account]! += profit
    this.fees[account]! += fee
    if (record.lots === 0) this.users[account]!.holdings.splice(this.users[account]!.holdings.indexOf(holding), 1)
    const mark = this.#marks.get(record.pair)!
    this.interest.push({ pair: record.pair, time: this.time, lots: this.#openLots(record.pair), mark })
  }

  /** POSITION as it is now. */
  #tell(account: number, { record, bucket, cost }: Holding, reason: number, profit: bigint): void {
    const mark = this.#marks.get(record.pair)!
    Object.assign(record, { version: record.version + 1, updatedAt: this.time, mark, reason, closedAt: record.lots === 0 ? this.time : 0 })
    if (record.lots !== 0) Object.assign(record, { entryLots: record.lots, entryCost: cost, allocated: bucket.allocated })
    this.#say(EventType.POSITION, {
      account, pair: record.pair, position: record.row, bucket: bucket.row, marginAccount: bucket.margin.row, lots: record.lots,
      leverage: 1000, cost, realized: record.realized, funding: record.funding, fees: record.fees, allocated: bucket.allocated,
      openedSequence: record.sequence, version: record.version, reason, mark, profit, bucketSequence: bucket.sequence,
    })
  }

  /** Movements of what a position realised in one event, in order: those after a movement had not happened when it did. */
  #realize(account: number, { record, bucket }: Holding, parts: [bigint, Partial<HistoryMovement>][]): void {
    const named = { reference: Reference.POSITION, referenceSequence: record.sequence, referenceSlot: record.row }
    const after = bucket.realized
    parts.forEach(([atoms, change], part) => {
      bucket.realized = after - parts.slice(part + 1).reduce((sum, [more]) => sum + more, 0n)
      if (atoms !== 0n) this.#moved(account, bucket.margin, bucket, { ...this.#gets(atoms), ...change, ...named })
    })
    bucket.realized = after
  }

  /** Settles the rates that a position has not settled yet. */
  #fund(account: number, holding: Holding): void {
    const { record, bucket } = holding
    const rates = this.rates.slice(holding.fundedTo).filter(({ pair }) => pair === record.pair)
    holding.fundedTo = this.rates.length
    const amount = rates.reduce((sum, { rate }) => sum - BigInt(rate) * BigInt(record.lots), 0n)
    if (amount === 0n) return
    const { rate, mark } = rates.at(-1)!
    const position = { sequence: record.sequence, row: record.row }
    this.#say(EventType.FUNDING_PAYMENT, {
      account, pair: record.pair, position: record.row, bucket: bucket.row, lots: record.lots, amount, from: 0n, to: 0n,
      openedSequence: record.sequence, rate, mark,
    })
    const index = this.payments.filter((each) => each.account === account).length
    this.payments.push({
      account, sequence: this.sequence, index, time: this.time, pair: record.pair, position, lots: record.lots, amount, rate, mark,
    })
    record.funding += amount
    bucket.realized += amount
    this.realized[account]! += amount
    this.#tell(account, holding, PositionReason.FUNDING, 0n)
    this.#realize(account, holding, [[amount, { transaction: Transaction.FUNDING }]])
  }

  /** A whole liquidation of one position: it is closed at the mark, and a fee goes to the fund. */
  #liquidate(): void {
    const account = this.#random.below(ACCOUNTS)
    const { holdings } = this.users[account]!
    if (holdings.length === 0) return
    const holding = this.#pick(holdings)
    const { bucket, record } = holding
    const { pair } = record
    const lots = -record.lots
    const ends = this.#random.below(3) > 0
    this.#command(CommandType.LIQUIDATION_STEP, account, () => {
      const began = this.sequence
      const step = (status: number, values: Decoded): void => this.#say(EventType.LIQUIDATION, {
        account, bucket: bucket.row, marginAccount: bucket.margin.row, pair: -1, status, lots: 0, price: 0, amount: 0n, equity: 5n,
        maintenance: 9n, bucketSequence: bucket.sequence, began, openedSequence: 0,
        marginAccountSequence: bucket.margin.sequence, ...values,
      })
      step(LiquidationStatus.STARTED, {})
      this.#fund(account, holding)
      this.#change(account, holding, lots, this.#marks.get(pair)!, 0n, PositionReason.LIQUIDATION)
      const fee = BigInt(1 + this.#random.below(1000))
      bucket.realized -= fee
      this.fees[account]! += fee
      this.#collateral(account, bucket.margin, bucket, CollateralReason.LIQUIDATION_FEE)
      this.#moved(account, bucket.margin, bucket, {
        ...this.#gets(-fee), transaction: Transaction.LIQUIDATION, reference: Reference.RISK_BUCKET, referenceSequence: bucket.sequence,
        referenceSlot: bucket.row,
      })
      step(LiquidationStatus.REDUCED, { pair, lots: Math.abs(lots), price: 1, amount: fee, openedSequence: record.sequence })
      if (ends) step(LiquidationStatus.COMPLETED, { equity: 6n, maintenance: 0n })
      const { marginAccount, bucket: name, mode, strategyKey } = record
      this.liquidations.push({
        account, sequence: began, index: this.liquidations.filter((each) => each.account === account).length, marginAccount, bucket: name,
        mode, strategyKey, status: ends ? LiquidationStatus.COMPLETED : LiquidationStatus.REDUCED, startedAt: this.time,
        updatedAt: this.time, endedAt: ends ? this.time : 0, pair, lots: Math.abs(lots), fees: fee, badDebt: 0n, equity: ends ? 6n : 5n,
        maintenance: ends ? 0n : 9n,
      })
    })
  }

  #worth(account: number): void {
    const { wallet, margins, buckets, holdings } = this.users[account]!
    const held = new Map<number, { lots: number; cost: bigint }>()
    for (const { record, cost } of holdings) {
      const sum = held.get(record.pair) ?? { lots: 0, cost: 0n }
      held.set(record.pair, { lots: sum.lots + record.lots, cost: sum.cost + cost })
    }
    const sum = (all: bigint[]): bigint => all.reduce((total, each) => total + each, 0n)
    const collateral = sum(margins.map(({ deposited }) => deposited)) + sum(buckets.map(({ realized }) => realized))
    this.worths[account]!.push({ time: this.time, wallet, collateral, held })
  }
}
