/**
 * Scenarios of margin accounts and collateral that a user can read, as scenario.ts has them for orders. Runs the engine itself on
 * {@link PERPS} and checks every invariant after every step; marks are 50,000 and 3,000 USDC.
 *
 *   given   'ann 1000'                            USDC in her wallet, as if issued to her
 *   steps   WHO deposits QTY [into=SUB] [key=K] | WHO withdraws QTY [from=SUB] [key=K]
 *           WHO opens NAME [label=TEXT] | WHO closes NAME                    a margin sub-account
 *           WHO gives NAME QTY | WHO takes QTY from NAME                     parent to sub-account and back
 *           WHO keys NAME [cross|BTC|ETH] [in=SUB] [as=KEY]                  a bucket for the strategy key KEY, NAME if it is left out
 *           WHO adds QTY to BUCKET [in=SUB] | WHO removes QTY from BUCKET    free collateral to a bucket and back
 *           BUCKET trades LOTS at TICKS with BUCKET [on=ETH]                 lots change hands, no fees; the first one buys
 *           mark TICKS [ETH] | stale | fresh | wait MS | state BUCKET NAME | maintenance on|off
 *   outcome 'done', 'repeated', 'new' or 'known' of keys, 'refused CODE [REQUIRED of AVAILABLE]'
 *   money   'ann 900: 100 deposited, 40 earmarked'; a sub-account by its name
 *   buckets 'scalps ACTIVE 40 + 0'                ALLOCATED + REALIZED
 */
import type { Test } from 'tap'
import { createHash } from 'node:crypto'
import { CommandType, COMMAND_LAYOUTS, COMMAND_SLOTS, kindOf, Option } from '../../core/layout/command.ts'
import { CollateralMove } from '../../core/layout/margin.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { Flag } from '../../core/layout/flags.ts'
import { EventType, eventTypeOf } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { formatDecimal, parseDecimal } from '../../core/lib/decimal.ts'
import { armBucket } from '../../core/margin/guards.ts'
import { changeLots, findPosition, giveUpPosition, makePosition } from '../../core/margin/positions.ts'
import { keepAccount } from '../../core/state/blank_list.ts'
import { BALANCE, CLOCK, SCALAR, TOTAL } from '../../core/state/columns.ts'
import { touchAccount } from '../../core/state/balances.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { BUCKET_STATE_NAMES, MARGIN_ACCOUNT, PERP, POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import {
  balanceRow, bucketAt, bucketRow, get, getI64, marginAccountRow, perpRow, set, setF64, setI64, setScalar, totalRow,
} from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { parentOf } from '../../core/margin/buckets.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { createBench, type Bench } from './naive_compare.ts'
import { decodeEvent } from './naive_events.ts'
import { granting, opening } from './scenario_agents.ts'
import { genesisText, PERPS } from './variants.ts'

const SCALE = 6
const PAIRS = ['BTC', 'ETH']
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')
const usdc = (atoms: bigint): string => formatDecimal(atoms, SCALE)
const atomsOf = (text: string): bigint => parseDecimal(text, SCALE)!

interface Named { owner: string; row: number; sequence: number; account: number }

export class MarginAccountScene {
  readonly bench: Bench
  time = 1_767_225_605_000
  /** The events of the last step, RESULT last. */
  said: Decoded[] = []
  readonly sessions = new Map<string, { session: number; sessionGeneration: number; account: number }>()
  readonly subs = new Map<string, Named>()
  readonly buckets = new Map<string, Named>()

  constructor(limits: Record<string, number> = {}) {
    this.bench = createBench(genesisText({ ...PERPS, limits: { ...PERPS.limits, ...limits } }))
    for (const [pair, mark] of [50_000, 30_000].entries()) this.mark(pair, mark)
  }

  get state(): State {
    return this.bench.state
  }

