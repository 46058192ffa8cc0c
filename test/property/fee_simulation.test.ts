/**
 * Promise: a fee simulation says exactly what the order is charged when it is placed next, taker part and whole, whatever the book,
 * the caller's tier and the rounding.
 *
 * A random workload runs through the engine; before each order it is simulated as the gateway would. The taker part is held against
 * the RESULT of the order, the total against the last fill of the orders that rest and fill later.
 */
import t, { type Test } from 'tap'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import {
  CommandType, Flag, kindOf, MINT_COMMAND, OPEN_SESSION_COMMAND, ORDER_COMMAND, typeOfKind, COMMAND_SLOTS,
} from '../../core/layout/command.ts'
import { EventType, eventTypeOf, FILL, RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { PATH_MAX } from '../../core/view/fill_path.ts'
import { readFillPath } from '../../core/view/fill_path.ts'
import type { Books } from '../../gateway/bridge/books.ts'
import type { Gateway } from '../../gateway/context.ts'
import { Refused } from '../../gateway/refused.ts'
import { amountText, priceText, quantityText } from '../../gateway/operations/amounts.ts'
import { SimulateFees } from '../../gateway/operations/fees.ts'
import type { Call } from '../../gateway/operations/operation.ts'
import { createBench, type Bench } from '../support/naive_compare.ts'
import { genesisText, VARIANTS, type VariantSpec } from '../support/variants.ts'
import { Workload } from '../support/workload.ts'

const COMMANDS = Number(process.env['COMMANDS'] ?? 12_000)
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const C = ORDER_COMMAND.at

type Output = Parameters<Parameters<typeof SimulateFees.run>[1]['answer']>[0]

/** What of a gateway the simulation needs. */
function gatewayOf({ state }: Bench, now: () => number): Gateway {
  const { genesis } = state
  const pairs = new Map(genesis.pairs.map((pair) => [pair.id, pair]))
  const gate = new Int32Array(new SharedArrayBuffer(64))
  const books: Pick<Books, 'path'> = { path: (incoming, now, done) => done(readFillPath(state, gate, incoming, now)!) }
  return { genesis, state, pairs, books, now, time: now, gate } as unknown as Gateway
}

function simulate(gateway: Gateway, account: number, input: object): Output | Refused {
  let said: Output | Refused | null = null
  const hear = (value: Output | Refused): void => {
    said = value
  }
  SimulateFees.run(gateway, { account, answer: hear, refuse: hear } as unknown as Call<Output>, input as never)
  return said!
}

/** The order in the record as a caller would simulate it; `null` when it is none a simulation can be asked for. */
function inputOf({ genesis }: Gateway, command: Views): object | null {
  const flags = command.i32[C.flags]!
  const pair = genesis.pairs[command.i32[C.pair]!]
  const market = (flags & Flag.MARKET) !== 0
  const other = Flag.IOC | Flag.FOK | (market ? Flag.SLIPPAGE | Flag.POST_ONLY : 0)
  if (typeOfKind(command.u32[0]!) !== CommandType.PLACE_ORDER || pair === undefined || (flags & other) !== 0) return null
  const side = (flags & Flag.SELL) !== 0 ? 'SELL' : 'BUY'
  const quantity = quantityText(pair, command.i32[C.lots]!)
  const order = { tradingPairId: pair.id, side, quantity, orderType: market ? 'MARKET' : 'LIMIT' }
  return market ? order : { ...order, price: priceText(pair, command.i32[C.price]!) }
}

/** Simulates and applies; counts what was compared, and throws at the first difference. */
function compare(variant: string, seed: number, commands: number): { taken: number; rested: number; whole: number; refused: number } {
  const bench = createBench(genesisText(VARIANTS[variant]!))
  const { state } = bench
  const workload = new Workload(seed, state.genesis)
  const gateway = gatewayOf(bench, () => workload.time)
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  /** Resting orders by sequence, with the total that was simulated. */
  const expected = new Map<number, string>()
  const count = { taken: 0, rested: 0, whole: 0, refused: 0 }
  const same = (is: string, should: string, what: string): void => {
    if (is !== should) throw new Error(`${what}: charged ${is}, simulated ${should}; SEED=${seed}, ${variant}`)
  }
  for (let index = 0; index < commands; index++) {
    workload.next(command, 0)
    const input = inputOf(gateway, command)
    const account = state.sessions[command.i32[C.session]! * SESSION_WORDS + SESSION.ACCOUNT] ?? -1
    const simulated = input === null || account < 0 ? null : simulate(gateway, account, input)
    const records = bench.run(command, 0, workload.time)
    for (let base = 0; base < records * RECORD_WORDS; base += RECORD_WORDS) {
      const { i32, f64, i64 } = bench.said
      const fee = (pair: number, at: number): string =>
        amountText(state.genesis.assets[state.genesis.pairs[pair]!.quote]!, i64[(base + at) >>> 1]!)
      const type = eventTypeOf(bench.said.u32[base]!)
      if (type === EventType.FILL && i32[base + FILL.at.makerRemaining] === 0) {
        const total = expected.get(f64[(base + FILL.at.makerSequence) >>> 1]!)
        if (total === undefined) continue
        same(fee(i32[base + FILL.at.pair]!, FILL.at.makerTotalFee), total, `command ${index}, the whole order`)
        count.whole++
      }
      if (type !== EventType.RESULT || simulated === null) continue
      const placed = i32[base + RESULT.at.code] === 0 && (i32[base + RESULT.at.flags]! & Flag.REPEATED) === 0
      if (simulated instanceof Refused) {
        if (placed) throw new Error(`command ${index}: simulation refused with ${simulated.code}, order placed; SEED=${seed}, ${variant}`)
        count.refused++
      } else if (placed) {
        same(fee(i32[base + RESULT.at.pair]!, RESULT.at.fee), simulated.takerFee, `command ${index}, on arrival`)
        if (i32[base + RESULT.at.trades]! > 0) count.taken++
        else count.rested++
        expected.set(f64[(base + RESULT.at.orderSequence) >>> 1]!, simulated.totalFee)
      }
    }
    workload.learn(bench.said, records)
  }
  return count
}

for (const variant of ['market', 'fees', 'tiers', 'tight']) {
  t.test(`${variant}: simulated is charged`, async (t) => {
    const count = { taken: 0, whole: 0, rested: 0 }
    const isEnough = (): boolean =>
      count.taken > COMMANDS / 600 && count.whole > COMMANDS / 2000 && count.rested > COMMANDS / 600
    // A market may dry up early: one in a hundred has few trades.
    for (let seed = SEED; seed < SEED + 4 && !isEnough(); seed++) {
      const { taken, whole, rested } = compare(variant, seed, COMMANDS)
      count.taken += taken
      count.whole += whole
      count.rested += rested
    }
    const said = JSON.stringify(count)
    t.comment(`SEED=${SEED} COMMANDS=${COMMANDS} npm test -- test/property/fee_simulation.test.ts: ${said}`)
    t.ok(isEnough(), `orders that take, that filled whole after they rested, and that only rest: ${said}`)
  })
}

type Send = (type: CommandType, layout: typeof ORDER_COMMAND, values: object) => Views

/** A market of one pair in which `ann` may have as many orders as the walk may visit, and one more. */
function crowd(t: Test): { gateway: Gateway; send: Send } {
  const spec: VariantSpec = { ...VARIANTS['deep']!, rules: 0, limits: { orders: 32_768, openOrdersPerAccount: 32_768, priceTicks: 65_536 } }
  const bench = createBench(genesisText(spec))
  const gateway = gatewayOf(bench, () => 1_700_000_000_000)
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  const send: Send = (type, layout, values) => {
    encode(layout, command, 0, { kind: kindOf(type, 1, 1), ...values })
    const records = bench.run(command, 0, gateway.now())
    const result = (records - 1) * RECORD_WORDS
    if (bench.said.i32[result + RESULT.at.code] !== 0) t.fail(`command ${type}: ${bench.said.i32[result + RESULT.at.code]}`)
    return bench.said
  }
  return { gateway, send }
}

t.test('an order that meets too many others is refused rather than simulated in part', async (t) => {
  const { gateway, send } = crowd(t)
  const sign = (name: string): { session: number; sessionGeneration: number; account: number } => {
    const { i32 } = send(CommandType.OPEN_SESSION, OPEN_SESSION_COMMAND as never, {
      session: -1, application: 0, address: Buffer.from(name).toString('hex').padEnd(40, '0'),
      publicKey: Buffer.from(name).toString('hex').padEnd(64, '0'),
    })
    return { session: i32[RESULT.at.detail]!, sessionGeneration: i32[RESULT.at.detail2]!, account: i32[RESULT.at.account]! }
  }
  const [ann, bob] = [sign('ann'), sign('bob')]
  send(CommandType.MINT, MINT_COMMAND as never, { session: ann.session, sessionGeneration: ann.sessionGeneration, asset: -1 })
  const { session, sessionGeneration } = ann
  for (let i = 0; i <= PATH_MAX; i++) {
    send(CommandType.PLACE_ORDER, ORDER_COMMAND, { session, sessionGeneration, pair: 0, flags: Flag.SELL, price: 1000 + (i % 7), lots: 1 })
  }
  const pair = gateway.genesis.pairs[0]!
  const buy = (lots: number): object => ({ tradingPairId: pair.id, side: 'BUY', orderType: 'MARKET', quantity: quantityText(pair, lots) })
  t.match(simulate(gateway, bob.account, buy(PATH_MAX)), { notional: /^\d/ }, 'as many as may be visited')
  t.match(simulate(gateway, bob.account, buy(PATH_MAX + 1)), { code: 'VALIDATION_ERROR', details: { field: 'quantity' } })
  t.match(simulate(gateway, ann.account, buy(PATH_MAX + 1)), { notional: '0', takerFee: '0', totalFee: '0' }, 'her own order comes first')
})
