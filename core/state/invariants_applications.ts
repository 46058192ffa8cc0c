/**
 * What must always hold of applications (C), over the whole state. See invariants.ts, which runs it.
 *
 *   - rows of the genesis are there, at most as many as its limit; each is active or not and has a client id and a name of its own
 *   - origins of a row are distinct and stand from its first place on; what is behind them is zero
 *   - a key has a time when it was issued; an old key has an end, and there is none without a key
 *   - a row counts the accounts that are in it
 */
import { ORIGINS_MAX } from '../layout/command.ts'
import { broken } from '../lib/assert.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, APPLICATION, APPLICATION_NAME_WORDS, APPLICATION_WORDS, CLIENT_ID_WORDS, CLOCK, KEY_WORDS, ORIGIN_WORDS, SCALAR,
} from './columns.ts'
import type { State } from './state.ts'

/** Throws InvariantBroken at the first that does not hold. */
export function checkApplications(state: State): void {
  const { scalars, genesis, accounts, applications } = state
  const used = scalars[SCALAR.APPLICATIONS]!
  if (used < genesis.applications.length || used > genesis.limits.applications) broken('C', `${used} applications`)
  const counts = new Int32Array(used)
  for (let account = 0; account < scalars[SCALAR.ACCOUNTS]!; account++) {
    const application = accounts[account * ACCOUNT_WORDS + ACCOUNT.APPLICATION]!
    if (application < 0 || application >= used) broken('C', `account ${account} is in application ${application}`)
    counts[application]!++
  }
  const ids = new Set<string>()
  for (let application = 0; application < used; application++) {
    const row = application * APPLICATION_WORDS
    const named = (what: string): string => `application ${application} ${what}`
    if (applications[row + APPLICATION.ACCOUNTS] !== counts[application]) broken('C', named('counts other accounts than are in it'))
    if ((applications[row + APPLICATION.ACTIVE]! & ~1) !== 0) broken('C', named('is neither active nor inactive'))
    const clientId = String(applications.subarray(row + APPLICATION.CLIENT_ID, row + APPLICATION.CLIENT_ID + CLIENT_ID_WORDS))
    if (applications[row + APPLICATION.CLIENT_ID] === 0 || ids.has(clientId)) broken('C', named('has no client id of its own'))
    ids.add(clientId)
    if (isZero(applications, row + APPLICATION.NAME, APPLICATION_NAME_WORDS)) broken('C', named('has no name'))
    checkOrigins(state, application)
    checkKeys(state, application)
  }
}

const isZero = (words: Int32Array, at: number, count: number): boolean => words.subarray(at, at + count).every((word) => word === 0)

function checkOrigins(state: State, application: number): void {
  const count = state.applications[application * APPLICATION_WORDS + APPLICATION.ORIGINS]!
  if (count < 0 || count > ORIGINS_MAX) broken('C', `application ${application} has ${count} origins`)
  const seen = new Set<string>()
  for (let place = 0; place < ORIGINS_MAX; place++) {
    const at = (application * ORIGINS_MAX + place) * ORIGIN_WORDS
    const empty = isZero(state.origins, at, ORIGIN_WORDS)
    if (empty !== place >= count) broken('C', `application ${application} has an origin out of its place, ${place} of ${count}`)
    if (!empty) seen.add(String(state.origins.subarray(at, at + ORIGIN_WORDS)))
  }
  if (seen.size !== count) broken('C', `application ${application} has an origin twice`)
}

function checkKeys({ applications, applicationsF64, clock }: State, application: number): void {
  const row = application * APPLICATION_WORDS
  const issued = applicationsF64[(row + APPLICATION.KEY_AT) >>> 1]!
  const until = applicationsF64[(row + APPLICATION.OLD_KEY_UNTIL) >>> 1]!
  const hasKey = !isZero(applications, row + APPLICATION.KEY, KEY_WORDS)
  const hasOld = !isZero(applications, row + APPLICATION.OLD_KEY, KEY_WORDS)
  if (hasKey !== issued > 0 || issued > clock[CLOCK.TIME]!) broken('C', `application ${application} has a key of ${issued}`)
  if (hasOld !== until > 0 || (hasOld && !hasKey)) broken('C', `application ${application} has an old key until ${until}`)
}
