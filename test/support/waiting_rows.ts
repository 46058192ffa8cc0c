/** Rows of orders that wait, for who spoils one of them (property/margin_canary.test.ts). Each says whether there was one of that kind. */
import { ConditionType } from '../../core/layout/conditional.ts'
import { SCALAR } from '../../core/state/columns.ts'
import {
  CONDITIONAL, CONDITIONAL_WORDS, PENDING_MARKS_MAX, PENDING_MARKS_WIDTH, Standing, TRAIL_GROUP, TRAIL_GROUP_WORDS, TWAP, TWAP_WORDS,
  WAITING, WAITING_WORDS,
} from '../../core/state/conditional_rows.ts'
import { PERP, PERP_TERMS, POSITION, POSITION_WORDS } from '../../core/state/margin_rows.ts'
import { get, pairCount, perpRow, perpTermsRow } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'

export class WaitingRows {
  private readonly state: State

  constructor(state: State) {
    this.state = state
  }

  /** Words of the rows in use for which something holds. */
  private conditionals(holds: (word: (field: number) => number) => boolean): number[] {
    const { conditionals, scalars } = this.state
    const all = Array.from({ length: scalars[SCALAR.CONDITIONALS_USED]! }, (_, number) => number * CONDITIONAL_WORDS)
    return all.filter((at) => conditionals[at + CONDITIONAL.KIND] !== 0 && holds((field) => conditionals[at + field]!))
  }

  /** Changes the first of some rows, if there is one. */
  private first(rows: number[], change: (at: number) => void): boolean {
    if (rows.length === 0) return false
    change(rows[0]!)
    return true
  }

  private change(rows: number[], field: number, change: (value: number) => number): boolean {
    const { conditionals } = this.state
    return this.first(rows, (at) => void (conditionals[at + field] = change(conditionals[at + field]!)))
  }

  addToAccount(field: number): boolean {
    const { waiting, scalars } = this.state
    const accounts = Array.from({ length: scalars[SCALAR.ACCOUNTS]! }, (_, row) => row * WAITING_WORDS)
    return this.first(accounts.filter((at) => waiting[at + WAITING.CONDITIONALS]! > 0), (at) => void waiting[at + field]!++)
  }

  uncount(): boolean {
    return this.first(this.conditionals((word) => word(CONDITIONAL.KIND) !== ConditionType.TWAP_START), (at) => {
      const of = this.state.conditionals[at + CONDITIONAL.OF]! * POSITION_WORDS
      this.state.positions[of + POSITION.CONDITIONALS]! -= 1
    })
  }

  pairWithItself(): boolean {
    const rows = this.conditionals((word) => word(CONDITIONAL.SIBLING) !== 0)
    return this.first(rows, (at) => void (this.state.conditionals[at + CONDITIONAL.SIBLING] = at / CONDITIONAL_WORDS + 1))
  }

  otherEntry(): boolean {
    return this.change(this.conditionals((word) => word(CONDITIONAL.ENTRY) !== 0), CONDITIONAL.ENTRY, (slot) => slot + 1)
  }

  moveTrigger(): boolean {
    const stands = this.conditionals((word) => word(CONDITIONAL.STANDING) === Standing.HEAP && word(CONDITIONAL.TRIGGER) !== 0 &&
      word(CONDITIONAL.KIND) !== ConditionType.TWAP_START)
    const ofOne = stands.filter((at) => this.state.triggerAt[at / CONDITIONAL_WORDS]! > 1)
    const above = (at: number): boolean => (this.state.conditionals[at + CONDITIONAL.FLAGS]! & 64) !== 0
    return this.first(ofOne, (at) => void (this.state.conditionals[at + CONDITIONAL.TRIGGER] = above(at) ? 1 : this.state.priceTicks - 1))
  }

  losePlace(): boolean {
    const rows = this.conditionals((word) => word(CONDITIONAL.STANDING) === Standing.HEAP)
    return this.first(rows, (at) => void (this.state.triggerAt[at / CONDITIONAL_WORDS] = 0))
  }

  loseNext(): boolean {
    return this.change(this.conditionals((word) => word(CONDITIONAL.STANDING) === Standing.TRAIL && word(CONDITIONAL.NEXT) !== 0),
      CONDITIONAL.NEXT, () => 0)
  }

  /** Word of the group of a stop. */
  group(change: (state: State, at: number) => void): boolean {
    const rows = this.conditionals((word) => word(CONDITIONAL.STANDING) === Standing.TRAIL)
    return this.first(rows, (at) => change(this.state, (this.state.conditionals[at + CONDITIONAL.GROUP]! - 1) * TRAIL_GROUP_WORDS))
  }

  /** Of the newest group, whose watermark is the mark itself. */
  worsen(): boolean {
    const { state } = this
    for (let pair = 0; pair < pairCount(state); pair++) {
      const perp = perpRow(state, pair)
      for (const side of [0, 1]) {
        const newest = get(state, perp, PERP.TRAIL_NEWEST + side)
        const at = (newest - 1) * TRAIL_GROUP_WORDS + TRAIL_GROUP.WATERMARK
        const isQuiet = (get(state, perp, PERP.MARKS) | get(state, perp, PERP.DUE_FIRST) | get(state, perp, PERP.LATER_FIRST)) === 0
        if (newest === 0 || !isQuiet || state.trailGroups[at] !== get(state, perp, PERP.MARK)) continue
        state.trailGroups[at]! += side === 0 ? -1 : 1
        return true
      }
    }
    return false
  }

  standElsewhere(from: number, to: number): boolean {
    return this.change(this.conditionals((word) => word(CONDITIONAL.STANDING) === from), CONDITIONAL.STANDING, () => to)
  }

  swapMarks(): boolean {
    const { state } = this
    for (let pair = 0; pair < pairCount(state); pair++) {
      if (get(state, perpRow(state, pair), PERP.MARKS) < 2) continue
      const ring = (get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER) - 1) * PENDING_MARKS_WIDTH
      const first = get(state, perpRow(state, pair), PERP.MARKS_FIRST)
      const [a, b] = [ring + 2 * first, ring + 2 * ((first + 1) % PENDING_MARKS_MAX)]
      const [one, other] = [state.pendingMarks[a]!, state.pendingMarks[b]!]
      state.pendingMarks[a] = other
      state.pendingMarks[b] = one
      return true
    }
    return false
  }

  private twaps(holds: (at: number) => boolean): number[] {
    const { twaps, scalars } = this.state
    return Array.from({ length: scalars[SCALAR.TWAPS_USED]! }, (_, number) => number * TWAP_WORDS)
      .filter((at) => twaps[at + TWAP.STATE] !== 0 && holds(at))
  }

  /** One that waits for a time. */
  twap(change: (state: State, at: number) => void): boolean {
    return this.first(this.twaps((at) => this.state.twaps[at + TWAP.CONDITIONAL] === 0), (at) => change(this.state, at))
  }

  otherParent(): boolean {
    const rows = this.twaps((at) => this.state.twaps[at + TWAP.CHILD] !== 0)
    return this.first(rows, (at) => void this.state.orderParents[this.state.twaps[at + TWAP.CHILD]! - 1]!++)
  }
}
