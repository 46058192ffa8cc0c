/**
 * Copy trading: two clients of six lead, the others follow them, with allocations of what they have free; they change, stop and close what
 * they follow. Leaders release their handles now and then, and ask for each other's.
 *
 * What must be true: a margin account of a follow was given the allocation, no more, while it lives; what its buckets have committed is
 * never more than is deposited there; nobody leads and follows; what is copied comes in steps of the sequencer, in such an account.
 */
import { CommandType, Flag, Origin, originOf } from '../../../core/layout/command.ts'
import {
  FOLLOW_CHANGED, FOLLOW_REASON_NAMES, followReasonOf, FollowState, followStateOf, LEADER_CHANGED, LEADER_REASON_NAMES, leaderReasonOf,
  LeaderState, leaderStateOf,
} from '../../../core/layout/copying.ts'
import { COLLATERAL, EventType, FILL } from '../../../core/layout/event.ts'
import { CollateralReason } from '../../../core/layout/margin_events.ts'
import { decode, type Decoded } from '../../../core/layout/table.ts'
import { readFollows, readLeaderOf, readLeaders, type FollowView } from '../../../core/view/copying.ts'
import { readMarginAccounts } from '../../../core/view/margin.ts'
import {
  encodeCreateFollow, encodeRegisterLeader, encodeReleaseLeader, encodeStopFollow, encodeUpdateFollow, type FollowChange,
} from '../../../gateway/bridge/encode_copying.ts'
import { close, UNIT, type Asker, type Draft } from '../margin_requests.ts'
import { Violation } from '../violation.ts'
import { eventsOf, pick, type Done, type Program, type ProgramAudit } from './program.ts'

/** Nothing changes columns while somebody reads them here. */
const quiet = new Int32Array(16)
const HANDLES = ['alpha', 'Alpha', 'beta_2', 'gam-ma']
const LEVERAGES = [0, 0, 100, 500]

function request(asker: Asker): Draft | null {
  const { random, state, account } = asker
  // Whoever follows may try to lead, and the other way round.
  const leads = account % 3 === 0 ? random.below(20) > 0 : random.below(40) === 0
  if (leads) return lead(asker)
  const follows = readFollows(state, quiet, account) ?? []
  const dice = random.below(10)
  if (follows.length === 0 || dice < 2) return follow(asker)
  const one = pick(random, follows)
  if (dice < 5) return update(asker, one)
  if (dice < 7) return closeCopy(asker, one)
  if (random.below(3) > 0) return null
  return { type: CommandType.STOP_FOLLOW, key: '', send: (...where) => encodeStopFollow(...where, one) }
}

function lead({ random, state, account }: Asker): Draft | null {
  const isLeader = readLeaderOf(state, quiet, account) !== undefined
  if (isLeader && random.below(12) > 0) return null
  if (isLeader && random.below(2) === 0) {
    return { type: CommandType.RELEASE_LEADER, key: '', send: (...where) => encodeReleaseLeader(...where) }
  }
  const handle = pick(random, HANDLES)
  return { type: CommandType.REGISTER_LEADER, key: '', send: (...where) => encodeRegisterLeader(...where, handle) }
}

const size = ({ random }: Asker, units: number): bigint => UNIT * BigInt(9 + random.below(units)) + BigInt(random.below(1000))

function follow(asker: Asker): Draft | null {
  const { random, state } = asker
  const leaders = readLeaders(state, quiet, -1) ?? []
  if (leaders.length === 0) return null
  const { handle } = pick(random, leaders)
  const terms = { handle, allocation: size(asker, 80), maxLeverage: pick(random, LEVERAGES), mode: random.below(2) }
  return { type: CommandType.CREATE_FOLLOW, key: '', send: (...where) => encodeCreateFollow(...where, terms) }
}

function update(asker: Asker, one: FollowView): Draft {
  const { random } = asker
  const near = (one.allocation * BigInt(70 + random.below(60))) / 100n
  const change: FollowChange = {
    state: random.below(2) === 0 ? undefined : pick(random, [FollowState.ACTIVE, FollowState.CLOSE_ONLY]),
    allocation: random.below(2) === 0 ? undefined : pick(random, [near, size(asker, 80)]),
  }
  return { type: CommandType.UPDATE_FOLLOW, key: '', send: (...where) => encodeUpdateFollow(...where, one, change) }
}

