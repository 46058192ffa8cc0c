/** Steps and readings of families in scenarios; the words are in scenario.ts. */
import type { Asset } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import {
  CommandType, CREATE_SUB_ACCOUNT_COMMAND, LimitChange, LimitField, SET_SPEND_LIMIT_COMMAND, TRANSFER_COMMAND, Option,
} from '../../core/layout/command.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'
import { formatDecimal, parseDecimal } from '../../core/lib/decimal.ts'
import { readSpendLimits } from '../../core/view/families.ts'

export interface Step {
  layout: Layout
  type: CommandType
  values: Decoded
}

/** What a scene knows of names. */
export interface Names {
  /** Row of somebody's account, who signs in if need be. */
  account(who: string): number
  asset(symbol: string): Asset
}

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')
const given = (words: readonly string[], name: string): string | undefined =>
  words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)

/** The command of a step about a family; `null`: it is about something else. */
export function familyStep(verb: string, words: string[], names: Names): Step | null {
  const [first, second, third, fourth] = words as [string, string, string, string]
  if (verb === 'makes') {
    const consented = words.includes('unasked') ? 0 : 1
    const values = { address: hex(first, 20), username: hex(given(words, 'name') ?? '', 32), consented }
    return { layout: CREATE_SUB_ACCOUNT_COMMAND, type: CommandType.CREATE_SUB_ACCOUNT, values }
  }
  if (verb === 'gives') return transfer(1, first, second, third, words, names)
  if (verb === 'takes') return transfer(0, fourth, first, second, words, names)
  if (verb === 'limits') return limit(LimitChange.CREATE, first, fourth, { max: third, active: !words.includes('inactive') }, words, names)
  if (verb === 'changes') {
    const active = words.includes('inactive') ? false : words.includes('active') ? true : undefined
    return limit(LimitChange.UPDATE, first, second, { max: given(words, 'max'), active }, words, names)
  }
  return verb === 'drops' ? limit(LimitChange.DELETE, first, second, {}, words, names) : null
}

function transfer(toSub: number, sub: string, quantity: string, symbol: string, words: string[], names: Names): Step {
  const { index, scale } = names.asset(symbol)
  const key = given(words, 'key')
  const keyed: Decoded = key === undefined ? {} : { flags: Option.KEYED, key: hex(key, 16), payload: hex(words.join(' ').slice(0, 16), 16) }
  const values = { asset: index, subAccount: names.account(sub), toSub, amount: parseDecimal(quantity, scale)!, ...keyed }
  return { layout: TRANSFER_COMMAND, type: CommandType.TRANSFER, values }
}

interface Terms {
  max?: string | undefined
  active?: boolean | undefined
}

function limit(change: number, sub: string, symbol: string, { max, active }: Terms, words: string[], names: Names): Step {
  const { index, scale } = names.asset(symbol)
  const daily = given(words, 'daily')
  const atoms = (text: string | undefined): bigint => (text === undefined || text === 'none' ? -1n : parseDecimal(text, scale)!)
  const bit = (field: number, value: unknown): number => (value === undefined ? 0 : field)
  const fields = bit(LimitField.MAX_AMOUNT, max) | bit(LimitField.DAILY_LIMIT, daily) | bit(LimitField.ACTIVE, active)
  const amounts = { maxAmount: max === undefined ? 0n : atoms(max), dailyLimit: atoms(daily) }
  const values = { asset: index, subAccount: names.account(sub), change, fields, ...amounts, active: active === true ? 1 : 0 }
  return { layout: SET_SPEND_LIMIT_COMMAND, type: CommandType.SET_SPEND_LIMIT, values }
}

/** "bob 500 USD, 50 a day: 100 held, 20 spent; 2 BTC, inactive: 0 held, 0 spent": the limits of a sub-account, by asset. */
export function limitsText(state: State, who: string, account: number, now: number): string {
  const limits = readSpendLimits(state, new Int32Array(1024), account, now)!.sort((a, b) => a.asset - b.asset)
  const texts = limits.map(({ asset, maxAmount, dailyLimit, outstanding, usedToday, isActive }) => {
    const { scale, symbol } = state.genesis.assets[asset]!
    const text = (atoms: bigint): string => formatDecimal(atoms, scale)
    const daily = dailyLimit === null ? '' : `, ${text(dailyLimit)} a day`
    return `${text(maxAmount)} ${symbol}${daily}${isActive ? '' : ', inactive'}: ${text(outstanding)} held, ${text(usedToday)} spent`
  })
  return `${who} ${texts.length === 0 ? 'none' : texts.join('; ')}`
}
