/**
 * Promise: the history tells of settlement what a slow tree over all trades does. Batches of no trade, of a few, and of several chunks are
 * opened and confirmed between random orders, in one millisecond and in others; wherever transactions and stops fall, roots, proofs, and
 * what orders and trades are by then, in listings, filters and totals, are those of a naive history, and the store has the same rows. A
 * store of a format without settlement is gone on with as if it had always had it.
 *
 * One run again: SEED=7 npm test -- test/property/history_vault.test.ts
 */
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { createAnswers, type Answers } from '../../core/history/answer/answers.ts'
import { openBalancesOf } from '../../core/history/answer/balance_answers.ts'
import type { HistoryRequest, QueryName, TradeProof } from '../../core/history/answer/queries.ts'
import { identitiesOf } from '../../core/history/project/identities.ts'
import { createProjector } from '../../core/history/project/projector.ts'
import { pageId, TABLE_NAMES } from '../../core/history/store/layout.ts'
import { openWriter, readPosition, writePosition, type HistoryDatabase } from '../../core/history/store/store.ts'
import { compareStores } from '../../core/history/store/verify.ts'
import { CHUNK_LEAVES } from '../../core/history/store/vault_layout.ts'
import { COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, Flag, kindOf } from '../../core/layout/command.ts'
import { EventType, eventTypeOf, RESULT, Status } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { balancesOf } from '../../core/settlement/balances.ts'
import { writeBalances } from '../../core/settlement/balances_file.ts'
import { readBalanceLeaf, readTradeLeaf } from '../../core/settlement/leaves.ts'
import { verifyProof } from '../../core/settlement/merkle.ts'
import { BALANCE, SCALAR } from '../../core/state/columns.ts'
import { balanceRow, getI64 } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { seedOf } from '../suite/rounds.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { ask, PlainHistory, positionAt, usersOf } from '../support/history.ts'
import { createBench } from '../support/naive_compare.ts'
import { answerNaively, type NaiveHistory } from '../support/naive_history.ts'
import { genesisText, pairSpec } from '../support/variants.ts'

