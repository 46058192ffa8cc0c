/**
 * What a client of the simulated exchange asks for in margin trading: collateral into and out of margin accounts and risk buckets, orders
 * with leverage in isolated and cross buckets, reduce-only orders and closes, sub-accounts, buckets with a strategy key. It knows its
 * margin accounts, buckets and positions as a gateway does, from the shared columns.
 */
import { CommandType, Flag } from '../../core/layout/command.ts'
import { CollateralMove } from '../../core/layout/margin.ts'
import type { Prng } from '../../core/lib/prng.ts'
import type { State } from '../../core/state/state.ts'
import {
  MarginAccountKind, readMarginAccounts, readPerp, type BucketView, type MarginAccountView, type PositionView,
} from '../../core/view/margin.ts'
import {
  encodeCloseMarginAccount, encodeCollateral, encodeOpenMarginAccount, encodeOpenRiskBucket, encodeOrder,
} from '../../gateway/bridge/encode.ts'
import { questionOf } from '../../gateway/bridge/previews.ts'
import { strategyKeyWords } from '../../gateway/bridge/strategy_key.ts'
import { noMarginTerms, type CollateralTerms, type LegsTerms, type MarginTerms, type OrderTerms } from '../../gateway/bridge/terms.ts'
import type { Request } from './clients.ts'
import { PERPS, REFERENCE } from './genesis.ts'
import type { Swarm } from './swarm.ts'

/** One unit of the collateral asset, atoms. */
export const UNIT = 1_000_000n
const KEYS = ['alpha', 'beta']
/** Nothing changes columns while somebody reads them here. */
const quiet = new Int32Array(16)

/** What it needs of the client that asks. */
export interface Asker {
  readonly random: Prng
  readonly swarm: Swarm
  readonly state: State
  readonly account: number
  /** Of the client. */
  readonly number: number
  /** A spot order with its idempotency key, to be made one of a perpetual. */
  terms(): OrderTerms
  /** An idempotency key that was never used. */
  key(): string
}

/** A request that was not sent yet. */
export type Draft = Omit<Request, 'sentAt'>

/** The next request. */
export function marginRequest(asker: Asker): Draft {
  const { random, swarm } = asker
  const accounts = readMarginAccounts(asker.state, quiet, asker.account) ?? []
  const free = accounts.reduce((sum, { deposited, earmarked }) => sum + deposited - earmarked, 0n)
  if (free < UNIT && random.below(3) > 0) return move(asker, { move: CollateralMove.DEPOSIT, amount: amount(random, 300) })
  const buckets = accounts.flatMap(({ buckets }) => buckets)
  const positions = buckets.flatMap(({ positions }) => positions).filter(({ lots }) => lots !== 0)
  const { opens, closes, moves, accounts: others } = swarm
  const dice = random.below(opens + closes + moves + others)
  if (dice < closes && positions.length > 0) return close(asker, positions[random.below(positions.length)]!)
  if (dice < closes + opens) return open(asker, accounts, buckets)
  if (dice < closes + opens + moves) return anyMove(asker, accounts, buckets)
  return other(asker, accounts)
}

/** Up to so many units, in atoms. */
const amount = (random: Prng, units: number): bigint => 1n + BigInt(random.below(units)) * UNIT + BigInt(random.below(1_000_000))

/** A move of collateral, with an idempotency key seven times of eight. */
export function move({ random, key }: Asker, what: Partial<CollateralTerms> & Pick<CollateralTerms, 'move' | 'amount'>): Draft {
  const keyed = random.below(8) > 0 ? key() : ''
  const terms = { marginAccount: -1, bucket: -1, createdSequence: 0, key: keyed, ...what }
  return {
    type: CommandType.MOVE_COLLATERAL, key: keyed,
    send: (engine, at, correlation, caller) => encodeCollateral(engine, at, correlation, caller, terms),
  }
}

/** Mostly about where it stops being accepted. */
function anyMove(asker: Asker, accounts: readonly MarginAccountView[], buckets: readonly BucketView[]): Draft {
  const { random } = asker
  const dice = random.below(10)
  if (dice < 2) return move(asker, { move: CollateralMove.DEPOSIT, amount: amount(random, 400) })
  if (dice < 4) return move(asker, { move: CollateralMove.WITHDRAW, amount: amount(random, 60) })
  const subs = accounts.filter(({ kind }) => kind === MarginAccountKind.SUB)
  if (dice < 6 && subs.length > 0) {
    const { row, createdSequence, deposited } = subs[random.below(subs.length)]!
    const back = random.below(3) === 0
    const named = { marginAccount: row, createdSequence }
    if (!back) return move(asker, { ...named, move: CollateralMove.TO_SUB, amount: amount(random, 80) })
    return move(asker, { ...named, move: CollateralMove.FROM_SUB, amount: deposited > 0n ? deposited : 1n })
  }
  if (buckets.length === 0) return move(asker, { move: CollateralMove.DEPOSIT, amount: amount(random, 400) })
  const { row, createdSequence, allocated, realized } = buckets[random.below(buckets.length)]!
  const named = { bucket: row, createdSequence }
  if (random.below(3) === 0) return move(asker, { ...named, move: CollateralMove.TO_BUCKET, amount: amount(random, 20) })
  const edges = [allocated, allocated, allocated / 2n, allocated + realized, allocated + realized + 1n, amount(random, 10)]
  const atoms = edges[random.below(edges.length)]!
  return move(asker, { ...named, move: CollateralMove.FROM_BUCKET, amount: atoms > 0n ? atoms : 1n })
}

