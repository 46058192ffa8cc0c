/**
 * Promise: one command looks at a bounded number of orders, however many an account has and whichever of them it means: mass cancels of
 * users and of the operator, with and without filters, revocations, all-or-nothing orders; and drops a bounded number of receipts. Parts
 * of a mass cancel that follow each other reach every order, and the naive exchange says the same.
 */
import { inWords } from '../support/command_words.ts'
import t, { type Test } from 'tap'
import { CLEARED_MAX, PATH_MAX } from '../../core/book/match.ts'
import { ORDER, ORDER_WORDS, SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import type { State } from '../../core/state/state.ts'
import {
  CANCEL_ACCOUNT_ORDERS_COMMAND, CANCEL_ALL_COMMAND, COMMAND_SLOTS, CommandType, ENTER_ORDER_COMMAND, Flag, kindOf,
  MINT_COMMAND, OPEN_DELEGATED_SESSION_COMMAND, OPEN_SESSION_COMMAND, Option, ORDER_COMMAND, Origin, PairStatus,
  REVOKE_AGENT_COMMAND, SET_PAIR_STATUS_COMMAND, UPSERT_AGENT_COMMAND,
} from '../../core/layout/command.ts'
import { Reason, RESULT, Status } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { LOOKS_MORE } from '../../core/orders/sweep.ts'
import { NaiveExchange } from '../support/naive.ts'
import { benchOf, createBench, type Bench } from '../support/naive_compare.ts'
import { decodeCommand, encodeEvents } from '../support/naive_events.ts'
import { copyStored } from '../support/recording.ts'
import { genesisText, pairSpec } from '../support/variants.ts'

const TIME = 1_700_000_000_000
const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))

/** An engine beside the naive exchange, and how many order rows its last command looked at. */
class Stage {
  readonly bench: Bench
  /** The same engine with nothing counted: sign-ins write by Atomics, which take no proxy of an array. */
  private readonly plain: Bench
  readonly naive: NaiveExchange
  readonly text: string
  looked = 0
  private readonly rows = new Set<number>()
  signed: Decoded = {}
  private created: Decoded = {}
  private readonly t: Test
  private readonly compares: boolean
  time = TIME

  constructor(t: Test, naive = true) {
    this.t = t
    this.compares = naive
    const pairs = [pairSpec('BTC/USD', { minNotional: '0' }), pairSpec('ETH/USD', { minNotional: '0' })]
    this.text = genesisText({
      limits: { orders: 262_144, receipts: 65_536, openOrdersPerAccount: 32_768 }, dailyLimit: 2, pairs,
      assets: [['USD', 6, '100000'], ['BTC', 8, '100'], ['ETH', 9, '10']],
    })
    const { state } = createBench(this.text)
    const { ordersAt } = state
    const last = ordersAt + state.maxOrders * ORDER_WORDS
    const counted = new Proxy(state.i32, {
      get: (words, at) => {
        const word = Number(at)
        const value = Reflect.get(words, at, words) as unknown
        if (word >= ordersAt && word < last) this.rows.add(Math.floor((word - ordersAt) / ORDER_WORDS))
        return typeof value === 'function' ? (value as () => void).bind(words) : value
      },
      set: (words, at, value) => Reflect.set(words, at, value, words),
    })
    this.bench = benchOf({ ...state, i32: counted } as State)
    this.plain = benchOf(state)
    this.naive = new NaiveExchange(state.genesis)
    const said = this.signIn('a')
    this.signed = signedBy(said)
    this.created = { account: said['account']!, createdSequence: said['originalSequence']! }
  }

  /** Signs a wallet in that asks the faucet. */
  signIn(name: string): Decoded {
    const wallet = { session: -1, address: name.repeat(40), publicKey: name.repeat(64) }
    const said = this.send(OPEN_SESSION_COMMAND, CommandType.OPEN_SESSION, wallet)
    this.send(MINT_COMMAND, CommandType.MINT, { ...signedBy(said), asset: -1 })
    return said
  }

  /** Applies a command to both and returns its RESULT, with what both said compared. */
  send(layout: Layout, type: CommandType, values: Decoded, lane = 1): Decoded {
    encode(layout, command, 0, { kind: kindOf(type, 1, lane), ...inWords(type, values) })
    this.rows.clear()
    const bench = type === CommandType.OPEN_SESSION || type === CommandType.OPEN_DELEGATED_SESSION ? this.plain : this.bench
    const count = bench.run(command, 0, this.time)
    this.looked = this.rows.size
    if (this.compares) {
      const expected = encodeEvents(this.naive.apply(decodeCommand(command, 0), this.time))
      const same = Buffer.from(bench.said.bytes.buffer, 0, count * RECORD_BYTES).equals(expected.bytes)
      if (!same) this.t.fail('the naive exchange differs')
    }
    return decode(RESULT, bench.said, (count - 1) * RECORD_WORDS)
  }

