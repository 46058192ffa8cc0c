/**
 * A seeded stream of commands of margin trading, realistic and hostile: clients that deposit, trade in isolated and cross buckets with
 * every kind of order, and move collateral at the edges of what is accepted; an operator whose prices wander, jump, gap, freeze and go
 * stale. It learns from events as a client would (workload.ts); the same seed, genesis and events give the same stream.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import { COMMAND_LAYOUTS, CommandType, Flag, kindOf, Option } from '../../core/layout/command.ts'
import { answeredTypeOf, EventType, eventTypeOf, FILL, ORDER_ENDED, RESULT, Status } from '../../core/layout/event.ts'
import { COLLATERAL, LIQUIDATION, LiquidationStatus, MARGIN_ORDER, MARK, POSITION_CHANGED } from '../../core/layout/margin_events.ts'
import { CollateralMove, PerpSetting } from '../../core/layout/margin.ts'
import { decode, encode, RECORD_WORDS, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { Client, Command, KnownAccount, KnownBucket, KnownOrder, KnownPosition } from './workload_margin_known.ts'


const START = 1_700_000_000_000
const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000]
const KNOWN_MOST = 120
/** Hashes of strategy keys, as whole words: no key, and three others. */
const KEYS: readonly [low: number, high: number, text: string][] = [[0, 0, ''], [11, 1, 'alpha'], [12, 2, 'beta'], [13, 3, 'gamma']]
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')
const keep = <Thing>(list: Thing[], thing: Thing): void => {
  list.push(thing)
  if (list.length > KNOWN_MOST) list.shift()
}

export class MarginWorkload {
  readonly genesis: Genesis
  /** Time of the next command. */
  time = START
  private readonly random: Prng
  private readonly clients: Client[]
  private readonly perps: number[]
  /** Index that the operator believes in, by pair; the mark that was told. */
  private readonly index: number[]
  private readonly orders: KnownOrder[] = []
  private readonly buckets = new Map<string, KnownBucket>()
  private readonly positions = new Map<string, KnownPosition>()
  private readonly margins: KnownAccount[] = []
  private correlation = 0
  private signer = 0
  /** No prices come until then. */
  private frozen = 0
  private maintenance = false
  /** PerpMode by pair, as it was told. */
  private readonly modes: number[] = []
  private failing: KnownBucket | null = null
  private flood: { position: KnownPosition; left: number } | null = null

  constructor(seed: number, genesis: Genesis, clients = 9) {
    this.genesis = genesis
    this.random = createPrng(seed)
    this.clients = Array.from({ length: clients }, () => ({ session: -1, generation: 0, account: -1, minted: 0 }))
    this.perps = genesis.pairs.filter(({ perp }) => perp !== null).map(({ index }) => index)
    this.index = genesis.pairs.map(({ perp }) => perp?.reference ?? 0)
  }

  private below(n: number): number {
    return this.random.below(n)
  }

  private readonly chance = (n: number, of: number): boolean => this.below(of) < n
  private readonly pick = <T>(list: readonly T[]): T => list[this.below(list.length)]!

  /** Writes the next command at word `base`, where there is room for two slots, and moves the time. */
  next(views: Views, base: number): void {
    this.passTime()
    const { type, values } = this.command()
    const operators = type === CommandType.SET_INDEX_PRICE || type === CommandType.SET_PERP || type === CommandType.FUND_INSURANCE ||
      type === CommandType.SET_MAINTENANCE || type === CommandType.LIQUIDATION_STEP || type === CommandType.FUNDING_STEP ||
      type === CommandType.SETTLEMENT_STEP
    const lane = operators && !this.chance(1, 60) ? 0 : 1
    encode(COMMAND_LAYOUTS[type]!, views, base, { ...values, kind: kindOf(type, 1, lane), correlation: ++this.correlation })
  }

  private passTime(): void {
    const dice = this.below(1000)
    if (dice < 500) this.time += this.below(700)
    else if (dice < 520) this.time += this.below(20 * SECOND)
    else if (dice < 523) this.time += this.below(2 * MINUTE)
    else if (dice < 524 && this.chance(1, 3)) this.time += this.below(HOUR)
  }

