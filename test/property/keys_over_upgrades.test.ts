/**
 * Promise: an idempotency key that was used before an upgrade still knows its payload after it. The same request once more gets the first
 * answer, another one IDEMPOTENCY_KEY_CONFLICT.
 *
 * test/recorded/keys_flagged.mdb.gz is the journal of an exchange whose gateways hashed records with their flag bits (rules 3). It was
 * written by the requests below and is never made again.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { journalPath } from '../../core/journal/file.ts'
import { CommandType, Flag, ORDER_COMMAND, slotsOfKind, typeOfKind } from '../../core/layout/command.ts'
import { openSource } from '../../core/replay/steps.ts'
import { encodeOrder, encodeTransfer } from '../../gateway/bridge/encode.ts'
import type { OrderTerms, TransferTerms } from '../../gateway/bridge/terms.ts'
import { slotAt, type EngineClient } from '../../gateway/bridge/engine_client.ts'
import type { Gateway } from '../../gateway/context.ts'
import { Refused } from '../../gateway/refused.ts'
import { placeTerms, replaceTerms, type OrderItem, type ReplaceItem } from '../../gateway/operations/order_terms.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, openAccount, postCommand, printed, startMatcher, type Matcher, type Signed } from '../support/journal.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'
import { publish } from '../../core/ring/spsc.ts'
import { viewsOf, type Decoded } from '../../core/layout/table.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { commitOwn } from '../../core/sequencer/loop.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { RULES } from '../../core/state/rules.ts'
import { mayKnowFormerPayloads } from '../../core/view/receipts.ts'
import { createBench } from '../support/naive_compare.ts'

const GENESIS = genesisText({ ...VARIANTS['family']!, rules: 3 })
const FILE = join(import.meta.dirname, '..', 'recorded', 'keys_flagged.mdb.gz')
const PAIR = '00000000-0000-4000-8000-000000002000'
const DAY = 86_400_000

/** Orders as clients send them, each the first of a key, and then in other words that mean the same. */
const ORDERS: readonly (readonly Omit<OrderItem, 'tradingPairId' | 'idempotencyKey'>[])[] = [
  [
    { orderType: 'LIMIT', side: 'BUY', price: '10.50', quantity: '0.10' },
    { orderType: 'LIMIT', side: 'BUY', price: '10.5', quantity: '0.1', timeInForce: 'GTC', postOnly: false, useMasterBalance: false },
    { orderType: 'LIMIT', side: 'BUY', price: '10.500', quantity: '000.1', tradingMode: 'SPOT', selfTradePreventionMode: 'CANCEL_TAKER' },
  ],
  [{ orderType: 'LIMIT', side: 'SELL', price: '20', quantity: '1', postOnly: true, clientOrderId: 'my order' }],
  [{ orderType: 'LIMIT', side: 'SELL', price: '20', quantity: '1', selfTradePreventionMode: 'CANCEL_BOTH' }],
  [{ orderType: 'LIMIT', side: 'BUY', price: '11', quantity: '0.2', expirationDate: '2030-01-01T00:00:00Z' }],
  [{ orderType: 'LIMIT', side: 'BUY', price: '11', quantity: '0.3', timeInForce: 'IOC' }],
  [{ orderType: 'LIMIT', side: 'BUY', price: '12', quantity: '0.4', timeInForce: 'FOK' }],
  [{ orderType: 'MARKET', side: 'SELL', quantity: '0.1', slippageToleranceBps: 50 }],
  [{ orderType: 'MARKET', side: 'BUY', quantity: '0.1' }],
]
/** Replacements of the first order, which rests on, by its successors. */
const REPLACEMENTS: readonly ReplaceItem[] = [
  { price: '10.40' }, { quantity: '0.05' }, { postOnly: true }, { selfTradePreventionMode: 'CANCEL_TAKER' }, { clientOrderId: 'next' },
  { price: '10.30', quantity: '0.2', postOnly: false, useMasterBalance: false, selfTradePreventionMode: 'CANCEL_BOTH' },
]
const TRANSFERS: readonly Omit<TransferTerms, 'subAccount' | 'key'>[] = [
  { asset: 0, toSub: true, amount: 70_000n }, { asset: 0, toSub: false, amount: 5n },
]

/** An exchange, and the gateway whose lane is 1. */
class Stage {
  readonly matcher: Matcher
  readonly gateway: Gateway
  readonly bridge: EngineClient
  signed: Signed = { session: 0, sessionGeneration: 0 }

  constructor(dataDir: string) {
    this.matcher = startMatcher(dataDir, { genesis: GENESIS })
    const { genesis } = this.matcher.sequencer.state
    const pairs = new Map(genesis.pairs.map((pair) => [pair.id, pair]))
    this.gateway = { genesis, pairs, time: () => this.matcher.clock } as unknown as Gateway
    this.bridge = {
      gateway: 1, commands: this.matcher.gateways[1]!.commands, written: 0,
      formerKeys: () => mayKnowFormerPayloads(this.matcher.sequencer.state, this.matcher.clock),
    } as unknown as EngineClient
  }

