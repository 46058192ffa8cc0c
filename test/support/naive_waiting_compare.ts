/** Rows of orders that wait, of the engine and of the naive exchange: each as a reader sees it. See margin_duel.ts, naive_compare.ts. */
import { ConditionType } from '../../core/layout/conditional.ts'
import { trailTrigger, watermarkOf } from '../../core/margin/trails.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { CONDITIONAL, PENDING_MARKS_MAX, PENDING_MARKS_WIDTH, Standing, TWAP, WAITING } from '../../core/state/conditional_rows.ts'
import { PERP, PERP_TERMS, POSITION } from '../../core/state/margin_rows.ts'
import {
  conditionalRow, get, getF64, getI64, perpRow, perpTermsRow, positionRow, scalar, twapRow, waitingRow,
} from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import type { NaiveExchange } from './naive.ts'
import { Differs } from './naive_compare.ts'
import { conditionalsOf, hangingOn, trails, type Conditional } from './naive_conditional.ts'
import { triggerOf } from './naive_trailing.ts'
import { twapsOf } from './naive_twap.ts'

const same = (what: string, engine: unknown, expected: unknown): void => {
  if (String(engine) !== String(expected)) throw new Differs(`${what}: engine ${String(engine)}, naive ${String(expected)}`)
}

/** Every conditional order, TWAP order and mark that waits. */
export function compareWaiting(state: State, naive: NaiveExchange): void {
  const { waiting } = naive
  same('conditional orders', scalar(state, SCALAR.CONDITIONALS_LIVE), waiting.conditionals.length)
  same('TWAP orders', scalar(state, SCALAR.TWAPS_LIVE), waiting.twaps.length)
  for (const conditional of waiting.conditionals) compareConditional(state, conditional)
  compareTwaps(state, naive)
  naive.accounts.forEach((_, account) => {
    const row = waitingRow(state, account)
    same(`conditional orders of ${account}`, get(state, row, WAITING.CONDITIONALS), conditionalsOf(naive, account).length)
    same(`TWAP orders of ${account}`, get(state, row, WAITING.TWAPS), twapsOf(naive, account).length)
  })
  for (const position of naive.margins.positions) {
    const hanging = hangingOn(naive, position)
    const row = positionRow(state, position.row)
    same(`conditional orders of position ${position.row}`, get(state, row, POSITION.CONDITIONALS), hanging.length)
    same(`trailing stop of position ${position.row}`, get(state, row, POSITION.TRAILING) - 1, hanging.find(trails)?.row ?? -1)
  }
  naive.genesis.pairs.forEach((_, pair) => compareMarks(state, naive, pair))
}

function compareConditional(state: State, conditional: Conditional): void {
  const { row: number, kind } = conditional
  const row = conditionalRow(state, number)
  const named = `of conditional order ${number}`
  const trail = kind === ConditionType.TRAILING_STOP
  same(`kind ${named}`, get(state, row, CONDITIONAL.KIND), kind)
  same(`state ${named}`, get(state, row, CONDITIONAL.STATE), conditional.state)
  same(`lots left ${named}`, get(state, row, CONDITIONAL.LEFT), conditional.left)
  same(`entry order ${named}`, get(state, row, CONDITIONAL.ENTRY) - 1, conditional.entry?.slot ?? -1)
  same(`sibling ${named}`, get(state, row, CONDITIONAL.SIBLING) - 1, conditional.sibling?.row ?? -1)
  same(`position ${named}`, getF64(state, row, CONDITIONAL.OPENED), conditional.opened)
  if (trail) same(`watermark ${named}`, watermarkOf(state, row), conditional.watermark)
  if (trail) same(`trigger ${named}`, trailTrigger(state, row), triggerOf(conditional))
  const { HEAP, TRAIL, DUE, LATER, NOWHERE } = Standing
  const standings = { NOWHERE: [NOWHERE], WATCHES: [HEAP, TRAIL], DUE: [DUE], LATER: [LATER] }
  const stands = get(state, row, CONDITIONAL.STANDING)
  same(`standing ${named}`, standings[conditional.stands].some((each) => each === stands), true)
}

function compareTwaps(state: State, { waiting }: NaiveExchange): void {
  for (const twap of waiting.twaps) {
    const row = twapRow(state, twap.row)
    const named = `of TWAP order ${twap.row}`
    same(`state ${named}`, get(state, row, TWAP.STATE), twap.state)
    same(`filled ${named}`, get(state, row, TWAP.FILLED), twap.filled)
    same(`value ${named}`, getI64(state, row, TWAP.FILLED_QUOTE), twap.filledQuote)
    same(`fee ${named}`, getI64(state, row, TWAP.FEE), twap.fee)
    same(`slice ${named}`, get(state, row, TWAP.CHILD) - 1, twap.child?.slot ?? -1)
    same(`next time ${named}`, getF64(state, row, TWAP.NEXT_AT), twap.nextAt)
  }
}

function compareMarks(state: State, { waiting }: NaiveExchange, pair: number): void {
  const number = get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER)
  const [first, count] = [get(state, perpRow(state, pair), PERP.MARKS_FIRST), get(state, perpRow(state, pair), PERP.MARKS)]
  const marks = Array.from({ length: count }, (_, at) => {
    const place = (number - 1) * PENDING_MARKS_WIDTH + 2 * ((first + at) % PENDING_MARKS_MAX)
    return `${state.pendingMarks[place]}: ${state.pendingMarks[place + 1]}`
  })
  same(`marks of ${pair}`, marks, (waiting.marks.get(pair) ?? []).map(({ sequence, price }) => `${sequence}: ${price}`))
}
