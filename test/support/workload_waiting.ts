/**
 * Orders that wait, in the streams of workload.ts and workload_margin.ts: legs of positions and of entry orders, good and bad, TWAP orders
 * of all kinds, their cancels, and steps of the sequencer when nothing is due; pairs that stop and go on, prices that jump over many
 * triggers, time that jumps over slices. It has a random stream of its own, so that what others draw is as it was without it; and it
 * learns from events as a client would.
 */
import { AFTER_MS_MAX, CommandType, Flag, Option, PairStatus } from '../../core/layout/command.ts'
import { CONDITIONAL_ORDER, conditionOf, ConditionalState, conditionalStateOf, LegFlag } from '../../core/layout/conditional.ts'
import { EventType, eventTypeOf } from '../../core/layout/event.ts'
import { decode, RECORD_WORDS, type Decoded, type Views } from '../../core/layout/table.ts'
import { TWAP_ORDER, TwapOption, TwapState, twapStateOf } from '../../core/layout/twap.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import type { Client } from './workload_agents.ts'
import type { Command, KnownPosition } from './workload_margin_known.ts'

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000]
const KNOWN_MOST = 60
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

/** What it sees of the stream that it is part of. */
export interface World {
  readonly time: number
  /** Ticks about which a pair trades. */
  price(pair: number): number
  positions(): readonly KnownPosition[]
  /** Accounts of those who are signed in. */
  accounts(): readonly number[]
  /** What whoever signs for an account signs with. */
  sign(account: number): Decoded
  /** The sequence that made the account; 1: not known. */
  madeBy(account: number): number
  /** What a margin order of the account has beside a spot order's. */
  carried(account: number): Decoded
}

interface KnownConditional { account: number; pair: number; created: number; leg: number }
interface KnownTwap { account: number; pair: number; created: number; row: number }

/** Commands of the first lane. */
export const WAITING_STEPS: ReadonlySet<CommandType> =
  new Set([CommandType.EXPIRE_CONDITIONAL, CommandType.TRIGGER_STEP, CommandType.TWAP_STEP])

/** What of these clients of an exchange without perpetuals there is to see; `sign`: what one of them signs with. */
export function spotWorld(
  time: number, clients: readonly Client[], mids: readonly number[], madeBy: ReadonlyMap<number, number>, sign: (client: number) => Decoded,
): World {
  const isOf = (account: number) => (each: Client): boolean => each.account === account && each.session >= 0
  return {
    time, price: (pair) => mids[pair] ?? 1000, positions: () => [],
    accounts: () => clients.flatMap(({ account, session }) => (account >= 0 && session >= 0 ? [account] : [])),
    sign: (account) => sign(Math.max(0, clients.findIndex(isOf(account)))), madeBy: (account) => madeBy.get(account) ?? 1,
    carried: () => ({ leverage: 0, marginAccount: 0, bucket: 0, namedSequence: 0, keyLow: 0, keyHigh: 0 }),
  }
}

/** The same of an exchange with perpetuals; `index`: prices of the pairs. */
export function marginWorld(
  time: number, index: readonly number[], positions: ReadonlyMap<string, KnownPosition>,
  clients: readonly Pick<Client, 'account' | 'session'>[],
  madeBy: ReadonlyMap<number, number>, sign: (account: number) => Decoded, carried: (account: number) => Decoded,
): World {
  return {
    time, price: (pair) => index[pair] || 50_000, positions: () => [...positions.values()].filter(({ lots }) => lots !== 0),
    accounts: () => clients.flatMap(({ account, session }) => (account >= 0 && session >= 0 ? [account] : [])),
    sign, madeBy: (account) => madeBy.get(account) ?? 1, carried,
  }
}

/** Of these so many in a hundred commands. */
const OFTEN = 22

export class WaitingWorkload {
  /** Prices come one after the other. */
  bursts = false
  private readonly genesis: Genesis
  private readonly random: Prng
  private readonly conditionals: KnownConditional[] = []
  private readonly twaps: KnownTwap[] = []
  /** A pair that takes no orders, or -1. */
  private stopped = -1
  /** A position that gets one pair of legs after the other. */
  private crowded: { position: KnownPosition; left: number } | null = null
  /** A margin account that a TWAP order named. */
  private named: { account: number; values: Decoded } | null = null

  constructor(seed: number, genesis: Genesis) {
    this.genesis = genesis
    this.random = createPrng(seed * 7919 + 14)
  }

  private below(n: number): number {
    return this.random.below(n)
  }

