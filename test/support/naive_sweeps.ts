/** Mass cancels in the naive exchange: of an owner or an agent, of the operator, and what the sequencer goes on with. See naive.ts. */
import { AgentGrant, Flag } from '../../core/layout/command.ts'
import { Reason, Status } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { lacksForEverything, lacksToCancel, mayUse, type Agent } from './naive_agents.ts'
import { end } from './naive_orders.ts'
import { hasWaiting, sweepWaiting, waitsForAny } from './naive_sweep_waiting.ts'
import type { Ex, Order } from './naive_terms.ts'

const CANCEL_ALL_MOST = 1000
/** Orders that a mass cancel looks at beyond those it may end, since the rules 1. */
const LOOKS_MORE = 256
/** Orders that end with one part that the sequencer makes. */
const CONTINUED_MOST = 256

/** A mass cancel under way: which orders it means, where it stands, when whoever asked was heard last. */
export interface Sweep {
  account: number
  pair: number
  /** Flag of the orders that it ends. */
  mark: number
  /** Nobody asked for it now: it goes on at once, and is never left for another. */
  byItself: boolean
  /** Sequence of the command that began it. */
  began: number
  slot: number
  sequence: number
  since: number
}

/** One part of a mass cancel. */
interface Part extends Pick<Sweep, 'account' | 'pair' | 'mark' | 'byItself' | 'slot' | 'sequence'> {
  limit: number
  /** Whoever asked sent it. */
  heard: boolean
  agent: Agent | null
}

/** Since the rules 2 only what was there when it began is meant. */
function beganAt(ex: Ex, part: Part, known: Sweep | undefined): number {
  if (ex.inForce < 2) return Infinity
  if (part.sequence === 0) return ex.sequence
  return known?.began ?? part.sequence
}

/** The same mass cancel, when it is under way. */
const underWay = (ex: Ex, part: Part): Sweep | undefined =>
  part.agent !== null ? undefined : ex.sweeps.find((each) => each.account === part.account && each.pair === part.pair &&
    each.mark === part.mark && each.byItself === part.byItself)

/** Where it goes on: slot and sequence of an order; slot -1: behind the last one, because conditional or TWAP orders are left. */
type Place = Pick<Sweep, 'slot' | 'sequence'>

/** What is noted of it when it goes on at `next`; undefined: it is over. */
function noteSweep(ex: Ex, part: Part, began: number, known: Sweep | undefined, next: Place | undefined): void {
  if (ex.inForce < 2 || part.agent !== null) return
  if (next === undefined) {
    ex.sweeps = ex.sweeps.filter((each) => each !== known)
    return
  }
  const { account, pair, mark, byItself } = part
  const isTaken = part.sequence !== 0 || ex.sweeps.some((each) => each.account === account && each.byItself)
  if (known === undefined && isTaken) return
  const since = part.heard ? ex.now : known!.since
  const noted = { account, pair, mark, byItself, began, ...next, since }
  if (byItself) putByItself(ex, noted)
  else if (part.heard) ex.sweeps = [...ex.sweeps.filter((each) => each.account !== account), noted]
  else ex.sweeps = ex.sweeps.map((each) => (each === known ? noted : each))
}

/** Puts it behind those that go on by themselves, and before all others. */
function putByItself(ex: Ex, noted: Sweep): void {
  const others = ex.sweeps.filter((each) => each.account !== noted.account)
  ex.sweeps = [...others.filter((each) => each.byItself), noted, ...others.filter((each) => !each.byItself)]
}

/** The sequence that names an order as a place to go on from: since the rules 3 none that is newer than what is meant. */
const placeOf = (ex: Ex, { sequence }: Order, began: number): number => (ex.inForce < 3 ? sequence : Math.min(sequence, began))

/** Ends what waits, then those of an account's orders that are meant, newest first, or from the order on that is named; and answers. */
function sweep(ex: Ex, command: Decoded, part: Part, meant: (pair: number) => boolean, over: Decoded = {}): void {
  const { account } = part
  const known = underWay(ex, part)
  const began = beganAt(ex, part, known)
  const limit = Math.min(CANCEL_ALL_MOST, part.limit)
  const isOf = (pair: number): boolean => meant(pair) && (part.pair < 0 || pair === part.pair)
  const waited = sweepWaiting(ex, account, isOf, began, limit, part.mark !== 0)
  const newestFirst = ex.openOrders(account).sort((a, b) => b.sequence - a.sequence)
  const first = newestFirst.findIndex((o) => o.slot === part.slot && part.sequence > 0 &&
    (o.sequence === part.sequence || (ex.inForce >= 3 && o.sequence > part.sequence)))
  const ahead = newestFirst.slice(Math.max(0, first))
  const ended: Order[] = []
  let [left, looked] = [0, 0]
  for (const order of ahead) {
    if (ex.inForce >= 1 && (waited + ended.length >= limit || looked >= limit + LOOKS_MORE)) break
    looked++
    if (order.sequence > began || !isOf(order.pair)) continue
    if (waited + ended.length < limit) ended.push(order)
    else left++
  }
  for (const order of ended) {
    order.flags |= part.mark
    end(ex, order, Status.CANCELLED, Reason.USER_CANCELLED, Number(command['correlation']), false)
  }
  const next = nextPlace(ex, ahead[looked], began, waited + ended.length >= limit && hasWaiting(ex, account, isOf, began))
  noteSweep(ex, part, began, known, next)
  const more: Decoded = next === undefined ? { detail2: left } : { detail2: 1, slot: next.slot, orderSequence: next.sequence }
  ex.result(command, { account, detail: waited + ended.length, ...more, ...over })
}

