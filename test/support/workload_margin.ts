/**
 * A seeded stream of commands of margin trading, realistic and hostile: wallets, sub-accounts and delegated agents
 * (workload_margin_people.ts) that deposit, trade in isolated and cross buckets with every kind of order, some of them by client order
 * ids and keys, and move collateral at the edges of what is accepted; an operator (workload_margin_operator.ts). It learns from events as
 * a client would (workload.ts); the same seed, genesis and events give the same stream.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import { COMMAND_LAYOUTS, CommandType, Flag, kindOf, Option } from '../../core/layout/command.ts'
import { answeredTypeOf, EventType, eventTypeOf, FILL, LABEL, ORDER_ENDED, RESULT, Status } from '../../core/layout/event.ts'
import { COLLATERAL, LIQUIDATION, LiquidationStatus, MARGIN_ORDER, MARK, POSITION_CHANGED } from '../../core/layout/margin_events.ts'
import { CollateralMove } from '../../core/layout/margin.ts'
import { decode, encode, RECORD_WORDS, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { drawLeverage, drawLots, drawPause } from './workload_margin_drawn.ts'
import {
  carriedWithin, farOrder, keep, KNOWN_MOST, type Command, type KnownAccount, type KnownBucket, type KnownOrder, type KnownPosition,
} from './workload_margin_known.ts'
import { MarginOperator } from './workload_margin_operator.ts'
import { MarginPeople } from './workload_margin_people.ts'
import type { WorkloadOptions } from './workload_options.ts'
import { ProgramWorkload } from './workload_programs.ts'
import { isOfMarginFirstLane } from './workload_lanes.ts'
import { LABELS, namedBy } from './workload_named.ts'
import { CopyWorkload } from './workload_copies.ts'
import { marginWorld, WaitingWorkload, type World } from './workload_waiting.ts'

const START = 1_700_000_000_000
const [MINUTE, HOUR] = [60_000, 3_600_000]
const [SESSION_INVALID, ORDER_NOT_FOUND] = [113, 502]
/** Hashes of strategy keys, as whole words: no key, and three others. */
const KEYS: readonly [low: number, high: number, text: string][] = [[0, 0, ''], [11, 1, 'alpha'], [12, 2, 'beta'], [13, 3, 'gamma']]
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

export class MarginWorkload {
  readonly genesis: Genesis
  /** Time of the next command. */
  time = START
  private readonly random: Prng
  private readonly people: MarginPeople
  private readonly operator: MarginOperator
  private readonly perps: number[]
  private readonly collateral: number
  private readonly orders: KnownOrder[] = []
  private readonly buckets = new Map<string, KnownBucket>()
  private readonly positions = new Map<string, KnownPosition>()
  private readonly margins: KnownAccount[] = []
  private correlation = 0
  private signer = 0
  /** Client order id in flight: its sequence and the text in hex. */
  private told = { sequence: 0, label: '' }
  /** The order that the command in flight is about. */
  private aimed: KnownOrder | null = null
  private failing: KnownBucket | null = null
  private flood: { position: KnownPosition; left: number } | null = null
  readonly waiting: WaitingWorkload | null
  readonly copies: CopyWorkload | null
  private readonly programs: ProgramWorkload
  /** Sequence that made an account. */
  private readonly made = new Map<number, number>()

  constructor(seed: number, genesis: Genesis, options: WorkloadOptions = {}, clients = 9) {
    this.genesis = genesis
    this.random = createPrng(seed)
    this.people = new MarginPeople(genesis, this.random, clients)
    this.operator = new MarginOperator(genesis, this.random)
    this.perps = genesis.pairs.filter(({ perp }) => perp !== null).map(({ index }) => index)
    this.collateral = genesis.pairs[this.perps[0]!]!.quote
    this.waiting = options.waiting === true ? new WaitingWorkload(seed, genesis) : null
    this.programs = new ProgramWorkload(seed, genesis, options)
    this.copies = options.copies === true ? new CopyWorkload(seed, genesis) : null
  }

  private readonly below = (n: number): number => this.random.below(n)
  private readonly chance = (n: number, of: number): boolean => this.below(of) < n
  private readonly pick = <T>(list: readonly T[]): T => list[this.below(list.length)]!

