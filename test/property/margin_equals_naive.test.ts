/**
 * Promise: margin trading does what the specification says, to the byte (T1; I1, I4, I5, I14). Random commands, realistic and hostile, with
 * prices that jump, gap, freeze and go stale, through the engine and through the slow obvious margin model of test/support/naive_margin.ts:
 * events compared after each command, rows and invariants along the way, and after each turn of the sequencer's timers that they write what
 * is due: funding, ends of orders, and every bucket without enough margin. Wallets, sub-accounts and delegated agents sign, of all fee
 * tiers. Now and then all prices jump at once; then liquidation must end, also where rows of all kinds are used up (`perpsTight`).
 * Take-profits, stop-losses, trailing stops and TWAP orders wait where there is room for them and where there is not (`perpsWaiting`,
 * `perpsWaitingTight`): prices pile up behind what they fire, pairs stop and go on, time jumps over slices, and an engine that is made of
 * stored columns goes on in the place of the one that there was. Applications charge for fills (`perpsBuilder`),
 * referrers earn of them (`perpsReferred`), and money comes from chains and goes there (`perpsVault`).
 * Leaders are followed, mirrored and left where there is room for it and where there is not (`perpsCopied`, `perpsCopiedTight`).
 * The live audit of a running exchange (core/snapshot/audit.ts) goes over the state on the way, and names a bucket spoiled at the end.
 *
 * `npm test` has 45,000 commands of fixed seeds; `npm run test:deep` 580,000, then other seeds.
 * One run again: SEED=7 COMMANDS=5000 node ... test/property/margin_equals_naive.test.ts
 */
import t from 'tap'
import { Audit } from '../../core/snapshot/audit.ts'
import { RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bucketRow, getI64, setI64 } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { CONDITIONAL_REASON_NAMES } from '../../core/layout/conditional.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { TWAP_REASON_NAMES } from '../../core/layout/twap.ts'
import { MarginDuel, type MarginDuelOptions } from '../support/margin_duel.ts'
import { MARGIN_REFUSALS } from '../support/margin_refusals.ts'
import { DEEP, eachRound } from '../suite/rounds.ts'

const { SEED, VARIANT, COMMANDS } = process.env
/** What the commands are divided by in `npm test`, and of runs that meet a refusal late. */
const [SHORT, LATE] = [16, 8]
/** Variants and seeds of those: accounts that may not lead, and copies that find too little within their prices. */
const LATE_RUNS = ['perpsCopied 51', 'perpsCopiedTight 46']
const RUNS: MarginDuelOptions[] = [
  { variant: 'perps', seed: 7, commands: 80_000, checkEvery: 97, stormEvery: 3500 },
  { variant: 'perps', seed: 12, commands: 24_000, checkEvery: 7, outboxRecords: 3 },
  { variant: 'perps', seed: 3, commands: 16_000, checkEvery: 1, stormEvery: 1800 },
  { variant: 'perpsTight', seed: 4, commands: 56_000, checkEvery: 97, stormEvery: 1200 },
  { variant: 'perpsTight', seed: 5, commands: 24_000, checkEvery: 7, stormEvery: 700 },
  { variant: 'perpsWaiting', seed: 34, commands: 48_000, checkEvery: 97, stormEvery: 3500, reloadEvery: 900 },
  { variant: 'perpsWaiting', seed: 32, commands: 16_000, checkEvery: 1, outboxRecords: 3 },
  { variant: 'perpsBuilder', seed: 41, commands: 32_000, checkEvery: 29, stormEvery: 1800, reloadEvery: 900 },
  { variant: 'perpsReferred', seed: 44, commands: 32_000, checkEvery: 29, stormEvery: 1800, reloadEvery: 900 },
  { variant: 'perpsVault', seed: 47, commands: 32_000, checkEvery: 29, stormEvery: 1800, reloadEvery: 900 },
  { variant: 'perpsWaitingTight', seed: 33, commands: 64_000, checkEvery: 97, stormEvery: 1200, reloadEvery: 1100 },
  { variant: 'perpsCopied', seed: 51, commands: 48_000, checkEvery: 97, stormEvery: 3500, reloadEvery: 900 },
  { variant: 'perpsCopied', seed: 53, commands: 48_000, checkEvery: 97, reloadEvery: 900 },
  { variant: 'perpsCopied', seed: 42, commands: 12_000, checkEvery: 1, outboxRecords: 3 },
  { variant: 'perpsCopiedTight', seed: 46, commands: 48_000, checkEvery: 97, stormEvery: 1200, reloadEvery: 1100 },
]

