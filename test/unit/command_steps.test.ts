/**
 * Promise: no command of any type takes more steps than the table below says, in an exchange that is full of everything: orders,
 * accounts, sessions, receipts, agents, families, expired things. A step is one word of the state that is read, so a loop that somebody
 * adds is counted whether it says so or not; a type that is not in the table, or that nothing here applies, fails too.
 *
 * The bounds are twice what is measured: what they find is work that grows with what users can make long.
 */
import t from 'tap'
import { CLEARED_MAX, PATH_MAX, PERP_PATH_MAX } from '../../core/book/match.ts'
import {
  AFTER_MS_MAX, AGENT_OPEN_ORDERS_MAX, AT_END, CANCEL_ALL_MAX, commandName, CommandType, DISARM, Origin, PairStatus,
} from '../../core/layout/command.ts'
import { Flag, Option } from '../../core/layout/flags.ts'
import { LAUNCHES_MAX } from '../../core/layout/launches.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CLOSED_MAX, ROWS_MAX } from '../../core/liquidation/settle_pair.ts'
import { LEVELS } from '../../core/margin/impact_price.ts'
import { CONTINUED_MAX } from '../../core/orders/continue_cancel.ts'
import { LOOKS_MAX } from '../../core/orders/copy_step.ts'
import { LOOKS_MORE } from '../../core/orders/sweep.ts'
import { ACCOUNT, ACCOUNT_WORDS } from '../../core/state/columns.ts'
import { TRAIL_PLACES } from '../../core/state/conditional_rows.ts'
import { DEPOSIT_IDS } from '../../core/state/vault_rows.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { RULES } from '../../core/state/rules.ts'
import { CountedStage } from '../support/counted_stage.ts'
import { countBuilder, countLaunches, LAUNCH_LOOK } from '../support/counted_launches.ts'
import { countCopies, FOLLOW_LOOK, FOLLOWED } from '../support/counted_copies.ts'
import { countLiquidation, MARGIN_FILL } from '../support/counted_liquidation.ts'
import { BUCKETS, countMargin, FAMILY } from '../support/counted_margin.ts'
import { broughtBy, countReferrals } from '../support/counted_referrals.ts'
import { countVault, DEPOSIT_LOOK, LOST, SUSPENSE } from '../support/counted_vault.ts'
import { countWaiting, QUEUE_LOOK, WAITING_LOOK, WAITING_MOST } from '../support/counted_waiting.ts'
import { genesisText, pairSpec } from '../support/variants.ts'

/** Steps of one resting order: to be looked at, to end, to be traded with. */
const [LOOK, END, FILL] = [20, 150, 250]
/** Rows of everything: more than the bound of any command that has nothing to do with how many there are. */
const MANY = 3000
const FEW = 1000

