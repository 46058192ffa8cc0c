/** What the operator decides, in the naive exchange: maintenance, pair status, fee tiers. See naive.ts. */
import { CommandType, typeOfKind } from '../../core/layout/command.ts'
import { RULES } from '../../core/state/rules.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE, type NaiveExchange } from './naive.ts'
import { cancelAccount } from './naive_sweeps.ts'
import { isPerp } from './naive_margin.ts'
import { isLive, shorten } from './naive_sessions.ts'
import { isBehind, noteMark } from './naive_triggers.ts'

/** Commands of the first lane only that this file answers. */
export const POLICY_COMMANDS: ReadonlySet<CommandType> = new Set([
  CommandType.SET_MAINTENANCE, CommandType.SET_PAIR_STATUS, CommandType.SET_FEE_TIER, CommandType.SET_RULES,
  CommandType.ACCEPT_CLOCK, CommandType.CANCEL_ACCOUNT_ORDERS,
])

/** All of {@link POLICY_COMMANDS}; ACCEPT_CLOCK changes nothing. */
export function policy(exchange: NaiveExchange, command: Decoded): void {
  const kind = Number(command['kind'])
  const type = typeOfKind(kind)
  if (kind >>> 16 !== 0) exchange.refuse(command, CODE.OPERATOR_ONLY, -1)
  else if (type === CommandType.SET_MAINTENANCE) {
    exchange.maintenance = command['on'] !== 0
    exchange.result(command, { account: -1, detail: exchange.maintenance ? 1 : 0 })
  } else if (type === CommandType.SET_PAIR_STATUS) setPairStatus(exchange, command)
  else if (type === CommandType.SET_FEE_TIER) setFeeTier(exchange, command)
  else if (type === CommandType.SET_RULES) setRules(exchange, command)
  else if (type === CommandType.ACCEPT_CLOCK) exchange.result(command, { account: -1 })
  else if (type === CommandType.CANCEL_ACCOUNT_ORDERS) cancelAccount(exchange, command)
  else throw new Error(`unknown command type ${type}`)
}

const STATUSES = ['HALTED', 'ACTIVE', 'CANCEL_ONLY'] as const

function setPairStatus(exchange: NaiveExchange, command: Decoded): void {
  const pair = Number(command['pair'])
  const status = STATUSES[Number(command['status'])]
  const before = exchange.statuses[pair]
  if (before === undefined) return exchange.refuse(command, CODE.NOT_FOUND, -1)
  if (status === undefined) return exchange.refuse(command, CODE.VALIDATION_ERROR, -1)
  exchange.statuses[pair] = status
  if (before !== status && isPerp(exchange, pair) && !isBehind(exchange, pair)) noteMark(exchange, pair)
  exchange.result(command, { account: -1, pair, detail: STATUSES.indexOf(status), detail2: STATUSES.indexOf(before) })
}

function setFeeTier(exchange: NaiveExchange, command: Decoded): void {
  const row = Number(command['account'])
  const tier = Number(command['tier'])
  const account = exchange.accounts[row]
  const made = Number(command['createdSequence'])
  if (account === undefined || (made !== 0 && made !== account.createdSequence)) return exchange.refuse(command, CODE.NOT_FOUND, -1)
  if (exchange.genesis.feeTiers.tiers[tier] === undefined) return exchange.refuse(command, CODE.VALIDATION_ERROR, -1)
  const before = account.tier
  account.tier = tier
  account.known = true
  exchange.result(command, { account: row, detail: tier, detail2: before })
}

function setRules(exchange: NaiveExchange, command: Decoded): void {
  const rules = Number(command['rules'])
  const before = exchange.inForce
  if (rules <= before || rules > RULES) return exchange.refuse(command, CODE.VALIDATION_ERROR, -1)
  exchange.inForce = rules
  // Whoever was signed off by then keeps the key from now on, an agent as nobody's.
  for (const session of before < 1 ? exchange.sessions : []) {
    if (isLive(exchange, session)) continue
    Object.assign(session, { endedAt: exchange.now, counted: false, agent: session.agent === null ? null : 'gone' })
  }
  // Whoever has nothing by then is as if seen now, in the order of rows.
  for (const [row, account] of before < 1 ? exchange.accounts.entries() : []) {
    Object.assign(account, { lent: true, seen: [exchange.now, exchange.sequence - 1 + row / exchange.accounts.length] })
  }
  if (rules >= 3) {
    for (const account of exchange.accounts.keys()) shorten(exchange, account, null, 0)
    for (const agent of exchange.agents) shorten(exchange, agent.owner, agent, 0)
  }
  exchange.result(command, { account: -1, detail: rules, detail2: before })
}