/** What is refused while something is being liquidated and rows are used up: by shares of families, and by what one account may have. */
const FULL = ['TOO_MANY_OPEN_ORDERS', 'TOO_MANY_MARGIN_ACCOUNTS', 'TOO_MANY_RISK_BUCKETS', 'TOO_MANY_POSITIONS']
/** FollowReason of core/layout/copying.ts, and refusals of a skip: LEADER_EQUITY, COPY_PARTLY_FILLED, COPY_PRICE. */
const FOLLOWED = ['0', '1', '2', '2 483', '3 482', '3 485', '4', '5', '5 483', '6']
/** Grants that an agent lacks for orders of perpetuals, by number (core/layout/agents.ts): actions, pairs, leverage, margin accounts; and
 * what owners alone may do. */
const GRANTS = [1, 2, 7, 8, 9]

/** Commands between two live audits. */
const AUDIT_EVERY = 1000

/** The live audit as it looks at an exchange, which has time for each. */
class Audits {
  private now = 0
  private readonly audit = new Audit(() => this.now)
  done = 0
  state: State | null = null

  readonly look = (state: State, index: number): void => {
    this.state = state
    if (index % AUDIT_EVERY !== 0) return
    const broken = this.brokenIn(state)
    if (broken !== null) throw new Error(`the live audit before command ${index}: ${broken}`)
    this.done++
  }

  brokenIn(state: State): string | null {
    this.now += 1000
    return this.audit.run(state, () => undefined)!.broken
  }

  /** What it says of a bucket that has an atom more than there is. */
  spoiled(): string | null {
    const state = this.state!
    const row = bucketRow(state, 0)
    setI64(state, row, RISK_BUCKET.ALLOCATED, getI64(state, row, RISK_BUCKET.ALLOCATED) + 1n)
    return this.brokenIn(state)
  }
}

/** Runs it and notes which refusals and events came. */
function compare(run: MarginDuelOptions, reached: Set<string>): void {
  const audits = new Audits()
  const { events, seen } = new MarginDuel({ ...run, spoil: audits.look }).run()
  t.equal(audits.done, Math.ceil(run.commands / AUDIT_EVERY), `${audits.done} live audits found nothing`)
  t.match(audits.spoiled(), /^I5/, 'and one finds an atom too many')
  const liquidations = seen.get('event 13') ?? 0
  const what = `${run.variant}, seed ${run.seed}: ${run.commands} commands`
  const storms = seen.get('storms') ?? 0
  t.ok(events >= run.commands, `${what}, ${events} events, ${liquidations} of liquidation, ${storms} storms`)
  for (const name of seen.keys()) {
    const number = Number(/^RESULT \S+ (\d+)$/.exec(name)?.[1] ?? 0)
    if (number !== 0) reached.add(refusalByNumber(number).code)
    else reached.add(name)
  }
  if (process.env['SEEN'] !== undefined) t.comment([...seen].sort().map(([name, times]) => `${name}: ${times}`).join('\n'))
}

if (SEED !== undefined || VARIANT !== undefined) {
  compare({ variant: VARIANT ?? 'perps', seed: Number(SEED ?? 1), commands: Number(COMMANDS ?? 5000), checkEvery: 1 }, new Set())
} else {
  const reached = new Set<string>()
  for (const round of eachRound(t, { short: 1, deep: 10 })) {
    for (const run of RUNS) {
      const part = DEEP ? 1 : LATE_RUNS.includes(`${run.variant} ${run.seed}`) ? LATE : SHORT
      compare({ ...run, seed: run.seed + round * 100, commands: Math.ceil(run.commands / part) }, reached)
    }
    if (round > 0) continue
    t.strictSame(MARGIN_REFUSALS.filter((code) => !reached.has(code)), [], 'every refusal of margin trading is met')
    const events = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18].filter((event) => !reached.has(`event ${event}`))
    t.strictSame(events, [], 'every event of margin trading and of what waits is met')
    const reasons = [...CONDITIONAL_REASON_NAMES.keys()].filter((reason) => !reached.has(`conditional ${reason}`))
    t.strictSame(reasons, [], 'conditional orders change for every reason')
    const twaps = [...TWAP_REASON_NAMES.keys()].filter((reason) => !reached.has(`TWAP ${reason}`))
    t.strictSame(twaps, [], 'TWAP orders change for every reason')
    const follows = FOLLOWED.filter((told) => !reached.has(`follow ${told}`))
    t.strictSame(follows, [], 'follows change for every reason, and skip for those of prices')
    t.strictSame(FULL.filter((code) => !reached.has(`full ${code}`)), [], 'liquidation goes on and ends while rows are used up')
    t.strictSame(GRANTS.filter((grant) => !reached.has(`lacks ${grant}`)), [], 'agents lack what margin trading asks for')
  }
}
