/**
 * Promise: property/margin_equals_naive would notice, of orders that wait too. Faults are planted one at a time in copies of the engine's
 * source, and each must be caught by a comparison or an invariant that names what differs; canary.test.ts says the rest. A few of them in
 * `npm test`, others each time, all in `npm run test:deep`. `FAULT=TEXT` plants only those whose place has this text.
 *
 * Spoiled rows of orders that wait are found by their invariants.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { Standing, TRAIL_GROUP, TRAIL_GROUP_WORDS, TWAP, WAITING } from '../../core/state/conditional_rows.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import type { State } from '../../core/state/state.ts'
import { WaitingRows } from '../support/waiting_rows.ts'
import { MarginDuel } from '../support/margin_duel.ts'
import { shuffled } from '../suite/files.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Faults that `npm test` plants. */
const SHORT = 1
type Faults = [file: string, from: string, to: string][]
/** File, what stands there, what it becomes. */
const MARGIN: Faults = [
  // Requirements rounded down; a deduction added; the better side of an exposure; the tier below at its bound.
  ['margin/tiers.ts', '+ 999_999n', '+ 0n'],
  ['margin/tiers.ts', '- getI64(state, tier, TIER.MAINTENANCE_DEDUCTION)', '+ getI64(state, tier, TIER.MAINTENANCE_DEDUCTION)'],
  ['margin/figures.ts', 'if (registers[R.M1]! > registers[R.INITIAL]!)', 'if (registers[R.M1]! < registers[R.INITIAL]!)'],
  // Lots change and funding is forgotten; it is paid at a stale index.
  ['margin/positions.ts', '  settleFunding(state, row)\n  const held', '  const held'],
  ['programs/funding.ts', 'isFresh(state, pair) ? rateSoFar(state, pair) : 0', 'rateSoFar(state, pair)'],
  // Reduce-only orders keep a lot too many; a fill commits too little; a maker's fee is not looked at; an order brings no fee.
  ['book/reduce_only.ts', 'if (over <= 0) return', 'if (over <= 1) return'],
  ['margin/order_collateral.ts', ' + BigInt((left - 1) | 0)', ''],
  ['orders/margin_admission.ts', '+ registers[R.REQUIRED]! - registers[R.COST]!', ''],
  // The book is no voice of the mark; a bucket gives back what its positions, or it itself, lost.
  ['margin/mark_price.ts', 'median(index, fair, bookPrice(state, pair, fair))', 'fair'],
  ['margin/collateral.ts', ' - registers[R.SUM_LOSS]!', ''],
  ['margin/collateral.ts', 'if (signOf(state, bucket, RISK_BUCKET.REALIZED) < 0)', 'if (signOf(state, bucket, RISK_BUCKET.REALIZED) > 0)'],
  // The liquidation fee is rounded down; leverage does not count in the ranking.
  ['liquidation/liquidate.ts', '+ 999_999n', '+ 0n'],
  ['liquidation/ranking.ts', ' * get(state, position, POSITION.LEVERAGE)', ''],
]

