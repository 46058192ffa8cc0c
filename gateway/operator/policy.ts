/**
 * What an operator can change: maintenance, the status of a pair, the fee tier of an account (and sessions.ts). Each is one command
 * through lane 0 and is answered after it is durable and applied.
 *
 * A fee tier set by hand stands until the history finds that the account's volume has earned another (core/history/project/tiers.ts).
 */
import { ACCOUNT, PAIR, SCALAR } from '../../core/state/columns.ts'
import { accountRow, get, getF64, pairRow } from '../../core/view/rows.ts'
import type { Genesis, Pair } from '../../core/state/genesis.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import type { State } from '../../core/state/state.ts'
import {
  CommandType, PAIR_STATUS_NAMES, SET_FEE_TIER_COMMAND, SET_MAINTENANCE_COMMAND, SET_PAIR_STATUS_COMMAND,
} from '../../core/layout/command.ts'
import { IdKind, parseId } from '../../core/layout/ids.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import type { DecodedAnswer } from '../../core/layout/answers.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'
import type { FromThread } from '../../core/threads.ts'
import type { Admin } from './admin.ts'
import { json, readFields, refuse, refused, type Answer, type Handler } from './http.ts'

export interface Policy {
  readonly setMaintenance: Handler
  readonly listPairs: Handler
  readonly setPairStatus: Handler
  readonly listFeeTiers: Handler
  readonly setFeeTier: Handler
}

/** Name of a pair's status, from the shared columns. */
export const pairStatus = (state: State, pair: Pair): string =>
  PAIR_STATUS_NAMES[get(state, pairRow(state, pair.index), PAIR.STATUS)] ?? 'unknown'

const refusedBy = ({ code }: Decoded): Answer => refused(refusalByNumber(code as number))

/** Sends a command and says what `done` makes of its result, or `refusal` of one that is a refusal. */
export async function change<T extends CommandType>(
  admin: Admin, type: T, layout: Layout, values: Decoded, done: (result: DecodedAnswer<T>) => Answer, refusal = refusedBy,
): Promise<Answer> {
  const result = await admin.send(type, layout, values)
  if (result === 'full') return refuse('OVERLOADED')
  if (result === 'late') return refuse('SERVICE_UNAVAILABLE')
  return result['code'] === 0 ? done(result as DecodedAnswer<T>) : refusal(result)
}

/** `tell`: messages to the main thread, for the log. */
export function createPolicy(state: State, admin: Admin, tell: (message: FromThread) => void): Policy {
  const { genesis } = state
  const { feeTiers } = genesis
  const note = (message: string, fields: Record<string, unknown>): void => tell({ type: 'log', level: 'warn', message, fields })

  return {
    async setMaintenance(request) {
      const read = await readFields(request)
      if ('refusal' in read) return read.refusal
      const { on } = read.fields
      if (typeof on !== 'boolean') return refuse('VALIDATION_ERROR', { field: 'on' })
      return change(admin, CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { on: on ? 1 : 0 }, ({ now, sequence }) => {
        note(on ? 'maintenance on' : 'maintenance off', { sequence })
        return json(200, { maintenance: now === 1, sequence })
      })
    },

    listPairs: () =>
      json(200, {
        pairs: genesis.pairs.map((pair) => ({
          id: pair.id,
          symbol: pair.symbol,
          status: pairStatus(state, pair),
          bidOrders: get(state, pairRow(state, pair.index), PAIR.BID_ORDERS),
          askOrders: get(state, pairRow(state, pair.index), PAIR.ASK_ORDERS),
        })),
      }),

    async setPairStatus(request) {
      const read = await readFields(request)
      if ('refusal' in read) return read.refusal
      const { pair: named, status: wanted } = read.fields
      if (typeof named !== 'string') return refuse('VALIDATION_ERROR', { field: 'pair' })
      const status = PAIR_STATUS_NAMES.findIndex((name) => name === wanted)
      if (status < 0) return refuse('VALIDATION_ERROR', { field: 'status' })
      const pair = genesis.pairs.find(({ id, symbol }) => symbol === named || id.toLowerCase() === named.toLowerCase())
      if (pair === undefined) return refuse('NOT_FOUND', { field: 'pair' })
      const values = { pair: pair.index, status }
      return change(admin, CommandType.SET_PAIR_STATUS, SET_PAIR_STATUS_COMMAND, values, (answer) => {
        const { sequence } = answer
        const [now, before] = [PAIR_STATUS_NAMES[answer['now'] as number], PAIR_STATUS_NAMES[answer['before'] as number]]
        note('pair status', { pair: pair.symbol, status: now, before, sequence })
        return json(200, { id: pair.id, symbol: pair.symbol, status: now, before, sequence })
      })
    },

    listFeeTiers: () => json(200, describeFeeTiers(state.genesis)),

    async setFeeTier(request) {
      const read = await readFields(request)
      if ('refusal' in read) return read.refusal
      const { userId, tier } = read.fields
      const id = typeof userId === 'string' ? parseId(IdKind.USER, userId) : null
      if (id === null) return refuse('VALIDATION_ERROR', { field: 'userId' })
      const known = typeof tier === 'number' && Number.isInteger(tier) && tier >= 0 && tier < feeTiers.tiers.length
      if (!known) return refuse('VALIDATION_ERROR', { field: 'tier', tiers: feeTiers.tiers.length })
      if (!hasAccount(state, id.slot, id.sequence)) return refuse('NOT_FOUND', { field: 'userId' })
      const values = { account: id.slot, tier, createdSequence: id.sequence }
      return change(admin, CommandType.SET_FEE_TIER, SET_FEE_TIER_COMMAND, values, ({ now, before, sequence }) => {
        note('fee tier', { userId, tier: now, before, sequence })
        return json(200, { userId, tier: now, before, sequence })
      })
    },
  }
}

/** The tiers of the genesis as it writes them: volumes as decimals of their asset, discounts in bps. */
function describeFeeTiers({ feeTiers, assets }: Genesis): object {
  const { symbol, scale } = assets[feeTiers.asset]!
  const tiers = feeTiers.tiers.map(({ minVolumeAtoms, makerDiscountPpm, takerDiscountPpm }, tier) => ({
    tier,
    minVolume: formatDecimal(minVolumeAtoms, scale),
    makerDiscountBps: formatDecimal(makerDiscountPpm, 2),
    takerDiscountBps: formatDecimal(takerDiscountPpm, 2),
  }))
  return { asset: symbol, tiers }
}

/** True when the row is an account that was created by the command with this sequence. */
export function hasAccount(state: State, account: number, sequence: number): boolean {
  if (account >= state.scalars[SCALAR.ACCOUNTS]!) return false
  return getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE) === sequence
}
