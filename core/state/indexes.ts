/**
 * Open-addressing indexes over column rows: labels, accounts, sessions. Derived state, rebuilt on load. Receipts have
 * an index of their own (receipt_index.ts).
 *
 * A table holds row + 1 (0: empty) at the first free place from its hash on; tables are at most half full, so probes are short.
 * Removal moves later entries back (no tombstones), so a table never degrades.
 *
 * Users choose what stands in these tables: client order ids, session keys, idempotency keys, and wallets as often as they like to try.
 * So the hash has a key of 64 bits that every process draws for itself and nobody outside knows (HASH_KEY_AT): otherwise entries could
 * be made that all meet in one place, and each command with one would pass by all the others. A seed alone would not do. Where words
 * are mixed in by exclusive or and multiplied, a difference in the highest bits of one word is cancelled by one in the next, whatever
 * the seed is (test/unit/hash_flooding.test.ts has such texts); HalfSipHash is made so that this needs the key. The key is in no
 * snapshot and no digest: nothing but time depends on where an entry stands.
 */
import { CLIENT_ORDER_ID_SHIFT } from '../layout/command.ts'
import { HANDLE_WORDS } from '../layout/copying.ts'
import { ACCOUNT, HASH_KEY_AT, CLIENT_ORDER_ID_WORDS, ORDER, SESSION } from './columns.ts'
import { LEADER } from './copy_rows.ts'
import { accountRow, get, clientOrderIdRow, leaderRow, orderRow, sessionRow, wordOf } from './rows.ts'
import type { State } from './state.ts'

/**
 * HalfSipHash-1-3 (Aumasson and Bernstein) of the word `first` and `words` words of `source` from `at`, under the state's key. Without the
 * length, which is the same for all entries of a table.
 */
export function hashWords(state: State, first: number, source: Int32Array, at: number, words: number): number {
  const { i32 } = state
  let v0 = i32[HASH_KEY_AT]!
  let v1 = i32[HASH_KEY_AT + 1]!
  let v2 = v0 ^ 0x6c796765
  let v3 = v1 ^ 0x74656462
  const last = words + 4
  for (let i = 0; i < last; i++) {
    // Behind the words: 0xff into the second half, and two more rounds.
    const word = i === 0 ? first : i <= words ? source[at + i - 1]! : 0
    if (i === words + 1) v2 ^= 0xff
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
  }
  return (v1 ^ v3) >>> 0
}

/** Whether `count` words from `at` on are all zero. */
export function areZero(words: Int32Array, at: number, count: number): boolean {
  for (let word = 0; word < count; word++) if (words[at + word] !== 0) return false
  return true
}

export function sameWords(a: Int32Array, atA: number, b: Int32Array, atB: number, words: number): boolean {
  for (let i = 0; i < words; i++) if (a[atA + i] !== b[atB + i]) return false
  return true
}

function insert(table: Int32Array, hash: number, row: number): void {
  const mask = table.length - 1
  let at = hash & mask
  while (table[at] !== 0) at = (at + 1) & mask
  table[at] = row + 1
}

function remove(table: Int32Array, hashOf: (row: number) => number, row: number): void {
  const mask = table.length - 1
  let hole = hashOf(row) & mask
  while (table[hole] !== row + 1) hole = (hole + 1) & mask
  for (let at = (hole + 1) & mask; table[at] !== 0; at = (at + 1) & mask) {
    const home = hashOf(table[at]! - 1) & mask
    if (((at - home) & mask) >= ((at - hole) & mask)) {
      table[hole] = table[at]!
      hole = at
    }
  }
  table[hole] = 0
}

// Labels: client order ids of resting orders, by account and text.

const clientOrderIdHash = (state: State, slot: number): number =>
  hashWords(state, get(state, orderRow(state, slot), ORDER.ACCOUNT), state.i32, clientOrderIdRow(state, slot), CLIENT_ORDER_ID_WORDS)

export const insertClientOrderId = (state: State, slot: number): void =>
  insert(state.clientOrderIdIndex, clientOrderIdHash(state, slot), slot)
export const removeClientOrderId = (state: State, slot: number): void => remove(state.clientOrderIdIndex, (row) =>
  clientOrderIdHash(state, row), slot)