const CANCELS_OTHER = 'if (sibling !== 0) endConditional('
/** Of orders that wait. */
const WAITING_FAULTS: Faults = [
  // What reduces is larger than one order may be.
  ['orders/margin_admission.ts', 'note(state, N.LOTS, cut < most ? cut : most)', 'note(state, N.LOTS, cut)'],
  // A watermark is not raised; it goes down as well; two groups become one in the wrong place; a stop fires a tick late, or early.
  ['margin/trails.ts', '        set(state, group, TRAIL_GROUP.WATERMARK, mark)\n', ''],
  ['margin/trails.ts', 'if (!isBetter(side, mark, get(state, group, TRAIL_GROUP.WATERMARK))) break', ''],
  ['margin/trails.ts', '  if (whole === newest) replaceInStack(state, perp, side, below, newest)\n', ''],
  ['margin/trails.ts', '(side === 0 ? mark <= tick : mark >= tick)', '(side === 0 ? mark < tick : mark > tick)'],
  ['margin/trails.ts', 'side === 0 ? Math.floor(', 'side === 0 ? Math.ceil('],
  // The other one of a pair stays; a price that is stale fires, or arms; what was armed later sees earlier marks.
  ['orders/trigger_step.ts', CANCELS_OTHER, CANCELS_OTHER.replace('!== 0', '< 0')],
  ['margin/pending_marks.ts', '!mayFire(state, pair) || !isFresh(state, pair)', '!mayFire(state, pair)'],
  ['margin/conditionals.ts', 'mayFire(state, pair) && isFresh(state, pair) && isCrossed', 'mayFire(state, pair) && isCrossed'],
  ['margin/pending_marks.ts', '|| armed < sequenceOfMark(state, pair)', '|| armed > 0'],
  ['margin/conditionals.ts', '=== 0) {\n    find(state, row)', '>= 0) {\n    find(state, row)'],
  ['margin/pending_marks.ts', '(difference > 0) !== above', '(difference > 0) === above'],
  ['state/trigger_heap.ts', 'made === 0 ? a < b : made < 0', 'made === 0 ? a < b : made > 0'],
  // What closed positions, ended and replaced entry orders, revoked agents leave; what may be is not bounded.
  ['margin/positions.ts', '!== 0) endWithPosition(state, row)', '< 0) endWithPosition(state, row)'],
  ['book/match.ts', 'if ((get(state, maker, ORDER.FLAGS) & Flag.LEGS) !== 0) endLegs(state, maker)', ''],
  ['orders/replace.ts', '  waitForOrder(state, row, legs, ConditionalReason.ENTRY_REPLACED)\n  enlist', '  enlist'],
  ['programs/agents.ts', '  endConditionalsOf(state, account, agent)\n', ''],
  ['margin/conditionals.ts', 'mayTake(family + count - 1,', 'mayTake(family,'],
  ['margin/conditionals.ts', 'held + count <= CONDITIONALS_PER_POSITION &&', ''],
  ['orders/trigger_step.ts', 'if (over !== 0 && over <= now(state))', 'if (over < 0)'],
  ['orders/admission.ts', 'TRIGGERED_BAND_BPS = 1200', 'TRIGGERED_BAND_BPS = 1000'],
  // Slices behind the end, of other sizes or times, beyond the limit, or of a session that is revoked; a margin account closes under them.
  ['orders/twap_slice.ts', 'now(state) >= getF64(state, row, TWAP.END_AT)', 'now(state) > getF64(state, row, TWAP.END_AT) + 5000'],
  ['orders/twap_schedule.ts', 'k * THOUSAND + drawn(', 'k * THOUSAND + 0 * drawn('],
  ['orders/twap_slice.ts', 'best < limit : best > limit', 'best > limit : best < limit'],
  ['book/pool.ts', '  add(state, twap, TWAP.FILLED, get(state, row, ORDER.LOTS) - get(state, row, ORDER.REMAINING))\n', ''],
  ['programs/twaps.ts', '  endSlice(state, row, isOver ?', '  if (row < 0) endSlice(state, row, isOver ?'],
  ['programs/sessions.ts', '  endTwapsOf(state, account, session,', '  if (account < 0) endTwapsOf(state, account, session,'],
  ['programs/margin_accounts.ts', 'MARGIN_ACCOUNT.TWAPS) !== 0', 'MARGIN_ACCOUNT.TWAPS) < 0'],
  ['orders/sweep_waiting.ts', 'following = nextTwap(state, sweep, began, row)', 'following = -1'],
]
/** Of copy trading. */
const COPY_FAULTS: Faults = [
  // A copy is rounded up, of another proportion, or enlarged where the leader closed; what was carried is lost.
  ['orders/copy_target.ts', '(share * BigInt(lots)) / BigInt(seen)', '(share * BigInt(seen)) / BigInt(seen)'],
  ['orders/copy_target.ts', '(BigInt(opened) * LOT * counted) / equity', '(BigInt(opened) * LOT * counted) / (equity + counted)'],
  ['orders/copy_target.ts', 'if (turned) return { share: 0n,', 'if (turned) return { share,'],
  ['orders/copy_step.ts', 'FOLLOW_PAIR.RESIDUAL, target.share - before)', 'FOLLOW_PAIR.RESIDUAL, 0n)'],
  ['orders/copy_target.ts', 'opened === 0 || state !== FollowState.ACTIVE', 'opened === 0'],
  // What the leader had before is copied; a fill during a walk is forgotten.
  ['programs/follow_rows.ts', 'getF64(state, leadOf(state, leader, number), LEAD.LOTS)', '0'],
  ['margin/leads.ts', '!== 0) set(state, lead, LEAD.AGAIN, 1)', '< 0) set(state, lead, LEAD.AGAIN, 1)'],
  // Loops; a handle that is taken over at once; money of a follow that its owner moves; more than the parent has.
  ['programs/leaders.ts', 'COPY_ACCOUNT.FIRST_FOLLOW) !== 0) return', 'COPY_ACCOUNT.FIRST_FOLLOW) < 0) return'],
  ['programs/leaders.ts', 'RELEASED_AT) >= state.genesis.limits.handlePauseMs', 'RELEASED_AT) >= 0'],
  ['programs/collateral.ts', '  if (isOfFollow(state, margin)) return REFUSALS.COPY_MARGIN_ACCOUNT.number\n', ''],
  ['programs/follows.ts', 'if (state.registers[R.AMOUNT]! < allocation) return SHORT', 'if (allocation < 0n) return SHORT'],
  // Copies are opened while copy trading is off; a follow gets more then.
  ['orders/copy_target.ts', 'if (isOff) return', 'if (allocation < 0n) return'],
  ['programs/follows.ts', 'if (isCopyingOff(state) && goesUp(', 'if (row < 0 && goesUp('],
  // Leverage beyond what the follow says; a stop that never comes to its other positions.
  ['orders/copy_orders.ts', 'most !== 0 && most < leads ? most : leads', 'leads'],
  ['orders/copy_close.ts', 'number <= tried ||', ''],
  // What a leader closed is not tried again, or all of the copy is closed then; a copy is owed to the other side; pauses do not grow.
  ['orders/copy_step.ts', 'if (!full) tryLater(state, row)', ''],
  ['orders/copy_close.ts', 'Math.abs(held) - Math.abs(rest)', 'Math.abs(held)'],
  ['orders/copy_target.ts', 'seen === 0 || (share > 0n) !== (seen > 0) ? 0n : share', 'share'],
  ['programs/copy_closing.ts', 'add(state, row, FOLLOW.ROUNDS, 1)', 'add(state, row, FOLLOW.ROUNDS, 0)'],
  // Copies open far from the leader's fill, close at any price, do not wait, or wait for ever; slippage of another side.
  ['orders/copy_price.ts', 'sell === 0 ? Math.min(fill, mark) : Math.max(fill, mark)', 'mark'],
  ['orders/copy_price.ts', 'limitAt(state, markOf(state, pair), sell,', 'limitAt(state, 0, sell,'],
  ['orders/copy_open.ts', 'entered === Entered.PARTLY && isPriced(state)', 'entered === Entered.PARTLY && sell > 1'],
  ['orders/copy_open.ts', ' || now(state) >= getF64(state, row, FOLLOW.OPEN_UNTIL)', ''],
  ['orders/copy_price.ts', 'return sell ? fair - quote', 'return quote === 0n ? fair - quote'],
  // An allocation counts beyond the ratio; a leader needs no equity.
  ['orders/copy_target.ts', 'ratio !== 0n && allocation', 'ratio < 0n && allocation'],
  ['orders/copy_target.ts', 'if (equity < least)', 'if (equity <= 0n)'],
]
const FAULTS: Faults = [...MARGIN, ...WAITING_FAULTS, ...COPY_FAULTS]

