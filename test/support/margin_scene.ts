/**
 * Scenarios of orders on perpetuals that a trader can read, as scenario.ts has them for spot pairs. Runs the engine itself and checks
 * every invariant after every step. There are two perpetuals with collateral USD, A and B, tick 1, lot 1, so that a lot at a price of 100
 * is worth 100; tiers of 50, 20 and 10 times, from 10,000 and 50,000 on, maintenance margin 1, 2.5 and 5 %; both marks are 100; and a spot
 * pair, S/USD.
 *
 *   given   'ann 1000'                          what she has in her parent margin account
 *   when    'a: ann buys 2 at 100 x10'          "x10": leverage; "a:" names the order
 *   steps   WHO buys|sells QTY at PRICE|market [xN] [on B|S] [ioc] [fok] [post-only] [cancel-both] [cross] [reduce-only] [slippage=BPS]
 *           [collateral=USD] [key=K] [in=NAME] [expires=SECONDS] [spot] [funded]   "in": the bucket of the order of that name
 *           WHO closes QTY at PRICE|market [on B] [of=WHOM]    names the position, as ClosePosition does; "of": that of somebody else
 *           WHO replaces NAME [price=P] [quantity=Q] [post-only] | WHO cancels NAME | WHO cancels all | timer expires NAME
 *           liquidation of WHO buys|sells ...    ENTER_ORDER
 *           mark PRICE [on B]                    a fresh index price, and that mark
 *           mode NAME | cap LOTS | maintenance on|off | wait SECONDS
 *           WHO grants WALLET ... [leverage=N] [no-margin]   as in scenario_agents.ts; "bot@ann buys ...": her agent
 *   outcome as in scenario.ts; a refusal for want of margin: 'refused INSUFFICIENT_MARGIN 20 of 15'
 *   figures positions 'ann long 2 at 100 x10'; resting 'ann bids 2, asks 0, reduces 1';
 *           money 'ann free 980: allocated 20, pending 0, realized 0', one part for each bucket, the oldest first
 */
