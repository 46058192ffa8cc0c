/** Promise: a worked example that is misspelt, unfounded or miscounted is refused before it is played, and named. */
import t from 'tap'
import type { Json } from '../support/transports.ts'
import { faultsOf, readSubjects, type Example } from '../support/worked_examples.ts'

const examples = readSubjects().flatMap((subject) => subject.examples)
const find = (name: string): Example => examples.find((example) => example.name.startsWith(name))!

/** An example damaged by `change`; what is found wrong with it. */
function damaged(name: string, change: (example: Json) => unknown): string[] {
  const copy = structuredClone(find(name)) as unknown as Json
  change(copy)
  return faultsOf(copy as unknown as Example)
}

const PLAIN = 'a limit order that meets its whole quantity'
const REFUSED = 'what is locked cannot be offered again'
const BOOK = 'levels add up their orders'
const BATCH = 'a batch is placed in its order'
type Change = (example: Json) => unknown

const cite = (text: string): Change => (example) => (example['cites'] = [text])
const leaveOpen = (step: number, field: string): Change => (example) => (example['steps'][step - 1].open = [field])

const DAMAGES: [fault: string, name: string, change: Change][] = [
  ['it has an unknown balance', PLAIN, (example) => (example['balance'] = {})],
  ['it lacks working', PLAIN, (example) => delete example['working']],
  ['it shows no working', PLAIN, (example) => (example['working'] = 'obvious')],
  ['it cites nothing', PLAIN, (example) => (example['cites'] = [])],
  ['"the specification says so" is no citation', PLAIN, cite('the specification says so')],
  ['"specification: in words" is no citation', PLAIN, cite('specification: in words')],
  ['"never said" does not stand in core/README.md', PLAIN, cite('core/README.md: never said')],
  ['no market nowhere', PLAIN, (example) => (example['market'] = 'nowhere')],
  ['step 1 is of no known kind', PLAIN, (example) => (example['steps'][0] = { who: 'ann', crate: {}, as: 'a' })],
  ['step 1 has an unknown results', PLAIN, (example) => (example['steps'][0].results = {})],
  ['step 1 lacks its outcome', PLAIN, (example) => delete example['steps'][0].result],
  ['step 1 names no order', PLAIN, (example) => delete example['steps'][0].as],
  ['step 1: result has an unknown filled', PLAIN, (example) => (example['steps'][0].result.filled = '1')],
  ['step 1: result lacks remainingQuantity', PLAIN, (example) => delete example['steps'][0].result.remainingQuantity],
  ['step 2 says actualSlippageBps and leaves it open', PLAIN, leaveOpen(2, 'actualSlippageBps')],
  ['step 2 lacks its http', REFUSED, (example) => delete example['steps'][1].refused.http],
  ['step 2 lacks its code', REFUSED, (example) => delete example['steps'][1].refused.code],
  ['step 2: refused has an unknown reason', REFUSED, (example) => (example['steps'][1].refused.reason = 'none')],
  ['step 6 says checksum and leaves it open', BOOK, leaveOpen(6, 'checksum')],
  ['step 2 has not one answer for each item', BATCH, (example) => example['steps'][1].answers.pop()],
  ['step 2 lacks its outcome', BATCH, (example) => delete example['steps'][1].answers[0].result],
  ['order a has an unknown state', PLAIN, (example) => (example['orders'].a.state = 'FILLED')],
  ['the end of order b is missing', PLAIN, (example) => delete example['orders'].b],
  ['cat has no wallet', PLAIN, (example) => (example['steps'][1].who = 'cat')],
  ['bob\'s balance of USD is missing', PLAIN, (example) => delete example['balances'].bob],
  ['the book of the other pair is missing', PLAIN, (example) => (example['other'] = 'fees')],
  ['USD does not add up', PLAIN, (example) => (example['balances'].bob.USD[0] = '899.900001')],
  ['BTC does not add up', PLAIN, (example) => (example['balances'].bob.BTC[1] = '0.00000001')],
  ['fees of orders and fees of trades differ', PLAIN, (example) => (example['orders'].b.fee = '0.100001')],
]

for (const [fault, name, change] of DAMAGES) {
  void t.test(fault, async (t) => {
    t.strictSame(faultsOf(find(name)), [], 'whole before')
    t.ok(damaged(name, change).includes(fault), damaged(name, change).join('; '))
  })
}