/** Most steps of one command of each type. */
const BOUNDS: Readonly<Record<number, number>> = {
  [CommandType.PLACE_ORDER]: PATH_MAX * FILL,
  [CommandType.REPLACE_ORDER]: PATH_MAX * FILL,
  [CommandType.ENTER_ORDER]: PATH_MAX * FILL,
  [CommandType.CANCEL_ORDER]: FEW,
  [CommandType.CANCEL_ALL]: CANCEL_ALL_MAX * END,
  [CommandType.CANCEL_ACCOUNT_ORDERS]: CANCEL_ALL_MAX * END,
  [CommandType.CONTINUE_CANCEL]: CONTINUED_MAX * END + LOOKS_MORE * LOOK,
  [CommandType.EXPIRE_ORDER]: FEW,
  [CommandType.MINT]: FEW,
  [CommandType.OPEN_SESSION]: FEW,
  [CommandType.REFRESH_SESSION]: FEW,
  // With all TWAP orders that it asked for.
  [CommandType.REVOKE_SESSION]: WAITING_MOST * END,
  [CommandType.SET_MAINTENANCE]: FEW,
  [CommandType.SET_PAIR_STATUS]: FEW,
  [CommandType.SET_FEE_TIER]: FEW,
  [CommandType.CREATE_SUB_ACCOUNT]: FEW,
  [CommandType.TRANSFER]: FEW,
  [CommandType.SET_SPEND_LIMIT]: FEW,
  [CommandType.UPSERT_AGENT]: FEW,
  // Its last order is at the end of its owner's list, behind all others.
  [CommandType.REVOKE_AGENT]: AGENT_OPEN_ORDERS_MAX * END + 10_000 * LOOK,
  [CommandType.OPEN_DELEGATED_SESSION]: FEW,
  [CommandType.SET_APPLICATION]: FEW,
  [CommandType.SET_ORIGIN]: FEW,
  [CommandType.SET_SERVER_KEY]: FEW,
  // From 0 on: each session and account once, once in an exchange's life.
  [CommandType.SET_RULES]: 2 * MANY * 100,
  [CommandType.ACCEPT_LOSS]: FEW,
  [CommandType.ACCEPT_CLOCK]: FEW,
  [CommandType.LIST_ASSET]: FEW,
  [CommandType.LIST_PAIR]: FEW,
  [CommandType.SET_PAIR_TERMS]: FEW,
  [CommandType.RAISE_LIMIT]: FEW,
  [CommandType.LIMITS_IN_FORCE]: FEW,
  // Margin trading (support/counted_margin.ts): in a margin account that is full of buckets, one of as many as there may be.
  [CommandType.MOVE_COLLATERAL]: FEW,
  [CommandType.OPEN_MARGIN_ACCOUNT]: FAMILY * LOOK / 4,
  [CommandType.CLOSE_MARGIN_ACCOUNT]: BUCKETS * END,
  [CommandType.OPEN_RISK_BUCKET]: BUCKETS * LOOK,
  // Both sides of a book, for the basis and for the mark.
  [CommandType.SET_INDEX_PRICE]: 4 * LEVELS * LOOK,
  [CommandType.SET_PERP]: 2 * LEVELS * LOOK,
  [CommandType.FUND_INSURANCE]: FEW,
  [CommandType.FUNDING_STEP]: 2 * LEVELS * LOOK,
  // One order, as of PLACE_ORDER, on a perpetual; a part of a ranking and deleveraging are less (support/counted_liquidation.ts).
  [CommandType.LIQUIDATION_STEP]: PERP_PATH_MAX * MARGIN_FILL,
  [CommandType.SETTLEMENT_STEP]: ROWS_MAX * LOOK / 4 + CLOSED_MAX * MARGIN_FILL,
  // Orders that wait (support/counted_waiting.ts): of an account that has as many as it may.
  [CommandType.ATTACH_CONDITIONALS]: FEW,
  [CommandType.CANCEL_CONDITIONAL]: WAITING_MOST * WAITING_LOOK,
  [CommandType.EXPIRE_CONDITIONAL]: FEW,
  // One order, as of PLACE_ORDER, and a look at every queue of trailing stops; or as many groups of them as become parts of others.
  [CommandType.TRIGGER_STEP]: PERP_PATH_MAX * MARGIN_FILL + TRAIL_PLACES * QUEUE_LOOK,
  [CommandType.CREATE_TWAP]: WAITING_MOST * WAITING_LOOK,
  [CommandType.CANCEL_TWAP]: FEW,
  [CommandType.TWAP_STEP]: PATH_MAX * FILL,
  // Finding a launch by its id, among as many as there may be (support/counted_launches.ts).
  [CommandType.SET_LAUNCH]: LAUNCHES_MAX * LAUNCH_LOOK,
  [CommandType.CLAIM_LEASE]: LAUNCHES_MAX * LAUNCH_LOOK,
  // Builder codes.
  [CommandType.SET_BUILDER_PROGRAM]: FEW,
  [CommandType.ENROLL_APPLICATION]: FEW,
  [CommandType.SET_BUILDER_FEE]: FEW,
  // Referral.
  [CommandType.SET_REFERRAL_SHARES]: FEW,
  [CommandType.TRANSFER_REWARDS]: FEW,
  // Copy trading (support/counted_copies.ts): with 10,000 followers, and an account that has as many follows as it may.
  [CommandType.REGISTER_LEADER]: FEW,
  [CommandType.RELEASE_LEADER]: FEW,
  [CommandType.CREATE_FOLLOW]: FEW + FOLLOWED * LOOK,
  [CommandType.UPDATE_FOLLOW]: FEW,
  [CommandType.STOP_FOLLOW]: FEW,
  [CommandType.SET_COPY_PROGRAM]: FEW,
  // Money in and out (support/counted_vault.ts): a look at every deposit of the ring and of the list, and nothing that grows with users.
  [CommandType.INITIATE_WITHDRAWAL]: FEW,
  [CommandType.ADVANCE_WITHDRAWAL]: FEW,
  [CommandType.REVIEW_WITHDRAWAL]: FEW,
  [CommandType.SET_WITHDRAWAL_TERMS]: FEW,
  [CommandType.STOP_WITHDRAWALS]: FEW,
  [CommandType.CREDIT_DEPOSIT]: (DEPOSIT_IDS + LOST) * DEPOSIT_LOOK,
  [CommandType.ADVANCE_CHAIN]: DEPOSIT_IDS * DEPOSIT_LOOK,
  [CommandType.ASSIGN_SUSPENSE]: FEW,
  [CommandType.OPEN_SETTLEMENT]: FEW,
  [CommandType.CONFIRM_SETTLEMENT]: FEW,
  [CommandType.FAUCET_MINTED]: FEW,
  // 32 follows that are passed by, and one order, as of PLACE_ORDER.
  [CommandType.COPY_STEP]: LOOKS_MAX * FOLLOW_LOOK + PERP_PATH_MAX * MARGIN_FILL,
}

