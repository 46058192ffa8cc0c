/**
 * Promise: what export tells people of conditional and TWAP orders is what the records have: the engine's numbers can be made again from
 * it, and nothing is told of a leg, a slice or a term that is not there.
 */
import t from 'tap'
import { answerOf } from '../../core/layout/answers.ts'
import { COMMAND_LAYOUTS, CommandType, commandName, Flag, kindOf, Option } from '../../core/layout/command.ts'
import { LEG_FLAG_MASK, LegFlag } from '../../core/layout/conditional.ts'
import { EVENT_LAYOUTS, EventType, eventName } from '../../core/layout/event.ts'
import { IdKind, parseId } from '../../core/layout/ids.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { answerColumns } from '../../core/replay/answer_columns.ts'
import { COMMAND_COLUMNS } from '../../core/replay/command_columns.ts'
import { EVENT_COLUMNS } from '../../core/replay/event_columns.ts'
import type { Column } from '../../core/replay/meanings.ts'
import { Names } from '../../core/replay/names.ts'
import { plain } from '../../core/replay/telling.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { POSITION } from '../../core/state/margin_rows.ts'
import { positionRow, set, setF64 } from '../../core/state/rows.ts'
import { createState } from '../../core/state/state.ts'
import { ANSWER_INVERSES, COMMAND_INVERSES, differences, EVENT_INVERSES, type Inverses, type Told } from '../support/told_records.ts'
import { genesisText, pairSpec, perpPair } from '../support/variants.ts'

const SEED = Number(process.env['SEED'] ?? 9)
const ROUNDS = 300
t.comment(`SEED=${SEED} npm test -- test/unit/export_waiting.test.ts`)

const assets: [string, number, string][] = [['USD', 6, '1'], ['BTC', 8, '1']]
const pairs = [pairSpec('BTC/USD'), perpPair('BTC/USD-PERP')]
const state = createState(parseGenesis(genesisText({ limits: {}, dailyLimit: 2, assets, pairs })))
const names = new Names(state)
const PERP = 1
/** A position of the perpetual, in row 3. */
const [ROW, OPENED] = [3, 4711]
state.scalars[SCALAR.POSITIONS_USED] = ROW + 1
set(state, positionRow(state, ROW), POSITION.PAIR, PERP)
setF64(state, positionRow(state, ROW), POSITION.OPENED_SEQUENCE, OPENED)

/** The record as told, and as its layout has it. */
function toldOf(columns: readonly Column[], layout: Layout, values: Decoded): { told: Told; raw: Told } {
  const views = viewsOf(new ArrayBuffer(3 * RECORD_BYTES))
  encode(layout, views, 0, values)
  const raw = Object.entries(decode(layout, views, 0)).map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value])
  return { told: plain(columns, { views, at: 0, names }), raw: Object.fromEntries(raw) as Told }
}

const random = createPrng(SEED)
const TIME = 1_700_000_000_000
const below = (bound: number): number => random.below(bound)
const maybe = (value: () => number): number => (below(3) === 0 ? 0 : value())
const ticks = (): number => 1 + below(60_000)
const lots = (): number => 1 + below(1_000_000)
const time = (): number => TIME + below(1_000_000_000)
const sequence = (): number => 1 + below(2 ** 30)
const label = (): string => Buffer.from('twap-'.padEnd(1 + below(40), 'x')).toString('hex')

/** Flags of a leg, with what they say is given. */
function flagged(mask: number): { flags: number; slippageBps: number; expiresAt: number } {
  const flags = below(256) & mask
  return {
    flags, slippageBps: (flags & LegFlag.SLIPPAGE) === 0 ? 0 : below(1001), expiresAt: (flags & LegFlag.EXPIRES) === 0 ? 0 : time(),
  }
}
function leg(name: string): Decoded {
  const { flags, slippageBps, expiresAt } = flagged(LEG_FLAG_MASK)
  return {
    [`${name}Trigger`]: ticks(), [`${name}Flags`]: flags, [`${name}Limit`]: maybe(ticks), [`${name}Lots`]: maybe(lots),
    [`${name}SlippageBps`]: slippageBps, [`${name}ExpiresAt`]: expiresAt,
  }
}
function trail(): Decoded {
  const { flags, slippageBps, expiresAt } = flagged(LEG_FLAG_MASK)
  return {
    trailBps: 10 + below(1991), trailFlags: flags, trailActivation: maybe(ticks), trailLots: maybe(lots), trailSlippageBps: slippageBps,
    trailExpiresAt: expiresAt,
  }
}
const legs = (): Decoded =>
  ({ ...(below(2) === 0 ? leg('profit') : {}), ...(below(2) === 0 ? leg('stop') : {}), ...(below(2) === 0 ? trail() : { trailBps: 0 }) })

const margin = (): Decoded => ({
  collateral: BigInt(below(2 ** 30)), namedSequence: maybe(sequence), marginAccount: below(9), bucket: below(9), leverage: below(5000),
  position: below(9),
})
const SLICE = Flag.SELL | Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CROSS | Flag.MASTER_FUNDED | Flag.SLIPPAGE

