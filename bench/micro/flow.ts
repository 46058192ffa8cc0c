/**
 * Order flow for the core benches: command records made beforehand, so that only the engine is timed.
 *
 * `mixed`: 64 % new orders, 36 % cancels of random live orders; about 27 % of the commands fill something; prices cluster around a
 * slowly moving middle, 25 to a level or more. The live population is held near its target by the size of the orders that take and by
 * the cancels. The generator drives an engine of its own to learn slots and sequences; the timed engine starts from the same state
 * and gets the same records.
 *
 * With a perpetual, every other command is one of the same kind on it: orders of isolated buckets at a leverage of 10.
 */
import { COMMAND_LAYOUTS, CommandType, Flag, kindOf, ORDER_COMMAND } from '../../core/layout/command.ts'
import { CollateralMove } from '../../core/layout/margin.ts'
import { answeredTypeOf, EventType, eventTypeOf, FILL, ORDER_ENDED, RESULT, Status } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { apply, setTime } from '../../core/engine/apply.ts'
import { balanceRow, getI64, setI64, totalRow } from '../../core/state/rows.ts'
import {
  BALANCE, CLOCK, NO_ASK, ORDER, ORDER_WORDS, PAIR, PAIR_WORDS, SESSION, SESSION_WORDS, TOTAL,
} from '../../core/state/columns.ts'
import { parseGenesis, type Genesis } from '../../core/state/genesis.ts'
import { RULES } from '../../core/state/rules.ts'
import { createState, type State } from '../../core/state/state.ts'
import { warm } from '../../core/engine/warm.ts'
import { keepAccount } from '../../core/state/blank_list.ts'

export interface Flow {
  readonly genesis: Genesis
  readonly accounts: number
  /** Records that build the starting population, then the records to time. */
  readonly build: number
  readonly timed: number
  readonly records: Views
}

export const START_TIME = Date.UTC(2026, 0, 1)
const FUNDS = 1_000_000_000_000_000n

/** Order rows for `live` resting orders. */
export const poolOf = (live: number): number => 2 ** Math.ceil(Math.log2(live * 2))

const MARKET = {
  base: 'BTC', quote: 'USDC', tickSize: '0.1', lotSize: '0.0001', minOrderSize: '0.0001', maxOrderSize: '100000', minNotional: '0',
  makerFeeBps: '-0.5', takerFeeBps: '5',
}
export const PERPETUAL = {
  ...MARKET, id: 'm', symbol: 'BTC/USDC-PERP',
  perp: {
    maxPositionSize: '100000', liquidationFeeBps: '50', fundingIntervalSeconds: 28_800, maxFundingRate: '0.0075', referencePrice: '10000',
    riskTiers: [
      { maintenanceMarginRatio: '0.005', maxLeverage: '100' },
      { lowerBoundNotional: '1000000', maintenanceMarginRatio: '0.01', maxLeverage: '50' },
      { lowerBoundNotional: '100000000', maintenanceMarginRatio: '0.05', maxLeverage: '10' },
    ],
  },
}

/**
 * A genesis with one pair, a maker rebate and a taker fee, and room for the flow; with `perpetual`, one of those besides. `more`: limits
 * that the flow does not need.
 */
export function benchGenesis(orders: number, accounts: number, perpetual = false, more: Readonly<Record<string, number>> = {}): Genesis {
  return parseGenesis(JSON.stringify({
    name: 'bench', chainId: 1328, rules: RULES,
    limits: {
      orders, accounts, sessions: accounts, receipts: 1024, openOrdersPerAccount: 1_000_000, priceTicks: 1 << 20,
      sessionLifetimeMs: 86_400_000, receiptLifetimeMs: 86_400_000, orderLifetimeMs: 7_776_000_000, ...more,
    },
    faucet: { dailyLimit: 5 },
    assets: [
      { id: 'q', symbol: 'USDC', token: '0x1', decimals: 6, scale: 6, faucetAmount: '1' },
      { id: 'b', symbol: 'BTC', token: '0x2', decimals: 8, scale: 8, faucetAmount: '1' },
    ],
    pairs: [{ ...MARKET, id: 'p', symbol: 'BTC/USDC', marketType: 'SPOT' }, ...(perpetual ? [PERPETUAL] : [])],
    applications: [{ id: 'a', name: 'bench', clientId: 'bench' }],
  }))
}