  /** Writes the next command at word `base`, where there is room for three slots, and moves the time. */
  next(views: Views, base: number): void {
    this.time += drawPause(this.random) + (this.waiting?.pause() ?? 0)
    this.aimed = null
    const trade = (): Command =>
      this.copies?.command(this.world) ?? this.waiting?.command(this.world, () => this.command()) ?? this.command()
    const { type, values } = this.programs.command(this.world, this.made, trade)
    const lane = isOfMarginFirstLane(type) && !this.chance(1, 60) ? 0 : 1
    encode(COMMAND_LAYOUTS[type]!, views, base, { ...values, kind: kindOf(type, 1, lane), correlation: ++this.correlation })
  }

  /** As those see it whose orders wait. */
  private get world(): World {
    const { operator, positions, people, made } = this
    const sign = (account: number): Decoded => this.signature(people.signerOf(account))
    return marginWorld(this.time, operator.index, positions, people.clients, made, sign, (account) => this.carried(account, null))
  }

  /** What somebody signs whom {@link MarginPeople} named. */
  private by({ signer, command: { type, values } }: { signer: number; command: Command }): Command {
    const signed = values['session'] === -1 ? {} : this.signature(signer)
    this.signer = signer
    return { type, values: { ...values, ...signed } }
  }

  private command(): Command {
    const { people, operator } = this
    const { clients } = people
    let client = this.below(clients.length)
    const entering = clients[client]!.session < 0 ? people.enter(client, this.time) : null
    if (entering !== null) return this.by(entering)
    // Somebody else must do something before, or an agent would do what only his owner may.
    const { session, owner } = clients[client]!
    const places = this.chance(1, 2)
    if (session < 0 || (owner >= 0 && !places && !this.chance(1, 30))) client = owner < 0 ? 0 : owner
    if (clients[client]!.session < 0) return this.by(people.enter(0, this.time)!)
    const { minted, account } = clients[client]!
    if (minted < 2) {
      clients[client]!.minted++
      return { type: CommandType.MINT, values: { ...this.signature(client), asset: -1 } }
    }
    if (!this.hasMargin(account) || this.chance(1, 60)) return this.deposit(client)
    if (operator.maintenance && this.chance(1, 10)) return operator.setMaintenance(0)
    if (this.flood !== null && account >= 0) return this.floods(this.flood)
    if (this.failing !== null && this.chance(1, 3)) return this.intoFailing(this.failing)
    const again = this.chance(1, 60) ? operator.tradesAgain() : null
    if (again !== null) return again
    const dealt = this.chance(1, 30) ? (this.chance(2, 3) ? people.agentCommand(this.time) : people.transfer(this.collateral)) : null
    if (dealt !== null) return this.by(dealt)
    if (this.chance(1, 80)) return operator.setFeeTier(clients.map((each) => each.account))
    if (clients[client]!.owner >= 0) return this.order(client)
    const dice = this.below(1000)
    const price = dice < 95 ? operator.price(this.pick(this.perps), this.time) : null
    if (price !== null) return price
    if (dice < 600) return this.order(client)
    if (dice < 650) return this.cancel()
    if (dice < 740) return this.replacement()
    if (dice < 860) return this.move(client)
    if (dice < 885) return { type: CommandType.OPEN_RISK_BUCKET, values: this.openBucket(client) }
    if (dice < 905) return { type: CommandType.OPEN_MARGIN_ACCOUNT, values: { ...this.signature(client), label: hex('label', 32) } }
    if (dice < 920) return this.closeAccount(client)
    if (dice < 950) return this.liquidation()
    if (dice < 958) return { type: CommandType.FUNDING_STEP, values: { session: -1, pair: this.below(this.genesis.pairs.length + 1) - 1 } }
    if (dice < 966) return { type: CommandType.FUND_INSURANCE, values: { session: -1, amount: BigInt(this.below(2000)) } }
    if (dice < 970) return operator.setPerp(this.perps, this.time)
    if (dice === 970) return operator.setMode(this.pick(this.perps), 2)
    if (dice < 973) return operator.setMaintenance(1)
    if (dice < 978) return { type: CommandType.CANCEL_ALL, values: { ...this.signature(client), pair: -1, limit: 1 + this.below(8) } }
    return { type: CommandType.MINT, values: { ...this.signature(client), asset: -1 } }
  }

  private readonly hasMargin = (account: number): boolean => this.margins.some((each) => each.account === account)

  private signature(client: number): Decoded {
    this.signer = client
    const { session, generation } = this.people.clients[client]!
    return { session, sessionGeneration: this.chance(1, 400) ? generation + 1 : generation }
  }