const COMMANDS: readonly [type: CommandType, values: () => Decoded][] = [
  [CommandType.PLACE_ORDER, () => ({
    pair: PERP, flags: Flag.MARGIN | (below(2) * Flag.SELL), price: ticks(), lots: lots(), options: Option.LEGS | Option.TELL_SELF_TRADE,
    ...legs(),
  })],
  [CommandType.ATTACH_CONDITIONALS, () => ({ position: ROW, openedSequence: OPENED, ...legs() })],
  [CommandType.CANCEL_CONDITIONAL, () => ({ leg: 1 + below(3), createdSequence: sequence() })],
  [CommandType.EXPIRE_CONDITIONAL, () => ({ conditional: below(100), createdSequence: sequence() })],
  [CommandType.TRIGGER_STEP, () => ({ pair: PERP })],
  [CommandType.CREATE_TWAP, () => {
    const flags = random.u32() & SLICE
    const text = below(2) === 0 ? '' : label()
    return {
      pair: below(2), flags, price: maybe(ticks), lots: lots(), slippageBps: (flags & Flag.SLIPPAGE) === 0 ? 0 : below(1001),
      options: below(8), trigger: maybe(ticks), labelLength: text.length / 2, startAt: maybe(time), endAt: maybe(time),
      conditionalExpiry: maybe(time), seed: BigInt(random.u32()) * BigInt(random.u32()) - 2n ** 60n, durationMs: below(604_800_001),
      ...margin(), ...(text === '' ? {} : { label: text.padEnd(80, '0') }),
    }
  }],
  [CommandType.CANCEL_TWAP, () => ({ twap: below(100), createdSequence: sequence() })],
  [CommandType.TWAP_STEP, () => ({ twap: below(100), createdSequence: sequence() })],
]

const head = (): Decoded => ({ sequence: sequence(), time: time(), account: -1, correlation: 5 })
const ANSWERS: readonly [type: CommandType, values: () => Decoded][] = [
  [CommandType.ATTACH_CONDITIONALS, () => ({ ...head(), legs: below(8) << 1 })],
  [CommandType.CANCEL_CONDITIONAL, () => ({ ...head(), pair: below(2) })],
  [CommandType.CREATE_TWAP, () => ({
    ...head(), twap: below(100), slices: lots(), state: 1 + below(2), firstSliceAt: maybe(time), endAt: maybe(time),
  })],
  [CommandType.CANCEL_TWAP, () => ({ ...head(), pair: below(2) })],
]

const codeOf = (): number => maybe(() => Object.values(REFUSALS)[below(40)]!.number)
const EVENTS: readonly [type: number, values: () => Decoded][] = [
  [EventType.CONDITIONAL, () => {
    const { flags, slippageBps, expiresAt } = flagged(0xff)
    const opened = maybe(sequence)
    return {
      account: -1, createdSequence: sequence(), what: (1 + below(3)) | ((1 + below(6)) << 8) | (below(13) << 16), pair: PERP, flags,
      trigger: maybe(ticks), limit: maybe(ticks), lots: maybe(lots), slippageBps, trailBps: maybe(() => 10 + below(1991)),
      activation: maybe(ticks), watermark: maybe(ticks), expiresAt, armedAt: maybe(time), createdAt: time(), orderSequence: maybe(sequence),
      openedSequence: opened, orderSlot: below(1000), position: below(1000), code: codeOf(), ordered: maybe(lots),
    }
  }],
  [EventType.TWAP, () => ({
    account: -1, sequence: sequence(), createdSequence: sequence(), twap: below(100), what: (1 + below(6)) | (below(11) << 8),
    pair: below(2), flags: random.u32() & SLICE, lots: lots(), filled: below(1000), slices: lots(), reached: below(99), placed: below(99),
    childSlot: below(5) - 1, code: codeOf(), startAt: maybe(time), endAt: maybe(time), nextAt: maybe(time),
    filledQuote: BigInt(random.u32()), fee: BigInt(below(1000)) - 500n,
  })],
  [EventType.TWAP_OPENED, () => {
    const text = below(2) === 0 ? '' : label()
    return {
      account: -1, createdSequence: sequence(), twap: below(100), pair: below(2), price: maybe(ticks), slippageBps: below(1001),
      options: below(8), trigger: maybe(ticks), conditionalExpiry: maybe(time), durationMs: below(604_800_001), leverage: below(5000),
      marginAccount: below(9) - 1, bucket: below(9) - 1, namedSequence: maybe(sequence), labelLength: text.length / 2,
      label: text.padEnd(80, '0'),
    }
  }],
  [EventType.CHILD_ORDER, () => ({
    account: -1, orderSequence: sequence(), slot: below(1000), pair: below(2), twap: below(100), twapSequence: sequence(),
  })],
]

/** Headers, what is reserved, and keys of which only the hash stands in the record. */
const UNSAID = [
  'kind', 'correlation', 'session', 'sessionGeneration', 'sequence', 'time', 'reserved', 'profitReserved', 'stopReserved', 'trailReserved',
  'keyLow', 'keyHigh',
]

