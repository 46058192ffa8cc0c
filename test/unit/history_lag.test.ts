/** Promise: how late the history is said to be is what it is, whether it follows steadily, hangs or has caught up. */
import t from 'tap'
import { Lag } from '../../core/history/lag.ts'

t.test('nothing is missing, however long nothing happens', async (t) => {
  const lag = new Lag()
  for (const now of [0, 1_000, 1e6]) t.equal(lag.look(7, 7, now), 0)
  t.equal(lag.look(7, 9, 2e6), 0, 'nor when it was heard of later than the journal')
})

t.test('one that hangs is later by the moment', async (t) => {
  const lag = new Lag()
  lag.look(7, 7, 0)
  // The journal may stand still or grow.
  const ends = [8, 8, 9, 50, 51]
  t.strictSame(ends.map((end, i) => lag.look(end, 7, 1_000 * (i + 1))), [0, 1_000, 2_000, 3_000, 4_000])
  t.equal(lag.look(60, 60, 6_000), 0, 'and not late at all when it has everything')
  t.equal(lag.look(61, 60, 7_000), 0, 'nor by what was before')
})

t.test('one that follows steadily is as late as it is', async (t) => {
  const lag = new Lag()
  const seen: number[] = []
  // A command a millisecond, and a history three seconds behind it, looked at four times a second.
  for (let now = 0; now < 20_000; now += 250) seen.push(lag.look(10_000 + now, 10_000 + now - 3_000, now))
  t.ok(seen.slice(13).every((ms) => ms >= 3_000 && ms <= 3_250), `${seen.slice(10, 30)}`)
})

t.test('one that catches up slowly', async (t) => {
  const lag = new Lag()
  lag.look(100, 0, 0)
  t.equal(lag.look(100, 99, 5_000), 5_000)
  t.equal(lag.look(101, 100, 5_100), 5_100, 'the last of them came this late')
  t.equal(lag.look(101, 101, 5_200), 0)
  t.equal(lag.look(102, 101, 5_300), 0, 'what was before is over')
})