/** A state with `accounts` funded accounts, each with session row = account. */
export function fundedState(genesis: Genesis, accounts: number): State {
  const state = createState(genesis)
  setTime(state, START_TIME)
  const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
  for (let account = 0; account < accounts; account++) {
    const hex = (account + 1).toString(16)
    encode(COMMAND_LAYOUTS[CommandType.OPEN_SESSION]!, record, 0, {
      kind: kindOf(CommandType.OPEN_SESSION, 1, 1), session: -1, address: hex.padStart(40, '0'), publicKey: hex.padStart(64, '0'),
    })
    apply(state, record, 0)
    state.outbox.count = 0
    keepAccount(state, account)
    for (const asset of [0, 1]) {
      setI64(state, balanceRow(state, account, asset), BALANCE.AVAILABLE, FUNDS)
      setI64(state, totalRow(state, asset), TOTAL.ISSUED, getI64(state, totalRow(state, asset), TOTAL.ISSUED) + FUNDS)
    }
  }
  if (genesis.limits.perps > 0) depositAll(state, accounts, record)
  return state
}

/** Half of what everybody has is collateral, and the perpetual has a price. */
function depositAll(state: State, accounts: number, record: Views): void {
  const send = (type: number, gateway: number, values: Decoded): void => {
    encode(COMMAND_LAYOUTS[type]!, record, 0, { kind: kindOf(type, 1, gateway), ...values })
    apply(state, record, 0)
    const at = (state.outbox.count - 1) * RECORD_WORDS
    if (state.outbox.i32[at + RESULT.at.code] !== 0) throw new Error(`refused: ${state.outbox.i32[at + RESULT.at.code]}`)
    state.outbox.count = 0
  }
  send(CommandType.SET_INDEX_PRICE, 0, { session: -1, pair: PERPETUAL_PAIR, price: MIDDLE, observedAt: START_TIME })
  for (let account = 0; account < accounts; account++) {
    const sessionGeneration = state.sessions[account * SESSION_WORDS + SESSION.GENERATION]!
    const move = { session: account, sessionGeneration, move: CollateralMove.DEPOSIT, marginAccount: -1, bucket: -1, amount: FUNDS / 2n }
    send(CommandType.MOVE_COLLATERAL, 1, move)
  }
}

/** Makes a flow of `timed` commands over a population of `live` orders; `prepare` is what a state gets between funds and flow. */
export function mixedFlow(
  live: number, accounts: number, timed: number, seed: number, perpetual = false, prepare: (state: State) => void = () => {},
): Flow {
  const genesis = benchGenesis(poolOf(live), accounts, perpetual)
  const state = fundedState(genesis, accounts)
  prepare(state)
  const build = live
  const records = viewsOf(new SharedArrayBuffer((build + timed) * RECORD_BYTES))
  const random = createPrng(seed)
  const markets = perpetual ? [SPOT, MARGIN] : [SPOT]
  const makers = markets.map((market) => new FlowMaker(state, records, random, accounts, live / markets.length, market))
  const makerOf = (index: number): FlowMaker => makers[index % makers.length]!
  for (let i = 0; i < build; i++) makerOf(i).place(i, false)
  for (let i = build; i < build + timed; i++) makerOf(i).next(i)
  return { genesis, accounts, build, timed, records }
}

/** One command in so many moves the middle of the market by a tick or not. */
const MIDDLE_MOVES = 64
/** Ticks on either side of the middle (which starts at 100,000) in which orders rest, at most. */
const BAND = 2000
const CANCELS = 0.36
/** Fewer cancels while too few orders rest, more while too many do. */
const SWAY = 0.01
/** Of new orders, so that 27 % of all commands trade. */
const AGGRESSIVE = 0.27 / (1 - CANCELS)

interface Market {
  readonly pair: number
  /** What every order has besides its terms. */
  readonly order: Readonly<Record<string, number>>
  readonly flags: number
}
const SPOT: Market = { pair: 0, order: {}, flags: 0 }
export const PERPETUAL_PAIR = 1
const MARGIN: Market = { pair: PERPETUAL_PAIR, order: { leverage: 1000 }, flags: Flag.MARGIN }
/** Ticks, where both markets begin. */
export const MIDDLE = 100_000

class FlowMaker {
  readonly slots: number[] = []
  readonly sequences: number[] = []
  readonly #place = new Map<number, number>()
  middle = MIDDLE
  readonly state: State
  readonly records: Views
  readonly random: Prng
  readonly accounts: number
  readonly live: number
  readonly market: Market

  constructor(state: State, records: Views, random: Prng, accounts: number, live: number, market: Market) {
    this.state = state
    this.records = records
    this.random = random
    this.accounts = accounts
    this.live = live
    this.market = market
  }