  private deposit(client: number): Command {
    const amount = BigInt(this.pick([1, 1000, 20_000, 100_000])) * BigInt(1 + this.below(1_000_000))
    return this.moves(client, { move: CollateralMove.DEPOSIT, marginAccount: -1, bucket: -1, createdSequence: 0, amount })
  }

  private moves(client: number, values: Decoded): Command {
    return { type: CommandType.MOVE_COLLATERAL, values: { ...this.signature(client), options: 0, ...values } }
  }

  /** Its owner would put collateral into a bucket that is being liquidated. */
  private intoFailing({ row, sequence, account }: KnownBucket): Command {
    this.failing = null
    const values = { move: CollateralMove.TO_BUCKET, marginAccount: -1, bucket: row, createdSequence: sequence, amount: 1000n }
    return this.moves(this.people.signerOf(account), values)
  }

  /** Small reduce-only orders that rest far away, more than one position may have. */
  private floods(flood: { position: KnownPosition; left: number }): Command {
    const { position } = flood
    if (--flood.left === 0) this.flood = null
    const values = farOrder(position, this.operator.index[position.pair]!)
    return { type: CommandType.PLACE_ORDER, values: { ...this.signature(this.people.signerOf(position.account)), ...values } }
  }

  private liquidation(): Command {
    const known = [...this.buckets.values()]
    const bucket = known.length === 0 || this.chance(1, 30) ? { row: this.below(20) - 1, sequence: this.below(500) } : this.pick(known)
    return { type: CommandType.LIQUIDATION_STEP, values: { session: -1, bucket: bucket.row, createdSequence: bucket.sequence } }
  }

  private readonly leverage = (): number => drawLeverage(this.random)
  private readonly lots = (pair: number): number => drawLots(this.random, this.genesis.pairs[pair]!, this.operator.index[pair]!)

  private order(client: number): Command {
    const pair = this.chance(1, 200) ? this.below(this.genesis.pairs.length) : this.pick(this.perps)
    const { account } = this.people.clients[client]!
    const own = [...this.positions.values()].filter((each) => each.account === account && each.lots !== 0)
    const closes = own.length > 0 && this.chance(1, 6) ? this.pick(own) : null
    const within = closes === null && this.chance(2, 5) ? this.ownBucket(account) : null
    const sell = closes === null || this.chance(1, 30) ? this.chance(1, 2) : closes.lots > 0
    const on = closes?.pair ?? (within?.like?.cross === false ? within.like.pair : pair)
    let flags: number = (this.chance(1, 300) ? 0 : Flag.MARGIN) | (sell ? Flag.SELL : 0)
    const dice = this.below(100)
    if (dice < 14) flags |= Flag.MARKET
    else if (dice < 26) flags |= Flag.IOC
    else if (dice < 34) flags |= Flag.FOK
    else if (dice < 40) flags |= Flag.POST_ONLY
    if (this.chance(1, 4)) flags |= Flag.STP_GIVEN | (this.chance(1, 2) ? Flag.CANCEL_BOTH : 0)
    if (this.chance(1, 150)) flags |= Flag.MASTER_FUNDED
    const market = (flags & Flag.MARKET) !== 0
    const away = (sell ? 1 : -1) * (this.below(30) - 11)
    const at = this.operator.index[on]!
    const price = market ? 0 : Math.max(1, at + away * Math.max(1, Math.round(at / 4000)))
    const expires = this.chance(1, 15)
    if (expires) flags |= Flag.EXPIRES
    const values: Decoded = {
      pair: on, price, lots: closes === null ? this.lots(on) : 1 + this.below(2 * Math.abs(closes.lots)), slippageBps: 0,
      expiresAt: expires ? this.time + this.pick([-1, 500, 20_000, MINUTE, HOUR]) : 0, options: Option.TELL_SELF_TRADE,
    }
    const { text, label } = this.label()
    Object.assign(values, within === null ? this.carried(account, closes) : carriedWithin(within, this.leverage()), { label })
    flags |= Number(values['flags']) | (text.length << 24)
    if (this.chance(1, 12)) Object.assign(values, this.keyed(), { options: Option.TELL_SELF_TRADE | Option.KEYED })
    return { type: CommandType.PLACE_ORDER, values: { ...this.signature(client), ...values, flags: flags >>> 0 } }
  }

  /** A bucket of the account in which it has had an order; null: it has none. */
  private ownBucket(account: number): KnownBucket | null {
    const own = [...this.buckets.values()].filter((each) => each.account === account && each.like !== null)
    return own.length === 0 ? null : this.pick(own)
  }

