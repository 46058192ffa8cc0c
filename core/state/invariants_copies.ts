/**
 * Invariants of copy trading (C), over the rows alone.
 *
 *   - leaders and follows: free and used rows are disjoint and add up, and accounts and families count what they have
 *   - nobody leads and follows: who has a handle or followers has no follow
 *   - a leader has the lots of its positions on each perpetual, its live follows in one list, newest first, and the sum of what they have
 *   - a follow has a margin sub-account that names it, and no other account is named by one; strategy keys are of that account alone
 *   - what waits to be mirrored is in one list, of leaders with followers; who has something to close in the queue of its pause, in the
 *     order of times
 *
 * See invariants.ts.
 */
import { FollowState, LeaderState } from '../layout/copying.ts'
import { broken } from '../lib/assert.ts'
import { ACCOUNT, CLOCK, SCALAR } from './columns.ts'
import { CLOSING_FOLLOWS } from './copy_queues.ts'
import { COPY_ACCOUNT, COPYING, FOLLOW, LEAD, LEADER } from './copy_rows.ts'
import { findLeader } from './indexes.ts'
import { MARGIN_ACCOUNT, PERP_TERMS, POSITION } from './margin_rows.ts'
import {
  accountRow, copyAccountRow, copyingRow, followAt, followRow, get, getF64, getI64, leadAt, leaderAt, leaderRow, leadRow,
  marginAccountRow, pairCount, perpTermsRow, positionRow, scalar, wordOf,
} from './rows.ts'
import type { State } from './state.ts'

export function checkCopies(state: State): void {
  if (scalar(state, SCALAR.LEADERS_USED) === 0) return
  const leaders = pool(state, 'leader', SCALAR.LEADERS_USED, COPYING.LEADERS_FREE, COPYING.LEADERS, leaderRow, LEADER.STATE, LEADER.NEXT)
  const follows = pool(
    state, 'follow', SCALAR.FOLLOWS_USED, COPYING.FOLLOWS_FREE, COPYING.FOLLOWS, followRow, FOLLOW.STATE, FOLLOW.ACCOUNT_NEXT,
  )
  checkAccounts(state, leaders, follows)
  for (const row of leaders) checkLeader(state, row, follows)
  checkMarginAccounts(state, follows)
  checkLeads(state, leaders)
  checkClosing(state, follows)
}

/** Rows in use. */
function pool(
  state: State, name: string, used: number, free: number, live: number, rowAt: (state: State, number: number) => number, mark: number,
  next: number,
): number[] {
  const freed = new Set<number>()
  for (let link = get(state, copyingRow(state), free); link !== 0; link = get(state, rowAt(state, link - 1), next)) {
    const row = rowAt(state, link - 1)
    if (freed.has(row) || link > scalar(state, used)) broken('C', `a free row of a ${name} is twice in its list, or was never used`)
    if (get(state, row, mark) !== 0) broken('C', `a ${name} is in the free list`)
    freed.add(row)
  }
  const rows = Array.from({ length: scalar(state, used) }, (_, number) => rowAt(state, number)).filter((row) => !freed.has(row))
  if (rows.some((row) => get(state, row, mark) === 0)) broken('C', `a row of a ${name} is neither free nor in use`)
  if (rows.length !== get(state, copyingRow(state), live)) broken('C', `${rows.length} ${name}s in use, and not so many counted`)
  return rows
}

/** The rows of a list, each of which links back. */
function walk(
  state: State, first: number, rowAt: (state: State, number: number) => number, next: number, prev: number, what: string,
): number[] {
  const rows: number[] = []
  for (let [link, before] = [first, 0]; link !== 0;) {
    const row = rowAt(state, link - 1)
    if (get(state, row, prev) !== before || rows.includes(row)) broken('C', `${what} do not link back, or are a circle`)
    rows.push(row)
    before = link
    link = get(state, row, next)
  }
  return rows
}

