/**
 * Where conditional orders stand until a price finds them (W), over the rows alone: formulas are written out here once more.
 *
 *   - heaps of triggers have those that stand there, each once, and what is met first stands above what is met later
 *   - queues of trailing stops have those that trail, each once, in the order of their watermarks, the best first; a bit says which are not
 *     empty
 *   - groups of trailing stops: the stack of a side is strictly ordered, from the best watermark to the worst; parts and stops are counted;
 *     a group without stops has two parts at least, so there are fewer than two groups for each stop; no name leads further than the rank
 *   - lists of what is due and of what was armed later, those in the order in which they were armed
 *   - marks that wait are in the order of their commands; while none does, and nothing is due, a mark that counts meets nothing that
 *     watches
 *
 * See invariants_waiting.ts.
 */
import { ConditionalState, ConditionType, LegFlag } from '../layout/conditional.ts'
import { PairStatus } from '../layout/command.ts'
import { PerpMode } from '../layout/margin.ts'
import { broken } from '../lib/assert.ts'
import { CLOCK, PAIR, SCALAR } from './columns.ts'
import {
  CONDITIONAL, PENDING_MARKS_MAX, PENDING_MARKS_WIDTH, Standing, TRAIL_GROUP, TRAIL_PLACES, TRAIL_QUEUE_WORDS,
} from './conditional_rows.ts'
import { PERP, PERP_TERMS } from './margin_rows.ts'
import {
  conditionalAt, conditionalRow, get, getF64, pairCount, pairRow, perpRow, perpTermsRow, scalar, trailGroupAt, trailGroupRow,
} from './rows.ts'
import type { State } from './state.ts'

export function checkTriggers(state: State, conditionals: readonly number[]): void {
  checkHeaps(state, conditionals)
  const groups = new Set<number>()
  const byPair = Map.groupBy(conditionals, (row) => get(state, row, CONDITIONAL.PAIR))
  for (let pair = 0; pair < pairCount(state); pair++) {
    const number = get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER)
    if (number === 0) continue
    const own = byPair.get(pair) ?? []
    for (const side of [0, 1]) {
      const stops = own.filter((row) => get(state, row, CONDITIONAL.STANDING) === Standing.TRAIL && sideOf(state, row) === side)
      checkQueues(state, pair, number, side, stops)
      checkStack(state, pair, side, stops, groups)
    }
    checkLists(state, pair, own)
    checkMarks(state, pair, number, own)
  }
  checkGroups(state, groups)
}

const above = (state: State, row: number): boolean => (get(state, row, CONDITIONAL.FLAGS) & LegFlag.ABOVE) !== 0
/** Of a trailing stop: 0 of longs, 1 of shorts. */
const sideOf = (state: State, row: number): number => ((get(state, row, CONDITIONAL.FLAGS) & LegFlag.SELL) !== 0 ? 0 : 1)

/** How far a price must go until it meets the one at `row`: lower numbers are met first. A trailing stop may be met by any price. */
function distance(state: State, row: number): number {
  const trigger = get(state, row, CONDITIONAL.TRIGGER)
  if (trigger === 0) return -Infinity
  return above(state, row) ? trigger : -trigger
}

function checkHeaps(state: State, conditionals: readonly number[]): void {
  const places = new Map<number, number>()
  const width = state.genesis.limits.conditionalOrders + 1
  for (let heap = 0; heap < 2 * pairCount(state); heap++) {
    const rowAt = (at: number): number => conditionalRow(state, state.triggers[heap * width + at]!)
    for (let at = 1; at <= state.triggers[heap * width]!; at++) {
      const row = rowAt(at)
      const named = `conditional order ${conditionalAt(state, row)}`
      const isOf = get(state, row, CONDITIONAL.PAIR) === heap >>> 1 && above(state, row) === (heap % 2 === 1)
      if (!isOf || places.has(row)) broken('W', `${named} is in the heap of another pair or direction, or in two`)
      places.set(row, at)
      const parent = rowAt(at >>> 1)
      if (at > 1 && isFirst(state, row, parent)) broken('W', `${named} stands below one that is met later`)
    }
  }
  for (const row of conditionals) {
    const stands = get(state, row, CONDITIONAL.STANDING) === Standing.HEAP
    const at = places.get(row) ?? 0
    if (stands !== at > 0 || state.triggerAt[conditionalAt(state, row)] !== at) {
      broken('W', `conditional order ${conditionalAt(state, row)} is not where it stands in its heap`)
    }
    places.delete(row)
  }
  if (places.size > 0) broken('W', 'a heap of triggers has a row that is free')
}