import type { Test } from 'tap'
import { makeParent } from '../../core/margin/buckets.ts'
import { keepAccount } from '../../core/state/blank_list.ts'
import { AgentGrant, CommandType, COMMAND_LAYOUTS, COMMAND_SLOTS, Flag, kindOf, Option, Origin } from '../../core/layout/command.ts'
import { PERP_MODE_NAMES, PerpSetting } from '../../core/layout/margin.ts'
import { EventType, eventTypeOf, REASON_NAMES, STATUS_NAMES } from '../../core/layout/event.ts'
import { refusalByNumber, REFUSALS } from '../../core/layout/refusals.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { formatDecimal, parseDecimal } from '../../core/lib/decimal.ts'
import { ACCOUNT, ORDER, TOTAL } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { MARGIN_ACCOUNT, ORDER_MARGIN, POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import {
  accountRow, bucketRow, get, getF64, getI64, marginAccountRow, orderMarginRow, orderRow, positionAt, positionRow, setI64, totalRow,
} from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { createBench, type Bench } from './naive_compare.ts'
import { decodeEvent } from './naive_events.ts'
import { agentStep, opening, type AgentName } from './scenario_agents.ts'
import { genesisText, pairSpec, perpPair } from './variants.ts'

const TIERS = [
  { lowerBoundNotional: '0', maxLeverage: '50', maintenanceMarginRatio: '0.01' },
  { lowerBoundNotional: '10000', maxLeverage: '20', maintenanceMarginRatio: '0.025' },
  { lowerBoundNotional: '50000', maxLeverage: '10', maintenanceMarginRatio: '0.05' },
]
const PAIRS = ['A', 'B', 'S']
const SCALE = 6
const FAR = 4e12

/** What the perpetuals and their collateral are like. */
export interface MarginTerms {
  /** Fees in bps of both perpetuals; absent: none. */
  fees?: [maker: string, taker: string]
  limits?: Record<string, number>
  /** Decimals of USD; absent: 6. With 0 an atom is a dollar, and fees of cents are rounded up to one. */
  scale?: number
  /** maxPositionSize; absent: 1000. */
  most?: number
  /** maxOrderSize; absent: 100000. */
  largest?: number
}

export interface MarginScenario extends MarginTerms {
  given: string[]
  when: [step: string, outcome: string][]
  positions?: string[]
  resting?: string[]
  money?: string[]
  /** Orders that ended without their owner's doing: 'ann sells 2 at 105 REDUCE_ONLY'. */
  ended?: string[]
  /** Resting orders of somebody, the newest of each position first: 'ann: sells 1 at 105 reduce-only, buys 2 at 99'. */
  orders?: string[]
}

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

export class MarginScene {
  readonly bench: Bench
  time = 1_767_225_605_000
  /** False: invariants are not checked, for thousands of orders. */
  checks = true
  /** The events of the last step. */
  said: Decoded[] = []
  readonly ended: string[] = []
  private readonly sessions = new Map<string, { session: number; sessionGeneration: number; account: number }>()
  private readonly orders = new Map<string, { targetSlot: number; targetSequence: number; bucket: number; bucketSequence: number }>()
  private readonly agents = new Map<string, AgentName>()

  private readonly scale: number

  constructor({ fees = ['0', '0'], limits = {}, most = 1000, largest = 100_000, scale = SCALE }: MarginTerms = {}) {
    this.scale = scale
    const sizes = { tickSize: '1', lotSize: '1', minOrderSize: '1', maxOrderSize: String(largest) }
    const terms = { ...sizes, makerFeeBps: fees[0], takerFeeBps: fees[1] }
    const perp = { riskTiers: TIERS, maxPositionSize: String(most), indexBandBps: '10000', staleSeconds: 30 }
    const pairs = [perpPair('A/USD-PERP', perp, terms), perpPair('B/USD-PERP', perp, terms), pairSpec('S/USD', terms)]
    const assets: [string, number, string][] = [['USD', scale, '1000000'], ['A', 0, '1'], ['B', 0, '1'], ['S', 0, '1']]
    this.bench = createBench(genesisText({ limits: { priceTicks: 32_768, ...limits }, dailyLimit: 5, assets, pairs }))
    for (const pair of [0, 1]) this.mark(100, pair)
  }

  get state(): State {
    return this.bench.state
  }

  /** "ann 1000": signs her in and puts that into her margin account, as if it had been issued to her and deposited. */
  give(line: string): void {
    const [who, amount] = line.split(' ') as [string, string]
    const { account } = this.signIn(who)
    const atoms = parseDecimal(amount, this.scale)!
    keepAccount(this.state, account)
    const margin = makeParent(this.state, account)
    const total = totalRow(this.state, this.state.collateralAsset)
    setI64(this.state, margin, MARGIN_ACCOUNT.DEPOSITED, getI64(this.state, margin, MARGIN_ACCOUNT.DEPOSITED) + atoms)
    setI64(this.state, total, TOTAL.ISSUED, getI64(this.state, total, TOTAL.ISSUED) + atoms)
  }

  /** Applies one command and checks every invariant. The RESULT. */
  send(type: CommandType, values: Decoded, lane = 1): Decoded {
    const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, 1, lane) })
    const count = this.bench.run(command, 0, this.time)
    const { said } = this.bench
    this.said = Array.from({ length: count }, (_, record) => decodeEvent(said, record * RECORD_WORDS))
    for (const event of this.said) if (eventTypeOf(Number(event['kind'])) === EventType.ORDER_ENDED) this.ended.push(this.endText(event))
    if (this.checks) checkInvariants(this.state)
    return this.said.at(-1)!
  }

  private endText({ account, flags, remaining, price, outcome }: Decoded): string {
    const who = [...this.sessions].find(([, session]) => session.account === account)![0]
    const verb = (Number(flags) & Flag.SELL) !== 0 ? 'sells' : 'buys'
    return `${who} ${verb} ${remaining} at ${price} ${REASON_NAMES[Number(outcome) >>> 8]!}`
  }

  private signIn(who: string): { session: number; sessionGeneration: number; account: number } {
    const known = this.sessions.get(who)
    if (known !== undefined) return known
    const { type, values } = opening(who, [], () => ({ account: 0, createdSequence: 0 }))
    const { detail, detail2, account } = this.send(type, values)
    const session = { session: Number(detail), sessionGeneration: Number(detail2), account: Number(account) }
    this.sessions.set(who, session)
    return session
  }

  /** The account of somebody, who signs in first. */
  accountOf(who: string): number {
    return this.signIn(who).account
  }

  private signed(who: string): Decoded {
    const { session, sessionGeneration } = this.signIn(who)
    return { session, sessionGeneration }
  }

  mark(price: number, pair = 0): void {
    this.send(CommandType.SET_INDEX_PRICE, { pair, price, source: 0, force: 1, observedAt: this.time }, 0)
    this.send(CommandType.SET_PERP, { pair, setting: PerpSetting.FORCED_MARK, value: price, number: FAR }, 0)
  }

  /** Does one step and says how it ended. */
  step(text: string): string {
    const [, name, line] = /^(?:(\w+): )?(.*)$/.exec(text)!
    const words = line!.split(' ')
    const [who, verb] = words as [string, string]
    if (who === 'wait') {
      this.time += Number(verb) * 1000
      return 'waited'
    }
    if (who === 'mark') {
      this.mark(Number(verb), this.pairOf(words))
      return 'done'
    }
    const result = this.command(who, verb, words)
    if (name !== undefined && result['code'] === 0) this.keep(name, result)
    return outcomeText(result, this.scale)
  }

  private command(who: string, verb: string, words: string[]): Decoded {
    if (who === 'mode') {
      const value = PERP_MODE_NAMES.indexOf(verb as (typeof PERP_MODE_NAMES)[number])
      return this.send(CommandType.SET_PERP, { pair: 0, setting: PerpSetting.MODE, value, price: 100 }, 0)
    }
    if (who === 'cap') return this.send(CommandType.SET_PERP, { pair: 0, setting: PerpSetting.OPEN_CAP, number: Number(verb) }, 0)
    if (who === 'maintenance') return this.send(CommandType.SET_MAINTENANCE, { on: verb === 'on' ? 1 : 0 }, 0)
    if (verb === 'expires') return this.send(CommandType.EXPIRE_ORDER, this.target(words[2]!), 0)
    if (who === 'liquidation') return this.enter(words)
    if (verb === 'cancels' && words[2] === 'all') return this.send(CommandType.CANCEL_ALL, { ...this.signed(who), pair: -1, limit: 100 })
    if (verb === 'cancels') return this.send(CommandType.CANCEL_ORDER, { ...this.signed(who), ...this.target(words[2]!) })
    if (verb === 'replaces') return this.replace(who, words)
    if (verb === 'grants') return this.grant(who, words)
    return this.send(CommandType.PLACE_ORDER, { ...this.signed(who), ...this.terms(who, verb, words) })
  }

  private grant(who: string, words: string[]): Decoded {
    const step = agentStep(who, words.slice(1), this.time, this.agents)!
    return this.send(step.type, { ...this.signed(who), ...step.values })
  }

  /** "liquidation of ann sells 1 at 100 ...". */
  private enter(words: string[]): Decoded {
    const whom = words[2]!
    const { account } = this.signIn(whom)
    const createdSequence = getF64(this.state, accountRow(this.state, account), ACCOUNT.CREATED_SEQUENCE)
    const terms = this.terms(whom, words[3]!, words.slice(2))
    return this.send(CommandType.ENTER_ORDER, { ...terms, account, createdSequence, origin: Origin.LIQUIDATION }, 0)
  }

  /** Where an order stands by then is told by its MARGIN_ORDER. */
  private keep(name: string, { slot, orderSequence }: Decoded): void {
    const place = this.said.find(({ kind }) => eventTypeOf(Number(kind)) === EventType.MARGIN_ORDER) ?? {}
    this.orders.set(name, {
      targetSlot: Number(slot), targetSequence: Number(orderSequence), bucket: Number(place['bucket'] ?? -1),
      bucketSequence: Number(place['bucketSequence'] ?? 0),
    })
  }

  private target(name: string): Decoded {
    const { targetSlot, targetSequence } = this.orders.get(name) ?? { targetSlot: 0, targetSequence: 1e9 }
    return { targetSlot, targetSequence }
  }

  private pairOf(words: readonly string[]): number {
    const at = words.indexOf('on')
    return at < 0 ? 0 : PAIRS.indexOf(words[at + 1]!)
  }

  /** Fields of an order: "ann buys 2 at 100 x10 ...". */
  private terms(who: string, verb: string, words: string[]): Decoded {
    const given = (name: string): string | undefined => words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
    const has = (flag: number, word: string): number => (words.includes(word) ? flag : 0)
    const pair = this.pairOf(words)
    const market = words.includes('market')
    let flags = (verb === 'sells' ? Flag.SELL : 0) | (market ? Flag.MARKET : 0) | (words.includes('spot') ? 0 : Flag.MARGIN) |
      has(Flag.IOC, 'ioc') | has(Flag.FOK, 'fok') | has(Flag.POST_ONLY, 'post-only') | has(Flag.CANCEL_BOTH, 'cancel-both') |
      has(Flag.CROSS, 'cross') | has(Flag.REDUCE_ONLY, 'reduce-only') | has(Flag.MASTER_FUNDED, 'funded')
    const values: Decoded = {
      pair, lots: Number(words[2]), price: market ? 0 : Number(words[words.indexOf('at') + 1]),
      leverage: Math.round(Number(words.find((word) => /^x[\d.]+$/.test(word))?.slice(1) ?? 0) * 100),
      collateral: parseDecimal(given('collateral') ?? '0', this.scale)!,
    }
    const [slippage, key, place, expires] = [given('slippage'), given('key'), given('in'), given('expires')]
    if (slippage !== undefined) [flags, values['slippageBps']] = [flags | Flag.SLIPPAGE, Number(slippage)]
    if (expires !== undefined) [flags, values['expiresAt']] = [flags | Flag.EXPIRES, this.time + Number(expires) * 1000]
    if (key !== undefined) values['keyLow'] = Number.parseInt(hex(key, 4), 16) | 0
    if (place !== undefined) {
      const { bucket, bucketSequence } = this.orders.get(place)!
      Object.assign(values, { bucket: bucket + 1, namedSequence: bucketSequence })
    }
    if (verb === 'closes') flags |= this.closing(given('of') ?? who, pair, values)
    return { ...values, flags: flags >>> 0 }
  }

  /** Names the position that `whom` has in a pair; its side decides that of the order. */
  private closing(whom: string, pair: number, values: Decoded): number {
    const [row = -1] = this.positionRows(whom, pair)
    if (row >= 0) {
      Object.assign(values, { position: positionAt(this.state, row) + 1, namedSequence: getF64(this.state, row, POSITION.OPENED_SEQUENCE) })
    }
    const sells = row >= 0 && get(this.state, row, POSITION.LOTS) > 0
    return Flag.REDUCE_ONLY | Flag.CLOSE | (sells ? Flag.SELL : 0)
  }

  private replace(who: string, words: string[]): Decoded {
    const values: Decoded = { ...this.signed(who), ...this.target(words[2]!) }
    let options = 0
    for (const word of words) {
      const [name, value] = word.split('=')
      if (name === 'price') [options, values['price']] = [options | Option.NEW_PRICE, Number(value)]
      if (name === 'quantity') [options, values['lots']] = [options | Option.NEW_LOTS, Number(value)]
    }
    const flags = words.includes('post-only') ? Flag.POST_ONLY : 0
    if (flags !== 0) options |= Option.NEW_POST_ONLY
    return this.send(CommandType.REPLACE_ORDER, { ...values, options, flags })
  }

  /** Addresses of the buckets of somebody, the oldest first. */
  buckets(who: string): number[] {
    const parent = get(this.state, accountRow(this.state, this.signIn(who).account), ACCOUNT.PARENT_MARGIN)
    const rows: number[] = []
    let next = parent === 0 ? 0 : get(this.state, marginAccountRow(this.state, parent - 1), MARGIN_ACCOUNT.FIRST_BUCKET)
    while (next !== 0) {
      rows.unshift(bucketRow(this.state, next - 1))
      next = get(this.state, rows[0]!, RISK_BUCKET.NEXT)
    }
    return rows
  }

  positionRows(who: string, pair = -1): number[] {
    return this.buckets(who).flatMap((bucket) => {
      const rows: number[] = []
      let next = get(this.state, bucket, RISK_BUCKET.FIRST_POSITION)
      while (next !== 0) {
        rows.unshift(positionRow(this.state, next - 1))
        next = get(this.state, rows[0]!, POSITION.NEXT)
      }
      return rows.filter((row) => pair < 0 || get(this.state, row, POSITION.PAIR) === pair)
    })
  }

  positions(who: string): string {
    const parts = this.positionRows(who).filter((row) => get(this.state, row, POSITION.LOTS) !== 0).map((row) => {
      const lots = get(this.state, row, POSITION.LOTS)
      const entry = Number(getI64(this.state, row, POSITION.COST)) / lots / 1e6
      const pair = get(this.state, row, POSITION.PAIR) === 0 ? '' : ' on B'
      return `${lots > 0 ? 'long' : 'short'} ${Math.abs(lots)} at ${entry} x${get(this.state, row, POSITION.LEVERAGE) / 100}${pair}`
    })
    return `${who} ${parts.length === 0 ? 'none' : parts.join(', ')}`
  }

  resting(who: string): string {
    const parts = this.positionRows(who).map((row) => {
      const [bids, asks] = [getF64(this.state, row, POSITION.BID_LOTS), getF64(this.state, row, POSITION.ASK_LOTS)]
      return `bids ${bids}, asks ${asks}, reduces ${get(this.state, row, POSITION.REDUCE_LOTS)}`
    })
    return `${who} ${parts.length === 0 ? 'none' : parts.join('; ')}`
  }

  private usd(atoms: bigint): string {
    return formatDecimal(atoms, this.scale)
  }

  money(who: string): string {
    const owner = accountRow(this.state, this.signIn(who).account)
    const margin = marginAccountRow(this.state, get(this.state, owner, ACCOUNT.PARENT_MARGIN) - 1)
    const free = getI64(this.state, margin, MARGIN_ACCOUNT.DEPOSITED) - getI64(this.state, margin, MARGIN_ACCOUNT.EARMARKED)
    const parts = this.buckets(who).map((row) => {
      const figure = (name: string, field: (typeof RISK_BUCKET)['ALLOCATED' | 'PENDING' | 'REALIZED']): string =>
        `${name} ${this.usd(getI64(this.state, row, field))}`
      const { ALLOCATED, PENDING, REALIZED } = RISK_BUCKET
      return `${figure('allocated', ALLOCATED)}, ${figure('pending', PENDING)}, ${figure('realized', REALIZED)}`
    })
    return `${who} free ${this.usd(free)}${parts.length === 0 ? '' : `: ${parts.join('; ')}`}`
  }

  /** Lots and price of each resting order of somebody, as their positions have them: newest first. */
  orderLines(who: string): string[] {
    return this.positionRows(who).flatMap((row) => {
      const lines: string[] = []
      let link = get(this.state, row, POSITION.ORDERS_HEAD)
      for (; link !== 0; link = get(this.state, orderMarginRow(this.state, link - 1), ORDER_MARGIN.NEXT)) {
        const order = orderRow(this.state, link - 1)
        const flags = get(this.state, order, ORDER.FLAGS)
        const verb = (flags & Flag.SELL) !== 0 ? 'sells' : 'buys'
        const reduces = (flags & Flag.REDUCE_ONLY) !== 0 ? ' reduce-only' : ''
        lines.push(`${verb} ${get(this.state, order, ORDER.REMAINING)} at ${get(this.state, order, ORDER.PRICE)}${reduces}`)
      }
      return lines
    })
  }
}

