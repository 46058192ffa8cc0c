/**
 * Scenarios that a trader can read: given balances, when orders come in, then answers, trades, book and balances. Runs the engine
 * itself and checks every invariant after every step.
 *
 *   given   'ann 10 BTC, 500 USD'
 *   when    'a: ann sells 1 at 100 post-only'     -> 'SUBMITTED'            "a:" names the order for later steps
 *           'cat buys 2 at 100 ioc'               -> 'CANCELLED IOC_REMAINDER, filled 1'
 *           'ann cancels a'                       -> 'refused ORDER_NOT_FOUND'
 *   steps   WHO buys|sells QTY at PRICE|market [ioc] [fok] [post-only] [cancel-both] [slippage=BPS] [expires=SECONDS] [id=LABEL] [key=K]
 *           WHO replaces NAME [price=P] [quantity=Q] [post-only] [id=LABEL] [key=K]         "b: ann replaces a ..." names the successor
 *           WHO cancels NAME | WHO cancels all [pair] [limit=N] | timer expires NAME | wait SECONDS | maintenance on|off
 *           operator cancels WHO [pair] [limit=N] | pair halted|cancel-only|active | tier NUMBER WHO
 *           program [cap=BPS] [off] [share=PART] | enroll WHO [taker=BPS] [maker=BPS] [inactive] | WHO charges BPS [maker=BPS]
 *           those of scenario_agents.ts; "pair=1": on the second pair, USD/BTC
 *           rules NUMBER | WHO signs in [with=NAME] [under=MASTER] [by=REFERRER] [application=N]
 *                                                   (with the session key of another; the text named the master; whose code was given)
 *           shares FIRST SECOND THIRD | WHO collects QTY ASSET [KEY]            (rewards)
 *           those of scenario_vault.ts (withdrawals, deposits, settlement)
 *           MASTER makes SUB [name=USERNAME] [unasked] | MASTER gives SUB QTY ASSET [key=K] | MASTER takes QTY ASSET from SUB [key=K]
 *           MASTER limits SUB to QTY ASSET [daily=Q] [inactive] | MASTER changes SUB ASSET [max=Q] [daily=Q|none] [inactive|active]
 *           MASTER drops SUB ASSET                                             (the limit)
 *           orders of sub-accounts: funded (on the master's balance); a replacement: funded | own-funds, otherwise as the original
 *   trades  'cat buys 1 at 100 from ann'          taker first
 *   ended   'ann sells 1 at 100 EXPIRED'          orders that ended unfilled, but by their own cancel
 *   book    'ann sells 1 at 101', 'bob buys 2 at 99'    asks from the best, then bids from the best, each queue in its order
 *   balances 'ann 9 BTC, 99.95 USD, 1 BTC locked, 0.01 USD rewards'
 *   spending 'bob 500 USD, 50 a day: 100 held, 20 spent'
 */
import { inWords } from './command_words.ts'
import type { Test } from 'tap'
import { balanceRow, getI64, setI64, totalRow } from '../../core/state/rows.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, BALANCE, LEVEL, LEVEL_WORDS, NO_ASK, ORDER, ORDER_WORDS, PAIR, TOTAL,
} from '../../core/state/columns.ts'
import type { Asset } from '../../core/state/genesis.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { refusalByNumber, REFUSALS } from '../../core/layout/refusals.ts'
import { RULES } from '../../core/state/rules.ts'
import { levelOf, tickAbove, tickBelow } from '../../core/book/levels.ts'
import {
  AgentGrant, CANCEL_ACCOUNT_ORDERS_COMMAND, CANCEL_ALL_COMMAND, COMMAND_LAYOUTS, CommandType, Flag, kindOf, ORDER_COMMAND, PairStatus,
  SET_FEE_TIER_COMMAND, SET_MAINTENANCE_COMMAND, SET_PAIR_STATUS_COMMAND, SET_RULES_COMMAND, Option, COMMAND_SLOTS,
} from '../../core/layout/command.ts'
import { EventType, eventTypeOf, FILL, ORDER_ENDED, REASON_NAMES, RESULT, STATUS_NAMES } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { touchAccount } from '../../core/state/balances.ts'
import { formatDecimal, parseDecimal } from '../../core/lib/decimal.ts'
import { keepAccount } from '../../core/state/blank_list.ts'
import { createBench, type Bench } from './naive_compare.ts'
import { isOfFirstLane } from './workload_lanes.ts'
import { copyStored } from './recording.ts'
import { agentStep, opening, type AgentName } from './scenario_agents.ts'
import { builderStep } from './scenario_builder.ts'
import { referralStep } from './scenario_referrals.ts'
import { VaultSteps } from './scenario_vault.ts'
import { familyStep, limitsText } from './scenario_families.ts'
import { genesisText, pairSpec, type FeeTierSpec, type PairSpec, type WithdrawalSpec } from './variants.ts'

