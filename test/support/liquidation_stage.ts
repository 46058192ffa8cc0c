/**
 * Two perpetuals and whoever trades them, for liquidation: positions are given as they are, both sides of each, so that every figure can be
 * reckoned by hand; orders, prices, steps and settlement are real commands. After each command the sums of money and lots are checked.
 *
 * One lot at one tick is one dollar. Ladder: 20, 10 and 5 times, 2.5, 5 and 10 % maintenance, from 0, 10,000 and 50,000 on. Liquidation fee
 * 0.5 %, mark band 3 %, taker fee 0.05 %, maker fee 0.01 %.
 */
import { COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, kindOf } from '../../core/layout/command.ts'
import { Flag } from '../../core/layout/flags.ts'
import { PerpMode, PerpSetting } from '../../core/layout/margin.ts'
import { LIQUIDATION_STATUS_NAMES } from '../../core/layout/margin_events.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { findBucket, makeBucket, makeParent, parentOf } from '../../core/margin/buckets.ts'
import { bucketHealth } from '../../core/margin/figures.ts'
import { fundBucket } from '../../core/margin/fund.ts'
import { armBucket } from '../../core/margin/guards.ts'
import { changeLots, findPosition, makePosition } from '../../core/margin/positions.ts'
import { nextListed } from '../../core/margin/liquidation_list.ts'
import { writeLiquidations } from '../../core/sequencer/liquidation_timers.ts'
import { createTimers } from '../../core/sequencer/timers.ts'
import { R } from '../../core/state/balances.ts'
import { BALANCE, SCALAR, TOTAL } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import {
  BUCKET_STATE_NAMES, BucketState, MARGIN_ACCOUNT, MARGIN_TOTAL, MarginMode, POSITION, RISK_BUCKET,
} from '../../core/state/margin_rows.ts'
import {
  balanceRow, bucketRow, get, getI64, marginAccountRow, marginTotalRow, positionRow, scalar, set, setI64, totalRow,
} from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { createBench, type Bench } from './naive_compare.ts'
import { decodeEvent } from './naive_events.ts'
import { HOUR_0 } from './perp_stage.ts'
import { genesisText, perpPair, type PairSpec, type PerpSpec } from './variants.ts'

const USD = 0
export const DOLLAR = 1_000_000n
export const [BTC, ETH] = [0, 1]

export interface Given {
  pair?: number
  /** Signed. */
  lots: number
  price: number
  /** Dollars that its bucket has; of a cross bucket that is there already: more of them. */
  collateral: number
  cross?: boolean
  /** Hundredths. */
  leverage?: number
}

export interface Ran {
  commands: number
  events: Decoded[]
  /** LIQUIDATION events as text: who, status, lots at price. */
  told: string[]
}

export class LiquidationStage {
  /** Its genesis. */
  readonly text: string
  readonly bench: Bench
  time = HOUR_0 + 5000
  private readonly sessions = new Map<string, Decoded>()
  private readonly names = new Map<number, string>()
  private readonly batch = viewsOf(new ArrayBuffer(256 * RECORD_BYTES))
  private readonly timers = createTimers().liquidation
  /** Whether every command is followed by {@link check}. */
  checks = true

  /** `rules`: those of its genesis, absent: the newest. */
  constructor(perp: Partial<PerpSpec> = {}, limits: Record<string, number> = {}, pair: Partial<PairSpec> = {}, rules?: number) {
    const units = { tickSize: '1', lotSize: '1', minOrderSize: '1', maxOrderSize: '10000', ...pair }
    const terms = { referencePrice: '1000', maxPositionSize: '1000' }
    this.text = genesisText({
      ...(rules === undefined ? {} : { rules }),
      limits: { priceTicks: 65_536, accounts: 256, marginAccounts: 256, riskBuckets: 512, positions: 512, ...limits }, dailyLimit: 5,
      assets: [['USD', 6, '1000000'], ['BTC', 8, '1000'], ['ETH', 8, '1000']],
      pairs: ['BTC/USD-PERP', 'ETH/USD-PERP'].map((symbol) => perpPair(symbol, { ...terms, ...perp }, units)),
    })
    this.bench = createBench(this.text)
    for (const pair of [BTC, ETH]) this.price(pair, 1000)
    this.names.set(scalar(this.state, SCALAR.FUND) - 1, 'fund')
  }

  get state(): State {
    return this.bench.state
  }