function checkAccounts(state: State, leaders: readonly number[], follows: readonly number[]): void {
  const families = new Map<number, [leaders: number, follows: number]>()
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
    const own = copyAccountRow(state, account)
    const led = leaders.filter((row) => get(state, row, LEADER.ACCOUNT) === account)
    if (led.length > 1) broken('C', `account ${account} is a leader twice`)
    if (get(state, own, COPY_ACCOUNT.LEADER) !== (led.length === 0 ? 0 : leaderAt(state, led[0]!) + 1)) broken('C', `leader of ${account}`)
    const listed = walk(
      state, get(state, own, COPY_ACCOUNT.FIRST_FOLLOW), followRow, FOLLOW.ACCOUNT_NEXT, FOLLOW.ACCOUNT_PREV, `follows of ${account}`,
    )
    const theirs = follows.filter((row) => get(state, row, FOLLOW.ACCOUNT) === account)
    const same = listed.length === theirs.length && listed.every((row) => theirs.includes(row))
    if (!same || listed.length !== get(state, own, COPY_ACCOUNT.FOLLOWS)) broken('C', `follows of account ${account}`)
    const leads = led.some((row) => get(state, row, LEADER.STATE) === LeaderState.REGISTERED || get(state, row, LEADER.FOLLOWS) !== 0)
    if (leads && listed.length > 0) broken('C', `account ${account} leads and follows`)
    const of = get(state, accountRow(state, account), ACCOUNT.FAMILY)
    const family = families.get(of) ?? [0, 0]
    families.set(of, [family[0] + led.length, family[1] + listed.length])
  }
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
    const [has, own] = [families.get(account) ?? [0, 0], copyAccountRow(state, account)]
    const counted = get(state, own, COPY_ACCOUNT.FAMILY_LEADERS) === has[0] && get(state, own, COPY_ACCOUNT.FAMILY_FOLLOWS) === has[1]
    if (!counted) broken('C', `the family of ${account} has ${has[0]} leaders and ${has[1]} follows, and not so many are counted`)
  }
}

function checkLeader(state: State, row: number, follows: readonly number[]): void {
  const leader = leaderAt(state, row)
  const theirs = follows.filter((each) => get(state, each, FOLLOW.LEADER) === leader)
  const live = theirs.filter((each) => get(state, each, FOLLOW.STATE) !== FollowState.STOPPING)
  const listed = walk(state, get(state, row, LEADER.NEWEST_FOLLOW), followRow, FOLLOW.OLDER, FOLLOW.NEWER, `followers of ${leader}`)
  const same = listed.length === live.length && listed.every((each) => live.includes(each))
  if (!same || get(state, row, LEADER.FOLLOWERS) !== live.length) broken('C', `live follows of leader ${leader}`)
  if (get(state, row, LEADER.FOLLOWS) !== theirs.length) broken('C', `follows of leader ${leader}`)
  const oldest = listed.at(-1)
  if (get(state, row, LEADER.OLDEST_FOLLOW) !== (oldest === undefined ? 0 : followAt(state, oldest) + 1)) broken('C', 'the oldest follow')
  const made = listed.map((each) => getF64(state, each, FOLLOW.CREATED_SEQUENCE))
  if (made.some((each, index) => index > 0 && each >= made[index - 1]!)) broken('C', `followers of ${leader} are not newest first`)
  const sum = live.reduce((all, each) => all + getI64(state, each, FOLLOW.ALLOCATION), 0n)
  if (getI64(state, row, LEADER.ALLOCATED) !== sum) broken('C', `${sum} atoms follow leader ${leader}`)
  const named = get(state, row, LEADER.STATE) !== LeaderState.NAMELESS
  const application = get(state, accountRow(state, get(state, row, LEADER.ACCOUNT)), ACCOUNT.APPLICATION)
  const found = findLeader(state, state.i32, wordOf(row, LEADER.FOLDED), application)
  if (named && found !== leader) broken('C', `the handle of ${leader} is not found`)
  if (!named && theirs.length === 0) broken('C', `leader ${leader} has neither name nor follows`)
}

/** The margin sub-accounts of follows, and of nobody else. */
function checkMarginAccounts(state: State, follows: readonly number[]): void {
  let named = 0
  for (let margin = 0; margin < scalar(state, SCALAR.MARGIN_ACCOUNTS_USED); margin++) {
    const row = marginAccountRow(state, margin)
    if (get(state, row, MARGIN_ACCOUNT.OPEN) !== 0 && get(state, row, MARGIN_ACCOUNT.FOLLOW) !== 0) named++
  }
  if (named !== follows.length) broken('C', `${named} margin accounts are of follows, of which there are ${follows.length}`)
  for (const row of follows) {
    const margin = marginAccountRow(state, get(state, row, FOLLOW.MARGIN_ACCOUNT))
    const own = get(state, margin, MARGIN_ACCOUNT.OPEN) !== 0 && get(state, margin, MARGIN_ACCOUNT.FOLLOW) === followAt(state, row) + 1 &&
      get(state, margin, MARGIN_ACCOUNT.ACCOUNT) === get(state, row, FOLLOW.ACCOUNT)
    if (!own) broken('C', `follow ${followAt(state, row)} has no margin account of its own`)
  }
}