export interface SceneOptions {
  pair?: Partial<PairSpec>
  limits?: Record<string, number>
  /** Maker and taker discounts in bps of the tiers from 1 on. */
  tiers?: [maker: string, taker: string][]
  /** Digits of a USD, instead of 6. */
  scale?: number
  /** Rules of the engine it begins with; absent: those of now. `rules 1` puts them in force. */
  rules?: number
  /** By symbol what the genesis says of withdrawals. */
  withdrawals?: Readonly<Record<string, WithdrawalSpec>>
}

export interface Scenario extends SceneOptions {
  given: string[]
  when: [step: string, outcome: string][]
  trades?: string[]
  ended?: string[]
  book?: string[]
  balances?: string[]
  spending?: string[]
}

/** Plays a scenario as a subtest. Pairs are BTC/USD with a tick of 0.01, a lot of 0.001 and no fees, unless it says otherwise. */
export function play(t: Test, name: string, scenario: Scenario): void {
  void t.test(name, async (t) => {
    const scene = new Scene(scenario)
    for (const line of scenario.given) scene.give(line)
    for (const [step, outcome] of scenario.when) t.equal(scene.step(step), outcome, step)
    if (scenario.trades !== undefined) t.same(scene.trades, scenario.trades, 'trades')
    if (scenario.ended !== undefined) t.same(scene.ended, scenario.ended, 'ended')
    if (scenario.book !== undefined) t.same(scene.book(), scenario.book, 'book')
    for (const line of scenario.balances ?? []) t.equal(scene.balances(line.split(' ')[0]!), line, 'balances')
    for (const line of scenario.spending ?? []) t.equal(scene.spending(line.split(' ')[0]!), line, 'spending')
  })
}

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

/** Commands whose answers have something else where an order has its outcome. */
const DONE: ReadonlySet<number> = new Set([CommandType.SET_BUILDER_FEE])
const GRANT_NAMES = new Map<number, string>(Object.entries(AgentGrant).map(([name, number]) => [number, name]))

export class Scene {
  bench: Bench
  /** Trades so far, oldest first. */
  readonly trades: string[] = []
  /** Orders that ended unfilled so far, oldest first. */
  readonly ended: string[] = []
  /** The last RESULT. */
  result: Decoded = {}
  time = 1_700_000_000_000
  readonly vault = new VaultSteps({
    asset: (symbol) => this.asset(symbol), assetAt: (index) => this.bench.state.genesis.assets[index], made: (name) => this.made(name),
    nameOf: (account) => this.nameOf(account),
  })
  private readonly sessions = new Map<string, { session: number; sessionGeneration: number; account: number }>()
  private readonly orders = new Map<string, { targetSlot: number; targetSequence: number }>()
  private readonly agents = new Map<string, AgentName>()
  private readonly command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  private readonly text: string

  constructor(options: SceneOptions = {}) {
    const pair = { ...pairSpec('BTC/USD', { makerFeeBps: '0', takerFeeBps: '0' }), ...options.pair }
    const assets: [string, number, string][] = [['BTC', 8, '1'], ['USD', options.scale ?? 6, '1']]
    const second = pairSpec('USD/BTC', { makerFeeBps: pair.makerFeeBps, takerFeeBps: pair.takerFeeBps })
    const discounts: [string, string][] = [['0', '0'], ...(options.tiers ?? [])]
    const feeTiers: FeeTierSpec = { asset: 'USD', tiers: discounts.map(([maker, taker], tier) => [String(tier), maker, taker]) }
    const { limits = {}, rules = RULES, withdrawals = {} } = options
    this.text = genesisText({ limits, dailyLimit: 5, assets, pairs: [pair, second], feeTiers, rules, withdrawals })
    this.bench = createBench(this.text)
  }

