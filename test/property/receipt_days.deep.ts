/**
 * Promise: receipts of a day expire as new ones come, for days: as many are kept as a day has, their files do not grow once the first
 * day is over, the memory of their pages is used again, the newest day is answered and what is older is new; so after a start in the
 * middle, too.
 *
 * A day is 1,000 seconds here, with 1,000 keyed orders in each. A snapshot is made and older files removed as in the exchange.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { apply, setTime } from '../../core/engine/apply.ts'
import {
  COMMAND_SLOTS, CommandType, Flag, kindOf, MINT_COMMAND, OPEN_SESSION_COMMAND, Option, ORDER_COMMAND,
} from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { pageFilesBytes, receiptDirectory } from '../../core/lib/page_files.ts'
import { receiptFiles, snapshotFiles } from '../../core/snapshot/file.ts'
import { CLOCK, SCALAR, SESSION } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { createState, type State } from '../../core/state/state.ts'
import { realIo } from '../../core/lib/io.ts'
import { genesisText, pairSpec } from '../support/variants.ts'

const START = 1_700_000_000_000
const DAY = 1_000_000
const DAYS = 4
const RECEIPTS = 1_200_000
const WAIT_DAYS = 300 * 86_400_000

const source = genesisText({
  limits: { receipts: RECEIPTS, receiptPages: 64, receiptLifetimeMs: DAY, orders: 1024, sessionLifetimeMs: WAIT_DAYS }, rules: 0,
  dailyLimit: 2, pairs: [pairSpec('BTC/USD', { minNotional: '0' })], assets: [['USD', 6, '1000000'], ['BTC', 8, '100']],
})
const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
const C = ORDER_COMMAND.at

/** Applies `command`; word 0 is the first of its RESULT. */
function run(state: State, time: number): Int32Array {
  setTime(state, time)
  apply(state, command, 0)
  const result = state.outbox.i32.subarray((state.outbox.count - 1) * RECORD_WORDS, state.outbox.count * RECORD_WORDS)
  state.outbox.count = 0
  return result
}

/** Order number `n`, IOC and so at rest nowhere. True when it was answered once more; throws when it is refused. */
function order(state: State, n: number, time: number): boolean {
  for (let word = 0; word < 4; word++) {
    const key = Math.imul(n + 1, 0x9e3779b1 + word * 2)
    command.i32[C.key + word] = key ^ (key >>> 13)
    command.i32[C.payload + word] = n
  }
  const result = run(state, time)
  if (result[RESULT.at.code] !== 0) throw new Error(`order ${n} is refused with ${result[RESULT.at.code]}`)
  return (result[RESULT.at.flags]! & Flag.REPEATED) !== 0
}

function begin(state: State): void {
  const wallet = { session: -1, address: 'a'.repeat(40), publicKey: 'a'.repeat(64) }
  encode(OPEN_SESSION_COMMAND, command, 0, { kind: kindOf(CommandType.OPEN_SESSION, 1, 1), ...wallet })
  run(state, START)
  encode(MINT_COMMAND, command, 0, { kind: kindOf(CommandType.MINT, 1, 1), session: 0, sessionGeneration: 1, asset: -1 })
  run(state, START)
}

const writeOrder = (state: State): void =>
  encode(ORDER_COMMAND, command, 0, {
    kind: kindOf(CommandType.PLACE_ORDER, 1, 1), session: 0, sessionGeneration: state.sessions[SESSION.GENERATION]!,
    flags: Flag.IOC, options: Option.KEYED, price: 1000, lots: 1, key: '0'.repeat(32), payload: '0'.repeat(32),
  })

t.test('receipts of four days', async (t) => {
  const dataDir = mkdtempSync(join(import.meta.dirname, '..', '..', 'data', 'var-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const failed = (error: Error): void => {
    throw error
  }
  let snapshots = snapshotFiles(dataDir, receiptFiles(dataDir, { failed }))
  let state = createState(parseGenesis(source), undefined, undefined, snapshots.receipts)
  begin(state)
  writeOrder(state)
  const bytes: number[] = []
  for (let n = 0; n < DAYS * DAY; n++) {
    const time = START + 1 + n
    if (order(state, n, time)) return t.fail(`order ${n} is new`)
    // One of the day before this one, now and then: the oldest that is still kept, the newest that is not, and any.
    if (n % 997 === 0 && n > DAY && !order(state, n - 1 - ((n * 7) % (DAY - 2)), time)) return t.fail(`a day before ${n} is kept`)
    if ((n + 1) % (DAY / 4) !== 0) continue
    snapshots.write(state, source, 1, 2)
    snapshots.prune(2)
    bytes.push(pageFilesBytes(receiptDirectory(dataDir)))
    if (n + 1 !== 2 * DAY + DAY / 2) continue
    // Another process, from here on.
    checkInvariants(state)
    snapshots = snapshotFiles(dataDir, receiptFiles(dataDir, { failed }))
    state = snapshots.load(state.clock[CLOCK.SEQUENCE]!, realIo).state
    writeOrder(state)
  }
  checkInvariants(state)
  t.ok(state.scalars[SCALAR.RECEIPTS_COUNT]! <= DAY + DAY / 900, `${state.scalars[SCALAR.RECEIPTS_COUNT]} are kept`)
  const firstDay = Math.max(...bytes.slice(0, 4))
  // A file is removed as a whole, and when the older of two snapshots has no use for it.
  const most = firstDay * 1.5 + 2 * 2 ** 26
  t.comment(`MiB of files, four times a day: ${bytes.map((each) => Math.round(each / 2 ** 20)).join(' ')}`)
  t.ok(Math.max(...bytes) <= most, 'files do not grow')
  t.ok(Math.max(...bytes.slice(8)) <= Math.max(...bytes.slice(4, 12)) + 2 ** 26, 'nor from day to day')
  t.equal(state.scalars[SCALAR.RECEIPT_PAGES_USED], 64, 'the memory of pages is used again')
  t.ok(order(state, DAYS * DAY - 1, START + DAYS * DAY + 1), 'the newest is answered')
  t.notOk(order(state, 5, START + DAYS * DAY + 1), 'what is days old is new')
})