/** A position of the copy, or part of it, at market. */
function closeCopy(asker: Asker, { marginAccount }: FollowView): Draft | null {
  const accounts = readMarginAccounts(asker.state, quiet, asker.account) ?? []
  const open = accounts.filter(({ row }) => row === marginAccount).flatMap(({ buckets }) => buckets).flatMap(({ positions }) => positions)
    .filter(({ lots }) => lots !== 0)
  return open.length === 0 ? null : close(asker, pick(asker.random, open), Flag.MARKET)
}

/** A margin account by its row and the sequence that made it. */
const marginOf = ({ marginAccount, marginAccountSequence, marginSequence }: Decoded): string =>
  `${String(marginAccount)} of ${String(marginAccountSequence ?? marginSequence)}`

class CopyAudit implements ProgramAudit {
  /** Of each margin account: what was moved there from its parent, less what went back. */
  readonly #given = new Map<string, bigint>()
  /** By row: follows that live, or are being stopped. */
  readonly #follows = new Map<number, { account: number; margin: string }>()
  readonly #leaders = new Map<number, number>()

  see({ type, events, met }: Done): void {
    for (const base of eventsOf(events, EventType.COLLATERAL)) this.#collateral(decode(COLLATERAL, events, base))
    for (const base of eventsOf(events, EventType.LEADER)) this.#leader(decode(LEADER_CHANGED, events, base), met)
    for (const base of eventsOf(events, EventType.FOLLOW)) this.#follow(decode(FOLLOW_CHANGED, events, base), met)
    for (const base of eventsOf(events, EventType.FILL)) this.#filled(type, decode(FILL, events, base), met)
  }

  #collateral(told: Decoded): void {
    const margin = marginOf(told)
    const { bucket, reason, amount, deposited, earmarked, account } = told
    if (bucket === -1 && reason === CollateralReason.SUB_ACCOUNT) {
      this.#given.set(margin, (this.#given.get(margin) ?? 0n) + BigInt(amount!))
    }
    const own = [...this.#follows.values()].find((each) => each.margin === margin)
    if (own === undefined) return
    if (own.account !== account) throw new Violation(`margin account ${margin} of a follow of ${own.account} is of ${String(account)}`)
    const within = BigInt(earmarked!) <= BigInt(deposited!)
    if (!within) throw new Violation(`buckets of a follow have ${String(earmarked)} atoms of the ${String(deposited)} in ${margin}`)
  }

  #leader({ leader, account, what }: Decoded, met: Done['met']): void {
    met(`leader ${LEADER_REASON_NAMES[leaderReasonOf(Number(what))]!}`)
    if (leaderStateOf(Number(what)) !== LeaderState.REGISTERED) return void this.#leaders.delete(Number(leader))
    this.#leaders.set(Number(leader), Number(account))
    if ([...this.#follows.values()].some((each) => each.account === account)) throw new Violation(`${String(account)} follows and leads`)
  }

  #follow(told: Decoded, met: Done['met']): void {
    const [row, what, account] = [Number(told['follow']), Number(told['what']), Number(told['account'])]
    const allocation = BigInt(told['allocation']!)
    met(`follow ${FOLLOW_REASON_NAMES[followReasonOf(what)]!}`)
    const margin = marginOf(told)
    const given = this.#given.get(margin) ?? 0n
    if (followStateOf(what) === FollowState.STOPPED) return void this.#follows.delete(row)
    if (given !== allocation) throw new Violation(`follow ${row} has an allocation of ${allocation} atoms, and was given ${given}`)
    if ([...this.#leaders.values()].includes(account)) throw new Violation(`${account} leads and follows`)
    this.#follows.set(row, { account, margin })
  }

  /** Nobody asks for an order of a copy, and who has no follow has none. */
  #filled(type: number, { takerFlags, takerAccount }: Decoded, met: Done['met']): void {
    const follows = [...this.#follows.values()].some(({ account }) => account === takerAccount)
    const closes = (Number(takerFlags) & (Flag.CLOSE | Flag.MARKET)) === (Flag.CLOSE | Flag.MARKET)
    if (follows && closes && type === CommandType.PLACE_ORDER) met('position closed by a follower')
    if (originOf(Number(takerFlags)) !== Origin.COPY) return
    if (type !== CommandType.COPY_STEP || !follows) throw new Violation(`a command of type ${type} copies for ${String(takerAccount)}`)
  }
}

export const COPIES: Program = {
  name: 'copies', weights: [10, 25], needsPerps: true, operates: 0, request, operate: () => null, audit: () => new CopyAudit(),
}