class Stage extends CountedStage {
  constructor(rules: number) {
    const pairs = [pairSpec('BTC/USD', { minNotional: '0' }), pairSpec('ETH/USD', { minNotional: '0' })]
    super(genesisText({
      limits: {
        orders: 1_048_576, receipts: 65_536, openOrdersPerAccount: 65_536, accounts: 8192, sessions: 16_384, sessionsPerAccount: 8,
        agents: 4096, agentsPerAccount: 16, subAccountsPerMaster: 500, spendLimits: 32_768, applications: 64, assets: 4, pairs: 4,
        suspense: SUSPENSE,
      },
      dailyLimit: 2, pairs, rules, assets: [['USD', 6, '1000000'], ['BTC', 8, '1000'], ['ETH', 9, '1000']],
    }))
  }
}

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')
const signed = (said: Decoded): Decoded => ({ session: said['detail']!, sessionGeneration: said['detail2']! })
const named = (said: Decoded): Decoded => ({ targetSlot: said['slot']!, targetSequence: said['orderSequence']! })
const wallet = (name: string): Decoded => ({ address: hex(name, 20), publicKey: hex(`key of ${name}`, 32) })
const KEYED = { key: hex('another', 16), payload: '00'.repeat(16) }
const GRANTS = { grants: 7, pairs: '03'.padEnd(64, '0') }

/** A wallet that signed in and asked the faucet; `by` brought it. */
function rich(stage: Stage, name: string, by?: Decoded): Decoded {
  const who = signed(stage.make(CommandType.OPEN_SESSION, { ...wallet(name), ...(by === undefined ? {} : broughtBy(stage, by)) }))
  stage.make(CommandType.MINT, { ...who, asset: -1 })
  return who
}

function order(who: Decoded, values: Decoded): Decoded {
  return { ...who, pair: 0, flags: 0, price: 100, lots: 1, ...values }
}

/** An exchange full of what users make. */
function fill(stage: Stage, ann: Decoded, bob: Decoded): { subs: Decoded[]; agents: Decoded[]; byAgent: Decoded; sub: Decoded } {
  for (let index = 0; index < MANY; index++) stage.make(CommandType.OPEN_SESSION, wallet(`visitor ${index}`))
  for (let index = 0; index < 7; index++) stage.make(CommandType.OPEN_SESSION, { ...wallet('bob'), publicKey: hex(`bob ${index}`, 32) })
  const subs = Array.from({ length: 400 }, (_, index) =>
    stage.make(CommandType.CREATE_SUB_ACCOUNT, { ...ann, address: hex(`sub ${index}`, 20), consented: 1 }))
  for (const { detail: subAccount } of subs) {
    for (const asset of [0, 1, 2]) {
      const limit = { change: 0, fields: 7, maxAmount: 1e9, dailyLimit: -1, active: 1 }
      stage.make(CommandType.SET_SPEND_LIMIT, { ...ann, asset, subAccount: subAccount!, ...limit })
    }
  }
  const agents = Array.from({ length: 15 }, (_, index) =>
    stage.make(CommandType.UPSERT_AGENT, { ...bob, ...GRANTS, address: hex(`agent ${index}`, 20) }))
  const values = { owner: hex('bob', 20), agent: hex('agent 0', 20), publicKey: hex('key of agent 0', 32) }
  const byAgent = signed(stage.make(CommandType.OPEN_DELEGATED_SESSION, values))
  const key = (index: number): Decoded =>
    ({ flags: Option.KEYED | Flag.IOC, key: index.toString(16).padStart(32, '0'), payload: '00'.repeat(16) })
  for (let index = 1; index <= MANY; index++) stage.make(CommandType.PLACE_ORDER, order(bob, key(index)))
  const sub = signed(stage.make(CommandType.OPEN_SESSION, wallet('sub 0')))
  return { subs, agents, byAgent, sub }
}

