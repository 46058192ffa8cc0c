/** A signature opens one session, for as long as it could be fresh. */
import t from 'tap'
import { FRESHNESS_MS } from '../../gateway/auth/legacy.ts'
import { Openings } from '../../gateway/grpc/openings.ts'

const START = 1_700_000_000_000

t.test('a signature is taken once while it may be fresh, and forgotten later', async (t) => {
  // Whatever the moment within the periods: fresh for twice the window after it was first seen.
  for (const offset of [0, 1, FRESHNESS_MS, 2 * FRESHNESS_MS - 1, 2 * FRESHNESS_MS, 5 * FRESHNESS_MS]) {
    const openings = new Openings(START)
    openings.take('other', START, START)
    const at = START + offset
    t.equal(openings.take('s', START, at), 'taken')
    for (const later of [0, 1, FRESHNESS_MS, 2 * FRESHNESS_MS - 1]) {
      t.equal(openings.take('s', START, at + later), 'used', `${offset} + ${later}`)
    }
    t.equal(openings.take('s', START, at + 8 * FRESHNESS_MS), 'taken', 'long stale by then')
  }
})

t.test('what was signed before the start opens nothing', async (t) => {
  const openings = new Openings(START)
  t.equal(openings.take('s', START - 1, START), 'used')
  t.equal(openings.take('s', START, START), 'taken')
})

t.test('what is remembered is bounded', async (t) => {
  const openings = new Openings(START)
  for (let i = 0; i < 65_536; i++) if (openings.take(`${i}`, START, START) !== 'taken') t.fail(`${i}`)
  t.equal(openings.take('more', START, START), 'full')
  t.equal(openings.take('7', START, START), 'used', 'what is known stays known')
  t.equal(openings.take('more', START, START + 2 * FRESHNESS_MS), 'taken', 'there is room again')
  t.equal(openings.take('7', START, START + 2 * FRESHNESS_MS), 'used')
})