/** Lots of leaders, and the list of what waits to be mirrored. */
function checkLeads(state: State, leaders: readonly number[]): void {
  const perps = Math.max(1, state.genesis.limits.perps)
  const copying = copyingRow(state)
  const listed = walk(state, get(state, copying, COPYING.FIRST_LEAD), leadRow, LEAD.NEXT, LEAD.PREV, 'leads')
  const last = listed.at(-1)
  if (get(state, copying, COPYING.LAST_LEAD) !== (last === undefined ? 0 : leadAt(state, last) + 1)) broken('C', 'the last lead')
  for (const row of leaders) {
    for (let pair = 0; pair < pairCount(state); pair++) {
      const number = get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER)
      if (number === 0) continue
      const lead = leadRow(state, leaderAt(state, row) * perps + number - 1)
      const lots = lotsOf(state, get(state, row, LEADER.ACCOUNT), pair)
      if (getF64(state, lead, LEAD.LOTS) !== lots) broken('C', `leader ${leaderAt(state, row)} has ${lots} lots of ${pair}`)
      if ((get(state, lead, LEAD.WAITS) !== 0) !== listed.includes(lead)) broken('C', 'a lead waits in no list, or stands in one')
      const cursor = get(state, lead, LEAD.CURSOR)
      const at = cursor === 0 ? -1 : followRow(state, cursor - 1)
      const walks = at >= 0 && get(state, at, FOLLOW.LEADER) === leaderAt(state, row) &&
        get(state, at, FOLLOW.STATE) !== FollowState.STOPPING
      if (at >= 0 && !walks) broken('C', 'a walk stands at a follow that is not of its leader')
      if (listed.includes(lead) && get(state, row, LEADER.FOLLOWERS) === 0 && at >= 0) broken('C', 'a walk over nobody')
    }
  }
}

function lotsOf(state: State, account: number, pair: number): number {
  let lots = 0
  for (let number = 0; number < scalar(state, SCALAR.POSITIONS_USED); number++) {
    const row = positionRow(state, number)
    const open = getF64(state, row, POSITION.OPENED_SEQUENCE) !== 0
    if (open && get(state, row, POSITION.ACCOUNT) === account && get(state, row, POSITION.PAIR) === pair) {
      lots += get(state, row, POSITION.LOTS)
    }
  }
  return lots
}

/** Those with something to close: each in one queue, once; of those whose time has not come the earlier first, behind all others. */
function checkClosing(state: State, follows: readonly number[]): void {
  const copying = copyingRow(state)
  const at = (row: number): number => getF64(state, row, FOLLOW.CLOSE_AT)
  const stops = (row: number): boolean => get(state, row, FOLLOW.STATE) === FollowState.STOPPING
  const closing = follows.filter((row) => stops(row) || get(state, row, FOLLOW.CLOSE_LEFT) !== 0)
  let stand = 0
  CLOSING_FOLLOWS.forEach(({ first, last: end, next, prev, rowOf }, queue) => {
    const listed = walk(state, get(state, copying, first), rowOf, next, prev, 'follows with something to close')
    const last = listed.at(-1)
    if (get(state, copying, end) !== (last === undefined ? 0 : followAt(state, last) + 1)) broken('C', 'the last of a queue')
    const own = listed.every((row) => closing.includes(row) && get(state, row, FOLLOW.CLOSE_QUEUE) === queue)
    if (!own) broken('C', 'a follow with nothing to close stands in a queue, or in another one')
    stand += listed.length
    const later = listed.filter((row) => at(row) > state.clock[CLOCK.TIME]!)
    if (later.some((row, index) => index > 0 && at(row) < at(later[index - 1]!))) broken('C', 'a queue is not in the order of times')
    if (listed.slice(listed.length - later.length).some((row) => !later.includes(row))) broken('C', 'a close that is due is behind others')
  })
  if (stand !== closing.length) broken('C', 'a follow with something to close stands in no queue')
}