  /** Goes on with an engine made of the stored columns alone, as after a snapshot was loaded. */
  reload(): void {
    this.bench = copyStored(this.text, this.bench.state)
  }

  private get pair() {
    return this.bench.state.genesis.pairs[0]!
  }

  private asset(symbol: string): Asset {
    return this.bench.state.genesis.assets.find((asset) => asset.symbol === symbol)!
  }

  /** "ann 10 BTC, 500 USD": signs ann in and puts that on her account, as if it had been issued to her. */
  give(line: string): void {
    const [who, ...rest] = line.split(' ')
    const { account } = this.signIn(who!)
    const { state } = this.bench
    keepAccount(state, account)
    touchAccount(state, account)
    for (const amount of rest.join(' ').split(', ')) {
      const [quantity, symbol] = amount.split(' ') as [string, string]
      const asset = this.asset(symbol)
      const atoms = parseDecimal(quantity, asset.scale)!
      const row = balanceRow(state, account, asset.index)
      setI64(state, row, BALANCE.AVAILABLE, getI64(state, row, BALANCE.AVAILABLE) + atoms)
      setI64(state, totalRow(state, asset.index), TOTAL.ISSUED, getI64(state, totalRow(state, asset.index), TOTAL.ISSUED) + atoms)
    }
  }

  private signIn(who: string): { session: number; sessionGeneration: number; account: number } {
    const known = this.sessions.get(who)
    if (known !== undefined) return known
    return this.open(who)
  }

  /** Signs in; who may not has no session and no account. */
  private open(who: string, words: readonly string[] = []): { session: number; sessionGeneration: number; account: number } {
    const { layout, type, values } = opening(who, words, (name) => this.made(name))
    this.send(layout, type, values)
    const { code, detail, detail2, account } = this.result
    if (code !== 0) return { session: -1, sessionGeneration: 0, account: -1 }
    const session = { session: Number(detail), sessionGeneration: Number(detail2), account: Number(account) }
    this.sessions.set(who, session)
    return session
  }

  private nameOf(account: number): string {
    return [...this.sessions].find(([, session]) => session.account === account)![0]
  }

  /** Applies one command, notes its trades and keeps its RESULT. */
  private send(layout: Layout, type: CommandType, values: Decoded): void {
    encode(layout, this.command, 0, { kind: kindOf(type, 1, isOfFirstLane(type) ? 0 : 1), ...inWords(type, values) })
    const { said, run, state } = this.bench
    const count = run(this.command, 0, this.time)
    checkInvariants(state)
    for (let record = 0; record < count; record++) {
      const base = record * RECORD_WORDS
      const kind = eventTypeOf(said.u32[base]!)
      if (kind === EventType.FILL) this.trades.push(this.tradeText(decode(FILL, said, base)))
      if (kind === EventType.ORDER_ENDED) this.ended.push(this.endText(decode(ORDER_ENDED, said, base)))
      if (kind === EventType.RESULT) this.result = decode(RESULT, said, base)
      this.vault.hear(kind, said, base)
    }
  }

  private tradeText(fill: Decoded): string {
    const sells = (Number(fill['takerFlags']) & Flag.SELL) !== 0
    const [taker, maker] = [this.nameOf(Number(fill['takerAccount'])), this.nameOf(Number(fill['makerAccount']))]
    const terms = `${this.quantity(Number(fill['lots']))} at ${this.price(Number(fill['price']))}`
    return sells ? `${taker} sells ${terms} to ${maker}` : `${taker} buys ${terms} from ${maker}`
  }

  private endText({ account, flags, remaining, price, outcome }: Decoded): string {
    const verb = (Number(flags) & Flag.SELL) !== 0 ? 'sells' : 'buys'
    const terms = `${this.quantity(Number(remaining))} at ${this.price(Number(price))}`
    return `${this.nameOf(Number(account))} ${verb} ${terms} ${REASON_NAMES[Number(outcome) >>> 8]!}`
  }

  private price(ticks: number): string {
    return formatDecimal(ticks * this.pair.tickUnits, this.pair.priceScale)
  }