  /** The answer to what `encode` writes. */
  #answer(encode: (caller: Parameters<typeof encodeOrder>[4]) => void): Decoded {
    const caller = { account: 0, session: this.signed.session, generation: this.signed.sessionGeneration } as never
    encode(caller)
    publish(this.bridge.commands, this.bridge.written)
    this.bridge.written = 0
    this.matcher.turn()
    return answersOf(this.matcher, 1).at(-1)!
  }

  place(key: string, item: (typeof ORDERS)[0][0]): Decoded {
    const terms = placeTerms(this.gateway, 0, { ...item, tradingPairId: PAIR, idempotencyKey: key })
    return this.#order(CommandType.PLACE_ORDER, terms)
  }

  replace(key: string, item: ReplaceItem, target: { slot: number; sequence: number }): Decoded {
    const terms = replaceTerms({ ...item, idempotencyKey: key }, this.matcher.sequencer.state.genesis.pairs[0]!)
    return this.#order(CommandType.REPLACE_ORDER, terms, target)
  }

  #order(type: number, terms: OrderTerms | Refused, target = { slot: 0, sequence: 0 }): Decoded {
    if (terms instanceof Refused) throw terms
    const told = { ...terms, targetSlot: target.slot, targetSequence: target.sequence }
    return this.#answer((caller) => encodeOrder(this.bridge, slotAt(this.bridge), type, 5, caller, told))
  }

  transfer(key: string, terms: (typeof TRANSFERS)[0]): Decoded {
    return this.#answer((caller) => encodeTransfer(this.bridge, slotAt(this.bridge), 5, caller, { ...terms, subAccount: 1, key }))
  }
}

const targetOf = (answer: Decoded): { slot: number; sequence: number } =>
  ({ slot: Number(answer['slot']), sequence: Number(answer['orderSequence']) })

/** Makes the journal; with the gateway of this checkout. */
async function record(dataDir: string): Promise<void> {
  const stage = new Stage(dataDir)
  const { matcher } = stage
  stage.signed = openAccount(matcher, 1, 'ann')
  postCommand(matcher, 1, CommandType.CREATE_SUB_ACCOUNT, { ...stage.signed, address: 'ab'.repeat(20), consented: 1 })
  matcher.turn()
  const bob = openAccount(matcher, 2, 'bob')
  for (const [flags, price] of [[Flag.SELL, 1200], [0, 900]] as const) {
    postCommand(matcher, 2, CommandType.PLACE_ORDER, { ...bob, pair: 0, flags, price, lots: 30 })
  }
  matcher.turn()
  answersOf(matcher, 1)
  const made = [...ORDERS.map(([item], index) => stage.place(`order ${index}`, item!))]
  let target = targetOf(made[0]!)
  for (const [index, item] of REPLACEMENTS.entries()) {
    made.push(stage.replace(`replace ${index}`, item, target))
    target = targetOf(made.at(-1)!)
  }
  for (const [index, terms] of TRANSFERS.entries()) made.push(stage.transfer(`transfer ${index}`, terms))
  t.same(made.map(({ code }) => code), made.map(() => 0), 'all are accepted')
  await matcher.database.close()
}

/** The answers that the journal's keyed commands had, in their order. */
async function firstAnswers(dataDir: string): Promise<Decoded[]> {
  const answers: Decoded[] = []
  const { database, steps } = openSource(dataDir)
  for (const { command, events } of steps) {
    const words = viewsOf(Uint8Array.from(command).buffer)
    const keyed = slotsOfKind(words.u32[0]!) === 2 && words.i32[ORDER_COMMAND.at.key] !== 0
    if (keyed && typeOfKind(words.u32[0]!) !== CommandType.GENESIS) answers.push(printed(viewsOf(Uint8Array.from(events).buffer)).at(-1)!)
  }
  await database.close()
  return answers
}

/** What the answer to a repeated key has in common with the first one. */
function told({ correlation: _correlation, kind: _kind, sequence: _sequence, time: _time, flags, ...rest }: Decoded): Decoded {
  return { ...rest, flags: (Number(flags) & ~Flag.REPEATED) >>> 0 }
}

