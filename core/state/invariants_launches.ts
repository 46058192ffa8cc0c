/**
 * What must always hold of launches (N), over the whole state. See invariants.ts, which runs it, and programs/launches.ts.
 *
 *   - a pair names a launch that is under way on it, and each that is under way is named by its pair; ids are distinct
 *   - a maker is an account that keeps its row; a lease that somebody claimed has a holder, one that nobody did has none
 */
import { broken } from '../lib/assert.ts'
import { LaunchPhase, LAUNCHES_MAX } from '../layout/launches.ts'
import { ACCOUNT, KEY_WORDS, PAIR, SCALAR } from './columns.ts'
import { LAUNCH, LAUNCH_ID_WORDS, LAUNCH_OWNER_WORDS } from './launch_rows.ts'
import { accountRow, get, getF64, launchRow, pairCount, pairRow, wordOf } from './rows.ts'
import type { State } from './state.ts'

/** Throws InvariantBroken at the first that does not hold. */
export function checkLaunches(state: State): void {
  const count = state.scalars[SCALAR.LAUNCHES]!
  if (count < 0 || count > LAUNCHES_MAX) broken('N', `${count} launches`)
  const ids = new Set<string>()
  const named = Array.from({ length: pairCount(state) }, (_, pair) => get(state, pairRow(state, pair), PAIR.LAUNCH))
  for (let launch = 0; launch < count; launch++) {
    checkLaunch(state, launch, named)
    ids.add(wordsOf(state, launch, LAUNCH.ID, LAUNCH_ID_WORDS).join())
  }
  if (ids.size !== count) broken('N', 'two launches have one id')
  for (const [pair, launch] of named.entries()) {
    const known = launch === 0 || (launch <= count && get(state, launchRow(state, launch - 1), LAUNCH.PAIR) === pair)
    if (!known) broken('N', `pair ${pair} names launch ${launch - 1}, which is not its own`)
  }
}

const wordsOf = (state: State, launch: number, field: number, words: number): Int32Array =>
  state.i32.subarray(wordOf(launchRow(state, launch), field), wordOf(launchRow(state, launch), field) + words)

function checkLaunch(state: State, launch: number, named: readonly number[]): void {
  const row = launchRow(state, launch)
  const under = get(state, row, LAUNCH.PHASE) !== LaunchPhase.ENDED
  if ((named[get(state, row, LAUNCH.PAIR)] === launch + 1) !== under) broken('N', `launch ${launch} and its pair are not of one mind`)
  const maker = accountRow(state, get(state, row, LAUNCH.ACCOUNT))
  if (getF64(state, maker, ACCOUNT.BLANK_SINCE) !== 0) broken('N', `the maker of launch ${launch} is a blank account`)
  const held = wordsOf(state, launch, LAUNCH.KEY, KEY_WORDS + LAUNCH_OWNER_WORDS).some((word) => word !== 0)
  if (held !== (getF64(state, row, LAUNCH.EXPIRES_AT) !== 0)) broken('N', `the lease of launch ${launch} is half claimed`)
}
