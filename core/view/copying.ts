/**
 * Leaders and follows from the shared columns. What is read of one account depends on commands of others, whose versions say nothing of it:
 * so each copy is one between two batches.
 */
import { FollowState, HANDLE_BYTES, HANDLE_WORDS, LeaderState } from '../layout/copying.ts'
import { perpsOf } from '../margin/leads.ts'
import { isClosing } from '../programs/copy_closing.ts'
import { isCopyingOff } from '../programs/copy_program.ts'
import { handleScope } from '../programs/leaders.ts'
import { APPLYING } from '../ring/counters.ts'
import { ACCOUNT, SCALAR } from '../state/columns.ts'
import { COPY_ACCOUNT, COPYING, FOLLOW, LEAD, LEADER } from '../state/copy_rows.ts'
import { findLeader } from '../state/indexes.ts'
import { MARGIN_ACCOUNT, STRATEGY_KEY_BYTES } from '../state/margin_rows.ts'
import {
  accountRow, bytesOf, copyAccountRow, copyingRow, followRow, get, getF64, getI64, leaderRow, leadRow, marginAccountRow, scalar,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { consistently, LONG, SHORT } from './consistent.ts'
import { paddedText } from './order_margin.ts'

export interface LeaderView {
  account: number
  /** '' when it was released: it names no one. */
  handle: string
  /** Live follows, and atoms that they have. */
  followers: number
  allocated: bigint
  /** Unix ms. */
  since: number
}

/** The last order of a copy that traded. */
export interface LastCopyView {
  pair: number
  /** Signed. */
  lots: number
  /** Ticks: the leader's fill; of a stop the mark. */
  reference: number
  /** How much worse than that, hundredths of a basis point. */
  slippage: number
  /** Unix ms. */
  at: number
}

export interface FollowView {
  /** Identity: row, and the sequence that made it. */
  row: number
  createdSequence: number
  account: number
  /** FollowState. */
  state: number
  leader: LeaderView
  /** Atoms. */
  allocation: bigint
  /** Hundredths; 0: as the leader's. */
  maxLeverage: number
  /** MarginMode. */
  mode: number
  /** Its margin sub-account: row, and the sequence that made it. */
  marginAccount: number
  marginSequence: number
  strategyKey: string
  copied: number
  skipped: number
  /** Of the last skip: number of the refusal, pair, -1: of none; Unix ms; 0: there was none. */
  skipCode: number
  skipPair: number
  skippedAt: number
  /** When what could not be closed, or waits for a price, is tried again, Unix ms; 0: there is nothing. */
  closeAt: number
  lastCopy: LastCopyView | null
  /** Atoms that all copies cost more than at their references; `null`: not known. */
  slippageCost: bigint | null
  startedAt: number
  updatedAt: number
}

export interface CopyProgramView {
  /** The operator's switch. */
  readonly on: boolean
  /** Rows in use: released handles in their pause included; follows that are being stopped included, and these alone. */
  readonly leaders: number
  readonly follows: number
  readonly stopping: number
  /** Of all leaders, perpetuals on which something that they did is not mirrored to everybody yet. */
  readonly waiting: number
}

/** Copy trading as a whole, of about now. Walks follows and leaders. */
export function readCopyProgram(state: State): CopyProgramView {
  const on = !isCopyingOff(state)
  if (!isThere(state)) return { on, leaders: 0, follows: 0, stopping: 0, waiting: 0 }
  const copying = copyingRow(state)
  let stopping = 0
  for (let number = 0; number < scalar(state, SCALAR.FOLLOWS_USED); number++) {
    if (get(state, followRow(state, number), FOLLOW.STATE) === FollowState.STOPPING) stopping++
  }
  let waiting = 0
  const leads = scalar(state, SCALAR.LEADERS_USED) * perpsOf(state)
  for (let number = 0; number < leads; number++) waiting += get(state, leadRow(state, number), LEAD.WAITS)
  return { on, leaders: get(state, copying, COPYING.LEADERS), follows: get(state, copying, COPYING.FOLLOWS), stopping, waiting }
}

/** Copies of an exchange without copy trading are empty, and its rows are not there. */
const isThere = (state: State): boolean => state.genesis.limits.leaders > 0

/** `patience`: LONG for walks over rows of everybody. */
function between<T>(gate: Int32Array, copy: () => T, patience = SHORT): T | null {
  return consistently(gate, gate, APPLYING, () => copy(), patience)
}

function copyLeader(state: State, number: number): LeaderView {
  const row = leaderRow(state, number)
  const registered = get(state, row, LEADER.STATE) === LeaderState.REGISTERED
  return {
    account: get(state, row, LEADER.ACCOUNT),
    handle: registered ? paddedText(bytesOf(state, row, LEADER.HANDLE, HANDLE_BYTES)) : '',
    followers: get(state, row, LEADER.FOLLOWERS), allocated: getI64(state, row, LEADER.ALLOCATED), since: getF64(state, row, LEADER.SINCE),
  }
}

/** Everybody who has a handle in the application, -1: in any; `null`: unreadable. */
export function readLeaders(state: State, gate: Int32Array, application: number): LeaderView[] | null {
  if (!isThere(state)) return []
  return between(gate, () => Array.from({ length: state.scalars[SCALAR.LEADERS_USED]! }, (_, number) => number)
    .filter((number) => get(state, leaderRow(state, number), LEADER.STATE) === LeaderState.REGISTERED)
    .map((number) => copyLeader(state, number))
    .filter(({ account }) => application < 0 || get(state, accountRow(state, account), ACCOUNT.APPLICATION) === application), LONG)
}

/** The leader that an account is, `undefined`: it has no handle; `null`: unreadable. */
export function readLeaderOf(state: State, gate: Int32Array, account: number): LeaderView | undefined | null {
  if (!isThere(state)) return undefined
  return between(gate, () => copyLeaderOf(state, account))
}

function copyLeaderOf(state: State, account: number): LeaderView | undefined {
  const number = get(state, copyAccountRow(state, account), COPY_ACCOUNT.LEADER) - 1
  if (number < 0 || number >= state.genesis.limits.leaders) return undefined
  const view = copyLeader(state, number)
  return view.handle === '' ? undefined : view
}

/** The handle of each account, '' where it has none; `null`: unreadable. Of accounts that never led one word says so. */
export function readHandles(state: State, gate: Int32Array, accounts: readonly number[]): string[] | null {
  const led = (account: number): boolean => isThere(state) && get(state, copyAccountRow(state, account), COPY_ACCOUNT.LEADER) !== 0
  if (!accounts.some(led)) return accounts.map(() => '')
  return between(gate, () => accounts.map((account) => copyLeaderOf(state, account)?.handle ?? ''))
}

/** Handle in small letters, as words. */
function wordsOf(handle: string): Int32Array {
  const words = new Int32Array(HANDLE_WORDS)
  Buffer.from(words.buffer).write(handle.toLowerCase(), 'latin1')
  return words
}

/**
 * The account of the leader with this handle, if `follower` has a live follow of it; `undefined`: nobody has the handle, or he has none;
 * `null`: unreadable.
 */
export function readFollowedLeader(state: State, gate: Int32Array, follower: number, handle: string): number | undefined | null {
  if (!isThere(state) || handle.length > HANDLE_BYTES) return undefined
  return between(gate, () => {
    const leader = findLeader(state, wordsOf(handle), 0, handleScope(state, follower))
    const named = leader >= 0 && get(state, leaderRow(state, leader), LEADER.STATE) === LeaderState.REGISTERED
    if (!named) return undefined
    const follows = copyFollows(state, follower, (row) => get(state, row, FOLLOW.LEADER) === leader)
    return follows.some((view) => view.state !== FollowState.STOPPING) ? get(state, leaderRow(state, leader), LEADER.ACCOUNT) : undefined
  })
}

/** Follows of an account, newest first, those that are being stopped included. A torn copy may follow any link: steps are counted. */
function copyFollows(state: State, account: number, matches: (row: number) => boolean): FollowView[] {
  const { follows, followsPerAccount } = state.genesis.limits
  const views: FollowView[] = []
  let number = get(state, copyAccountRow(state, account), COPY_ACCOUNT.FIRST_FOLLOW) - 1
  for (let left = followsPerAccount; left > 0 && number >= 0 && number < follows; left--) {
    const row = followRow(state, number)
    if (matches(row)) views.push(copyFollow(state, number))
    number = get(state, row, FOLLOW.ACCOUNT_NEXT) - 1
  }
  return views
}

/** Follows of an account; `null`: unreadable. */
export const readFollows = (state: State, gate: Int32Array, account: number): FollowView[] | null =>
  (isThere(state) ? between(gate, () => copyFollows(state, account, () => true)) : [])

/** Live follows of the leader that an account is or was, newest first; `null`: unreadable. */
export function readFollowers(state: State, gate: Int32Array, account: number): FollowView[] | null {
  if (!isThere(state)) return []
  return between(gate, () => {
    const { leaders, follows, followersPerLeader } = state.genesis.limits
    const leader = get(state, copyAccountRow(state, account), COPY_ACCOUNT.LEADER) - 1
    const views: FollowView[] = []
    if (leader < 0 || leader >= leaders) return views
    let number = get(state, leaderRow(state, leader), LEADER.NEWEST_FOLLOW) - 1
    for (let left = followersPerLeader; left > 0 && number >= 0 && number < follows; left--) {
      views.push(copyFollow(state, number))
      number = get(state, followRow(state, number), FOLLOW.OLDER) - 1
    }
    return views
  }, LONG)
}

function copyFollow(state: State, number: number): FollowView {
  const row = followRow(state, number)
  const { marginAccounts, leaders } = state.genesis.limits
  const within = (value: number, most: number): number => (value >= 0 && value < most ? value : 0)
  const marginAccount = within(get(state, row, FOLLOW.MARGIN_ACCOUNT), marginAccounts)
  const copied = get(state, row, FOLLOW.COPY_PAIR)
  return {
    row: number,
    createdSequence: getF64(state, row, FOLLOW.CREATED_SEQUENCE),
    account: get(state, row, FOLLOW.ACCOUNT),
    state: get(state, row, FOLLOW.STATE),
    leader: copyLeader(state, within(get(state, row, FOLLOW.LEADER), leaders)),
    allocation: getI64(state, row, FOLLOW.ALLOCATION),
    maxLeverage: get(state, row, FOLLOW.MAX_LEVERAGE),
    mode: get(state, row, FOLLOW.MODE),
    marginAccount,
    marginSequence: getF64(state, marginAccountRow(state, marginAccount), MARGIN_ACCOUNT.CREATED_SEQUENCE),
    strategyKey: paddedText(bytesOf(state, row, FOLLOW.STRATEGY_KEY, STRATEGY_KEY_BYTES)),
    copied: get(state, row, FOLLOW.COPIED),
    skipped: get(state, row, FOLLOW.SKIPPED),
    skipCode: get(state, row, FOLLOW.SKIP_CODE),
    skipPair: get(state, row, FOLLOW.SKIP_PAIR),
    skippedAt: getF64(state, row, FOLLOW.SKIPPED_AT),
    closeAt: isClosing(state, row) ? getF64(state, row, FOLLOW.CLOSE_AT) : 0,
    lastCopy: copied === 0 ? null : {
      pair: copied - 1, lots: get(state, row, FOLLOW.COPY_LOTS), reference: get(state, row, FOLLOW.REFERENCE),
      slippage: get(state, row, FOLLOW.SLIPPAGE), at: getF64(state, row, FOLLOW.COPIED_AT),
    },
    slippageCost: getI64(state, row, FOLLOW.SLIPPAGE_COST),
    startedAt: getF64(state, row, FOLLOW.STARTED_AT),
    updatedAt: getF64(state, row, FOLLOW.UPDATED_AT),
  }
}
