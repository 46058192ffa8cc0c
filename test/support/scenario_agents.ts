/**
 * Steps of scenarios about delegated agents and sessions; see scenario.ts.
 *
 *   WHO     'ann': her wallet. 'ann#2': her wallet with another session key. 'bot@ann': wallet bot with a session for ann's account
 *   steps   WHO signs in | WHO refreshes | WHO signs out | WHO asks the faucet
 *           WHO grants WALLET ACTION,... [pairs=0,1] [types=limit,market] [times=gtc,ioc,fok] [notional=USD] [orders=N] [expires=SECONDS]
 *           [leverage=N] [no-margin]
 *           WHO revokes WALLET
 */
import {
  AgentAction, AgentOrderType, AgentTimeInForce, CommandType, MINT_COMMAND, OPEN_DELEGATED_SESSION_COMMAND, OPEN_SESSION_COMMAND,
  REVOKE_AGENT_COMMAND, SESSION_COMMAND, UPSERT_AGENT_COMMAND,
} from '../../core/layout/command.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'
import { parseDecimal } from '../../core/lib/decimal.ts'

/** One command of a scenario, without its signature. */
export interface Step {
  layout: Layout
  type: CommandType
  values: Decoded
}

/** What names an agent: its row and the sequence that made it. */
export interface AgentName {
  agent: number
  createdSequence: number
}

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

/** The command that signs `who` in, with a key of that name. */
export function opening(
  who: string, words: readonly string[], made: (who: string) => { readonly account: number; readonly createdSequence: number },
): Step {
  const [, wallet, owner] = /^(\w+)(?:@(\w+))?(?:#\d+)?$/.exec(who)!
  const given = (name: string): string | undefined => words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
  const publicKey = hex(given('with') ?? who, 32)
  if (owner === undefined) {
    const [master, by] = [given('under'), given('by')]
    const referrer = by === undefined ? undefined : made(by)
    const values = {
      session: -1, application: Number(given('application') ?? 0), address: hex(wallet!, 20), publicKey,
      master: master === undefined ? 0 : made(master).account + 1,
      ...(referrer === undefined ? {} : { referrer: referrer.account + 1, referrerSequence: referrer.createdSequence }),
    }
    return { layout: OPEN_SESSION_COMMAND, type: CommandType.OPEN_SESSION, values }
  }
  const values = { session: -1, owner: hex(owner, 20), agent: hex(wallet!, 20), publicKey }
  return { layout: OPEN_DELEGATED_SESSION_COMMAND, type: CommandType.OPEN_DELEGATED_SESSION, values }
}

const ACTIONS: Readonly<Record<string, number>> = {
  create: AgentAction.CREATE_ORDER, cancel: AgentAction.CANCEL_ORDER, replace: AgentAction.REPLACE_ORDER, close: AgentAction.CLOSE_POSITION,
}
const TYPES: Readonly<Record<string, number>> = { limit: AgentOrderType.LIMIT, market: AgentOrderType.MARKET }
const TIMES: Readonly<Record<string, number>> = { gtc: AgentTimeInForce.GTC, ioc: AgentTimeInForce.IOC, fok: AgentTimeInForce.FOK }

/** UPSERT_AGENT of "bot create,cancel pairs=0 ..." at `now`, Unix ms. Without `pairs` pair 0 is granted. */
export function granting(words: readonly string[], now: number): Step {
  const [wallet, actions] = words as [string, string]
  const given = (name: string): string | undefined => words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
  const bits = (names: string | undefined, of: Readonly<Record<string, number>>): number =>
    names === undefined ? 0 : names.split(',').reduce((sum, name) => sum | of[name]!, 0)
  const pairs = (given('pairs') ?? '0').split(',').reduce((sum, pair) => sum | (1 << Number(pair)), 0)
  const expires = given('expires')
  const values = {
    address: hex(wallet, 20), name: hex(wallet, 32), pairs: pairs.toString(16).padStart(2, '0').padEnd(64, '0'),
    grants: bits(actions, ACTIONS) | (bits(given('types'), TYPES) << 8) | (bits(given('times'), TIMES) << 16) |
      (words.includes('no-margin') ? 1 << 24 : 0),
    maxNotional: parseDecimal(given('notional') ?? '0', 9)!, maxOpenOrders: Number(given('orders') ?? 0),
    maxLeverage: Number(given('leverage') ?? 1) * 100,
    expiresAt: expires === undefined ? 0 : now + Number(expires) * 1000,
  }
  return { layout: UPSERT_AGENT_COMMAND, type: CommandType.UPSERT_AGENT, values }
}

const PLAIN: Readonly<Record<string, Step>> = {
  refreshes: { layout: SESSION_COMMAND, type: CommandType.REFRESH_SESSION, values: {} },
  'signs out': { layout: SESSION_COMMAND, type: CommandType.REVOKE_SESSION, values: {} },
  'asks the faucet': { layout: MINT_COMMAND, type: CommandType.MINT, values: { asset: -1 } },
}

/** The command of a step like these, or `null` when it is none of them. `agents`: those granted so far, by owner and wallet. */
export function agentStep(
  who: string, words: readonly string[], now: number, agents: ReadonlyMap<string, AgentName>,
): Step | null {
  const [verb, wallet] = words
  if (verb === 'grants') return granting(words.slice(1), now)
  const named = agents.get(`${who} ${wallet}`) ?? { agent: 0, createdSequence: 1e9 }
  if (verb === 'revokes') return { layout: REVOKE_AGENT_COMMAND, type: CommandType.REVOKE_AGENT, values: { ...named } }
  return PLAIN[words.join(' ')] ?? null
}