const SEED = seedOf()
const COMMANDS = 9_000
const WALLETS = 12
/** Batches, at most so many commands apart; and commands between which there is none: several chunks of trades are made then. */
const FAR_APART = 2_000
const QUIET = [3_000, 7_000] as const
const TEXT = genesisText({
  limits: {}, dailyLimit: 15, assets: [['USD', 6, '1000000'], ['BTC', 8, '5000'], ['ETH', 9, '50000']],
  pairs: [
    pairSpec('BTC/USD', { makerFeeBps: '1', takerFeeBps: '5' }), pairSpec('ETH/USD'),
    pairSpec('ETH/BTC', { tickSize: '0.00001', lotSize: '0.001', makerFeeBps: '-2.5', takerFeeBps: '4' }),
  ],
})
const { OPEN_SETTLEMENT, CONFIRM_SETTLEMENT } = CommandType
/** Tables of format 10. */
const FORMAT_TEN = TABLE_NAMES.indexOf('withdrawal_page')
const WALK = { limit: 1000, skip: 0, after: null, countMost: 10_000 }
t.setTimeout(300_000)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/property/history_vault.test.ts`)

/** What happens: a few wallets trade with each other nearly always, and batches are opened and confirmed. */
class Life {
  readonly state: State
  /** Records of each command. */
  readonly said: Views[] = []
  readonly #bench = createBench(TEXT)
  readonly #random: Prng
  readonly #command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  readonly #wallets: Decoded[]
  #time = 1_700_000_000_000
  #opened = 0
  #confirmed = 0

  constructor(seed: number) {
    this.#random = createPrng(seed)
    this.state = this.#bench.state
    this.#wallets = Array.from({ length: WALLETS }, (_, number) => this.#arrive(number + 1))
    let settleAt = this.#random.below(300)
    while (this.said.length < COMMANDS) {
      this.#trade(this.#wallets[this.#random.below(WALLETS)]!)
      if (this.said.length < settleAt || (this.said.length > QUIET[0] && this.said.length < QUIET[1])) continue
      this.#settle()
      settleAt = this.said.length + 1 + this.#random.below(this.#random.below(3) > 0 ? 40 : FAR_APART)
    }
    this.#send(OPEN_SETTLEMENT, { session: -1, batch: this.#opened + 1 })
  }

  #arrive(number: number): Decoded {
    const hex = (digits: number): string => number.toString(16).padStart(digits, '0')
    const { detail, detail2 } = this.#send(CommandType.OPEN_SESSION, {
      session: -1, application: number % 2, address: hex(40), publicKey: hex(64),
    })
    const wallet = { session: detail!, sessionGeneration: detail2! }
    for (let mint = 0; mint < 3; mint++) this.#send(CommandType.MINT, { ...wallet, asset: -1 })
    return wallet
  }

  #trade(wallet: Decoded): void {
    // Often several commands of one millisecond.
    if (this.#random.below(3) === 0) this.#time += this.#random.below(500)
    if (this.#random.below(12) === 0) return void this.#send(CommandType.CANCEL_ALL, { ...wallet, pair: -1, limit: 20 })
    const pair = this.#random.below(3)
    const flags = (this.#random.below(2) === 0 ? Flag.SELL : 0) + (this.#random.below(8) === 0 ? Flag.IOC : 0)
    const price = (pair === 2 ? 6000 : 10_000) + this.#random.below(4)
    const lots = 1 + this.#random.below(this.#random.below(5) === 0 ? 900 : 60)
    this.#send(CommandType.PLACE_ORDER, { ...wallet, pair, flags, price, lots })
  }

  /** Opens some batches and confirms some, one after the other: most of them have no trades, and all of them one time. */
  #settle(): void {
    for (let left = 1 + this.#random.below(3); left > 0; left--) {
      if (this.#opened - this.#confirmed < 7) this.#send(OPEN_SETTLEMENT, { session: -1, batch: ++this.#opened })
      if (this.#random.below(3) === 0 || this.#confirmed === this.#opened) continue
      const [batch, hash] = [++this.#confirmed, this.#confirmed.toString(16).padStart(64, 'a')]
      this.#send(CONFIRM_SETTLEMENT, { session: -1, batch, block: 10 * batch, txHash: hash, tradesRoot: hash, balancesRoot: hash })
    }
  }

  #send(type: number, values: Decoded): Decoded {
    this.#command.bytes.fill(0)
    const gateway = type === OPEN_SETTLEMENT || type === CONFIRM_SETTLEMENT ? 0 : 1
    encode(COMMAND_LAYOUTS[type]!, this.#command, 0, { kind: kindOf(type, 1, gateway), ...values })
    const records = this.#bench.run(this.#command, 0, this.#time)
    const copy = viewsOf(new ArrayBuffer(records * RECORD_BYTES))
    copy.bytes.set(this.#bench.said.bytes.subarray(0, records * RECORD_BYTES))
    this.said.push(copy)
    return decode(RESULT, copy, (records - 1) * RECORD_WORDS)
  }
}

const life = new Life(SEED)
const { state, said } = life
const { genesis } = state
const identities = identitiesOf(state)
const accounts = Array.from({ length: state.scalars[SCALAR.ACCOUNTS]! }, (_, account) => account)
const outside = { names: identities, balances: () => null }

/** Both answer the same; otherwise what was asked and said. */
function difference(answers: Answers, naive: NaiveHistory, name: QueryName, question: object): object | null {
  const reply = answerNaively(naive, { id: 1, name, ask: question, atLeast: 0 } as HistoryRequest)
  const wanted = 'answer' in reply ? reply.answer : null
  const said = ask(answers, name, question as never)
  return isDeepStrictEqual(said, wanted) ? null : { name, question, said, wanted }
}

/** Questions about what is settled, of which every one is asked. */
function questions(random: Prng, naive: NaiveHistory): [QueryName, object][] {
  const account = accounts[random.below(accounts.length)]!
  const all = [Status.FILLED, Status.SETTLED, Status.SETTLED_ON_CHAIN, Status.CANCELLED]
  const statuses = all.filter(() => random.below(2) === 0)
  const filter = statuses.length === 0 ? {} : { statuses }
  const page = { ...WALK, limit: 1 + random.below(50), skip: random.below(30), countMost: random.below(2) * 10_000 }
  const trade = naive.trades[random.below(naive.trades.length)] ?? { sequence: 1, index: 0 }
  const batch = random.below(naive.settlement.batches.length + 2)
  return [
    ['orders', { ...page, account, ...filter }], ['trades', { ...page, account }], ['trades', page],
    ['applicationOrders', { ...page, application: 0, ...filter }],
    ['tradeProof', { sequence: trade.sequence, index: trade.index }], ['tradeProof', { sequence: trade.sequence, index: 900 }],
    ['settlement', { batch }], ['settlement', { batch: 0 }],
  ]
}

/** Projects everything in transactions of up to `apart` commands, with a stop after some; `look` is called after some of them. */
function project(apart: number, look: (answers: Answers, naive: NaiveHistory, index: number) => void): HistoryDatabase {
  const random = createPrng(SEED + apart)
  const database = openWriter(':memory:')
  const answers = createAnswers(database, genesis, outside)
  const plain = new PlainHistory(genesis, identities.applicationOf)
  plain.naive.settlement.user = usersOf(state)
  let projector = createProjector(database, genesis, identities)
  let flushAt = random.below(apart)
  for (const [index, records] of said.entries()) {
    const count = records.i32.length / RECORD_WORDS
    projector.project(records, count)
    plain.take(records, count)
    if (index < flushAt && index < said.length - 1) continue
    flushAt = index + 1 + random.below(apart)
    database.transaction(() => writePosition(database, positionAt(index + 1, projector.flush())))()
    look(answers, plain.naive, index)
    if (random.below(4) === 0) projector = createProjector(database, genesis, identities)
  }
  return database
}

const whole = project(Infinity, () => undefined)

t.test('what is settled, while it grows', async (t) => {
  const random = createPrng(SEED)
  let [looks, wrong] = [0, null as object | null]
  const database = project(700, (answers, naive) => {
    for (const [name, question] of wrong === null ? questions(random, naive) : []) {
      wrong ??= difference(answers, naive, name, question)
      looks++
    }
  })
  t.strictSame(wrong, null, `${looks} answers are those of a naive history`)
  t.strictSame(compareStores(database, whole).differences, [], 'in any transactions the rows are the same')
  t.strictSame(compareStores(whole, database).differences, [], 'and the other way round')
})

t.test('all of it in the end', async (t) => {
  const answers = createAnswers(whole, genesis, outside)
  const plain = new PlainHistory(genesis, identities.applicationOf)
  plain.naive.settlement.user = usersOf(state)
  for (const records of said) plain.take(records, records.i32.length / RECORD_WORDS)
  const { naive } = plain
  const { batches } = naive.settlement
  const sizes = batches.map(({ fills }) => fills)
  t.ok(sizes.some((fills) => fills === 0) && sizes.some((fills) => fills > CHUNK_LEAVES), `${batches.length} batches: ${sizes.join(' ')}`)
  t.ok(batches.some(({ status }) => status === 1) && batches.some(({ status }) => status === 2), 'opened and confirmed ones')
  checkBatches(t, answers, naive)
  checkProofs(t, answers, naive)
})

/** Roots are those of slow trees, and batches follow each other. */
function checkBatches(t: Test, answers: Answers, naive: NaiveHistory): void {
  let through = 0
  for (const { batch, from } of naive.settlement.batches) {
    t.equal(from, through + 1, `batch ${batch} begins behind the one before`)
    t.equal(difference(answers, naive, 'settlement', { batch }), null, `batch ${batch}`)
    through = ask(answers, 'settlement', { batch })!.through
  }
}

const bytesOf = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex')

/** The proof of a trade holds, and no other leaf has it. */
function checkProofs(t: Test, answers: Answers, naive: NaiveHistory): void {
  const holds = ({ batch, leaf, place, proof }: TradeProof, change = (each: Uint8Array): Uint8Array => each): boolean =>
    verifyProof(bytesOf(batch!.tradesRoot), change(bytesOf(leaf)), place, batch!.fills, proof.map(bytesOf))
  const random = createPrng(SEED)
  const sample = naive.trades.filter(() => random.below(naive.trades.length) < 120)
  let proved = 0
  for (const trade of sample) {
    const said = ask(answers, 'tradeProof', trade)!
    const { sequence, index, quote, takerFee } = readTradeLeaf(bytesOf(said.leaf))!
    t.strictSame([sequence, index, quote, takerFee], [trade.sequence, trade.index, trade.quote, trade.takerFee], 'it is the trade')
    if (said.batch === null) continue
    proved++
    t.ok(holds(said), `trade ${proved}, of ${said.proof.length} siblings`)
    const at = random.below(said.leaf.length / 2 - 1)
    t.notOk(holds(said, (leaf) => leaf.with(at, leaf[at]! ^ 1)), 'and nothing else')
  }
  t.ok(proved > 20, `${proved} trades of ${sample.length} in batches`)
}

t.test('what everybody had', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const answers = createAnswers(whole, genesis, { names: identities, balances: openBalancesOf(directory) })
  const { batch, through } = ask(answers, 'settlement', { batch: 0 })!
  t.equal(ask(answers, 'balanceProof', { account: 0, asset: 0, batch }), null, 'nobody knows')
  // The state is the one after the last command, which opened this batch.
  const head = writeBalances(directory, batch, through, balancesOf(state, batch))
  const random = createPrng(SEED)
  for (let round = 0; round < 40; round++) {
    const [account, asset] = [random.below(accounts.length + 1), random.below(4)]
    const said = ask(answers, 'balanceProof', { account, asset, batch })
    const row = account < accounts.length && asset < genesis.assets.length ? balanceRow(state, account, asset) : -1
    const [available, locked] = row < 0 ? [0n, 0n] : [getI64(state, row, BALANCE.AVAILABLE), getI64(state, row, BALANCE.LOCKED)]
    if (available + locked === 0n) {
      t.equal(said, null, `${account} has nothing of ${asset}`)
      continue
    }
    const leaf = readBalanceLeaf(bytesOf(said!.leaf))!
    t.strictSame([leaf.user, leaf.available, leaf.locked], [usersOf(state)(account), available, locked], `${asset} of ${account}`)
    t.equal(said!.root, `0x${Buffer.from(head.root).toString('hex')}`, 'under the root of the batch')
    t.ok(verifyProof(head.root, bytesOf(said!.leaf), said!.place, said!.count, said!.proof.map(bytesOf)), 'and proved')
  }
  t.equal(ask(answers, 'balanceProof', { account: 0, asset: 0, batch: batch + 1 }), null, 'no such batch')
})

t.test('a store without settlement is gone on with', async (t) => {
  const opens = (records: Views): boolean => Array.from({ length: records.i32.length / RECORD_WORDS }, (_, place) => place)
    .some((place) => eventTypeOf(records.u32[place * RECORD_WORDS]!) === EventType.SETTLEMENT)
  // Versions that had no batches heard of none.
  const stored = said.filter((records) => !opens(records)).slice(0, 6_000)
  const goOn = (database: HistoryDatabase, list: readonly Views[]): void => {
    const projector = createProjector(database, genesis, identities)
    for (const records of list) projector.project(records, records.i32.length / RECORD_WORDS)
    database.transaction(() => writePosition(database, positionAt(stored.length, projector.flush())))()
  }
  const [database, truth] = [openWriter(':memory:'), openWriter(':memory:')]
  for (const each of [database, truth]) goOn(each, stored)
  for (const table of TABLE_NAMES.slice(FORMAT_TEN)) database.exec(`delete from ${table}`)
  database.prepare('delete from head_page where id >= ?').run(pageId(FORMAT_TEN, 0))
  const position = readPosition(database)!
  database.transaction(() => writePosition(database, { ...position, format: 10, roots: position.roots.subarray(0, FORMAT_TEN * 16) }))()
  t.strictSame(compareStores(database, truth).differences, [], 'what it has is right')
  goOn(database, [])
  const { rows, differences } = compareStores(database, truth)
  t.ok(rows['settlement_chunk_page']! > 0, 'chunks are made of the trades that it has')
  t.strictSame([...differences, ...compareStores(truth, database).differences], [], 'and all is as if it had always had them')
  t.equal(ask(createAnswers(database, genesis, outside), 'settlement', { batch: 0 }), null, 'no batch yet')
})
