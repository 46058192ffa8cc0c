/** Launches and the leases of their makers from the shared columns. Few, so all are copied at once. */
import { LAUNCH_PHASE_NAMES, LaunchPhase, type LaunchPhaseName } from '../layout/launches.ts'
import { ACCOUNT, SCALAR } from '../state/columns.ts'
import { LAUNCH, LAUNCH_ID_WORDS, LAUNCH_OWNER_WORDS } from '../state/launch_rows.ts'
import { listedText } from '../state/listing.ts'
import { accountRow, get, getF64, launchRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { consistently, SHORT } from './consistent.ts'

export interface LaunchView {
  readonly launchId: string
  readonly pair: number
  /** The maker: row, application, and the sequence that made it. */
  readonly account: number
  readonly application: number
  readonly accountSequence: number
  readonly phase: LaunchPhaseName
  readonly leaseMs: number
  readonly generation: number
  readonly quoteRevision: number
  /** Who claimed the lease last; '': nobody since the maker was named. */
  readonly ownerId: string
  /** Unix ms; 0: as above. */
  readonly leaseEndsAt: number
}

function copyLaunch(state: State, launch: number): LaunchView {
  const row = launchRow(state, launch)
  const maker = accountRow(state, get(state, row, LAUNCH.ACCOUNT))
  return {
    launchId: listedText(state, row, LAUNCH.ID, LAUNCH_ID_WORDS * 4),
    pair: get(state, row, LAUNCH.PAIR),
    account: get(state, row, LAUNCH.ACCOUNT),
    application: get(state, maker, ACCOUNT.APPLICATION),
    accountSequence: getF64(state, maker, ACCOUNT.CREATED_SEQUENCE),
    phase: LAUNCH_PHASE_NAMES[get(state, row, LAUNCH.PHASE)]!,
    leaseMs: get(state, row, LAUNCH.LEASE_MS),
    generation: getF64(state, row, LAUNCH.GENERATION),
    quoteRevision: getF64(state, row, LAUNCH.REVISION),
    ownerId: listedText(state, row, LAUNCH.OWNER, LAUNCH_OWNER_WORDS * 4),
    leaseEndsAt: getF64(state, row, LAUNCH.EXPIRES_AT),
  }
}

/** All of them, as they were made. Of whoever has the state to itself. */
export const launchesOf = (state: State): LaunchView[] =>
  Array.from({ length: state.scalars[SCALAR.LAUNCHES]! }, (_, launch) => copyLaunch(state, launch))

/** The same while the matcher writes; `null` when no consistent copy could be made. */
export const readLaunches = (state: State, gate: Int32Array): LaunchView[] | null =>
  consistently(gate, state.scalars, SCALAR.LAUNCH_CHANGES, () => launchesOf(state), SHORT)

export type LeaseState = 'unclaimed' | 'live' | 'over'
/** Of a launch that is under way, at `now`, Unix ms. */
export const leaseStateOf = ({ leaseEndsAt }: Pick<LaunchView, 'leaseEndsAt'>, now: number): LeaseState =>
  leaseEndsAt === 0 ? 'unclaimed' : leaseEndsAt > now ? 'live' : 'over'

const LEASE_STATES: readonly LeaseState[] = ['unclaimed', 'live', 'over']
const PHASES_UNDER_WAY = LAUNCH_PHASE_NAMES.filter((_, phase) => phase !== LaunchPhase.ENDED)

/** How many launches are in a phase and have such a lease. */
export interface LeaseCount {
  readonly phase: LaunchPhaseName
  readonly lease: LeaseState
  count: number
}

/** Launches under way, of every phase and {@link LeaseState}: figures of about now, read word by word. */
export function leaseCounts(state: State, now: number): readonly LeaseCount[] {
  const counts = PHASES_UNDER_WAY.flatMap((phase) => LEASE_STATES.map((lease): LeaseCount => ({ phase, lease, count: 0 })))
  for (let launch = 0; launch < state.scalars[SCALAR.LAUNCHES]!; launch++) {
    const row = launchRow(state, launch)
    const [phase, leaseEndsAt] = [LAUNCH_PHASE_NAMES[get(state, row, LAUNCH.PHASE)], getF64(state, row, LAUNCH.EXPIRES_AT)]
    const own = counts.find((each) => each.phase === phase && each.lease === leaseStateOf({ leaseEndsAt }, now))
    if (own !== undefined) own.count++
  }
  return counts
}
