/**
 * Rows by name: reading and writing the columns (columns.ts), for everybody.
 *
 * A row is named by its address, which the functions of the first part give: `orderRow(state, slot)`. A field of it is one of the
 * table of its column: `get(state, order, ORDER.REMAINING)`. How addresses become places in the three views of the memory, the masks that
 * spare the compiler its overflow checks and the registers stand here and nowhere else.
 *
 *   get set add               fields of one word, i32
 *   getF64 setF64 addF64      times, sequences and sums of lots
 *   getI64 setI64             atoms
 *   gain lose                 atoms, by a register: the field grows or shrinks by what stands there
 *
 * All are small enough to be inlined wherever they stand, and must be: a BigInt or a double that crosses a call is allocated. So atoms
 * between functions go through a register, never as an argument, and a sum of atoms is stored in a register before it is compared or
 * divided: only then does the compiler keep it as a machine integer.
 */
import { ORIGINS_MAX } from '../layout/command.ts'
import type { F64Field, I64Field, WordField } from '../layout/table.ts'
import {
  ACCOUNT_WORDS, ADD_ON_WORDS, ADDRESS_BITS, AGENT_MARGIN_WORDS, AGENT_WORDS, APPLICATION_WORDS, BALANCE, BALANCE_WORDS, CLOCK, CLOCK_AT,
  CLIENT_ORDER_ID_WORDS, DISCONNECT_WORDS, FAUCET_WORDS, FUND_OWNER_WORDS, LEVEL_WORDS, NOTES_AT, ORDER_WORDS, ORIGIN_WORDS, PAGE_WORDS,
  PAIR_WORDS, PROFILE_WORDS, REGISTERS_AT, SCALAR, SCALARS_AT, SESSION_LINK_WORDS, SESSION_WORDS, SPEND_LIMIT_WORDS, SWEEP_WORDS,
  TERMS_WORDS, TOTAL_WORDS,
} from './columns.ts'
import { CONDITIONAL_WORDS, TRAIL_GROUP_WORDS, TWAP_WORDS, WAITING_WORDS } from './conditional_rows.ts'
import { LAUNCH_WORDS } from './launch_rows.ts'
import { COPY_ACCOUNT_WORDS, FOLLOW_PAIR_WORDS, FOLLOW_WORDS, LEAD_WORDS, LEADER_WORDS } from './copy_rows.ts'
import { REFERRAL_WORDS } from './referral_rows.ts'
import { ASSET_LISTING_WORDS, PAIR_LISTING_WORDS } from './listing_rows.ts'
import {
  GUARD_DRIFT_WORDS, GUARD_WORDS, MARGIN_ACCOUNT_WORDS, MARGIN_TOTAL_WORDS, ORDER_MARGIN_WORDS, PERP_TERMS_WORDS, PERP_WORDS,
  POSITION_WORDS, RANKED_WORDS, RANKING_WORDS, RISK_BUCKET_WORDS, TIER_WORDS, TIERS_MAX,
} from './margin_rows.ts'
import type { State } from './shape.ts'
import {
  DEPOSIT_ID_WORDS, DEPOSIT_IDS, FAUCET_MINT_WORDS, FAUCET_MINTS, LOST_DEPOSIT_WORDS, SETTLEMENT_WORDS, SETTLEMENTS, SUSPENSE_WORDS,
  VAULT_ACCOUNT_WORDS, VAULT_CHAIN_WORDS, VAULT_TOTAL_WORDS, WITHDRAWAL_WORDS,
} from './vault_rows.ts'

// Rows.

export const orderRow = (state: State, slot: number): number => (state.ordersAt + slot * ORDER_WORDS) & ADDRESS_BITS
export const accountRow = (state: State, account: number): number => (state.accountsAt + account * ACCOUNT_WORDS) & ADDRESS_BITS
export const profileRow = (state: State, account: number): number => (state.profilesAt + account * PROFILE_WORDS) & ADDRESS_BITS
export const disconnectRow = (state: State, account: number): number =>
  (state.disconnectsAt + account * DISCONNECT_WORDS) & ADDRESS_BITS
export const fundOwnerRow = (state: State, account: number): number =>
  (state.fundOwnersAt + account * FUND_OWNER_WORDS) & ADDRESS_BITS
