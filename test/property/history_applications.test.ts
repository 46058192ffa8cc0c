/**
 * Promise: an application's backend is told of its own accounts as a search through all rows would tell: orders and movements by any
 * filter, page and cursor, with exact totals; what they traded, paid and who was active since any moment; and accounts of another
 * application appear in none of it. It holds while the store grows and is written in pieces.
 *
 * One run again: SEED=7 VARIANT=tight COMMANDS=5000 node ... test/property/history_applications.test.ts
 */
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { APPLICATION, APPLICATION_WORDS, SCALAR } from '../../core/state/columns.ts'
import { Entry, Transaction, type HistoryRequest, type Position, type Walk } from '../../core/history/answer/queries.ts'
import { Status } from '../../core/layout/event.ts'
import { ask, everything, Questioner, runHistory, type HistoryRun } from '../support/history.ts'
import { answerNaively } from '../support/naive_history.ts'

const { SEED, VARIANT, COMMANDS } = process.env
const given = SEED !== undefined || VARIANT !== undefined
const RUNS = given
  ? [[VARIANT ?? 'market', Number(SEED ?? 1), Number(COMMANDS ?? 5000)] as const]
  : ([['market', 61, 12_000], ['deep', 62, 8_000], ['fees', 63, 8_000], ['builder', 64, 8_000]] as const)
const QUESTIONS = 300
const NAMES = ['applicationOrders', 'applicationMovements', 'applicationStats'] as const
type Name = (typeof NAMES)[number]

class Asker extends Questioner {
  /** One of the two, or one that nobody is in. */
  private application(): number {
    return this.pick([0, 0, 0, 1, 1, 1, 2])
  }

  private walk(rows: readonly Position[]): Walk {
    const limit = this.pick([1, 2, 3, 20, 100])
    const skip = this.pick([0, 1, 2, 3, limit, this.random.below(rows.length), rows.length])
    if (this.random.below(2) === 0) return { limit, skip, after: null, countMost: this.pick([0, 1, 10, 1_000_000]) }
    const { sequence, index } = this.pick(rows)
    return { limit, skip: 0, after: this.maybe(4, () => null) ?? { sequence, index }, countMost: this.pick([0, 0, 10]) }
  }

  ask(name: Name): object {
    const { orders, movements, trades } = this.run.plain
    const application = this.application()
    if (name === 'applicationStats') {
      return { application, since: this.pick([0, 1, this.pick(trades).time, this.pick(trades).time + this.pick([1, -1]), 9e15]) }
    }
    if (name === 'applicationOrders') {
      return {
        application, ...this.walk(orders.map(({ sequence }) => ({ sequence, index: 0 }))),
        statuses: this.maybe(3, () => [this.pick(Object.values(Status)), Status.FILLED]),
        pair: this.maybe(3, () => this.random.below(5) - 1),
        sell: this.maybe(3, () => this.random.below(2) === 0),
        market: this.maybe(4, () => this.random.below(2) === 0),
      }
    }
    return {
      application, ...this.walk(movements), asset: this.maybe(3, () => this.random.below(5) - 1),
      entry: this.maybe(3, () => this.pick(Object.values(Entry))), transaction: this.maybe(3, () => this.pick(Object.values(Transaction))),
    }
  }
}

/** How many rows an answer has, or trades it tells of. */
const found = (answer: { rows: unknown[] } | { totalTrades: number }): number =>
  'rows' in answer ? answer.rows.length : answer.totalTrades

/** First question of `count` that is answered otherwise than by a search through all rows, and what was found by all of them. */
function search(run: HistoryRun, asker: Asker, name: Name, count: number): { different: unknown; rows: number } {
  let rows = 0
  for (let number = 0; number < count; number++) {
    const question = asker.ask(name)
    const answer = ask(run.answers, name, question as never)
    const wanted = (answerNaively(run.plain, { id: 1, name, ask: question, atLeast: 0 } as HistoryRequest) as { answer: unknown }).answer
    if (!isDeepStrictEqual(answer, wanted)) return { different: { question, answer, wanted }, rows }
    rows += found(answer)
  }
  return { different: null, rows }
}

for (const [variant, seed, commands] of RUNS) {
  t.test(`${variant}, seed ${seed}, ${commands} commands`, async (t) => {
    t.comment(`again: SEED=${seed} VARIANT=${variant} COMMANDS=${commands} node ... test/property/history_applications.test.ts`)
    const whileGrowing: unknown[] = []
    let asked = 0
    const run = runHistory(variant, seed, commands, (run, index) => {
      const asker = new Asker(run, seed + index)
      if (run.plain.trades.length === 0) return
      for (const name of NAMES) {
        run.answers.forget()
        const { different } = search(run, asker, name, 1)
        asked++
        if (different !== null) whileGrowing.push(different)
      }
    })
    t.strictSame(whileGrowing.slice(0, 1), [], `${asked} questions while it grew`)
    const asker = new Asker(run, seed)
    for (const name of NAMES) {
      const { different, rows } = search(run, asker, name, QUESTIONS)
      t.equal(different, null, `${QUESTIONS} questions: ${name}`)
      t.ok(rows > QUESTIONS / 2, `${rows} rows or trades were found`)
    }
    for (const application of [0, 1]) checkWhole(t, run, application)
  })
}

/** Everything of an application, by cursor and by page, is what its accounts did, and nothing is in two applications. */
function checkWhole(t: Pick<Test, 'ok' | 'strictSame'>, { answers, plain }: HistoryRun, application: number): void {
  const own = ({ account }: { account: number }): boolean => plain.applications.get(account) === application
  const walk = { application, limit: 100, skip: 0, countMost: 0 }
  const orders = everything((after) => ask(answers, 'applicationOrders', { ...walk, after }), ({ sequence }) => ({ sequence, index: 0 }))
  const movements = everything((after) => ask(answers, 'applicationMovements', { ...walk, after }), (row) => row)
  t.strictSame(orders.reverse(), plain.orders.filter(own), `orders of ${application}`)
  t.strictSame(movements.reverse(), plain.movements.filter(own), `movements of ${application}`)
  t.ok(orders.length > 10 && movements.length > 20, `${orders.length} orders, ${movements.length} movements`)
  const pages: unknown[] = []
  for (let skip = 0; skip < movements.length; skip += 7) {
    pages.push(...ask(answers, 'applicationMovements', { application, limit: 7, skip, after: null, countMost: 0 }).rows)
  }
  t.strictSame(pages.reverse(), plain.movements.filter(own), `movements of ${application} by pages of 7`)
}

t.test('an application has the users whose accounts are there, also while rows of accounts go to others', async (t) => {
  const wrong: unknown[] = []
  let looked = 0
  const usersOf = ({ answers, state }: HistoryRun): void => {
    looked++
    for (const application of [0, 1]) {
      const { totalUsers } = ask(answers, 'applicationStats', { application, since: 0 })
      const engine = state.applications[application * APPLICATION_WORDS + APPLICATION.ACCOUNTS]
      if (totalUsers !== engine) wrong.push({ looked, application, totalUsers, engine })
    }
  }
  const rows = [1, 40, 5000].map((apart) => {
    const { database, state } = runHistory('visited', 64, 5000, usersOf, apart)
    t.ok(state.scalars[SCALAR.ACCOUNT_TURNS]! > 200, 'rows went from one to another')
    return database.prepare('select * from application_user_page order by 1, 2').all()
  })
  t.strictSame(wrong.slice(0, 1), [], `${looked} looks`)
  t.strictSame(rows[1], rows[0], 'equal rows, wherever transactions fell')
  t.strictSame(rows[2], rows[0])
})
