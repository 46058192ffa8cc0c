/**
 * Trailing stops that are armed: which of them a mark fires, and what the best mark since each was armed is, without touching those that
 * it does not fire.
 *
 * **Watermarks.** All stops of one perpetual and side see the same marks, so what was armed earlier has a watermark that is at least as
 * good. Stops with one watermark are a group, and the groups of a side are a stack: the newest has the worst. A better mark makes one group
 * of all that are worse, from the newest on, and a stop that is armed joins the newest group or becomes one. So a mark touches groups that
 * become one, each of them once in its life.
 *
 *   oldest                     newest            mark 105 comes:
 *   [120] -- [110] -- [104] -- [101]      =>     [120] -- [110] -- [105]
 *                                                                  |  \
 *                                                                [104] [101]     parts: their stops still name them
 *
 * A group that became part of another names it (INTO); a stop's watermark is that of the group at the end of these names. The one with the
 * higher RANK takes the other in, so that ends are near: a rank of r took 2^r groups to come about. A group without stops of its own that
 * has one part is replaced by it, so there are fewer than two groups for each stop.
 *
 * **Firing.** Of stops with one trailBps the one that was armed first has the best watermark, so it fires first: they are a queue. A mark
 * is held against the first of each queue that is not empty (state/trail_queues.ts), and against one bound before that: the best
 * watermark with the least trailBps.
 *
 * Of longs a mark is better when it is higher, and a stop fires at floor(watermark × (10^4 - bps) / 10^4) or below; of shorts mirrored,
 * rounded up. Widest product: 2^30 × 12,000 < 2^44.
 *
 * Groups are stored.
 */