  private command(): Command {
    const client = this.below(this.clients.length)
    const { session, minted, account } = this.clients[client]!
    if (session < 0) return this.signIn(client)
    if (minted < 2) {
      this.signer = client
      this.clients[client]!.minted++
      return { type: CommandType.MINT, values: { ...this.signature(client), asset: -1 } }
    }
    if (!this.hasMargin(account) || this.chance(1, 60)) return this.deposit(client)
    if (this.maintenance && this.chance(1, 10)) return this.setMaintenance(0)
    if (this.flood !== null && this.clients[client]!.account >= 0) return this.floods(this.flood)
    if (this.failing !== null && this.chance(1, 3)) return this.intoFailing(this.failing)
    const odd = this.modes.findIndex((mode) => mode === 1 || mode === 3)
    if (odd >= 0 && this.chance(1, 60)) return this.setMode(odd, 0)
    const dice = this.below(1000)
    if (dice < 95 || this.perps.some((pair) => this.index[pair] === 0)) return this.price()
    if (dice < 560) return this.order(client)
    if (dice < 650) return this.cancel()
    if (dice < 740) return this.replacement()
    if (dice < 860) return this.move(client)
    if (dice < 885) return { type: CommandType.OPEN_RISK_BUCKET, values: this.openBucket(client) }
    if (dice < 905) return { type: CommandType.OPEN_MARGIN_ACCOUNT, values: { ...this.signature(client), label: hex('label', 32) } }
    if (dice < 920) return this.closeAccount(client)
    if (dice < 950) return this.liquidation()
    if (dice < 958) return { type: CommandType.FUNDING_STEP, values: { session: -1, pair: this.below(this.genesis.pairs.length + 1) - 1 } }
    if (dice < 966) return { type: CommandType.FUND_INSURANCE, values: { session: -1, amount: BigInt(this.below(2000)) } }
    if (dice < 970) return this.setPerp()
    if (dice === 970) return this.setMode(this.pick(this.perps), 2)
    if (dice < 973) return this.setMaintenance(1)
    if (dice < 985) return { type: CommandType.CANCEL_ALL, values: { ...this.signature(client), pair: -1, limit: 1 + this.below(20) } }
    return { type: CommandType.MINT, values: { ...this.signature(client), asset: -1 } }
  }

  private setMaintenance(on: number): Command {
    this.maintenance = on === 1
    return { type: CommandType.SET_MAINTENANCE, values: { session: -1, on } }
  }

  private readonly hasMargin = (account: number): boolean => this.margins.some((each) => each.account === account)

  private signIn(client: number): Command {
    this.signer = client
    const values = { session: -1, application: 0, address: hex(`wallet ${client}`, 20), publicKey: hex(`key ${client}`, 32), master: 0 }
    return { type: CommandType.OPEN_SESSION, values }
  }

  private signature(client: number): Decoded {
    this.signer = client
    const { session, generation } = this.clients[client]!
    return { session, sessionGeneration: this.chance(1, 400) ? generation + 1 : generation }
  }

  private clientOf(account: number): number {
    const client = this.clients.findIndex((each) => each.account === account)
    return client < 0 || this.chance(1, 60) ? this.below(this.clients.length) : client
  }

  private deposit(client: number): Command {
    const amount = BigInt(this.pick([1, 1000, 20_000, 100_000])) * BigInt(1 + this.below(1_000_000))
    const values = { move: CollateralMove.DEPOSIT, marginAccount: -1, bucket: -1, createdSequence: 0, options: 0, amount }
    return { type: CommandType.MOVE_COLLATERAL, values: { ...this.signature(client), ...values } }
  }

