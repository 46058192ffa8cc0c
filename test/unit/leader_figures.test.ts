/**
 * Promise: figures of leaders (core/history/answer/leader_figures.ts) are those of the formula, worked out by hand: deposits and
 * withdrawals are neither profit nor loss, a fall counts from the highest point, only the last 30 days count, and of less than a day
 * nothing is said.
 */
import t from 'tap'
import { createAnswers } from '../../core/history/answer/answers.ts'
import type { LeaderFigures } from '../../core/history/answer/queries.ts'
import { identitiesOf } from '../../core/history/project/identities.ts'
import { createProjector } from '../../core/history/project/projector.ts'
import { openWriter, writePosition } from '../../core/history/store/store.ts'
import { EventType } from '../../core/layout/event.ts'
import { COLLATERAL, CollateralReason } from '../../core/layout/margin_events.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { ask, positionAt } from '../support/history.ts'
import { createBench } from '../support/naive_compare.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const HOUR = 3_600_000
/** Hours since 1970 in which the life of an account begins. */
const BEGIN = 480_000
const { DEPOSIT, WITHDRAW, SETTLED } = CollateralReason

/** An account whose collateral changed by so much, for these reasons, so many hours after it began. */
function storeOf(life: readonly (readonly [hour: number, reason: number, atoms: bigint])[]) {
  const { state } = createBench(genesisText(VARIANTS['perpsCopied']!))
  const database = openWriter(':memory:')
  const projector = createProjector(database, state.genesis, identitiesOf(state))
  const answers = createAnswers(database, state.genesis)
  const event = viewsOf(new ArrayBuffer(RECORD_BYTES))
  let deposited = 0n
  for (const [index, [hour, reason, amount]] of life.entries()) {
    deposited += amount
    encode(COLLATERAL, event, 0, {
      kind: EventType.COLLATERAL, account: 0, sequence: index + 1, time: (BEGIN + hour) * HOUR + 1, reason, amount, deposited, bucket: -1,
      accountKind: 0, asset: state.collateralAsset, marginAccountSequence: 1,
    })
    projector.project(event, 1)
  }
  const figures = (hour: number, account = 0): LeaderFigures | null => {
    const position = { ...positionAt(life.length, projector.flush()), time_ms: (BEGIN + hour) * HOUR + 5 }
    database.transaction(() => writePosition(database, position))()
    answers.forget()
    return ask(answers, 'leaderFigures', { accounts: [account] })[0]!
  }
  return figures
}

t.test('an account that loses, is paid in, wins, is paid out and loses again', async (t) => {
  const figures = storeOf([
    [0, DEPOSIT, 1000n], [5, SETTLED, -200n], [10, DEPOSIT, 800n], [20, SETTLED, 400n], [30, WITHDRAW, -1500n], [40, SETTLED, -50n],
  ])
  t.equal(figures(24), null, '23 hours are known')
  // 800 of 1000; then 1600 of 1600; then 2000 of 1600.
  t.strictSame(figures(25), { returned: 0, drawdown: 2000 })
  t.strictSame(figures(60), { returned: -1000, drawdown: 2000 }, '0.8 × 1.25 × 0.9 = 0.9, and the fall to 0.8 was the largest')
  t.strictSame(figures(5 + 721), { returned: 1250, drawdown: 1000 }, 'the first loss is older than 30 days: 1.25 × 0.9')
  t.strictSame(figures(5 + 720 + 200), { returned: 0, drawdown: 0 }, 'and now everything is')
  t.equal(figures(60, 1), null, 'nothing is known of another one')
})

t.test('who lost everything has lost it, whatever is paid in later', async (t) => {
  const figures = storeOf([[0, DEPOSIT, 1000n], [3, SETTLED, -1200n], [10, DEPOSIT, 5000n], [20, SETTLED, 5000n]])
  t.strictSame(figures(40), { returned: -10_000, drawdown: 10_000 })
})

t.test('who took everything out goes on where he was', async (t) => {
  const figures = storeOf([
    [0, DEPOSIT, 1000n], [3, SETTLED, 100n], [5, WITHDRAW, -1100n], [50, DEPOSIT, 10n], [60, SETTLED, 1n],
  ])
  t.strictSame(figures(70), { returned: 2100, drawdown: 0 }, '1.1 × 1.1')
})