/** Lists of orders that are long, of one pair and of the other, with an agent's at both ends. */
function longLists(stage: Stage, bob: Decoded, agent: Decoded, byAgent: Decoded): void {
  const place = (who: Decoded, values: Decoded): Decoded => stage.make(CommandType.PLACE_ORDER, order(who, values))
  for (let index = 0; index < AGENT_OPEN_ORDERS_MAX / 2; index++) place(byAgent, { price: 50 })
  const first = place(bob, { price: 51 })
  for (let index = 0; index < MANY; index++) place(bob, { pair: index % 2, price: 1 + (index % 60) })
  for (let index = 0; index < AGENT_OPEN_ORDERS_MAX / 2; index++) place(byAgent, { price: 50 })
  stage.count(CommandType.CANCEL_ORDER, { ...bob, ...named(first) })
  for (const limit of [1, CANCEL_ALL_MAX]) stage.count(CommandType.CANCEL_ALL, { ...byAgent, pair: 1, limit })
  stage.count(CommandType.REVOKE_AGENT, { ...bob, agent: agent['detail']!, createdSequence: agent['originalSequence']! })
  for (const pair of [-1, 0]) stage.count(CommandType.CANCEL_ALL, { ...bob, pair, limit: 5000 })
  for (let index = 0; index < MANY; index++) place(bob, { pair: index % 2, price: 1 + (index % 60) })
  const createdSequence = stage.state.accountsF64[(Number(first['account']) * ACCOUNT_WORDS + ACCOUNT.CREATED_SEQUENCE) / 2]!
  for (const pair of [-1, 0, 1]) {
    stage.count(CommandType.CANCEL_ACCOUNT_ORDERS, { account: first['account']!, createdSequence, pair, limit: CANCEL_ALL_MAX })
  }
  for (let index = 0; index < MANY; index++) place(bob, { pair: index % 2, price: 1 + (index % 60) })
  const { sequence: began } = stage.make(CommandType.CANCEL_ALL, { ...bob, pair: 1, limit: 1 })
  for (let part = 0; part < 3; part++) stage.count(CommandType.CONTINUE_CANCEL, { account: first['account']!, began: began! })
  for (let index = 0; index < MANY; index++) place(bob, { pair: index % 2, price: 1 + (index % 60) })
  deadlines(stage, bob, { account: first['account']!, createdSequence })
}

/** Dead man's switches: set, fired, and the end of a connection, with all those orders at rest. */
function deadlines(stage: Stage, bob: Decoded, { account, createdSequence }: Decoded): void {
  // They only begin: no order is touched.
  const few = (type: CommandType, values: Decoded): Decoded => {
    const said = stage.count(type, values)
    if (stage.steps > FEW) throw new Error(`${commandName(type)} ${JSON.stringify(values)} took ${stage.steps} steps`)
    return said
  }
  const set = (afterMs: number, over: Decoded = {}): Decoded =>
    few(CommandType.CANCEL_ALL, { ...bob, pair: -1, limit: 1, afterMs, ...over })
  for (const afterMs of [AFTER_MS_MAX, DISARM, 1]) set(afterMs)
  stage.time += 1
  few(CommandType.CONTINUE_CANCEL, { account: account!, fires: 1 })
  const { sequence: began } = set(AT_END, { fromSlot: account!, fromSequence: createdSequence! })
  for (let part = 0; part < 3; part++) stage.count(CommandType.CONTINUE_CANCEL, { account: account!, began: began! })
}