/** The resting order of `account` with the label of `length` bytes at `words[at..]`, or -1. */
export function findClientOrderId(state: State, account: number, words: Int32Array, at: number, length: number): number {
  const table = state.clientOrderIdIndex
  const mask = table.length - 1
  for (let i = hashWords(state, account, words, at, CLIENT_ORDER_ID_WORDS) & mask; table[i] !== 0; i = (i + 1) & mask) {
    const slot = table[i]! - 1
    const row = orderRow(state, slot)
    if (
      get(state, row, ORDER.ACCOUNT) === account && get(state, row, ORDER.FLAGS) >>> CLIENT_ORDER_ID_SHIFT === length &&
      sameWords(state.i32, clientOrderIdRow(state, slot), words, at, CLIENT_ORDER_ID_WORDS)
    ) return slot
  }
  return -1
}

// Accounts: by application and wallet address.

const accountHash = (state: State, account: number): number => {
  const row = accountRow(state, account)
  return hashWords(state, get(state, row, ACCOUNT.APPLICATION), state.i32, wordOf(row, ACCOUNT.ADDRESS), 5)
}

export const indexAccount = (state: State, account: number): void => insert(state.accountIndex, accountHash(state, account), account)
export const unindexAccount = (state: State, account: number): void =>
  remove(state.accountIndex, (row) => accountHash(state, row), account)

/** The account of (application, address), or -1. Bounded, so that a reader cannot spin. */
export function findAccount(state: State, application: number, words: Int32Array, at: number): number {
  const table = state.accountIndex
  const mask = table.length - 1
  let i = hashWords(state, application, words, at, 5) & mask
  for (let probes = 0; probes <= mask; probes++, i = (i + 1) & mask) {
    const entry = table[i]!
    if (entry === 0) return -1
    const row = accountRow(state, entry - 1)
    const same = sameWords(state.i32, wordOf(row, ACCOUNT.ADDRESS), words, at, 5)
    if (same && get(state, row, ACCOUNT.APPLICATION) === application) return entry - 1
  }
  return -1
}

// Sessions: by public key. Gateways read this table while the matcher writes it.

const sessionHash = (state: State, session: number): number =>
  hashWords(state, 0, state.i32, wordOf(sessionRow(state, session), SESSION.PUBLIC_KEY), 8)

export const indexSession = (state: State, session: number): void => insert(state.sessionIndex, sessionHash(state, session), session)
export const unindexSession = (state: State, session: number): void =>
  remove(state.sessionIndex, (row) => sessionHash(state, row), session)

/** The session row with the public key at `words[at..]`, live or not, or -1. Bounded, so that a reader cannot spin. */
export function findSession(state: State, words: Int32Array, at: number): number {
  const table = state.sessionIndex
  const mask = table.length - 1
  let i = hashWords(state, 0, words, at, 8) & mask
  for (let probes = 0; probes <= mask; probes++, i = (i + 1) & mask) {
    const entry = table[i]!
    if (entry === 0) return -1
    if (sameWords(state.i32, wordOf(sessionRow(state, entry - 1), SESSION.PUBLIC_KEY), words, at, 8)) return entry - 1
  }
  return -1
}

// Leaders: by handle, in small letters. Gateways read this table while the matcher writes it.

const leaderHash = (state: State, leader: number): number =>
  hashWords(state, 0, state.i32, wordOf(leaderRow(state, leader), LEADER.FOLDED), HANDLE_WORDS)

export const indexLeader = (state: State, leader: number): void => insert(state.leaderIndex, leaderHash(state, leader), leader)
export const unindexLeader = (state: State, leader: number): void =>
  remove(state.leaderIndex, (row) => leaderHash(state, row), leader)

/**
 * The leader whose handle is `words[at..]` in small letters, registered or released, of an application, -1: of any; or -1. Bounded, so that
 * a reader cannot spin.
 */
export function findLeader(state: State, words: Int32Array, at: number, application: number): number {
  const table = state.leaderIndex
  const mask = table.length - 1
  let i = hashWords(state, 0, words, at, HANDLE_WORDS) & mask
  for (let probes = 0; probes <= mask; probes++, i = (i + 1) & mask) {
    const entry = table[i]!
    if (entry === 0) return -1
    if (isNamed(state, leaderRow(state, entry - 1), words, at, application)) return entry - 1
  }
  return -1
}

function isNamed(state: State, row: number, words: Int32Array, at: number, application: number): boolean {
  const own = application < 0 || get(state, accountRow(state, get(state, row, LEADER.ACCOUNT)), ACCOUNT.APPLICATION) === application
  return own && sameWords(state.i32, wordOf(row, LEADER.FOLDED), words, at, HANDLE_WORDS)
}
