/**
 * `balances {}`: the balances of the account. The snapshot has every asset; an update is one asset's row as over REST, with its `version`:
 * a higher one replaces, an equal one is a duplicate, a lower one is ignored (specification, Events, rule 5).
 *
 * Events say which rows changed and why; the rows are read from the shared columns in one consistent copy at the end of the turn, so a row
 * may hold more than the events so far, and its version says so: what follows of it is then not told again. One turn makes one frame of a
 * row. `reason` is the first cause, `reasons` has all.
 *
 * Collateral that a deposit or withdrawal of a margin account moves is a transfer. Funding, liquidation and auto-deleveraging move what a
 * margin account has, not the wallet: they are told with the row of the collateral asset as it is. The engine gives that row a new version
 * with each of them (core/margin/positions.ts), so who ignores what is not newer hears of them too. What a margin account itself has is
 * told by `account`, without a version (specification, Balance row).
 *
 * A deposit is told by its credit. A withdrawal changes the row when it locks and when it ends.
 *
 * What an order does on its master's balance is told to the master. A listener costs nothing to others: events meet a map by account.
 */
import Type from 'typebox'
import { Flag } from '../../../core/layout/command.ts'
import {
  CREDIT, CreditSource, EventType, eventTypeOf, FILL, FUNDING_PAYMENT, ORDER_ENDED, POSITION_CHANGED, RESULT, WITHDRAWAL,
} from '../../../core/layout/event.ts'
import { PositionReason } from '../../../core/layout/margin_events.ts'
import type { Views } from '../../../core/layout/table.ts'
import { WithdrawalStatus } from '../../../core/layout/vault.ts'
import type { BalanceView } from '../../../core/view/accounts.ts'
import { masterOf } from '../../../core/view/families.ts'
import type { Gateway } from '../../context.ts'
import * as sample from '../../operations/example_values.ts'
import { Balance, balanceRecord, balancesOf } from '../../operations/accounts.ts'
import { Nullable } from '../../operations/operation.ts'
import { field } from '../../operations/schema.ts'
import { dataFrame } from '../frames.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { OrderChange, orderChangeOf, rests } from '../../bridge/book_events.ts'
import { readerOf } from './parameters.ts'

const REASONS = ['trade', 'fee', 'rebate', 'lock', 'unlock', 'faucet', 'transfer', 'funding', 'liquidation', 'adl', 'application_fee',
  'revenue_share', 'referral_reward', 'deposit', 'withdrawal'] as const
export type Reason = (typeof REASONS)[number]
/** Reasons of credits that are no transfer. */
const CREDITS: Readonly<Record<number, Reason>> = {
  [CreditSource.FAUCET]: 'faucet', [CreditSource.APPLICATION_FEE]: 'application_fee', [CreditSource.REVENUE_SHARE]: 'revenue_share',
  [CreditSource.REFERRAL_REWARD]: 'referral_reward', [CreditSource.DEPOSIT]: 'deposit',
}

