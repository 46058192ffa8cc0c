/**
 * The duel: one stream of commands through the engine and through the naive exchange, event bytes compared after every command,
 * balances compared and invariants checked every so often. A difference ends with everything needed to look at it.
 */
import { apply, setTime } from '../../core/engine/apply.ts'
import { REFERRAL } from '../../core/state/referral_rows.ts'
import { balanceRow, get, getI64, referralRow, totalRow } from '../../core/state/rows.ts'
import {
  BALANCE, PROFILE, PROFILE_WORDS, SCALAR, SPEND_LIMIT, SPEND_LIMIT_WORDS, TOTAL,
} from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { createOutbox } from '../../core/state/outbox.ts'
import { createState, type State } from '../../core/state/state.ts'
import { commandName, CommandType, COMMAND_SLOTS, Flag, ORDER_COMMAND, typeOfKind } from '../../core/layout/command.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../../core/layout/table.ts'
import { copySpendLimit } from '../../core/view/families.ts'
import { createTimers, writeDue } from '../../core/sequencer/timers.ts'
import { NaiveExchange, type Rules } from './naive.ts'
import { onHold, spentToday } from './naive_families.ts'
import { dueOrders } from './naive_orders.ts'
import { dueDeadlines, sweepsOfTime } from './naive_sweeps.ts'
import { dueConditionals } from './naive_conditional.ts'
import { broughtCounts } from './naive_referrals.ts'
import { isTriggered } from './naive_triggers.ts'
import { dueTwaps } from './naive_twap.ts'
import { compareVault } from './naive_vault_compare.ts'
import { compareWaiting } from './naive_waiting_compare.ts'
import { decodeCommand, decodeEvent, encodeEvents, printEvents, printRecord } from './naive_events.ts'
import { Workload } from './workload.ts'
import type { WorkloadOptions } from './workload_options.ts'
import { genesisText, VARIANTS } from './variants.ts'

export interface DuelOptions {
  variant: string
  seed: number
  commands: number
  /** Checks invariants and balances every so many commands; 1: after every one. */
  checkEvery: number
  rules?: Rules
  workload?: WorkloadOptions
  /** Size of the engine's outbox; a small one overflows in the middle of commands. */
  outboxRecords?: number
  /** Called before every command: the canary's chance to spoil the state. */
  spoil?: (state: State, index: number) => void
  /** Now and then a spot SELL is for all that its account has available. */
  sellsAll?: boolean
}

export interface DuelReport {
  events: number
  /** How often each kind of event and each refusal number came. */
  seen: Map<string, number>
}

/** An engine and everything its last command said, whatever the size of its outbox. */
export interface Bench {
  state: State
  /** Applies the command at word `base` and returns how many records it left in `said`. */
  run(command: Views, base: number, time: number): number
  said: Views
}

const MOST_EVENTS = 32_768

export function createBench(text: string, outboxRecords = 4096): Bench {
  return benchOf(createState(parseGenesis(text), createOutbox(outboxRecords)))
}

export function benchOf(state: State): Bench {
  const { outbox } = state
  const said = viewsOf(new ArrayBuffer(MOST_EVENTS * RECORD_BYTES))
  let count = 0
  const drain = (): void => {
    said.bytes.set(outbox.bytes.subarray(0, outbox.count * RECORD_BYTES), count * RECORD_BYTES)
    count += outbox.count
    outbox.count = 0
  }
  outbox.overflow = drain
  const run = (command: Views, base: number, time: number): number => {
    count = 0
    setTime(state, time)
    apply(state, command, base)
    drain()
    return count
  }
  return { state, run, said }
}

/** The engine and the naive exchange are not of one mind; the message names what differs. */
export class Differs extends Error {
  override name = 'Differs'
}

/** Runs the duel; throws at the first difference or broken invariant, which is the `cause` of the error. */
export function duel(options: DuelOptions): DuelReport {
  const text = genesisText(VARIANTS[options.variant]!)
  const { state, run, said } = createBench(text, options.outboxRecords)
  const naive = new NaiveExchange(state.genesis, options.rules)
  const { families = false, clients, visitors, listing, waiting = false, builder, launches, referrals, vault } = VARIANTS[options.variant]!
  const put = { families, clients, visitors, listing, waiting, builder, launches, referrals, vault, losses: true, ownOrders: true }
  const turns = waiting ? WAITING_TURNS : TURNS
  const workload = new Workload(options.seed, state.genesis, { ...put, ...options.workload })
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  const report: DuelReport = { events: 0, seen: new Map() }
  for (let index = 0; index < options.commands; index++) {
    options.spoil?.(state, index)
    workload.next(command, 0)
    if (options.sellsAll === true && index % ALL_EVERY === 0) sellAll(naive, command)
    const decoded = decodeCommand(command, 0)
    let expected = viewsOf(new ArrayBuffer(0))
    let records = 0
    try {
      records = run(command, 0, workload.time)
      expected = encodeEvents(naive.apply(decoded, workload.time))
      compareEvents(said, records, expected)
      if (index % options.checkEvery === 0 || index === options.commands - 1) {
        checkInvariants(state)
        compareBalances(state, naive)
        compareFamilies(state, naive)
        compareWaiting(state, naive)
        compareVault(state, naive)
      }
    } catch (error) {
      throw new Error(
        `seed ${options.seed} variant ${options.variant}, command ${index} at ${workload.time}: ${(error as Error).message}\n` +
          `${commandName(typeOfKind(command.u32[0]!))} ${printRecord(decoded)}\n` +
          `engine:\n${printEvents(said, records)}\nnaive:\n${printEvents(expected, expected.bytes.length / RECORD_BYTES)}\n` +
          `again: ${rerun(options, index + 1)}`,
        { cause: error },
      )
    }
    count(report, said, records)
    workload.learn(said, records)
    if (index % turns.every === 0) expireSome(turns.most, state, naive, workload, report, run, said)
  }
  return report
}

