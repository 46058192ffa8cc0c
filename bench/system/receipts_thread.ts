/**
 * The quick thread of receipts_process.ts: an engine with the shipped genesis that is given keyed orders, a thousand for each second of its
 * time, as many as it is asked for: one that rests and one that takes it, in turn, of 4,096 accounts in turn.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { apply, setTime } from '../../core/engine/apply.ts'
import { COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, Flag, kindOf, Option, ORDER_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { writePageFiles } from '../../core/lib/page_files.ts'
import { keepAccount } from '../../core/state/blank_list.ts'
import { balanceRow, getI64, setI64, totalRow } from '../../core/state/rows.ts'
import { BALANCE, CLOCK, SCALAR, SESSION, SESSION_WORDS, TOTAL } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { RECEIPT_PAGE_WORDS } from '../../core/state/receipt_room.ts'
import { createState } from '../../core/state/state.ts'
import { loadSnapshot, pruneSnapshots, writeSnapshot } from '../../core/snapshot/file.ts'
import { join } from 'node:path'
import { rmSync, statSync } from 'node:fs'

export type ReceiptsWork = { readonly genesis: string; readonly dataDir: string; readonly start: number }
export type ReceiptsAsk =
  | { readonly what: 'fill'; readonly orders: number }
  | { readonly what: 'repeat'; readonly orders: number }
  | { readonly what: 'snapshot' | 'load' }
export interface ReceiptsSaid {
  readonly ms: number
  /** Receipts kept; orders that were not accepted, or answers that are not those of before; bytes of a snapshot. */
  readonly kept: number
  readonly wrong: number
  readonly bytes: number
}

const ACCOUNTS = 4096
const FUNDS = 1_000_000_000_000_000n
const { genesis: text, dataDir, start } = workerData as ReceiptsWork
const genesis = parseGenesis(text)
const files = writePageFiles(join(dataDir, 'receipts'), RECEIPT_PAGE_WORDS, {
  failed: (error) => {
    throw error
  },
})
const state = createState(genesis, undefined, [start | 0, 0x5bd1e995], files)
const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
const C = ORDER_COMMAND.at
const pair = genesis.pairs[0]!
setTime(state, start)
for (let account = 0; account < ACCOUNTS; account++) open(account)

function open(account: number): void {
  const hex = (account + 1).toString(16)
  encode(COMMAND_LAYOUTS[CommandType.OPEN_SESSION]!, command, 0, {
    kind: kindOf(CommandType.OPEN_SESSION, 1, 1), session: -1, address: hex.padStart(40, '0'), publicKey: hex.padStart(64, '0'),
  })
  apply(state, command, 0)
  state.outbox.count = 0
  // They trade for days.
  state.sessionsF64[(account * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = start + 10 * 86_400_000
  keepAccount(state, account)
  for (const asset of [pair.base, pair.quote]) {
    setI64(state, balanceRow(state, account, asset), BALANCE.AVAILABLE, FUNDS)
    setI64(state, totalRow(state, asset), TOTAL.ISSUED, getI64(state, totalRow(state, asset), TOTAL.ISSUED) + FUNDS)
  }
}

/** Order number `n`: odd ones take what the even ones before them left. */
function write(n: number): void {
  const account = (n * 1237) % ACCOUNTS
  const session = account * SESSION_WORDS
  const { i32, u32 } = command
  i32.fill(0)
  u32[0] = kindOf(CommandType.PLACE_ORDER, 2, 1)
  i32[C.session] = account
  i32[C.sessionGeneration] = state.sessions[session + SESSION.GENERATION]!
  u32[C.flags] = (n & 1) === ((n >>> 12) & 1) ? Flag.SELL : 0
  u32[C.options] = Option.KEYED
  i32[C.price] = 10_000
  i32[C.lots] = Math.max(pair.minLots, Math.ceil(Number(pair.minNotionalAtoms) / (10_000 * Number(pair.tickLotAtoms)))) + (n >>> 1) % 1000
  for (let word = 0; word < 4; word++) {
    let key = Math.imul(n + 1, 0x9e3779b1 + word * 2) ^ (word << 28)
    key = Math.imul(key ^ (key >>> 15), 0x85ebca6b)
    i32[C.key + word] = key ^ (key >>> 13)
    i32[C.payload + word] = ~key
  }
}

let next = 0

function fill(orders: number): number {
  const { outbox } = state
  let wrong = 0
  for (const end = next + orders; next < end; next++) {
    setTime(state, start + next)
    write(next)
    apply(state, command, 0)
    if (outbox.i32[(outbox.count - 1) * RECORD_WORDS + RESULT.at.code] !== 0) wrong++
    outbox.count = 0
  }
  return wrong
}

/** Orders of before, from all of the last day. */
function repeat(orders: number): number {
  const { outbox, scalars } = state
  const kept = scalars[SCALAR.RECEIPTS_COUNT]!
  let wrong = 0
  for (let i = 0; i < orders; i++) {
    const n = next - 1 - Math.floor((i * 0.6180339887 % 1) * (kept - 1))
    write(n)
    apply(state, command, 0)
    const at = (outbox.count - 1) * RECORD_WORDS
    if (outbox.count !== 1 || outbox.i32[at + RESULT.at.code] !== 0 || (outbox.i32[at + RESULT.at.flags]! & Flag.REPEATED) === 0) wrong++
    outbox.count = 0
  }
  return wrong
}

parentPort!.on('message', (ask: ReceiptsAsk) => {
  const started = performance.now()
  let [wrong, bytes] = [0, 0]
  const sequence = state.clock[CLOCK.SEQUENCE]!
  if (ask.what === 'fill') wrong = fill(ask.orders)
  else if (ask.what === 'repeat') wrong = repeat(ask.orders)
  else if (ask.what === 'snapshot') {
    files.sync()
    writeSnapshot(dataDir, state, text, 0, 0)
    pruneSnapshots(dataDir, 1)
    bytes = statSync(join(dataDir, 'snapshots', `${String(sequence).padStart(16, '0')}.sqlite`)).size
  } else {
    const { state: loaded } = loadSnapshot(dataDir, sequence)
    if (loaded.scalars[SCALAR.RECEIPTS_COUNT] !== state.scalars[SCALAR.RECEIPTS_COUNT]) wrong = 1
    rmSync(join(dataDir, 'snapshots'), { recursive: true })
  }
  const kept = state.scalars[SCALAR.RECEIPTS_COUNT]!
  parentPort!.postMessage({ ms: performance.now() - started, kept, wrong, bytes } satisfies ReceiptsSaid)
})
