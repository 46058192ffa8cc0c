/**
 * Promise: decimals are exact. Text becomes an integer and the same text again, whatever has no exact place is refused, and the fast path
 * of order entry agrees with the careful one.
 */
import t from 'tap'
import { formatDecimal, parseDecimal, parsePositive, scaleOf } from '../../core/lib/decimal.ts'
import { createPrng } from '../../core/lib/prng.ts'

const SEED = Number(process.env['SEED'] ?? 1)
const random = createPrng(SEED)
t.comment(`SEED=${SEED} node_modules/.bin/node --disable-warning=ExperimentalWarning test/unit/decimal.test.ts`)

const digits = (count: number): string => Array.from({ length: count }, () => random.below(10)).join('')
/** A text of the accepted form; zeros are frequent, at both ends too. */
function decimalText(): string {
  const zeros = '0'.repeat(random.below(4) === 0 ? random.below(5) : 0)
  const integer = (zeros + digits(1 + random.below(20))).slice(0, 28)
  if (random.below(3) === 0) return integer
  return `${integer}.${(digits(1 + random.below(14)) + '0'.repeat(random.below(5))).slice(0, 18)}`
}

t.test('examples', async (t) => {
  const table: [text: string, scale: number, units: bigint | null][] = [
    ['0', 0, 0n], ['1', 0, 1n], ['1', 4, 10_000n], ['1.25', 4, 12_500n], ['1.25', 2, 125n], ['1.25', 1, null], ['1.20', 1, 12n],
    ['1.0', 0, 1n], ['-1.25', 2, -125n], ['0.000000000000000001', 18, 1n], ['0.000000000000000001', 17, null], ['007', 0, 7n],
    ['00.50', 1, 5n],
    ['9'.repeat(28), 0, BigInt('9'.repeat(28))], [`${'9'.repeat(28)}.${'9'.repeat(18)}`, 18, BigInt('9'.repeat(46))],
    [`-${'9'.repeat(28)}.${'9'.repeat(18)}`, 18, -BigInt('9'.repeat(46))],
    // The pattern of amounts admits it; it is nothing but zero.
    ['-0', 3, 0n], ['-0.00', 3, 0n],
  ]
  for (const [text, scale, units] of table) t.equal(parseDecimal(text, scale), units, `${text} at ${scale}`)
  t.same([formatDecimal(12_500n, 4), formatDecimal(-125n, 2), formatDecimal(5n, 1), formatDecimal(0n, 5)], ['1.25', '-1.25', '0.5', '0'])
  t.same([formatDecimal(100n, 0), formatDecimal(100, 2), formatDecimal(-1, 18)], ['100', '1', '-0.000000000000000001'])
  t.same(['1', '1.0', '1.50', '0.000001', '-2.25'].map(scaleOf), [0, 0, 1, 6, 2])
})

const REFUSED = [
  '', ' ', '.', '-', '+1', '--1', '1e3', '1E3', '1e-3', '.5', '1.', '-.5', '-1.', '1..2', '1.2.3', '1,5', '1_000', ' 1', '1 ', '1\n',
  '\t1', '1 000', '0x10', '0b1', '1n', 'NaN', 'Infinity', '-Infinity', 'null', '１２', '١٢', '1．5', '½', '1\u00a0', '1\u0000', '−1',
  '1'.repeat(29), `0.${'1'.repeat(19)}`, `0.${'0'.repeat(19)}`, '0'.repeat(29), `${'1'.repeat(28)}.${'1'.repeat(19)}`,
  '1'.repeat(10_000), `1.${'0'.repeat(10_000)}`,
]

t.test('what is no decimal is refused by both', async (t) => {
  for (const text of REFUSED) {
    t.equal(parseDecimal(text, 18), null, JSON.stringify(text.slice(0, 40)))
    t.equal(parsePositive(text, 4), -1, JSON.stringify(text.slice(0, 40)))
    t.throws(() => scaleOf(text), /not a decimal/)
  }
})

t.test('what is not positive is refused by the fast path', async (t) => {
  for (const text of ['0', '0.0', '-0', '-1', '-0.5', '000', '0.00000']) t.equal(parsePositive(text, 8), -1, text)
})

t.test('the largest safe integer is the last', async (t) => {
  for (const [text, scale, units] of [
    ['9007199254740991', 0, 9007199254740991], ['9007199254740992', 0, -1], ['9007199254740993', 0, -1],
    ['90071992547409.91', 2, 9007199254740991], ['90071992547409.92', 2, -1], ['9007199254.740991', 6, 9007199254740991],
    ['9007199254740991.000', 0, 9007199254740991],
    ['9007199254740.9915', 3, -1], ['900719925474099', 1, 9007199254740990], ['900719925474100', 1, -1],
  ] as const) t.equal(parsePositive(text, scale), units, `${text} at ${scale}`)
})

t.test('20,000 random decimals: there and back', async (t) => {
  const wrong: string[] = []
  for (let index = 0; index < 20_000; index++) {
    const text = `${random.below(4) === 0 ? '-' : ''}${decimalText()}`
    const scale = random.below(19)
    const needs = scaleOf(text)
    const units = parseDecimal(text, scale)
    if ((units === null) !== needs > scale) wrong.push(`${text} at ${scale}: ${units}, but it needs ${needs}`)
    if (units === null) continue
    const canonical = text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text
    const expected = canonical.replace(/^(-?)0+(?=\d)/, '$1').replace(/^-0$/, '0')
    if (formatDecimal(units, scale) !== expected) wrong.push(`${text} at ${scale}: ${formatDecimal(units, scale)} instead of ${expected}`)
    if (parseDecimal(formatDecimal(units, scale), scale) !== units) wrong.push(`${text} at ${scale}: another number after formatting`)
    if (units <= BigInt(Number.MAX_SAFE_INTEGER) && units >= -BigInt(Number.MAX_SAFE_INTEGER)) {
      if (formatDecimal(Number(units), scale) !== formatDecimal(units, scale)) wrong.push(`${text} at ${scale}: number and BigInt differ`)
    }
  }
  t.same(wrong.slice(0, 5), [])
})

t.test('20,000 random texts: the fast path agrees', async (t) => {
  const wrong: string[] = []
  let accepted = 0
  const noise = '0123456789.-+e ١'
  for (let index = 0; index < 20_000; index++) {
    let text = random.below(5) === 0 ? decimalText() : decimalText().slice(0, 1 + random.below(12))
    if (random.below(4) === 0) {
      const at = random.below(text.length)
      text = text.slice(0, at) + noise[random.below(noise.length)]! + text.slice(at + random.below(2))
    }
    const scale = random.below(12)
    const careful = parseDecimal(text, scale)
    const expected = careful === null || careful <= 0n || careful > BigInt(Number.MAX_SAFE_INTEGER) ? -1 : Number(careful)
    if (parsePositive(text, scale) !== expected) wrong.push(`${text} at ${scale}: ${parsePositive(text, scale)} instead of ${expected}`)
    if (expected > 0) accepted++
  }
  t.same(wrong.slice(0, 5), [])
  t.ok(accepted > 5000, `${accepted} were accepted`)
})