  private readonly chance = (n: number, of: number): boolean => this.below(of) < n
  private readonly pick = <T>(list: readonly T[]): T => list[this.below(list.length)]!
  private readonly perps = (): number[] => this.genesis.pairs.filter(({ perp }) => perp !== null).map(({ index }) => index)

  /** Time that goes by beside what the stream lets go by. */
  pause(): number {
    const dice = this.below(1000)
    if (dice < 12) return this.below(12 * SECOND)
    return dice < 15 ? this.below(5 * MINUTE) : 0
  }

  /** The next command: one of these, or one of `others`, mostly as it is. */
  command(world: World, others: () => Command): Command {
    const own = this.own(world)
    if (own !== null) return own
    const { type, values } = others()
    return { type, values: type === CommandType.PLACE_ORDER ? this.shaped(world, values) : values }
  }

  private own(world: World): Command | null {
    if (this.bursts && this.chance(5, 6) && this.perps().length > 0) return this.price(world, this.perps()[this.chance(1, 12) ? 1 : 0]!)
    if (this.stopped >= 0 && this.chance(1, 14)) return this.status(this.stopped, PairStatus.ACTIVE)
    if (this.crowded !== null && this.chance(1, 3)) return this.crowd(world, this.crowded)
    if (this.below(100) >= OFTEN || world.accounts().length === 0) return null
    if (this.named !== null && this.chance(1, 9)) return this.closeNamed(world, this.named)
    const dice = this.below(100)
    const positions = world.positions()
    if (positions.length > 0 && this.chance(1, 250)) this.crowded = { position: this.pick(positions), left: 12 }
    if (dice < 34 && positions.length > 0) return this.attach(world, this.pick(positions))
    const nobodys = { row: this.below(3) - 1, sequence: 1, pair: 0, lots: 1 }
    if (dice === 0) return this.attach(world, { ...nobodys, account: this.pick(world.accounts()) })
    if (dice < 54) return this.createTwap(world)
    if (dice < 60) return this.cancelConditional(world)
    if (dice < 64) return this.cancelTwap(world)
    if (dice < 70) return this.ownStep()
    if (dice < 80 && this.perps().length > 0) return this.price(world)
    if (dice < 83) return this.stopped < 0 ? this.status(this.below(this.genesis.pairs.length), this.below(3)) : null
    if (dice < 84) return { type: CommandType.REVOKE_SESSION, values: world.sign(this.pick(world.accounts())) }
    if (dice < 87) return this.cancelAll(world)
    return dice < 88 ? this.operatorCancels(world) : null
  }

  // Conditional orders.

  /** Ticks, so many of a hundred thousand above (`side` 1) or below. */
  private away(price: number, side: number): number {
    const parts = this.pick([20, 60, 150, 400, 1000, 4000])
    return Math.max(1, Math.round(price * (1 + (side * (1 + this.below(parts))) / 100_000)))
  }

  private attach(world: World, { row, sequence, account, pair, lots }: KnownPosition): Command {
    const named = { position: row, openedSequence: this.chance(1, 30) ? sequence + 1 : sequence }
    const legs = this.legs(world, pair, lots > 0, lots)
    return { type: CommandType.ATTACH_CONDITIONALS, values: { ...world.sign(account), ...named, ...legs } }
  }

  /** Far from the price, so that they stay. */
  private crowd(world: World, crowded: { position: KnownPosition; left: number }): Command {
    const { row, sequence, account, pair, lots } = crowded.position
    if (--crowded.left === 0) this.crowded = null
    const [high, low] = [1.4, 0.6].map((part) => Math.round(world.price(pair) * part))
    const legs = { profitTrigger: lots > 0 ? high! : low!, stopTrigger: lots > 0 ? low! : high! }
    return { type: CommandType.ATTACH_CONDITIONALS, values: { ...world.sign(account), position: row, openedSequence: sequence, ...legs } }
  }

  /** Legs of a position or an entry order of so many lots. */
  private legs(world: World, pair: number, long: boolean, lots: number, price = world.price(pair)): Decoded {
    const dice = this.below(100)
    if (dice === 0) return { trailBps: 0 }
    const side = (long ? 1 : -1) * (this.chance(1, 25) ? -1 : 1)
    const values: Decoded = { trailBps: 0 }
    if (dice < 45 || dice > 80) this.leg(values, 'profit', world, this.away(price, side), lots)
    if (dice < 30 || (dice >= 45 && dice < 65)) this.leg(values, 'stop', world, this.away(price, -side), lots)
    if (dice < 12 || dice >= 65) this.trail(values, world, price, side, lots)
    return values
  }

