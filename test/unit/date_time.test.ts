/** Promise: a moment in a request is one that the calendar and the clock have, or it is refused; nothing is turned into another day. */
import t from 'tap'
import { rfc3339 } from '../../gateway/operations/operation.ts'
import { parseDateTime } from '../../gateway/operations/date_time.ts'

const MOMENTS: [text: string, iso: string][] = [
  ['2027-02-28T23:59:59Z', '2027-02-28T23:59:59.000Z'], ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'], ['2027-12-31t23:59:59.123456789z', '2027-12-31T23:59:59.123Z'],
  ['2027-01-01T00:00:00+14:00', '2026-12-31T10:00:00.000Z'], ['2027-04-30T12:00:00-00:30', '2027-04-30T12:30:00.000Z'],
]
const NONE = [
  '2027-02-30T00:00:00Z', '2027-02-29T00:00:00Z', '2100-02-29T00:00:00Z', '2027-04-31T00:00:00Z', '2027-13-01T00:00:00Z',
  '2027-00-01T00:00:00Z',
  '2027-01-00T00:00:00Z', '2027-01-32T00:00:00Z', '2027-01-01T24:00:00Z', '2027-01-01T00:60:00Z', '2016-12-31T23:59:60Z',
  '2027-01-01T00:00:00+24:00', '2027-01-01T00:00:00+01:60', '2027-01-01', '2027-01-01T00:00:00', '2027-01-01T00:00Z', '27-01-01T00:00:00Z',
  '2027-02-30', '1 March 2027', '', ' 2027-01-01T00:00:00Z', '2027-01-01T00:00:00.Z', '+002027-01-01T00:00:00Z',
]

t.test('what there is', async (t) => {
  for (const [text, iso] of MOMENTS) t.equal(new Date(parseDateTime(text)).toISOString(), iso, text)
})

t.test('what there is not', async (t) => {
  for (const text of NONE) t.ok(Number.isNaN(parseDateTime(text)), text)
})

t.test('every day of four hundred years, and the one after each month', async (t) => {
  let [right, wrong] = [0, 0]
  for (let year = 1900; year < 2300; year++) {
    for (let month = 1; month <= 12; month++) {
      const days = new Date(Date.UTC(year, month, 0)).getUTCDate()
      for (let day = 1; day <= 31; day++) {
        const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}T00:00:00Z`
        if (Number.isNaN(parseDateTime(text)) === day > days) right++
        else wrong++
      }
    }
  }
  t.equal(wrong, 0)
  t.equal(right, 400 * 12 * 31)
})

t.test('the text of a time is that of this time, whatever the one before was', async (t) => {
  const text = '2026-01-15T09:30:02.125Z'
  const at = Date.parse(text)
  t.same([at, at, at + 1, at, 0].map(rfc3339), [text, text, '2026-01-15T09:30:02.126Z', text, '1970-01-01T00:00:00.000Z'])
  t.throws(() => rfc3339(Number.NaN), RangeError)
  t.equal(rfc3339(at), text)
})