  place(pair: number, over: Decoded = {}): Decoded {
    const terms = { pair, flags: 0, price: 100, lots: 1 }
    const said = this.send(ORDER_COMMAND, CommandType.PLACE_ORDER, { ...this.signed, ...terms, ...over })
    if (said['code'] !== 0) throw new Error(`refused: ${String(said['code'])}`)
    return said
  }

  /** Cancels in parts of `limit`; what the parts ended and the most orders that one of them looked at. */
  sweep(pair: number, limit: number, byOperator: boolean): { ended: number[]; most: number } {
    const ended: number[] = []
    let most = 0
    let from: Decoded = {}
    for (let part = 0; part < 200; part++) {
      const values = { pair, limit, ...from }
      const said = byOperator
        ? this.send(CANCEL_ACCOUNT_ORDERS_COMMAND, CommandType.CANCEL_ACCOUNT_ORDERS, { session: -1, ...this.created, ...values }, 0)
        : this.send(CANCEL_ALL_COMMAND, CommandType.CANCEL_ALL, { ...this.signed, ...values })
      ended.push(Number(said['detail']))
      most = Math.max(most, this.looked)
      if (said['detail2'] === 0) return { ended, most }
      from = { fromSlot: said['slot']!, fromSequence: said['orderSequence']! }
    }
    throw new Error('it does not end')
  }

  get resting(): number {
    return this.bench.state.scalars[SCALAR.ORDERS_LIVE]!
  }
}

const signedBy = (said: Decoded): Decoded => ({ session: said['detail']!, sessionGeneration: said['detail2']! })
const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)
/** Rows beside those a command looks at: neighbours in queue and list, the row it goes on from. */
const NEIGHBOURS = 4

t.test('mass cancels', async (t) => {
  const stage = new Stage(t)
  const ways: [string, boolean][] = [['of the owner', false], ['of the operator', true]]
  for (const [whose, byOperator] of ways) {
    for (let order = 0; order < 300; order++) stage.place(0)
    for (let order = 0; order < 1500; order++) stage.place(1)
    const filtered = stage.sweep(0, 10, byOperator)
    t.equal(sum(filtered.ended), 300, `${whose}, of a pair whose orders are the oldest`)
    t.ok(filtered.most <= 10 + LOOKS_MORE + NEIGHBOURS, `looks at ${filtered.most} orders of 1800 at most`)
    t.ok(filtered.ended.length < 6 + 30 + 2, `in ${filtered.ended.length} parts`)
    t.equal(stage.resting, 1500)
    const all = stage.sweep(-1, 128, byOperator)
    t.same(all.ended, [...Array<number>(11).fill(128), 92], `${whose}, all of them`)
    t.ok(all.most <= 128 + LOOKS_MORE + NEIGHBOURS, `${all.most}`)
    t.equal(stage.resting, 0)
  }
})

t.test('none of those that stay is meant', async (t) => {
  const stage = new Stage(t)
  for (let order = 0; order < 1500; order++) stage.place(0)
  stage.send(SET_PAIR_STATUS_COMMAND, CommandType.SET_PAIR_STATUS, { session: -1, pair: 0, status: PairStatus.HALTED }, 0)
  const { ended, most } = stage.sweep(-1, 1, false)
  t.equal(sum(ended), 0, 'on a halted pair')
  t.ok(most <= 1 + LOOKS_MORE + NEIGHBOURS, `${most}`)
  t.equal(sum(stage.sweep(-1, 1000, true).ended), 1500, 'but by the operator')
})

t.test('the order to go on from is gone: it begins anew', async (t) => {
  const stage = new Stage(t)
  stage.place(0)
  for (let order = 0; order < LOOKS_MORE; order++) stage.place(1)
  const cancel = (values: Decoded): Decoded =>
    stage.send(CANCEL_ACCOUNT_ORDERS_COMMAND, CommandType.CANCEL_ACCOUNT_ORDERS, {
      session: -1, account: 0, createdSequence: 1, pair: -1, limit: 1, ...values,
    }, 0)
  const first = cancel({ limit: 255 })
  t.match(first, { detail: 255, detail2: 1 })
  const from = { fromSlot: first['slot']!, fromSequence: first['orderSequence']! }
  t.match(cancel({ ...from, fromSequence: Number(from.fromSequence) + 1 }), { detail: 1, detail2: 1 }, 'another order of that slot')
  t.match(cancel({ ...from, pair: 0 }), { detail: 1, detail2: 0 }, 'it ended with the command before')
  t.equal(stage.bench.state.ordersF64[ORDER.SEQUENCE / 2], 0)
})

