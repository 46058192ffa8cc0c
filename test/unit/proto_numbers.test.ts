/** Promise: a number of a field or of an enumeration's value never means something else, whatever becomes of the declarations. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import Type from 'typebox'
import { LOCK, Protos, type Lock } from '../../gateway/generate/protos.ts'
import { operation } from '../../gateway/operations/operation.ts'
import { operationsOf } from '../../gateway/operations/index.ts'
import { field, record } from '../../gateway/operations/schema.ts'

const lock = JSON.parse(readFileSync(LOCK, 'utf8')) as Lock
const FILE = 'proto/svc/v1/trades_service.proto'

/** The lock and the file after an operation with these input fields was generated. */
function generated(before: Lock, fields: Parameters<typeof Type.Object>[0]): { lock: Lock; text: string } {
  const CountTrades = operation({
    service: 'TradesService', method: 'GET', path: '/api/v1/trades/count',
    access: 'public', agent: '-', maintenance: 'open', rate: 'none',
    summary: 'Count trades', description: 'Counts them.', answer: 'The count.', refusals: [],
    query: Type.Object(fields), output: Type.Object({ count: field(Type.Integer(), 'Trades.') }),
    example: { input: {}, output: { count: 1 } },
    run: (_gateway, call) => call.answer({ count: 1 }),
  })
  const protos = new Protos(before, operationsOf({ CountTrades }))
  return { lock: protos.lock, text: protos.texts().get(FILE)! }
}
const colour = (...names: string[]) =>
  Type.Optional(record('Colour', 'A colour.', Type.Union(names.map((name) => Type.Literal(name)))))
const request = 'svc.v1.CountTradesRequest'

t.test('what is new gets the next number, what is gone leaves its own reserved', async (t) => {
  const first = generated(lock, { a: Type.Optional(Type.String()), colour: colour('red', 'blue') })
  t.strictSame(first.lock.messages[request], { a: '1: optional string', colour: '2: optional svc.v1.Colour' })
  t.strictSame(first.lock.enums['svc.v1.Colour'], { COLOUR_UNSPECIFIED: '0', COLOUR_RED: '1', COLOUR_BLUE: '2' })
  t.match(first.text, 'rpc CountTrades(CountTradesRequest) returns (CountTradesResponse);')
  t.match(first.text, /message CountTradesResponse \{\n {2}\/\/ Trades\.\n {2}int64 count = 1;\n\}/)
  const second = generated(first.lock, { b: Type.Optional(Type.Boolean()), colour: colour('green', 'red') })
  t.strictSame(second.lock.messages[request], { ...first.lock.messages[request], b: '3: optional bool' })
  t.strictSame(second.lock.enums['svc.v1.Colour'], { ...first.lock.enums['svc.v1.Colour'], COLOUR_GREEN: '3' })
  t.match(second.text, /message CountTradesRequest \{\n {2}reserved 1;\n {2}reserved "a";\n/)
  const third = generated(second.lock, { a: Type.Optional(Type.String()), c: Type.Optional(Type.String()) })
  t.match(third.lock.messages[request], { a: '1: optional string', c: '4: optional string' }, 'who comes back has its number')
})

t.test('a field that becomes something else is refused', async (t) => {
  const first = generated(lock, { a: Type.Optional(Type.String()), colour: colour('red') })
  t.throws(() => generated(first.lock, { a: Type.Optional(Type.Boolean()) }), /CountTradesRequest.a is "1: optional string"/)
  t.throws(() => generated(first.lock, { a: Type.Array(Type.String()) }), /CountTradesRequest.a/)
  t.throws(() => generated(first.lock, { colour: Type.Optional(Type.Integer()) }), /CountTradesRequest.colour/)
})