import { assert } from '../lib/assert.ts'
import { CONDITIONAL, TRAIL_GROUP, TRAIL_GROUP_WORDS } from '../state/conditional_rows.ts'
import { SCALAR } from '../state/columns.ts'
import { PERP } from '../state/margin_rows.ts'
import {
  add, addScalar, clearWords, get, perpRow, scalar, set, setScalar, trailGroupAt, trailGroupRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { dequeue, enqueue, firstOf, leastBps, trailSide as sideOf } from '../state/trail_queues.ts'
import { isOlder } from '../state/trigger_heap.ts'

const WHOLE_BPS = 10_000
/** No name leads further. */
const NAMES_MOST = 64

const isBetter = (side: number, mark: number, other: number): boolean => (side === 0 ? mark > other : mark < other)

/** The first tick at which a stop of a side with this watermark fires. */
export const trailTick = (side: number, watermark: number, bps: number): number =>
  side === 0 ? Math.floor((watermark * (WHOLE_BPS - bps)) / WHOLE_BPS) : Math.ceil((watermark * (WHOLE_BPS + bps)) / WHOLE_BPS)

/** Best mark since the stop at address `row` was armed, ticks; 0: it is not. */
export function watermarkOf(state: State, row: number): number {
  const group = get(state, row, CONDITIONAL.GROUP)
  return group === 0 ? get(state, row, CONDITIONAL.WATERMARK) : get(state, ownOf(state, group), TRAIL_GROUP.WATERMARK)
}

/** Where the stop at address `row` fires now, ticks; 0: it is not armed. */
export function trailTrigger(state: State, row: number): number {
  const watermark = watermarkOf(state, row)
  return watermark === 0 ? 0 : trailTick(sideOf(state, row), watermark, get(state, row, CONDITIONAL.TRAIL_BPS))
}

/** The group at the end of the names that begin with `group`, row + 1. Readers of other threads may come here with a torn copy. */
function ownOf(state: State, group: number): number {
  let row = trailGroupRow(state, group - 1)
  for (let names = 0; names < NAMES_MOST; names++) {
    const into = get(state, row, TRAIL_GROUP.INTO)
    if (into === 0 || into > 2 * state.genesis.limits.conditionalOrders) return row
    row = trailGroupRow(state, into - 1)
  }
  return row
}

// Groups.

function makeGroup(state: State, mark: number): number {
  const free = scalar(state, SCALAR.TRAIL_GROUPS_FREE)
  const number = free === 0 ? scalar(state, SCALAR.TRAIL_GROUPS_USED) : free - 1
  const group = trailGroupRow(state, number)
  if (free === 0) addScalar(state, SCALAR.TRAIL_GROUPS_USED, 1)
  else setScalar(state, SCALAR.TRAIL_GROUPS_FREE, get(state, group, TRAIL_GROUP.OLDER))
  clearWords(state, group, 0, TRAIL_GROUP_WORDS)
  set(state, group, TRAIL_GROUP.WATERMARK, mark)
  return group
}

function giveGroup(state: State, group: number): void {
  clearWords(state, group, 0, TRAIL_GROUP_WORDS)
  set(state, group, TRAIL_GROUP.OLDER, scalar(state, SCALAR.TRAIL_GROUPS_FREE))
  setScalar(state, SCALAR.TRAIL_GROUPS_FREE, trailGroupAt(state, group) + 1)
}

/** Puts a group on top of the stack of a side. */
function push(state: State, perp: number, side: number, group: number): void {
  const newest = get(state, perp, PERP.TRAIL_NEWEST + side)
  const link = trailGroupAt(state, group) + 1
  set(state, group, TRAIL_GROUP.OLDER, newest)
  set(state, group, TRAIL_GROUP.NEWER, 0)
  if (newest === 0) set(state, perp, PERP.TRAIL_OLDEST + side, link)
  else set(state, trailGroupRow(state, newest - 1), TRAIL_GROUP.NEWER, link)
  set(state, perp, PERP.TRAIL_NEWEST + side, link)
}

/** `put` takes the place of `group` in the stack; 0: nothing does. */
function replaceInStack(state: State, perp: number, side: number, group: number, put: number): void {
  const older = get(state, group, TRAIL_GROUP.OLDER)
  const newer = get(state, group, TRAIL_GROUP.NEWER)
  const link = put === 0 ? 0 : trailGroupAt(state, put) + 1
  if (put !== 0) {
    set(state, put, TRAIL_GROUP.OLDER, older)
    set(state, put, TRAIL_GROUP.NEWER, newer)
  }
  if (older === 0) set(state, perp, PERP.TRAIL_OLDEST + side, link === 0 ? newer : link)
  else set(state, trailGroupRow(state, older - 1), TRAIL_GROUP.NEWER, link === 0 ? newer : link)
  if (newer === 0) set(state, perp, PERP.TRAIL_NEWEST + side, link === 0 ? older : link)
  else set(state, trailGroupRow(state, newer - 1), TRAIL_GROUP.OLDER, link === 0 ? older : link)
}

/** `part`, which stands nowhere, becomes part of `whole`. */
function linkPart(state: State, whole: number, part: number): void {
  const first = get(state, whole, TRAIL_GROUP.FIRST_PART)
  const link = trailGroupAt(state, part) + 1
  set(state, part, TRAIL_GROUP.INTO, trailGroupAt(state, whole) + 1)
  set(state, part, TRAIL_GROUP.OLDER, first)
  set(state, part, TRAIL_GROUP.NEWER, 0)
  if (first !== 0) set(state, trailGroupRow(state, first - 1), TRAIL_GROUP.NEWER, link)
  set(state, whole, TRAIL_GROUP.FIRST_PART, link)
  add(state, whole, TRAIL_GROUP.PARTS, 1)
}

function unlinkPart(state: State, part: number): void {
  const whole = trailGroupRow(state, get(state, part, TRAIL_GROUP.INTO) - 1)
  const older = get(state, part, TRAIL_GROUP.OLDER)
  const newer = get(state, part, TRAIL_GROUP.NEWER)
  if (newer === 0) set(state, whole, TRAIL_GROUP.FIRST_PART, older)
  else set(state, trailGroupRow(state, newer - 1), TRAIL_GROUP.OLDER, older)
  if (older !== 0) set(state, trailGroupRow(state, older - 1), TRAIL_GROUP.NEWER, newer)
  add(state, whole, TRAIL_GROUP.PARTS, -1)
  set(state, part, TRAIL_GROUP.INTO, 0)
}

/** The newest group and the one below it become one, in that one's place, with its watermark. */
function mergeNewest(state: State, perp: number, side: number): void {
  const newest = trailGroupRow(state, get(state, perp, PERP.TRAIL_NEWEST + side) - 1)
  const below = trailGroupRow(state, get(state, newest, TRAIL_GROUP.OLDER) - 1)
  const [a, b] = [get(state, newest, TRAIL_GROUP.RANK), get(state, below, TRAIL_GROUP.RANK)]
  replaceInStack(state, perp, side, newest, 0)
  const [whole, part] = a > b ? [newest, below] : [below, newest]
  if (whole === newest) replaceInStack(state, perp, side, below, newest)
  set(state, whole, TRAIL_GROUP.WATERMARK, get(state, below, TRAIL_GROUP.WATERMARK))
  if (a === b) set(state, whole, TRAIL_GROUP.RANK, a + 1)
  linkPart(state, whole, part)
}

/** A stop less, or a part less, names the group: it goes when it has none, and its only part takes its place. */
function shrinkGroup(state: State, perp: number, side: number, group: number): void {
  if (get(state, group, TRAIL_GROUP.STOPS) !== 0 || get(state, group, TRAIL_GROUP.PARTS) > 1) return
  const into = get(state, group, TRAIL_GROUP.INTO)
  const only = get(state, group, TRAIL_GROUP.FIRST_PART)
  const part = only === 0 ? 0 : trailGroupRow(state, only - 1)
  if (part !== 0) unlinkPart(state, part)
  if (into === 0) {
    if (part !== 0) set(state, part, TRAIL_GROUP.WATERMARK, get(state, group, TRAIL_GROUP.WATERMARK))
    replaceInStack(state, perp, side, group, part)
    giveGroup(state, group)
    return
  }
  const whole = trailGroupRow(state, into - 1)
  unlinkPart(state, group)
  giveGroup(state, group)
  if (part !== 0) linkPart(state, whole, part)
  else shrinkGroup(state, perp, side, whole)
}

/**
 * Holds the watermarks of both sides of `pair` against a mark. Makes `most` groups part of others at most; false: there are more, and the
 * next call goes on.
 */
export function ratchet(state: State, pair: number, mark: number, most: number): boolean {
  for (let side = 0; side < 2; side++) {
    const perp = perpRow(state, pair)
    for (;;) {
      const newest = get(state, perp, PERP.TRAIL_NEWEST + side)
      if (newest === 0) break
      const group = trailGroupRow(state, newest - 1)
      if (!isBetter(side, mark, get(state, group, TRAIL_GROUP.WATERMARK))) break
      const older = get(state, group, TRAIL_GROUP.OLDER)
      const stays = older === 0 || isBetter(side, get(state, trailGroupRow(state, older - 1), TRAIL_GROUP.WATERMARK), mark)
      if (stays) {
        set(state, group, TRAIL_GROUP.WATERMARK, mark)
        break
      }
      if (most-- <= 0) return false
      mergeNewest(state, perp, side)
    }
  }
  return true
}

// Stops.

/** The stop at address `row` trails from now on; its WATERMARK is the mark of now, which all watermarks were held against. */
export function enterTrail(state: State, row: number): void {
  const pair = get(state, row, CONDITIONAL.PAIR)
  const perp = perpRow(state, pair)
  const side = sideOf(state, row)
  const mark = get(state, row, CONDITIONAL.WATERMARK)
  const newest = get(state, perp, PERP.TRAIL_NEWEST + side)
  let group = newest === 0 ? 0 : trailGroupRow(state, newest - 1)
  if (group === 0 || get(state, group, TRAIL_GROUP.WATERMARK) !== mark) {
    assert(group === 0 || isBetter(side, get(state, group, TRAIL_GROUP.WATERMARK), mark), 'a watermark is worse than a mark that was seen')
    group = makeGroup(state, mark)
    push(state, perp, side, group)
  }
  add(state, group, TRAIL_GROUP.STOPS, 1)
  set(state, row, CONDITIONAL.GROUP, trailGroupAt(state, group) + 1)
  enqueue(state, row)
  add(state, perp, PERP.TRAILS + side, 1)
}

/** It trails no more; its WATERMARK is the best mark that there was. */
export function leaveTrail(state: State, row: number): void {
  const pair = get(state, row, CONDITIONAL.PAIR)
  const side = sideOf(state, row)
  set(state, row, CONDITIONAL.WATERMARK, watermarkOf(state, row))
  const group = trailGroupRow(state, get(state, row, CONDITIONAL.GROUP) - 1)
  set(state, row, CONDITIONAL.GROUP, 0)
  dequeue(state, row)
  add(state, perpRow(state, pair), PERP.TRAILS + side, -1)
  add(state, group, TRAIL_GROUP.STOPS, -1)
  shrinkGroup(state, perpRow(state, pair), side, group)
}

/** False when the mark fires no stop on that side of `pair`: the one bound says so. */
export function mayMeetTrail(state: State, pair: number, side: number, mark: number): boolean {
  const perp = perpRow(state, pair)
  if (get(state, perp, PERP.TRAILS + side) === 0) return false
  const best = get(state, trailGroupRow(state, get(state, perp, PERP.TRAIL_OLDEST + side) - 1), TRAIL_GROUP.WATERMARK)
  return isMet(side, trailTick(side, best, leastBps(state, pair, side, 0)), mark)
}

/** Address of the stop on that side of `pair` that the mark fires first: the one whose tick is met first, then the older one; -1: none. */
export function firstTrail(state: State, pair: number, side: number, mark: number): number {
  if (!mayMeetTrail(state, pair, side, mark)) return -1
  let found = -1
  let tick = 0
  for (let bps = leastBps(state, pair, side, 0); bps >= 0; bps = leastBps(state, pair, side, bps + 1)) {
    const row = firstOf(state, pair, side, bps)
    const own = trailTrigger(state, row)
    if (!isMet(side, own, mark)) continue
    if (found >= 0 && (own === tick ? isOlder(state, found, row) : !isBetter(side, own, tick))) continue
    found = row
    tick = own
  }
  return found
}

const isMet = (side: number, tick: number, mark: number): boolean => (side === 0 ? mark <= tick : mark >= tick)
