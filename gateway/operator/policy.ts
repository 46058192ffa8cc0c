/**
 * What an operator can change: maintenance, the status of a pair, the fee tier of an account (and sessions.ts). Each is
 * one command through lane 0 and is answered after it is durable and applied.
 *
 * A fee tier set by hand stands until the history finds that the account's volume has earned another
 * (core/history/project/tiers.ts).
 */
import Type from 'typebox'
import { ACCOUNT, PAIR, SCALAR } from '../../core/state/columns.ts'
import { accountRow, get, getF64, pairRow } from '../../core/view/rows.ts'
import type { Genesis, Pair } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import {
  CommandType, PAIR_STATUS_NAMES, SET_FEE_TIER_COMMAND, SET_MAINTENANCE_COMMAND, SET_PAIR_STATUS_COMMAND,
} from '../../core/layout/command.ts'
import { IdKind, parseId, userId as formatUserId } from '../../core/layout/ids.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import * as fields from '../operations/fields.ts'
import { Decimal, Uuid } from '../operations/operation.ts'
import { field, record } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { note, operatorRoute, SENDS, sendCommand } from './route.ts'
import { printable, table } from './text.ts'

/** A user id as it looks, for examples. */
const USER = formatUserId(1040, 7)
const PAIR_ID = '7a1c0000-0000-4000-8000-000000000001'

/** Name of a pair's status, from the shared columns. */
export const pairStatus = (state: State, pair: Pair): string =>
  PAIR_STATUS_NAMES[get(state, pairRow(state, pair.index), PAIR.STATUS)] ?? 'unknown'

/** True when the row is an account that was created by the command with this sequence. */
export function hasAccount(state: State, account: number, sequence: number): boolean {
  if (account >= state.scalars[SCALAR.ACCOUNTS]!) return false
  return getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE) === sequence
}

export const SetMaintenance = operatorRoute({
  method: 'POST', path: '/maintenance', token: true,
  summary: 'Block what changes something, or let it through again',
  description: 'Orders, replacements and the faucet are answered 503 OPERATIONS_BLOCKED; cancels, reads and sign-in go on.',
  body: Type.Object({ on: field(Type.Boolean(), 'Whether operations are blocked.') }),
  output: Type.Object({
    maintenance: field(Type.Boolean(), 'Whether operations are blocked now.'),
    sequence: fields.sequence,
  }),
  refusals: SENDS,
  example: { input: { on: true }, output: { maintenance: true, sequence: 1042 } },
  commands: [
    {
      name: 'maintenance on', fixed: { on: true },
      purpose: 'block what changes something; cancels go on',
      explains: 'Orders, replacements and the faucet are answered 503 OPERATIONS_BLOCKED. Cancels, reads and sign-in go on, resting\n'
        + 'orders stay, and expire when they are due. It is in the journal and outlives a restart.',
      example: ['maintenance on', 'maintenance is on (sequence 1042)'],
      show: ({ sequence }) => `maintenance is on (sequence ${sequence})`,
    },
    {
      name: 'maintenance off', fixed: { on: false },
      purpose: 'let operations through again',
      explains: 'The end of maintenance on. Pairs keep the status they have.',
      example: ['maintenance off', 'maintenance is off (sequence 1042)'],
      show: ({ sequence }) => `maintenance is off (sequence ${sequence})`,
    },
  ],
  run: (context, { on }) =>
    sendCommand(context, CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { on: on ? 1 : 0 }, ({ now, sequence }) => {
      note(context, on ? 'maintenance on' : 'maintenance off', { sequence })
      return { maintenance: now === 1, sequence: Number(sequence) }
    }),
})

const PairStatus = record('OperatorPairStatus', 'What a pair lets happen.', Type.Enum(PAIR_STATUS_NAMES))
/** Any pair that is listed, whatever its symbol looks like. */
export const pairName = field(Type.String({ minLength: 1, maxLength: 64 }), 'Trading pair, by id or symbol.')
const pairId = field(Uuid, 'Trading pair.')
const pairSymbol = field(Type.String(), 'BASE/QUOTE.')