/** See {@link DuelOptions}: one of so many commands. */
const ALL_EVERY = 5

/** Makes a spot SELL one of all that is available, which may be as small as it is. */
function sellAll(naive: NaiveExchange, command: Views): void {
  const decoded = decodeCommand(command, 0)
  const sells = (Number(decoded['flags']) & (Flag.SELL | Flag.MARGIN)) === Flag.SELL
  if (typeOfKind(command.u32[0]!) !== CommandType.PLACE_ORDER || !sells) return
  const pair = naive.genesis.pairs[Number(decoded['pair'])]
  const account = naive.signer(decoded)
  if (pair === undefined || account < 0) return
  const lots = naive.available(account, pair.base) / pair.lotAtoms
  if (lots > 0n && lots < BigInt(2 ** 31)) command.i32[ORDER_COMMAND.at.lots] = Number(lots)
}

/** Commands between two turns of timers, and most that one writes; the same where TWAP orders wait for their slices. */
const [TURNS, WAITING_TURNS] = [{ every: 61, most: 3 }, { every: 11, most: 24 }]
/** Parts of mass cancels of one turn. */
const SWEEPS_MOST = 4

/** Time acts as the sequencer lets it: what is due must be what the naive exchange would do first. */
function expireSome(
  most: number, state: State, naive: NaiveExchange, workload: Workload, report: DuelReport, run: Bench['run'], said: Views,
): void {
  const batch = viewsOf(new ArrayBuffer(most * RECORD_BYTES))
  const used = writeDue(createTimers(), state, workload.time, batch, 0, most)
  const expected = nextOfTime(naive, workload.time, most)
  if (expected.length !== used) throw new Differs(`${used} commands are due, naive ${expected.length}`)
  for (let index = 0; index < used; index++) {
    const command = decodeCommand(batch, index * RECORD_WORDS)
    const differs = Object.entries(expected[index]!).some(([field, value]) => command[field] !== value)
    if (differs) throw new Differs(`due is ${printRecord(command)}, naive ${printRecord(expected[index]!)}`)
    const records = run(batch, index * RECORD_WORDS, workload.time)
    compareEvents(said, records, encodeEvents(naive.apply(command, workload.time)))
    count(report, said, records)
    workload.learn(said, records)
  }
}

/**
 * The commands that time brings next: first what prices lead to, then whatever its moment has come by those moments, of one moment
 * deadlines, ends of conditional orders, TWAP orders and ends of orders; then parts of mass cancels.
 */
function nextOfTime(naive: NaiveExchange, time: number, most: number): Decoded[] {
  naive.now = time
  const prices = naive.genesis.pairs.map((_, pair) => ({ pair })).filter(({ pair }) => isTriggered(naive, pair)).slice(0, most)
  const waiting = [
    ...dueConditionals(naive, time).sort((a, b) => a.row - b.row)
      .map(({ expiresAt, row: conditional, createdSequence }) => ({ at: expiresAt, fields: { conditional, createdSequence } })),
    ...dueTwaps(naive, time).sort((a, b) => a.row - b.row)
      .map(({ nextAt, row: twap, createdSequence }) => ({ at: nextAt, fields: { twap, createdSequence } })),
  ]
  const orders = dueOrders(naive, time).map(({ expiresAt, slot, sequence }) =>
    ({ at: expiresAt, fields: { targetSlot: slot, targetSequence: sequence } }))
  const deadlines = dueDeadlines(naive, time).map(({ account, at }) => ({ at, fields: { account, fires: 1 } }))
  const timed = [...deadlines, ...waiting, ...orders].sort((a, b) => a.at - b.at).slice(0, most - prices.length)
    .map(({ fields }): Decoded => fields)
  const left = Math.min(SWEEPS_MOST, most - prices.length - timed.length)
  const parts = sweepsOfTime(naive, time, left).map(({ account, began }) => ({ account, began, fires: 0 }))
  return [...prices, ...timed, ...parts]
}