  /** A client order id, mostly none; another order of the account may have it. */
  private label(): { text: string; label: string } {
    const text = this.chance(1, 4) ? this.pick(LABELS) : ''
    return { text, label: hex(text, 40) }
  }

  /** Of few keys, so that some commands repeat others or conflict with them. */
  private keyed(): Decoded {
    return { key: hex(`key ${this.below(10)}`, 16), payload: hex(`payload ${this.below(3)}`, 16) }
  }

  /** What an order has besides a spot order's. */
  private carried(account: number, closes: KnownPosition | null): Decoded {
    const [keyLow, keyHigh] = this.chance(1, 7) ? this.pick(KEYS) : KEYS[0]!
    // Everybody mostly has a mode of his own, so that there are not too many buckets.
    const crosses = this.chance(1, 3) ? this.chance(1, 2) : account % 3 === 0
    const nobody = { marginAccount: 0, bucket: 0, namedSequence: 0, position: 0 }
    const values: Decoded = { ...nobody, flags: crosses ? Flag.CROSS : 0, keyLow, keyHigh, leverage: this.leverage() }
    const collateral = this.chance(1, 12) ? BigInt(this.below(2_000_000_000)) * (this.chance(1, 20) ? -1n : 1n) : 0n
    values['collateral'] = collateral
    if (closes !== null && this.chance(2, 3)) {
      const named = { position: closes.row + 1, namedSequence: this.chance(1, 30) ? closes.sequence + 1 : closes.sequence }
      return { ...values, ...named, flags: Flag.REDUCE_ONLY | Flag.CLOSE, leverage: 0, collateral: 0n }
    }
    if (closes !== null || this.chance(1, 12)) Object.assign(values, { flags: Number(values['flags']) | Flag.REDUCE_ONLY })
    if (this.chance(1, 6)) {
      const sub = this.margins.filter((each) => each.account === account || this.chance(1, 40))
      const chosen = sub.length === 0 ? null : this.pick(sub)
      if (chosen !== null) Object.assign(values, { marginAccount: chosen.row + 1, namedSequence: chosen.sequence })
    } else if (this.chance(1, 8)) {
      const buckets = [...this.buckets.values()].filter((each) => each.account === account || this.chance(1, 60))
      const chosen = buckets.length === 0 ? null : this.pick(buckets)
      if (chosen !== null) Object.assign(values, { bucket: chosen.row + 1, namedSequence: chosen.sequence })
    }
    return values
  }

  private target(): { signed: Decoded; known: KnownOrder | null; values: Decoded } {
    const known = this.orders.length === 0 ? null : this.pick(this.orders)
    this.aimed = known
    const signed = this.signature(known === null ? this.below(this.people.clients.length) : this.people.signerOf(known.account))
    return { signed, known, values: { targetSlot: known?.slot ?? 3, targetSequence: known?.sequence ?? 3 } }
  }

  /** The same command, often with the client order id of the order that it is about. */
  private named(known: KnownOrder | null, values: Decoded): Decoded {
    if (known === null || known.label === '' || this.chance(1, 2)) return values
    return namedBy(known.label, values, this.genesis, known.pair, this.chance(1, 12))
  }

  private cancel(): Command {
    const { signed, known, values } = this.target()
    return { type: CommandType.CANCEL_ORDER, values: { ...signed, ...this.named(known, values) } }
  }

  private replacement(): Command {
    const { signed, known, values } = this.target()
    let options = Option.TELL_SELF_TRADE as number
    const pair = known?.pair ?? this.perps[0]!
    const { text, label } = this.label()
    const asked: Decoded = { ...values, pair, slippageBps: 0, flags: (text.length << 24) >>> 0, label }
    if (this.chance(2, 3)) {
      options |= Option.NEW_LOTS
      asked['lots'] = this.chance(1, 2) ? Math.max(1, (known?.remaining ?? 5) - this.below(20)) : this.lots(pair)
    }
    if (this.chance(1, 2)) {
      options |= Option.NEW_PRICE
      asked['price'] = this.operator.around(pair, 40)
    }
    if (this.chance(1, 10)) options |= Option.NEW_POST_ONLY
    if (this.chance(1, 15)) {
      options |= Option.KEYED
      Object.assign(asked, this.keyed())
    }
    return { type: CommandType.REPLACE_ORDER, values: { ...signed, ...this.named(known, asked), options } }
  }