const SHORT: readonly number[] = [REFUSALS.INSUFFICIENT_MARGIN.number, REFUSALS.INSUFFICIENT_COLLATERAL.number]

function outcomeText({ kind, code, outcome, lots, remaining, detail, hold, filledQuote }: Decoded, scale: number): string {
  const usd = (atoms: unknown): string => formatDecimal(atoms as bigint, scale)
  const type = (Number(kind) >>> 8) & 0xff
  if (code !== 0) {
    const grant = Object.entries(AgentGrant).find(([, number]) => number === detail)
    if (code === REFUSALS.AGENT_NOT_ALLOWED.number && grant !== undefined) return `refused AGENT_NOT_ALLOWED ${grant[0]}`
    const short = type !== CommandType.ENTER_ORDER && SHORT.includes(Number(code))
    return `refused ${refusalByNumber(Number(code)).code}${short ? ` ${usd(hold)} of ${usd(filledQuote)}` : ''}`
  }
  if (type === CommandType.CANCEL_ALL) return `${detail} cancelled`
  if (outcome === 0) return 'done'
  const reason = REASON_NAMES[Number(outcome) >>> 8]!
  const filled = Number(lots) - Number(remaining)
  const partly = filled > 0 && remaining !== 0 ? `, filled ${filled}` : ''
  return `${STATUS_NAMES[Number(outcome) & 0xff]}${reason === '' ? '' : ` ${reason}`}${partly}`
}

/** Plays a scenario as a subtest. */
export function play(t: Test, name: string, scenario: MarginScenario): void {
  void t.test(name, async (t) => {
    const scene = new MarginScene(scenario)
    for (const line of scenario.given) scene.give(line)
    for (const [step, outcome] of scenario.when) t.equal(scene.step(step), outcome, step)
    for (const line of scenario.positions ?? []) t.equal(scene.positions(line.split(' ')[0]!), line, 'positions')
    for (const line of scenario.resting ?? []) t.equal(scene.resting(line.split(' ')[0]!), line, 'resting')
    for (const line of scenario.money ?? []) t.equal(scene.money(line.split(' ')[0]!), line, 'money')
    for (const line of scenario.orders ?? []) {
      const who = line.split(':')[0]!
      t.equal(`${who}: ${scene.orderLines(who).join(', ') || 'none'}`, line, 'orders')
    }
    if (scenario.ended !== undefined) t.same(scene.ended, scenario.ended, 'ended')
  })
}