t.test('a revocation goes no further than the last order of the agent', async (t) => {
  const stage = new Stage(t)
  const grants = { address: 'dd'.repeat(20), grants: 7, pairs: '03'.padEnd(64, '0') }
  const agent = stage.send(UPSERT_AGENT_COMMAND, CommandType.UPSERT_AGENT, { ...stage.signed, ...grants })
  const values = { session: -1, owner: 'a'.repeat(40), agent: grants.address, publicKey: 'ee'.repeat(32) }
  const byAgent = signedBy(stage.send(OPEN_DELEGATED_SESSION_COMMAND, CommandType.OPEN_DELEGATED_SESSION, values))
  for (let order = 0; order < 1000; order++) stage.place(0)
  for (let order = 0; order < 3; order++) stage.place(0, byAgent)
  const named = { agent: agent['detail']!, createdSequence: agent['originalSequence']! }
  const { detail2: ended } = stage.send(REVOKE_AGENT_COMMAND, CommandType.REVOKE_AGENT, { ...stage.signed, ...named })
  t.equal(ended, 3)
  t.ok(stage.looked <= 3 + NEIGHBOURS, `looks at ${stage.looked} orders of 1003`)
})

t.test('the path of an order that is filled whole or not at all', async (t) => {
  const stage = new Stage(t, false)
  const opened = stage.signIn('c')
  const taker = signedBy(opened)
  const asks = PATH_MAX + 10
  for (let ask = 0; ask < asks; ask++) stage.place(0, { flags: Flag.SELL })
  const ask = (flags: number, lots: number): number =>
    Number(stage.send(ORDER_COMMAND, CommandType.PLACE_ORDER, { ...taker, pair: 0, flags, price: 100, lots })['code'])
  const { ABOVE_MAX_ORDER_SIZE: { number: tooLarge } } = REFUSALS
  for (const flags of [Flag.FOK, Flag.FOK | Flag.CANCEL_BOTH, Flag.MARKET]) {
    t.equal(ask(flags, asks), tooLarge, 'is not looked at beyond its bound')
    t.ok(stage.looked <= PATH_MAX + NEIGHBOURS, `looks at ${stage.looked} orders`)
  }
  const own = { session: -1, account: 1, createdSequence: opened['originalSequence']!, origin: Origin.TWAP }
  const entered = { ...own, pair: 0, flags: Flag.FOK, price: 100, lots: asks }
  t.equal(stage.send(ENTER_ORDER_COMMAND, CommandType.ENTER_ORDER, entered)['code'], tooLarge, 'nor that of an order nobody asked for')
  t.ok(stage.looked <= PATH_MAX + NEIGHBOURS, `looks at ${stage.looked} orders`)
  t.equal(ask(Flag.FOK, 12_000), 0, 'within it, it trades')
  t.equal(ask(Flag.FOK, asks), 0, 'and a path that ends is known')
  t.equal(stage.resting, asks - 12_000)
})