  give(line: string): void {
    const [who, quantity] = line.split(' ') as [string, string]
    const { account } = this.signIn(who)
    const [balance, total] = [balanceRow(this.state, account, 0), totalRow(this.state, 0)]
    keepAccount(this.state, account)
    touchAccount(this.state, account)
    setI64(this.state, balance, BALANCE.AVAILABLE, getI64(this.state, balance, BALANCE.AVAILABLE) + atomsOf(quantity))
    setI64(this.state, total, TOTAL.ISSUED, getI64(this.state, total, TOTAL.ISSUED) + atomsOf(quantity))
  }

  mark(pair: number, mark: number): void {
    const perp = perpRow(this.state, pair)
    set(this.state, perp, PERP.INDEX, mark)
    set(this.state, perp, PERP.MARK, mark)
    setF64(this.state, perp, PERP.INDEX_AT, this.time)
  }

  send(type: CommandType, values: Decoded, lane = 1): Decoded {
    const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, 1, lane) })
    const count = this.bench.run(command, 0, this.time)
    this.said = Array.from({ length: count }, (_, record) => decodeEvent(this.bench.said, record * RECORD_WORDS))
    checkInvariants(this.state)
    return this.said.at(-1)!
  }

  signIn(who: string): { session: number; sessionGeneration: number; account: number } {
    const known = this.sessions.get(who)
    if (known !== undefined) return known
    const { type, values } = opening(who, [], () => ({ account: 0, createdSequence: 0 }))
    const { detail, detail2, account } = this.send(type, values)
    const session = { session: Number(detail), sessionGeneration: Number(detail2), account: Number(account) }
    this.sessions.set(who, session)
    return session
  }

  signed(who: string): Decoded {
    const { session, sessionGeneration } = this.signIn(who)
    return { session, sessionGeneration }
  }

  /** What a delegated agent of somebody signs with. */
  agentOf(who: string): Decoded {
    const { type, values } = granting(['bot', 'create'], this.time)
    this.send(type, { ...this.signed(who), ...values })
    return this.signed(`bot@${who}`)
  }

  /** Everything that is stored, without sequence and time, which every command changes. */
  digest(): string {
    const { clock } = this.state
    const [sequence, time] = [clock[CLOCK.SEQUENCE]!, clock[CLOCK.TIME]!]
    clock[CLOCK.SEQUENCE] = 0
    clock[CLOCK.TIME] = 0
    const digest = stateDigest(this.state)
    clock[CLOCK.SEQUENCE] = sequence
    clock[CLOCK.TIME] = time
    return digest
  }

  step(text: string): string {
    const words = text.split(' ')
    const [who, verb, ...rest] = words as [string, string, ...string[]]
    if (who === 'mark') this.mark(PAIRS.indexOf(rest[0] ?? 'BTC'), Number(verb))
    else if (who === 'stale') this.time += 30_001
    else if (who === 'wait') this.time += Number(verb)
    else if (who === 'fresh') for (const pair of [0, 1]) this.mark(pair, get(this.state, perpRow(this.state, pair), PERP.MARK))
    else if (who === 'state') return this.setState(verb, rest[0]!)
    else if (who === 'maintenance') return outcomeOf(this.send(CommandType.SET_MAINTENANCE, { on: verb === 'on' ? 1 : 0 }, 0))
    else if (verb === 'trades') this.trade(who, rest)
    else return this.asked(who, verb, rest)
    checkInvariants(this.state)
    return 'done'
  }

  private asked(who: string, verb: string, words: string[]): string {
    if (verb === 'opens') return this.open(who, words)
    if (verb === 'keys') return this.key(who, words)
    if (verb === 'closes') {
      const { row, sequence } = this.sub(words[0]!)
      return outcomeOf(this.send(CommandType.CLOSE_MARGIN_ACCOUNT, { ...this.signed(who), marginAccount: row, createdSequence: sequence }))
    }
    return outcomeOf(this.send(CommandType.MOVE_COLLATERAL, { ...this.signed(who), ...this.move(verb, words) }))
  }

  private open(who: string, words: string[]): string {
    const [name] = words as [string]
    const label = hex(given(words, 'label') ?? '', 32)
    const result = this.send(CommandType.OPEN_MARGIN_ACCOUNT, { ...this.signed(who), label })
    this.keep(this.subs, name, who, result)
    return outcomeOf(result)
  }

  private key(who: string, words: string[]): string {
    const [name, kind = 'BTC'] = words as [string, string]
    const text = given(words, 'as') ?? name
    const digest = createHash('sha256').update(text).digest()
    const sub = given(words, 'in')
    const { row, sequence } = sub === undefined ? { row: -1, sequence: 0 } : this.sub(sub)
    const result = this.send(CommandType.OPEN_RISK_BUCKET, {
      ...this.signed(who), marginAccount: row, createdSequence: sequence, pair: kind === 'cross' ? -1 : PAIRS.indexOf(kind),
      keyLow: digest.readInt32LE(0), keyHigh: digest.readInt32LE(4), strategyKey: hex(text, 48),
    })
    this.keep(this.buckets, name, who, result)
    if (result['code'] !== 0) return outcomeOf(result)
    return result['detail2'] === 1 ? 'new' : 'known'
  }

  private keep(names: Map<string, Named>, name: string, owner: string, { code, detail, originalSequence, account }: Decoded): void {
    if (code !== 0) return
    names.set(name, { owner, row: Number(detail), sequence: Number(originalSequence), account: Number(account) })
  }

  private sub(name: string): Named {
    return this.subs.get(name) ?? { owner: '', row: 7, sequence: 7, account: 0 }
  }

  /** Fields of MOVE_COLLATERAL. */
  private move(verb: string, words: string[]): Decoded {
    const key = given(words, 'key')
    const payload = hex(words.join(' ').slice(0, 16), 16)
    const keyed: Decoded = key === undefined ? {} : { options: Option.KEYED, key: hex(key, 16), payload }
    const named = (name: string | undefined): Decoded => {
      if (name === undefined) return { marginAccount: -1, createdSequence: 0, bucket: -1 }
      const { row, sequence } = this.sub(name)
      return { marginAccount: row, createdSequence: sequence, bucket: -1 }
    }
    const of = (move: number, quantity: string, fields: Decoded): Decoded => ({ move, amount: atomsOf(quantity), ...fields, ...keyed })
    const [first, second, third] = words as [string, string, string]
    if (verb === 'deposits') return of(CollateralMove.DEPOSIT, first, named(given(words, 'into')))
    if (verb === 'withdraws') return of(CollateralMove.WITHDRAW, first, named(given(words, 'from')))
    if (verb === 'gives') return of(CollateralMove.TO_SUB, second, named(first))
    if (verb === 'takes') return of(CollateralMove.FROM_SUB, first, named(third))
    const { row, sequence } = this.buckets.get(third) ?? { row: 5, sequence: 5 }
    const sub = given(words, 'in')
    const fields = { marginAccount: sub === undefined ? -1 : this.sub(sub).row, bucket: row, createdSequence: sequence }
    return of(verb === 'adds' ? CollateralMove.TO_BUCKET : CollateralMove.FROM_BUCKET, first, fields)
  }

  bucket(name: string): number {
    return bucketRow(this.state, this.buckets.get(name)!.row)
  }

  /** "trades LOTS at TICKS with OTHER": the one that is named first buys. */
  private trade(buyer: string, words: string[]): void {
    const pair = PAIRS.indexOf(given(words, 'on') ?? 'BTC')
    for (const [name, sign] of [[buyer, 1], [words[4]!, -1]] as const) {
      const bucket = this.bucket(name)
      const known = findPosition(this.state, bucket, pair)
      const row = known < 0 ? makePosition(this.state, bucket, pair) : known
      set(this.state, row, POSITION.LEVERAGE, 1000)
      changeLots(this.state, row, sign * Number(words[0]), Number(words[2]), 0)
      giveUpPosition(this.state, row)
      armBucket(this.state, bucket)
    }
    this.state.outbox.count = 0
  }

  private setState(name: string, to: string): string {
    const bucket = this.bucket(name)
    set(this.state, bucket, RISK_BUCKET.STATE, BUCKET_STATE_NAMES.indexOf(to as (typeof BUCKET_STATE_NAMES)[number]))
    // Alone in the list of liquidations, or not in it.
    const link = to === 'ACTIVE' ? 0 : bucketAt(this.state, bucket) + 1
    for (const end of [SCALAR.LIQUIDATIONS_OLDEST, SCALAR.LIQUIDATIONS_NEWEST]) setScalar(this.state, end, link)
    setScalar(this.state, SCALAR.LIQUIDATIONS, link === 0 ? 0 : 1)
    armBucket(this.state, bucket)
    return 'done'
  }

  money(name: string): string {
    const sub = this.subs.get(name)
    const margin = sub === undefined ? parentOf(this.state, this.signIn(name).account) : marginAccountRow(this.state, sub.row)
    const balance = balanceRow(this.state, this.signIn(sub?.owner ?? name).account, 0)
    const wallet = sub === undefined ? `${usdc(getI64(this.state, balance, BALANCE.AVAILABLE))}: ` : ''
    if (margin < 0) return `${name} ${wallet}none`
    const { DEPOSITED, EARMARKED } = MARGIN_ACCOUNT
    const [deposited, earmarked] = [DEPOSITED, EARMARKED].map((field) => usdc(getI64(this.state, margin, field)))
    return `${name} ${wallet}${deposited} deposited, ${earmarked} earmarked`
  }

  bucketLine(name: string): string {
    const row = this.bucket(name)
    const { ALLOCATED, REALIZED } = RISK_BUCKET
    const [allocated, realized] = [ALLOCATED, REALIZED].map((field) => usdc(getI64(this.state, row, field)))
    return `${name} ${BUCKET_STATE_NAMES[get(this.state, row, RISK_BUCKET.STATE)]} ${allocated} + ${realized}`
  }

  /** Types of the events of the last step. */
  get kinds(): string[] {
    const names = new Map<number, string>(Object.entries(EventType).map(([name, type]) => [type, name]))
    return this.said.map(({ kind }) => names.get(eventTypeOf(Number(kind)))!)
  }
}

