/**
 * Promise: a page token opens the listing it was made for, where it was made, and nothing else; any other text is no token.
 */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { Position } from '../../core/history/answer/queries.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { makePageToken, PAGE_TOKEN_LENGTH, readPageToken, type Scope } from '../../gateway/operations/page_token.ts'

const key = randomBytes(32)
const scope: Scope = {
  operation: 'ListOrders', account: 7, direction: 'newest-first', filters: { status: ['FILLED', 'CANCELLED'], side: 'BUY', startTime: '1' },
}
const position: Position = { sequence: 123_456_789_012, index: 42 }
const token = makePageToken(key, scope, position)
const read = (text: string, of: Scope = scope): Position | null => readPageToken(key, of, text)

t.test('a token leads back to its position', async (t) => {
  t.same(read(token), position)
  t.equal(token.length, PAGE_TOKEN_LENGTH)
  t.match(token, /^[A-Za-z0-9_-]+$/, 'nothing to escape in a query')
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
  t.comment(`SEED=${seed} npm test -- test/unit/page_token.test.ts`)
  const random = createPrng(seed)
  const edges = [0, 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1]
  for (let i = 0; i < 500; i++) {
    const at = { sequence: edges[i] ?? Math.floor(random.unit() * 2 ** 53), index: i === 0 ? 2 ** 32 - 1 : random.u32() }
    if (JSON.stringify(read(makePageToken(key, scope, at))) !== JSON.stringify(at)) t.fail(`position ${JSON.stringify(at)}`)
  }
})

t.test('equal filters are the same listing however they are written', async (t) => {
  const same = { side: 'BUY', clientOrderId: undefined, startTime: '1', status: ['CANCELLED', 'FILLED', 'FILLED'] }
  t.same(read(token, { ...scope, filters: same }), position)
})

t.test('another listing', async (t) => {
  const { filters } = scope
  const others: [string, Partial<Scope>][] = [
    ['another user', { account: 8 }], ['nobody', { account: -1 }], ['another operation', { operation: 'ListMovements' }],
    ['another direction', { direction: 'oldest-first' }], ['a filter less', { filters: { ...filters, side: undefined } }],
    ['a filter more', { filters: { ...filters, endTime: '2' } }], ['another filter', { filters: { ...filters, side: 'SELL' } }],
    ['fewer values', { filters: { ...filters, status: ['FILLED'] } }],
    ['one value for a list', { filters: { ...filters, status: 'FILLED' } }],
    ['values of one filter in another', { filters: { ...filters, startTime: undefined, endTime: '1' } }],
    ['a value that looks like two filters', { filters: { status: filters['status'], side: 'BUY","startTime":"1' } }],
    ['no filters', { filters: {} }],
  ]
  for (const [name, over] of others) t.equal(read(token, { ...scope, ...over }), null, name)
  t.equal(readPageToken(randomBytes(32), scope, token), null, 'the key of another exchange')
})

t.test('every bit and every character counts', async (t) => {
  const bytes = Buffer.from(token, 'base64url')
  let accepted = 0
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const tampered = Buffer.from(bytes)
    tampered[bit >> 3]! ^= 1 << (bit & 7)
    if (read(tampered.toString('base64url')) !== null) accepted++
  }
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= .%'
  for (let at = 0; at < token.length; at++) {
    for (const character of alphabet) {
      if (character !== token[at] && read(token.slice(0, at) + character + token.slice(at + 1)) !== null) accepted++
    }
  }
  t.equal(accepted, 0)
})

t.test('what is no token', async (t) => {
  for (let length = 0; length < token.length; length++) {
    if (read(token.slice(0, length)) !== null || read(token.slice(-length)) !== null && length > 0) t.fail(`cut to ${length}`)
  }
  const texts = [
    '', ' ', `${token}A`, `${token}=`, ` ${token}`, `${token}\n`, token.repeat(2), 'A'.repeat(40), '_'.repeat(40), 'A'.repeat(1_000_000),
    `${token.slice(0, 39)}é`, '\0'.repeat(40), encodeURIComponent(`${token}/`), Buffer.from(token, 'base64url').toString('hex'),
    '{"sequence":1,"index":0}', '1', '-1',
  ]
  for (const text of texts) t.equal(read(text), null, JSON.stringify(text.slice(0, 50)))
})