const rerun = ({ seed, variant }: DuelOptions, commands: number): string =>
  `SEED=${seed} VARIANT=${variant} COMMANDS=${commands} node_modules/.bin/node --disable-warning=ExperimentalWarning ` +
  'test/property/engine_equals_naive.test.ts'

/** Throws unless the engine's records are the naive exchange's, byte for byte. */
export function compareEvents(engine: Views, count: number, naive: Views): void {
  const bytes = Buffer.from(engine.bytes.buffer, engine.bytes.byteOffset, count * RECORD_BYTES)
  if (!bytes.equals(naive.bytes)) throw new Differs(`the events differ: ${firstDifference(engine, count, naive)}`)
}

function firstDifference(engine: Views, count: number, naive: Views): string {
  const expected = naive.bytes.length / RECORD_BYTES
  for (let record = 0; record < Math.min(count, expected); record++) {
    const [is, should] = [decodeEvent(engine, record * RECORD_WORDS), decodeEvent(naive, record * RECORD_WORDS)]
    for (const name of Object.keys({ ...is, ...should })) {
      if (String(is[name]) === String(should[name])) continue
      return `record ${record}, ${String(is['event'])}: ${name} ${String(is[name])}, naive ${String(should[name])}`
    }
  }
  return count === expected ? 'bytes outside of the fields' : `${count} records, naive ${expected}`
}

/** Every balance row, every total; throws at the first that differs. */
export function compareBalances(state: State, naive: NaiveExchange): void {
  const same = (what: string, engine: bigint, expected: bigint): void => {
    if (engine !== expected) throw new Differs(`${what}: engine ${engine}, naive ${expected}`)
  }
  naive.accounts.forEach((account, row) => {
    for (const { index, symbol } of state.genesis.assets) {
      const at = balanceRow(state, row, index)
      same(`available ${symbol} of ${row}`, getI64(state, at, BALANCE.AVAILABLE), naive.available(row, index))
      same(`locked ${symbol} of ${row}`, getI64(state, at, BALANCE.LOCKED), naive.locked(row, index))
      same(`version ${symbol} of ${row}`, getI64(state, at, BALANCE.VERSION), account.version[index]!)
      same(`rewards ${symbol} of ${row}`, getI64(state, at, BALANCE.REWARDS), account.rewards[index]!)
    }
  })
  broughtCounts(naive).forEach((counts, row) => counts.forEach((count, level) =>
    same(`brought by ${row}, level ${level + 1}`, BigInt(get(state, referralRow(state, row), REFERRAL.FIRST + level)), BigInt(count))))
  for (const { index, symbol } of state.genesis.assets) {
    same(`fees ${symbol}`, getI64(state, totalRow(state, index), TOTAL.FEES), naive.fees[index]!)
    same(`issued ${symbol}`, getI64(state, totalRow(state, index), TOTAL.ISSUED), naive.issued[index]!)
  }
}

/** Who is whose sub-account, and every limit row. */
function compareFamilies(state: State, naive: NaiveExchange): void {
  const same = (what: string, engine: unknown, expected: unknown): void => {
    if (engine !== expected) throw new Differs(`${what}: engine ${String(engine)}, naive ${String(expected)}`)
  }
  naive.accounts.forEach(({ master, consented }, row) => {
    same(`master of ${row}`, state.profiles[row * PROFILE_WORDS + PROFILE.MASTER]! - 1, master)
    if (master >= 0) same(`consent of ${row}`, state.profiles[row * PROFILE_WORDS + PROFILE.CONSENTED], consented ? 1 : 0)
  })
  same('limit rows', state.scalars[SCALAR.SPEND_LIMITS_USED], naive.spendLimits.length)
  naive.spendLimits.forEach((limit, row) => {
    const view = copySpendLimit(state, row, naive.now)
    same(`sub-account of limit ${row}`, view.sub, limit.sub)
    same(`asset of limit ${row}`, view.asset, limit.asset)
    same(`limit ${row} exists`, (state.spendLimits[row * SPEND_LIMIT_WORDS + SPEND_LIMIT.STATE]! & 1) !== 0, limit.exists)
    same(`limit ${row} is active`, view.isActive, limit.active)
    same(`identity of limit ${row}`, view.createdSequence, limit.createdSequence)
    same(`most of limit ${row}`, view.maxAmount, limit.max)
    same(`daily of limit ${row}`, view.dailyLimit ?? -1n, limit.daily)
    same(`outstanding of limit ${row}`, view.outstanding, onHold(naive, limit.sub, limit.asset))
    same(`spent today under limit ${row}`, view.usedToday, spentToday(naive, limit.sub, limit.asset))
  })
}

function count(report: DuelReport, events: Views, records: number): void {
  report.events += records
  for (let record = 0; record < records; record++) {
    const base = record * 32
    const type = events.u32[base]! & 0xff
    const name = type === 1 ? `RESULT ${commandName((events.u32[base]! >>> 8) & 0xff)} ${events.i32[base + 6]}` : `event ${type}`
    report.seen.set(name, (report.seen.get(name) ?? 0) + 1)
  }
}
