/** The client derives the retry class from status and code; the register is the truth. */
import t from 'tap'
import { REFUSALS, type Refusal } from '../../core/layout/refusals.ts'
import { retryOf } from '../../gateway/client/errors.ts'

t.test('the client reads the retry class of every refusal of the register', (t) => {
  for (const { code, http, retry } of Object.values<Refusal>(REFUSALS)) t.equal(retryOf(http, code), retry, code)
  t.end()
})

t.test('answers of others: nobody knows of gateway errors, client errors are not repeated', (t) => {
  t.same([500, 502, 503, 504, 408, 409].map((status) => retryOf(status, 'UNEXPECTED_RESPONSE')), Array(6).fill('ambiguous'))
  t.same([400, 404, 431].map((status) => retryOf(status, 'UNEXPECTED_RESPONSE')), ['no', 'no', 'no'])
  t.end()
})