export const sweepRow = (state: State, account: number): number => (state.sweepsAt + account * SWEEP_WORDS) & ADDRESS_BITS
export const sessionRow = (state: State, session: number): number => (state.sessionsAt + session * SESSION_WORDS) & ADDRESS_BITS
export const agentRow = (state: State, agent: number): number => (state.agentsAt + agent * AGENT_WORDS) & ADDRESS_BITS
export const agentMarginRow = (state: State, agent: number): number =>
  (state.agentMarginsAt + agent * AGENT_MARGIN_WORDS) & ADDRESS_BITS
export const limitRow = (state: State, limit: number): number => (state.spendLimitsAt + limit * SPEND_LIMIT_WORDS) & ADDRESS_BITS
/** The number of a limit by the address of its row. */
export const limitAt = (state: State, row: number): number => (row - state.spendLimitsAt) / SPEND_LIMIT_WORDS
export const applicationRow = (state: State, application: number): number =>
  (state.applicationsAt + application * APPLICATION_WORDS) & ADDRESS_BITS
export const linkRow = (state: State, session: number): number => (state.sessionLinksAt + session * SESSION_LINK_WORDS) & ADDRESS_BITS
/** Of the referral program: of an account, and the one of its single numbers. */
export const referralRow = (state: State, account: number): number => (state.referralsAt + account * REFERRAL_WORDS) & ADDRESS_BITS
export const referringRow = (state: State): number => state.referringAt & ADDRESS_BITS
export const pairRow = (state: State, pair: number): number => (state.pairsAt + pair * PAIR_WORDS) & ADDRESS_BITS
export const termsRow = (state: State, pair: number): number => (state.termsAt + pair * TERMS_WORDS) & ADDRESS_BITS
export const assetListingRow = (state: State, asset: number): number => (state.assetListingsAt + asset * ASSET_LISTING_WORDS) & ADDRESS_BITS
export const pairListingRow = (state: State, pair: number): number => (state.pairListingsAt + pair * PAIR_LISTING_WORDS) & ADDRESS_BITS
export const clientOrderIdRow = (state: State, slot: number): number => (state.labelsAt + slot * CLIENT_ORDER_ID_WORDS) & ADDRESS_BITS
export const originRow = (state: State, application: number, place: number): number =>
  (state.originsAt + (application * ORIGINS_MAX + place) * ORIGIN_WORDS) & ADDRESS_BITS
export const levelRow = (state: State, level: number): number => (state.levelsAt + level * LEVEL_WORDS) & ADDRESS_BITS
export const pageRow = (state: State, page: number): number => (state.pagesAt + page * PAGE_WORDS) & ADDRESS_BITS
/** What `account` has of `asset`. */
export const balanceRow = (state: State, account: number, asset: number): number =>
  (state.balancesAt + Math.imul(account, state.balanceStride) + asset * BALANCE_WORDS) & ADDRESS_BITS
/** Totals of an asset. */
export const totalRow = (state: State, asset: number): number => (state.totalsAt + asset * TOTAL_WORDS) & ADDRESS_BITS
export const perpRow = (state: State, pair: number): number => (state.perpsAt + pair * PERP_WORDS) & ADDRESS_BITS
export const perpTermsRow = (state: State, pair: number): number => (state.perpTermsAt + pair * PERP_TERMS_WORDS) & ADDRESS_BITS
/** Tier `tier`, from 0, of the ladder of a pair. */
export const tierRow = (state: State, pair: number, tier: number): number =>
  (state.perpTiersAt + (pair * TIERS_MAX + tier) * TIER_WORDS) & ADDRESS_BITS
export const marginAccountRow = (state: State, margin: number): number =>
  (state.marginAccountsAt + margin * MARGIN_ACCOUNT_WORDS) & ADDRESS_BITS
export const bucketRow = (state: State, bucket: number): number => (state.riskBucketsAt + bucket * RISK_BUCKET_WORDS) & ADDRESS_BITS
export const positionRow = (state: State, position: number): number => (state.positionsAt + position * POSITION_WORDS) & ADDRESS_BITS
/** What a margin order has besides its row, by its slot. */
export const orderMarginRow = (state: State, slot: number): number => (state.orderMarginsAt + slot * ORDER_MARGIN_WORDS) & ADDRESS_BITS
/** Guard of a position, by its row; drift of the guards of a perpetual, by its number (margin/guards.ts). */
export const guardRow = (state: State, position: number): number => (state.guardKeysAt + position * GUARD_WORDS) & ADDRESS_BITS
export const guardDriftRow = (state: State, perp: number): number => (state.guardDriftsAt + perp * GUARD_DRIFT_WORDS) & ADDRESS_BITS
export const marginTotalRow = (state: State, asset: number): number => (state.marginTotalsAt + asset * MARGIN_TOTAL_WORDS) & ADDRESS_BITS
/** Ranking of the longs (0) or the shorts (1) of the perpetual of this number, from 1; and its place `place`. */
export const rankingRow = (state: State, number: number, side: number): number =>
  (state.rankingsAt + (2 * number - 2 + side) * RANKING_WORDS) & ADDRESS_BITS