  /** The next index price: mostly near, sometimes far, sometimes none for a while. */
  private price(): Command {
    const pair = this.pick(this.perps)
    if (this.frozen > this.time) return this.order(this.below(this.clients.length))
    if (this.chance(1, 120)) this.frozen = this.time + this.below(3 * MINUTE)
    const { reference } = this.genesis.pairs[pair]!.perp!
    const dice = this.below(100)
    const parts = dice < 62 ? 300 : dice < 84 ? 2500 : dice < 96 ? 9000 : 30_000
    const moved = Math.round(this.index[pair]! * (1 + (this.random.unit() - 0.5) * 2 * (parts / 100_000)))
    // It comes back to where it began, so that nothing runs to an end of the grid.
    const pulled = moved + Math.round((reference - moved) / 200)
    const price = this.chance(1, 80) ? this.pick([0, -1, this.genesis.limits.priceTicks]) : Math.max(2, pulled)
    const force = this.chance(1, 3) ? 1 : 0
    const source = this.chance(1, 100) ? 4 : this.below(4)
    return {
      type: CommandType.SET_INDEX_PRICE,
      values: { session: -1, pair: this.chance(1, 100) ? this.below(6) - 1 : pair, price, source, force, observedAt: this.time - 5 },
    }
  }

  /** Its owner would put collateral into a bucket that is being liquidated. */
  private intoFailing({ row, sequence, account }: KnownBucket): Command {
    this.failing = null
    const values = { move: CollateralMove.TO_BUCKET, marginAccount: -1, bucket: row, createdSequence: sequence, options: 0, amount: 1000n }
    return { type: CommandType.MOVE_COLLATERAL, values: { ...this.signature(this.clientOf(account)), ...values } }
  }

  /** A perpetual is delisted at a price near its index, or trades again. */
  private setMode(pair: number, mode: number): Command {
    const price = mode === 2 ? this.around(pair, 40) : 0
    return { type: CommandType.SET_PERP, values: { session: -1, pair, setting: PerpSetting.MODE, value: mode, price, number: 0 } }
  }

  /** Small reduce-only orders that rest far away, more than one position may have. */
  private floods(flood: { position: KnownPosition; left: number }): Command {
    const { position: { account, pair, row, sequence, lots } } = flood
    if (--flood.left === 0) this.flood = null
    const price = Math.max(1, Math.round(this.index[pair]! * (lots > 0 ? 1.3 : 0.7)))
    const flags = Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CLOSE | (lots > 0 ? Flag.SELL : 0)
    const values: Decoded = {
      pair, flags, price, lots: 1, position: row + 1, namedSequence: sequence, options: 0, slippageBps: 0, expiresAt: 0, collateral: 0n,
      leverage: 0, keyLow: 0, keyHigh: 0, marginAccount: 0, bucket: 0,
    }
    return { type: CommandType.PLACE_ORDER, values: { ...this.signature(this.clientOf(account)), ...values } }
  }

  private setPerp(): Command {
    const pair = this.chance(1, 20) ? this.below(6) - 1 : this.pick(this.perps)
    const setting = this.below(3)
    const values: Decoded = { session: -1, pair, setting, value: 0, price: 0, number: 0 }
    if (setting === PerpSetting.MODE) values['value'] = this.pick([0, 0, 1, 2, 3, 4, -1])
    else if (setting === PerpSetting.OPEN_CAP) values['number'] = this.pick([0, 0, 0, 0, 200, 200_000])
    else Object.assign(values, { value: this.chance(1, 2) ? 0 : this.around(pair, 60), number: this.time + this.below(2 * MINUTE) })
    return { type: CommandType.SET_PERP, values }
  }

  private around(pair: number, range: number): number {
    const at = this.index[pair] ?? 100
    const step = Math.max(1, Math.round(at / 5000))
    return Math.max(1, at + step * (this.below(2 * range + 1) - range))
  }

  private liquidation(): Command {
    const known = [...this.buckets.values()]
    const bucket = known.length === 0 || this.chance(1, 30) ? { row: this.below(20) - 1, sequence: this.below(500) } : this.pick(known)
    return { type: CommandType.LIQUIDATION_STEP, values: { session: -1, bucket: bucket.row, createdSequence: bucket.sequence } }
  }

  private leverage(): number {
    const dice = this.below(100)
    if (dice < 70) return this.pick([100, 200, 300, 500, 777, 1000, 1000, 2000])
    if (dice < 92) return 100 + this.below(4901)
    return this.pick([0, 99, 100, 1001, 2001, 5000, 5001, 100_000])
  }

