/**
 * Promise: sequenced time goes by the monotonic clock, whatever the wall clock does: a year forward for a second ends nothing and leaves
 * no trace in it. It follows the wall clock slowly, never goes back, and a start that cannot believe the wall clock lets timers rest until
 * the operator accepts it or it is right.
 */
import t from 'tap'
import { realIo, type Io } from '../../core/lib/io.ts'
import { MATCHER } from '../../core/ring/counters.ts'
import { SequencerClock, SLEW } from '../../core/sequencer/clock.ts'

const [SECOND, DAY, YEAR] = [1000, 86_400_000, 365 * 86_400_000]
const BOUNDS = { jumpMs: SECOND, gapMs: DAY }
const START = 1_700_000_000_000

/** A machine with both clocks, whose wall clock is `skew` ms from the truth. */
function machine(last = START) {
  const world = { passed: 0, skew: 0 }
  const io: Io = { ...realIo, now: () => Math.floor(START + world.passed + world.skew), seconds: () => 77 + world.passed / 1000 }
  const counters = new Float64Array(64)
  const said: string[] = []
  const start = (from = last): SequencerClock => new SequencerClock(io, from, BOUNDS, counters, (_level, message) => said.push(message))
  /** Lets time pass, as an idle matcher sees it. */
  const pass = (clock: SequencerClock, ms: number, step = 20): number => {
    let now = clock.now()
    for (let left = ms; left > 0; left -= step) {
      world.passed += Math.min(step, left)
      const next = clock.now()
      if (next < now) throw new Error(`time went back from ${now} to ${next}`)
      now = next
    }
    return now
  }
  return { world, io, counters, said, start, pass }
}

t.test('a second at a year later, and back', async (t) => {
  const { world, counters, said, start, pass } = machine()
  const clock = start()
  pass(clock, 10 * SECOND)
  world.skew = YEAR
  const during = pass(clock, SECOND)
  t.ok(during <= START + 11 * SECOND + 1, `${during - START} ms after the start`)
  world.skew = 0
  t.ok(Math.abs(pass(clock, 9 * SECOND) - (START + 20 * SECOND)) <= 1)
  t.equal(counters[MATCHER.clock_jumps], 2)
  t.equal(said.filter((message) => /jumped/.test(message)).length, 1, 'said once')
  t.equal(clock.waits, false)
})

t.test('a wall clock that is off is followed slowly, either way', async (t) => {
  for (const skew of [600, -600]) {
    const { world, counters, start, pass } = machine()
    const clock = start()
    world.skew = skew
    const passed = 100 * SECOND
    const moved = pass(clock, passed) - START - passed
    t.ok(Math.abs(moved - Math.sign(skew) * passed * SLEW) <= 2, `${moved} ms of ${skew} in 100 s`)
    pass(clock, 2_000 * SECOND, 1000)
    t.ok(Math.abs(counters[MATCHER.clock_behind_ms]!) <= 2, 'in the end it is there')
    t.equal(counters[MATCHER.clock_jumps], 0)
  }
})

t.test('a thread that was interrupted between its two clocks saw no jump', async (t) => {
  const { world, io, counters, pass } = machine()
  let late = 0
  const clock = new SequencerClock({ ...io, now: () => ((world.passed += late), io.now()) }, START, BOUNDS, counters, () => undefined)
  pass(clock, SECOND)
  late = 3600 * SECOND
  const now = clock.now()
  late = 0
  t.ok(pass(clock, SECOND) - now <= SECOND + 1)
  t.equal(counters[MATCHER.clock_jumps], 0)
})

t.test('a start', async (t) => {
  const starts: [name: string, last: number, time: number, waits: boolean][] = [
    ['of a fresh exchange', 0, START, false],
    ['after a night', START - DAY / 2, START, false],
    ['within the second', START + 900, START + 900, false],
    ['after too long, or with a wall clock a year ahead', START - DAY - SECOND, START - DAY - SECOND, true],
    ['with a wall clock that is behind', START + 2 * SECOND, START + 2 * SECOND, true],
  ]
  for (const [name, last, time, waits] of starts) {
    const { counters, said, start, pass } = machine(last)
    const clock = start()
    t.same([clock.now(), clock.waits, counters[MATCHER.clock_waits]], [time, waits, waits ? 1 : 0], name)
    t.equal(said.filter((message) => /timers rest/.test(message)).length, waits ? 1 : 0)
    t.equal(pass(clock, 5 * SECOND) - time <= 5 * SECOND + 1, true, 'it goes on by the monotonic clock')
  }
})

t.test('accepted: on from the wall clock, or from where it is when that is later', async (t) => {
  const ahead = machine(START - 2 * DAY)
  const first = ahead.start()
  ahead.pass(first, SECOND)
  first.accept()
  t.same([first.now(), first.waits, ahead.counters[MATCHER.clock_waits]], [START + SECOND, false, 0])
  const behind = machine(START + 2 * DAY)
  const second = behind.start()
  behind.pass(second, SECOND)
  second.accept()
  t.same([second.now(), second.waits], [START + 2 * DAY + SECOND, false])
  t.ok(behind.pass(second, SECOND) > START + 2 * DAY + SECOND)
})

t.test('put right: it goes on by itself', async (t) => {
  const { world, said, start, pass } = machine(START - 600 * SECOND)
  world.skew = YEAR
  const clock = start()
  t.equal(pass(clock, 10 * SECOND), START - 590 * SECOND)
  t.equal(clock.waits, true)
  world.skew = 0
  t.ok(Math.abs(pass(clock, SECOND) - (START + 11 * SECOND)) <= 2, 'the exchange was down for ten minutes')
  t.equal(clock.waits, false)
  t.match(said.at(-1), /plausible/)
})
