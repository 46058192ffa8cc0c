/**
 * `account {marginAccountId?}`: health of margin accounts as over REST, of all or of one (specification, Channels named): rows of the
 * snapshot have no sequence, live frames always have one.
 *
 * What the account itself did is told at the end of the turn; what marks do to its positions at most once in {@link MARK_MS} for each
 * margin account. A record that reads the same is not told again. Figures are worked out for accounts that somebody listens to, and for no
 * other: events meet a map by account, and a mark the pairs that those accounts hold. A subscription to a margin account that is somebody
 * else's is refused as one to a missing one.
 */
import Type from 'typebox'
import { CLOCK } from '../../../core/state/columns.ts'
import {
  COLLATERAL, EventType, eventTypeOf, FILL, FUNDING_RATE, LIQUIDATION, MARGIN_ORDER, MARK, ORDER_ENDED, POSITION_CHANGED, RESULT,
} from '../../../core/layout/event.ts'
import { IdKind, parseId } from '../../../core/layout/ids.ts'
import type { Views } from '../../../core/layout/table.ts'
import { readMarginAccounts } from '../../../core/view/margin.ts'
import type { Gateway } from '../../context.ts'
import * as sample from '../../operations/example_values.ts'
import { accountRecord, collateralOf, findMarginAccount, MarginAccountRecord } from '../../operations/margin_summary.ts'
import { Uuid } from '../../operations/operation.ts'
import { field } from '../../operations/schema.ts'
import { Refused } from '../../refused.ts'
import { dataFrame, type Params } from '../frames.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { readerOf } from './parameters.ts'

export const ACCOUNT = channel({
  name: 'account',
  access: 'private',
  about: 'The health of the margin accounts of the account, of all or of one.',
  params: Type.Object({ marginAccountId: Type.Optional(field(Uuid, 'Only this margin account; absent: all.')) }),
  frames: {
    snapshot: {
      about: 'Margin accounts.', sequenced: false,
      data: Type.Object({
        marginAccountId: Type.Optional(field(Uuid, 'The margin account that was asked for; absent: all.')),
        accounts: field(Type.Array(MarginAccountRecord), 'Margin accounts, the parent first.'),
      }),
    },
    account_update: {
      about: 'A margin account whose figures changed; of marks at most one frame a second.', data: MarginAccountRecord, sequenced: true,
    },
  },
  example: { params: {}, frames: { snapshot: { accounts: [sample.marginAccount] }, account_update: sample.marginAccount } },
  create: createAccount,
})
const NAME = ACCOUNT.name
/** Between two frames that marks alone made, ms. */
const MARK_MS = 1_000
/** In place of a margin account: all of them. */
const ALL = ''

interface Listened {
  readonly account: number
  /** By subscriber: ids of the margin accounts, or {@link ALL}. */
  readonly subscribers: Map<Subscriber, Set<string>>
  /** Text told last, by id. */
  readonly told: Map<string, string>
  /** Pairs that it holds. */
  pairs: ReadonlySet<number>
  /** The account itself did something; otherwise a mark of its pairs changed. */
  changed: boolean
  /** When it was looked at last, ms of the gateway's clock, which may be set back. */
  lookedAt: number
}

function createAccount(gateway: Gateway): Channel {
  const accounts = new Map<number, Listened>()
  const waiting = new Set<Listened>()
  const known = readerOf(gateway, ACCOUNT)
  const read = (params: Params): Params | string => {
    const terms = known(params)
    if (typeof terms === 'string' || terms.marginAccountId === undefined) return terms
    const marginAccountId = terms.marginAccountId.toLowerCase()
    const named = [IdKind.PARENT_MARGIN, IdKind.MARGIN_ACCOUNT].some((kind) => parseId(kind, marginAccountId) !== null)
    return named ? { ...terms, marginAccountId } : 'marginAccountId names no margin account'
  }
  const touch = (account: number): void => {
    const listened = accounts.get(account)
    if (listened === undefined) return
    listened.changed = true
    waiting.add(listened)
  }
  const mark = (pair: number): void => {
    for (const listened of accounts.values()) {
      if (!listened.pairs.has(pair)) continue
      waiting.add(listened)
    }
  }
  return {
    declaration: ACCOUNT,
    read,
    refusal: ({ account }, { marginAccountId }: Params) => {
      if (marginAccountId === undefined) return null
      const found = findMarginAccount(gateway, account, marginAccountId as string)
      return found instanceof Refused && found.code === 'NOT_FOUND' ? found.message : null
    },
    subscribe: (subscriber, params) => subscribe(gateway, accounts, subscriber, params),
    unsubscribe: (subscriber, { marginAccountId }: Params) => {
      const listened = accounts.get(subscriber.account)
      const wanted = listened?.subscribers.get(subscriber)
      if (listened === undefined || wanted === undefined) return
      wanted.delete((marginAccountId as string | undefined) ?? ALL)
      if (wanted.size === 0) listened.subscribers.delete(subscriber)
      if (listened.subscribers.size > 0) return
      accounts.delete(subscriber.account)
      waiting.delete(listened)
    },
    take: (records, base) => {
      if (accounts.size > 0) take(touch, mark, records, base)
    },
    flush: () => {
      const now = gateway.time()
      for (const listened of waiting) {
        if (!listened.changed && Math.abs(now - listened.lookedAt) < MARK_MS) continue
        if (look(gateway, listened, now)) waiting.delete(listened)
      }
    },
  }
}

