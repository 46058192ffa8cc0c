/** Promise: a refused input says which field is wrong and what it may be: choices are listed, forms are told in words, limits are named. */
import t from 'tap'
import Type from 'typebox'
import { compile, Nullable, Uuid } from '../../gateway/operations/operation.ts'
import { Amount } from '../../gateway/operations/amounts.ts'
import { SessionKey } from '../../gateway/operations/auth.ts'

const { check } = compile(Type.Object({
  side: Type.Optional(Type.Union([Type.Literal('BUY'), Type.Literal('SELL')])),
  only: Type.Optional(Type.Literal('SUCCESS')),
  status: Type.Optional(Type.Array(Type.Enum(['FILLED', 'CANCELLED']))),
  maybe: Type.Optional(Nullable(Type.Union([Type.Literal('A'), Type.Literal('B')]))),
  pair: Type.Optional(Uuid),
  amount: Type.Optional(Amount),
  key: Type.Optional(SessionKey),
  other: Type.Optional(Type.String({ pattern: '^x$' })),
  depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 3 })),
  either: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
  inner: Type.Optional(Type.Object({ list: Type.Array(Type.Object({ name: Type.String() })) })),
}))

const CASES: readonly (readonly [input: object, field: string, message: RegExp])[] = [
  [{ side: 'buy' }, 'side', /^side must be one of BUY, SELL$/],
  [{ side: 7 }, 'side', /^side must be one of BUY, SELL$/],
  [{ only: 'no' }, 'only', /^only must be SUCCESS$/],
  [{ status: ['FILLED', 'OPEN'] }, 'status', /^status must be one of FILLED, CANCELLED$/],
  [{ maybe: 'C' }, 'maybe', /^maybe must be one of A, B$/],
  [{ pair: 'BTC' }, 'pair', /^pair must be a UUID/],
  [{ amount: '1e3' }, 'amount', /^amount must be a decimal string.* 28 .* 18 /],
  [{ key: 'AB' }, 'key', /^key must be an ed25519 public key: 64 lowercase hex digits$/],
  [{ other: 'y' }, 'other', /^other has the wrong form$/],
  [{ depth: 1001 }, 'depth', /^depth .*1000/],
  [{ depth: 0 }, 'depth', /^depth .*1/],
  [{ text: 'abcd' }, 'text', /^text .*3/],
  [{ text: '' }, 'text', /^text .*1/],
  [{ either: true }, 'either', /^either /],
  [{ inner: {} }, 'inner.list', /^inner\.list is required$/],
  [{ inner: { list: [{ name: 'a' }, {}] } }, 'inner.list.name', /^inner\.list\.name is required$/],
]

t.test('each fault has its field and its remedy', async (t) => {
  for (const [input, field, message] of CASES) {
    const refused = check(input)
    t.match(refused, { code: 'VALIDATION_ERROR', details: { field } }, JSON.stringify(input))
    t.match(refused?.message, message)
  }
  t.equal(check({ side: 'BUY', maybe: null, either: 'x' }), null)
})