  private quantity(lots: number): string {
    return formatDecimal(lots * this.pair.lotUnits, this.pair.lotScale)
  }

  private ticks(price: string): number {
    return Number(parseDecimal(price, this.pair.priceScale)!) / this.pair.tickUnits
  }

  private lots(quantity: string): number {
    return Number(parseDecimal(quantity, this.pair.lotScale)!) / this.pair.lotUnits
  }

  /** Does one step and says how it ended. */
  step(text: string): string {
    const [, name, line] = /^(?:(\w+): )?(.*)$/.exec(text)!
    const [who, verb, ...words] = line!.split(' ') as [string, string, ...string[]]
    const step = this.vault.step(line!, this.time)
    if (step !== null) {
      const signed = step.signer === null ? {} : this.signed(step.signer)
      this.send(COMMAND_LAYOUTS[step.type]!, step.type, { ...signed, ...step.values })
      return this.result['code'] === 0 ? this.vault.outcome(name, step.type, this.result) : this.outcome()
    }
    if (who === 'wait') {
      this.time += Math.round(Number(verb) * 1000)
      return 'waited'
    }
    if (who === 'maintenance') this.send(SET_MAINTENANCE_COMMAND, CommandType.SET_MAINTENANCE, { session: -1, on: verb === 'on' ? 1 : 0 })
    else if (who === 'rules') this.send(SET_RULES_COMMAND, CommandType.SET_RULES, { session: -1, rules: Number(verb) })
    else if (who === 'pair') {
      const status = PairStatus[verb.replace('-', '_').toUpperCase() as keyof typeof PairStatus]
      this.send(SET_PAIR_STATUS_COMMAND, CommandType.SET_PAIR_STATUS, { session: -1, pair: 0, status })
    } else if (who === 'tier') {
      const { account } = this.signIn(words[0]!)
      this.send(SET_FEE_TIER_COMMAND, CommandType.SET_FEE_TIER, { session: -1, account, tier: Number(verb) })
    } else if (who === 'operator') {
      const { account } = this.signIn(words[0]!)
      const createdSequence = this.bench.state.accountsF64[(account * ACCOUNT_WORDS + ACCOUNT.CREATED_SEQUENCE) >>> 1]!
      const limit = Number(words.find((word) => word.startsWith('limit='))?.slice(6) ?? 1000)
      const values = { session: -1, account, createdSequence, pair: words.includes('pair') ? 0 : -1, limit }
      this.send(CANCEL_ACCOUNT_ORDERS_COMMAND, CommandType.CANCEL_ACCOUNT_ORDERS, values)
    } else if (verb === 'expires') this.send(ORDER_COMMAND, CommandType.EXPIRE_ORDER, { session: -1, ...this.target(words[0]!) })
    else if (verb === 'cancels' && words[0] === 'all') this.cancelAll(who, words)
    else if (verb === 'cancels') this.send(ORDER_COMMAND, CommandType.CANCEL_ORDER, { ...this.signed(who), ...this.target(words[0]!) })
    else if (verb === 'replaces') this.replace(who, words)
    else if (verb === 'signs' && words[0] === 'in') this.open(who, words.slice(1))
    else if (this.stepOfPrograms(who, verb, words)) return this.outcome()
    else if (!this.stepOfAgents(who, [verb, ...words]) && !this.stepOfFamilies(who, verb, words)) this.place(who, verb, words)
    if (name !== undefined && this.result['code'] === 0) {
      this.orders.set(name, { targetSlot: Number(this.result['slot']), targetSequence: Number(this.result['orderSequence']) })
    }
    return this.outcome()
  }

  /** Row of somebody's account, and the sequence that made it. */
  private made(name: string): { account: number; createdSequence: number } {
    const { account } = this.signIn(name)
    return { account, createdSequence: this.bench.state.accountsF64[(account * ACCOUNT_WORDS + ACCOUNT.CREATED_SEQUENCE) >>> 1]! }
  }

  /** Does the step when it is one of scenario_builder.ts or scenario_referrals.ts. */
  private stepOfPrograms(who: string, verb: string, words: string[]): boolean {
    const made = (name: string) => this.made(name)
    const step = builderStep(who, verb, words, made) ?? referralStep(who, verb, words, (symbol) => this.asset(symbol))
    if (step !== null) this.send(step.layout, step.type, { ...(step.signer === null ? {} : this.signed(step.signer)), ...step.values })
    return step !== null
  }

