/**
 * Promise: a history reader answers while it can and says so when it cannot: it waits a moment for the sequence it is asked for, opens a
 * store that comes late or is replaced, and a long question does not keep short ones waiting.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { openTables } from '../../core/history/store/heads.ts'
import { ORDER_RECORD } from '../../core/history/store/layout.ts'
import type { HistoryOrder, HistoryReply, Listing, Queries, QueryName } from '../../core/history/answer/queries.ts'
import { historyPath, openWriter, removeStore, writePosition, type HistoryDatabase } from '../../core/history/store/store.ts'
import { outcomeOf, Reason, Status } from '../../core/layout/event.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { positionAt } from '../support/history.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const directory = temporaryDirectory()
const path = historyPath(directory)
const channel = new MessageChannel()
const genesis = genesisText(VARIANTS['market']!)
const columns = createState(parseGenesis(genesis)).buffers
const worker = new Worker(join(import.meta.dirname, '..', '..', 'core', 'history', 'answer', 'reader.ts'), {
  workerData: { config: readConfig(['--data-dir', directory], {})!, genesis, columns, ports: [channel.port1] },
  transferList: [channel.port1],
})
await once(worker, 'message')
const port: MessagePort = channel.port2
t.teardown(async () => {
  const ended = once(worker, 'exit')
  worker.postMessage({ type: 'stop' })
  await ended
  port.close()
  removeDirectory(directory)
})

const waiting = new Map<number, (reply: HistoryReply) => void>()
const answered: number[] = []
port.on('message', (reply: HistoryReply) => {
  answered.push(reply.id)
  waiting.get(reply.id)!(reply)
})
let next = 1
/** Asks, and resolves with the whole reply. */
function ask<Name extends QueryName>(name: Name, question: Queries[Name]['ask'], atLeast = 0): Promise<HistoryReply> {
  const id = next++
  return new Promise((resolve) => {
    waiting.set(id, resolve)
    port.postMessage({ id, name, ask: question, atLeast })
  })
}
const order = (sequence: number): { account: number; sequence: number } => ({ account: 3, sequence })

/** Adds orders `from`..`to` of account 3 to a store and says that is where it is. */
function grow(database: HistoryDatabase, from: number, to: number): void {
  const tables = openTables(database)
  const pages = tables.pages('order_page', 64)
  const { f64, i32 } = pages.views
  database.transaction(() => {
    for (let sequence = from; sequence <= to; sequence++) {
      const at = pages.append(3)
      f64[(at + ORDER_RECORD.at.sequence) >>> 1] = sequence
      f64[(at + ORDER_RECORD.at.createdAt) >>> 1] = sequence * 10
      i32[at + ORDER_RECORD.at.outcome] = outcomeOf(Status.CANCELLED, Reason.USER_CANCELLED)
    }
    pages.flush()
    writePosition(database, positionAt(to, tables.flush()))
  })()
}
const found = (reply: HistoryReply): number | null | undefined => {
  if (!('answer' in reply)) return undefined
  return (reply.answer as HistoryOrder | null)?.sequence ?? null
}

t.test('no store yet, then one', async (t) => {
  t.match(await ask('order', order(1)), { failed: /./ }, 'it says that it cannot')
  const database = openWriter(path)
  t.match(await ask('order', order(1)), { failed: /not there yet/ }, 'an empty file is no history')
  grow(database, 1, 10)
  t.equal(found(await ask('order', order(7))), 7, 'found once it is there')
  t.equal(found(await ask('order', order(11))), null, 'not what is not')
  t.equal(found(await ask('order', { account: 4, sequence: 7 })), null, 'not for somebody else')
  database.close()
})

t.test('it waits for the sequence it is asked for, but not for ever', async (t) => {
  const database = openWriter(path)
  let last = 10
  let asked = 0
  let early: HistoryReply | null = null
  // A store that is slower than the reader's patience is answered as it was; then with the next orders.
  for (let tries = 0; tries < 50 && (early === null || !('answer' in early) || early.sequence < asked); tries++) {
    asked = last + 5
    const waits = ask('order', order(asked), asked)
    t.equal(found(await ask('order', order(1))), 1, 'others pass it')
    grow(database, last + 1, last + 10)
    last += 10
    early = await waits
  }
  t.equal(found(early!), asked, 'answered when the store got there')
  const never = await ask('order', order(last), 1_000_000)
  t.equal(found(never), last, 'answered with what there is when it does not')
  t.match([early, never], [{ sequence: last }, { sequence: last }], 'and it says how far that is')
  database.close()
})

t.test('a store is replaced', async (t) => {
  removeStore(path)
  const database = openWriter(path)
  grow(database, 101, 110)
  database.close()
  let reply = await ask('order', order(105))
  for (let tries = 0; tries < 200 && found(reply) !== 105; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    reply = await ask('order', order(105))
  }
  t.equal(found(reply), 105, 'the new one is read')
  t.equal(found(await ask('order', order(7))), null, 'the old one is not')
})

t.test('a long question and short ones', async (t) => {
  const database = openWriter(path)
  grow(database, 111, 60_000)
  database.close()
  answered.length = 0
  const walk = { limit: 1, skip: 0, after: null, countMost: 0 }
  const first = next
  const long = ask('orders', { ...walk, account: 3, statuses: [Status.FILLED] })
  const short = [200, 300, 400].map((sequence) => ask('order', order(sequence)))
  t.strictSame((await Promise.all(short)).map(found), [200, 300, 400], 'the short ones')
  t.strictSame((await long as { answer: Listing<HistoryOrder> }).answer, { rows: [], total: 0, more: false }, 'the long one')
  t.equal(answered.at(-1), first, 'asked first, answered last')
})
