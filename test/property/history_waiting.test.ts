/**
 * Promise: what the history says of orders that wait is what the exchange told of them. A random life (support/waiting_life.ts) through the
 * real sequencer and its journal, with restarts, and a history that is projected in random pieces beside it: every listing of conditional
 * orders, TWAP orders and slices, by any filter, by page and by cursor, and every single one, are those of plain lists; orders say whose
 * slice they are; slices add up to their TWAP order; what waits is what the engine's rows have; a store of the format before is gone on
 * with; and the rows are the same however the store was written.
 *
 * One run again: SEED=7 npm test -- test/property/history_waiting.test.ts
 */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { createAnswers, type Answers } from '../../core/history/answer/answers.ts'
import type { HistoryOrder, HistoryRequest, HistoryTwapOrder, Queries, QueryName, Walk } from '../../core/history/answer/queries.ts'
import { openProjection, type Projection } from '../../core/history/project/projection.ts'
import { createScrub } from '../../core/history/scrub.ts'
import { OWNER_PAGES, TABLE_NAMES } from '../../core/history/store/layout.ts'
import { openReader, readPosition, writePosition } from '../../core/history/store/store.ts'
import { compareStores } from '../../core/history/store/verify.ts'
import {
  CONDITIONAL_REASON_NAMES, CONDITIONAL_STATE_NAMES, ConditionalState, ConditionType, LegFlag,
} from '../../core/layout/conditional.ts'
import { TWAP_REASON_NAMES, TWAP_STATE_NAMES, TwapState } from '../../core/layout/twap.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { CONDITIONAL, TWAP } from '../../core/state/conditional_rows.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { conditionalRow, get, getF64, twapRow } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { rounds, seedOf } from '../suite/rounds.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { ask, everything } from '../support/history.ts'
import { answerNaively, createNaiveHistory } from '../support/naive_history.ts'
import { PERP, SPOT, WaitingLife } from '../support/waiting_life.ts'

