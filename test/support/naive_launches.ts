/** Launches and the leases of their makers in the naive exchange: a list of plain objects that is searched. See naive.ts. */
import { CommandType, Flag, typeOfKind } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE, type NaiveExchange } from './naive.ts'
import { owner, refuseOwner } from './naive_agents.ts'

export interface Launch {
  id: string
  pair: number
  account: number
  phase: number
  leaseMs: number
  generation: number
  revision: number
  /** Who claimed the lease last, and until when; null: nobody since the maker was named. */
  lease: { key: string; owner: string; until: number } | null
}

const [ENDED, MOST] = [3, 256]
const LENGTHS = [1000, 3_600_000] as const

/** Bytes in hex without the zeros behind them; null unless there is something, visible and without a hole. */
function nameOf(field: string): string | null {
  const text = field.replace(/(00)+$/, '')
  const bytes = [...Buffer.from(text, 'hex')]
  return bytes.length > 0 && bytes.every((byte) => byte > 0x20 && byte < 0x7f) ? text : null
}

/** SET_LAUNCH and CLAIM_LEASE; false: it is another command. */
export function launchCommand(ex: NaiveExchange, command: Decoded): boolean {
  const kind = Number(command['kind'])
  const type = typeOfKind(kind)
  if (type === CommandType.CLAIM_LEASE) claim(ex, command)
  else if (type !== CommandType.SET_LAUNCH) return false
  else if (kind >>> 16 !== 0) ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  else setLaunch(ex, command)
  return true
}

const found = (ex: NaiveExchange, command: Decoded): Launch | undefined =>
  ex.launches.find(({ id }) => id === String(command['launchId']).replace(/(00)+$/, ''))

function setLaunch(ex: NaiveExchange, command: Decoded): void {
  const launch = found(ex, command)
  const code = command['isNew'] !== 0 ? newRefusal(ex, command, launch) : changeRefusal(ex, command, launch)
  if (code !== 0) return ex.refuse(command, code, -1)
  const [pair, account, phase, leaseMs] = ['pair', 'account', 'phase', 'leaseMs'].map((field) => Number(command[field])) as
    [number, number, number, number]
  if (launch === undefined) {
    const id = nameOf(String(command['launchId']))!
    ex.launches.push({ id, pair, account, phase, leaseMs, generation: Number(command['generation']), revision: 1, lease: null })
  } else {
    const before = JSON.stringify([launch.account, launch.phase, launch.leaseMs])
    if (account !== -1 && account !== launch.account) Object.assign(launch, { account, lease: null, generation: launch.generation + 1 })
    if (phase !== -1) launch.phase = phase
    if (leaseMs !== -1) launch.leaseMs = leaseMs
    if (JSON.stringify([launch.account, launch.phase, launch.leaseMs]) !== before) launch.revision++
  }
  const now = launch ?? ex.launches.at(-1)!
  ex.accounts[now.account]!.known = true
  tell(ex, command, now)
}

function newRefusal(ex: NaiveExchange, command: Decoded, launch: Launch | undefined): number {
  const [phase, leaseMs] = [Number(command['phase']), Number(command['leaseMs'])]
  const good = nameOf(String(command['launchId'])) !== null && phase >= 0 && phase < ENDED && leaseMs >= LENGTHS[0] && leaseMs <= LENGTHS[1]
    && Number(command['generation']) <= 2 ** 40
  if (!good) return CODE.VALIDATION_ERROR
  const pair = Number(command['pair'])
  if (ex.genesis.pairs[pair] === undefined || !isMaker(ex, command)) return CODE.NOT_FOUND
  if (launch !== undefined || underWay(ex, pair) !== undefined) return CODE.LAUNCH_EXISTS
  return ex.launches.length >= MOST ? CODE.TOO_MANY_LAUNCHES : 0
}

function changeRefusal(ex: NaiveExchange, command: Decoded, launch: Launch | undefined): number {
  const [phase, leaseMs] = [Number(command['phase']), Number(command['leaseMs'])]
  const good = phase >= -1 && phase <= ENDED && (leaseMs === -1 || (leaseMs >= LENGTHS[0] && leaseMs <= LENGTHS[1]))
  if (!good || command['pair'] !== -1) return CODE.VALIDATION_ERROR
  if (launch === undefined || (command['account'] !== -1 && !isMaker(ex, command))) return CODE.NOT_FOUND
  return launch.phase === ENDED ? CODE.LAUNCH_ENDED : 0
}

const isMaker = (ex: NaiveExchange, command: Decoded): boolean => {
  const account = ex.accounts[Number(command['account'])]
  return account !== undefined && account.application >= 0 && account.createdSequence === command['createdSequence']
}

const underWay = (ex: NaiveExchange, pair: number): Launch | undefined =>
  ex.launches.find((each) => each.pair === pair && each.phase !== ENDED)

const keyOf = (ex: NaiveExchange, command: Decoded): string => ex.sessions[Number(command['session'])]!.publicKey

function claim(ex: NaiveExchange, command: Decoded): void {
  const account = owner(ex, command)
  if (account < 0) return refuseOwner(ex, command, -account)
  const launch = found(ex, command)
  const name = nameOf(String(command['owner']))
  if (launch === undefined) return ex.refuse(command, CODE.NOT_FOUND, account)
  if (launch.account !== account) return ex.refuse(command, CODE.PERMISSION_DENIED, account)
  if (name === null) return ex.refuse(command, CODE.VALIDATION_ERROR, account)
  if (launch.phase === ENDED) return ex.refuse(command, CODE.LAUNCH_ENDED, account)
  if (command['expectedGeneration'] !== launch.generation) {
    return ex.refuse(command, CODE.LEASE_CONFLICT, account, 0, { originalSequence: launch.generation })
  }
  const key = keyOf(ex, command)
  if (launch.lease?.key !== key || launch.lease.owner !== name) {
    launch.generation++
    launch.revision++
  }
  launch.lease = { key, owner: name, until: ex.now + launch.leaseMs }
  tell(ex, command, launch)
}

function tell(ex: NaiveExchange, command: Decoded, launch: Launch): void {
  const { account, pair, phase, leaseMs, generation, revision, lease } = launch
  ex.result(command, {
    account, pair, lots: leaseMs, detail: ex.launches.indexOf(launch), detail2: phase, originalSequence: generation,
    orderSequence: revision, expiresAt: lease?.until ?? 0,
  })
}

/** LEASE_LOST when an order of the account with these flags may not be entered on the pair by who signed the command; otherwise 0. */
export function leaseRefusal(ex: NaiveExchange, command: Decoded, account: number, pair: number, flags: number): number {
  const launch = underWay(ex, pair)
  if (launch === undefined || launch.account !== account || (flags & (Flag.REDUCE_ONLY | Flag.CLOSE)) !== 0) return 0
  if (launch.lease === null) return 0
  return launch.lease.until > ex.now && launch.lease.key === keyOf(ex, command) ? 0 : CODE.LEASE_LOST
}
