/**
 * What a client of the simulated exchange asks for of orders that wait: legs of a position and of an entry order, TWAP orders, and their
 * cancels. It knows what waits as a gateway does, from the shared columns. Nothing here has a key but an entry order, so that whatever is
 * under way when the exchange dies was done once or not at all.
 */
import { CommandType, Flag } from '../../core/layout/command.ts'
import { LegFlag, TRAIL_BPS_MIN } from '../../core/layout/conditional.ts'
import { TwapOption } from '../../core/layout/twap.ts'
import type { Prng } from '../../core/lib/prng.ts'
import { readConditionals } from '../../core/view/conditionals.ts'
import { readMarginAccounts, readPerp, type PositionView } from '../../core/view/margin.ts'
import { readTwaps } from '../../core/view/twaps.ts'
import { encodeAttach, encodeCancelConditional, encodeCancelTwap, encodeCreateTwap } from '../../gateway/bridge/encode_waiting.ts'
import { noMarginTerms, type LegsTerms, type LegTerms, type TrailTerms, type TwapTerms } from '../../gateway/bridge/terms.ts'
import { PAIRS, PERPS, REFERENCE } from './genesis.ts'
import { order, type Asker, type Draft } from './margin_requests.ts'

/** Nothing changes columns while somebody reads them here. */
const quiet = new Int32Array(16)
const oneOf = <T>(random: Prng, list: readonly T[]): T => list[random.below(list.length)]!

/** The next request; `wallMs` is the client's clock. */
export function waitingRequest(asker: Asker, wallMs: number): Draft {
  const { random, swarm } = asker
  const dice = random.below(10)
  if (dice < 2) return createTwap(asker, wallMs)
  if (dice < 4) return cancel(asker) ?? createTwap(asker, wallMs)
  if (!swarm.perps) return createTwap(asker, wallMs)
  const positions = positionsOf(asker)
  if (dice < 6 || positions.length === 0) return entry(asker, wallMs)
  return attach(asker, oneOf(random, positions), wallMs)
}

function positionsOf({ state, account }: Asker): readonly PositionView[] {
  const accounts = readMarginAccounts(state, quiet, account) ?? []
  return accounts.flatMap(({ buckets }) => buckets).flatMap(({ positions }) => positions).filter(({ lots }) => lots !== 0)
}

function markOf({ state }: Asker, pair: number): number {
  const { mark } = readPerp(state, pair)
  return mark === 0 ? REFERENCE : mark
}

/** A tick at most `most` away from the mark, above it (`side` 1) or below. */
const away = (asker: Asker, pair: number, side: number, most: number): number =>
  Math.max(1, markOf(asker, pair) + side * (1 + asker.random.below(most)))

const expiry = (random: Prng, wallMs: number): Pick<LegTerms, 'expiresAt' | 'flags'> =>
  (random.below(4) > 0 ? { flags: 0, expiresAt: 0 } : { flags: LegFlag.EXPIRES, expiresAt: wallMs + 200 + random.below(60_000) })

function leg(asker: Asker, pair: number, side: number, lots: number, wallMs: number): LegTerms {
  const { random } = asker
  const { flags, expiresAt } = expiry(random, wallMs)
  const trigger = away(asker, pair, side, 12)
  const limit = random.below(4) === 0 ? Math.max(1, trigger + random.below(7) - 3) : 0
  const kind = limit === 0 ? 0 : LegFlag.LIMIT | oneOf(random, [0, LegFlag.IOC, LegFlag.FOK])
  return { trigger, limit, flags: flags | kind, lots: some(random, lots), slippageBps: 0, expiresAt }
}

function trail(asker: Asker, pair: number, side: number, lots: number, wallMs: number): TrailTerms {
  const { random } = asker
  const activation = random.below(3) === 0 ? away(asker, pair, side, 8) : 0
  return {
    ...expiry(random, wallMs), bps: oneOf(random, [TRAIL_BPS_MIN, 50, 100, 300]), activation, lots: some(random, lots), slippageBps: 0,
  }
}

/** All, or a part, which may be more than is there. */
const some = (random: Prng, lots: number): number => (random.below(2) === 0 ? 0 : 1 + random.below(Math.abs(lots) + 2))