export const rankedRow = (ranking: number, place: number): number => (ranking + 8 + place * RANKED_WORDS) & ADDRESS_BITS
/** Numbers of rows, by their addresses. */
export const bucketAt = (state: State, row: number): number => (row - state.riskBucketsAt) / RISK_BUCKET_WORDS
export const positionAt = (state: State, row: number): number => (row - state.positionsAt) / POSITION_WORDS
export const marginAccountAt = (state: State, row: number): number => (row - state.marginAccountsAt) / MARGIN_ACCOUNT_WORDS

export const conditionalRow = (state: State, conditional: number): number =>
  (state.conditionalsAt + conditional * CONDITIONAL_WORDS) & ADDRESS_BITS
export const conditionalAt = (state: State, row: number): number => (row - state.conditionalsAt) / CONDITIONAL_WORDS
export const trailGroupRow = (state: State, group: number): number => (state.trailGroupsAt + group * TRAIL_GROUP_WORDS) & ADDRESS_BITS
export const trailGroupAt = (state: State, row: number): number => (row - state.trailGroupsAt) / TRAIL_GROUP_WORDS
export const twapRow = (state: State, twap: number): number => (state.twapsAt + twap * TWAP_WORDS) & ADDRESS_BITS
export const twapAt = (state: State, row: number): number => (row - state.twapsAt) / TWAP_WORDS
/** What the application charges for an order, by its slot. */
export const addOnRow = (state: State, slot: number): number => (state.addOnsAt + slot * ADD_ON_WORDS) & ADDRESS_BITS
export const launchRow = (state: State, launch: number): number => (state.launchesAt + launch * LAUNCH_WORDS) & ADDRESS_BITS
export const launchAt = (state: State, row: number): number => (row - state.launchesAt) / LAUNCH_WORDS
/** What waits for an account. */
export const waitingRow = (state: State, account: number): number => (state.waitingAt + account * WAITING_WORDS) & ADDRESS_BITS

export const copyingRow = (state: State): number => state.copyingAt & ADDRESS_BITS
/** What an account has to do with copy trading. */
export const copyAccountRow = (state: State, account: number): number =>
  (state.copyAccountsAt + account * COPY_ACCOUNT_WORDS) & ADDRESS_BITS
export const leaderRow = (state: State, leader: number): number => (state.leadersAt + leader * LEADER_WORDS) & ADDRESS_BITS
export const leaderAt = (state: State, row: number): number => (row - state.leadersAt) / LEADER_WORDS
/** A lead by its number: that of the leader times the perpetuals that there may be, and the perpetual's number, from 1, less 1. */
export const leadRow = (state: State, lead: number): number => (state.leadsAt + lead * LEAD_WORDS) & ADDRESS_BITS
export const leadAt = (state: State, row: number): number => (row - state.leadsAt) / LEAD_WORDS
export const followRow = (state: State, follow: number): number => (state.followsAt + follow * FOLLOW_WORDS) & ADDRESS_BITS
export const followAt = (state: State, row: number): number => (row - state.followsAt) / FOLLOW_WORDS
/** What was mirrored of a perpetual, by its number, from 1; `perps` there may be. */
export const followPairRow = (state: State, follow: number, perps: number, perp: number): number =>
  (state.followPairsAt + (follow * perps + perp - 1) * FOLLOW_PAIR_WORDS) & ADDRESS_BITS

// Money in and out. Rings are asked by numbers that only grow.

export const vaultRow = (state: State): number => state.vaultAt & ADDRESS_BITS
export const vaultTotalRow = (state: State, asset: number): number => (state.vaultTotalsAt + asset * VAULT_TOTAL_WORDS) & ADDRESS_BITS
export const vaultAccountRow = (state: State, account: number): number =>
  (state.vaultAccountsAt + account * VAULT_ACCOUNT_WORDS) & ADDRESS_BITS