/** A book with more orders than one may meet, and one whose touch expired. */
function deepBooks(stage: Stage, ann: Decoded, cat: Decoded): void {
  const place = (who: Decoded, values: Decoded): Decoded => stage.make(CommandType.PLACE_ORDER, order(who, values))
  const refused = (values: Decoded, { number }: { number: number }): Decoded =>
    stage.count(CommandType.PLACE_ORDER, order(cat, values), number)
  const asks = PATH_MAX + 1500
  for (let index = 0; index < asks; index++) place(ann, { flags: Flag.SELL, price: 200 + (index % 10) })
  const bid = place(cat, { price: 90 })
  const most = { price: 300, lots: asks + 10 }
  refused({ ...most, flags: Flag.FOK }, REFUSALS.ABOVE_MAX_ORDER_SIZE)
  refused({ ...most, flags: Flag.MARKET, price: 0 }, REFUSALS.ABOVE_MAX_ORDER_SIZE)
  refused({ ...most, flags: Flag.POST_ONLY }, REFUSALS.POST_ONLY_WOULD_CROSS)
  const account = Number(bid['account'])
  const createdSequence = stage.state.accountsF64[(account * ACCOUNT_WORDS + ACCOUNT.CREATED_SEQUENCE) / 2]!
  const own = { account, createdSequence, origin: Origin.LIQUIDATION, pair: 0, ...most }
  stage.count(CommandType.ENTER_ORDER, { ...own, flags: Flag.FOK }, REFUSALS.ABOVE_MAX_ORDER_SIZE.number)
  stage.count(CommandType.ENTER_ORDER, { ...own, flags: Flag.IOC, lots: 500 })
  stage.count(CommandType.PLACE_ORDER, order(cat, { ...most, flags: Flag.IOC | Option.KEYED, ...KEYED }))
  // It matches as a new order does: what is left is enough.
  stage.count(CommandType.REPLACE_ORDER, { ...cat, ...named(bid), flags: Option.NEW_PRICE | Option.NEW_LOTS, ...most })
  const over = { pair: 1, flags: Flag.SELL | Flag.EXPIRES, price: 200, expiresAt: stage.time + 1000 }
  const expiring = Array.from({ length: CLEARED_MAX + MANY }, () => place(ann, over))
  const rests = place(cat, { pair: 1, price: 90 })
  stage.time += 1000
  stage.count(CommandType.EXPIRE_ORDER, named(expiring[0]!))
  refused({ pair: 1, price: 200 }, REFUSALS.OVERLOADED)
  const there = { ...cat, ...named(rests), flags: Option.NEW_PRICE, price: 200 }
  stage.count(CommandType.REPLACE_ORDER, there, REFUSALS.OVERLOADED.number)
}

/** What has nothing to do with how many there are. */
function others(stage: Stage, ann: Decoded, bob: Decoded, sub: Decoded, subAccount: Decoded[string]): void {
  const count = stage.count.bind(stage)
  count(CommandType.TRANSFER, { ...ann, asset: 0, flags: Option.KEYED, subAccount, toSub: 1, amount: 1n, ...KEYED })
  count(CommandType.PLACE_ORDER, order(sub, { flags: Flag.MASTER_FUNDED }))
  count(CommandType.SET_SPEND_LIMIT, { ...ann, asset: 2, subAccount, change: 1, fields: 1, maxAmount: 5n })
  count(CommandType.CREATE_SUB_ACCOUNT, { ...ann, address: hex('one more', 20), consented: 1 })
  count(CommandType.UPSERT_AGENT, { ...bob, ...GRANTS, address: hex('agent 99', 20) })
  const delegated = { owner: hex('bob', 20), agent: hex('agent 14', 20), publicKey: hex('another key', 32) }
  count(CommandType.OPEN_DELEGATED_SESSION, delegated)
  const another = signed(count(CommandType.OPEN_SESSION, { ...wallet('bob'), publicKey: hex('bob again', 32) }))
  count(CommandType.OPEN_SESSION, wallet('somebody new'))
  count(CommandType.REFRESH_SESSION, another)
  count(CommandType.MINT, { ...another, asset: -1 })
  count(CommandType.REVOKE_SESSION, another)
  count(CommandType.SET_FEE_TIER, { account: 0, tier: 0 })
  count(CommandType.SET_APPLICATION, { application: -1, active: 1, clientId: hex('third', 40), name: hex('third', 48) })
  for (let index = 0; index < 16; index++) {
    count(CommandType.SET_ORIGIN, { application: 0, allowed: 1, origin: hex(`https://${index}.example`, 96) })
  }
  count(CommandType.SET_SERVER_KEY, { application: 0, graceMs: 0, hash: hex('hash', 32) })
  const sizes = { minLots: 1, maxLots: 1000, minNotional: 0n, makerPpm: 0, takerPpm: 500 }
  count(CommandType.LIST_ASSET, { decimals: 18, scale: 6, faucet: 1n, symbol: hex('NEW', 16), token: 'ab'.repeat(20) })
  const units = { priceScale: 2, tickUnits: 1, lotScale: 3, lotUnits: 1 }
  count(CommandType.LIST_PAIR, { base: 1, quote: 2, ...units, ...sizes, symbol: hex('BTC/ETH', 32), category: hex('', 16) })
  count(CommandType.SET_PAIR_TERMS, { pair: 0, ...sizes, maxLots: 1_000_000 })
  countLaunches(stage, ann)
  countBuilder(stage, ann)
  countReferrals(stage, ann)
  countVault(stage, ann, Array.from({ length: 100 }, (_, index) => rich(stage, `withdraws ${index}`)))
  count(CommandType.SET_PAIR_STATUS, { pair: 0, status: PairStatus.HALTED })
  count(CommandType.SET_MAINTENANCE, { on: 1 })
  count(CommandType.ACCEPT_CLOCK, { wall: stage.time })
  checkInvariants(stage.state)
  count(CommandType.ACCEPT_LOSS, { resume: 1e9 })
}

