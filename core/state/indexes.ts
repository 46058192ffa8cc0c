/**
 * Open-addressing indexes over column rows: labels, accounts, sessions, receipts. Derived state, rebuilt on load.
 *
 * A table holds row + 1 (0: empty) at the first free place from its hash on; tables are at most half full, so probes are short.
 * Removal moves later entries back (no tombstones), so a table never degrades.
 */
import { LABEL_SHIFT } from '../layout/command.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, LABEL_SEED_AT, LABEL_WORDS, ORDER, ORDER_WORDS, RECEIPT, RECEIPT_WORDS, SESSION, SESSION_WORDS,
} from './columns.ts'
import type { State } from './state.ts'

/** Mixes `words` 32-bit words of `source` from `at` into a 32-bit hash. */
export function hashWords(source: Int32Array, at: number, words: number, seed: number): number {
  let h = seed ^ 0x9e3779b9
  for (let i = 0; i < words; i++) {
    h = Math.imul(h ^ source[at + i]!, 0x85ebca6b)
    h = (h << 13) | (h >>> 19)
  }
  h = Math.imul(h ^ (h >>> 16), 0xc2b2ae35)
  return (h ^ (h >>> 13)) >>> 0
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

// Labels: client order ids of resting orders, by account and text. Their owners choose the text, so the hash begins with a number that
// nobody outside knows: otherwise texts could be made that all meet in one place, and each command with one would pass by all the others.
// It differs from start to start, and nothing but time depends on it.

const seedOf = (state: State, account: number): number => account ^ state.i32[LABEL_SEED_AT]!
const labelHash = (state: State, slot: number): number =>
  hashWords(state.labels, slot * LABEL_WORDS, LABEL_WORDS, seedOf(state, state.orders[slot * ORDER_WORDS + ORDER.ACCOUNT]!))

export const insertLabel = (state: State, slot: number): void => insert(state.labelIndex, labelHash(state, slot), slot)
export const removeLabel = (state: State, slot: number): void => remove(state.labelIndex, (row) => labelHash(state, row), slot)

/** The resting order of `account` with the label of `length` bytes at `words[at..]`, or -1. */
export function findLabel(state: State, account: number, words: Int32Array, at: number, length: number): number {
  const table = state.labelIndex
  const mask = table.length - 1
  for (let i = hashWords(words, at, LABEL_WORDS, seedOf(state, account)) & mask; table[i] !== 0; i = (i + 1) & mask) {
    const slot = table[i]! - 1
    const row = slot * ORDER_WORDS
    if (
      state.orders[row + ORDER.ACCOUNT] === account && state.orders[row + ORDER.FLAGS]! >>> LABEL_SHIFT === length &&
      sameWords(state.labels, slot * LABEL_WORDS, words, at, LABEL_WORDS)
    ) return slot
  }
  return -1
}

// Accounts: by application and wallet address.

const accountHash = (state: State, account: number): number => {
  const row = account * ACCOUNT_WORDS
  return hashWords(state.accounts, row + ACCOUNT.ADDRESS, 5, state.accounts[row + ACCOUNT.APPLICATION]!)
}

export const indexAccount = (state: State, account: number): void => insert(state.accountIndex, accountHash(state, account), account)
export const unindexAccount = (state: State, account: number): void =>
  remove(state.accountIndex, (row) => accountHash(state, row), account)

/** The account of (application, address), or -1. Bounded, so that a reader cannot spin. */
export function findAccount(state: State, application: number, words: Int32Array, at: number): number {
  const table = state.accountIndex
  const mask = table.length - 1
  let i = hashWords(words, at, 5, application) & mask
  for (let probes = 0; probes <= mask; probes++, i = (i + 1) & mask) {
    const entry = table[i]!
    if (entry === 0) return -1
    const row = (entry - 1) * ACCOUNT_WORDS
    if (state.accounts[row + ACCOUNT.APPLICATION] === application && sameWords(state.accounts, row + ACCOUNT.ADDRESS, words, at, 5)) {
      return entry - 1
    }
  }
  return -1
}

// Sessions: by public key. Gateways read this table while the matcher writes it.

const sessionHash = (state: State, session: number): number =>
  hashWords(state.sessions, session * SESSION_WORDS + SESSION.PUBLIC_KEY, 8, 0)

export const indexSession = (state: State, session: number): void => insert(state.sessionIndex, sessionHash(state, session), session)
export const unindexSession = (state: State, session: number): void =>
  remove(state.sessionIndex, (row) => sessionHash(state, row), session)

/** The session row with the public key at `words[at..]`, live or not, or -1. Bounded, so that a reader cannot spin. */
export function findSession(state: State, words: Int32Array, at: number): number {
  const table = state.sessionIndex
  const mask = table.length - 1
  let i = hashWords(words, at, 8, 0) & mask
  for (let probes = 0; probes <= mask; probes++, i = (i + 1) & mask) {
    const entry = table[i]!
    if (entry === 0) return -1
    if (sameWords(state.sessions, (entry - 1) * SESSION_WORDS + SESSION.PUBLIC_KEY, words, at, 8)) return entry - 1
  }
  return -1
}

// Receipts: by account and idempotency key.

const receiptHash = (state: State, receipt: number): number => {
  const row = receipt * RECEIPT_WORDS
  return hashWords(state.receipts, row + RECEIPT.KEY, 4, state.receipts[row + RECEIPT.ACCOUNT]!)
}

export const indexReceipt = (state: State, receipt: number): void => insert(state.receiptIndex, receiptHash(state, receipt), receipt)
export const unindexReceipt = (state: State, receipt: number): void =>
  remove(state.receiptIndex, (row) => receiptHash(state, row), receipt)

/** The receipt of `account` for the key at `words[at..]`, or -1. */
export function findReceipt(state: State, account: number, words: Int32Array, at: number): number {
  const table = state.receiptIndex
  const mask = table.length - 1
  for (let i = hashWords(words, at, 4, account) & mask; table[i] !== 0; i = (i + 1) & mask) {
    const row = (table[i]! - 1) * RECEIPT_WORDS
    if (state.receipts[row + RECEIPT.ACCOUNT] === account && sameWords(state.receipts, row + RECEIPT.KEY, words, at, 4)) {
      return table[i]! - 1
    }
  }
  return -1
}