  private leg(values: Decoded, prefix: string, world: World, trigger: number, lots: number): void {
    const { flags, expiresAt } = this.times(world)
    let bits = flags
    if (this.chance(1, 4)) bits |= LegFlag.LIMIT | this.pick([0, LegFlag.IOC, LegFlag.FOK])
    else if (this.chance(1, 4)) bits |= LegFlag.SLIPPAGE
    const limit = (bits & LegFlag.LIMIT) === 0 ? 0 : Math.max(1, trigger + this.below(41) - 20)
    if (this.chance(1, 40)) bits = this.below(256)
    Object.assign(values, {
      [`${prefix}Trigger`]: this.chance(1, 60) ? this.pick([-1, this.genesis.limits.priceTicks]) : trigger,
      [`${prefix}Flags`]: bits, [`${prefix}Limit`]: this.chance(1, 60) ? this.below(3) - 1 : limit, [`${prefix}Lots`]: this.some(lots),
      [`${prefix}SlippageBps`]: this.chance(1, 2) ? this.below(1001) : 0, [`${prefix}ExpiresAt`]: expiresAt,
    })
  }

  private trail(values: Decoded, world: World, price: number, side: number, lots: number): void {
    const { flags, expiresAt } = this.times(world)
    const activation = this.chance(1, 3) ? this.away(price, this.chance(3, 4) ? side : -side) : 0
    Object.assign(values, {
      trailBps: this.chance(1, 25) ? this.pick([-5, 9, 2001]) : this.pick([10, 25, 25, 50, 100, 100, 200, 500, 2000]),
      trailFlags: this.chance(1, 40) ? this.below(256) : flags, trailLots: this.some(lots), trailSlippageBps: this.chance(1, 3) ? 100 : 0,
      trailActivation: this.chance(1, 60) ? this.genesis.limits.priceTicks : activation, trailExpiresAt: expiresAt,
    })
  }

  private times(world: World): { flags: number; expiresAt: number } {
    if (!this.chance(1, 4)) return { flags: 0, expiresAt: 0 }
    return { flags: LegFlag.EXPIRES, expiresAt: world.time + this.pick([-1, 1, 700, 5 * SECOND, 40 * SECOND, 5 * MINUTE, HOUR]) }
  }

  /** Mostly all, otherwise a part or more than there is. */
  private some(lots: number): number {
    if (this.chance(3, 5)) return 0
    return this.chance(1, 40) ? -1 : 1 + this.below(Math.max(1, Math.round(Math.abs(lots) * 1.4)))
  }

  /** An order that is drawn too large and does not reduce is mostly as large as it may be; one that may have legs has some now and then. */
  private shaped(world: World, values: Decoded): Decoded {
    const { perp = null, maxLots = 0 } = this.genesis.pairs[Number(values['pair'])] ?? {}
    const reduces = (Number(values['flags']) & Flag.REDUCE_ONLY) !== 0
    const cut = perp !== null && !reduces && Number(values['lots']) > maxLots && this.chance(4, 5)
    return this.withLegs(world, cut ? { ...values, lots: Math.max(1, maxLots - this.below(3)) } : values)
  }

  private withLegs(world: World, values: Decoded): Decoded {
    const perp = this.genesis.pairs[Number(values['pair'])]?.perp ?? null
    const opens = (Number(values['flags']) & Flag.REDUCE_ONLY) === 0
    if (!this.chance(opens ? 1 : 0, 4) && !this.chance(1, 60)) return values
    const long = (Number(values['flags']) & Flag.SELL) === 0
    const price = Number(values['price']) || world.price(Number(values['pair']))
    const none = perp === null && this.chance(1, 2)
    const legs = none ? { trailBps: 0 } : this.legs(world, Number(values['pair']), long, Number(values['lots']), price)
    return { ...values, options: Number(values['options'] ?? 0) | Option.LEGS, ...legs }
  }

  private cancelConditional(world: World): Command | null {
    if (this.conditionals.length === 0) return null
    const { account, created, leg } = this.pick(this.conditionals)
    const values = { leg: this.chance(1, 30) ? this.below(6) - 1 : leg, createdSequence: this.chance(1, 40) ? created + 1 : created }
    return { type: CommandType.CANCEL_CONDITIONAL, values: { ...world.sign(this.mostly(account, world)), ...values } }
  }

