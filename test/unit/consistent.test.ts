/**
 * Promise: whoever reads what the matcher changes without rest copies a few times and then gives up, soon; what it gets is never of two
 * moments, and a session that is there is never said to be unknown. The file is also the thread that writes.
 */
import { once } from 'node:events'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import type { Test } from 'tap'
import { balanceRow, setI64 } from '../../core/state/rows.ts'
import { BALANCE, PAIR, SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { attachState, createState, type State } from '../../core/state/state.ts'
import { apply, setTime } from '../../core/engine/apply.ts'
import { COMMAND_LAYOUTS, CommandType, kindOf } from '../../core/layout/command.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { APPLYING } from '../../core/ring/counters.ts'
import { keepAccount } from '../../core/state/blank_list.ts'
import { readSession } from '../../core/view/accounts.ts'
import { readDepth } from '../../core/view/book.ts'
import { consistently, LONG, SHORT } from '../../core/view/consistent.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const TEXT = genesisText({ ...VARIANTS['market']!, limits: { accounts: 8, sessions: 64, sessionsPerAccount: 64 } })
const genesis = parseGenesis(TEXT)
const START = 1_700_000_000_000
const DAY = 86_400_000

const wordsOf = (n: number): Int32Array => new Int32Array(8).fill(n)

function signIn(state: State, n: number, time: number): void {
  const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
  encode(COMMAND_LAYOUTS[CommandType.OPEN_SESSION]!, record, 0, {
    kind: kindOf(CommandType.OPEN_SESSION, 1, 1), session: -1, application: 0, address: '11'.repeat(20),
    publicKey: Buffer.from(wordsOf(n).buffer).toString('hex'),
  })
  setTime(state, time)
  apply(state, record, 0)
  state.outbox.count = 0
}

/** A book with this many bids, each at a price of its own. */
function deepBook(bids: number): State {
  const limits = { orders: 16 * bids, openOrdersPerAccount: bids }
  const state = createState(parseGenesis(genesisText({ ...VARIANTS['market']!, limits })))
  signIn(state, 1, START)
  keepAccount(state, 0)
  const { quote } = genesis.pairs[0]!
  setI64(state, balanceRow(state, 0, quote), BALANCE.AVAILABLE, 10n ** 17n)
  const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
  for (let n = 1; n <= bids; n++) {
    encode(COMMAND_LAYOUTS[CommandType.PLACE_ORDER]!, record, 0, {
      kind: kindOf(CommandType.PLACE_ORDER, 1, 1), session: 0, sessionGeneration: state.sessions[SESSION.GENERATION]!, pair: 0, flags: 0,
      price: 10_000 + n, lots: 1000,
    })
    setTime(state, START)
    apply(state, record, 0)
    state.outbox.count = 0
  }
  return state
}

/** Sessions come and go, so that entries of the index shift; that of key 1 stays. */
function write({ memory, gate: buffer, turns }: { memory: SharedArrayBuffer; gate: SharedArrayBuffer; turns: number }): void {
  const state = attachState(genesis, { memory })
  const gate = new Int32Array(buffer)
  const { sessions } = genesis.limits
  for (let turn = 1; turn <= turns; turn++) {
    const time = START + turn * 100 * DAY
    Atomics.add(gate, APPLYING, 1)
    // Key 1 is used again before it is anybody's, and lives for ever by that.
    signIn(state, 1, time)
    for (let n = 0; n < sessions / 2; n++) signIn(state, 2 + ((turn * sessions / 2 + n) % (4 * sessions)), time)
    Atomics.add(gate, APPLYING, 1)
    for (const rest = performance.now() + 0.05; performance.now() < rest;);
  }
}

const fresh = (): Int32Array => new Int32Array(new SharedArrayBuffer(64))

async function tests(): Promise<void> {
  const { default: t } = await import('tap')

  t.test('a writer that never rests', async (t) => {
    const words = new Int32Array(1)
    for (const [patience, most] of [[undefined, SHORT.copies], [SHORT, 8], [LONG, 8]] as const) {
      let copies = 0
      // Each copy meets a change.
      const value = consistently(fresh(), words, 0, () => [copies++, words[0]!++], patience)
      t.same([value, copies], [null, most], 'copied so often and no more')
    }
    t.equal(consistently(fresh(), words, 0, () => words[0]!++, { copies: Infinity, ms: 5 }), null, 'nor longer')
    let copies = 0
    t.equal(consistently(fresh(), words, 0, () => {
      if (copies++ < 2) words[0]!++
      return 'at last'
    }, LONG), 'at last')
  })

  t.test('a batch at either end', async (t) => {
    const [gate, words] = [fresh(), new Int32Array(1)]
    const once = { copies: 1, ms: 1 }
    t.equal(consistently(gate, words, 0, () => (gate[APPLYING] = 1), once), null, 'one that begins meanwhile')
    let copied = false
    t.equal(consistently(gate, words, 0, () => (copied = true), once), null, 'one that is being applied')
    t.notOk(copied)
    gate[APPLYING] = 2
    t.equal(consistently(gate, words, 0, () => (gate[APPLYING] = 4), once), 4, 'one that came and went and left it alone')
  })

  t.test('a matcher that stands still in the middle of a batch is not waited for long', async (t) => {
    const gate = fresh()
    gate[APPLYING] = 1
    let copies = 0
    for (const patience of [SHORT, LONG]) t.equal(consistently(gate, gate, APPLYING, () => copies++, patience), null)
    t.equal(copies, 0)
  })

  t.test('the walk of a deep book stops when its copy is no good any more', async (t) => {
    const state = deepBook(3000)
    const quiet = readDepth(state, fresh(), 0, 1000, 1_000_000)!
    t.same([quiet.bids.map(({ orders }) => orders), quiet.cut], [[3000], false])
    let walked = 0
    // Each level's lots are read through the doubles of the memory.
    const f64 = new Proxy(state.f64, { get: (target, name) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) {
        walked++
        state.pairs[PAIR.VERSION]!++
      }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    } })
    t.equal(readDepth({ ...state, f64 }, fresh(), 0, 1000, 1_000_000), null)
    t.ok(walked > 0 && walked <= LONG.copies * 256, `${walked} levels of 3,000 were looked at in ${LONG.copies} copies`)
  })

  sessionTests(t)
}