  private lots(pair: number): number {
    const { minLots, maxLots, tickLotAtoms } = this.genesis.pairs[pair]!
    const dice = this.below(100)
    // Lots that are worth about so many units of collateral.
    const worth = (units: number): number =>
      Math.max(minLots, Math.floor((units * 1e6) / (Math.max(1, this.index[pair]!) * Number(tickLotAtoms))))
    if (dice < 40) return minLots + this.below(40)
    if (dice < 80) return 1 + this.below(worth(20_000))
    if (dice < 93) return 1 + this.below(worth(400_000))
    if (dice < 97) return 1 + this.below(worth(3_000_000))
    return this.pick([0, -1, minLots, maxLots, maxLots + 1])
  }

  private order(client: number): Command {
    const pair = this.chance(1, 200) ? this.below(this.genesis.pairs.length) : this.pick(this.perps)
    const { account } = this.clients[client]!
    const own = [...this.positions.values()].filter((each) => each.account === account && each.lots !== 0)
    const closes = own.length > 0 && this.chance(1, 6) ? this.pick(own) : null
    const sell = closes === null || this.chance(1, 30) ? this.chance(1, 2) : closes.lots > 0
    const on = closes?.pair ?? pair
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
    const at = this.index[on]!
    const price = market ? 0 : Math.max(1, at + away * Math.max(1, Math.round(at / 4000)))
    const expires = this.chance(1, 15)
    if (expires) flags |= Flag.EXPIRES
    const values: Decoded = {
      pair: on, price, lots: closes === null ? this.lots(on) : 1 + this.below(2 * Math.abs(closes.lots)), slippageBps: 0,
      expiresAt: expires ? this.time + this.pick([-1, 500, 20_000, MINUTE, HOUR]) : 0, options: Option.TELL_SELF_TRADE,
    }
    Object.assign(values, this.carried(account, closes))
    flags |= Number(values['flags'])
    return { type: CommandType.PLACE_ORDER, values: { ...this.signature(client), ...values, flags: flags >>> 0 } }
  }

  /** What an order has besides a spot order's. */
  private carried(account: number, closes: KnownPosition | null): Decoded {
    const [keyLow, keyHigh] = this.chance(1, 5) ? this.pick(KEYS) : KEYS[0]!
    const nobody = { marginAccount: 0, bucket: 0, namedSequence: 0, position: 0 }
    const values: Decoded = { ...nobody, flags: this.chance(1, 3) ? Flag.CROSS : 0, keyLow, keyHigh, leverage: this.leverage() }
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
    const signed = this.signature(known === null ? this.below(this.clients.length) : this.clientOf(known.account))
    return { signed, known, values: { targetSlot: known?.slot ?? 3, targetSequence: known?.sequence ?? 3 } }
  }

  private cancel(): Command {
    const { signed, values } = this.target()
    return { type: CommandType.CANCEL_ORDER, values: { ...signed, ...values } }
  }

  private replacement(): Command {
    const { signed, known, values } = this.target()
    let options = Option.TELL_SELF_TRADE as number
    const pair = known?.pair ?? this.perps[0]!
    const asked: Decoded = { ...values, pair, slippageBps: 0, flags: 0 }
    if (this.chance(2, 3)) {
      options |= Option.NEW_LOTS
      asked['lots'] = this.chance(1, 2) ? Math.max(1, (known?.remaining ?? 5) - this.below(20)) : this.lots(pair)
    }
    if (this.chance(1, 2)) {
      options |= Option.NEW_PRICE
      asked['price'] = this.around(pair, 40)
    }
    if (this.chance(1, 10)) options |= Option.NEW_POST_ONLY
    return { type: CommandType.REPLACE_ORDER, values: { ...signed, ...asked, options } }
  }