/** Whose health an event may change. */
function take(touch: (account: number) => void, mark: (pair: number) => void, { u32, i32 }: Views, base: number): void {
  switch (eventTypeOf(u32[base]!)) {
    case EventType.POSITION:
      return touch(i32[base + POSITION_CHANGED.at.account]!)
    case EventType.COLLATERAL:
      return touch(i32[base + COLLATERAL.at.account]!)
    case EventType.MARGIN_ORDER:
      return touch(i32[base + MARGIN_ORDER.at.account]!)
    case EventType.LIQUIDATION:
      return touch(i32[base + LIQUIDATION.at.account]!)
    case EventType.ORDER_ENDED:
      return touch(i32[base + ORDER_ENDED.at.account]!)
    case EventType.RESULT:
      return touch(i32[base + RESULT.at.account]!)
    case EventType.FILL:
      return touch(i32[base + FILL.at.makerAccount]!)
    case EventType.MARK:
      return mark(i32[base + MARK.at.pair]!)
    case EventType.FUNDING_RATE:
      return mark(i32[base + FUNDING_RATE.at.pair]!)
  }
}

function subscribe(gateway: Gateway, accounts: Map<number, Listened>, subscriber: Subscriber, { marginAccountId }: Params): boolean {
  const { account } = subscriber
  const listened = accounts.get(account) ?? {
    account, subscribers: new Map<Subscriber, Set<string>>(), told: new Map<string, string>(), pairs: new Set<number>(),
    changed: false, lookedAt: -Infinity,
  }
  accounts.set(account, listened)
  const wanted = listened.subscribers.get(subscriber) ?? new Set<string>()
  listened.subscribers.set(subscriber, wanted)
  const id = (marginAccountId as string | undefined) ?? ALL
  wanted.add(id)
  const records = recordsOf(gateway, listened)
  if (records === null) return false
  const scope = id === ALL ? {} : { marginAccountId: id }
  const shown = id === ALL ? records : records.filter((record) => record.marginAccountId === id)
  subscriber.push(dataFrame(NAME, 'snapshot', gateway.now(), { ...scope, accounts: shown }))
  return true
}

/** The margin accounts of an account as they are now; `null`: they cannot be read. */
function recordsOf(gateway: Gateway, listened: Listened): MarginAccountRecord[] | null {
  const asset = collateralOf(gateway)
  // Without perpetuals there are none.
  if (asset instanceof Refused) return []
  const margins = readMarginAccounts(gateway.state, gateway.gate, listened.account)
  if (margins === null) return null
  listened.pairs = new Set(margins.flatMap(({ buckets }) => buckets.flatMap(({ positions }) => positions.map(({ pair }) => pair))))
  return margins.map((margin) => accountRecord(gateway, asset, listened.account, margin))
}

/** Tells what changed of an account's margin accounts; false: they cannot be read now. */
function look(gateway: Gateway, listened: Listened, now: number): boolean {
  const sequence = gateway.state.clock[CLOCK.SEQUENCE]!
  const records = recordsOf(gateway, listened)
  if (records === null) return false
  Object.assign(listened, { changed: false, lookedAt: now })
  for (const record of records) {
    const id = record.marginAccountId
    const text = JSON.stringify(record)
    if (listened.told.get(id) === text) continue
    listened.told.set(id, text)
    const frame = dataFrame(NAME, 'account_update', gateway.now(), record, sequence)
    for (const [subscriber, wanted] of listened.subscribers) if (wanted.has(ALL) || wanted.has(id)) subscriber.push(frame)
  }
  // A sub-account that was closed is no more.
  const ids = new Set(records.map(({ marginAccountId }) => marginAccountId))
  for (const id of listened.told.keys()) if (!ids.has(id)) listened.told.delete(id)
  return true
}