  private mostly(account: number, world: World): number {
    return this.chance(1, 30) ? this.pick(world.accounts()) : account
  }

  // TWAP orders.

  private createTwap(world: World): Command {
    const account = this.pick(world.accounts())
    const pair = this.chance(1, 60) ? this.genesis.pairs.length : this.below(this.genesis.pairs.length)
    const { perp = null, minLots = 1 } = this.genesis.pairs[pair] ?? {}
    const price = world.price(pair)
    const margin = (perp !== null) !== this.chance(1, 60)
    let flags = (this.chance(1, 2) ? Flag.SELL : 0) | (margin ? Flag.MARGIN : 0)
    if (margin && this.chance(1, 5)) flags |= Flag.REDUCE_ONLY
    if (this.chance(1, 4)) flags |= Flag.SLIPPAGE
    if (this.chance(1, margin ? 60 : 4)) flags |= Flag.MASTER_FUNDED
    if (this.chance(1, 60)) flags |= this.pick([Flag.IOC, Flag.POST_ONLY, Flag.CLOSE, Flag.MARKET])
    const carried = margin ? world.carried(account) : {}
    const lots = this.chance(1, 40) ? this.pick([0, -1, minLots - 1]) : minLots * (1 + this.below(this.pick([3, 20, 300])))
    const trigger = this.chance(1, 4) ? this.away(price, this.chance(1, 2) ? 1 : -1) : 0
    const limit = this.chance(1, 3) ? this.away(price, this.chance(1, 2) ? 1 : -1) : 0
    const labelled = this.chance(1, 3)
    const label = labelled ? this.pick(['a', 'a', 'twap', 'a twap id of exactly forty bytes, no less']) : ''
    const values: Decoded = {
      pair, price: this.chance(1, 60) ? -1 : limit, lots, slippageBps: this.below(1001), trigger, labelLength: label.length,
      options: (this.chance(1, 2) ? TwapOption.RANDOMIZE : 0) | (this.chance(1, 3) ? TwapOption.PASSIVE : 0) |
        this.below(2) * TwapOption.ABOVE,
      seed: (BigInt(this.random.u32()) << 31n) - BigInt(this.random.u32()), ...this.window(world), collateral: 0n, position: 0,
      ...carried, flags: (flags | (Number(carried['flags'] ?? 0) & Flag.CROSS)) >>> 0, ...(labelled ? { label: hex(label, 40) } : {}),
    }
    const [named, sequence] = [Number(carried['marginAccount'] ?? 0), carried['namedSequence'] ?? 0]
    if (named > 0) this.named = { account, values: { marginAccount: named - 1, createdSequence: sequence } }
    return { type: CommandType.CREATE_TWAP, values: { ...values, ...world.sign(account) } }
  }

  /** The margin account that a TWAP order named is to be closed. */
  private closeNamed(world: World, { account, values }: { account: number; values: Decoded }): Command {
    this.named = null
    return { type: CommandType.CLOSE_MARGIN_ACCOUNT, values: { ...world.sign(account), ...values } }
  }

  private window({ time }: World): Decoded {
    const startAt = this.chance(2, 3) ? 0 : time + this.pick([-5000, 1, 3 * SECOND, 40 * SECOND, 10 * MINUTE, 100 * 24 * HOUR])
    const conditionalExpiry = this.chance(1, 2) ? 0 : time + this.pick([-1, 1000, MINUTE, 10 * MINUTE, 30 * 24 * HOUR])
    const length = this.pick([500, 4 * SECOND, 15 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 5 * MINUTE])
    if (this.chance(1, 30)) {
      return { startAt, conditionalExpiry, endAt: this.pick([0, -1, time - 1]), durationMs: this.pick([0, -1, 700_000_000]) }
    }
    if (this.chance(1, 2)) return { startAt, conditionalExpiry, endAt: 0, durationMs: length }
    return { startAt, conditionalExpiry, endAt: Math.max(time, startAt) + length, durationMs: 0 }
  }

  private cancelTwap(world: World): Command | null {
    if (this.twaps.length === 0) return null
    const { account, created, row } = this.pick(this.twaps)
    const values = { twap: this.chance(1, 30) ? this.below(9) - 1 : row, createdSequence: this.chance(1, 40) ? created + 1 : created }
    return { type: CommandType.CANCEL_TWAP, values: { ...world.sign(this.mostly(account, world)), ...values } }
  }

  // What the sequencer and the operator do.