  /** A move of collateral, mostly about where it stops being accepted. */
  private move(client: number): Command {
    const { account } = this.clients[client]!
    const dice = this.below(100)
    const own = this.margins.filter((each) => each.account === account)
    const subs = own.length === 0 || this.chance(1, 50) ? this.margins : own
    const sub = subs.length === 0 ? { row: 1, sequence: 1 } : this.pick(subs)
    const base = { ...this.signature(client), bucket: -1, options: 0, marginAccount: -1, createdSequence: 0 }
    const keyed: Decoded = this.chance(1, 10)
      ? { options: Option.KEYED, key: hex(`key ${this.below(10)}`, 16), payload: hex(`payload ${this.below(3)}`, 16) } : {}
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
    if (this.chance(1, 3)) return to({ ...named, move: CollateralMove.TO_BUCKET, amount: this.chance(1, 3) ? free : some })
    const left = allocated + realized
    const edges = [allocated, allocated, left, left + 1n, allocated / 2n, allocated - 1n, allocated + 1n, 1n, some]
    return to({ ...named, move: CollateralMove.FROM_BUCKET, amount: this.pick(edges) })
  }

  private openBucket(client: number): Decoded {
    const [keyLow, keyHigh, text] = this.pick(KEYS)
    const own = this.margins.filter((each) => each.account === this.clients[client]!.account)
    const sub = own.length > 0 && this.chance(1, 3) ? this.pick(own) : { row: -1, sequence: 0 }
    const pair = this.chance(1, 3) ? -1 : this.chance(1, 30) ? this.below(6) : this.pick(this.perps)
    return {
      ...this.signature(client), marginAccount: sub.row, createdSequence: sub.sequence, pair, keyLow, keyHigh, strategyKey: hex(text, 48),
    }
  }

  private closeAccount(client: number): Command {
    const known = this.margins.length === 0 ? { row: 0, sequence: 0, account: -1 } : this.pick(this.margins)
    const signed = this.signature(known.account < 0 ? client : this.clientOf(known.account))
    return { type: CommandType.CLOSE_MARGIN_ACCOUNT, values: { ...signed, marginAccount: known.row, createdSequence: known.sequence } }
  }

  /** Takes notice of the events of one command. */
  learn(events: Views, count: number): void {
    for (let record = 0; record < count; record++) {
      const base = record * RECORD_WORDS
      const type = eventTypeOf(events.u32[base]!)
      if (type === EventType.RESULT) this.learnResult(decode(RESULT, events, base), answeredTypeOf(events.u32[base]!))
      else if (type === EventType.ORDER_ENDED) this.forget(decode(ORDER_ENDED, events, base), 'slot', 'orderSequence')
      else if (type === EventType.FILL) this.learnFill(decode(FILL, events, base))
      else if (type === EventType.COLLATERAL) this.learnCollateral(decode(COLLATERAL, events, base))
      else if (type === EventType.MARK) this.learnMark(decode(MARK, events, base))
      else if (type === EventType.MARGIN_ORDER) this.learnBucket(decode(MARGIN_ORDER, events, base))
      else if (type === EventType.LIQUIDATION) this.learnLiquidation(decode(LIQUIDATION, events, base))
      else if (type === EventType.POSITION) this.learnPosition(decode(POSITION_CHANGED, events, base))
    }
  }

  private learnMark({ pair, index, mode }: Decoded): void {
    this.index[Number(pair)] = Number(index) || this.index[Number(pair)]!
    this.modes[Number(pair)] = Number(mode)
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
    if (at >= 0 && this.chance(9, 10)) this.orders.splice(at, 1)
  }

  private learnBucket({ bucket, bucketSequence, account }: Decoded): void {
    const name = `${String(bucket)} ${String(bucketSequence)}`
    if (this.buckets.has(name)) return
    const nothing = { allocated: 0n, realized: 0n, free: 0n }
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

  private learnResult(result: Decoded, type: number): void {
    if (result['code'] !== 0) return
    const [account, status] = [Number(result['account']), Number(result['outcome']) & 0xff]
    if (type === CommandType.OPEN_SESSION) {
      Object.assign(this.clients[this.signer]!, { session: result['detail'], generation: result['detail2'], account })
    } else if (type === CommandType.OPEN_MARGIN_ACCOUNT) {
      keep(this.margins, { row: Number(result['detail']), sequence: Number(result['originalSequence']), account })
    } else if (status === Status.SUBMITTED || status === Status.PARTIALLY_FILLED) {
      const { slot, orderSequence, pair, price, remaining } = result
      keep(this.orders, {
        slot: Number(slot), sequence: Number(orderSequence), account, pair: Number(pair), price: Number(price),
        remaining: Number(remaining),
      })
    }
  }
}