/** The one at `a` is met before that at `b`; of two at one trigger the older one, then the lower row. */
function isFirst(state: State, a: number, b: number): boolean {
  const further = distance(state, a) - distance(state, b)
  if (distance(state, a) !== distance(state, b)) return further < 0
  const made = getF64(state, a, CONDITIONAL.CREATED_SEQUENCE) - getF64(state, b, CONDITIONAL.CREATED_SEQUENCE)
  return made === 0 ? a < b : made < 0
}

/** The group at the end of the names that begin with that of a stop. */
function groupOf(state: State, stop: number): number {
  let group = trailGroupRow(state, get(state, stop, CONDITIONAL.GROUP) - 1)
  for (let names = 0; get(state, group, TRAIL_GROUP.INTO) !== 0; names++) {
    if (names > get(state, group, TRAIL_GROUP.RANK) + 32) broken('W', 'names of groups lead in circles')
    group = trailGroupRow(state, get(state, group, TRAIL_GROUP.INTO) - 1)
  }
  return group
}

const isWorse = (side: number, watermark: number, other: number): boolean => (side === 0 ? watermark < other : watermark > other)

function checkQueues(state: State, pair: number, number: number, side: number, stops: readonly number[]): void {
  const queues = ((number - 1) * 2 + side) * TRAIL_QUEUE_WORDS
  const named = `the queues of trailing stops of pair ${pair}`
  const left = new Set(stops)
  if (get(state, perpRow(state, pair), PERP.TRAILS + side) !== stops.length) broken('W', `${named} have ${stops.length} stops`)
  for (let bps = 0; bps < TRAIL_PLACES; bps++) {
    const [first, last] = [state.trailQueues[queues + 2 * bps]!, state.trailQueues[queues + 2 * bps + 1]!]
    const bit = ((state.trailQueues[queues + 2 * TRAIL_PLACES + (bps >>> 5)]! >>> (bps & 31)) & 1) === 1
    if (bit !== (first !== 0)) broken('W', `${named}: the bit of ${bps} says otherwise`)
    let [before, best] = [0, 0]
    for (let link = first; link !== 0; link = get(state, conditionalRow(state, link - 1), CONDITIONAL.NEXT)) {
      const row = conditionalRow(state, link - 1)
      if (!left.delete(row) || get(state, row, CONDITIONAL.TRAIL_BPS) !== bps) broken('W', `${named}: one of ${bps} does not belong there`)
      if (get(state, row, CONDITIONAL.PREV) !== before) broken('W', `${named}: one of ${bps} does not link back`)
      const watermark = get(state, groupOf(state, row), TRAIL_GROUP.WATERMARK)
      if (before !== 0 && isWorse(side, best, watermark)) broken('W', `${named}: one of ${bps} has a better mark than one before it`)
      best = watermark
      before = link
    }
    if (before !== last) broken('W', `${named}: that of ${bps} ends elsewhere`)
  }
  if (left.size > 0) broken('W', `${named}: ${left.size} stops are in none`)
}