  /** Every event of one command. */
  events(type: CommandType, values: Decoded, lane = 0): Decoded[] {
    const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, 1, lane) })
    const count = this.bench.run(command, 0, this.time)
    this.check()
    return Array.from({ length: count }, (_, record) => decodeEvent(this.bench.said, record * RECORD_WORDS))
  }

  /** The answer, which must be that it was done. */
  send(type: CommandType, values: Decoded, lane = 0): Decoded {
    const said = this.events(type, values, lane).findLast(({ event }) => String(event).startsWith('RESULT'))!
    if (said['code'] !== 0) throw new Error(`${said['event']}: ${refusalByNumber(Number(said['code'])).code}`)
    return said
  }

  price(pair: number, price: number): void {
    this.send(CommandType.SET_INDEX_PRICE, { pair, price, source: 0, force: 1, observedAt: this.time })
  }

  /** The account of a wallet, which signs in first; `...@two`: with the second application. */
  account(name: string): number {
    const known = this.sessions.get(name)
    if (known !== undefined) return Number(known['account'])
    const hex = Buffer.from(name).toString('hex')
    const who = { address: hex.padEnd(40, '0'), publicKey: hex.padEnd(64, '0') }
    const said = this.send(CommandType.OPEN_SESSION, { ...who, application: name.endsWith('@two') ? 1 : 0 }, 1)
    this.sessions.set(name, said)
    this.names.set(Number(said['account']), name)
    this.send(CommandType.MINT, { ...this.signed(name), asset: USD }, 1)
    return Number(said['account'])
  }

  /** What a command of the wallet begins with. */
  signed(name: string): Decoded {
    this.account(name)
    const { detail, detail2 } = this.sessions.get(name)!
    return { session: detail!, sessionGeneration: detail2! }
  }

  /** Moves dollars of the wallet into its parent margin account. */
  deposit(name: string, dollars: number): void {
    const account = this.account(name)
    this.depositOf(account, BigInt(dollars) * DOLLAR)
  }

  private depositOf(account: number, atoms: bigint): void {
    const margin = makeParent(this.state, account)
    const wallet = balanceRow(this.state, account, USD)
    setI64(this.state, wallet, BALANCE.AVAILABLE, getI64(this.state, wallet, BALANCE.AVAILABLE) - atoms)
    setI64(this.state, margin, MARGIN_ACCOUNT.DEPOSITED, getI64(this.state, margin, MARGIN_ACCOUNT.DEPOSITED) + atoms)
  }

  /** Gives positions, whose lots are 0 together for each pair: by name. */
  give(positions: Readonly<Record<string, Given>>): void {
    for (const who of Object.keys(positions)) this.account(who.split(' ')[0]!)
    for (const [who, given] of Object.entries(positions)) this.giveOne(who.split(' ')[0]!, given)
    this.check()
  }

  private giveOne(name: string, { pair = BTC, lots, price, collateral, cross = false, leverage = 1000 }: Given): void {
    const { state } = this
    const account = this.account(name)
    const margin = makeParent(state, account)
    const mode = cross ? MarginMode.CROSS : MarginMode.ISOLATED
    let bucket = findBucket(state, margin, mode, pair, 0, 0)
    if (bucket < 0) bucket = makeBucket(state, margin, mode, pair, 0, 0)
    const atoms = BigInt(collateral) * DOLLAR
    this.depositOf(account, atoms)
    setI64(state, margin, MARGIN_ACCOUNT.EARMARKED, getI64(state, margin, MARGIN_ACCOUNT.EARMARKED) + atoms)
    setI64(state, bucket, RISK_BUCKET.ALLOCATED, getI64(state, bucket, RISK_BUCKET.ALLOCATED) + atoms)
    const position = makePosition(state, bucket, pair)
    set(state, position, POSITION.LEVERAGE, leverage)
    state.registers[R.FILL_FEE] = 0n
    changeLots(state, position, lots, price, 0)
    armBucket(state, bucket)
    state.outbox.count = 0
  }

  /** Gives the fund so many dollars of fee income. */
  fund(dollars: number): void {
    const atoms = BigInt(dollars) * DOLLAR
    const total = totalRow(this.state, USD)
    for (const field of [TOTAL.ISSUED, TOTAL.FEES]) setI64(this.state, total, field, getI64(this.state, total, field) + atoms)
    this.send(CommandType.FUND_INSURANCE, { amount: atoms })
  }

  /** Settlement of a pair begins. */
  settle(pair: number, price: number): void {
    this.send(CommandType.SET_PERP, { pair, setting: PerpSetting.MODE, value: PerpMode.SETTLING, price })
  }

  /** A LIMIT order of a wallet that has enough margin: positive lots buy. */
  order(name: string, lots: number, price: number, over: Decoded = {}, pair = BTC): Decoded {
    return this.send(CommandType.PLACE_ORDER, this.orderOf(name, lots, price, over, pair), 1)
  }

  /** The same on the first pair; every event of it. */
  orderEvents(name: string, lots: number, price: number): Decoded[] {
    return this.events(CommandType.PLACE_ORDER, this.orderOf(name, lots, price, {}, BTC), 1)
  }

  private orderOf(name: string, lots: number, price: number, over: Decoded, pair: number): Decoded {
    const flags = Flag.MARGIN | (lots < 0 ? Flag.SELL : 0) | Number(over['flags'] ?? 0)
    return { ...this.signed(name), pair, price, lots: Math.abs(lots), leverage: 200, ...over, flags }
  }

  bucket(name: string, pair = BTC, cross = false): number {
    if (name === 'fund') return fundBucket(this.state)
    return findBucket(this.state, parentOf(this.state, this.account(name)), cross ? MarginMode.CROSS : MarginMode.ISOLATED, pair, 0, 0)
  }

  lots(name: string, pair = BTC, cross = false): number {
    const position = findPosition(this.state, this.bucket(name, pair, cross), pair)
    return position < 0 ? 0 : get(this.state, position, POSITION.LOTS)
  }

  /** Equity of a bucket, atoms. */
  equity(name: string, pair = BTC, cross = false): bigint {
    bucketHealth(this.state, this.bucket(name, pair, cross))
    return this.state.registers[R.EQUITY]!
  }

  stateOf(name: string, pair = BTC, cross = false): string {
    return BUCKET_STATE_NAMES[get(this.state, this.bucket(name, pair, cross), RISK_BUCKET.STATE)]!
  }

  deposited(name: string): bigint {
    const account = name === 'fund' ? scalar(this.state, SCALAR.FUND) - 1 : this.account(name)
    return getI64(this.state, parentOf(this.state, account), MARGIN_ACCOUNT.DEPOSITED)
  }

  get badDebt(): bigint {
    return getI64(this.state, marginTotalRow(this.state, USD), MARGIN_TOTAL.BAD_DEBT)
  }

  /** What the sequencer writes in one turn, applied. */
  turn(): Ran {
    const commands = writeLiquidations(this.timers, this.state, this.time, this.batch, 0, 64)
    const events: Decoded[] = []
    for (let slot = 0; slot < commands; slot++) {
      const count = this.bench.run(this.batch, slot * RECORD_WORDS, this.time)
      for (let record = 0; record < count; record++) events.push(decodeEvent(this.bench.said, record * RECORD_WORDS))
      this.check()
    }
    return { commands, events, told: this.toldBy(events) }
  }

  /** Turns until nothing is written any more; throws after `most` commands. */
  run(most = 1000): Ran {
    const all: Ran = { commands: 0, events: [], told: [] }
    for (let turn = this.turn(); turn.commands > 0; turn = this.turn()) {
      all.commands += turn.commands
      all.events.push(...turn.events)
      all.told.push(...turn.told)
      if (all.commands > most) throw new Error(`no end after ${all.commands} commands: ${all.told.slice(-10).join('; ')}`)
    }
    return all
  }

  private toldBy(events: Decoded[]): string[] {
    const what = ({ account, status, lots, price }: Decoded): string => [
      this.names.get(Number(account)), LIQUIDATION_STATUS_NAMES[Number(status)],
      ...(lots === 0 ? [] : [lots]), ...(price === 0 ? [] : ['at', price]),
    ].join(' ')
    return events.filter(({ event }) => event === 'LIQUIDATION').map(what)
  }

  /** Money and lots add up, buckets and their margin accounts agree, the list holds whom it should. */
  check(): void {
    if (!this.checks) return
    const { state } = this
    checkInvariants(state)
    const sums = { money: 0n, owed: 0n }
    const lots = [0, 0]
    for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
      const wallet = balanceRow(state, account, USD)
      sums.money += getI64(state, wallet, BALANCE.AVAILABLE) + getI64(state, wallet, BALANCE.LOCKED)
    }
    for (let margin = 0; margin < scalar(state, SCALAR.MARGIN_ACCOUNTS_USED); margin++) {
      sums.money += getI64(state, marginAccountRow(state, margin), MARGIN_ACCOUNT.DEPOSITED)
    }
    for (let row = 0; row < scalar(state, SCALAR.POSITIONS_USED); row++) {
      const position = positionRow(state, row)
      sums.money -= getI64(state, position, POSITION.COST)
      lots[get(state, position, POSITION.PAIR)]! += get(state, position, POSITION.LOTS)
    }
    const listed = new Set<number>()
    for (let bucket = nextListed(state, -1); bucket >= 0; bucket = nextListed(state, bucket)) listed.add(bucket)
    if (listed.size !== scalar(state, SCALAR.LIQUIDATIONS)) throw new Error('the list is counted wrongly')
    for (let row = 0; row < scalar(state, SCALAR.BUCKETS_USED); row++) {
      const bucket = bucketRow(state, row)
      const realized = getI64(state, bucket, RISK_BUCKET.REALIZED)
      sums.money += realized
      const now = get(state, bucket, RISK_BUCKET.STATE)
      const owes = now === BucketState.BAD_DEBT
      const equity = realized + getI64(state, bucket, RISK_BUCKET.ALLOCATED)
      // The fund's may have been paid, and not been looked at since.
      if (owes && equity < 0n) sums.owed -= equity
      if ((owes || now === BucketState.LIQUIDATING) && !listed.has(bucket)) throw new Error(`bucket ${row} is in no list`)
    }
    const total = totalRow(state, USD)
    sums.money += getI64(state, total, TOTAL.FEES) + getI64(state, marginTotalRow(state, USD), MARGIN_TOTAL.FUNDING_POOL)
    if (sums.money !== getI64(state, total, TOTAL.ISSUED)) throw new Error(`I1: ${sums.money} atoms`)
    if (sums.owed !== this.badDebt) throw new Error(`bad debt: ${sums.owed}, told ${this.badDebt}`)
    if (lots.some((sum) => sum !== 0)) throw new Error(`I4: lots ${lots.join(', ')}`)
  }
}