export const ListPairs = operatorRoute({
  method: 'GET', path: '/pairs', token: false,
  summary: 'Every trading pair, its status and its resting orders',
  description: 'In the order of their listing.',
  output: Type.Object({
    pairs: field(Type.Array(Type.Object({
      id: pairId, symbol: pairSymbol, status: field(Type.String(), 'What it lets happen.'),
      bidOrders: field(Type.Integer(), 'Orders that rest on the side of bids.'),
      askOrders: field(Type.Integer(), 'Orders that rest on the side of asks.'),
    })), 'The pairs.'),
  }),
  refusals: [],
  example: { input: {}, output: { pairs: [{ id: PAIR_ID, symbol: 'BTC/USDC', status: 'ACTIVE', bidOrders: 12, askOrders: 9 }] } },
  commands: [{
    name: 'pairs list',
    purpose: 'every trading pair, its status and its resting orders',
    explains: 'Bids and asks are the numbers of orders resting on the two sides of the book.',
    example: ['pairs list', `SYMBOL    STATUS  BIDS  ASKS  ID\nBTC/USDC  ACTIVE    12     9  ${PAIR_ID}`],
    show: ({ pairs }) => table(
      ['SYMBOL', 'STATUS', 'BIDS', 'ASKS', 'ID'],
      pairs.map(({ symbol, status, bidOrders, askOrders, id }) => [symbol, status, bidOrders, askOrders, id]),
    ),
  }],
  run: ({ state }) => ({
    pairs: state.genesis.pairs.map((pair) => ({
      id: pair.id,
      symbol: pair.symbol,
      status: pairStatus(state, pair),
      bidOrders: get(state, pairRow(state, pair.index), PAIR.BID_ORDERS),
      askOrders: get(state, pairRow(state, pair.index), PAIR.ASK_ORDERS),
    })),
  }),
})

export const SetPairStatus = operatorRoute({
  method: 'POST', path: '/pairs', token: true,
  summary: 'What a pair lets happen',
  description: 'Resting orders stay on the book.',
  body: Type.Object({ pair: pairName, status: field(PairStatus, 'What it shall let happen.') }),
  output: Type.Object({
    id: pairId, symbol: pairSymbol, status: field(Type.String(), 'What it lets happen now.'),
    before: field(Type.String(), 'What it let happen before.'), sequence: fields.sequence,
  }),
  refusals: [...SENDS, 'NOT_FOUND'],
  example: {
    input: { pair: 'BTC/USDC', status: 'CANCEL_ONLY' },
    output: { id: PAIR_ID, symbol: 'BTC/USDC', status: 'CANCEL_ONLY', before: 'ACTIVE', sequence: 1042 },
  },
  commands: [{
    name: 'pairs set', parameters: [{ field: 'pair', typed: 'PAIR' }, { field: 'status', typed: 'STATUS' }],
    purpose: `what a pair lets happen: ${PAIR_STATUS_NAMES.join(', ')}`,
    explains: 'PAIR is a symbol or an id.\n'
      + '  ACTIVE       everything\n'
      + '  CANCEL_ONLY  orders and replacements are refused, cancels work\n'
      + '  HALTED       nothing moves but expiry: cancels are refused too\n'
      + 'Resting orders stay on the book. It is in the journal and outlives a restart.',
    example: ['pairs set BTC/USDC CANCEL_ONLY', 'BTC/USDC is CANCEL_ONLY, was ACTIVE (sequence 1042)'],
    show: ({ symbol, status, before, sequence }) => `${printable(symbol)} is ${status}, was ${before} (sequence ${sequence})`,
  }],
  run: (context, { pair: named, status: wanted }) => {
    const pair = context.state.genesis.pairs.find(({ id, symbol }) => symbol === named || id.toLowerCase() === named.toLowerCase())
    if (pair === undefined) return new Refused('NOT_FOUND', undefined, { field: 'pair' })
    const values = { pair: pair.index, status: PAIR_STATUS_NAMES.indexOf(wanted) }
    return sendCommand(context, CommandType.SET_PAIR_STATUS, SET_PAIR_STATUS_COMMAND, values, (answer) => {
      const sequence = Number(answer.sequence)
      const [now, before] = [PAIR_STATUS_NAMES[answer['now'] as number]!, PAIR_STATUS_NAMES[answer['before'] as number]!]
      note(context, 'pair status', { pair: pair.symbol, status: now, before, sequence })
      return { id: pair.id, symbol: pair.symbol, status: now, before, sequence }
    })
  },
})

const tierNumber = field(Type.Integer({ minimum: 0 }), 'Number of a fee tier, from 0.')