t.test('expired orders at the touch', async (t) => {
  const stage = new Stage(t)
  const taker = signedBy(stage.signIn('c'))
  const over = { flags: Flag.SELL | Flag.EXPIRES, expiresAt: stage.time + 1000 }
  for (let ask = 0; ask < CLEARED_MAX + 100; ask++) stage.place(0, over)
  stage.place(0, { flags: Flag.SELL, price: 101 })
  stage.time += 1000
  const buy = (values: Decoded): Decoded => stage.send(ORDER_COMMAND, CommandType.PLACE_ORDER, { ...taker, pair: 0, lots: 1, ...values })
  t.equal(buy({ flags: 0, price: 99 })['code'], 0, 'who would not meet them rests')
  t.equal(buy({ flags: Flag.POST_ONLY, price: 99 })['code'], 0)
  t.ok(stage.looked < 10, 'and looks at none')
  t.equal(stage.resting, CLEARED_MAX + 103, 'none of them ended for that')
  t.match(buy({ flags: 0, price: 101 }), { code: REFUSALS.OVERLOADED.number }, 'who would is refused when there are too many')
  t.ok(stage.looked <= CLEARED_MAX + NEIGHBOURS, `looked at ${stage.looked}`)
  t.equal(stage.resting, 103, 'and so many ended')
  t.match(buy({ flags: 0, price: 100 }), { code: 0, remaining: 1 }, 'none of the others trades')
  t.equal(stage.resting, 4)
  const { slot: targetSlot, orderSequence: targetSequence } = buy({ flags: 0, price: 98 })
  for (let ask = 0; ask < CLEARED_MAX + 1; ask++) stage.place(1, { ...over, expiresAt: stage.time + 1000 })
  const resting = stage.send(ORDER_COMMAND, CommandType.PLACE_ORDER, { ...taker, pair: 1, lots: 1, price: 90 })
  stage.time += 1000
  const replace = (values: Decoded): Decoded => stage.send(ORDER_COMMAND, CommandType.REPLACE_ORDER, {
    ...taker, options: Option.NEW_PRICE, targetSlot: resting['slot']!, targetSequence: resting['orderSequence']!, ...values,
  })
  t.match(replace({ price: 95, targetSlot: targetSlot!, targetSequence: targetSequence! }), { code: 0 })
  t.match(replace({ price: 100 }), { code: REFUSALS.OVERLOADED.number }, 'a replacement likewise')
  t.match(replace({ price: 100 }), { code: 0, remaining: 1 }, 'which left the original as it was')
  checkInvariants(stage.bench.state)
})

t.test('an order that meets more than so many', async (t) => {
  const stage = new Stage(t, false)
  const taker = signedBy(stage.signIn('c'))
  const asks = PATH_MAX + 10
  for (let ask = 0; ask < asks; ask++) stage.place(0, { flags: Flag.SELL, price: 100 + (ask % 10) })
  const said = stage.send(ORDER_COMMAND, CommandType.PLACE_ORDER, { ...taker, pair: 0, flags: 0, price: 200, lots: asks })
  const outcome = Status.CANCELLED | (Reason.INSUFFICIENT_DEPTH << 8)
  t.match(said, { code: 0, outcome, trades: PATH_MAX, remaining: 10, hold: 0n }, 'what is left of it is cancelled')
  t.ok(stage.looked <= PATH_MAX + NEIGHBOURS, `looked at ${stage.looked}`)
  t.equal(stage.resting, 10)
  checkInvariants(stage.bench.state)
})

t.test('a path that cannot be paid is walked as far as funds go', async (t) => {
  const stage = new Stage(t, false)
  const taker = signedBy(stage.signIn('c'))
  // 100,000 USD, of which 90,000 rest in a bid; an ask costs 60 and the fee.
  stage.place(0, { ...taker, price: 10_000, lots: 900_000 })
  for (let ask = 0; ask < 900; ask++) stage.place(0, { flags: Flag.SELL, price: 60_000, lots: 100 })
  const buy = (flags: number, lots: number): number =>
    Number(stage.send(ORDER_COMMAND, CommandType.PLACE_ORDER, { ...taker, pair: 0, flags, lots })['code'])
  for (const flags of [Flag.MARKET, Flag.MARKET | Flag.FOK]) {
    t.equal(buy(flags, 90_000), REFUSALS.INSUFFICIENT_BALANCE.number)
    t.ok(stage.looked <= 10_000 / 60 + NEIGHBOURS, `looked at ${stage.looked} orders of 900`)
  }
  t.equal(buy(Flag.MARKET | Flag.FOK, 16_500), 0, 'what can be paid is')
})

t.test('receipts that expired together', async (t) => {
  const stage = new Stage(t)
  const key = (number: number): Decoded =>
    ({ flags: Option.KEYED | Flag.IOC, key: number.toString(16).padStart(32, '0'), payload: '00'.repeat(16) })
  const kept = (): number => stage.bench.state.scalars[SCALAR.RECEIPTS_COUNT]!
  for (let number = 1; number <= 3000; number++) stage.place(0, key(number))
  stage.time += 25 * 3_600_000
  stage.signed = signedBy(stage.signIn('a'))
  t.equal(stage.place(0, key(3000))['flags'], Flag.IOC, 'the newest key is free again')
  t.equal(kept(), 3000 - 1024 + 1, 'and so many of the others are dropped with one command')
  checkInvariants(stage.bench.state)
  checkInvariants(copyStored(stage.text, stage.bench.state).state)
  t.equal(stage.place(0, key(3000))['flags'], (Flag.IOC | Flag.REPEATED) >>> 0, 'it is kept again')
  stage.place(0, key(4000))
  stage.place(0, key(4001))
  t.equal(kept(), 3, 'until all are')
  checkInvariants(stage.bench.state)
})