export const BALANCES = channel({
  name: 'balances',
  access: 'private',
  about: 'The balances of the account.',
  params: Type.Object({}),
  frames: {
    snapshot: {
      about: 'A row of every asset.',
      data: Type.Object({ balances: field(Type.Array(Balance), 'One row per asset, zero balances included.') }),
      sequenced: false,
    },
    balance_update: {
      about: 'One row as it is now: a higher `version` replaces what you have, an equal or lower one is ignored. Funding, liquidation and '
        + 'auto-deleveraging give a new version too, although they change a margin account and no amount of the row.',
      data: Type.Object({
        ...Balance.properties,
        reasons: field(Type.Array(Type.Enum(REASONS)), 'Everything that changed the balance since the frame before.'),
        tokenSymbol: Type.Optional(
          field(Nullable(Type.String()), 'Symbol of the asset, where a reason is trade, fee, rebate, funding, liquidation or adl.'),
        ),
      }),
      sequenced: false,
      reasons: REASONS,
    },
  },
  example: {
    params: {},
    frames: {
      snapshot: { balances: [sample.usdc] },
      balance_update: { ...sample.usdc, version: 43, reasons: ['trade', 'fee'], tokenSymbol: 'USDC' },
    },
  },
  create: createBalances,
})
const NAME = BALANCES.name
/** Reasons that name the token (specification, Channels named). */
const NAMING: ReadonlySet<Reason> = new Set<Reason>(['trade', 'fee', 'rebate', 'funding', 'liquidation', 'adl'])
/** Reasons that move collateral of a margin account and no wallet balance: told also when the frame before was ahead of the events. */
const ON_MARGIN: ReadonlySet<Reason> = new Set<Reason>(['funding', 'liquidation', 'adl'])
/** Of a change of a position, by its PositionReason. */
const POSITION_REASONS: Readonly<Record<number, Reason>> = {
  [PositionReason.LIQUIDATION]: 'liquidation', [PositionReason.TAKE_OVER]: 'liquidation', [PositionReason.DELEVERAGE]: 'adl',
}

interface Listened {
  readonly account: number
  readonly subscribers: Set<Subscriber>
  /** Versions told last, by asset. */
  readonly published: bigint[]
  /** Assets that changed, and why. */
  readonly touched: Map<number, Set<Reason>>
}

function createBalances(gateway: Gateway): Channel {
  const accounts = new Map<number, Listened>()
  const touched = new Set<Listened>()
  const touch = (account: number, asset: number, reason: Reason): void => {
    const listened = accounts.get(account)
    if (listened === undefined) return
    const reasons = listened.touched.get(asset)
    if (reasons === undefined) listened.touched.set(asset, new Set([reason]))
    else reasons.add(reason)
    touched.add(listened)
  }
  return {
    declaration: BALANCES,
    read: readerOf(gateway, BALANCES),
    subscribe: (subscriber) => {
      const { account } = subscriber
      const listened = accounts.get(account) ?? listen(accounts, account)
      listened.subscribers.add(subscriber)
      const rows = balancesOf(gateway, account)
      if (rows === null) return false
      const data = { balances: rows.map((row) => record(gateway, row)) }
      subscriber.push(dataFrame(NAME, 'snapshot', gateway.now(), data))
      return true
    },
    unsubscribe: (subscriber) => {
      const listened = accounts.get(subscriber.account)
      if (listened === undefined) return
      listened.subscribers.delete(subscriber)
      if (listened.subscribers.size === 0) accounts.delete(subscriber.account)
    },
    take: (records, base) => {
      if (accounts.size > 0) take(gateway, touch, records, base)
    },
    flush: () => {
      for (const listened of touched) if (publish(gateway, listened)) touched.delete(listened)
    },
  }
}

function listen(accounts: Map<number, Listened>, account: number): Listened {
  const listened: Listened = { account, subscribers: new Set<Subscriber>(), published: [], touched: new Map<number, Set<Reason>>() }
  accounts.set(account, listened)
  return listened
}

const record = (gateway: Gateway, row: BalanceView) => balanceRecord(gateway.genesis.assets[row.asset]!, row)

/** Tells an account's rows that changed; false: they cannot be read now. */
function publish(gateway: Gateway, { account, subscribers, published, touched }: Listened): boolean {
  const rows = subscribers.size === 0 ? [] : balancesOf(gateway, account)
  if (rows === null) return false
  for (const row of rows) {
    const reasons = touched.get(row.asset)
    if (reasons === undefined) continue
    const all = [...reasons]
    if (row.version <= (published[row.asset] ?? -1n) && !all.some((reason) => ON_MARGIN.has(reason))) continue
    published[row.asset] = row.version
    const data = {
      ...record(gateway, row), reasons: all,
      ...(all.some((reason) => NAMING.has(reason)) ? { tokenSymbol: gateway.genesis.assets[row.asset]!.symbol } : {}),
    }
    const frame = dataFrame(NAME, 'balance_update', gateway.now(), data, undefined, all[0])
    for (const subscriber of subscribers) subscriber.push(frame)
  }
  touched.clear()
  return true
}