export const ListFeeTiers = operatorRoute({
  method: 'GET', path: '/fee-tier', token: false,
  summary: 'The fee tiers: what leads to each and what it takes off',
  description: 'A tier is earned with the volume of 30 UTC days.',
  output: Type.Object({
    asset: field(Type.String(), 'Symbol of the asset that volumes are counted in.'),
    tiers: field(Type.Array(Type.Object({
      tier: tierNumber,
      minVolume: field(Decimal, 'Least volume of 30 UTC days, in units of the asset.'),
      makerDiscountBps: field(Decimal, 'Subtracted from the maker rate of a pair, basis points.'),
      takerDiscountBps: field(Decimal, 'Subtracted from the taker rate of a pair, basis points.'),
    })), 'The tiers, from 0.'),
  }),
  refusals: [],
  example: {
    input: {}, output: { asset: 'USDC', tiers: [{ tier: 1, minVolume: '100000', makerDiscountBps: '0', takerDiscountBps: '0.5' }] },
  },
  commands: [{
    name: 'tiers list',
    purpose: 'the fee tiers: what leads to each and what it takes off',
    explains: 'A tier is earned with the volume of 30 UTC days. Its discounts are subtracted from the rates of a pair, in basis points.',
    example: [
      'tiers list',
      'TIER  VOLUME USDC  MAKER DISCOUNT BPS  TAKER DISCOUNT BPS\n   1  100000       0                   0.5',
    ],
    show: ({ asset, tiers }) => table(
      ['TIER', `VOLUME ${asset}`, 'MAKER DISCOUNT BPS', 'TAKER DISCOUNT BPS'],
      tiers.map(({ tier, minVolume, makerDiscountBps, takerDiscountBps }) => [tier, minVolume, makerDiscountBps, takerDiscountBps]),
    ),
  }],
  run: ({ state }) => describeFeeTiers(state.genesis),
})

export const SetFeeTier = operatorRoute({
  method: 'POST', path: '/fee-tier', token: true,
  summary: 'Put a user into a fee tier',
  description: 'Orders placed from now on have its rates. It stands until the history finds that the volume has earned another.',
  body: Type.Object({ userId: field(Uuid, 'The user.'), tier: tierNumber }),
  output: Type.Object({
    userId: field(Uuid, 'The user.'), tier: field(Type.Integer(), 'The tier now.'), before: field(Type.Integer(), 'The tier before.'),
    sequence: fields.sequence,
  }),
  refusals: [...SENDS, 'NOT_FOUND'],
  example: { input: { userId: USER, tier: 3 }, output: { userId: USER, tier: 3, before: 0, sequence: 1042 } },
  commands: [{
    name: 'tiers set',
    parameters: [{ field: 'userId', typed: 'USER_ID' }, { field: 'tier', typed: 'TIER', must: 'a number of tiers list' }],
    purpose: 'put a user into a fee tier',
    explains: 'Orders placed from now on have its rates; resting orders keep the maker rate they were placed with. The tier stands\n'
      + "until the history finds that the user's volume has earned another.",
    example: [`tiers set ${USER} 3`, `${USER} is in tier 3, was in 0 (sequence 1042)`],
    show: ({ userId, tier, before, sequence }) => `${userId} is in tier ${tier}, was in ${before} (sequence ${sequence})`,
  }],
  run: (context, { userId, tier }) => {
    const { state } = context
    const id = parseId(IdKind.USER, userId)
    if (id === null) return refusedField('userId', 'userId must be the id of a user')
    const { length } = state.genesis.feeTiers.tiers
    if (tier >= length) return new Refused('VALIDATION_ERROR', `tier must be from 0 to ${length - 1}`, { field: 'tier', tiers: length })
    if (!hasAccount(state, id.slot, id.sequence)) return new Refused('NOT_FOUND', undefined, { field: 'userId' })
    const values = { account: id.slot, tier, createdSequence: id.sequence }
    return sendCommand(context, CommandType.SET_FEE_TIER, SET_FEE_TIER_COMMAND, values, (answer) => {
      const [now, before, sequence] = [Number(answer.now), Number(answer.before), Number(answer.sequence)]
      note(context, 'fee tier', { userId, tier: now, before, sequence })
      return { userId, tier: now, before, sequence }
    })
  },
})

/** The tiers of the genesis as it writes them: volumes as decimals of their asset, discounts in bps. */
function describeFeeTiers({ feeTiers, assets }: Genesis) {
  const { symbol, scale } = assets[feeTiers.asset]!
  const tiers = feeTiers.tiers.map(({ minVolumeAtoms, makerDiscountPpm, takerDiscountPpm }, tier) => ({
    tier,
    minVolume: formatDecimal(minVolumeAtoms, scale),
    makerDiscountBps: formatDecimal(makerDiscountPpm, 2),
    takerDiscountBps: formatDecimal(takerDiscountPpm, 2),
  }))
  return { asset: symbol, tiers }
}
