/**
 * Promise: a time that can only be seconds is refused and the refusal says milliseconds; symbols have one grammar, which a new exchange's
 * genesis keeps too.
 */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ASSET_SYMBOL, PERPETUAL_SYMBOL, SPOT_SYMBOL } from '../../core/layout/symbols.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { checkSymbols } from '../../core/state/genesis_symbols.ts'
import { timeRangeOf } from '../../gateway/operations/history_filters.ts'
import { Refused } from '../../gateway/refused.ts'

t.test('a range of time', async (t) => {
  const says = (range: { startTime?: string; endTime?: string }): unknown => {
    const found = timeRangeOf(range)
    return found instanceof Refused ? [found.details, found.message] : found
  }
  const [ms, text] = [1_768_467_600_000, '2026-01-15T09:00:00Z']
  t.same(says({ startTime: String(ms), endTime: text }), { from: ms, to: ms })
  t.same(says({ startTime: '0' }), { from: 0, to: undefined }, '0 is the beginning in every unit')
  t.same(says({ startTime: '978307200000' }), { from: 978_307_200_000, to: undefined })
  t.same(says({ startTime: '1999-01-01T00:00:00Z' }), { from: Date.UTC(1999, 0, 1), to: undefined }, 'which a text may be')
  for (const field of ['startTime', 'endTime']) {
    for (const seconds of ['1', '1768467600', '978307199999', '0001768467600']) {
      t.same(says({ [field]: seconds }), [{ field }, `${field} must be Unix milliseconds, not seconds: ${seconds} is before 2001`])
    }
    t.same(says({ [field]: 'x' }), [{ field }, `${field} must be Unix ms or an RFC 3339 date-time`])
  }
})

const ODD = [
  '', 'a', 'A,B', '"><img', '__proto__', 'constructor', 'A B', 'A/B/C', 'A\n', 'É', 'A'.repeat(17), '/', 'A/', '/A', 'A/b', 'A/B-perp',
]

t.test('forms of symbols', async (t) => {
  for (const odd of ODD) t.notOk([ASSET_SYMBOL, SPOT_SYMBOL, PERPETUAL_SYMBOL].some((form) => form.test(odd)), JSON.stringify(odd))
  t.ok(['A', 'BTC', '1INCH', 'BRK.B', 'A'.repeat(16)].every((symbol) => ASSET_SYMBOL.test(symbol)))
  t.ok(SPOT_SYMBOL.test('BRK.B/USDC') && PERPETUAL_SYMBOL.test('BTC/USDC-PERP'))
  t.notOk(SPOT_SYMBOL.test('BTC/USDC-PERP') || PERPETUAL_SYMBOL.test('BTC/USDC') || ASSET_SYMBOL.test('BTC/USDC'))
})

t.test('a genesis that begins an exchange', async (t) => {
  const shipped = readFileSync(join(import.meta.dirname, '..', '..', 'data', 'genesis', 'genesis.json'), 'utf8')
  checkSymbols(parseGenesis(shipped))
  const changed = (change: (json: { assets: { symbol: string }[]; pairs: { symbol: string; perp?: object }[] }) => void): (() => void) => {
    const json = JSON.parse(shipped) as Parameters<typeof change>[0]
    change(json)
    return () => checkSymbols(parseGenesis(JSON.stringify(json)))
  }
  const odd = { id: 'x', token: 'y', symbol: 'A,B' }
  t.throws(changed(({ assets }) => void assets.push({ ...assets[0]!, ...odd })), /"A,B" is not of 1 to 16/)
  t.throws(changed(({ pairs }) => void (pairs[0]!.symbol = 'BTCUSDC')), /"BTCUSDC" is not of the form BASE\/QUOTE/)
  t.throws(changed(({ pairs }) => void (pairs[0]!.symbol = 'BTC/EUR-PERP')), /is not of the form BASE\/QUOTE/)
  t.throws(changed(({ pairs }) => void (pairs.find(({ perp }) => perp !== undefined)!.symbol = 'BTC/EUR')), /of the form BASE\/QUOTE-PERP/)
})