/** Where it goes on: with that order, or, when only others wait still (`more`), behind all orders. */
function nextPlace(ex: Ex, order: Order | undefined, began: number, more: boolean): Place | undefined {
  if (order !== undefined) return { slot: order.slot, sequence: placeOf(ex, order, began) }
  return more && ex.inForce >= 1 ? { slot: -1, sequence: began } : undefined
}

/** The part that a command asks for. */
const partOf = (command: Decoded, account: number, mark: number, agent: Agent | null): Part => ({
  account, pair: Number(command['pair']), mark, byItself: false, slot: Number(command['fromSlot']),
  sequence: Number(command['fromSequence']), limit: Number(command['limit']), heard: true, agent,
})

const isOpen = (ex: Ex, pair: number): boolean => ex.statuses[pair] !== 'HALTED'

/** CANCEL_ALL: orders on halted pairs, or of pairs an agent is not granted, are not meant. */
export function cancelAll(ex: Ex, command: Decoded): void {
  if (Number(command['afterMs']) === -2 && ex.inForce >= 4) return cancelAtEnd(ex, command)
  if (Number(command['afterMs']) === -4 && ex.inForce >= 5) return cancelAtEnd(ex, command)
  const account = ex.signer(command)
  if (account < 0) return ex.refuse(command, CODE.SESSION_INVALID, -1)
  const agent = ex.signingAgent(command)
  const lacking = agent === null ? 0 : lacksToCancel(agent, null)
  if (lacking !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, lacking)
  const afterMs = Number(command['afterMs'])
  if (afterMs === -3 && ex.inForce >= 5) return noteConnection(ex, command, account, agent)
  if (afterMs !== 0 && ex.inForce >= 4) return setDeadline(ex, command, account, agent, afterMs)
  const granted = (pair: number): boolean => agent === null || (agent.pairs.has(pair) && mayUse(ex, agent, pair))
  sweep(ex, command, partOf(command, account, 0, agent), (pair) => granted(pair) && isOpen(ex, pair))
}

/** A deadline, or none; nothing ends. An agent must be granted every pair. */
function setDeadline(ex: Ex, command: Decoded, account: number, agent: Agent | null, afterMs: number): void {
  const lacking = agent === null ? 0 : lacksForEverything(ex, agent)
  if (lacking !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, lacking)
  ex.deadlines.delete(account)
  if (afterMs > 0) ex.deadlines.set(account, ex.now + afterMs)
  ex.result(command, { account })
}

/** Connections of an account that cancel at their end, how long it may return after a start, and until when it may (0: no start). */
export interface Connections {
  open: number
  graceMs: number
  returnBy: number
}

/** Such a connection opened. An agent must be granted every pair. */
function noteConnection(ex: Ex, command: Decoded, account: number, agent: Agent | null): void {
  const known = ex.connections.get(account) ?? { open: 0, graceMs: 0, returnBy: 0 }
  const lacking = agent === null ? 0 : lacksForEverything(ex, agent)
  const graceMs = Number(command['fromSlot'])
  if (lacking !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, lacking)
  if (graceMs < 0 || graceMs > 60_000) return ex.refuse(command, CODE.VALIDATION_ERROR, account)
  if (known.open >= 30_000) return ex.refuse(command, CODE.OVERLOADED, account)
  ex.connections.set(account, { open: known.open + 1, graceMs, returnBy: 0 })
  ex.result(command, { account })
}

function closeConnections(ex: Ex, account: number, count: number): void {
  const known = ex.connections.get(account)
  if (known === undefined) return
  known.open = Math.max(0, known.open - Math.max(0, count))
  if (known.open === 0) known.graceMs = 0
}

/** CONTINUE_CANCEL of a start: whoever had a connection may return within its grace. */
function start(ex: Ex, command: Decoded): void {
  const left = [...ex.connections.values()].filter(({ open }) => open > 0)
  for (const each of left) Object.assign(each, { open: 0, graceMs: 0, returnBy: ex.now + each.graceMs })
  ex.result(command, { account: -1, detail: left.length })
}