t.test('commands of a full exchange', async (t) => {
  const stage = new Stage(RULES)
  // Each has three referrers, who are looked at with each of its fills.
  const first = rich(stage, 'first')
  const third = rich(stage, 'third', rich(stage, 'second', first))
  const [ann, bob, cat] = ['ann', 'bob', 'cat'].map((name) => rich(stage, name, third)) as [Decoded, Decoded, Decoded]
  const { subs, agents, byAgent, sub } = fill(stage, ann, bob)
  longLists(stage, bob, agents[0]!, byAgent)
  deepBooks(stage, ann, cat)
  others(stage, ann, bob, sub, subs[0]!['detail']!)

  // Receipts that expired, and sessions: the next command has to do with all of them.
  stage.time += 25 * 3_600_000
  stage.make(CommandType.SET_MAINTENANCE, { on: 0 }, 0)
  stage.make(CommandType.SET_PAIR_STATUS, { pair: 0, status: PairStatus.ACTIVE }, 0)
  const late = signed(stage.count(CommandType.OPEN_SESSION, { ...wallet('bob'), publicKey: hex('bob at last', 32) }))
  stage.count(CommandType.PLACE_ORDER, order(late, { flags: Option.KEYED, ...KEYED }))

  const raised = new Stage(0)
  for (let index = 0; index < MANY; index++) raised.make(CommandType.OPEN_SESSION, wallet(`visitor ${index}`))
  raised.count(CommandType.SET_RULES, { rules: RULES })
  // Last: with it the state has another size, which whoever applies it makes.
  raised.count(CommandType.RAISE_LIMIT, { limit: 0, value: raised.state.genesis.limits.accounts + 1024 })
  raised.count(CommandType.LIMITS_IN_FORCE, {})
  const waiting = countWaiting()
  for (const steps of waiting.idle) t.ok(steps <= FEW, `a price that fires nothing, over 1,900 trailing stops: ${steps} steps`)
  const copies = countCopies()
  t.ok(copies.steps > 300, `a fill of a leader with 10,000 followers: ${copies.steps} commands`)
  const passing = copies.most.get(CommandType.COPY_STEP)!
  t.ok(passing <= LOOKS_MAX * FOLLOW_LOOK + 2 * FEW, `of ${passing} steps at most, in a shallow book`)
  const more = [...raised.most, ...countMargin(), ...countLiquidation(), ...waiting.most, ...copies.most]
  for (const [type, steps] of more) stage.most.set(type, Math.max(steps, stage.most.get(type) ?? 0))
  for (const type of Object.values(CommandType)) {
    if (type === CommandType.GENESIS) continue
    const [bound, most] = [BOUNDS[type] ?? 0, stage.most.get(type) ?? 0]
    t.ok(most > 0 && most <= bound, `${commandName(type)}: ${most} steps of ${bound}`)
  }
})
