/**
 * Promise: what the exchange acknowledged is there after any crash, exactly once and to the atom; and what it did not
 * acknowledge is there once or not at all; of perpetuals too, with everything that time and prices do to them. On the simulated machine
 * (world.ts), with a new seed each time.
 */
import t, { type Test } from 'tap'
import { eachRound, seedOf } from '../suite/rounds.ts'
import { again, simulate, trial, TURNS } from './simulate.ts'
import { swarmOf, type Swarm } from './swarm.ts'

const SEED = seedOf()
/** Turns: of runs that are compared, and of those that look for faults. */
const [SAME, SHORT] = [100, 300]

t.test('the same seed is the same run', async (t) => {
  const [one, two] = [simulate(SEED, SAME), simulate(SEED, SAME)]
  t.equal(one.digest, two.digest)
  t.not(one.digest, simulate(SEED + 1, SAME).digest, 'and another seed another one')
})

t.test('crashes lose nothing and double nothing', async (t) => {
  t.comment(`seeds from ${SEED} on; one of them again: ${again({ seed: SEED, turns: SHORT })}`)
  for (const round of eachRound(t, { short: 3, deep: 4000 })) {
    const failure = trial(SEED + round, SHORT)
    if (failure !== null) return t.fail(`seed ${failure.seed}: ${failure.message}\nagain: ${again(failure)}`)
  }
  t.pass('none of them broke a promise')
})

/** Of programs that any exchange has, and of copy trading. */
const PROGRAMS = [
  'application fee of a taker', 'application fee of a maker', 'builder fee set', 'revenue share', 'lease claimed', 'lease renewed',
  'lease conflict', 'fenced order', 'order of a holder', 'another maker',
]
const COPIES = [
  'leader REGISTERED', 'leader RELEASED', 'follow CREATED', 'follow UPDATED', 'follow COPIED', 'follow SKIPPED', 'follow STOPPING',
  'follow CLOSED', 'follow STOPPED', 'position closed by a follower',
]

/** Of chains of users in one application. */
const REFERRALS = [
  'brought at sign-in', 'reward of level 1', 'reward of level 2', 'reward of level 3', 'rewards moved', 'rewards moved once for a key',
]

/** Of money in and out. */
const MONEY = [
  ...['PENDING', 'SIGNED', 'SUBMITTED', 'CONFIRMED', 'EXPIRED', 'CANCELLED'].map((status) => `withdrawal ${status}`),
  'withdrawal made once for a key', 'deposit credited', 'deposit in suspense', 'deposit of less than an atom', 'deposit taken once',
  'suspense assigned', 'settlement opened', 'settlement confirmed', 'reorganisation', 'deep reorganisation', 'chain rewound',
]

/** Runs until each of `wanted` was met, one of them with a history, which costs more than all else. */
function meets(t: Test, wanted: readonly string[], isOne: (swarm: Swarm) => boolean): void {
  const counts: Record<string, number> = {}
  const missed = (): string[] => wanted.filter((name) => (counts[name] ?? 0) === 0)
  const seeds = Array.from({ length: 120 }, (_, at) => 1 + at).filter((seed) => isOne(swarmOf(seed)))
  let runs = 0
  for (; runs < seeds.length && missed().length > 0; runs++) {
    const history = runs === 0 || missed().some((name) => name.includes('history'))
    const report = simulate(seeds[runs]!, history ? SHORT : TURNS, history)
    for (const [name, count] of Object.entries(report.counts)) counts[name] = (counts[name] ?? 0) + count
  }
  for (const name of wanted) t.ok((counts[name] ?? 0) > 0, name)
  t.comment(`${runs} runs; ${wanted.map((name) => `${name}: ${counts[name] ?? 0}`).join(', ')}`)
}

t.test('a run meets what it is there for', async (t) => {
  meets(t, [
    'power failures', 'kills', 'failed syncs', 'follower killed', 'follower compared', 'snapshots', 'full rings',
    'clock jumps', 'repeated', 'history compared', 'crash: history reads', 'crash: applied, not answered',
    'losses accepted', 'tails cut', 'clients that lost orders',
    'crash: answered', 'crash: written journal/data', 'crash: synced journal/data', ...PROGRAMS,
  ], ({ perps, programs }) => !perps && programs['builder']! > 0 && programs['leases']! > 0)
})

t.test('and what chains of users are there for', async (t) => {
  meets(t, REFERRALS, ({ programs }) => programs['builder'] === 0 && programs['referrals']! > 0)
})

t.test('and what money in and out is there for', async (t) => {
  meets(t, [...MONEY, 'kills', 'power failures', 'losses accepted'], ({ perps, programs }) => !perps && programs['vault']! > 10)
})

t.test('and what perpetuals are there for', async (t) => {
  // The drill meets every kind of liquidation in one run; what is left is met by what the others draw.
  meets(t, [
    'funding rate', 'funding payment', 'liquidation STARTED', 'liquidation ORDERS_CANCELLED', 'liquidation REDUCED',
    'liquidation TAKEN_OVER', 'liquidation DELEVERAGED', 'liquidation BAD_DEBT', 'liquidation COMPLETED',
    'collateral DEPOSIT', 'collateral WITHDRAW',
    'collateral SUB_ACCOUNT', 'collateral BUCKET', 'collateral ORDER', 'collateral LIQUIDATION_FEE', 'collateral INSURANCE',
    'position SETTLEMENT', 'reduce-only order resized', 'prices jump', 'prices frozen', 'power failures', 'losses accepted',
    'history compared', 'drills ended', 'previews held against placings', 'previews that change nothing',
  ], ({ drill }) => drill)
})

t.test('and what orders that wait and copy trading are there for', async (t) => {
  meets(t, [
    'TAKE_PROFIT ARMED', 'TAKE_PROFIT TRIGGERED', 'TAKE_PROFIT OCO', 'STOP_LOSS TRIGGERED', 'STOP_LOSS OCO', 'STOP_LOSS EXPIRED',
    'STOP_LOSS POSITION_CLOSED', 'TRAILING_STOP ARMED', 'TRAILING_STOP TRIGGERED', 'TRAILING_STOP ENTRY_ENDED',
    'TRAILING_STOP USER_CANCELLED', 'TWAP STARTED', 'TWAP SLICE', 'TWAP SKIPPED', 'TWAP COMPLETED', 'TWAP WINDOW_OVER',
    'TWAP CONDITION_EXPIRED', 'TWAP SESSION_REVOKED', 'power failures', 'losses accepted', 'history compared', ...COPIES,
  ], ({ waiting, programs }) => waiting > 10 && programs['copies']! > 10)
})

t.test('one run alone meets every kind of liquidation', async (t) => {
  const kinds = ['STARTED', 'ORDERS_CANCELLED', 'REDUCED', 'DELEVERAGED', 'TAKEN_OVER', 'BAD_DEBT', 'COMPLETED']
  const seeds = Array.from({ length: 100 }, (_, at) => SEED + at).filter((seed) => swarmOf(seed).drill)
  const missed: string[] = []
  // In one run of thirty the others bring the insurance fund to nothing, or a loss comes too late for the drill to end.
  const found = seeds.slice(0, 5).find((seed) => {
    const { counts } = simulate(seed, TURNS, false)
    const without = kinds.filter((kind) => (counts[`liquidation ${kind}`] ?? 0) === 0)
    if (without.length > 0) missed.push(`${without.join()}: ${again({ seed, turns: TURNS })}`)
    return without.length === 0
  })
  t.ok(found !== undefined, missed.join('; '))
})