const RUNNER = `
import { MarginDuel } from "./test/support/margin_duel.ts"
import { Walk } from "./test/support/trailing_walk.ts"
const margin = [['perps', 10000, 1], ['perpsTight', 7000, 4], ['perps', 8000, 13], ['perps', 20000, 11]]
const waiting = [
  ['perpsWaiting', 8000, 31], ['perpsWaitingTight', 10000, 33], ['perpsWaiting', 10000, 35], ['perpsWaitingTight', 20000, 36],
  ['perpsWaiting', 25000, 37],
]
const copied = [['perpsCopied', 9000, 41], ['perpsCopiedTight', 9000, 43], ['perpsCopied', 20000, 44], ['perpsCopiedTight', 20000, 45]]
const runs = process.argv[2] === 'waiting' ? waiting : process.argv[2] === 'copied' ? copied : margin
try {
  if (runs === waiting) for (let seed = 1; seed <= 6; seed++) new Walk(seed).run(700)
  for (const [variant, commands, seed] of runs) new MarginDuel({ variant, seed, commands, checkEvery: 50, stormEvery: 1500 }).run()
} catch (error) {
  console.log(error.message.split('\\n')[0])
  if (['Differs', 'InvariantBroken'].includes((error.cause ?? error).name)) process.exit(3)
  console.log((error.cause ?? error).stack)
  process.exit(4)
}
`
/** Seconds after which a copy is ended, which is a failure. */
const COPY_SECONDS = 200