type Touch = (account: number, asset: number, reason: Reason) => void

function take(gateway: Gateway, touch: Touch, records: Views, base: number): void {
  const { i32, u32 } = records
  switch (eventTypeOf(u32[base]!)) {
    case EventType.FILL:
      return takeFill(gateway, touch, records, base)
    case EventType.ORDER_ENDED: {
      const { at } = ORDER_ENDED
      return touchHold(gateway, touch, i32[base + at.account]!, i32[base + at.pair]!, u32[base + at.flags]!, 'unlock')
    }
    case EventType.RESULT: {
      const { at } = RESULT
      const what = orderChangeOf(records, base)
      if (what === OrderChange.NONE || (what === OrderChange.PLACED && !rests(records, base))) return
      const reason = what === OrderChange.PLACED ? 'lock' : 'unlock'
      return touchHold(gateway, touch, i32[base + at.account]!, i32[base + at.pair]!, u32[base + at.flags]!, reason)
    }
    case EventType.CREDIT: {
      const { at } = CREDIT
      const reason = CREDITS[i32[base + at.source]!] ?? 'transfer'
      return touch(i32[base + at.account]!, i32[base + at.asset]!, reason)
    }
    case EventType.WITHDRAWAL: {
      const { at } = WITHDRAWAL
      const [status, before] = [i32[base + at.status]!, i32[base + at.before]!]
      // What goes on between its beginning and its end moves nothing.
      if (before !== 0 && status < WithdrawalStatus.CONFIRMED) return
      return touch(i32[base + at.account]!, i32[base + at.asset]!, 'withdrawal')
    }
    case EventType.FUNDING_PAYMENT: {
      const { at } = FUNDING_PAYMENT
      return touch(i32[base + at.account]!, gateway.genesis.pairs[i32[base + at.pair]!]!.quote, 'funding')
    }
    case EventType.POSITION: {
      const { at } = POSITION_CHANGED
      const reason = POSITION_REASONS[i32[base + at.reason]!]
      if (reason === undefined) return
      return touch(i32[base + at.account]!, gateway.genesis.pairs[i32[base + at.pair]!]!.quote, reason)
    }
  }
}

/** The account whose balances an order of `account` with these flags moves. */
const payerOf = ({ state }: Gateway, account: number, flags: number): number =>
  (flags & Flag.MASTER_FUNDED) === 0 ? account : masterOf(state, account)

function touchHold(gateway: Gateway, touch: Touch, account: number, pair: number, flags: number, reason: Reason): void {
  const { base, quote, perp } = gateway.genesis.pairs[pair]!
  // Orders of perpetuals hold collateral, not balances.
  if (perp !== null) return
  touch(payerOf(gateway, account, flags), (flags & Flag.SELL) !== 0 ? base : quote, reason)
}

function takeFill(gateway: Gateway, touch: Touch, { i32, u32, i64 }: Views, base: number): void {
  const { at } = FILL
  const pair = gateway.genesis.pairs[i32[base + at.pair]!]!
  if (pair.perp !== null) return
  const settle = (account: number, flags: number, fee: bigint): void => {
    const payer = payerOf(gateway, account, flags)
    touch(payer, pair.base, 'trade')
    touch(payer, pair.quote, 'trade')
    if (fee !== 0n) touch(payer, pair.quote, fee > 0n ? 'fee' : 'rebate')
  }
  settle(i32[base + at.makerAccount]!, u32[base + at.makerFlags]!, i64[(base + at.makerFee) >>> 1]!)
  settle(i32[base + at.takerAccount]!, u32[base + at.takerFlags]!, i64[(base + at.takerFee) >>> 1]!)
}
