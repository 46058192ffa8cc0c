/**
 * nodejs-order-book in a quick thread like the engine's, with the same orders and cancels: rounds on fresh books when asked. It names
 * orders by text and takes objects; both are made beforehand.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { OrderBook, Side } from 'nodejs-order-book'
import { CommandType, Flag, ORDER_COMMAND, typeOfKind } from '../../core/layout/command.ts'
import { RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import type { CoreWork } from './core_thread.ts'

type Operation = { readonly cancel: string } | { readonly side: Side; readonly id: string; readonly size: number; readonly price: number }

const work = workerData as CoreWork
const records = viewsOf(work.records)

/** Record `index` of the flow. The sequence that a cancel names is the order's number after the sign-ins. */
function operationOf(index: number): Operation {
  const { i32, u32, f64 } = records
  const base = index * RECORD_WORDS
  const { at } = ORDER_COMMAND
  if (typeOfKind(u32[base]!) === CommandType.CANCEL_ORDER) return { cancel: String(f64[(base + at.targetSequence) >>> 1]!) }
  const side = (i32[base + at.flags]! & Flag.SELL) !== 0 ? Side.SELL : Side.BUY
  return { side, id: String(work.accounts + index + 1), size: i32[base + at.lots]!, price: i32[base + at.price]! }
}

const operations = Array.from({ length: work.build + work.timed }, (_, index) => operationOf(index))

function apply(book: OrderBook, from: number, to: number): void {
  for (let index = from; index < to; index++) {
    const operation = operations[index]!
    if ('cancel' in operation) book.cancel(operation.cancel)
    else book.limit(operation)
  }
}

/** ns per command. */
function timeRound(): number {
  const book = new OrderBook()
  apply(book, 0, work.build)
  const started = performance.now()
  apply(book, work.build, work.build + work.timed)
  return ((performance.now() - started) * 1e6) / work.timed
}

parentPort!.on('message', (asked: 'round' | 'finish') => {
  if (asked === 'finish') return parentPort!.close()
  parentPort!.postMessage(timeRound())
})
