/**
 * Managed markets: the operator has launches on the spot pairs, whose maker is the wallet of the first client. That client is two processes
 * of one wallet (cast.ts), each with a session and a name of its own. Both claim the lease with the generation that they read, and trade
 * on as if they had it.
 *
 * What must be true: the generation and the revision of a launch never go back; a generation has one holder; who claims knew the
 * generation; no order of the maker on the pair is taken from another session than the holder's, or while the lease is over.
 */
import { CommandType, Flag } from '../../../core/layout/command.ts'
import { LEASE_ANSWER } from '../../../core/layout/answers.ts'
import { RESULT } from '../../../core/layout/event.ts'
import { LaunchPhase } from '../../../core/layout/launches.ts'
import { REFUSALS } from '../../../core/layout/refusals.ts'
import { decode, type Decoded } from '../../../core/layout/table.ts'
import type { Prng } from '../../../core/lib/prng.ts'
import { launchesOf, type LaunchView } from '../../../core/view/launches.ts'
import { encodeClaimLease } from '../../../gateway/bridge/encode_lease.ts'
import type { Asker, Draft } from '../margin_requests.ts'
import { PAIRS } from '../genesis.ts'
import { Violation } from '../violation.ts'
import { named, pick, resultOf, type Desk, type Done, type Program, type ProgramAudit } from './program.ts'

/** The client whose wallet is the maker's. */
export const MAKER = 0
const LENGTHS = [1000, 1000, 4000]
const ID_BYTES = 40

const hex = (text: string): string => Buffer.from(text).toString('hex').padEnd(ID_BYTES * 2, '0')
const isUnderWay = ({ phase }: LaunchView): boolean => phase !== 'ENDED'

function request({ random, state, account, number }: Asker): Draft | null {
  const own = launchesOf(state).filter((launch) => isUnderWay(launch) && launch.account === account)
  if (own.length === 0) return null
  const { launchId, generation } = pick(random, own)
  // Now and then what it read long ago, or guesses.
  const expected = random.below(8) === 0 ? Math.max(0, generation + 1 - random.below(3)) : generation
  const owner = `process-${number}`
  return {
    type: CommandType.CLAIM_LEASE, key: '',
    send: (engine, at, correlation, caller) => encodeClaimLease(engine, at, correlation, caller, launchId, owner, expected),
  }
}

function operate({ random, state, account }: Desk): readonly [CommandType, Decoded] | null {
  const launches = launchesOf(state)
  const live = launches.filter(isUnderWay)
  const pair = random.below(PAIRS)
  const launch = live.find((each) => each.pair === pair)
  if (launch === undefined) return begin(random, named(state, account(MAKER)), pair, launches.length)
  // Another maker for a while, who has no second process.
  const moves = random.below(4) === 0 ? named(state, account(random.below(3) === 0 ? 1 : MAKER)) : null
  const phase = random.below(12) === 0 ? LaunchPhase.ENDED : pick(random, [-1, LaunchPhase.LIVE, LaunchPhase.CLOSING])
  return [CommandType.SET_LAUNCH, {
    pair: -1, account: -1, ...moves, phase, leaseMs: pick(random, [-1, ...LENGTHS]), launchId: hex(launch.launchId),
  }]
}

function begin(random: Prng, maker: ReturnType<typeof named>, pair: number, made: number): readonly [CommandType, Decoded] | null {
  if (maker === null) return null
  return [CommandType.SET_LAUNCH, {
    pair, ...maker, phase: LaunchPhase.PREPARING, leaseMs: pick(random, LENGTHS), generation: random.below(4), isNew: 1,
    launchId: hex(`launch-${made}`),
  }]
}

interface Lease {
  pair: number
  account: number
  generation: number
  revision: number
  /** Session key and name of the process; '': nobody claimed it of this maker. */
  key: string
  owner: string
  until: number
  readonly holders: Map<number, string>
}