function sessionTests(t: Test): void {
  void t.test('an entry of the index that is being moved', async (t) => {
    const state = createState(genesis)
    const gate = fresh()
    signIn(state, 1, START)
    const found = readSession(state, gate, wordsOf(1), 0)
    t.type(found, 'object')
    const at = state.sessionIndex.findIndex((entry) => entry !== 0)
    const entry = state.sessionIndex[at]!
    // Half-way: it is out of its old place and not yet in the new one.
    gate[APPLYING] = 1
    state.sessionIndex[at] = 0
    t.equal(readSession(state, gate, wordsOf(1), 0), 'unreadable', 'it is not said to be unknown')
    state.sessionIndex[at] = entry
    t.same(readSession(state, gate, wordsOf(1), 0), found, 'what is there is found without waiting')
    gate[APPLYING] = 2
    t.equal(readSession(state, gate, wordsOf(2), 0), 'unknown')
    // A row whose key is being changed is nobody's.
    Atomics.store(state.sessions, SESSION_WORDS * 0 + SESSION.PUBLIC_KEY + 7, 9)
    t.equal(readSession(state, gate, wordsOf(1), 0), 'unknown')
  })

  void t.test('a session that is there, while others come and go', async (t) => {
    const state = createState(genesis)
    const gate = fresh()
    for (let n = 1; n <= 32; n++) signIn(state, n, START)
    const turns = 600
    const worker = new Worker(import.meta.filename, { workerData: { memory: state.buffers.memory, gate: gate.buffer, turns } })
    const ended = once(worker, 'exit')
    const answers = { found: 0, unknown: 0, unreadable: 0, wrong: 0 }
    const key = wordsOf(1)
    for (let slice = 0; slice < 20_000 && Atomics.load(gate, APPLYING) < 2 * turns; slice++) {
      for (let i = 0; i < 500; i++) {
        const answer = readSession(state, gate, key, 0)
        if (typeof answer === 'string') answers[answer]++
        else answers[answer.account === 0 ? 'found' : 'wrong']++
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    const [code] = await ended as [number]
    t.same([code, answers.unknown, answers.wrong], [0, 0, 0], JSON.stringify(answers))
    t.ok(answers.found > 0)
  })
}

if (isMainThread) await tests()
else write(workerData as { memory: SharedArrayBuffer; gate: SharedArrayBuffer; turns: number })