  /** A move of collateral, mostly about where it stops being accepted. */
  private move(client: number): Command {
    const { account } = this.people.clients[client]!
    const dice = this.below(100)
    const own = this.margins.filter((each) => each.account === account)
    const subs = own.length === 0 || this.chance(1, 50) ? this.margins : own
    const sub = subs.length === 0 ? { row: 1, sequence: 1 } : this.pick(subs)
    const base = { ...this.signature(client), bucket: -1, options: 0, marginAccount: -1, createdSequence: 0 }
    const keyed: Decoded = this.chance(1, 10) ? { options: Option.KEYED, ...this.keyed() } : {}
    const some = BigInt(1 + this.below(1_000_000)) * BigInt(this.pick([1, 100, 3000]))
    const to = (values: Decoded): Command => ({ type: CommandType.MOVE_COLLATERAL, values: { ...base, ...keyed, ...values } })
    if (dice < 12) return to({ move: CollateralMove.DEPOSIT, amount: this.chance(1, 20) ? 0n : some * 20n })
    if (dice < 24) return to({ move: CollateralMove.WITHDRAW, amount: this.chance(1, 30) ? -5n : some })
    if (dice < 44) {
      const move = this.chance(2, 3) ? CollateralMove.TO_SUB : CollateralMove.FROM_SUB
      return to({ move, marginAccount: sub.row, createdSequence: sub.sequence, amount: some })
    }
    const buckets = [...this.buckets.values()].filter((each) => each.account === account || this.chance(1, 80))
    if (buckets.length === 0) return to({ move: CollateralMove.DEPOSIT, amount: some })
    const { row, sequence, allocated, realized, free } = this.pick(buckets)
    const named = { bucket: row, createdSequence: this.chance(1, 60) ? sequence - 1 : sequence }
    if (this.chance(1, 3)) return to({ ...named, move: CollateralMove.TO_BUCKET, amount: this.chance(1, 8) ? free : some })
    const left = allocated + realized
    const edges = [allocated, allocated, left, left + 1n, allocated / 2n, allocated - 1n, allocated + 1n, 1n, some]
    return to({ ...named, move: CollateralMove.FROM_BUCKET, amount: this.pick(edges) })
  }

  private openBucket(client: number): Decoded {
    const [keyLow, keyHigh, text] = this.pick(KEYS)
    const own = this.margins.filter((each) => each.account === this.people.clients[client]!.account)
    const sub = own.length > 0 && this.chance(1, 3) ? this.pick(own) : { row: -1, sequence: 0 }
    const pair = this.chance(1, 3) ? -1 : this.chance(1, 30) ? this.below(6) : this.pick(this.perps)
    return {
      ...this.signature(client), marginAccount: sub.row, createdSequence: sub.sequence, pair, keyLow, keyHigh, strategyKey: hex(text, 48),
    }
  }

  private closeAccount(client: number): Command {
    const known = this.margins.length === 0 ? { row: 0, sequence: 0, account: -1 } : this.pick(this.margins)
    const signed = this.signature(known.account < 0 ? client : this.people.signerOf(known.account))
    return { type: CommandType.CLOSE_MARGIN_ACCOUNT, values: { ...signed, marginAccount: known.row, createdSequence: known.sequence } }
  }

  /** Takes notice of the events of one command. */
  learn(events: Views, count: number): void {
    for (const part of [this.waiting, this.copies, this.programs]) part?.learn(events, count)
    for (let record = 0; record < count; record++) {
      const base = record * RECORD_WORDS
      const type = eventTypeOf(events.u32[base]!)
      if (type === EventType.RESULT) this.learnResult(decode(RESULT, events, base), answeredTypeOf(events.u32[base]!))
      else if (type === EventType.LABEL) this.learnLabel(decode(LABEL, events, base))
      else if (type === EventType.ORDER_ENDED) this.forget(decode(ORDER_ENDED, events, base), 'slot', 'orderSequence')
      else if (type === EventType.FILL) this.learnFill(decode(FILL, events, base))
      else if (type === EventType.COLLATERAL) this.learnCollateral(decode(COLLATERAL, events, base))
      else if (type === EventType.MARK) this.operator.learnMark(decode(MARK, events, base))
      else if (type === EventType.MARGIN_ORDER) this.learnBucket(decode(MARGIN_ORDER, events, base))
      else if (type === EventType.LIQUIDATION) this.learnLiquidation(decode(LIQUIDATION, events, base))
      else if (type === EventType.POSITION) this.learnPosition(decode(POSITION_CHANGED, events, base))
    }
  }