  /** A new order that rests, near the middle more often than far from it, or one that takes from the touch. */
  place(index: number, aggressive: boolean): void {
    const { random, state, market } = this
    const sell = random.below(2)
    const bid = state.pairs[market.pair * PAIR_WORDS + PAIR.BEST_BID]!
    const ask = state.pairs[market.pair * PAIR_WORDS + PAIR.BEST_ASK]!
    const takes = aggressive && (sell ? bid !== 0 : ask !== NO_ASK)
    const away = takes ? random.below(4) : 1 + Math.floor(random.unit() ** 2 * Math.min(BAND, 2 + Math.ceil(this.live / 50)))
    // Small orders take while there are too few resting, large ones while there are too many.
    const largest = takes && this.slots.length < this.live ? 4 : 100
    let price = sell ? Math.max(bid + 1, this.middle + away) : Math.min(ask - 1, this.middle - away)
    if (takes) price = sell ? bid - away : ask + away
    const flags = market.flags | (sell ? Flag.SELL : 0)
    const values = { ...market.order, pair: market.pair, flags, price, lots: 1 + random.below(largest) }
    this.#write(index, CommandType.PLACE_ORDER, random.below(this.accounts), values)
  }

  cancel(index: number): void {
    const at = this.random.below(this.slots.length)
    const slot = this.slots[at]!
    const account = this.state.orders[slot * ORDER_WORDS + ORDER.ACCOUNT]!
    this.#write(index, CommandType.CANCEL_ORDER, account, { targetSlot: slot, targetSequence: this.sequences[at]! })
  }

  next(index: number): void {
    const { random } = this
    if (random.below(MIDDLE_MOVES) === 0) this.middle += random.below(3) - 1
    const cancels = CANCELS + (this.slots.length < this.live ? -SWAY : SWAY)
    if (random.unit() < cancels && this.slots.length > 0) this.cancel(index)
    else this.place(index, random.unit() < AGGRESSIVE)
  }

  #write(index: number, type: number, account: number, values: Record<string, number>): void {
    const { state, records } = this
    const base = index * RECORD_WORDS
    const sessionGeneration = state.sessions[account * SESSION_WORDS + SESSION.GENERATION]!
    const kind = kindOf(type, 1, 1)
    encode(ORDER_COMMAND, records, base, { kind, correlation: index, session: account, sessionGeneration, ...values })
    apply(state, records, base)
    this.#track()
  }

  /** Follows which orders live from the engine's events. */
  #track(): void {
    const { outbox } = this.state
    for (let event = 0; event < outbox.count; event++) {
      const at = event * RECORD_WORDS
      const type = eventTypeOf(outbox.u32[at]!)
      if (type === EventType.FILL && outbox.i32[at + FILL.at.makerRemaining] === 0) this.#drop(outbox.i32[at + FILL.at.makerSlot]!)
      if (type === EventType.ORDER_ENDED) this.#drop(outbox.i32[at + ORDER_ENDED.at.slot]!)
      if (type !== EventType.RESULT) continue
      if (outbox.i32[at + RESULT.at.code] !== 0) throw new Error(`the flow was refused: ${outbox.i32[at + RESULT.at.code]}`)
      const slot = outbox.i32[at + RESULT.at.slot]!
      const status = outbox.i32[at + RESULT.at.outcome]! & 0xff
      if (answeredTypeOf(outbox.u32[at]!) === CommandType.CANCEL_ORDER) this.#drop(slot)
      else if (status === Status.SUBMITTED || status === Status.PARTIALLY_FILLED) this.#add(slot)
    }
    outbox.count = 0
  }

  #add(slot: number): void {
    this.#place.set(slot, this.slots.length)
    this.slots.push(slot)
    this.sequences.push(this.state.clock[CLOCK.SEQUENCE]!)
  }

  #drop(slot: number): void {
    const at = this.#place.get(slot)
    if (at === undefined) return
    this.#place.delete(slot)
    const last = this.slots.length - 1
    if (at !== last) {
      this.slots[at] = this.slots[last]!
      this.sequences[at] = this.sequences[last]!
      this.#place.set(this.slots[at]!, at)
    }
    this.slots.pop()
    this.sequences.pop()
  }
}

/** Commands of one batch: the outbox is emptied after each, as the sequencer does. */
export const BATCH = 256
/** Commands warmed at a time. */
const WARM = 64

/** Applies records `from` to `to` in batches. */
export function applyFlow(state: State, records: Views, from: number, to: number): void {
  const { outbox } = state
  for (let batch = from; batch < to; batch += BATCH) {
    const end = Math.min(to, batch + BATCH)
    for (let next = batch; next < end; next += WARM) {
      const until = Math.min(end, next + WARM)
      warm(state, records, next * RECORD_WORDS, until * RECORD_WORDS)
      for (let at = next * RECORD_WORDS; at < until * RECORD_WORDS; at += RECORD_WORDS) apply(state, records, at)
    }
    outbox.count = 0
  }
}
