/**
 * A seeded stream of commands, realistic and hostile: clients that sign in, ask the faucet, place, replace and cancel around a
 * wandering price, and now and then send what no gateway would let through. It learns from the engine's events as a client
 * would (open orders, sessions), so targets are mostly right, sometimes stale, sometimes somebody else's.
 *
 * The same seed, genesis and events give the same stream.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import { COMMAND_LAYOUTS, CommandType, Flag, kindOf, Option, PairStatus } from '../../core/layout/command.ts'
import { answeredTypeOf, EventType, eventTypeOf, FILL, ORDER_ENDED, RESULT, Status } from '../../core/layout/event.ts'
import { encode, RECORD_WORDS, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { inWords, formerAt, tellsAt } from './command_words.ts'
import { LABELS, namedAt } from './workload_named.ts'
import { grantValues, type Client } from './workload_agents.ts'
import { clientsOf, UNBORN } from './workload_clients.ts'
import { drawSpotLots } from './workload_drawn.ts'
import { FamilyWorkload, SUB_WALLETS } from './workload_families.ts'
import { LaunchWorkload } from './workload_launches.ts'
import { ListingWorkload } from './workload_listing.ts'
import type { WorkloadOptions } from './workload_options.ts'
import type { Command } from './workload_margin_known.ts'
import { isOfFirstLane } from './workload_lanes.ts'
import { ProgramWorkload } from './workload_programs.ts'
import { isOwnOrder, ownOrder } from './workload_own.ts'
import { cancelValues, deadlineCommand, namedSequence, operatorCancels, OperatorMemory } from './workload_operator.ts'
import { spotWorld, WaitingWorkload, type World } from './workload_waiting.ts'
import { Visitors } from './workload_visitors.ts'

interface Known {
  slot: number
  sequence: number
  client: number
  pair: number
  sell: boolean
  price: number
  remaining: number
}

const [SESSION_INVALID, INSUFFICIENT_BALANCE, SUB_ACCOUNT_LIMIT_EXCEEDED, ORDER_NOT_FOUND] = [113, 400, 404, 502]
const [MINUTE, HOUR] = [60_000, 3_600_000]
const START = 1_700_000_000_000
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

export class Workload {
  readonly genesis: Genesis
  readonly options: WorkloadOptions
  /** Time of the next command. */
  time = START
  private readonly random: Prng
  private readonly clients: Client[]
  private readonly mids: number[]
  private readonly known: Known[] = []
  private readonly families: FamilyWorkload | null
  private readonly listing: ListingWorkload | null
  private readonly visitors: Visitors
  private readonly waiting: WaitingWorkload | null
  private readonly launches: LaunchWorkload | null
  private readonly programs: ProgramWorkload
  private readonly clientOf = new Map<number, number>()
  /** Sequence that made an account, by row. */
  private readonly madeBy = new Map<number, number>()
  private correlation = 0
  private maintenance = false
  /** A pair that takes no orders, or -1. */
  private stopped = -1
  /** The last order placed, and the one that could not be paid: a client tries less and less until it can, which finds where funds end. */
  private placed: Decoded = {}
  private unpaid: { client: number; order: Decoded } | null = null
  /** Wallet that the CREATE_SUB_ACCOUNT in flight names. */
  private asked = ''
  /** Who signed the command in flight. */
  private signer = 0
  /** The order that the command in flight aims at. */
  private chosen: Known | null = null
  private readonly operator = new OperatorMemory()
  /** The agent that the command in flight grants something. */
  private granted = 0

  constructor(seed: number, genesis: Genesis, options: WorkloadOptions = {}) {
    this.genesis = genesis
    this.options = options
    this.random = createPrng(seed)
    this.families = options.families === true ? new FamilyWorkload(genesis, this.random) : null
    this.listing = options.listing === true ? new ListingWorkload(genesis, this.random) : null
    this.visitors = new Visitors(this.random, options.clients ?? 8, options.visitors)
    this.waiting = options.waiting === true ? new WaitingWorkload(seed, genesis) : null
    this.launches = options.launches === true ? new LaunchWorkload(seed, genesis) : null
    this.programs = new ProgramWorkload(seed, genesis, options)
    this.clients = clientsOf(options.clients ?? 8, this.visitors, this.families !== null)
    this.mids = genesis.pairs.map(() => Math.floor(genesis.limits.priceTicks * (0.3 + 0.4 * this.random.unit())))
  }

  private readonly below = (n: number): number => this.random.below(n)
  /** True `n` times of `of`. */
  private readonly chance = (n: number, of: number): boolean => this.below(of) < n
  private readonly pick = <T>(list: readonly T[]): T => list[this.below(list.length)]!

  /** Writes the next command at word `base`, where there is room for three slots, and moves the time. */
  next(views: Views, base: number): void {
    if (this.families?.isMidnight !== true) this.time += (this.waiting?.pause() ?? 0) + this.programs.pause()
    const trade = (): Command =>
      this.launches?.command(this.world) ?? this.waiting?.command(this.world, () => this.command()) ?? this.command()
    const { type, values } = this.programs.command(this.world, this.madeBy, trade)
    const lane = 1 + this.below(3)
    const kind = kindOf(type, 1, isOfFirstLane(type) && !this.chance(1, 20) ? 0 : lane)
    encode(COMMAND_LAYOUTS[type]!, views, base, { ...inWords(type, values), kind, correlation: ++this.correlation })
  }

  private get world(): World {
    return spotWorld(this.time, this.clients, this.mids, this.madeBy, (client) => this.signature(client))
  }

  private command(): { type: CommandType; values: Decoded } {
    this.passTime()
    if (this.families !== null) this.time = this.families.nextTime(this.time)
    const few = this.families !== null && this.chance(1, 2)
    let client = few ? this.clients.length - 1 - this.below(SUB_WALLETS) : this.below(this.clients.length)
    if (this.clients[client]!.session < 0) {
      const { owner, agent, account } = this.clients[client]!
      const waits = account === UNBORN && !this.chance(1, 200)
      if ((owner < 0 || agent >= 0) && !waits && this.chance(1, 3)) return this.openSession(client)
      const other = this.clients.findIndex((each) => each.session >= 0)
      if (other >= 0) client = other
    }
    const visit = this.visitors.has(client) ? this.visit(client) : null
    if (visit !== null) return visit
    if (this.listing !== null && this.chance(1, 25)) return this.listing.command()
    if (this.chance(1, 40)) return this.agentCommand()
    const signed = this.signature(client)
    if (this.maintenance && this.chance(1, 12)) return this.setMaintenance(false)
    if (this.stopped >= 0 && this.chance(1, 20)) return this.setPairStatus(this.stopped, PairStatus.ACTIVE)
    if (this.unpaid !== null && this.chance(3, 4)) return this.tryLess(this.unpaid)
    if (this.families !== null && this.chance(1, 8)) return this.familyCommand(this.families, client)
    if (this.options.deadlines && this.chance(1, 25)) return deadlineCommand(this.random, signed, this.clients[client]!, this.madeBy)
    const dice = this.below(1000)
    if (dice < 540) {
      this.placed = this.fundedOrder(client)
      const { account } = this.clients[client]!
      const made = this.madeBy.get(account)
      if (this.options.ownOrders === true && isOwnOrder(this.time)) return ownOrder(this.time, this.placed, account, made ?? 1)
      return { type: CommandType.PLACE_ORDER, values: { ...signed, ...this.placed } }
    }
    if (dice < 690) return { type: CommandType.CANCEL_ORDER, values: this.named({ ...this.signature(this.owner(client)), ...this.target }) }
    if (dice < 850) return { type: CommandType.REPLACE_ORDER, values: { ...this.signature(this.owner(client)), ...this.replacement() } }
    if (dice < 860) return { type: CommandType.CANCEL_ALL, values: { ...signed, ...this.cancelAll(client) } }
    if (dice < 890) return { type: CommandType.EXPIRE_ORDER, values: { session: -1, ...this.expiry() } }
    const { assets } = this.genesis
    if (dice < 950) return { type: CommandType.MINT, values: { ...signed, asset: this.chance(1, 3) ? this.below(assets.length + 1) : -1 } }
    if (dice < 970) return this.openSession(client)
    if (dice < 980) return { type: CommandType.REFRESH_SESSION, values: signed }
    if (dice < 986) return { type: CommandType.REVOKE_SESSION, values: signed }
    if (dice < 988 && this.genesis.rules === 0) return { type: CommandType.SET_RULES, values: { session: -1, rules: this.below(4) } }
    if (dice < 990) return dice === 988 ? this.operator.acceptance(this.time, this.options.losses) : this.setMaintenance(this.chance(1, 2))
    const pair = this.below(this.genesis.pairs.length + 1)
    if (dice < 993) return this.setPairStatus(this.stopped < 0 ? pair : this.stopped, this.below(5) - 1)
    return this.setFeeTier()
  }

  private visit(client: number): { type: CommandType; values: Decoded } | null {
    const visit = this.visitors.visit()
    if (visit === null || visit === 'open') return visit === null ? null : this.openSession(client)
    if (visit === 'rules' && this.genesis.rules === 0) return { type: CommandType.SET_RULES, values: { session: -1, rules: this.below(6) } }
    const signed = this.signature(client)
    if (visit === 'cancel') return { type: CommandType.CANCEL_ALL, values: { ...signed, ...this.cancelAll(client) } }
    return { type: visit === 'revoke' ? CommandType.REVOKE_SESSION : CommandType.REFRESH_SESSION, values: signed }
  }

  private familyCommand(families: FamilyWorkload, client: number): { type: CommandType; values: Decoded } {
    const { type, client: signer, values } = families.command(client, this.clients.map(({ address }) => address))
    this.asked = String(values['address'] ?? '')
    return { type, values: { ...this.signature(signer), ...values } }
  }

  /** An order and who pays for it. */
  private fundedOrder(client: number): Decoded {
    const order = this.order()
    const funding = this.families?.funding(this.clients[client]!.account) ?? 0
    return { ...order, flags: (Number(order['flags']) | funding) >>> 0 }
  }

  private setPairStatus(pair: number, status: number): { type: CommandType; values: Decoded } {
    if (status === PairStatus.HALTED || status === PairStatus.CANCEL_ONLY) this.stopped = pair
    else if (status === PairStatus.ACTIVE && pair === this.stopped) this.stopped = -1
    return { type: CommandType.SET_PAIR_STATUS, values: { session: -1, pair: this.chance(1, 30) ? -1 : pair, status } }
  }

  private setFeeTier(): { type: CommandType; values: Decoded } {
    const { tiers } = this.genesis.feeTiers
    const account = this.chance(1, 20) ? this.pick([-1, this.genesis.limits.accounts]) : this.below(this.clientOf.size + 1)
    const tier = this.chance(1, 20) ? this.pick([-1, tiers.length]) : this.below(tiers.length)
    const made = this.madeBy.get(account) ?? 1
    const named = { session: -1, account, tier, createdSequence: namedSequence(this.time, made) }
    if (!operatorCancels(this.time)) return { type: CommandType.SET_FEE_TIER, values: named }
    const values = { ...cancelValues(this.time, account, made, this.genesis.pairs.length), ...this.operator.from(this.time, account) }
    return { type: CommandType.CANCEL_ACCOUNT_ORDERS, values: { session: -1, ...values } }
  }

  private tryLess({ client, order }: { client: number; order: Decoded }): { type: CommandType; values: Decoded } {
    const lots = Math.floor(Number(order['lots']) * this.pick([0.6, 0.9, 0.97, 0.985, 0.99, 0.995]))
    this.placed = { ...order, lots }
    this.unpaid = null
    return { type: CommandType.PLACE_ORDER, values: { ...this.signature(client), ...this.placed } }
  }

  private setMaintenance(on: boolean): { type: CommandType; values: Decoded } {
    this.maintenance = on
    return { type: CommandType.SET_MAINTENANCE, values: { session: -1, on: on ? this.below(3) + 1 : 0 } }
  }

  private passTime(): void {
    const dice = this.below(3000)
    if (dice < 1000) this.time += this.below(500)
    else if (dice < 1010) this.time += this.below(HOUR)
    else if (dice < 1013) this.time += 6 * HOUR + this.below(30 * HOUR)
    else if (dice < 1014 && this.chance(1, 4)) this.time += 40 * 24 * HOUR
    this.time += this.visitors.pause()
  }

  private signature(client: number): Decoded {
    const { session, generation } = this.clients[client]!
    this.signer = client
    if (this.chance(1, 200)) return { session: this.below(80) - 2, sessionGeneration: this.below(50) }
    if (this.chance(1, 300)) return { session, sessionGeneration: generation + 1 }
    return { session, sessionGeneration: generation }
  }

  /** An owner grants or revokes, or an agent signs in; now and then somebody signs who may not. */
  private agentCommand(): { type: CommandType; values: Decoded } {
    const agents = this.clients.filter(({ owner }) => owner >= 0)
    const chosen = this.pick(agents)
    this.granted = this.clients.indexOf(chosen)
    const signed = this.signature(this.chance(1, 12) ? this.pick([this.granted, this.below(this.clients.length)]) : chosen.owner)
    const dice = this.below(10)
    if (dice < 2) {
      const createdSequence = this.chance(1, 20) ? this.below(100) : chosen.agentSequence
      const agent = this.chance(1, 20) ? this.below(9) - 2 : chosen.agent
      return { type: CommandType.REVOKE_AGENT, values: { ...signed, agent, createdSequence } }
    }
    if (dice < 4 && chosen.agent >= 0) return this.openSession(this.granted)
    const address = this.chance(1, 60) ? this.clients[chosen.owner]!.address : chosen.address
    return { type: CommandType.UPSERT_AGENT, values: { ...signed, address, ...grantValues(this.random, this.genesis, this.time) } }
  }

  private openSession(client: number): { type: CommandType; values: Decoded } {
    const { application, address, keys, owner, account } = this.clients[client]!
    this.signer = client
    const shared = this.chance(1, 40)
    const publicKey = shared ? keys[2]! : this.chance(1, 30) ? hex(`fresh-${this.random.u32()}`, 32) : keys[this.below(2)]!
    const master = this.families?.named(account, this.clients) ?? 0
    if (owner >= 0) {
      const values = { session: -1, application: this.chance(1, 100) ? this.below(5) - 1 : application, publicKey }
      return { type: CommandType.OPEN_DELEGATED_SESSION, values: { ...values, owner: this.clients[owner]!.address, agent: address } }
    }
    return {
      type: CommandType.OPEN_SESSION,
      values: { session: -1, application: this.chance(1, 100) ? this.below(5) - 1 : application, address, publicKey, master },
    }
  }

  private price(pair: number, sell: boolean): number {
    const top = this.genesis.limits.priceTicks - 1
    const dice = this.below(1000)
    if (dice < 10) this.mids[pair] = Math.max(40, Math.min(top - 40, (this.mids[pair] ?? top >>> 1) + this.below(9) - 4))
    const mid = (this.mids[pair] ??= top >>> 1)
    const away = (range: number): number => (sell ? this.below(range) - 3 : 3 - this.below(range))
    if (dice < 820) return mid + away(14)
    if (dice < 940) return Math.max(1, Math.min(top, mid + away(300)))
    // About where the protective band of a MARKET order ends.
    if (dice < 960) return Math.max(1, Math.min(top, (sell ? Math.floor(mid * 1.1) : Math.ceil(mid * 0.9)) + this.below(7) - 3))
    if (dice < 965) return this.below(64) + 1
    if (dice < 975) return 1 + this.below(top)
    if (dice < 990) return this.pick([1, top, 31, 32, 33, 64, 1023])
    return this.pick([0, -1, top + 1, 1 << 30, -2147483648])
  }

  private readonly lots = (pair: number, market = false): number => drawSpotLots(this.random, this.genesis.pairs[pair]!, market)

  private label(): { flags: number; label: string } {
    const drawn = this.chance(1, 5)
    const common = this.pick(LABELS)
    const text = this.options.freshLabels ? `label ${this.correlation}` : common
    if (!drawn || this.options.unlabelled) return { flags: 0, label: '' }
    return { flags: (text.length << 24) >>> 0, label: hex(text, 40) }
  }

  private key(): { flags: number; carried: Decoded } {
    const given = this.chance(1, 8)
    const key = hex(`key ${this.below(12)}`, 16)
    const payload = hex(`payload ${this.below(2)}`, 16)
    const former = formerAt(this.time, ['payload 0', 'payload 1', 'payload 2'].map((text) => hex(text, 16)))
    return given ? { flags: Option.KEYED, carried: { key, payload, ...former } } : { flags: 0, carried: {} }
  }

  private order(): Decoded {
    const pair = this.chance(1, 150) ? this.below(6) - 1 : this.below(this.genesis.pairs.length)
    const known = this.genesis.pairs[pair] === undefined ? 0 : pair
    const sell = this.chance(1, 2)
    const label = this.label()
    const key = this.key()
    let flags = (sell ? Flag.SELL : 0) | label.flags | key.flags
    const dice = this.below(100)
    if (dice < 14) flags |= Flag.MARKET
    else if (dice < 22) flags |= Flag.IOC
    else if (dice < 32) flags |= Flag.FOK
    else if (dice < 42) flags |= Flag.POST_ONLY
    else if (dice < 44) flags |= this.below(32)
    if (this.chance(1, 3)) flags |= Flag.STP_GIVEN | (this.chance(1, 2) ? Flag.CANCEL_BOTH : 0)
    const slippageBps = this.chance(1, 20) ? this.pick([0, 1, 1000, 5000]) : this.below(60)
    if (this.chance(1, 2)) flags |= Flag.SLIPPAGE
    const expires = this.chance(1, 6)
    if (expires) flags |= Flag.EXPIRES
    if (this.chance(1, 300)) flags |= Flag.RESTING | Flag.REPEATED
    flags |= tellsAt(this.time)
    const expiresAt = expires ? this.time + this.pick([-1, 0, 1, 200, 5000, MINUTE, HOUR, 30 * HOUR]) : 0
    const market = (flags & Flag.MARKET) !== 0
    return {
      pair, flags: flags >>> 0, price: market ? 0 : this.price(known, sell), lots: this.lots(known, market), slippageBps, expiresAt,
      ...key.carried, label: label.label,
    }
  }

  /** Chooses a target; usually the client who owns it will sign. */
  private owner(client: number): number {
    this.chosen = this.known.length === 0 ? null : this.pick(this.known)
    if (this.chosen === null || this.chance(1, 40)) return client
    const { client: owner } = this.chosen
    const agents = this.clients.filter((each) => each.owner === owner && each.session >= 0)
    return agents.length > 0 && this.chance(1, 4) ? this.clients.indexOf(this.pick(agents)) : owner
  }

  private get target(): Decoded {
    if (this.chosen === null || this.chance(1, 100)) return { targetSlot: this.below(40) - 2, targetSequence: this.below(100) }
    if (this.chance(1, 100)) return { targetSlot: this.chosen.slot, targetSequence: this.chosen.sequence - 1 }
    return { targetSlot: this.chosen.slot, targetSequence: this.chosen.sequence }
  }

  private named(values: Decoded): Decoded {
    return this.options.unlabelled || this.options.freshLabels ? values : namedAt(this.time, values, this.genesis, this.chosen?.pair ?? 0)
  }

  private replacement(): Decoded {
    const target = this.target
    const { pair, sell, price, remaining } = this.chosen ?? { pair: 0, sell: false, price: 1, remaining: 1 }
    const label = this.label()
    const key = this.key()
    let flags = label.flags | key.flags
    const values: Decoded = { ...target, pair, slippageBps: 0, ...key.carried, label: label.label }
    const dice = this.below(100)
    if (dice < 60) {
      flags |= Option.NEW_LOTS
      values['lots'] = dice < 35 ? Math.max(1, remaining - this.below(5)) : this.lots(pair)
    }
    if (dice >= 25 && dice < 90) {
      flags |= Option.NEW_PRICE
      values['price'] = this.chance(1, 3) ? price : this.price(pair, sell)
    }
    if (this.chance(1, 10)) flags |= Option.NEW_STP | (this.chance(1, 2) ? Flag.CANCEL_BOTH : 0)
    if (this.chance(1, 10)) flags |= Option.NEW_POST_ONLY | (this.chance(1, 2) ? Flag.POST_ONLY : 0)
    if (this.chance(1, 50)) flags |= this.below(0x4000)
    flags |= (this.families?.newFunding() ?? 0) | tellsAt(this.time)
    return this.named({ ...values, flags: flags >>> 0 })
  }

  private cancelAll(client: number): Decoded {
    const pair = this.chance(1, 2) ? -1 : this.below(this.genesis.pairs.length + 1)
    const from = this.operator.from(this.time, this.clients[client]!.account)
    return { pair, limit: this.chance(1, 6) ? this.pick([1000, 5000, 0, -1]) : 1 + this.below(5), ...from }
  }

  private expiry(): Decoded {
    this.owner(0)
    return this.target
  }

  /** Takes notice of the events of one command. */
  learn(events: Views, count: number): void {
    for (const part of [this.waiting, this.launches, this.programs]) part?.learn(events, count)
    for (let record = 0; record < count; record++) {
      const base = record * RECORD_WORDS
      const type = eventTypeOf(events.u32[base]!)
      if (type === EventType.RESULT) this.learnResult(events, base)
      else if (type === EventType.ORDER_ENDED) this.forget(events, base, ORDER_ENDED.at.slot, ORDER_ENDED.at.orderSequence)
      else if (type === EventType.FILL && events.i32[base + FILL.at.makerRemaining] === 0) {
        this.forget(events, base, FILL.at.makerSlot, FILL.at.makerSequence)
      }
    }
  }

  /** Drops an order that ended; a few stay, as stale targets. */
  private forget(events: Views, base: number, slotAt: number, sequenceAt: number): void {
    const slot = events.i32[base + slotAt]!
    const sequence = events.f64[(base + sequenceAt) >>> 1]!
    const at = this.known.findIndex((each) => each.slot === slot && each.sequence === sequence)
    if (at >= 0 && this.chance(9, 10)) this.known.splice(at, 1)
  }

  /** A target that was refused is tried again only now and then. */
  private dropChosen(): void {
    const at = this.chosen === null || this.chance(1, 4) ? -1 : this.known.indexOf(this.chosen)
    if (at >= 0) this.known.splice(at, 1)
  }

  /** The wallet that was meant may sign in from now on. */
  private learnSubAccount(row: number): void {
    this.families!.learn(row, this.signer)
    for (const client of this.clients) if (client.address === this.asked) client.account = -1
  }

  /** Less may be affordable; where there is no limit, nothing is, so that is not tried for long. */
  private mayTryLess(code: number): boolean {
    return code === INSUFFICIENT_BALANCE || (code === SUB_ACCOUNT_LIMIT_EXCEEDED && this.chance(1, 3))
  }

  private learnResult(events: Views, base: number): void {
    const type = answeredTypeOf(events.u32[base]!)
    const code = events.i32[base + RESULT.at.code]!
    const account = events.i32[base + RESULT.at.account]!
    const status = events.i32[base + RESULT.at.outcome]! & 0xff
    this.operator.learn(events, base)
    if ((type === CommandType.OPEN_SESSION || type === CommandType.OPEN_DELEGATED_SESSION) && code === 0) {
      const client = this.clients[this.signer]!
      client.session = events.i32[base + RESULT.at.detail]!
      client.generation = events.u32[base + RESULT.at.detail2]!
      client.account = account
      this.madeBy.set(account, events.f64[(base + RESULT.at.originalSequence) >>> 1]!)
      if (type === CommandType.OPEN_SESSION) this.clientOf.set(account, this.signer)
    } else if (type === CommandType.OPEN_DELEGATED_SESSION && this.chance(1, 2)) this.clients[this.signer]!.agent = -1
    else if (type === CommandType.UPSERT_AGENT && code === 0) {
      const agent = this.clients[this.granted]!
      agent.agent = events.i32[base + RESULT.at.detail]!
      agent.agentSequence = events.f64[(base + RESULT.at.originalSequence) >>> 1]!
    } else if (type === CommandType.CREATE_SUB_ACCOUNT && code === 0) {
      this.learnSubAccount(events.i32[base + RESULT.at.detail]!)
    } else if (code === SESSION_INVALID && this.chance(9, 10)) this.clients[this.signer]!.session = -1
    else if (code === ORDER_NOT_FOUND) this.dropChosen()
    else if (type === CommandType.PLACE_ORDER && this.mayTryLess(code)) this.unpaid = { client: this.signer, order: this.placed }
    else if (code === 0 && type === CommandType.CANCEL_ORDER) this.forget(events, base, RESULT.at.slot, RESULT.at.orderSequence)
    else if (code === 0 && (status === Status.SUBMITTED || status === Status.PARTIALLY_FILLED)) {
      if (this.known.length > 200) this.known.splice(this.below(200), 1)
      this.known.push({
        slot: events.i32[base + RESULT.at.slot]!, sequence: events.f64[(base + RESULT.at.orderSequence) >>> 1]!,
        client: this.clientOf.get(account) ?? 0, pair: events.i32[base + RESULT.at.pair]!,
        sell: (events.u32[base + RESULT.at.flags]! & Flag.SELL) !== 0, price: events.i32[base + RESULT.at.price]!,
        remaining: events.i32[base + RESULT.at.remaining]!,
      })
    }
  }
}