  /** Does the step when it is one of scenario_families.ts. */
  private stepOfFamilies(who: string, verb: string, words: string[]): boolean {
    const names = { account: (name: string) => this.signIn(name).account, asset: (symbol: string) => this.asset(symbol) }
    const step = familyStep(verb, words, names)
    if (step !== null) this.send(step.layout, step.type, { ...this.signed(who), ...step.values })
    return step !== null
  }

  /** Does the step when it is one of scenario_agents.ts. */
  private stepOfAgents(who: string, words: string[]): boolean {
    const step = agentStep(who, words, this.time, this.agents)
    if (step === null) return false
    this.send(step.layout, step.type, { ...this.signed(who), ...step.values })
    const { code, detail, originalSequence } = this.result
    if (step.type === CommandType.UPSERT_AGENT && code === 0) {
      this.agents.set(`${who} ${words[1]!}`, { agent: Number(detail), createdSequence: Number(originalSequence) })
    }
    return true
  }

  private signed(who: string): Decoded {
    const { session, sessionGeneration } = this.signIn(who)
    return { session, sessionGeneration }
  }

  private target(name: string): Decoded {
    return { ...(this.orders.get(name) ?? { targetSlot: 0, targetSequence: 1e9 }) }
  }

  private cancelAll(who: string, words: string[]): void {
    const limit = Number(words.find((word) => word.startsWith('limit='))?.slice(6) ?? 1000)
    this.send(CANCEL_ALL_COMMAND, CommandType.CANCEL_ALL, { ...this.signed(who), pair: words.includes('pair') ? 0 : -1, limit })
  }

  /** Flags and fields that create and replace share. */
  private options(words: string[], values: Decoded): Decoded {
    let flags = Number(values['flags'])
    const given = (name: string): string | undefined => words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
    const [id, key, slippage, expires] = [given('id'), given('key'), given('slippage'), given('expires')]
    if (words.includes('pair=1')) values['pair'] = 1
    if (words.includes('ioc')) flags |= Flag.IOC
    if (words.includes('fok')) flags |= Flag.FOK
    if (words.includes('post-only')) flags |= Flag.POST_ONLY | Option.NEW_POST_ONLY
    if (words.includes('funded')) flags |= Flag.MASTER_FUNDED | Option.NEW_FUNDING
    if (words.includes('own-funds')) flags |= Option.NEW_FUNDING
    if (words.includes('cancel-both')) flags |= Flag.CANCEL_BOTH | Flag.STP_GIVEN | Option.NEW_STP
    if (id !== undefined) [flags, values['label']] = [flags | (id.length << 24), hex(id, 40)]
    if (key !== undefined) {
      flags |= Option.KEYED
      values['key'] = hex(key, 16)
      values['payload'] = hex(words.join(' ').slice(0, 16), 16)
    }
    if (slippage !== undefined) [flags, values['slippageBps']] = [flags | Flag.SLIPPAGE, Number(slippage)]
    if (expires !== undefined) [flags, values['expiresAt']] = [flags | Flag.EXPIRES, this.time + Number(expires) * 1000]
    return { ...values, flags: flags >>> 0 }
  }

  private place(who: string, verb: string, words: string[]): void {
    const [quantity, , price] = words as [string, string, string]
    const flags = (verb === 'sells' ? Flag.SELL : 0) | (price === 'market' ? Flag.MARKET : 0)
    const terms = { ...this.signed(who), flags, lots: this.lots(quantity), price: price === 'market' ? 0 : this.ticks(price) }
    this.send(ORDER_COMMAND, CommandType.PLACE_ORDER, this.options(words, terms))
  }

  private replace(who: string, words: string[]): void {
    const values: Decoded = { ...this.signed(who), ...this.target(words[0]!), flags: 0 }
    for (const word of words) {
      const [name, value] = word.split('=')
      if (name === 'price') values['price'] = this.ticks(value!)
      if (name === 'quantity') values['lots'] = this.lots(value!)
      const flag = name === 'price' ? Option.NEW_PRICE : name === 'quantity' ? Option.NEW_LOTS : 0
      values['flags'] = Number(values['flags']) | flag
    }
    this.send(ORDER_COMMAND, CommandType.REPLACE_ORDER, this.options(words, values))
  }

