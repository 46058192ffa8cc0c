/** Between messages and JSON: what every operation may answer survives the way through protobuf bytes; odd values never get through. */
import protobuf from 'protobufjs'
import t from 'tap'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { Refused } from '../../gateway/refused.ts'
import { compileReader, compileWriter, literalsOf, readLong, shapeOf, type Message, type Shape } from '../../gateway/grpc/mapping.ts'
import { compileMethods, decodeMessage, inputShape } from '../../gateway/grpc/methods.ts'
import { loadSchema } from '../../gateway/grpc/schema.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const ROUNDS = 50

const root = loadSchema()
const methods = compileMethods(root)
const byName = new Map(methods.map((method) => [method.name as string, method]))

const pick = <T>(random: Prng, all: readonly T[]): T => all[random.below(all.length)]!

/** A value of a schema as it leaves an operation. `type` tells times and enumerations from other text. */
function randomValue(random: Prng, shape: Shape, field: protobuf.Field): unknown {
  const choice = shape.anyOf === undefined ? shape : pick(random, shape.anyOf)
  const literals = literalsOf(shape)
  if (choice.type === 'null') return null
  if (literals.length > 0) return pick(random, literals)
  if (choice.properties !== undefined) return randomObject(random, choice, field.resolvedType as protobuf.Type)
  if (choice.items !== undefined) return Array.from({ length: random.below(4) }, () => randomValue(random, choice.items!, field))
  if (choice.type === 'boolean') return random.below(2) === 1
  if (choice.type === 'integer') return randomInteger(random, field.type)
  if (field.type === 'google.protobuf.Timestamp') return new Date(random.below(2 ** 31) * 1000 + random.below(1000)).toISOString()
  if (field.resolvedType instanceof protobuf.Enum) {
    const name = pick(random, Object.keys(field.resolvedType.values).slice(1))
    return name.slice(name.indexOf(field.resolvedType.name.toUpperCase().slice(-4)) + 5)
  }
  return `text ${random.below(1000)} ü`
}

function randomInteger(random: Prng, type: string): number {
  if (type === 'int32') return random.below(2 ** 31) - 2 ** 30
  if (type === 'uint32') return random.below(2 ** 32)
  return random.below(2 ** 31) * 2 ** 20
}

function randomObject(random: Prng, shape: Shape, type: protobuf.Type): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(shape.properties ?? {})) {
    const required = shape.required?.includes(name) === true
    const field = type.fields[name]
    if (field === undefined || (!required && random.below(2) === 0)) continue
    const value = randomValue(random, property, field)
    // On the wire an empty list that is not required is none.
    if (required || !Array.isArray(value) || value.length > 0) object[name] = value
  }
  return object
}

/** Absent and null are the same. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null).map(([name, each]) => [name, withoutNulls(each)]))
}

t.test('what an operation may answer is read back as it was', async (t) => {
  t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/unit/grpc_mapping.test.ts`)
  const random = createPrng(SEED)
  for (const { name, response, write, served } of methods) {
    const shape = shapeOf(served.operation.output)
    const read = compileReader(response, shape)
    for (let round = 0; round < ROUNDS; round++) {
      const output = randomObject(random, shape, response)
      const bytes = response.encode(write(output)).finish()
      const back = read(response.decode(bytes) as unknown as Message)
      // Fields without presence that hold false, 0 or '' are not on the wire; the reader of responses knows them by their absence.
      const expected = withoutNulls(output) as Record<string, unknown>
      for (const { name: field, partOf } of response.fieldsArray) {
        if (partOf === null && (expected[field] === false || expected[field] === 0)) back[field] ??= expected[field]
      }
      t.same(back, expected, name)
    }
  }
})

const create = byName.get('CreateOrder')!
const bytesOf = (type: protobuf.Type, value: object): Uint8Array => type.encode(type.fromObject(value)).finish()
/** The input that CreateOrder reads of these fields, or the refusal. */
const inputOf = (value: object): any =>
  create.readInput(create.request.decode(bytesOf(create.request, value)) as unknown as Message, null)