  private learnLiquidation({ bucket, bucketSequence, status }: Decoded): void {
    const known = this.buckets.get(`${String(bucket)} ${String(bucketSequence)}`) ?? null
    this.failing = status === LiquidationStatus.COMPLETED ? null : known
  }

  private learnFill(fill: Decoded): void {
    if (fill['makerRemaining'] === 0) this.forget(fill, 'makerSlot', 'makerSequence')
  }

  private forget(event: Decoded, slot: string, sequence: string): void {
    const at = this.orders.findIndex((each) => each.slot === event[slot] && each.sequence === event[sequence])
    if (this.chance(9, 10)) this.drop(at)
  }

  private drop(at: number): void {
    if (at >= 0) this.orders.splice(at, 1)
  }

  private learnBucket({ kind, bucket, bucketSequence, account, flags, pair }: Decoded): void {
    const name = `${String(bucket)} ${String(bucketSequence)}`
    const ordered = eventTypeOf(Number(kind)) === EventType.MARGIN_ORDER
    const like = ordered ? { cross: (Number(flags) & Flag.CROSS) !== 0, pair: Number(pair) } : null
    const known = this.buckets.get(name)
    if (known !== undefined && like !== null) known.like = like
    if (known !== undefined) return
    const nothing = { allocated: 0n, realized: 0n, free: 0n, like }
    this.buckets.set(name, { row: Number(bucket), sequence: Number(bucketSequence), account: Number(account), ...nothing })
    if (this.buckets.size > KNOWN_MOST) this.buckets.delete(this.buckets.keys().next().value!)
  }

  private learnCollateral(event: Decoded): void {
    if (Number(event['accountKind']) === 0 && !this.hasMargin(Number(event['account']))) {
      keep(this.margins, { row: -1, sequence: 0, account: Number(event['account']) })
    }
    if (event['bucket'] === -1) return
    this.learnBucket(event)
    const known = this.buckets.get(`${String(event['bucket'])} ${String(event['bucketSequence'])}`)!
    const [allocated, realized] = [BigInt(event['allocated']!), BigInt(event['realized']!)]
    Object.assign(known, { allocated, realized, free: BigInt(event['deposited']!) - BigInt(event['earmarked']!) })
  }

  private learnPosition(event: Decoded): void {
    const { position, openedSequence, account, pair, lots } = event
    const name = `${String(position)} ${String(openedSequence)}`
    if (lots === 0 && this.chance(19, 20)) this.positions.delete(name)
    else {
      this.positions.set(name, {
        row: Number(position), sequence: Number(openedSequence), account: Number(account), pair: Number(pair), lots: Number(lots),
      })
    }
    if (Math.abs(Number(lots)) > 40 && this.flood === null && this.chance(1, 800)) {
      this.flood = { position: this.positions.get(name)!, left: 40 }
    }
    if (this.positions.size > KNOWN_MOST) this.positions.delete(this.positions.keys().next().value!)
  }

  private learnLabel({ label, length, orderSequence }: Decoded): void {
    this.told = { sequence: Number(orderSequence), label: Buffer.from(String(label), 'hex').toString('latin1', 0, Number(length)) }
  }

  private learnRefusal(code: number, type: number): void {
    const gone = type === CommandType.OPEN_DELEGATED_SESSION || (code === SESSION_INVALID && this.chance(1, 2))
    if (gone) this.people.signedOff(this.signer)
    // Whoever it was that was aimed at is no more.
    if (code === ORDER_NOT_FOUND && this.aimed !== null && this.chance(3, 4)) this.drop(this.orders.indexOf(this.aimed))
  }

  private learnResult(result: Decoded, type: number): void {
    if (result['code'] !== 0) return this.learnRefusal(Number(result['code']), type)
    const [account, status] = [Number(result['account']), Number(result['outcome']) & 0xff]
    this.people.learn(type, result, this.signer)
    if (type === CommandType.OPEN_SESSION) this.made.set(account, Number(result['originalSequence']))
    if (type === CommandType.OPEN_MARGIN_ACCOUNT) {
      keep(this.margins, { row: Number(result['detail']), sequence: Number(result['originalSequence']), account })
    } else if (status === Status.SUBMITTED || status === Status.PARTIALLY_FILLED) {
      const { slot, orderSequence, pair, price, remaining } = result
      keep(this.orders, {
        slot: Number(slot), sequence: Number(orderSequence), account, pair: Number(pair), price: Number(price),
        remaining: Number(remaining), label: this.told.sequence === orderSequence ? this.told.label : '',
      })
    }
  }
}