/** The recorded exchange, `ms` of sequenced time after its last command, with the rules of today in force. */
async function upgraded(t: Test, ms: number): Promise<{ stage: Stage; first: Decoded[] }> {
  const dataDir = temporaryDirectory()
  mkdirSync(journalPath(dataDir), { recursive: true })
  writeFileSync(join(journalPath(dataDir), 'data.mdb'), gunzipSync(readFileSync(FILE)))
  const first = await firstAnswers(dataDir)
  t.equal(first.length, ORDERS.length + REPLACEMENTS.length + TRANSFERS.length)
  const stage = new Stage(dataDir)
  const { matcher } = stage
  t.teardown(async () => {
    await matcher.database.close()
    removeDirectory(dataDir)
  })
  const { clock } = matcher.sequencer.state
  const last = clock[CLOCK.TIME]!
  matcher.clock = last
  commitOwn(matcher.sequencer, CommandType.SET_RULES, { rules: RULES })
  t.equal(clock[CLOCK.FORMS_AT], clock[CLOCK.TIME])
  matcher.clock = Math.max(clock[CLOCK.TIME]!, last + ms)
  stage.signed = openAccount(matcher, 1, 'ann')
  return { stage, first }
}

/** Asks for everything once more, in all its words, and compares the answers. */
function repeatAll(t: Test, stage: Stage, first: readonly Decoded[]): void {
  const same = (answer: Decoded, index: number, name: string): void => {
    t.equal(answer['code'], 0, `${name} is accepted`)
    t.equal(Number(answer['flags']) & Flag.REPEATED, Flag.REPEATED, `${name} is repeated`)
    t.same(told(answer), told(first[index]!), `${name} has its first answer`)
  }
  for (const [index, words] of ORDERS.entries()) {
    for (const item of words) same(stage.place(`order ${index}`, item), index, `order ${index}`)
  }
  for (const [index, item] of REPLACEMENTS.entries()) {
    const at = ORDERS.length + index
    const target = targetOf(index === 0 ? first[0]! : first[at - 1]!)
    same(stage.replace(`replace ${index}`, item, target), at, `replacement ${index}`)
  }
  for (const [index, terms] of TRANSFERS.entries()) {
    same(stage.transfer(`transfer ${index}`, terms), ORDERS.length + REPLACEMENTS.length + index, `transfer ${index}`)
  }
}

if (process.env['RECORD'] === 'keys_flagged') {
  t.test('records', async (t) => {
    const dataDir = temporaryDirectory()
    t.teardown(() => removeDirectory(dataDir))
    t.notOk(existsSync(FILE), 'it is not made again')
    await record(dataDir)
    writeFileSync(FILE, gzipSync(readFileSync(join(journalPath(dataDir), 'data.mdb')), { level: 9 }))
  })
} else {
  t.test('every key of before gives its first answer', async (t) => {
    const { stage, first } = await upgraded(t, 0)
    repeatAll(t, stage, first)
  })

  t.test('for the whole of its day, and no hash of before goes out when that is over', async (t) => {
    const { stage, first } = await upgraded(t, DAY - 1)
    repeatAll(t, stage, first)
    const { matcher, bridge } = stage
    const over = matcher.sequencer.state.clock[CLOCK.FORMS_AT]! + DAY
    matcher.clock = over - 1
    t.ok(bridge.formerKeys())
    matcher.clock = over
    t.notOk(bridge.formerKeys())
    stage.signed = openAccount(matcher, 1, 'ann')
    const again = stage.place('order 1', ORDERS[1]![0]!)
    t.equal(Number(again['flags']) & Flag.REPEATED, 0, 'the key places a new order')
  })

  t.test('another payload is a conflict, also when it has the bits of another request of then', async (t) => {
    const { stage } = await upgraded(t, 0)
    const conflict = REFUSALS.IDEMPOTENCY_KEY_CONFLICT.number
    t.equal(stage.place('order 0', { ...ORDERS[0]![0]!, quantity: '0.11' })['code'], conflict)
    t.equal(stage.place('order 0', ORDERS[1]![0]!)['code'], conflict)
    t.equal(stage.transfer('transfer 0', { ...TRANSFERS[0]!, amount: 1n })['code'], conflict)
  })

  t.test('keys of after the upgrade have the hash of today, and need no other', async (t) => {
    const { stage } = await upgraded(t, 0)
    // ann has her share of the receipts.
    stage.signed = openAccount(stage.matcher, 1, 'bob')
    const item = { orderType: 'LIMIT', side: 'BUY', price: '10', quantity: '1' } as const
    const made = stage.place('new', item)
    t.equal(made['code'], 0)
    stage.matcher.clock += DAY - 1
    stage.signed = openAccount(stage.matcher, 1, 'bob')
    t.match(told(stage.place('new', { ...item, price: '10.0' })), { orderSequence: made['orderSequence']!, code: 0 })
    t.equal(stage.place('new', { ...item, price: '10.1' })['code'], REFUSALS.IDEMPOTENCY_KEY_CONFLICT.number)
  })

  t.test('an exchange that began with these rules never sends the hash of before', async (t) => {
    const { state } = createBench(genesisText(VARIANTS['family']!))
    t.notOk(mayKnowFormerPayloads(state, 1_700_000_000_000))
  })
}
