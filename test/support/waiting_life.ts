/**
 * A seeded life of an exchange on which orders wait, through the real sequencer and its journal: traders whose orders have legs, who attach
 * them to positions and have quantities traded in slices, makers they trade with, prices that wander and jump, sessions that end, an
 * operator. The sequencer's timers do the rest. It learns from events as a client would.
 *
 * One lot of the perpetual at one tick is one dollar; orders are of 60 lots at most, so that larger positions are closed by several.
 */
import { COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, Flag, kindOf, Option } from '../../core/layout/command.ts'
import { ConditionalState, LegFlag } from '../../core/layout/conditional.ts'
import { CollateralMove } from '../../core/layout/margin.ts'
import { encode, RECORD_BYTES, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { TwapOption, TwapState } from '../../core/layout/twap.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { writeSnapshot } from '../../core/snapshot/file.ts'
import { ACCOUNT, CLOCK } from '../../core/state/columns.ts'
import { accountRow, getF64 } from '../../core/state/rows.ts'
import { eventsOf, openAccount, post, startMatcher, takeAnswers, type Matcher, type Signed } from './journal.ts'
import { PlainWaiting } from './plain_waiting.ts'
import { genesisText, pairSpec, perpPair } from './variants.ts'

export const [SPOT, PERP] = [0, 1]
const TRADERS = 4
const MAKERS = 2
const MOST_LOTS = 60
const PRICE = 1000
const DEPOSIT = 5_000_000_000_000n
const TERMS = { tickSize: '1', minOrderSize: '1', maxOrderSize: `${MOST_LOTS}`, lotSize: '1' }

export const LIFE_GENESIS = genesisText({
  limits: { priceTicks: 65_536, conditionalOrders: 256, twapOrders: 24, twapOrdersPerAccount: 8, twapSliceMs: 1000 }, dailyLimit: 5,
  assets: [['USD', 6, '10000000'], ['BTC', 8, '10000']],
  pairs: [
    pairSpec('BTC/USD', { ...TERMS, makerFeeBps: '1', takerFeeBps: '5' }),
    perpPair('BTC/USD-PERP', { referencePrice: `${PRICE}`, maxPositionSize: '1000', staleSeconds: 600, indexBandBps: '10000' }, TERMS),
  ],
})

interface Person extends Signed {
  readonly name: string
  account: number
}

export class WaitingLife {
  readonly plain = new PlainWaiting()
  /** Nothing is made that waits. */
  quiet = true
  readonly directory: string
  time = 1_767_225_605_000
  #matcher: Matcher
  readonly #random: Prng
  readonly #people: Person[] = []
  /** Orders that may rest: whose, and their names. */
  readonly #resting: { person: Person; targetSlot: number; targetSequence: number; sell: boolean; price: number }[] = []
  #index = PRICE
  #labels = 0
  #asked: Person | null = null
  #maintenance = false

  constructor(directory: string, seed: number) {
    this.directory = directory
    this.#random = createPrng(seed)
    this.#matcher = this.#start()
    for (let number = 0; number < TRADERS + MAKERS; number++) {
      const name = number < TRADERS ? `trader ${number}` : `maker ${number}`
      this.#people.push({ name, account: number, ...openAccount(this.#matcher, 1, name) })
    }
    for (const person of this.#people) {
      const values = { move: CollateralMove.DEPOSIT, marginAccount: -1, bucket: -1, amount: DEPOSIT }
      this.#post(CommandType.MOVE_COLLATERAL, { ...signed(person), ...values })
    }
    this.#price(PRICE)
    this.#turn()
  }

  #start(): Matcher {
    return startMatcher(this.directory, { genesis: LIFE_GENESIS, startTime: this.time, maxSlots: 256 })
  }

  /** Stops the sequencer, so that its journal is whole on the disk and nobody else's. */
  async stop(): Promise<void> {
    await this.#matcher.database.close()
  }

  /** Goes on where the journal ends. */
  start(): void {
    this.#matcher = this.#start()
  }

  /** Of the last command. */
  get sequence(): number {
    return this.#matcher.sequencer.state.clock[CLOCK.SEQUENCE]!
  }

  snapshot(): void {
    const { state, writer, eventsChecksum } = this.#matcher.sequencer
    writeSnapshot(this.directory, state, LIFE_GENESIS, writer.checksum, eventsChecksum)
  }

  /** A few commands of whoever, and what time and prices lead to. */
  step(): void {
    this.time += 20 + this.#below(700)
    for (let commands = this.#below(4); commands >= 0; commands--) this.#something()
    this.#turn()
    // What is behind goes on in further turns, or waits for the next step.
    while (this.#chance(1, 3)) this.#turn()
  }

  #below(n: number): number {
    return this.#random.below(n)
  }

  #chance(n: number, of: number): boolean {
    return this.#below(of) < n
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)]!
  }

  #post(type: CommandType, values: Decoded, lane = 1): void {
    const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, 1, lane) })
    post(this.#matcher, command)
  }

  #turn(): void {
    this.#matcher.clock = this.time
    this.#matcher.turn(true)
    for (const lane of this.#matcher.gateways) takeAnswers(lane)
    const events = eventsOf(this.#matcher)
    this.plain.take(events)
    for (const event of events) this.#learn(event)
  }

  #learn(event: Decoded): void {
    const n = (field: string): number => Number(event[field])
    if (event['event'] !== 'RESULT' || n('code') !== 0) return
    const type = (n('kind') >>> 8) & 0xff
    if (type === CommandType.OPEN_SESSION) Object.assign(this.#asked!, { session: n('detail'), sessionGeneration: n('detail2') })
    const person = this.#people[n('account')]
    const rests = (type === CommandType.PLACE_ORDER || type === CommandType.REPLACE_ORDER || type === CommandType.ENTER_ORDER) &&
      (n('outcome') & 0xff) <= 2
    if (!rests || person === undefined) return
    const sell = (n('flags') & Flag.SELL) !== 0
    this.#resting.push({ person, targetSlot: n('slot'), targetSequence: n('orderSequence'), sell, price: n('price') })
    if (this.#resting.length > 60) this.#resting.shift()
  }

  #something(): void {
    const dice = this.#below(1000)
    const person = this.#people[this.#below(TRADERS)]!
    if (dice < 150) this.#price(Math.round(this.#index * (1 + (this.#random.unit() - 0.5) * this.#pick([0.002, 0.006, 0.02, 0.05]))))
    else if (dice < 420) this.#quote()
    else if (dice < 600) this.#order(person)
    else if (dice < 690 && !this.quiet) this.#attach(person)
    else if (dice < 790 && !this.quiet) this.#twap(person)
    else if (dice < 830) this.#cancelConditional()
    else if (dice < 840) this.#cancelTwap()
    else if (dice < 900) this.#cancelOrder()
    else if (dice < 960) this.#replaceOrder()
    else if (dice < 966) this.#cancelAll(person)
    else if (dice < 970) this.#revoke(person)
    else if (dice < 974) this.#byOperator(person)
    else if (dice < 978) this.#maintain(!this.#maintenance && this.#chance(1, 2))
    else if (this.#maintenance) this.#maintain(false)
  }

  #price(price: number): void {
    // It comes back to where it began, so that nothing runs to an end of the grid.
    this.#index = Math.max(200, price + Math.round((PRICE - price) / 40))
    this.#post(CommandType.SET_INDEX_PRICE, { pair: PERP, price: this.#index, source: 0, force: 1, observedAt: this.time }, 0)
  }

  #maintain(on: boolean): void {
    this.#maintenance = on
    this.#post(CommandType.SET_MAINTENANCE, { on: on ? 1 : 0 }, 0)
  }

  #cancelAll(person: Person): void {
    this.#post(CommandType.CANCEL_ALL, { ...signed(person), pair: this.#pick([-1, SPOT, PERP]), limit: 3 + this.#below(50) })
  }

  #byOperator({ account }: Person): void {
    const { state } = this.#matcher.sequencer
    const createdSequence = getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE)
    this.#post(CommandType.CANCEL_ACCOUNT_ORDERS, { account, pair: -1, limit: 1000, fromSlot: -1, createdSequence }, 0)
  }

  /** The session ends, and another one is opened with the next command. */
  #revoke(person: Person): void {
    this.#post(CommandType.REVOKE_SESSION, signed(person))
    this.#turn()
    const hex = (bytes: number): string => Buffer.from(person.name).toString('hex').padEnd(bytes * 2, '0')
    this.#asked = person
    this.#post(CommandType.OPEN_SESSION, { session: -1, address: hex(20), publicKey: hex(32) })
    this.#turn()
  }

  /** A maker's order for a minute, on either side of the price. */
  #quote(): void {
    const person = this.#people[TRADERS + this.#below(MAKERS)]!
    const sell = this.#chance(1, 2)
    const pair = this.#pick([SPOT, PERP, PERP])
    const price = Math.max(1, this.#index + (sell ? 1 : -1) * this.#below(6))
    const flags = (sell ? Flag.SELL : 0) | Flag.EXPIRES | (pair === PERP ? Flag.MARGIN : 0)
    const margin: Decoded = pair === PERP ? { leverage: 500 } : {}
    this.#post(CommandType.PLACE_ORDER, {
      ...signed(person), pair, flags, price, lots: 10 + this.#below(MOST_LOTS - 9), expiresAt: this.time + 60_000, ...margin,
    })
  }

  #order(person: Person): void {
    const sell = this.#chance(1, 2)
    const kind = this.#pick([Flag.MARKET, Flag.MARKET, 0, 0, 0, Flag.IOC])
    const reduces = this.#chance(1, 10)
    const legs = !reduces && !this.quiet && this.#chance(3, 4) ? this.#legs(!sell, this.#index) : {}
    const options = Option.TELL_SELF_TRADE | (Object.keys(legs).length === 0 ? 0 : Option.LEGS)
    const price = kind === Flag.MARKET ? 0 : this.#index + (this.#below(13) - 6)
    const flags = Flag.MARGIN | kind | (sell ? Flag.SELL : 0) | (reduces ? Flag.REDUCE_ONLY : 0) | (this.#chance(1, 6) ? Flag.CROSS : 0)
    this.#post(CommandType.PLACE_ORDER, {
      ...signed(person), pair: PERP, flags, price, lots: 1 + this.#below(MOST_LOTS), leverage: reduces ? 0 : 500, options, ...legs,
    })
  }

  /** Some of the three legs of a long or short position; now and then on the wrong side of the price. */
  #legs(long: boolean, price: number): Decoded {
    const legs: Decoded = {}
    for (const [prefix, above] of [['profit', long], ['stop', !long]] as const) {
      if (this.#chance(2, 5)) continue
      const away = (1 + this.#below(25)) * (above ? 1 : -1) * (this.#chance(1, 20) ? -1 : 1)
      const limited = this.#chance(1, 4)
      let flags = limited ? LegFlag.LIMIT | this.#pick([0, LegFlag.IOC, LegFlag.FOK]) : this.#chance(1, 5) ? LegFlag.SLIPPAGE : 0
      const expires = this.#chance(1, 4)
      if (expires) flags |= LegFlag.EXPIRES
      Object.assign(legs, {
        [`${prefix}Trigger`]: price + away, [`${prefix}Flags`]: flags, [`${prefix}Limit`]: limited ? price + away + this.#below(5) - 2 : 0,
        [`${prefix}Lots`]: this.#chance(1, 3) ? 1 + this.#below(40) : 0,
        [`${prefix}SlippageBps`]: (flags & LegFlag.SLIPPAGE) === 0 ? 0 : 10 + this.#below(300),
        [`${prefix}ExpiresAt`]: expires ? this.time + 1000 + this.#below(30_000) : 0,
      })
    }
    if (this.#chance(1, 3)) return legs
    const expires = this.#chance(1, 5)
    return {
      ...legs, trailBps: this.#pick([10, 30, 100, 250]), trailFlags: expires ? LegFlag.EXPIRES : 0,
      trailActivation: this.#chance(1, 3) ? price + (long ? 1 : -1) * this.#below(20) : 0,
      trailLots: this.#chance(1, 4) ? 1 + this.#below(40) : 0, trailExpiresAt: expires ? this.time + 1000 + this.#below(30_000) : 0,
    }
  }

  #attach(person: Person): void {
    const own = [...this.plain.positions.values()].filter(({ account, lots }) => account === person.account && lots !== 0)
    if (own.length === 0) return this.#order(person)
    const { row, opened, lots } = this.#pick(own)
    const legs = this.#legs(lots > 0, this.#index)
    this.#post(CommandType.ATTACH_CONDITIONALS, { ...signed(person), position: row, openedSequence: opened, ...legs })
  }

  #twap(person: Person): void {
    const perpetual = this.#chance(2, 3)
    const starts = this.#chance(1, 4) ? this.time + this.#below(8000) : 0
    const waits = this.#chance(1, 3)
    const length = 3000 + this.#below(40_000)
    const reduces = perpetual && this.#chance(1, 8)
    let flags = (this.#chance(1, 2) ? Flag.SELL : 0) | (perpetual ? Flag.MARGIN : 0) | (reduces ? Flag.REDUCE_ONLY : 0)
    if (this.#chance(1, 5)) flags |= Flag.SLIPPAGE
    const label = this.#chance(1, 2) ? `twap ${this.#labels++}`.padEnd(6 + this.#below(35), '.').slice(0, 40) : ''
    const own = [...this.plain.positions.values()].filter((each) => each.account === person.account)
    const named = perpetual && own.length > 0 && this.#chance(1, 4) ? this.#pick(own).bucket : null
    this.#post(CommandType.CREATE_TWAP, {
      ...signed(person), pair: perpetual ? PERP : SPOT, flags, price: this.#chance(1, 3) ? this.#index + this.#below(21) - 10 : 0,
      lots: 3 + this.#below(this.#pick([10, 150])), slippageBps: (flags & Flag.SLIPPAGE) === 0 ? 0 : 20 + this.#below(200),
      options: this.#below(8) & (TwapOption.RANDOMIZE | TwapOption.PASSIVE | TwapOption.ABOVE),
      trigger: waits ? this.#index + this.#pick([1, 4]) * (this.#below(31) - 15) : 0, labelLength: label.length, startAt: starts,
      ...(this.#chance(1, 2) ? { durationMs: length } : { endAt: (starts === 0 ? this.time : starts) + length }),
      conditionalExpiry: waits && this.#chance(2, 3) ? this.time + 1 + this.#below(12_000) : 0, seed: BigInt(this.#random.u32()),
      leverage: perpetual && !reduces ? 500 : 0, ...(label === '' ? {} : { label: Buffer.from(label).toString('hex').padEnd(80, '0') }),
      ...(named === null ? {} : { bucket: named.row + 1, namedSequence: named.sequence }),
    })
  }

  #cancelConditional(): void {
    const live = [...this.plain.conditionals.values()].filter(({ state }) => state <= ConditionalState.ARMED)
    if (live.length === 0) return
    const { account, kind, createdSequence } = this.#pick(live)
    this.#post(CommandType.CANCEL_CONDITIONAL, { ...signed(this.#people[account]!), leg: kind, createdSequence })
  }

  #cancelTwap(): void {
    const live = [...this.plain.twaps.values()].filter(({ state }) => state <= TwapState.ACTIVE)
    if (live.length === 0) return
    const { account, twap, createdSequence } = this.#pick(live)
    this.#post(CommandType.CANCEL_TWAP, { ...signed(this.#people[account]!), twap, createdSequence })
  }

  #cancelOrder(): void {
    if (this.#resting.length === 0) return
    const { person, targetSlot, targetSequence } = this.#pick(this.#resting)
    this.#post(CommandType.CANCEL_ORDER, { ...signed(person), targetSlot, targetSequence })
  }

  #replaceOrder(): void {
    if (this.#resting.length === 0) return
    const { person, targetSlot, targetSequence, sell, price } = this.#pick(this.#resting)
    const nearer = price + (sell ? -1 : 1) * this.#below(8)
    const asked: Decoded = this.#chance(1, 2)
      ? { options: Option.NEW_PRICE, price: nearer }
      : { options: Option.NEW_LOTS, lots: 1 + this.#below(30) }
    this.#post(CommandType.REPLACE_ORDER, { ...signed(person), targetSlot, targetSequence, ...asked })
  }
}

const signed = ({ session, sessionGeneration }: Signed): Decoded => ({ session, sessionGeneration })
