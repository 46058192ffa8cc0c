/**
 * An exchange whose commands are counted: a step is one word of the state that is read, so a loop that somebody adds is counted whether it
 * says so or not.
 */
import { BUILDER_COMMANDS } from './naive_builder.ts'
import { REFERRAL_COMMANDS } from './naive_referrals.ts'
import { COMMAND_LAYOUTS, COMMAND_SLOTS, commandName, CommandType, kindOf } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import type { State } from '../../core/state/state.ts'
import { inWords } from './command_words.ts'
import { benchOf, createBench, type Bench } from './naive_compare.ts'
import { POLICY_COMMANDS } from './naive_policy.ts'
import { VAULT_COMMANDS } from './naive_vault.ts'

/** How many elements a method of a typed array goes along. */
function along(words: ArrayLike<unknown>, method: string, [first, second, third]: readonly unknown[]): number {
  const span = (from: unknown, to: unknown): number => Number(to ?? words.length) - Number(from ?? 0)
  if (method === 'subarray') return 0
  if (method === 'set') return (first as ArrayLike<unknown>).length
  if (method === 'slice') return span(first, second)
  return method === 'fill' || method === 'copyWithin' ? span(second, third) : words.length
}

/** Counting views, and the words behind each: Atomics takes none but the real ones. */
const behind = new WeakMap<object, Words>()
type Words = Int32Array | Float64Array | BigInt64Array
for (const name of ['load', 'store', 'add'] as const) {
  const real = Atomics[name] as (words: unknown, ...values: unknown[]) => unknown
  Reflect.set(Atomics, name, (words: object, ...values: unknown[]) => real(behind.get(words) ?? words, ...values))
}

/** An exchange beside itself: one that builds quickly, and one whose reads are counted. */
export class CountedStage {
  readonly state: State
  private readonly quick: Bench
  private readonly counted: Bench
  private readonly seen: (view: string, word: number) => void
  steps = 0
  time = 1_700_000_000_000
  readonly most = new Map<number, number>()

  /** Of a genesis, or of an exchange that was built already. `seen`: called with each word that is read, by the name of its view. */
  constructor(of: string | Bench, seen: (view: string, word: number) => void = () => undefined) {
    this.seen = seen
    this.quick = typeof of === 'string' ? createBench(of) : of
    this.state = this.quick.state
    this.counted = benchOf(this.countedState())
  }

  /** The same state, with every read of its memory counted. */
  private countedState(): State {
    const counting = (view: string, words: Words): object => new Proxy(words, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target) as unknown
        if (typeof value !== 'function') {
          if (typeof name === 'string' && name.charCodeAt(0) <= 57) {
            this.steps++
            this.seen(view, Number(name))
          }
          return value
        }
        return (...values: unknown[]): unknown => {
          this.steps += along(target, String(name), values)
          return (value as (...values: unknown[]) => unknown).apply(target, values)
        }
      },
      set: (target, name, value) => Reflect.set(target, name, value, target),
    })
    const isWords = (value: unknown): value is Words =>
      value instanceof Int32Array || value instanceof Float64Array || value instanceof BigInt64Array
    const views: Record<string, unknown> = { ...this.state }
    for (const [name, value] of Object.entries(this.state)) {
      if (!isWords(value)) continue
      const view = counting(name, value)
      behind.set(view, value)
      views[name] = view
    }
    return views as unknown as State
  }

  private run(bench: Bench, type: CommandType, values: Decoded, lane: number): Decoded {
    const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
    // Flags of orders of perpetuals stand where options are drawn: they are given as they are.
    const words = values['leverage'] === undefined ? inWords(type, values) : values
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...words, kind: kindOf(type, 1, lane) })
    const count = bench.run(command, 0, this.time)
    return decode(RESULT, bench.said, (count - 1) * RECORD_WORDS)
  }

  /** Builds: quickly, and it must succeed. */
  make(type: CommandType, values: Decoded, lane = 1): Decoded {
    const said = this.run(this.quick, type, values, lane)
    if (said['code'] !== 0) throw new Error(`${commandName(type)} was refused: ${String(said['code'])}`)
    return said
  }

  /** One command, counted. Of the operator's lane when it is the operator's; `code`: what it must be answered. */
  count(type: CommandType, values: Decoded, code = 0): Decoded {
    this.steps = 0
    const said = this.run(this.counted, type, values, OPERATORS.has(type) ? 0 : 1)
    if (said['code'] !== code) throw new Error(`${commandName(type)} was answered ${String(said['code'])}, not ${code}`)
    this.most.set(type, Math.max(this.most.get(type) ?? 0, this.steps))
    return said
  }
}

/** Commands of lane 0. */
const OPERATORS: ReadonlySet<number> = new Set([
  ...POLICY_COMMANDS, CommandType.EXPIRE_ORDER, CommandType.CONTINUE_CANCEL, CommandType.ACCEPT_LOSS,
  CommandType.SET_APPLICATION, CommandType.SET_ORIGIN, CommandType.SET_SERVER_KEY, CommandType.LIST_ASSET,
  CommandType.LIST_PAIR, CommandType.SET_PAIR_TERMS, CommandType.RAISE_LIMIT, CommandType.LIMITS_IN_FORCE,
  CommandType.SET_INDEX_PRICE, CommandType.SET_PERP, CommandType.FUND_INSURANCE, CommandType.FUNDING_STEP, CommandType.LIQUIDATION_STEP,
  CommandType.SETTLEMENT_STEP, CommandType.TRIGGER_STEP, CommandType.TWAP_STEP, CommandType.EXPIRE_CONDITIONAL,
  CommandType.SET_LAUNCH, CommandType.COPY_STEP, CommandType.SET_COPY_PROGRAM, ...BUILDER_COMMANDS, ...REFERRAL_COMMANDS, ...VAULT_COMMANDS,
])