const given = (words: readonly string[], name: string): string | undefined =>
  words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)

function outcomeOf({ code, flags, hold, filledQuote, detail }: Decoded): string {
  if (code === 0) return (Number(flags) & Flag.REPEATED) !== 0 ? 'repeated' : 'done'
  const { code: name } = refusalByNumber(Number(code))
  const isShort = ['INSUFFICIENT_BALANCE', 'INSUFFICIENT_COLLATERAL'].includes(name)
  const short = isShort ? ` ${usdc(hold as bigint)} of ${usdc(filledQuote as bigint)}` : ''
  return `refused ${name}${short}${name === 'AGENT_NOT_ALLOWED' ? ` ${detail}` : ''}`
}

export interface MarginAccountScenario {
  given: string[]
  when: [step: string, outcome: string][]
  limits?: Record<string, number>
  money?: string[]
  buckets?: string[]
}

/** Plays a scenario as a subtest. A refusal must leave everything stored as it was. */
export function playAccounts(t: Test, name: string, scenario: MarginAccountScenario): void {
  const { given: have, when, limits = {}, money = [], buckets = [] } = scenario
  void t.test(name, async (t) => {
    const scene = new MarginAccountScene(limits)
    for (const line of have) scene.give(line)
    for (const [step, outcome] of when) {
      const refused = outcome.startsWith('refused')
      if (refused) scene.signIn(step.split(' ')[0]!)
      const before = refused ? scene.digest() : ''
      t.equal(scene.step(step), outcome, step)
      if (before !== '') t.equal(scene.digest(), before, `${step}: nothing moved`)
    }
    for (const line of money) t.equal(scene.money(line.split(' ')[0]!), line, 'money')
    for (const line of buckets) t.equal(scene.bucketLine(line.split(' ')[0]!), line, 'buckets')
  })
}