/** When everything of the account is cancelled by itself; Infinity: never. */
function cancelMoment(ex: Ex, account: number): number {
  return Math.min(ex.deadlines.get(account) ?? Infinity, ex.connections.get(account)?.returnBy || Infinity)
}

/** A connection ended: everything of the account that is named is cancelled, also when its session is over. */
function cancelAtEnd(ex: Ex, command: Decoded): void {
  const session = ex.sessions[Number(command['session'])]
  const account = Number(command['fromSlot'])
  const known = session?.account === account && ex.accounts[account]?.createdSequence === command['fromSequence']
  if (!known) return ex.refuse(command, CODE.SESSION_INVALID, -1)
  if (ex.inForce >= 5) closeConnections(ex, account, Number(command['limit']))
  if (command['afterMs'] === -4) return void ex.result(command, { account })
  const { agent } = session!
  const lacking = agent === null ? 0 : agent === 'gone' || !agent.active ? AgentGrant.ACTION : lacksForEverything(ex, agent)
  if (lacking !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, lacking)
  ex.result(command, { account, detail2: begin(ex, account) })
}

/** CONTINUE_CANCEL at a deadline: a mass cancel begins; nothing ends yet. */
function fire(ex: Ex, command: Decoded): void {
  const account = Number(command['account'])
  if (cancelMoment(ex, account) > ex.now) return ex.refuse(command, CODE.NOT_FOUND, -1)
  if ((ex.deadlines.get(account) ?? Infinity) <= ex.now) ex.deadlines.delete(account)
  const known = ex.connections.get(account)
  if (known !== undefined && known.returnBy <= ex.now) known.returnBy = 0
  ex.result(command, { account, detail2: begin(ex, account) })
}

/** Begins to cancel everything of an account; 0: there is nothing. */
function begin(ex: Ex, account: number): number {
  const newest = ex.openOrders(account).sort((a, b) => b.sequence - a.sequence)[0]
  if (newest === undefined && !waitsForAny(ex, account)) return 0
  const { slot, sequence } = newest ?? { slot: -1, sequence: ex.sequence }
  const begun = { account, pair: -1, mark: 0, byItself: true, began: ex.sequence, slot, sequence, since: 0 }
  const isOld = (each: Sweep): boolean => each.account === account && each.byItself
  if (ex.sweeps.some(isOld)) ex.sweeps = ex.sweeps.map((each) => (isOld(each) ? begun : each))
  else putByItself(ex, begun)
  return 1
}

/** Accounts whose deadline is over at `time`, in the order in which they fire. */
export const dueDeadlines = (ex: Ex, time: number): { account: number; at: number }[] =>
  [...new Set([...ex.deadlines.keys(), ...ex.connections.keys()])].map((account) => ({ account, at: cancelMoment(ex, account) }))
    .filter(({ at }) => at <= time).sort((a, b) => a.at - b.at || a.account - b.account)

/** CANCEL_ACCOUNT_ORDERS: on halted pairs too. */
export function cancelAccount(ex: Ex, command: Decoded): void {
  const row = Number(command['account'])
  const pair = Number(command['pair'])
  const account = ex.accounts[row]
  const known = account !== undefined && account.createdSequence === command['createdSequence']
  if (!known || (pair !== -1 && ex.genesis.pairs[pair] === undefined)) return ex.refuse(command, CODE.NOT_FOUND, -1)
  if (Number(command['limit']) < 1) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  sweep(ex, command, partOf(command, row, Flag.BY_OPERATOR, null), () => true, { pair })
}

/** CONTINUE_CANCEL: the sequencer goes on with a mass cancel. */
export function continueCancel(ex: Ex, command: Decoded): void {
  if (Number(command['fires']) === 2) return start(ex, command)
  if (Number(command['fires']) === 1 && ex.accounts[Number(command['account'])] !== undefined) return fire(ex, command)
  const isIt = (each: Sweep): boolean => each.began === command['began'] || (each.byItself && command['began'] !== 0)
  const known = ex.sweeps.find((each) => each.account === command['account'] && isIt(each))
  if (known === undefined) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const { account, pair, mark, byItself, slot, sequence } = known
  const part = { account, pair, mark, byItself, slot, sequence, limit: CONTINUED_MOST, heard: false, agent: null }
  sweep(ex, command, part, (of) => mark !== 0 || isOpen(ex, of))
}

/** Mass cancels that are gone on with at `time`, `most` of them: half for those that nobody went on with for 5 s, or more. */
export function sweepsOfTime({ sweeps }: Ex, time: number, most: number): Sweep[] {
  const byItself = sweeps.filter((each) => each.byItself)
  const others = sweeps.slice(byItself.length)
  const heard = others.findIndex(({ since }) => since + 5000 > time)
  const silent = (heard < 0 ? others : others.slice(0, heard)).slice(0, byItself.length === 0 ? most : Math.ceil(most / 2))
  return [...silent, ...byItself.slice(0, most - silent.length)]
}
