/** Mass cancels in the naive exchange: of an owner or an agent, of the operator, and what the sequencer goes on with. See naive.ts. */
import { Flag } from '../../core/layout/command.ts'
import { Reason, Status } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { lacksToCancel, type Agent } from './naive_agents.ts'
import { end } from './naive_orders.ts'
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
  /** Sequence of the command that began it. */
  began: number
  slot: number
  sequence: number
  since: number
}

/** One part of a mass cancel. */
interface Part extends Pick<Sweep, 'account' | 'pair' | 'mark' | 'slot' | 'sequence'> {
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
const underWay = (ex: Ex, { account, pair, mark, agent }: Part): Sweep | undefined =>
  agent === null ? ex.sweeps.find((each) => each.account === account && each.pair === pair && each.mark === mark) : undefined

/** What is noted of it when it goes on before `next`; undefined: it is over. */
function noteSweep(ex: Ex, part: Part, began: number, known: Sweep | undefined, next: Order | undefined): void {
  if (ex.inForce < 2 || part.agent !== null) return
  if (next === undefined) {
    ex.sweeps = ex.sweeps.filter((each) => each !== known)
    return
  }
  if (known === undefined && part.sequence !== 0) return
  const { account, pair, mark } = part
  const since = part.heard ? ex.now : known!.since
  const noted = { account, pair, mark, began, slot: next.slot, sequence: placeOf(ex, next, began), since }
  if (part.heard) ex.sweeps = [...ex.sweeps.filter((each) => each.account !== account), noted]
  else ex.sweeps = ex.sweeps.map((each) => (each === known ? noted : each))
}

/** The sequence that names an order as a place to go on from: since the rules 3 none that is newer than what is meant. */
const placeOf = (ex: Ex, { sequence }: Order, began: number): number => (ex.inForce < 3 ? sequence : Math.min(sequence, began))

/** Ends those of an account's orders that are meant, newest first, or from the order on that is named; and answers. */
function sweep(ex: Ex, command: Decoded, part: Part, meant: (order: Order) => boolean, over: Decoded = {}): void {
  const { account } = part
  const known = underWay(ex, part)
  const began = beganAt(ex, part, known)
  const newestFirst = ex.openOrders(account).sort((a, b) => b.sequence - a.sequence)
  const first = newestFirst.findIndex((o) => o.slot === part.slot && part.sequence > 0 &&
    (o.sequence === part.sequence || (ex.inForce >= 3 && o.sequence > part.sequence)))
  const ahead = newestFirst.slice(Math.max(0, first))
  const limit = Math.min(CANCEL_ALL_MOST, part.limit)
  const ended: Order[] = []
  let [left, looked] = [0, 0]
  for (const order of ahead) {
    if (ex.inForce >= 1 && (ended.length >= limit || looked >= limit + LOOKS_MORE)) break
    looked++
    if (order.sequence > began || !meant(order) || (part.pair >= 0 && order.pair !== part.pair)) continue
    if (ended.length < limit) ended.push(order)
    else left++
  }
  for (const order of ended) {
    order.flags |= part.mark
    end(ex, order, Status.CANCELLED, Reason.USER_CANCELLED, Number(command['correlation']), false)
  }
  const next = ahead[looked]
  noteSweep(ex, part, began, known, next)
  const more: Decoded = next === undefined ? { detail2: left } : { detail2: 1, slot: next.slot, orderSequence: placeOf(ex, next, began) }
  ex.result(command, { account, detail: ended.length, ...more, ...over })
}

/** The part that a command asks for. */
const partOf = (command: Decoded, account: number, mark: number, agent: Agent | null): Part => ({
  account, pair: Number(command['pair']), mark, slot: Number(command['fromSlot']), sequence: Number(command['fromSequence']),
  limit: Number(command['limit']), heard: true, agent,
})

const isOpen = (ex: Ex, order: Order): boolean => ex.statuses[order.pair] !== 'HALTED'

/** CANCEL_ALL: orders on halted pairs, or of pairs an agent is not granted, are not meant. */
export function cancelAll(ex: Ex, command: Decoded): void {
  const account = ex.signer(command)
  if (account < 0) return ex.refuse(command, CODE.SESSION_INVALID, -1)
  const agent = ex.signingAgent(command)
  const lacking = agent === null ? 0 : lacksToCancel(agent, null)
  if (lacking !== 0) return ex.refuse(command, CODE.AGENT_NOT_ALLOWED, account, lacking)
  const granted = (order: Order): boolean => agent === null || agent.pairs.has(order.pair)
  sweep(ex, command, partOf(command, account, 0, agent), (order) => granted(order) && isOpen(ex, order))
}

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
  const known = ex.sweeps.find((each) => each.account === command['account'] && each.began === command['began'])
  if (known === undefined) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const { account, pair, mark, slot, sequence } = known
  const part = { account, pair, mark, slot, sequence, limit: CONTINUED_MOST, heard: false, agent: null }
  sweep(ex, command, part, (order) => mark !== 0 || isOpen(ex, order))
}

/** Mass cancels that nobody went on with for 5 s at `time`. */
export function silentSweeps({ sweeps }: Ex, time: number): Sweep[] {
  const heard = sweeps.findIndex(({ since }) => since + 5000 > time)
  return heard < 0 ? sweeps : sweeps.slice(0, heard)
}