export const withdrawalRow = (state: State, withdrawal: number): number =>
  (state.withdrawalsAt + withdrawal * WITHDRAWAL_WORDS) & ADDRESS_BITS
export const withdrawalAt = (state: State, row: number): number => (row - state.withdrawalsAt) / WITHDRAWAL_WORDS
export const lostDepositRow = (state: State, lost: number): number =>
  (state.lostDepositsAt + lost * LOST_DEPOSIT_WORDS) & ADDRESS_BITS
export const suspenseRow = (state: State, suspense: number): number => (state.suspenseAt + suspense * SUSPENSE_WORDS) & ADDRESS_BITS
export const vaultChainRow = (state: State, chain: number): number => (state.vaultChainsAt + chain * VAULT_CHAIN_WORDS) & ADDRESS_BITS
export const depositIdRow = (state: State, number: number): number =>
  (state.depositIdsAt + (number % DEPOSIT_IDS) * DEPOSIT_ID_WORDS) & ADDRESS_BITS
export const faucetMintRow = (state: State, number: number): number =>
  (state.faucetMintsAt + (number % FAUCET_MINTS) * FAUCET_MINT_WORDS) & ADDRESS_BITS
export const settlementRow = (state: State, batch: number): number =>
  (state.settlementsAt + (batch % SETTLEMENTS) * SETTLEMENT_WORDS) & ADDRESS_BITS

// Fields of one word.

export const get = <F extends number>(state: State, row: number, field: WordField<F>): number => state.i32[(row & ADDRESS_BITS) + field]!
export function set<F extends number>(state: State, row: number, field: WordField<F>, value: number): void {
  state.i32[(row & ADDRESS_BITS) + field] = value
}
export function add<F extends number>(state: State, row: number, field: WordField<F>, change: number): void {
  const { i32 } = state
  const at = (row & ADDRESS_BITS) + field
  i32[at] = i32[at]! + change
}

// Times, sequences, sums of lots.

export const getF64 = (state: State, row: number, field: F64Field): number => state.f64[((row & ADDRESS_BITS) + field) >>> 1]!
export function setF64(state: State, row: number, field: F64Field, value: number): void {
  state.f64[((row & ADDRESS_BITS) + field) >>> 1] = value
}
export function addF64(state: State, row: number, field: F64Field, change: number): void {
  const { f64 } = state
  const at = ((row & ADDRESS_BITS) + field) >>> 1
  f64[at] = f64[at]! + change
}

// Atoms.

export const getI64 = (state: State, row: number, field: I64Field): bigint => state.i64[((row & ADDRESS_BITS) + field) >>> 1]!
export function setI64(state: State, row: number, field: I64Field, value: bigint): void {
  state.i64[((row & ADDRESS_BITS) + field) >>> 1] = value
}
/** Copies a field to a register: for hot paths whose callers have no room for {@link getI64} inside, where its answer is allocated. */
export function load(state: State, row: number, field: I64Field, register: number): void {
  state.registers[register] = state.i64[((row & ADDRESS_BITS) + field) >>> 1]!
}
/** Adds a register to a field. */
export function gain(state: State, row: number, field: I64Field, register: number): void {
  const { i64, registers } = state
  const at = ((row & ADDRESS_BITS) + field) >>> 1
  i64[at] = i64[at]! + registers[register]!
}
/** Eight bytes as they are, whatever they mean: for copies and for clearing two words at once. */
export const copyOf = (state: State, row: number, field: number): bigint => state.i64[((row & ADDRESS_BITS) + field) >>> 1]!
export function clearBoth(state: State, row: number, field: number): void {
  state.i64[((row & ADDRESS_BITS) + field) >>> 1] = 0n
}
/** Copies the two words from `field` on to the same place of the outbox record at word `at`. */
export function copyTwo(state: State, row: number, field: number, at: number): void {
  const { i64, outbox } = state
  outbox.i64[((at & ADDRESS_BITS) + field) >>> 1] = i64[((row & ADDRESS_BITS) + field) >>> 1]!
}
/** A register as a number, which must be in the range of an i32: `Number(registers[r])` would be allocated. */
export const wordOfRegister = (state: State, register: number): number => state.i32[(REGISTERS_AT + register) * 2]!
/** Takes a register from a field. */
export function lose(state: State, row: number, field: I64Field, register: number): void {
  const { i64, registers } = state
  const at = ((row & ADDRESS_BITS) + field) >>> 1
  i64[at] = i64[at]! - registers[register]!
}
/** The balance row `balance` changed: readers compare VERSION before and after a copy. */
export function touchBalance(state: State, balance: number): void {
  const { i64 } = state
  const at = ((balance & ADDRESS_BITS) + BALANCE.VERSION) >>> 1
  i64[at] = i64[at]! + 1n
}
/** A word that is negative when the field is: the sign of an i64 is that of its upper word, which is cheaper to look at. */
export const signOf = (state: State, row: number, field: I64Field): number => state.i32[(row & ADDRESS_BITS) + field + 1]!
export const isZero = (state: State, row: number, field: I64Field): boolean =>
  (state.i32[(row & ADDRESS_BITS) + field]! | state.i32[(row & ADDRESS_BITS) + field + 1]!) === 0

