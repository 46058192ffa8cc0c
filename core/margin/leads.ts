/**
 * Leads: what a leader has on each perpetual, and how far it is mirrored (orders/copy_step.ts). Whatever changes lots of a leader's
 * positions comes here, {@link noteLead}: its own orders, those of triggers, TWAP orders and liquidations, deleveraging. Orders of copies
 * never do, because nobody who follows has followers (programs/leaders.ts).
 *
 * A lead with something to mirror waits for its turn in a list, and its follows are walked from the oldest to the newest. A fill
 * meanwhile makes for another walk behind this one. Leads and leaders are named by the addresses of their rows.
 */
import { append, firstOf, take, WAITING_LEADS } from '../state/copy_queues.ts'
import { SCALAR } from '../state/columns.ts'
import { COPY_ACCOUNT, FOLLOW, LEAD, LEAD_WORDS, LEADER } from '../state/copy_rows.ts'
import { MARGIN_ACCOUNT, PERP_TERMS, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import {
  addF64, bucketRow, clearWords, copyAccountRow, followAt, followRow, get, leadAt, leaderAt, leaderRow, leadRow,
  marginAccountRow, pairCount, perpTermsRow, positionRow, scalar, set, setI64,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { parentOf } from './buckets.ts'

/** Perpetuals that each leader and each follow has rows for. */
export const perpsOf = (state: State): number => Math.max(1, state.genesis.limits.perps)

/** Number of a perpetual, from 1; 0 of a spot pair. */
export const numberOf = (state: State, pair: number): number => get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER)

/** The lead of the leader at `row` on the perpetual of this number. */
export const leadOf = (state: State, row: number, number: number): number =>
  leadRow(state, leaderAt(state, row) * perpsOf(state) + number - 1)

/** The leader of a lead. */
export const leaderOf = (state: State, lead: number): number => leaderRow(state, Math.floor(leadAt(state, lead) / perpsOf(state)))

/** `lots`, signed, more are in the position at `row`, whoever's that is, at `price` ticks. */
export function noteLead(state: State, row: number, lots: number, price: number): void {
  const own = get(state, copyAccountRow(state, get(state, row, POSITION.ACCOUNT)), COPY_ACCOUNT.LEADER)
  if (own === 0) return
  const leader = leaderRow(state, own - 1)
  const lead = leadOf(state, leader, numberOf(state, get(state, row, POSITION.PAIR)))
  addF64(state, lead, LEAD.LOTS, lots)
  set(state, lead, LEAD.LEVERAGE, get(state, row, POSITION.LEVERAGE))
  if (scalar(state, SCALAR.RULES) >= 5) set(state, lead, LEAD.PRICE, price)
  if (get(state, leader, LEADER.FOLLOWERS) === 0) return
  if (get(state, lead, LEAD.WAITS) === 0) begin(state, lead)
  else if (get(state, lead, LEAD.CURSOR) !== 0) set(state, lead, LEAD.AGAIN, 1)
}

/** It waits for its turn from now on, and for its walk to begin. */
function begin(state: State, lead: number): void {
  set(state, lead, LEAD.WAITS, 1)
  renew(state, lead)
  append(state, WAITING_LEADS, lead)
}

/** Its next walk has not begun. */
function renew(state: State, lead: number): void {
  set(state, lead, LEAD.CURSOR, 0)
  set(state, lead, LEAD.AGAIN, 0)
  setI64(state, lead, LEAD.EQUITY, 0n)
}

/** Others have their turns before its next one. */
export function letOthers(state: State, lead: number): void {
  if (get(state, lead, LEAD.NEXT) === 0) return
  take(state, WAITING_LEADS, lead)
  append(state, WAITING_LEADS, lead)
}

/** Everything of it is mirrored; or nobody is left for whom it would be. */
export function endLead(state: State, lead: number): void {
  if (get(state, lead, LEAD.WAITS) === 0) return
  take(state, WAITING_LEADS, lead)
  set(state, lead, LEAD.WAITS, 0)
  renew(state, lead)
}

/** Its walk goes on behind the follow at `follow`, or is over. */
export function goOnBehind(state: State, lead: number, follow: number): void {
  const next = get(state, follow, FOLLOW.NEWER)
  if (next !== 0) set(state, lead, LEAD.CURSOR, next)
  else if (get(state, lead, LEAD.AGAIN) !== 0) renew(state, lead)
  else endLead(state, lead)
}

/** The follow at `follow` is about to leave the list of the leader at `row`. */
export function leaveLeads(state: State, row: number, follow: number): void {
  for (let number = 1; number <= perpsOf(state); number++) {
    const lead = leadOf(state, row, number)
    if (get(state, lead, LEAD.CURSOR) === followAt(state, follow) + 1) goOnBehind(state, lead, follow)
  }
}

/** The first lead in turn; -1: there is nothing to mirror. */
export function firstLead(state: State): number {
  return firstOf(state, WAITING_LEADS)
}

/** The follow where its walk stands, or begins, the oldest of the leader; -1: it has none. */
export function cursorOf(state: State, lead: number): number {
  const cursor = get(state, lead, LEAD.CURSOR)
  const at = cursor === 0 ? get(state, leaderOf(state, lead), LEADER.OLDEST_FOLLOW) : cursor
  return at === 0 ? -1 : followRow(state, at - 1)
}

/** Leads of a new leader: what its account has now. Walks its buckets. */
export function beginLeads(state: State, row: number): void {
  const perps = perpsOf(state)
  clearWords(state, leadOf(state, row, 1), 0, perps * LEAD_WORDS)
  for (let pair = 0; pair < pairCount(state); pair++) {
    const number = numberOf(state, pair)
    if (number !== 0) set(state, leadOf(state, row, number), LEAD.PAIR, pair)
  }
  eachPosition(state, get(state, row, LEADER.ACCOUNT), (position) => {
    const lead = leadOf(state, row, numberOf(state, get(state, position, POSITION.PAIR)))
    addF64(state, lead, LEAD.LOTS, get(state, position, POSITION.LOTS))
    set(state, lead, LEAD.LEVERAGE, get(state, position, POSITION.LEVERAGE))
  })
}

/** Every bucket of an account. */
export function eachBucket(state: State, account: number, tell: (bucket: number) => void): void {
  for (let margin = parentOf(state, account); margin >= 0;) {
    for (let next = get(state, margin, MARGIN_ACCOUNT.FIRST_BUCKET); next !== 0;) {
      const bucket = bucketRow(state, next - 1)
      next = get(state, bucket, RISK_BUCKET.NEXT)
      tell(bucket)
    }
    const after = get(state, margin, MARGIN_ACCOUNT.NEXT)
    margin = after === 0 ? -1 : marginAccountRow(state, after - 1)
  }
}

function eachPosition(state: State, account: number, tell: (position: number) => void): void {
  eachBucket(state, account, (bucket) => {
    for (let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION); next !== 0;) {
      const position = positionRow(state, next - 1)
      next = get(state, position, POSITION.NEXT)
      tell(position)
    }
  })
}