/** At least one leg; `side` is 1 of a long position. */
function legsFor(asker: Asker, pair: number, side: number, lots: number, wallMs: number): LegsTerms {
  const drawn = 1 + asker.random.below(7)
  return {
    takeProfit: (drawn & 1) === 0 ? null : leg(asker, pair, side, lots, wallMs),
    stopLoss: (drawn & 2) === 0 ? null : leg(asker, pair, -side, lots, wallMs),
    trailingStop: (drawn & 4) === 0 ? null : trail(asker, pair, side, lots, wallMs),
  }
}

function attach(asker: Asker, { row, pair, lots, openedSequence }: PositionView, wallMs: number): Draft {
  const legs = legsFor(asker, pair, Math.sign(lots), lots, wallMs)
  return {
    type: CommandType.ATTACH_CONDITIONALS, key: '',
    send: (engine, at, correlation, caller) => encodeAttach(engine, at, correlation, caller, row, openedSequence, legs),
  }
}

/** An order about the mark, whose legs wait for its first fill. */
function entry(asker: Asker, wallMs: number): Draft {
  const { random, swarm } = asker
  const pair = oneOf(random, PERPS)
  const sells = random.below(2) === 0
  const price = Math.max(1, markOf(asker, pair) + random.below(9) - 4)
  const lots = 1 + random.below(40)
  const legs = legsFor(asker, pair, sells ? -1 : 1, lots, wallMs)
  return order(asker, pair, sells ? Flag.SELL : 0, price, lots, { leverage: Math.min(500, swarm.leverage) }, legs)
}

function createTwap(asker: Asker, wallMs: number): Draft {
  const { random, swarm } = asker
  const perpetual = swarm.perps && random.below(3) > 0
  const pair = perpetual ? oneOf(random, PERPS) : random.below(PAIRS)
  const price = perpetual ? markOf(asker, pair) : REFERENCE
  const side = random.below(2) === 0 ? Flag.SELL : 0
  const startAt = random.below(3) === 0 ? wallMs + random.below(4000) : 0
  const trigger = random.below(4) === 0 ? Math.max(1, price + random.below(13) - 6) : 0
  const options = [TwapOption.RANDOMIZE, TwapOption.PASSIVE, TwapOption.ABOVE].reduce((bits, bit) => bits | (random.below(2) * bit), 0)
  const terms: TwapTerms = {
    pair, options, trigger, startAt, lots: 1 + random.below(60), slippageBps: 0,
    flags: side | (perpetual ? Flag.MARGIN : 0) | (perpetual && random.below(4) === 0 ? Flag.REDUCE_ONLY : 0),
    price: random.below(3) === 0 ? Math.max(1, price + random.below(9) - 4) : 0,
    durationMs: 1000 + random.below(15_000), endAt: 0,
    conditionalExpiry: trigger === 0 ? 0 : wallMs + 1000 + random.below(20_000),
    seed: BigInt(random.below(0x7fffffff)), label: random.below(3) === 0 ? asker.key() : '',
    margin: perpetual ? { ...noMarginTerms(), leverage: Math.min(500, swarm.leverage) } : null,
  }
  return {
    type: CommandType.CREATE_TWAP, key: '',
    send: (engine, at, correlation, caller) => encodeCreateTwap(engine, at, correlation, caller, terms),
  }
}

/** One of those that wait; `null`: none does. */
function cancel({ state, account, random }: Asker): Draft | null {
  const conditionals = readConditionals(state, quiet, account)?.conditionals ?? []
  const twaps = readTwaps(state, quiet, account)?.twaps ?? []
  const drawn = random.below(Math.max(1, conditionals.length + twaps.length))
  const [conditional, twap] = [conditionals[drawn], twaps[drawn - conditionals.length]]
  if (conditional !== undefined) {
    const { kind, createdSequence } = conditional
    return {
      type: CommandType.CANCEL_CONDITIONAL, key: '',
      send: (engine, at, correlation, caller) => encodeCancelConditional(engine, at, correlation, caller, kind, createdSequence),
    }
  }
  if (twap === undefined) return null
  return {
    type: CommandType.CANCEL_TWAP, key: '',
    send: (engine, at, correlation, caller) => encodeCancelTwap(engine, at, correlation, caller, twap.twap, twap.createdSequence),
  }
}