/** The stack of a side: what is its own, from the oldest to the newest, and the parts of each. Adds all its groups to `groups`. */
function checkStack(state: State, pair: number, side: number, stops: readonly number[], groups: Set<number>): void {
  const perp = perpRow(state, pair)
  const named = `the groups of trailing stops of pair ${pair}`
  const counted = new Map<number, number>()
  for (const stop of stops) {
    const group = trailGroupRow(state, get(state, stop, CONDITIONAL.GROUP) - 1)
    counted.set(group, (counted.get(group) ?? 0) + 1)
  }
  const before = groups.size
  const add = (group: number, into: number): number => {
    if (groups.has(group)) broken('W', `${named}: one is there twice`)
    groups.add(group)
    const parts = partsOf(state, group)
    const [stopsOf, has] = [get(state, group, TRAIL_GROUP.STOPS), counted.get(group) ?? 0]
    if (get(state, group, TRAIL_GROUP.INTO) !== into || get(state, group, TRAIL_GROUP.PARTS) !== parts.length || stopsOf !== has) {
      broken('W', `${named}: one counts ${stopsOf} stops, has ${has}; ${parts.length} parts`)
    }
    if (has === 0 && parts.length < 2) broken('W', `${named}: one has no stop and is no sum of others`)
    const height = parts.reduce((most, part) => Math.max(most, 1 + add(part, trailGroupAt(state, group) + 1)), 0)
    if (height > get(state, group, TRAIL_GROUP.RANK)) broken('W', `${named}: one is higher than its rank`)
    return height
  }
  let [older, worst] = [0, 0]
  for (let link = get(state, perp, PERP.TRAIL_OLDEST + side); link !== 0;) {
    const group = trailGroupRow(state, link - 1)
    const watermark = get(state, group, TRAIL_GROUP.WATERMARK)
    add(group, 0)
    if (get(state, group, TRAIL_GROUP.OLDER) !== older) broken('W', `${named}: one does not link back`)
    if (watermark < 1 || (older !== 0 && !isWorse(side, watermark, worst))) broken('W', `${named} are not strictly ordered: ${watermark}`)
    older = link
    worst = watermark
    link = get(state, group, TRAIL_GROUP.NEWER)
  }
  if (get(state, perp, PERP.TRAIL_NEWEST + side) !== older) broken('W', `${named} end elsewhere`)
  const made = groups.size - before
  if (stops.length > 0 && made >= 2 * stops.length) broken('W', `${named}: ${made} for ${stops.length} stops`)
  for (const group of counted.keys()) if (!groups.has(group)) broken('W', `${named}: a stop is in none of them`)
}

function partsOf(state: State, group: number): number[] {
  const parts: number[] = []
  let newer = 0
  for (let link = get(state, group, TRAIL_GROUP.FIRST_PART); link !== 0;) {
    const part = trailGroupRow(state, link - 1)
    if (get(state, part, TRAIL_GROUP.NEWER) !== newer || parts.length > scalar(state, SCALAR.TRAIL_GROUPS_USED)) {
      broken('W', 'a part of a group of trailing stops does not link back')
    }
    parts.push(part)
    newer = link
    link = get(state, part, TRAIL_GROUP.OLDER)
  }
  return parts
}

/** Free and used groups are disjoint, and together all that were ever used. */
function checkGroups(state: State, groups: ReadonlySet<number>): void {
  const all = new Set(groups)
  let free = 0
  for (let link = scalar(state, SCALAR.TRAIL_GROUPS_FREE); link !== 0; free++) {
    const group = trailGroupRow(state, link - 1)
    if (all.has(group)) broken('W', 'a group of trailing stops is free and in use')
    all.add(group)
    link = get(state, group, TRAIL_GROUP.OLDER)
  }
  const used = scalar(state, SCALAR.TRAIL_GROUPS_USED)
  if (all.size !== used) broken('W', `${used} groups of trailing stops were used, ${groups.size} are in use and ${free} free`)
}