const ORDER = {
  tradingPairId: '7a1c0000-0000-4000-8000-000000000001', orderType: 'ORDER_TYPE_LIMIT', side: 'SIDE_BUY', quantity: '1', price: '2',
}

t.test('a request is read as the JSON a REST client would send', async (t) => {
  t.same(inputOf(ORDER), { tradingPairId: ORDER.tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '1', price: '2' })
  t.same(inputOf({ ...ORDER, postOnly: false, slippageToleranceBps: 0, clientOrderId: '' }), {
    tradingPairId: ORDER.tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '1', price: '2',
    postOnly: false, slippageToleranceBps: 0, clientOrderId: '',
  }, 'optional fields that were sent are there, whatever they hold')
  const { side: _, ...noSide } = ORDER
  t.match(inputOf(noSide), { code: 'VALIDATION_ERROR', message: 'side is required', details: { field: 'side' } })
  t.match(inputOf({ ...ORDER, side: 0 }), { code: 'VALIDATION_ERROR', message: 'side is required' }, 'UNSPECIFIED is absent')
  t.match(inputOf({ ...ORDER, side: 9 }), { code: 'VALIDATION_ERROR', details: { field: 'side' } }, 'an unknown value is none')
  t.match(inputOf({ ...ORDER, timeInForce: 9 }), { code: 'VALIDATION_ERROR', details: { field: 'timeInForce' } })
  t.match(inputOf({ ...ORDER, quantity: '' }), { code: 'VALIDATION_ERROR', message: 'quantity is required' })
})

t.test('times are exact, and those that have no text are refused', async (t) => {
  const at = (seconds: number, nanos: number): string => inputOf({ ...ORDER, expirationDate: { seconds, nanos } }).expirationDate
  t.equal(at(1_800_000_000, 0), '2027-01-15T08:00:00.000Z')
  t.equal(at(1_800_000_000, 5_000_000), '2027-01-15T08:00:00.005Z')
  t.equal(at(1_800_000_000, 5_000_001), '2027-01-15T08:00:00.005000001Z')
  t.equal(at(-1, 999_000_000), '1969-12-31T23:59:59.999Z')
  t.equal(at(-62_135_596_800, 0), '0001-01-01T00:00:00.000Z')
  t.equal(at(253_402_300_799, 999_999_999), '9999-12-31T23:59:59.999999999Z')
  for (const [seconds, nanos] of [[253_402_300_800, 0], [-62_135_596_801, 0], [0, -1], [0, 1_000_000_000], [2 ** 60, 0]] as const) {
    t.notMatch(at(seconds, nanos), /^\d{4}-/, `${seconds} s ${nanos} ns`)
  }
  const write = compileWriter(root.lookupType('svc.v1.GetServerTimeResponse'))
  t.same(write({ serverTime: '1969-12-31T23:59:59.999Z' }), { serverTime: { seconds: -1, nanos: 999_000_000 } }, 'nanos are never negative')
})

t.test('whole numbers beyond 2^53 are not rounded', async (t) => {
  const challenge = byName.get('Challenge')!
  const read = (chainId: string): any => {
    const value = { address: `0x${'a'.repeat(40)}`, sessionPublicKey: 'b'.repeat(64), chainId }
    return challenge.readInput(challenge.request.decode(bytesOf(challenge.request, value)) as unknown as Message, null)
  }
  t.equal(read('9007199254740991').chainId, Number.MAX_SAFE_INTEGER)
  t.equal(read('9007199254740993').chainId, '9007199254740993')
  t.equal(readLong(7), 7)
})

