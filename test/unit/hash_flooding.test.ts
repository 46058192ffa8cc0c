/**
 * Promise: nobody can choose client order ids, session keys, wallets or idempotency keys that meet in one place of their index, where each
 * command would pass by all the others: where an entry stands depends on a key that every process draws for itself, and entries that meet
 * do so for one key only.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  ACCOUNT, ACCOUNT_WORDS, HASH_KEY_AT, CLIENT_ORDER_ID_WORDS, ORDER, ORDER_WORDS, SESSION, SESSION_WORDS,
} from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import {
  findAccount, findClientOrderId, findSession, hashWords, indexAccount, indexSession, insertClientOrderId,
} from '../../core/state/indexes.ts'
import { CLIENT_ORDER_ID_SHIFT } from '../../core/layout/command.ts'
import { loadSnapshot, writeSnapshot } from '../../core/snapshot/file.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { createState, type State } from '../../core/state/state.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { startMatcher } from '../support/journal.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const source = genesisText({ ...VARIANTS['market']!, limits: { orders: 4096, accounts: 1024, sessions: 2048, priceTicks: 1024 } })
const genesis = parseGenesis(source)
const KEYS = [[1, 2], [-7, 0], [0, 1 << 31], [0x12345678, -0x5a5a5a5a]] as const

/** The hash of before: each word by exclusive or, a multiplication and a rotation, from a seed of 32 bits. */
function hashedBefore(source: Int32Array, seed: number): number {
  let h = seed ^ 0x9e3779b9
  for (const word of source) {
    h = Math.imul(h ^ word, 0x85ebca6b)
    h = (h << 13) | (h >>> 19)
  }
  h = Math.imul(h ^ (h >>> 16), 0xc2b2ae35)
  return (h ^ (h >>> 13)) >>> 0
}

/**
 * 2^(count - 1) rows of words that the hash of before does not tell apart, whatever its seed: the highest bit of a word stays the highest
 * bit through the multiplication, becomes bit 12 by the rotation, and there the next word takes it away.
 */
const alike = (count: number): Int32Array[] =>
  Array.from({ length: 1 << (count - 1) }, (_, chosen) => {
    const words = new Int32Array(count).fill(0x61616161)
    for (let word = 0; word < count - 1; word++) {
      if ((chosen & (1 << word)) === 0) continue
      words[word]! ^= 1 << 31
      words[word + 1]! ^= 1 << 12
    }
    return words
  })

/** The most places that a search for one of the entries of a table looks at. */
function longestRun(table: Int32Array): number {
  let [longest, run] = [0, 0]
  for (const entry of table) {
    run = entry === 0 ? 0 : run + 1
    longest = Math.max(longest, run)
  }
  return longest
}

t.test('texts made against the hash of before, for every seed of it', async (t) => {
  for (const count of [5, 8, CLIENT_ORDER_ID_WORDS]) {
    const random = createPrng(count)
    for (let tried = 0; tried < 50; tried++) {
      const seed = random.below(2 ** 31)
      t.equal(new Set(alike(count).map((words) => hashedBefore(words, seed))).size, 1)
    }
  }
})

/** Fills one index with entries and tells whether each is found. */
const FILLED: Readonly<Record<string, (state: State) => [table: Int32Array, found: boolean, entries: number]>> = {
  labels: (state) => {
    const labels = alike(CLIENT_ORDER_ID_WORDS)
    labels.forEach((words, slot) => {
      state.labels.set(words, slot * CLIENT_ORDER_ID_WORDS)
      state.orders[slot * ORDER_WORDS + ORDER.FLAGS] = 40 << CLIENT_ORDER_ID_SHIFT
      insertClientOrderId(state, slot)
    })
    return [state.clientOrderIdIndex, labels.every((words, slot) => findClientOrderId(state, 0, words, 0, 40) === slot), labels.length]
  },
  'labels of many accounts': (state) => {
    const words = alike(CLIENT_ORDER_ID_WORDS)[0]!
    for (let slot = 0; slot < 512; slot++) {
      state.labels.set(words, slot * CLIENT_ORDER_ID_WORDS)
      state.orders[slot * ORDER_WORDS + ORDER.ACCOUNT] = slot
      state.orders[slot * ORDER_WORDS + ORDER.FLAGS] = 40 << CLIENT_ORDER_ID_SHIFT
      insertClientOrderId(state, slot)
    }
    const found = findClientOrderId(state, 300, words, 0, 40) === 300 && findClientOrderId(state, 300, words, 0, 39) === -1
      return [state.clientOrderIdIndex, found, 512]
  },
  accounts: (state) => {
    const wallets = alike(5)
    wallets.forEach((words, account) => {
      state.accounts.set(words, account * ACCOUNT_WORDS + ACCOUNT.ADDRESS)
      indexAccount(state, account)
    })
    return [state.accountIndex, wallets.every((words, account) => findAccount(state, 0, words, 0) === account), wallets.length]
  },
  sessions: (state) => {
    const keys = alike(8)
    keys.forEach((words, session) => {
      state.sessions.set(words, session * SESSION_WORDS + SESSION.PUBLIC_KEY)
      indexSession(state, session)
    })
    return [state.sessionIndex, keys.every((words, session) => findSession(state, words, 0) === session), keys.length]
  },
}