/** Where a field stands in the memory, in 32-bit words: for shared_words.ts, keys that are compared, versions that are watched. */
export const wordOf = (row: number, field: number): number => (row & ADDRESS_BITS) + field
/** The `count` bytes from `field` on, in the memory itself. */
export const bytesOf = (state: State, row: number, field: number, count: number): Uint8Array =>
  new Uint8Array(state.buffers.memory, wordOf(row, field) * 4, count)

/** Fields of several words: copied from `source[at..]`, or made zero. */
export function setWords(state: State, row: number, field: number, words: number, source: Int32Array, at: number): void {
  const { i32 } = state
  for (let word = 0; word < words; word++) i32[wordOf(row, field) + word] = source[at + word]!
}
export function clearWords(state: State, row: number, field: number, words: number): void {
  state.i32.fill(0, wordOf(row, field), wordOf(row, field) + words)
}

// Faucets: numbers only, so a row is a view of its own.

/** The faucet row of an account (FAUCET_WORDS of columns.ts says what stands where). */
export const faucetOf = (state: State, account: number): Float64Array =>
  state.faucet.subarray(account * FAUCET_WORDS, (account + 1) * FAUCET_WORDS)

// Scalars and the clock.

export const scalar = (state: State, name: number): number => state.i32[SCALARS_AT + name]!
export function setScalar(state: State, name: number, value: number): void {
  state.i32[SCALARS_AT + name] = value
}
export function addScalar(state: State, name: number, change: number): void {
  state.i32[SCALARS_AT + name] = state.i32[SCALARS_AT + name]! + change
}
/** Assets and pairs that are listed: their numbers are below these. */
export const assetCount = (state: State): number => state.i32[SCALARS_AT + SCALAR.ASSETS]!
export const pairCount = (state: State): number => state.i32[SCALARS_AT + SCALAR.PAIRS]!
/** Time of the command being applied, Unix ms. */
export const now = (state: State): number => state.f64[CLOCK_AT + CLOCK.TIME]!
/** Its sequence. */
export const sequence = (state: State): number => state.f64[CLOCK_AT + CLOCK.SEQUENCE]!

/** The next command begins: its sequence. */
export function countCommand(state: State): void {
  state.f64[CLOCK_AT + CLOCK.SEQUENCE] = state.f64[CLOCK_AT + CLOCK.SEQUENCE]! + 1
}
/** One more fill, ever. */
export function countFills(state: State): void {
  state.f64[CLOCK_AT + CLOCK.FILLS] = state.f64[CLOCK_AT + CLOCK.FILLS]! + 1
}

/** One more connection that cancels at its end. */
export function countConnection(state: State): void {
  state.f64[CLOCK_AT + CLOCK.CONNECTIONS] = state.f64[CLOCK_AT + CLOCK.CONNECTIONS]! + 1
}

// Notes: numbers that one function of a command leaves for another, where no argument takes them there (balances.ts names them). They
// stand behind the registers, mean nothing once the command is over and are in no snapshot.

export const noted = (state: State, name: number): number => state.i32[NOTES_AT + name]!
export function note(state: State, name: number, value: number): void {
  state.i32[NOTES_AT + name] = value
}

// Client order ids, which have no other fields.

/** Copies the client order id of the order in `slot` to `words[at..]`. */
export function copyClientOrderId(state: State, slot: number, words: Int32Array, at: number): void {
  const { i32 } = state
  const row = clientOrderIdRow(state, slot)
  for (let word = 0; word < CLIENT_ORDER_ID_WORDS; word++) words[at + word] = i32[row + word]!
}
