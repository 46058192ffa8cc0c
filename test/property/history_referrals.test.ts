/**
 * Promise: the history says of every account what all REFERRAL_REWARD events say: what it earned ever, by level and asset, its newest
 * hundred rewards, and the hundred accounts that it earned of last, with all it earned of each. That is so while wallets come that others
 * brought, while rows of blank accounts go to other wallets, wherever transactions fall, and after every stop.
 *
 * One run again: SEED=7 npm test -- test/property/history_referrals.test.ts
 */
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { createAnswers, type Answers } from '../../core/history/answer/answers.ts'
import { Entry, Transaction } from '../../core/history/answer/queries.ts'
import { identitiesOf } from '../../core/history/project/identities.ts'
import { createProjector } from '../../core/history/project/projector.ts'
import { createRewards } from '../../core/history/project/rewards.ts'
import { openTables } from '../../core/history/store/heads.ts'
import { openWriter, writePosition, type HistoryDatabase } from '../../core/history/store/store.ts'
import { COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, Flag, kindOf } from '../../core/layout/command.ts'
import { EventType, eventTypeOf, RESULT } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { ACCOUNT, BALANCE, SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { accountRow, balanceRow, getF64, getI64 } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { seedOf } from '../suite/rounds.ts'
import { ask, balanceDifference, positionAt } from '../support/history.ts'
import { createBench } from '../support/naive_compare.ts'
import { NaiveRewards, TOLD } from '../support/naive_rewards.ts'
import { genesisText, pairSpec } from '../support/variants.ts'

const SEED = seedOf()
const COMMANDS = 10_000
const DAY = 86_400_000
const TABLES = ['reward_account_page', 'reward_entry_page', 'reward_source_page', 'reward_sum_page']
/** Fees in two assets; rows for fewer than come. */
const TEXT = genesisText({
  limits: { accounts: 220, sessions: 4096, sessionsPerAccount: 8 }, dailyLimit: 15,
  assets: [['USD', 6, '1000000'], ['BTC', 8, '5000'], ['ETH', 9, '50000']],
  pairs: [
    pairSpec('BTC/USD', { makerFeeBps: '1', takerFeeBps: '5' }), pairSpec('ETH/USD'),
    pairSpec('ETH/BTC', { tickSize: '0.00001', lotSize: '0.001', makerFeeBps: '2.5', takerFeeBps: '2' }),
  ],
})

interface Wallet {
  readonly number: number
  account: number
  session: number
  sessionGeneration: number
  /** Its row is its own. */
  trades: boolean
}

/** What happens: wallets that come, some brought by others, trade, and take what they earned; days pass. */
class Life {
  readonly state: State
  /** Records of each command. */
  readonly said: Views[] = []
  readonly #bench = createBench(TEXT)
  readonly #random: Prng
  readonly #wallets: Wallet[] = []
  readonly #command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  #time = 1_700_000_000_000
  #keys = 0

  constructor(seed: number) {
    this.#random = createPrng(seed)
    this.state = this.#bench.state
    while (this.said.length < COMMANDS) this.#step()
  }

  #step(): void {
    const dice = this.#random.below(1000)
    const traders = this.#wallets.filter(({ trades }) => trades)
    if (dice < 50 || traders.length < 6) return this.#arrive()
    if (dice === 50) return this.#pass()
    const wallet = traders[this.#random.below(traders.length)]!
    if (wallet.session < 0) this.#open(wallet)
    if (dice < 70) this.#take(wallet)
    else if (dice < 90) this.#send(CommandType.MINT, { ...nameOf(wallet), asset: -1 })
    else this.#trade(wallet)
  }

  /** Days pass: nobody is signed in, and blank rows go to those who come. */
  #pass(): void {
    this.#time += 3 * DAY
    for (const wallet of this.#wallets) wallet.session = -1
  }

  #arrive(): void {
    const wallet: Wallet = { number: this.#wallets.length + 1, account: -1, session: -1, sessionGeneration: 0, trades: false }
    // The first brought half of them; some say a code of somebody who may be no more.
    const several = this.#wallets.slice(0, this.#random.below(2) === 0 ? 1 : undefined)
    const by = several.length === 0 || this.#random.below(8) === 0 ? null : several[this.#random.below(several.length)]!
    this.#open(wallet, by)
    if (wallet.account < 0) return
    for (const other of this.#wallets) if (other.account === wallet.account) other.account = -1
    this.#wallets.push(wallet)
    if (wallet.number > 6 && this.#random.below(2) === 0) return
    this.#send(CommandType.MINT, { ...nameOf(wallet), asset: -1 })
    wallet.trades = true
  }

  #open(wallet: Wallet, by: Wallet | null = null): void {
    const row = by === null || by.account < 0 ? -1 : by.account
    const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0')
    const { code, detail, detail2, account } = this.#send(CommandType.OPEN_SESSION, {
      session: -1, application: 0, address: hex(wallet.number, 40), publicKey: hex(++this.#keys, 64),
      referrer: row + 1, referrerSequence: row < 0 ? 0 : getF64(this.state, accountRow(this.state, row), ACCOUNT.CREATED_SEQUENCE),
    })
    if (code !== 0) return
    Object.assign(wallet, { account: Number(account), session: Number(detail), sessionGeneration: Number(detail2) })
  }

  #trade(wallet: Wallet): void {
    const pair = this.#random.below(3)
    const flags = (this.#random.below(2) === 0 ? Flag.SELL : 0)
    const price = (pair === 2 ? 6000 : 10_000) + this.#random.below(20)
    this.#send(CommandType.PLACE_ORDER, { ...nameOf(wallet), pair, flags, price, lots: 1 + this.#random.below(3000) })
  }

  /** Some of what it earned, or more than that. */
  #take(wallet: Wallet): void {
    const asset = this.#random.below(2)
    const has = getI64(this.state, balanceRow(this.state, wallet.account, asset), BALANCE.REWARDS)
    this.#send(CommandType.TRANSFER_REWARDS, { ...nameOf(wallet), asset, amount: (has * BigInt(this.#random.below(12))) / 10n })
  }

  #send(type: number, values: Decoded): Decoded {
    this.#time += this.#random.below(500)
    this.#command.bytes.fill(0)
    encode(COMMAND_LAYOUTS[type]!, this.#command, 0, { kind: kindOf(type, 1, 1), ...values })
    const records = this.#bench.run(this.#command, 0, this.#time)
    const copy = viewsOf(new ArrayBuffer(records * RECORD_BYTES))
    copy.bytes.set(this.#bench.said.bytes.subarray(0, records * RECORD_BYTES))
    this.said.push(copy)
    return decode(RESULT, copy, (records - 1) * RECORD_WORDS)
  }
}
const nameOf = ({ session, sessionGeneration }: Wallet): Decoded => ({ session, sessionGeneration })

/** What the history says otherwise than the events do, of one account; null: nothing. */
function difference(answers: Answers, account: number, sums: NaiveRewards): object | null {
  const [said, wanted] = [ask(answers, 'rewards', { account }), sums.of(account).rewards()]
  if (!isDeepStrictEqual(said, wanted)) return { account, said, wanted }
  const [sources, wantedSources] = [ask(answers, 'rewardSources', { account }), sums.of(account).rewardSources()]
  if (!isDeepStrictEqual(sources, wantedSources)) return { account, said: sources, wanted: wantedSources }
  return takenDifference(answers, account, sums)
}

/** Each transfer of rewards is a movement. */
function takenDifference(answers: Answers, account: number, sums: NaiveRewards): object | null {
  const { taken } = sums.of(account)
  const filter = { account, transaction: Transaction.REFERRAL_REWARD, limit: 1000, skip: 0, after: null, countMost: 0 }
  const said = ask(answers, 'movements', filter).rows.map(({ asset, amount, entry }) => [asset, amount, entry])
  const wanted = taken.slice(-1000).reverse().map(([asset, amount]) => [asset, amount, Entry.CREDIT])
  return isDeepStrictEqual(said, wanted) ? null : { account, said, wanted }
}

const life = new Life(SEED)
const { state } = life
const accounts = Array.from({ length: state.scalars[SCALAR.ACCOUNTS]! }, (_, account) => account)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/property/history_referrals.test.ts`)

/** Projects everything in transactions of at most `apart` commands; a new projector goes on after some. */
function project(t: Test, apart: number): HistoryDatabase {
  const random = createPrng(SEED + apart)
  const database = openWriter(':memory:')
  const identities = identitiesOf(state)
  const answers = createAnswers(database, state.genesis)
  const sums = new NaiveRewards()
  let projector = createProjector(database, state.genesis, identities)
  let [flushAt, flushes, stops, looked] = [0, 0, 0, 0]
  let wrong: object | null = null
  for (const [index, records] of life.said.entries()) {
    projector.project(records, records.i32.length / RECORD_WORDS)
    sums.take(records)
    if (index < flushAt && index < life.said.length - 1) continue
    flushAt = index + 1 + random.below(apart)
    database.transaction(() => writePosition(database, positionAt(index + 1, projector.flush())))()
    looked++
    wrong ??= difference(answers, accounts[random.below(accounts.length)]!, sums)
    if (++flushes % (apart < 100 ? 120 : 9) > 0) continue
    projector = createProjector(database, state.genesis, identities)
    stops++
  }
  t.strictSame(wrong, null, `${looked} looks while it grew`)
  for (const account of accounts) wrong ??= difference(answers, account, sums)
  t.strictSame(wrong, null, 'every account in the end')
  t.equal(balanceDifference(projector, state), null, 'balances at the end')
  if (apart < COMMANDS) t.ok(stops > 0, `${stops} stops`)
  return database
}

/** All rewards in one transaction, with room for `most` of them before they are put into pages. */
function gather(most: number): HistoryDatabase {
  const database = openWriter(':memory:')
  const tables = openTables(database)
  const rewards = createRewards(tables, most)
  for (const { i32, ...records } of life.said) {
    for (let base = 0; base < i32.length; base += RECORD_WORDS) {
      if (eventTypeOf(i32[base]!) === EventType.REFERRAL_REWARD) rewards.earned({ i32, ...records }, base)
    }
  }
  database.transaction(() => {
    rewards.flush()
    tables.flush()
  })()
  return database
}

const rowsOf = (database: HistoryDatabase): unknown[] =>
  TABLES.flatMap((table) => database.prepare(`select '${table}', id, hex(records) from ${table} order by id`).all())

t.test('the history says what the events do', async (t) => {
  checkInvariants(state)
  const sums = new NaiveRewards()
  for (const records of life.said) sums.take(records)
  const most = Math.max(...accounts.map((account) => sums.of(account).sources.size))
  const turns = state.scalars[SCALAR.ACCOUNT_TURNS]! / 2
  t.ok(sums.count > 10_000, `${sums.count} rewards`)
  t.ok(most > TOLD, `one earned of ${most} others`)
  t.ok(turns > 10, `${turns} rows went to another wallet`)
  for (const account of accounts) {
    for (const { index } of state.genesis.assets) {
      const earned = [1, 2, 3].reduce((sum, level) => sum + (sums.of(account).totals.get(`${level} ${index}`)?.amount ?? 0n), 0n)
      const taken = sums.of(account).taken.reduce((sum, [asset, amount]) => (asset === index ? sum + amount : sum), 0n)
      const has = getI64(state, balanceRow(state, account, index), BALANCE.REWARDS)
      if (earned - taken !== has) t.fail(`account ${account} has ${has} of ${earned} - ${taken}`)
    }
  }
  const whole = rowsOf(project(t, COMMANDS))
  t.ok(whole.length > 50, `${whole.length} pages`)
  for (const most of [7, 1000]) t.ok(isDeepStrictEqual(rowsOf(gather(most)), whole), `with room for ${most} rewards at a time`)
  for (const apart of [60, 900]) t.ok(isDeepStrictEqual(rowsOf(project(t, apart)), whole), `in transactions of up to ${apart} commands`)
})