/** A margin sub-account more or less, or a bucket for a strategy key. None of them may be asked for twice. */
function other({ random }: Asker, accounts: readonly MarginAccountView[]): Draft {
  const dice = random.below(4)
  const sub = accounts.find(({ kind }) => kind === MarginAccountKind.SUB)
  if (dice === 0 && sub !== undefined) {
    return {
      type: CommandType.CLOSE_MARGIN_ACCOUNT, key: '',
      send: (engine, at, correlation, caller) =>
        encodeCloseMarginAccount(engine, at, correlation, caller, sub.row, sub.createdSequence),
    }
  }
  if (dice < 2) {
    return {
      type: CommandType.OPEN_MARGIN_ACCOUNT, key: '',
      send: (engine, at, correlation, caller) => encodeOpenMarginAccount(engine, at, correlation, caller, 'second'),
    }
  }
  const terms = {
    marginAccount: -1, createdSequence: 0, pair: [-1, ...PERPS][random.below(3)]!, strategyKey: KEYS[random.below(KEYS.length)]!,
  }
  return {
    type: CommandType.OPEN_RISK_BUCKET, key: '',
    send: (engine, at, correlation, caller) => encodeOpenRiskBucket(engine, at, correlation, caller, terms),
  }
}

/** A price a few ticks around the mark. */
function around({ state, random }: Asker, pair: number): number {
  const { mark } = readPerp(state, pair)
  return Math.max(1, (mark === 0 ? REFERENCE : mark) + random.below(9) - 4)
}

function place(asker: Asker, pair: number, flags: number, lots: number, margin: Partial<MarginTerms>): Draft {
  const drawn = asker.terms()
  // Everything but its side is as it was drawn.
  const all = (((drawn.flags & ~Flag.SELL) | Flag.MARGIN | flags) >>> 0)
  return orderOf(asker, { ...drawn, pair, flags: all, price: (all & Flag.MARKET) === 0 ? around(asker, pair) : 0, lots }, margin)
}

/** A limit order that rests until it is cancelled. */
export function order(
  asker: Asker, pair: number, flags: number, price: number, lots: number, margin: Partial<MarginTerms>, legs: LegsTerms | null = null,
): Draft {
  return orderOf(asker, { ...asker.terms(), pair, flags: (flags | Flag.MARGIN) >>> 0, price, lots, legs, expiresAt: 0 }, margin)
}

function orderOf(asker: Asker, drawn: OrderTerms, margin: Partial<MarginTerms>): Draft {
  const pairId = asker.state.genesis.pairs[drawn.pair]!.id
  const terms: OrderTerms = { ...drawn, pairId, margin: { ...noMarginTerms(), ...margin } }
  return {
    type: CommandType.PLACE_ORDER, key: terms.key,
    ...(isPreviewed(terms) ? { preview: questionOf(asker.account, terms) } : {}),
    send: (engine, at, correlation, caller) => encodeOrder(engine, at, CommandType.PLACE_ORDER, correlation, caller, terms),
  }
}

const NOT_PREVIEWED = Flag.POST_ONLY | Flag.EXPIRES | Flag.CLOSE
/** Whether a preview says all that matters to it. */
const isPreviewed = ({ flags, margin, legs }: OrderTerms): boolean =>
  (flags & NOT_PREVIEWED) === 0 && legs === null && margin!.collateral === 0n && margin!.strategyKey === ''

const sideOf = (random: Prng): number => (random.below(2) === 0 ? Flag.SELL : 0)

function open(asker: Asker, accounts: readonly MarginAccountView[], buckets: readonly BucketView[]): Draft {
  const { random, swarm } = asker
  const pair = PERPS[random.below(PERPS.length)]!
  const cross = random.below(100) < swarm.cross ? Flag.CROSS : 0
  const leverage = random.below(2) === 0 ? swarm.leverage : 100 * (1 + random.below(swarm.leverage / 100))
  const collateral = random.below(8) === 0 ? amount(random, 10) : 0n
  const lots = 1 + random.below([12, 120, 200, 1200][random.below(4)]!)
  const dice = random.below(10)
  if (dice === 0 && buckets.length > 0) {
    const { row, createdSequence, pair: own } = buckets[random.below(buckets.length)]!
    const named = { bucket: row + 1, namedSequence: createdSequence }
    const flags = (own < 0 ? Flag.CROSS : 0) | sideOf(random) | (random.below(3) === 0 ? Flag.REDUCE_ONLY : 0)
    return place(asker, own < 0 ? pair : own, flags, lots, { ...named, leverage, collateral })
  }
  const sub = dice === 1 ? accounts.find(({ kind }) => kind === MarginAccountKind.SUB) : undefined
  const made = sub?.createdSequence ?? 0
  const named = sub === undefined ? {} : { marginAccount: sub.row + 1, namedSequence: made, accountSequence: made }
  const strategyKey = dice === 2 ? KEYS[random.below(KEYS.length)]! : ''
  const [keyLow, keyHigh] = strategyKeyWords(strategyKey)
  return place(asker, pair, cross | sideOf(random), lots, { ...named, leverage, collateral, strategyKey, keyLow, keyHigh })
}

/** Part of a position, or all of it, at market or as a limit. */
export function close(
  asker: Asker, { row, pair, lots, openedSequence }: PositionView, market = asker.random.below(3) === 0 ? Flag.MARKET : 0,
): Draft {
  const { random } = asker
  const side = lots > 0 ? Flag.SELL : 0
  const size = random.below(2) === 0 ? Math.abs(lots) : 1 + random.below(Math.abs(lots))
  return place(asker, pair, side | market | Flag.REDUCE_ONLY | Flag.CLOSE, size, { position: row + 1, namedSequence: openedSequence })
}