class LeaseAudit implements ProgramAudit {
  /** Key of the session in each row. */
  readonly #keys = new Map<number, string>()
  readonly #leases = new Map<string, Lease>()
  /** By pair: the launch that is under way. */
  readonly #underWay = new Map<number, Lease>()

  see({ type, command, events, met }: Done): void {
    const answer = decode(RESULT, events, resultOf(events))
    const { code, detail, flags } = answer
    if (code === REFUSALS.LEASE_CONFLICT.number) met('lease conflict')
    if (code === REFUSALS.LEASE_LOST.number) met('fenced order')
    if (code !== 0) return
    if (type === CommandType.OPEN_SESSION) this.#keys.set(Number(detail), String(command['publicKey']))
    const places = type === CommandType.PLACE_ORDER || type === CommandType.REPLACE_ORDER
    if (places && (Number(flags) & Flag.REPEATED) === 0) this.#placed(command, answer, met)
    if (type === CommandType.SET_LAUNCH || type === CommandType.CLAIM_LEASE) {
      this.#changed(type, command, decode(LEASE_ANSWER, events, resultOf(events)), met)
    }
  }

  #changed(type: number, command: Decoded, answer: Decoded, met: Done['met']): void {
    const id = String(command['launchId'])
    const [pair, account, generation, revision, until] = (['pair', 'account', 'generation', 'quoteRevision', 'leaseEndsAt'] as const)
      .map((name) => Number(answer[name])) as [number, number, number, number, number]
    const before = this.#leases.get(id)
    const lease = before ?? { pair, account, generation, revision: 0, key: '', owner: '', until: 0, holders: new Map() }
    const forth = generation >= lease.generation && revision >= lease.revision
    if (!forth) throw new Violation(`a launch goes back from ${lease.generation}, ${lease.revision} to ${generation}, ${revision}`)
    if (type === CommandType.CLAIM_LEASE) this.#claimed(lease, command, generation, met)
    else if (before !== undefined && account !== lease.account) {
      if (generation === lease.generation) throw new Violation(`a launch has another maker and the same generation ${generation}`)
      met('another maker')
      Object.assign(lease, { key: '', owner: '' })
    }
    Object.assign(lease, { account, generation, revision, until })
    this.#leases.set(id, lease)
    if (answer['phase'] === LaunchPhase.ENDED) this.#underWay.delete(pair)
    else this.#underWay.set(pair, lease)
    if (answer['phase'] === LaunchPhase.ENDED) met('launch ended')
  }

  #claimed(lease: Lease, command: Decoded, generation: number, met: Done['met']): void {
    const [key, owner] = [this.#keys.get(Number(command['session'])) ?? 'nobody', String(command['owner'])]
    if (command['expectedGeneration'] !== lease.generation) {
      throw new Violation(`a claim of generation ${String(command['expectedGeneration'])} is taken, the launch has ${lease.generation}`)
    }
    const [holder, known] = [`${key} ${owner}`, lease.holders.get(generation)]
    if (known !== undefined && known !== holder) throw new Violation(`generation ${generation} has two holders: ${known} and ${holder}`)
    met(known === undefined ? 'lease claimed' : 'lease renewed')
    lease.holders.set(generation, holder)
    Object.assign(lease, { key, owner })
  }

  #placed(command: Decoded, { account, pair, flags, time }: Decoded, met: Done['met']): void {
    const lease = this.#underWay.get(Number(pair))
    const free = lease === undefined || lease.account !== account || lease.until === 0
    if (free || (Number(flags) & (Flag.REDUCE_ONLY | Flag.CLOSE)) !== 0) return
    met('order of a holder')
    const key = this.#keys.get(Number(command['session']))
    if (lease.key === key && lease.until > Number(time)) return
    throw new Violation(`an order of session key ${key} is taken at ${String(time)}; ${lease.key} has the lease until ${lease.until}`)
  }
}

export const LEASES: Program = {
  name: 'leases', weights: [25, 50], needsPerps: false, operates: 40, request, operate, audit: () => new LeaseAudit(),
}
