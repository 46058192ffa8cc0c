/**
 * Order flow for the core benches: command records made beforehand, so that only the engine is timed.
 *
 * `mixed`: 64 % new orders, 36 % cancels of random live orders; about 27 % of the commands fill something; prices cluster around a
 * slowly moving middle. The live population is held near its target by the cancel rate. The generator drives an engine of its
 * own to learn slots and sequences; the timed engine starts from the same state and gets the same records.
 */
import { COMMAND_LAYOUTS, CommandType, Flag, kindOf, ORDER_COMMAND } from '../../core/layout/command.ts'
import { RESULT, Status } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { apply, setTime } from '../../core/engine/apply.ts'
import { BALANCE, CLOCK, TOTAL, TOTAL_WORDS } from '../../core/engine/columns.ts'
import { parseGenesis, type Genesis } from '../../core/engine/genesis.ts'
import { createState, type State } from '../../core/engine/state.ts'
import { balanceRow } from '../../core/ledger/balances.ts'

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

/** A genesis with one pair, a maker rebate and a taker fee, and room for the flow. */
export function benchGenesis(orders: number, accounts: number): Genesis {
  return parseGenesis(JSON.stringify({
    name: 'bench', chainId: 1328,
    limits: {
      orders, accounts, sessions: accounts, receipts: 1024, openOrdersPerAccount: 1_000_000, priceTicks: 1 << 20,
      sessionLifetimeMs: 86_400_000, receiptLifetimeMs: 86_400_000, orderLifetimeMs: 7_776_000_000,
    },
    faucet: { dailyLimit: 5 },
    assets: [
      { id: 'q', symbol: 'USDC', token: '0x1', decimals: 6, scale: 6, faucetAmount: '1' },
      { id: 'b', symbol: 'BTC', token: '0x2', decimals: 8, scale: 8, faucetAmount: '1' },
    ],
    pairs: [{
      id: 'p', symbol: 'BTC/USDC', base: 'BTC', quote: 'USDC', tickSize: '0.1', lotSize: '0.0001', minOrderSize: '0.0001',
      maxOrderSize: '100000', minNotional: '0', makerFeeBps: '-0.5', takerFeeBps: '5', marketType: 'SPOT',
    }],
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
    for (const asset of [0, 1]) {
      state.balances[balanceRow(state, account, asset) + BALANCE.AVAILABLE] = FUNDS
      state.totals[asset * TOTAL_WORDS + TOTAL.ISSUED]! += FUNDS
    }
  }
  return state
}

/** Makes a flow of `timed` commands over a population of `live` orders. */
export function mixedFlow(live: number, accounts: number, timed: number, seed: number): Flow {
  const genesis = benchGenesis(2 ** Math.ceil(Math.log2(live * 2)), accounts)
  const state = fundedState(genesis, accounts)
  const build = Math.ceil(live * 1.05)
  const records = viewsOf(new SharedArrayBuffer((build + timed) * RECORD_BYTES))
  const maker = new FlowMaker(state, records, createPrng(seed), accounts, live)
  for (let i = 0; i < build; i++) maker.place(i, false)
  for (let i = build; i < build + timed; i++) maker.next(i)
  return { genesis, accounts, build, timed, records }
}

class FlowMaker {
  readonly slots: number[] = []
  readonly sequences: number[] = []
  readonly #place = new Map<number, number>()
  middle = 100_000
  readonly state: State
  readonly records: Views
  readonly random: Prng
  readonly accounts: number
  readonly live: number

  constructor(state: State, records: Views, random: Prng, accounts: number, live: number) {
    this.state = state
    this.records = records
    this.random = random
    this.accounts = accounts
    this.live = live
  }

  /** A new order: near the middle it crosses, otherwise it rests. */
  place(index: number, aggressive: boolean): void {
    const { random } = this
    const sell = random.below(2)
    const spread = 2 + Math.ceil(this.live / 500)
    const away = aggressive ? -random.below(4) : 1 + Math.floor(random.unit() ** 2 * spread)
    this.#write(index, CommandType.PLACE_ORDER, random.below(this.accounts), {
      flags: sell ? Flag.SELL : 0,
      price: sell ? this.middle + away : this.middle - away,
      lots: 1 + random.below(100),
    })
  }

  cancel(index: number): void {
    const at = this.random.below(this.slots.length)
    const slot = this.slots[at]!
    const account = this.state.orders[slot * 16 + 4]!
    this.#write(index, CommandType.CANCEL_ORDER, account, { targetSlot: slot, targetSequence: this.sequences[at]! })
  }

  next(index: number): void {
    const { random } = this
    if (random.below(64) === 0) this.middle += random.below(3) - 1
    const crowd = this.slots.length / this.live
    if (random.unit() < 0.36 * crowd && this.slots.length > 0) this.cancel(index)
    else this.place(index, random.unit() < 0.42)
  }

  #write(index: number, type: number, account: number, values: Record<string, number>): void {
    const { state, records } = this
    const base = index * RECORD_WORDS
    const generation = state.sessions[account * 16 + 1]!
    encode(ORDER_COMMAND, records, base, { kind: kindOf(type, 1, 1), correlation: index, session: account, sessionGeneration: generation, ...values })
    apply(state, records, base)
    this.#track()
  }

  /** Follows which orders live from the engine's events. */
  #track(): void {
    const { outbox } = this.state
    for (let event = 0; event < outbox.count; event++) {
      const at = event * RECORD_WORDS
      const type = outbox.i32[at]! & 0xff
      if (type === 2 && outbox.i32[at + 13] === 0) this.#drop(outbox.i32[at + 12]!)
      if (type === 3) this.#drop(outbox.i32[at + 7]!)
      if (type !== 1 || outbox.i32[at + RESULT.at.code] !== 0) continue
      const status = outbox.i32[at + RESULT.at.outcome]! & 0xff
      if (status === Status.SUBMITTED || status === Status.PARTIALLY_FILLED) this.#add(outbox.i32[at + RESULT.at.slot]!)
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

/** Applies the records that build the starting population. */
export function buildPopulation(state: State, flow: Flow): void {
  for (let i = 0; i < flow.build; i++) {
    apply(state, flow.records, i * RECORD_WORDS)
    if (state.outbox.count > 2048) state.outbox.count = 0
  }
  state.outbox.count = 0
}