t.test('the numbers come back from what people are told', async (t) => {
  const check = (name: string, inverses: Inverses, columns: readonly Column[], layout: Layout, values: () => Decoded): void => {
    const wrong: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const { told, raw } = toldOf(columns, layout, values())
      wrong.push(...differences(inverses, told, raw, state.genesis))
    }
    t.strictSame(wrong.slice(0, 10), [], name)
    const isNew = (field: string): boolean => layout.name !== 'order' || layout.at[field]! >= 2 * RECORD_WORDS
    const unsaid = Object.keys(layout.fields).filter((field) => isNew(field) && !(field in inverses) && !UNSAID.includes(field))
    t.strictSame(unsaid, [], `${name}: nothing is left out`)
  }
  for (const [type, values] of COMMANDS) {
    const layout = COMMAND_LAYOUTS[type]!
    const name = commandName(type)
    const record = (): Decoded => ({ kind: kindOf(type, 1, 1), session: -1, ...values() })
    check(name, COMMAND_INVERSES[name]!, COMMAND_COLUMNS[type], layout, record)
  }
  for (const [type, values] of ANSWERS) {
    const name = commandName(type)
    const kind = EventType.RESULT | (type << 8)
    check(`${name} answered`, ANSWER_INVERSES[name]!, answerColumns(type, 0), answerOf(type, 0), () => ({ ...values(), kind }))
  }
  for (const [type, values] of EVENTS) {
    const name = eventName(type)
    check(name, EVENT_INVERSES[name]!, EVENT_COLUMNS[type]!, EVENT_LAYOUTS[type]!, () => ({ kind: type, ...values() }))
  }
})
const asked = (type: CommandType, values: Decoded): Told =>
  toldOf(COMMAND_COLUMNS[type], COMMAND_LAYOUTS[type]!, { kind: kindOf(type, 1, 1), session: -1, ...values }).told

t.test('nothing is told of legs that are not there', async (t) => {
  const isOfLeg = (name: string): boolean => /^(takeProfit|stopLoss|trailingStop)/.test(name)
  const order = { pair: PERP, price: 7, lots: 1 }
  const plainOrder = asked(CommandType.PLACE_ORDER, { ...order, key: '11', options: Option.KEYED })
  t.strictSame(Object.keys(plainOrder).filter(isOfLeg), [])
  const stopped = asked(CommandType.PLACE_ORDER, { ...order, options: Option.LEGS, stopTrigger: 5 })
  t.match(stopped, { options: 'LEGS', stopLossTriggerPrice: /./ })
  t.strictSame(Object.keys(stopped).filter(isOfLeg), ['stopLossTriggerPrice'])
  const trailed = asked(CommandType.ATTACH_CONDITIONALS, { position: ROW, openedSequence: OPENED, trailBps: 250, trailLots: 3 })
  t.match(trailed, { pair: 'BTC/USD-PERP', trailingStopBps: 250, trailingStopQuantity: /./ })
  const gone = asked(CommandType.ATTACH_CONDITIONALS, { position: ROW, openedSequence: OPENED + 1, trailBps: 250, trailLots: 3 })
  t.notOk('pair' in gone || 'trailingStopQuantity' in gone, 'of a position that is not open nobody knows the pair')
  t.match(parseId(IdKind.POSITION, gone['positionId'] as string), { sequence: OPENED + 1, slot: ROW })
})

t.test('flags and options have their names', async (t) => {
  const bits = { flags: Flag.MARGIN | Flag.LEGS, options: Option.LEGS | Option.TELL_SELF_TRADE }
  const order = asked(CommandType.PLACE_ORDER, { pair: PERP, price: 7, lots: 1, trailBps: 10, ...bits })
  t.match(order, { flags: 'MARGIN|LEGS', options: 'TELL_SELF_TRADE|LEGS' })
  const flags = LegFlag.SELL | LegFlag.LIMIT | LegFlag.IOC | LegFlag.ABOVE | LegFlag.OCO
  const values = { kind: EventType.CONDITIONAL, createdSequence: 77, what: 0x040601, pair: PERP, flags, code: 441 }
  const said = (more: Decoded): Told =>
    toldOf(EVENT_COLUMNS[EventType.CONDITIONAL]!, EVENT_LAYOUTS[EventType.CONDITIONAL]!, { ...values, ...more }).told
  const told = said({})
  t.match(told, {
    side: 'SELL', flags: 'LIMIT|IOC|ABOVE|OCO', conditionType: 'TAKE_PROFIT', state: 'FAILED', reason: 'FAILED',
    refusal: 'INVALID_TRIGGER_PRICE',
  })
  t.match(parseId(IdKind.OCO_GROUP, told['ocoGroupId'] as string), { sequence: 77, slot: 0 })
  const alone = said({ flags: 0, code: 0 })
  t.notOk('ocoGroupId' in alone || 'refusal' in alone)
})