function checkLists(state: State, pair: number, own: readonly number[]): void {
  const perp = perpRow(state, pair)
  const lists = [[Standing.DUE, PERP.DUE_FIRST, PERP.DUE_LAST], [Standing.LATER, PERP.LATER_FIRST, PERP.LATER_LAST]] as const
  for (const [standing, first, last] of lists) {
    const left = new Set(own.filter((row) => get(state, row, CONDITIONAL.STANDING) === standing))
    let [before, armed] = [0, 0]
    for (let link = get(state, perp, first); link !== 0;) {
      const row = conditionalRow(state, link - 1)
      if (!left.delete(row) || get(state, row, CONDITIONAL.PREV) !== before) {
        broken('W', `pair ${pair}: one that waits its turn does not link back`)
      }
      const sequence = getF64(state, row, CONDITIONAL.ARMED_SEQUENCE)
      if (standing === Standing.LATER && sequence < armed) broken('W', `pair ${pair}: what was armed later is not in the order of that`)
      armed = sequence
      before = link
      link = get(state, row, CONDITIONAL.NEXT)
    }
    if (left.size > 0 || get(state, perp, last) !== before) broken('W', `pair ${pair}: ${left.size} that wait their turn are in no list`)
  }
}

function checkMarks(state: State, pair: number, number: number, own: readonly number[]): void {
  const perp = perpRow(state, pair)
  const [first, count] = [get(state, perp, PERP.MARKS_FIRST), get(state, perp, PERP.MARKS)]
  if (count > PENDING_MARKS_MAX || first < 0 || first >= PENDING_MARKS_MAX) broken('W', `pair ${pair}: ${count} marks from ${first} on`)
  let before = 0
  for (let at = 0; at < count; at++) {
    const place = (number - 1) * PENDING_MARKS_WIDTH + 2 * ((first + at) % PENDING_MARKS_MAX)
    const [sequence, mark] = [state.pendingMarks[place]!, state.pendingMarks[place + 1]!]
    if (sequence <= before || sequence > state.clock[CLOCK.SEQUENCE]! || mark < 1 || mark >= state.priceTicks) {
      broken('W', `pair ${pair}: mark ${mark} of command ${sequence} waits`)
    }
    before = sequence
  }
  const waits = (get(state, perp, PERP.DUE_FIRST) | get(state, perp, PERP.LATER_FIRST)) !== 0
  if (count === 0 && !waits && counts(state, pair)) for (const row of own) checkUnmet(state, row, get(state, perp, PERP.MARK))
}

/** The mark of a perpetual is fresh, and what it fires may enter orders. */
function counts(state: State, pair: number): boolean {
  const perp = perpRow(state, pair)
  const at = getF64(state, perp, PERP.INDEX_AT)
  return at !== 0 && state.clock[CLOCK.TIME]! - at <= getF64(state, perpTermsRow(state, pair), PERP_TERMS.STALE_MS) &&
    get(state, pairRow(state, pair), PAIR.STATUS) === PairStatus.ACTIVE && get(state, perp, PERP.MODE) < PerpMode.SETTLING
}

/** The mark was looked at, and fired all that it meets; its watermark is no worse than the mark. */
function checkUnmet(state: State, row: number, mark: number): void {
  const named = `conditional order ${conditionalAt(state, row)}`
  const standing = get(state, row, CONDITIONAL.STANDING)
  if (standing === Standing.HEAP) {
    const trigger = get(state, row, CONDITIONAL.TRIGGER)
    const met = trigger === 0 || (above(state, row) ? mark >= trigger : mark <= trigger)
    if (met) broken('W', `${named} is met by ${mark} and does not fire`)
  }
  if (standing !== Standing.TRAIL) return
  if (get(state, row, CONDITIONAL.STATE) !== ConditionalState.ARMED || get(state, row, CONDITIONAL.KIND) !== ConditionType.TRAILING_STOP) {
    broken('W', `${named} trails and is none that does`)
  }
  const [watermark, bps, side] = [
    get(state, groupOf(state, row), TRAIL_GROUP.WATERMARK), BigInt(get(state, row, CONDITIONAL.TRAIL_BPS)), sideOf(state, row),
  ]
  if (isWorse(side, watermark, mark)) broken('W', `${named} has ${watermark} as its best mark, and ${mark} was seen`)
  const met = side === 0
    ? BigInt(mark) * 10_000n <= BigInt(watermark) * (10_000n - bps) : BigInt(mark) * 10_000n >= BigInt(watermark) * (10_000n + bps)
  if (met) broken('W', `${named} is met by ${mark} and does not fire`)
}
