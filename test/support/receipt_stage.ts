/** An engine with two traders whose orders have keys, for tests of receipts; what is raised is in force when the test says so. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import {
  ACCEPT_LOSS_COMMAND, COMMAND_SLOTS, CommandType, Flag, kindOf, MINT_COMMAND, OPEN_SESSION_COMMAND, Option, ORDER_COMMAND,
  SET_RULES_COMMAND,
} from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { LIMITS_IN_FORCE_COMMAND, RAISABLE, RAISE_LIMIT_COMMAND } from '../../core/layout/limits.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { receiptDirectory, writePageFiles, type PageFiles } from '../../core/lib/page_files.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createOutbox } from '../../core/state/outbox.ts'
import type { PageStore } from '../../core/state/page_store.ts'
import { RECEIPT_PAGE_WORDS } from '../../core/state/receipt_room.ts'
import { createState, type State } from '../../core/state/state.ts'
import { benchOf, type Bench } from './naive_compare.ts'
import { genesisText, pairSpec } from './variants.ts'

export const TIME = 1_700_000_000_000
export const DAY = 86_400_000
export const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))

/** A data directory of its own, gone when the test is over. */
export function directory(t: Test): string {
  const path = mkdtempSync(join(import.meta.dirname, '..', '..', 'data', 'var-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Rules 0, so that one may have all there is. */
export const sourceOf = (receiptPages: number, receipts: number, rules = 0): string =>
  genesisText({
    limits: { receipts, receiptPages, orders: 16_384, sessionLifetimeMs: 300 * DAY, openOrdersPerAccount: 16_384 }, rules,
    dailyLimit: 2, pairs: [pairSpec('BTC/USD', { minNotional: '0' })], assets: [['USD', 6, '1000000'], ['BTC', 8, '100']],
  })

export const filesIn = (dataDir: string): PageFiles =>
  writePageFiles(receiptDirectory(dataDir), RECEIPT_PAGE_WORDS, {
    failed: (error) => {
      throw error
    },
  })

/** The key of order number `n`. */
export const keyOf = (n: number): string => n.toString(16).padStart(32, '0')

export class Stage {
  readonly bench: Bench
  readonly state: State
  time = TIME

  constructor(source: string | State, store?: PageStore) {
    const empty = typeof source === 'string'
    this.state = empty ? createState(parseGenesis(source), createOutbox(4096), [7, 11], store) : source
    this.bench = benchOf(this.state)
    if (!empty) return
    for (const name of ['a', 'b']) {
      const wallet = { session: -1, address: name.repeat(40), publicKey: name.repeat(64) }
      this.send(OPEN_SESSION_COMMAND, CommandType.OPEN_SESSION, 1, wallet)
      this.send(MINT_COMMAND, CommandType.MINT, 1, { ...this.signed(name === 'a' ? 0 : 1), asset: -1 })
    }
  }

  /** An engine that has this state, at the same time. */
  static of(state: State, { time }: Stage): Stage {
    return Object.assign(new Stage(state), { time })
  }

  private signed(account: number): Decoded {
    return { session: account, sessionGeneration: account === 0 ? 1 : 3 }
  }

  /** The RESULT of a command. */
  private send(layout: Layout, type: CommandType, lane: number, values: Decoded): Int32Array {
    encode(layout, command, 0, { kind: kindOf(type, 1, lane), ...values })
    const count = this.bench.run(command, 0, this.time)
    return this.bench.said.i32.slice((count - 1) * RECORD_WORDS, count * RECORD_WORDS)
  }

  /** Order number `n`: it rests, takes, does both, or is dropped. Its RESULT. */
  order(n: number, over: Decoded = {}): Int32Array {
    const [sell, lots] = [n % 2 === 0, 1 + (n % 7)]
    const kind = n % 5
    const flags = (sell ? Flag.SELL : 0) | (kind === 3 ? Flag.IOC : 0) | (kind === 4 ? Flag.EXPIRES : 0)
    return this.send(ORDER_COMMAND, CommandType.PLACE_ORDER, 1, {
      correlation: n, ...this.signed(n % 3 === 0 ? 1 : 0), flags, options: Option.KEYED, price: 1000 + (n % 2), lots,
      expiresAt: kind === 4 ? this.time + 5 * DAY : 0, key: keyOf(n), payload: '00'.repeat(16), ...over,
    })
  }

  /** The operator raises a limit for the next start; the code. */
  raise(name: string, value: number): number {
    const values = { session: -1, limit: RAISABLE.findIndex(([each]) => each === name), value }
    return this.send(RAISE_LIMIT_COMMAND, CommandType.RAISE_LIMIT, 0, values)[RESULT.at.code]!
  }

  /** The next start; the code. */
  putInForce(): number {
    return this.send(LIMITS_IN_FORCE_COMMAND, CommandType.LIMITS_IN_FORCE, 0, { session: -1 })[RESULT.at.code]!
  }

  setRules(rules: number): void {
    this.send(SET_RULES_COMMAND, CommandType.SET_RULES, 0, { session: -1, rules })
  }

  /** Sequences go so far ahead that the next receipt begins a page. */
  turnPage(): void {
    const resume = this.state.clock[CLOCK.SEQUENCE]! + 2 ** 31
    this.send(ACCEPT_LOSS_COMMAND, CommandType.ACCEPT_LOSS, 0, { session: -1, resume })
  }

  kept(): number {
    return this.state.scalars[SCALAR.RECEIPTS_COUNT]!
  }
}

/** What must come back: all but kind, correlation, sequence, time and the flag that says so. */
export function said(result: Int32Array): string {
  const words = [...result.subarray(RESULT.at.code)]
  words[RESULT.at.flags - RESULT.at.code]! &= ~Flag.REPEATED
  return words.join()
}

export const hasRepeated = (result: Int32Array): boolean => (result[RESULT.at.flags]! & Flag.REPEATED) !== 0