const SEED = seedOf()
/** Parts between two stops of the exchange, each of so many steps. */
const PARTS = rounds({ short: 4, deep: 40 })
const STEPS = 260
const QUIET_STEPS = 60
const QUESTIONS = 150
const ACCOUNTS = 6
const WALK = { limit: 1000, skip: 0, countMost: 0 }
/** Tables that stores of format 7 have. */
const FORMAT_7 = 21
t.setTimeout(3_600_000)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/property/history_waiting.test.ts`)

const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))
const life = new WaitingLife(directory, SEED)
const random = createPrng(SEED + 1)
const naive = createNaiveHistory()
const warnings: string[] = []
const path = (name: string): string => join(directory, `${name}.sqlite`)
const open = (name: string, last = Infinity): Projection =>
  openProjection(directory, path(name), { warn: (text) => warnings.push(text), last })
const pick = <T>(list: readonly T[]): T => list[random.below(list.length)]!
const maybe = <T>(of: number, make: () => T): T | undefined => (random.below(of) === 0 ? make() : undefined)
/** What happened, by name. */
const met = new Map<string, number>()
const meet = (name: string): void => void met.set(name, (met.get(name) ?? 0) + 1)

/** Projects to the end in random transactions, stopped now and then. */
async function inPieces(name: string): Promise<void> {
  for (let more = true; more; ) {
    const projection = open(name)
    for (let steps = random.below(8); steps >= 0 && more; steps--) more = projection.step(1 + random.below(400))
    await projection.close()
  }
}

async function whole(name: string): Promise<void> {
  const projection = open(name)
  while (projection.step(65_536));
  await projection.close()
}

/** Both lists are the same; otherwise the first rows that differ. */
function same(t: Test, found: readonly object[], wanted: readonly object[], what: string): void {
  const at = found.length === wanted.length && isDeepStrictEqual(found, wanted) ? -1
    : wanted.findIndex((row, index) => !isDeepStrictEqual(found[index], row))
  t.strictSame({ rows: found.length, at, row: found[at] }, { rows: wanted.length, at: -1, row: at < 0 ? undefined : wanted[at] }, what)
}

/** Random questions, about what there is and what there is not. */
class Asker {
  readonly naive = naive

  private account = (): number => random.below(ACCOUNTS + 1)

  private walk(position: () => { sequence: number; index: number }): Walk {
    const limit = pick([1, 3, 20, 100, 1000])
    const byPage = random.below(2) === 0
    const after = byPage ? null : (maybe(4, () => null) ?? position())
    return { limit, skip: byPage ? pick([0, 0, 1, limit, 50]) : 0, after, countMost: pick([0, 0, 1, 10, 10_000]) }
  }

  private window(times: readonly { createdAt: number }[]): { from?: number; to?: number } {
    const time = (): number => pick(times).createdAt + pick([0, 0, 1, -1])
    const [from, to] = [maybe(5, time), maybe(5, time)]
    return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
  }

  /** Mostly what there is. */
  private near = (account: number, sequence: number): { account: number; sequence: number } =>
    ({ account: pick([account, account, this.account()]), sequence: sequence + pick([0, 0, 0, 1]) })
  private states = (): number[] | undefined => maybe(2, () => [1 + random.below(6), 1 + random.below(6)])
  private pair = (): number | undefined => maybe(4, () => random.below(3))

  conditionalOrders(): Queries['conditionalOrders']['ask'] {
    const { conditionals } = this.naive
    const near = pick(conditionals)
    const position = { sequence: near.openedSequence, row: near.position }
    return {
      account: pick([near.account, this.account()]), ...this.window(conditionals), states: this.states(), pair: this.pair(),
      ...this.walk(() => ({ sequence: near.createdSequence + pick([0, 0, 1]), index: random.below(5) })),
      kind: maybe(3, () => 1 + random.below(3)), position: maybe(4, () => position),
    } as Queries['conditionalOrders']['ask']
  }

  conditionalOrder(): Queries['conditionalOrder']['ask'] {
    const { account, createdSequence, kind } = pick(this.naive.conditionals)
    return { ...this.near(account, createdSequence), kind: kind + pick([0, 0, 1]) }
  }

  twapOrders(): Queries['twapOrders']['ask'] {
    const { twaps } = this.naive
    const near = pick(twaps)
    return {
      account: pick([near.account, this.account()]), ...this.window(twaps), states: this.states(), pair: this.pair(),
      ...this.walk(() => ({ sequence: near.createdSequence + pick([0, 0, 1]), index: random.below(2) })),
    } as Queries['twapOrders']['ask']
  }

  twapOrder(): Queries['twapOrder']['ask'] {
    const { account, createdSequence, twap } = pick(this.naive.twaps)
    return { ...this.near(account, createdSequence), row: twap + pick([0, 0, 1]) }
  }

  twapSlices(): Queries['twapSlices']['ask'] {
    const traded = this.naive.twaps.filter(({ placed }) => placed > 0)
    const { account, createdSequence, twap } = pick(traded)
    const named = random.below(6) === 0 ? this.twapOrder() : { account, sequence: createdSequence, row: twap }
    const own = this.naive.orders.filter(({ parent }) => parent?.sequence === named.sequence)
    // A slice of it, an order that is none of its slices, or a sequence that no order has.
    const sequence = own.length > 0 && random.below(4) > 0 ? pick(own).sequence : pick(this.naive.orders).sequence + pick([0, 1])
    return { ...named, ascending: random.below(2) === 0, limit: pick([1, 2, 5, 1000]), after: pick([null, { sequence, index: 0 }]) }
  }
}

/** All orders of everybody, as the history lists them. */
const allOrders = (answers: Answers): HistoryOrder[] => Array.from({ length: ACCOUNTS }, (_, account): HistoryOrder[] =>
  everything((after) => ask(answers, 'orders', { ...WALK, account, after }), ({ sequence }) => ({ sequence, index: 0 }))).flat()

function checkListings(t: Test, answers: Answers): void {
  const orders = allOrders(answers)
  life.plain.fill(naive, orders)
  same(t, orders, naive.orders, 'orders say whose slices they are')
  const wrong = Array.from({ length: QUESTIONS }, () => pick(naive.orders))
    .filter((order) => !isDeepStrictEqual(ask(answers, 'order', { account: order.account, sequence: order.sequence }), order))
  t.strictSame(wrong.slice(0, 1), [], 'each by itself, too')
  const { conditionals, twaps } = naive
  for (let account = 0; account <= ACCOUNTS; account++) {
    const sequences = (life.plain.orders.get(account) ?? []).toReversed()
    same(t, orders.filter((order) => order.account === account).map(({ sequence }) => ({ sequence })),
      sequences.map((sequence) => ({ sequence })), `orders of ${account}`)
    const limit = pick([7, 31, 1000])
    const own = conditionals.filter((each) => each.account === account)
      .sort((a, b) => b.createdSequence - a.createdSequence || b.kind - a.kind)
    same(t, everything((after) => ask(answers, 'conditionalOrders', { ...WALK, limit, account, after }),
      ({ createdSequence, kind }) => ({ sequence: createdSequence, index: kind })), own, `conditional orders of ${account}`)
    const mine = twaps.filter((each) => each.account === account).sort((a, b) => b.createdSequence - a.createdSequence)
    same(t, everything((after) => ask(answers, 'twapOrders', { ...WALK, limit, account, after }),
      ({ createdSequence }) => ({ sequence: createdSequence, index: 0 })), mine, `TWAP orders of ${account}`)
    for (const twap of mine) checkSlices(t, answers, orders, twap)
  }
}

/** The slices of one TWAP order in both directions, and what they come to. */
function checkSlices(t: Test, answers: Answers, orders: readonly HistoryOrder[], twap: HistoryTwapOrder): void {
  const { account, createdSequence: sequence, twap: row } = twap
  const list = (ascending: boolean, limit: number): HistoryOrder[] => everything(
    (after) => ask(answers, 'twapSlices', { account, sequence, row, ascending, limit, after })!,
    (order) => ({ sequence: order.sequence, index: 0 }))
  const wanted = orders.filter(({ parent }) => parent?.sequence === sequence && parent.row === row)
  const [down, up] = [list(false, 1 + random.below(4)), list(true, 1000)]
  const isSame = isDeepStrictEqual(down, wanted) && isDeepStrictEqual(up, wanted.toReversed()) && wanted.length === twap.placed
  if (!isSame) t.fail(`slices of ${sequence}/${row}`, { down, up, wanted, placed: twap.placed })
  const sums = wanted.reduce(({ filled, quote, fee }, order) => ({
    filled: filled + order.lots - order.remaining, quote: quote + order.filledQuote, fee: fee + order.fee,
  }), { filled: 0, quote: 0n, fee: 0n })
  // What a resting slice has filled since the last event is told by the next one.
  if (twap.state <= TwapState.ACTIVE) return
  const told = { filled: twap.filled, quote: twap.filledQuote, fee: twap.fee }
  if (!isDeepStrictEqual(sums, told)) t.fail(`slices of ${sequence}/${row} add up`, { sums, told })
}

function checkQuestions(t: Test, answers: Answers): void {
  const asker = new Asker()
  for (const name of ['conditionalOrders', 'conditionalOrder', 'twapOrders', 'twapOrder', 'twapSlices'] as const) {
    let different: unknown = null
    let rows = 0
    for (let number = 0; number < QUESTIONS && different === null; number++) {
      const question = asker[name]()
      const answer = ask(answers, name as QueryName, question as never)
      const wanted = (answerNaively(naive, { id: 1, name, ask: question, atLeast: 0 } as HistoryRequest) as { answer: unknown }).answer
      rows += answer === null ? 0 : 'rows' in answer ? answer.rows.length : 1
      if (!isDeepStrictEqual(answer, wanted)) different = { question, answer, wanted }
    }
    t.equal(different, null, `${QUESTIONS} questions for ${name}`)
    t.ok(rows > QUESTIONS / 5, `${rows} rows were found`)
  }
}

/** What waits: rows of the engine, and what the history has of them. */
function checkEngine(t: Test, answers: Answers, state: State): void {
  const rows: object[] = []
  for (let number = 0; number < state.scalars[SCALAR.CONDITIONALS_USED]!; number++) {
    const row = conditionalRow(state, number)
    const kind = get(state, row, CONDITIONAL.KIND)
    if (kind === 0 || kind === ConditionType.TWAP_START || get(state, row, CONDITIONAL.STATE) === ConditionalState.TRIGGERED) continue
    const trails = kind === ConditionType.TRAILING_STOP
    rows.push({
      account: get(state, row, CONDITIONAL.ACCOUNT), sequence: getF64(state, row, CONDITIONAL.CREATED_SEQUENCE), kind,
      state: get(state, row, CONDITIONAL.STATE), flags: get(state, row, CONDITIONAL.FLAGS), lots: get(state, row, CONDITIONAL.LOTS),
      trigger: get(state, row, CONDITIONAL.TRIGGER), trailBps: trails ? get(state, row, CONDITIONAL.TRAIL_BPS) : 0,
      expiresAt: getF64(state, row, CONDITIONAL.EXPIRES_AT), armedAt: getF64(state, row, CONDITIONAL.ARMED_AT),
      updatedAt: getF64(state, row, CONDITIONAL.UPDATED_AT), opened: getF64(state, row, CONDITIONAL.OPENED),
      position: get(state, row, CONDITIONAL.OF),
    })
  }
  const states = [ConditionalState.PENDING, ConditionalState.ARMED]
  const told = Array.from({ length: ACCOUNTS }, (_, account) =>
    ask(answers, 'conditionalOrders', { ...WALK, account, states, after: null }).rows).flat().map((each) => ({
    account: each.account, sequence: each.createdSequence, kind: each.kind, state: each.state, flags: each.flags, lots: each.lots,
    trigger: each.kind === ConditionType.TRAILING_STOP ? each.activation : each.trigger, trailBps: each.trailBps,
    expiresAt: each.expiresAt, armedAt: each.armedAt, updatedAt: each.updatedAt, opened: each.openedSequence, position: each.position,
  }))
  const order = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
  same(t, told.sort(order), rows.sort(order), `${rows.length} conditional orders wait`)
  const twaps: object[] = []
  for (let number = 0; number < state.scalars[SCALAR.TWAPS_USED]!; number++) {
    const row = twapRow(state, number)
    if (get(state, row, TWAP.STATE) === 0) continue
    twaps.push({
      account: get(state, row, TWAP.ACCOUNT), sequence: getF64(state, row, TWAP.CREATED_SEQUENCE), row: number,
      state: get(state, row, TWAP.STATE), slices: get(state, row, TWAP.SLICES), reached: get(state, row, TWAP.REACHED),
      placed: get(state, row, TWAP.PLACED), endAt: getF64(state, row, TWAP.END_AT), createdAt: getF64(state, row, TWAP.CREATED_AT),
    })
  }
  const open = Array.from({ length: ACCOUNTS }, (_, account) =>
    ask(answers, 'twapOrders', { ...WALK, account, states: [TwapState.PENDING, TwapState.ACTIVE], after: null }).rows).flat()
    .map(({ account, createdSequence, twap, state: its, slices, reached, placed, endAt, createdAt }) =>
      ({ account, sequence: createdSequence, row: twap, state: its, slices, reached, placed, endAt, createdAt }))
  same(t, open.sort(order), twaps.sort(order), `${twaps.length} TWAP orders wait or run`)
}

for (let step = 0; step < QUIET_STEPS; step++) life.step()
/** Up to here there was nothing that waits. */
const before = life.sequence
life.quiet = false

for (let part = 0; part < PARTS; part++) {
  for (let step = 0; step < STEPS; step++) life.step()
  if (part % 2 === 0) life.snapshot()
  await life.stop()
  await inPieces('pieces')
  await t.test(`part ${part}, seed ${SEED}`, async (t) => {
    const projection = open('pieces')
    const answers = createAnswers(projection.database, projection.genesis)
    checkListings(t, answers)
    checkQuestions(t, answers)
    checkEngine(t, answers, projection.state)
    await projection.close()
  })
  if (part < PARTS - 1) life.start()
}

t.test('there was something to tell', async (t) => {
  for (const { state, reason, kind, entrySequence, orders, openedSequence, flags } of naive.conditionals) {
    meet(`${CONDITIONAL_STATE_NAMES[state]} ${CONDITIONAL_REASON_NAMES[reason]}`)
    meet(`kind ${kind}`)
    if (entrySequence === 0) meet('attached')
    if (orders > 1) meet('several orders')
    if (openedSequence === 0) meet('never watched')
    if ((flags & LegFlag.OCO) !== 0) meet('of a pair')
  }
  for (const { state, reason, pair, place, label } of naive.twaps) {
    meet(`TWAP ${TWAP_STATE_NAMES[state]} ${TWAP_REASON_NAMES[reason]}`)
    if (pair === SPOT) meet('TWAP on spot')
    if (pair === PERP && place !== undefined) meet('TWAP on a perpetual')
    if (label !== '') meet('TWAP with an id')
  }
  t.comment(JSON.stringify(Object.fromEntries([...met].sort())))
  const wanted = [
    'TRIGGERED TRIGGERED', 'CANCELLED USER_CANCELLED', 'CANCELLED OCO', 'CANCELLED POSITION_CLOSED', 'CANCELLED ENTRY_ENDED',
    'EXPIRED EXPIRED', 'kind 1', 'kind 2', 'kind 3', 'attached', 'several orders', 'never watched', 'of a pair', 'TWAP COMPLETED COMPLETED',
    'TWAP EXPIRED WINDOW_OVER', 'TWAP CANCELLED USER_CANCELLED', 'TWAP EXPIRED CONDITION_EXPIRED', 'TWAP on spot', 'TWAP on a perpetual',
    'TWAP with an id',
  ]
  t.strictSame(wanted.filter((name) => !met.has(name)), [], 'everything was met')
})

/** Compares two finished stores, positions too. */
/** `but`: tables whose rows are others, because they came later. */
function sameStores(t: Test, one: string, other: string, what: string, but: readonly string[] = []): void {
  const [a, b] = [openReader(path(one)), openReader(path(other))]
  const { rows, differences } = compareStores(a, b)
  const tablesOf = (found: typeof differences): string[] => found.map(({ table }) => table)
  t.strictSame(tablesOf(differences), but, `${what}: ${JSON.stringify(rows)}`)
  t.strictSame(tablesOf(compareStores(b, a).differences), but, 'and the other way round')
  if (but.length === 0) t.strictSame(readPosition(a), readPosition(b), 'at one position')
  const tables = ['conditional_order_page', 'twap_order_page', 'twap_slice_page']
  t.ok(tables.every((table) => rows[table]! > 3), 'there are pages of each')
  a.close()
  b.close()
}

t.test('the rows depend on the journal alone, and every page is what was written', async (t) => {
  await whole('truth')
  sameStores(t, 'pieces', 'truth', 'pieces')
  const projection = open('truth')
  const scrub = createScrub(path('truth'), projection.genesis)
  while (scrub.passes === 0) scrub.step(1000)
  scrub.close()
  await projection.close()
  t.strictSame(warnings, [], 'none was made anew')
})

t.test('a store of the format before is gone on with', async (t) => {
  const projection = open('older', before)
  while (projection.step(400));
  const { database, sequence } = projection
  t.equal(sequence, before)
  for (const table of TABLE_NAMES.slice(FORMAT_7)) database.exec(`drop table ${table}`)
  // What flowed into margin accounts before is in none of its rows.
  database.prepare('delete from head_page where id >= ?').run(FORMAT_7 * OWNER_PAGES)
  const position = readPosition(database)!
  writePosition(database, { ...position, format: 7, roots: position.roots.subarray(0, FORMAT_7 * 16) })
  await projection.close()
  const again = open('older')
  t.equal(again.sequence, sequence, 'from where it was')
  while (again.step(5000));
  await again.close()
  t.strictSame(warnings, [], 'it was not made anew')
  sameStores(t, 'older', 'truth', 'an older store', ['head_page', 'margin_flow_page'])
})