  private outcome(): string {
    const { code, outcome, lots, remaining, flags, detail, detail2 } = this.result
    const type = Number(this.result['kind']) >>> 8 & 0xff
    const grant = code === REFUSALS.AGENT_NOT_ALLOWED.number ? GRANT_NAMES.get(Number(detail)) : undefined
    if (code !== 0) return `refused ${refusalByNumber(Number(code)).code}${grant === undefined ? '' : ` ${grant}`}`
    const more = detail2 === 0 ? 'none' : 'more'
    if (type === CommandType.CANCEL_ALL || type === CommandType.CANCEL_ACCOUNT_ORDERS) return `${detail} cancelled, ${more} left`
    if (type === CommandType.REVOKE_AGENT) return `${detail2} ended`
    const repeated = (Number(flags) & Flag.REPEATED) !== 0 ? ', repeated' : ''
    if (type === CommandType.OPEN_SESSION) return lots === 1 ? 'done, brought' : 'done'
    if (outcome === 0 || DONE.has(type)) return `done${repeated}`
    const reason = REASON_NAMES[Number(outcome) >>> 8]!
    const filled = Number(lots) - Number(remaining)
    const partly = filled > 0 && remaining !== 0 ? `, filled ${this.quantity(filled)}` : ''
    return `${STATUS_NAMES[Number(outcome) & 0xff]}${reason === '' ? '' : ` ${reason}`}${partly}${repeated}`
  }

  /** What a sub-account may spend of its master. */
  spending(who: string): string {
    return limitsText(this.bench.state, who, this.signIn(who).account, this.time)
  }

  /** Every resting order: asks from the best, then bids from the best, each queue in its order. */
  book(): string[] {
    const { state } = this.bench
    const lines: string[] = []
    for (let tick = state.pairs[PAIR.BEST_ASK]!; tick !== NO_ASK; tick = tickAbove(state, 0, tick)) this.queue(tick, lines)
    for (let tick = state.pairs[PAIR.BEST_BID]!; tick !== 0; tick = tickBelow(state, 0, tick)) this.queue(tick, lines)
    return lines
  }

  private queue(tick: number, lines: string[]): void {
    const { orders, levels } = this.bench.state
    let slot = levels[levelOf(this.bench.state, 0, tick) * LEVEL_WORDS + LEVEL.HEAD]!
    for (; slot >= 0; slot = orders[slot * ORDER_WORDS + ORDER.NEXT]!) {
      const row = slot * ORDER_WORDS
      const verb = (orders[row + ORDER.FLAGS]! & Flag.SELL) !== 0 ? 'sells' : 'buys'
      const who = this.nameOf(orders[row + ORDER.ACCOUNT]!)
      lines.push(`${who} ${verb} ${this.quantity(orders[row + ORDER.REMAINING]!)} at ${this.price(tick)}`)
    }
  }

  /** "ann 9 BTC, 99.95 USD, 1 BTC locked": what is not zero; "house" is the fee account. */
  balances(who: string): string {
    const { state } = this.bench
    const parts: string[] = []
    const add = (atoms: bigint, { scale, symbol }: Asset, suffix = ''): void => {
      if (atoms !== 0n) parts.push(`${formatDecimal(atoms, scale)} ${symbol}${suffix}`)
    }
    const { assets } = state.genesis
    if (who === 'house') for (const asset of assets) add(getI64(state, totalRow(state, asset.index), TOTAL.FEES), asset)
    else {
      const { account } = this.signIn(who)
      for (const asset of assets) add(getI64(state, balanceRow(state, account, asset.index), BALANCE.AVAILABLE), asset)
      for (const asset of assets) add(getI64(state, balanceRow(state, account, asset.index), BALANCE.LOCKED), asset, ' locked')
      for (const asset of assets) add(getI64(state, balanceRow(state, account, asset.index), BALANCE.REWARDS), asset, ' rewards')
    }
    return `${who} ${parts.length === 0 ? 'nothing' : parts.join(', ')}`
  }
}
