/**
 * Every message is held against the schema of its operation, field by field: the same fields, the same kinds, the same presence, and an
 * enumeration value for every text. So neither form can get a field the other does not have.
 */
import protobuf from 'protobufjs'
import t, { type Test } from 'tap'
import { REASON_NAMES, STATUS_NAMES } from '../../core/layout/event.ts'
import { enumPrefix, enumSuffix, literalsOf, shapeOf, type Shape } from '../../gateway/grpc/mapping.ts'
import { compileMethods, inputShape, methodPath } from '../../gateway/grpc/methods.ts'
import { loadSchema } from '../../gateway/grpc/schema.ts'
import { streamTypes } from '../../gateway/grpc/stream_call.ts'
import { OPERATIONS } from '../../gateway/operations/index.ts'
import { formOf, type Annotated } from '../../gateway/operations/schema.ts'

const root = loadSchema()
const methods = compileMethods(root)

const WHOLE = ['int32', 'uint32', 'int64', 'uint64']

const isNull = (shape: Shape): boolean => shape.type === 'null'
/** The alternatives of a schema without null. */
const choices = (shape: Shape): readonly Shape[] => (shape.anyOf ?? [shape]).filter((each) => !isNull(each))
const nullable = (shape: Shape): boolean => shape.anyOf?.some(isNull) === true

function checkMessage(t: Test, type: protobuf.Type, shape: Shape): void {
  const formed = ([name, property]: [string, Shape & Annotated]) => [name, formOf(property)] as const
  const properties = Object.entries(shape.properties ?? {}).map(formed)
  t.same(Object.keys(type.fields).sort(), properties.map(([name]) => name).sort(), `${type.name} has the fields of its schema`)
  for (const [name, property] of properties) {
    const field = type.fields[name]
    if (field !== undefined) checkField(t, field, property, shape.required?.includes(name) === true)
  }
}

function checkField(t: Test, field: protobuf.Field, shape: Shape, required: boolean): void {
  const name = `${field.parent!.name}.${field.name}`
  const [first] = choices(shape)
  if (first!.type === 'array') {
    t.ok(field.repeated, `${name} is repeated`)
    if (first!.items !== undefined) checkKind(t, field, first!.items, name)
    return
  }
  t.notOk(field.repeated, `${name} is not repeated`)
  const optional = field.options?.['proto3_optional'] === true
  const message = field.resolvedType instanceof protobuf.Type
  // Messages have presence without the word; scalars may only be absent where JSON lets them be.
  if (!message || optional) t.equal(optional, !required || nullable(shape), `${name} is optional exactly when JSON may leave it out`)
  checkKind(t, field, shape, name)
}

/** What one value is, in both forms. */
function checkKind(t: Test, field: protobuf.Field, shape: Shape, name: string): void {
  const { resolvedType, type } = field
  const literals = literalsOf(shape)
  const [first] = choices(shape)
  if (first!.properties !== undefined) {
    t.ok(resolvedType instanceof protobuf.Type, `${name} is a message`)
    checkMessage(t, resolvedType as protobuf.Type, first!)
  } else if (literals.length > 0) {
    t.ok(resolvedType instanceof protobuf.Enum, `${name} is an enumeration`)
    const { values } = resolvedType as protobuf.Enum
    const missing = literals.filter((text) => values[enumPrefix(resolvedType!.name) + enumSuffix(text)] === undefined)
    t.same(missing, [], `${name} has a value for every text`)
  } else if ('format' in first! && first.format === 'date-time') t.equal(type, 'google.protobuf.Timestamp', `${name} is a time`)
  else if (first!.type === 'boolean') t.equal(type, 'bool', `${name} is a bool`)
  else if (choices(shape).some((each) => each.type === 'integer')) t.ok(WHOLE.includes(type), `${name} is a whole number`)
  else {
    t.equal(first!.type, 'string', `${name}: no other kinds`)
    const text = type === 'string' || resolvedType instanceof protobuf.Enum || type === 'google.protobuf.Timestamp'
    t.ok(text, `${name} is text, or one of the forms of text`)
  }
}

for (const { name, served, request, response, path } of methods) {
  t.test(name, async (t) => {
    checkMessage(t, request, inputShape(served.operation))
    checkMessage(t, response, shapeOf(served.operation.output))
    const service = root.lookupService(`svc.v1.${served.row.service}`)
    const method = service.methods[name]
    t.ok(method !== undefined, `${served.row.service} has the method`)
    t.equal(path, methodPath(served.row.service, name))
    method?.resolve()
    t.ok(method?.resolvedRequestType === request && method.resolvedResponseType === response, 'with its own messages')
  })
}

t.test('every method of every service is an operation, or the stream', async (t) => {
  const namespace = root.lookup('svc.v1') as protobuf.Namespace
  const services = namespace.nestedArray.filter((entry): entry is protobuf.Service => entry instanceof protobuf.Service)
  const found = services.flatMap((service) => service.methodsArray.map((method) => methodPath(service.name, method.name)))
  t.same(found.sort(), [...methods.map(({ path }) => path), '/svc.v1.OrdersService/StreamOrders'].sort())
  t.equal(methods.length, OPERATIONS.length)
})

t.test('the stream answers every action under the name it was asked by', async (t) => {
  const { action, answer, kinds } = streamTypes(root, methods)
  const asked = action.oneofs['action']!.oneof
  t.same([...kinds.keys()], asked)
  t.same(answer.oneofs['answer']!.oneof.filter((name) => name !== 'error').sort(), [...asked].sort())
  for (const { field, method } of kinds.values()) {
    if (method === null) continue
    t.equal(action.fields[field]!.resolvedType, method.request, field)
    t.equal(answer.fields[field]!.resolvedType, method.response, field)
  }
})

t.test('texts that schemas leave open have their values too', async (t) => {
  const has = (name: string, texts: readonly string[]): void => {
    const { values } = root.lookupEnum(`svc.v1.${name}`)
    t.same(texts.filter((text) => text !== '' && values[enumPrefix(name) + text] === undefined), [], name)
  }
  has('TerminalReason', REASON_NAMES)
  has('OrderStatus', STATUS_NAMES)
  has('SelfTradePreventionMode', ['CANCEL_TAKER', 'CANCEL_BOTH'])
})
