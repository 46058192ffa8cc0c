/** What must always hold of receipts (I11), over the whole state. See invariants.ts, which runs it, and programs/receipts.ts. */
import { broken } from '../lib/assert.ts'
import { CLOCK, SCALAR } from './columns.ts'
import { findReceipt } from './receipt_index.ts'
import { eachReceiptInMemory, isForgotten, numberOf, pageOf, RECEIPT, timeOfReceipt } from './receipt_pages.ts'
import type { State } from './state.ts'

/** Those of the store are not read back: a snapshot that is loaded has all of them checked. */
export function checkReceipts(state: State): void {
  const { scalars, i32, receiptRoom, genesis } = state
  const count = scalars[SCALAR.RECEIPTS_COUNT]!
  if (count > genesis.limits.receipts) broken('I11', `${count} receipts`)
  let [before, next, seen, last] = [0, -1, 0, -1]
  const look = (number: number, position: number, page: number, at: number): void => {
    if (next !== -1 && number !== next) broken('I11', `receipt ${number} stands where ${next} should`)
    next = (number + 1) % receiptRoom.numbers
    seen++
    if (pageOf(state, position) !== last) {
      last = pageOf(state, position)
      if (numberOf(state, last, page, at - page) !== number) broken('I11', `page ${last} has receipt ${number} by another number`)
    }
    const time = timeOfReceipt(state, page, at)
    if (time < before || time > state.clock[CLOCK.TIME]!) broken('I11', `receipt ${number} is out of order`)
    before = time
    if (isForgotten(state, number)) return
    const found = findReceipt(state, i32[at + RECEIPT.ACCOUNT]!, i32, at + RECEIPT.KEY)
    if (found !== position) broken('I11', `the key of receipt ${number} leads to ${found}, not ${position}`)
  }
  const inMemory = eachReceiptInMemory(state, look)
  const end = (scalars[SCALAR.RECEIPTS_HEAD]! + count) % receiptRoom.numbers
  if (count > 0 && next !== end) broken('I11', `receipts end before ${next}, not ${end}`)
  if (inMemory && seen !== count) broken('I11', `${seen} receipts of ${count}`)
}