  /** A step of the sequencer's, mostly too early. */
  private ownStep(): Command {
    const dice = this.below(3)
    const session = -1
    if (dice === 0) return { type: CommandType.TRIGGER_STEP, values: { session, pair: this.below(this.genesis.pairs.length + 2) - 1 } }
    if (dice === 1) {
      const createdSequence = this.conditionals.length === 0 ? 1 : this.pick(this.conditionals).created
      return { type: CommandType.EXPIRE_CONDITIONAL, values: { session, conditional: this.below(24) - 1, createdSequence } }
    }
    const known = this.twaps.length === 0 ? { row: this.below(4) - 1, created: 1 } : this.pick(this.twaps)
    return { type: CommandType.TWAP_STEP, values: { session, twap: known.row, createdSequence: known.created } }
  }

  /** An index price a few triggers away, or a gap. */
  private price(world: World, pair = this.pick(this.perps())): Command {
    const { reference } = this.genesis.pairs[pair]!.perp!
    const at = world.price(pair)
    const parts = this.pick([30, 100, 100, 400, 1500, 6000])
    const moved = Math.round(at * (1 + (this.below(2 * parts + 1) - parts) / 100_000) + (reference - at) / 60)
    const price = Math.max(2, Math.min(this.genesis.limits.priceTicks - 1, moved))
    return { type: CommandType.SET_INDEX_PRICE, values: { session: -1, pair, price, source: 0, force: 1, observedAt: world.time } }
  }

  private status(pair: number, status: number): Command {
    this.stopped = status === PairStatus.ACTIVE ? -1 : pair
    return { type: CommandType.SET_PAIR_STATUS, values: { session: -1, pair, status } }
  }

  /** All, those of a pair, few at a time; or at a deadline, or when a connection ends. */
  private cancelAll(world: World): Command {
    const account = this.pick(world.accounts())
    const limit = this.chance(1, 4) ? this.pick([0, -1, 1000]) : 1 + this.below(6)
    const values: Decoded = { ...world.sign(account), pair: this.chance(1, 2) ? -1 : this.below(this.genesis.pairs.length), limit }
    if (this.chance(1, 4)) Object.assign(values, { pair: -1, afterMs: this.pick([-1, 1, 2000, 9000, AFTER_MS_MAX]) })
    else if (this.chance(1, 6)) Object.assign(values, { pair: -1, afterMs: -2, fromSlot: account, fromSequence: world.madeBy(account) })
    return { type: CommandType.CANCEL_ALL, values }
  }

  private operatorCancels(world: World): Command {
    const account = this.pick(world.accounts())
    const pair = this.chance(1, 2) ? -1 : this.below(this.genesis.pairs.length)
    return {
      type: CommandType.CANCEL_ACCOUNT_ORDERS,
      values: { session: -1, account, createdSequence: world.madeBy(account), pair, limit: 1 + this.below(4) },
    }
  }

  /** Takes notice of the events of one command. */
  learn(events: Views, count: number): void {
    for (let record = 0; record < count; record++) {
      const base = record * RECORD_WORDS
      const type = eventTypeOf(events.u32[base]!)
      if (type === EventType.CONDITIONAL) this.learnConditional(decode(CONDITIONAL_ORDER, events, base))
      else if (type === EventType.TWAP) this.learnTwap(decode(TWAP_ORDER, events, base))
    }
  }

  private learnConditional({ account, pair, createdSequence, what }: Decoded): void {
    const leg = conditionOf(Number(what))
    const at = this.conditionals.findIndex((each) => each.created === createdSequence && each.leg === leg)
    const ends = conditionalStateOf(Number(what)) > ConditionalState.ARMED
    if (at >= 0 && ends && this.chance(9, 10)) this.conditionals.splice(at, 1)
    if (at >= 0 || ends) return
    this.conditionals.push({ account: Number(account), pair: Number(pair), created: Number(createdSequence), leg })
    if (this.conditionals.length > KNOWN_MOST) this.conditionals.shift()
  }

  private learnTwap({ account, pair, createdSequence, twap, what }: Decoded): void {
    const at = this.twaps.findIndex((each) => each.created === createdSequence && each.row === twap)
    const ends = twapStateOf(Number(what)) > TwapState.ACTIVE
    if (at >= 0 && ends && this.chance(9, 10)) this.twaps.splice(at, 1)
    if (at >= 0 || ends) return
    this.twaps.push({ account: Number(account), pair: Number(pair), created: Number(createdSequence), row: Number(twap) })
    if (this.twaps.length > KNOWN_MOST) this.twaps.shift()
  }
}
