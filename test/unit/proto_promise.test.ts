/**
 * The .proto files keep what they promised (proto/baseline.json) and follow buf's STANDARD rules.
 *
 * `npm run generate` notes additions; what stands there never changes (gateway/generate/protos.ts).
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import protobuf from 'protobufjs'
import t from 'tap'
import { enumPrefix } from '../../gateway/grpc/mapping.ts'
import { loadSchema, PROTO_ROOT, protoFiles } from '../../gateway/grpc/schema.ts'
import { breaking, promiseOf, readBaseline, type Promise } from '../support/proto_baseline.ts'

const root = loadSchema(true)
const promise = promiseOf(root)

t.test('nothing that clients rely on is taken back', async (t) => {
  const broken = breaking(readBaseline(), promise)
  t.same(broken, [], 'removed, renumbered, retyped or relabelled')
  t.same(promise, readBaseline(), 'npm run generate notes what is new')
})

t.test('every kind of breaking change is noticed', async (t) => {
  const order = 'svc.v1.CreateOrderRequest'
  const change = (edit: (after: Promise) => void): string[] => {
    const after = structuredClone(promise)
    edit(after)
    return breaking(promise, after)
  }
  const field = (text: string): string[] => change((after) => (after.messages[order]!['price'] = text))
  t.equal(promise.messages[order]!['price'], '5: optional string')
  t.match(field('6: optional string'), [/price was "5: optional string" and is "6: optional string"/], 'renumbered')
  t.match(field('5: optional int64'), [/price/], 'retyped')
  t.match(field('5: string'), [/price/], 'without presence')
  t.match(field('5: repeated string'), [/price/], 'another label')
  t.match(change((after) => delete after.messages[order]!['price']), [/price is gone/], 'removed field')
  t.match(change((after) => delete after.messages[order]), [/CreateOrderRequest is gone/], 'removed message')
  t.match(change((after) => delete after.enums['svc.v1.Side']!['SIDE_SELL']), [/SIDE_SELL is gone/], 'removed value')
  t.match(change((after) => (after.enums['svc.v1.Side']!['SIDE_SELL'] = '3')), [/SIDE_SELL/], 'renumbered value')
  t.match(change((after) => delete after.services['svc.v1.OrdersService']!['CreateOrder']), [/CreateOrder is gone/], 'removed method')
  const unary = 'StreamOrdersRequest -> StreamOrdersResponse'
  t.match(change((after) => (after.services['svc.v1.OrdersService']!['StreamOrders'] = unary)), [/StreamOrders/], 'no stream any more')
  const action = 'svc.v1.StreamOrdersAction'
  const alone = '3: svc.v1.CreateOrderRequest'
  t.match(change((after) => (after.messages[action]!['create_order'] = alone)), [/create_order/], 'out of its oneof')
  t.same(change((after) => (after.messages[order]!['new'] = '99: optional string')), [], 'an addition is none')
})

const PASCAL = /^[A-Z][a-zA-Z0-9]*$/
const SNAKE = /^[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*$/

t.test('names follow the rules', async (t) => {
  for (const [name, fields] of Object.entries(promise.messages)) {
    t.match(name.split('.').at(-1), PASCAL, name)
    // A digit after an underscore has no JSON name that every library agrees on.
    for (const field of Object.keys(fields)) t.match(field, SNAKE, `${name}.${field}`)
  }
  for (const [full, values] of Object.entries(promise.enums)) {
    const name = full.split('.').at(-1)!
    t.match(name, PASCAL, full)
    const prefix = enumPrefix(name)
    t.equal(values[`${prefix}UNSPECIFIED`], '0', `${full} has an UNSPECIFIED zero`)
    t.same(Object.keys(values).filter((value) => !value.startsWith(prefix)), [], `values of ${full} have its prefix`)
    t.equal(new Set(Object.values(values)).size, Object.values(values).length, `${full} has no aliases`)
  }
  const types: string[] = []
  for (const [full, methods] of Object.entries(promise.services)) {
    t.match(full, /Service$/, `${full} is called a service`)
    for (const [method, text] of Object.entries(methods)) {
      t.match(method, PASCAL, method)
      t.equal(text.replaceAll('stream ', ''), `${method}Request -> ${method}Response`, `${method} has messages of its own`)
      types.push(...text.replaceAll('stream ', '').split(' -> '))
    }
  }
  t.equal(new Set(types).size, types.length, 'no message serves two methods')
})

t.test('files follow the rules', async (t) => {
  const files = protoFiles()
  t.ok(files.length > 10)
  const defined = new Map(files.map((file) => [file, namesIn(file)]))
  for (const file of files) {
    const text = readFileSync(join(PROTO_ROOT, file), 'utf8')
    t.match(file, /^svc\/v1\/[a-z][a-z0-9_]*\.proto$/, `${file} is where its package says`)
    t.match(text, /^syntax = "proto3";$/m, `${file} is proto3`)
    t.equal(/^package (.+);$/m.exec(text)?.[1], 'svc.v1', `${file} is of the package`)
    const services = [...text.matchAll(/^service (\w+) /gm)].map((match) => match[1]!)
    t.ok(services.length <= 1, `${file} has one service at most`)
    for (const service of services) t.equal(file, `svc/v1/${enumPrefix(service).slice(0, -1).toLowerCase()}.proto`, `${service}'s own file`)
    const imports = [...text.matchAll(/^import "(.+)";$/gm)].map((match) => match[1]!)
    t.same(imports, [...imports].sort(), `${file} imports in order`)
    for (const target of imports) {
      const names = defined.get(target) ?? [/^google\/rpc/.test(target) ? 'google.rpc.Status' : 'google.protobuf.Timestamp']
      t.ok(names.some((name) => new RegExp(`\\b${name.replaceAll('.', '\\.')}\\b`).test(text)), `${file} uses ${target}`)
    }
  }
})

/** Messages and enumerations a file defines. */
function namesIn(file: string): string[] {
  const parsed = protobuf.parse(readFileSync(join(PROTO_ROOT, file), 'utf8'), new protobuf.Root())
  const names = (parsed.root.lookup('svc.v1') as protobuf.Namespace).nestedArray.map(({ name }) => name)
  if (names.length === 0) throw new Error(`${file} defines nothing`)
  return names
}