/** Runs the duels over a copy of the engine; the exit code (3: caught, null: they did not end) and what was said first. */
function runCopy(directory: string, which: 'margin' | 'waiting' | 'copied'): { status: number | null; said: string } {
  const options = { cwd: directory, env: {}, timeout: COPY_SECONDS * 1000, killSignal: 'SIGKILL', encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', 'runner.ts', which], options)
  return { status, said: stdout.trim() || stderr.trim().split('\n').at(-1) || 'nothing noticed' }
}

/** What is changed; nothing when there is no row of that kind. */
const SPOILS: Record<string, [expected: RegExp, spoil: (rows: WaitingRows) => boolean]> = {
  'an account counts a conditional order too many': [/W: account/, (rows) => rows.addToAccount(WAITING.CONDITIONALS)],
  'a family counts a TWAP order too many': [/S: the family/, (rows) => rows.addToAccount(WAITING.FAMILY_TWAPS)],
  'a position counts a conditional order too few': [/W: position/, (rows) => rows.uncount()],
  'one of a pair names itself': [/W: conditional order .* cancels/, (rows) => rows.pairWithItself()],
  'a leg waits for another order': [/W: a leg/, (rows) => rows.otherEntry()],
  'a trigger moves where it stands': [/W: conditional order .* (stands below|is met)/, (rows) => rows.moveTrigger()],
  'a place in a heap is lost': [/W: conditional order .* not where it stands/, (rows) => rows.losePlace()],
  'a stop leaves its queue': [/W: the queues/, (rows) => rows.loseNext()],
  'a group counts a stop too many': [/W: the groups/, (rows) => rows.group((state, at) => {
    state.trailGroups[at + TRAIL_GROUP.STOPS]! += 1
  })],
  'a watermark is a tick worse than a mark that was seen': [/W: /, (rows) => rows.worsen()],
  'a group is its own part': [/W: /, (rows) => rows.group((state, at) => {
    state.trailGroups[at + TRAIL_GROUP.INTO] = at / TRAIL_GROUP_WORDS + 1
  })],
  'one that is due stands in another list': [/W: pair/, (rows) => rows.standElsewhere(Standing.DUE, Standing.LATER)],
  'marks are out of order': [/W: pair .* mark/, (rows) => rows.swapMarks()],
  'a TWAP order has filled more than it has': [/W: TWAP order/, (rows) => rows.twap((state, at) => {
    state.twaps[at + TWAP.FILLED] = 1 << 29
  })],
  'a TWAP order waits for nothing': [/[DW]: /, (rows) => rows.twap((state, at) => {
    state.twapsF64[(at + TWAP.NEXT_AT) >>> 1] = 0
  })],
  'the slice of a TWAP order is another\'s': [/W: /, (rows) => rows.otherParent()],
}

for (const [name, [expected, spoil]] of Object.entries(SPOILS)) {
  t.test(`spoiled rows: ${name}`, async (t) => {
    let spoiled = false
    const planted = (state: State, index: number): void => {
      if (index < 1000 || spoiled) return
      spoiled = spoil(new WaitingRows(state))
      // At once: a command that meets a spoiled list may never end.
      if (spoiled) checkInvariants(state)
    }
    const duel = new MarginDuel({ variant: 'perpsWaiting', seed: 38, commands: 9000, checkEvery: 1000, spoil: planted })
    t.throws(() => duel.run(), expected)
    t.ok(spoiled, 'there is such a row')
  })
}

t.test('faults in the source of margin trading are caught', async (t) => {
  const seed = seedOf()
  t.comment(`seed ${seed}; again: SEED=${seed} npm test -- test/property/margin_canary.test.ts`)
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-canary-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  cpSync(join(ROOT, 'core'), join(directory, 'core'), { recursive: true })
  cpSync(join(ROOT, 'test/support'), join(directory, 'test/support'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  writeFileSync(join(directory, 'runner.ts'), RUNNER)
  const chosen = FAULTS.filter(([, from]) => from.includes(process.env['FAULT'] ?? ''))
  const gone = chosen.filter(([file, from]) => !readFileSync(join(directory, 'core', file), 'utf8').includes(from))
  t.strictSame(gone, [], 'every fault has its place in the source; plant anew those that have none')
  const faults = shuffled(chosen.filter((fault) => !gone.includes(fault)), seed)
  const short = process.env['FAULT'] === undefined ? Math.min(SHORT, faults.length) : faults.length
  for (const each of eachRound(t, { short, deep: faults.length })) {
    if (each >= faults.length) break
    const [file, from, to] = faults[each]!
    const path = join(directory, 'core', file)
    const source = readFileSync(path, 'utf8')
    writeFileSync(path, source.replace(from, () => to))
    const which = WAITING_FAULTS.includes(faults[each]!) ? 'waiting' : COPY_FAULTS.includes(faults[each]!) ? 'copied' : 'margin'
    const { status, said } = runCopy(directory, which)
    t.equal(status, 3, `${file}: ${from} -> ${to || 'nothing'}: ${said.slice(0, status === 3 ? 160 : 1000)}`)
    writeFileSync(path, source)
  }
})