t.test('bytes that are no text, and bytes that are no message, are refused', async (t) => {
  const label = Buffer.from([0xa2, 0x01, 2, 0xc3, 0x28])
  t.match(create.request.decode(label), { clientOrderId: '\ufffd(' }, 'the decoder hides bad UTF-8')
  t.match(decodeMessage(create.request, label), { code: 'MALFORMED_REQUEST' })
  const sent = Buffer.from(bytesOf(create.request, { clientOrderId: 'a\ufffd' }))
  t.match(decodeMessage(create.request, sent), { message: { clientOrderId: 'a\ufffd' } }, 'the character itself may be sent')
  for (const bytes of ['0a', '0aff', '0a05616263', 'ff', '0affffffffff7f', '08', '0f', '00']) {
    t.match(decodeMessage(create.request, Buffer.from(bytes, 'hex')), { code: 'MALFORMED_REQUEST' }, bytes)
  }
})

t.test('fields nobody knows are found, and refused in what places orders and in what takes nothing', async (t) => {
  /** Field 2047, text "a". */
  const UNKNOWN = Buffer.from('fa7f0161', 'hex')
  const outcomeOf = (name: string, bytes: Uint8Array): any => {
    const { request, readInput } = byName.get(name)!
    const decoded = decodeMessage(request, Buffer.from(bytes))
    return decoded instanceof Refused ? decoded : readInput(decoded.message, decoded.unknown)
  }
  const order = bytesOf(create.request, ORDER)
  t.match(outcomeOf('CreateOrder', order), { side: 'BUY' })
  const named = (field: string): object => ({ code: 'VALIDATION_ERROR', details: { field } })
  t.match(outcomeOf('CreateOrder', Buffer.concat([order, UNKNOWN])), named('2047'), 'behind what is known')
  t.match(outcomeOf('CreateOrder', Buffer.concat([UNKNOWN, order])), named('2047'), 'and before it')
  /** A field of `number` that holds a message. */
  const holding = (number: number, bytes: Uint8Array): Buffer =>
    Buffer.from(protobuf.Writer.create().uint32((number << 3) | 2).bytes(bytes).finish())
  const { orders } = byName.get('BatchCreateOrders')!.request.fields
  const items = [order, Buffer.concat([order, UNKNOWN])].map((item) => holding(orders!.id, item))
  t.match(outcomeOf('BatchCreateOrders', Buffer.concat(items)), named('orders.2047'), 'in one of many')
  const group = Buffer.from('fb7f0801fc7f', 'hex')
  t.match(outcomeOf('CreateOrder', Buffer.concat([order, group])), named('2047'), 'a group')
  t.match(outcomeOf('ReplaceOrder', UNKNOWN), named('2047'))
  t.match(outcomeOf('Revoke', UNKNOWN), named('2047'), 'as a body is refused over REST')
  const { orderId } = byName.get('CancelOrder')!.request.fields
  const cancel = Buffer.concat([holding(orderId!.id, Buffer.from(ORDER.tradingPairId)), UNKNOWN])
  t.match(outcomeOf('CancelOrder', cancel), { orderId: ORDER.tradingPairId }, 'a way out stays open to clients of a later version')
  t.match(outcomeOf('ListOrders', UNKNOWN), {})
})

t.test('a list the schema requires is empty rather than absent; others are absent', async (t) => {
  const batch = byName.get('BatchCreateOrders')!
  t.match(batch.readInput({}, null), { code: 'VALIDATION_ERROR', details: { field: 'orders' } })
  const listed = byName.get('ListOrders')!
  const read = (value: object): unknown =>
    listed.readInput(listed.request.decode(bytesOf(listed.request, value)) as unknown as Message, null)
  t.same(read({}), {})
  t.same(read({ status: ['ORDER_STATUS_FILLED', 'ORDER_STATUS_EXPIRED'] }), { status: ['FILLED', 'EXPIRED'] })
  t.same(inputShape(batch.served.operation).required, ['orders'])
})

t.test('an output that has no form in protobuf is an error of the service', async (t) => {
  t.throws(() => create.write({ status: 'MAYBE' }), /OperationStatus|status: no value for MAYBE/)
})
