/**
 * The pools of the state, for an operator: how full they are, who holds most, and the end of anybody's orders (core/view/pools.ts,
 * core/orders/cancel_account.ts).
 *
 * A cancel is as many commands through lane 0 as it takes, 1,000 orders each, one after the other, {@link COMMANDS_MAX} at most in one
 * request; `left` is 1 when more may rest, and asking again goes on. Each command is in the journal; the log has one line for the whole.
 */
import type { IncomingMessage } from 'node:http'
import { ACCOUNT } from '../../core/state/columns.ts'
import { accountRow, getF64 } from '../../core/view/rows.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import type { State } from '../../core/state/state.ts'
import { CANCEL_ACCOUNT_ORDERS_COMMAND, CANCEL_ALL_MAX, CommandType } from '../../core/layout/command.ts'
import { IdKind, parseId, userId, type Id } from '../../core/layout/ids.ts'
import type { FromThread } from '../../core/threads.ts'
import { masterOf, readProfile } from '../../core/view/families.ts'
import { HOLDINGS, largestHolders, readPools, type Holder, type Holding } from '../../core/view/pools.ts'
import type { Admin } from './admin.ts'
import { json, readFields, refuse, refused, type Answer, type Handler } from './http.ts'
import { hasAccount } from './policy.ts'

/** Holders in one answer. */
export const TOP_MAX = 100
/** Commands of one request: twelve for each account of the largest family, each of which may have 10,000 orders. */
const COMMANDS_MAX = 1212

export interface Pools {
  readonly list: Handler
  readonly holders: Handler
  readonly cancel: Handler
}

/** `gate`: word APPLYING. `tell`: messages to the main thread, for the log. */
export function createPools(state: State, gate: Int32Array, admin: Admin, tell: (message: FromThread) => void): Pools {
  let walking = false
  const createdSequence = (account: number): number =>
    getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE)
  const named = ({ account, createdSequence: created, held }: Holder): object => ({ userId: userId(created, account), held })

  /** The accounts a cancel is about; `null` while the family cannot be read. */
  const accountsOf = (account: number, family: boolean): readonly number[] | null => {
    if (!family) return [account]
    const master = masterOf(state, account)
    const profile = readProfile(state, gate, master < 0 ? account : master)
    return profile === null ? null : [profile.account, ...profile.subAccounts]
  }
  /** The account that was named is meant as it was named: its row may be another's by now. */
  const cancelAll = (accounts: readonly number[], named: Id, pair: number): Promise<Cancelled | Answer> => {
    const each = accounts.map((account) =>
      ({ account, createdSequence: account === named.slot ? named.sequence : createdSequence(account) }))
    return cancelOrders(admin, each, pair)
  }

  return {
    list: () => json(200, { pools: readPools(state, Date.now()) }),

    async holders(request) {
      const asked = new URL(request.url!, 'http://localhost').searchParams
      const [pool, top] = [asked.get('pool') ?? '', Number(asked.get('top') ?? 20)]
      if (!Object.hasOwn(HOLDINGS, pool)) return refuse('VALIDATION_ERROR', { field: 'pool', pools: Object.keys(HOLDINGS) })
      if (!Number.isInteger(top) || top < 1 || top > TOP_MAX) return refuse('VALIDATION_ERROR', { field: 'top', most: TOP_MAX })
      if (walking) return refuse('OVERLOADED')
      walking = true
      try {
        const { accounts, families } = await largestHolders(state, pool as Holding, top)
        return json(200, { pool, accounts: accounts.map(named), families: families.map(named) })
      } finally {
        walking = false
      }
    },

    async cancel(request: IncomingMessage) {
      const read = await readFields(request)
      if ('refusal' in read) return read.refusal
      const { userId: text, pair: wanted, family = false } = read.fields
      const id = typeof text === 'string' ? parseId(IdKind.USER, text) : null
      if (id === null) return refuse('VALIDATION_ERROR', { field: 'userId' })
      if (typeof family !== 'boolean') return refuse('VALIDATION_ERROR', { field: 'family' })
      if (wanted !== undefined && typeof wanted !== 'string') return refuse('VALIDATION_ERROR', { field: 'pair' })
      const pair = state.genesis.pairs.find(({ id, symbol }) => symbol === wanted || id.toLowerCase() === wanted?.toLowerCase())
      if (wanted !== undefined && pair === undefined) return refuse('NOT_FOUND', { field: 'pair' })
      if (!hasAccount(state, id.slot, id.sequence)) return refuse('NOT_FOUND', { field: 'userId' })
      const accounts = accountsOf(id.slot, family)
      if (accounts === null) return refuse('ENGINE_UNAVAILABLE')
      const cancelled = await cancelAll(accounts, id, pair?.index ?? -1)
      if ('status' in cancelled) return cancelled
      const fields = { userId: text, pair: pair?.symbol ?? null, family, accounts: accounts.length, ...cancelled }
      tell({ type: 'log', level: 'warn', message: 'orders cancelled by the operator', fields })
      return json(200, fields)
    },
  }
}

/** Orders that ended, 1 when more may rest, and the last command that ended some. */
interface Cancelled {
  cancelled: number
  left: number
  sequence: number
}

/** Cancels the orders of these accounts; a refusal of the first command is the answer, what was done before a later one counts. */
async function cancelOrders(
  admin: Admin, accounts: readonly { account: number; createdSequence: number }[], pair: number,
): Promise<Cancelled | Answer> {
  const done: Cancelled = { cancelled: 0, left: 0, sequence: 0 }
  let commands = 0
  for (const each of accounts) {
    let from = { fromSlot: 0, fromSequence: 0 }
    for (let goesOn = true; goesOn; ) {
      if (commands++ >= COMMANDS_MAX) return { ...done, left: 1 }
      const values = { ...each, pair, limit: CANCEL_ALL_MAX, ...from }
      const result = await admin.send(CommandType.CANCEL_ACCOUNT_ORDERS, CANCEL_ACCOUNT_ORDERS_COMMAND, values)
      if (result === 'full' || result === 'late') return refuse(result === 'full' ? 'OVERLOADED' : 'SERVICE_UNAVAILABLE', { ...done })
      if (result['code'] !== 0) return refused(refusalByNumber(result['code'] as number), { ...done })
      done.cancelled += Number(result['ended'])
      done.sequence = Number(result['sequence'])
      goesOn = result['more'] !== 0
      from = { fromSlot: Number(result['nextSlot']), fromSequence: Number(result['nextSequence']) }
    }
  }
  return done
}