for (const [name, fill] of Object.entries(FILLED)) {
  t.test(`${name}: a search looks at few places`, async (t) => {
    for (const key of KEYS) {
      const [table, found, entries] = fill(createState(genesis, undefined, key))
      t.ok(found, 'each is found')
      t.equal(table.reduce((count, entry) => count + Number(entry !== 0), 0), entries)
      t.ok(longestRun(table) <= 16, `key ${key}: ${longestRun(table)} of ${entries} in a row`)
    }
  })
}

/** HalfSipHash-c-d with an answer of 32 bits, as its authors write it, over whole words. */
function halfSipHash(c: number, d: number, [k0, k1]: readonly [number, number], words: readonly number[]): number {
  const v = new Uint32Array([k0, k1, k0 ^ 0x6c796765, k1 ^ 0x74656462])
  const rotate = (i: number, bits: number): void => void (v[i] = (v[i]! << bits) | (v[i]! >>> (32 - bits)))
  const half = (a: number, b: number, bits: number): void => {
    v[a]! += v[b]!
    rotate(b, bits)
    v[b]! ^= v[a]!
  }
  const round = (): void => {
    half(0, 1, 5)
    rotate(0, 16)
    half(2, 3, 8)
    half(0, 3, 7)
    half(2, 1, 13)
    rotate(2, 16)
  }
  for (const word of words) {
    v[3]! ^= word
    for (let i = 0; i < c; i++) round()
    v[0]! ^= word
  }
  v[2]! ^= 0xff
  for (let i = 0; i < d; i++) round()
  return (v[1]! ^ v[3]!) >>> 0
}

t.test('it is HalfSipHash-1-3 without the word of the length', async (t) => {
  // The authors' vector of no bytes: only the word of the length, 0.
  t.equal(halfSipHash(2, 4, [0x03020100, 0x07060504], [0]), 0x5b9f35a9)
  const random = createPrng(4)
  for (let tried = 0; tried < 20; tried++) {
    const key = [random.below(2 ** 31) * 2 - 2 ** 31, -random.below(2 ** 31)] as const
    const words = Int32Array.from({ length: 12 }, () => random.below(2 ** 31) - 2 ** 30)
    t.equal(
      hashWords(createState(genesis, undefined, key), words[0]!, words, 1, 4 + (tried % 7)),
      halfSipHash(1, 3, key, [...words.subarray(0, 5 + (tried % 7))]),
    )
  }
})

t.test('both words of the key, the first word and every other word count', async (t) => {
  const random = createPrng(3)
  const state = createState(genesis, undefined, [5, 6])
  const words = Int32Array.from({ length: 8 }, () => random.below(2 ** 31))
  const was = hashWords(state, 9, words, 0, 8)
  const others = new Set([hashWords(state, 10, words, 0, 8), hashWords(state, 9, words, 0, 7)])
  for (let word = 0; word < 8; word++) {
    words[word]! ^= 1
    others.add(hashWords(state, 9, words, 0, 8))
    words[word]! ^= 1
  }
  for (const key of [[5, 7], [4, 6], [6, 5]]) others.add(hashWords(createState(genesis, undefined, key), 9, words, 0, 8))
  t.equal(others.size, 13)
  t.notOk(others.has(was))
})

t.test('texts that meet for one key stand apart for others', async (t) => {
  const state = createState(genesis, undefined, [0, 0])
  const mask = state.clientOrderIdIndex.length - 1
  const random = createPrng(11)
  const meeting: Int32Array[] = []
  for (let tried = 0; meeting.length < 64 && tried < 4_000_000; tried++) {
    const words = Int32Array.from({ length: CLIENT_ORDER_ID_WORDS }, (_, word) =>
      (word < 2 ? 0x20202020 + random.below(0x3f3f3f3f) : 0x61616161))
    if ((hashWords(state, 0, words, 0, CLIENT_ORDER_ID_WORDS) & mask) === 5) meeting.push(words)
  }
  t.equal(meeting.length, 64)
  for (const key of KEYS) {
    const other = createState(genesis, undefined, key)
    t.ok(new Set(meeting.map((words) => hashWords(other, 0, words, 0, CLIENT_ORDER_ID_WORDS) & mask)).size > 56, `key ${key}`)
  }
})

t.test('every process draws its own key', async (t) => {
  const keys: string[][] = []
  for (let start = 0; start < 4; start++) {
    const dataDir = mkdtempSync(join(import.meta.dirname, '..', '..', 'data', 'var-'))
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
    keys.push([...startMatcher(dataDir).sequencer.state.i32.subarray(HASH_KEY_AT, HASH_KEY_AT + 2)].map(String))
  }
  for (const word of [0, 1]) t.equal(new Set(keys.map((key) => key[word])).size, 4, `word ${word} differs from start to start`)
})

t.test('and so does every load of a snapshot; the key is in neither snapshot nor digest', async (t) => {
  const dataDir = mkdtempSync(join(import.meta.dirname, '..', '..', 'data', 'var-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const { digest } = writeSnapshot(dataDir, createState(genesis, undefined, [5, 6]), source, 1, 2)
  const keys = Array.from({ length: 4 }, () => {
    const { state } = loadSnapshot(dataDir, 0)
    t.equal(stateDigest(state), digest)
    return [...state.i32.subarray(HASH_KEY_AT, HASH_KEY_AT + 2)].map(String)
  })
  for (const word of [0, 1]) t.equal(new Set(keys.map((key) => key[word])).size, 4, `word ${word} differs from load to load`)
})
