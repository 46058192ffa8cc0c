/**
 * Promise: records of the first layout mean what they meant. As records of today they have the same fields. What
 * payload hashes were then is in payload_form.test.ts.
 */
import t from 'tap'
import {
  COMMAND_LAYOUTS, CommandType, commandName, kindOf, Option, OPTION_MASK, slotsCarried, slotsOfKind,
} from '../../core/layout/command.ts'
import { layoutOf, modernised } from '../../core/layout/first_layout.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'

const SEED = Number(process.env['SEED'] ?? 5)
const random = createPrng(SEED)
t.comment(`SEED=${SEED} node_modules/.bin/node --disable-warning=ExperimentalWarning test/unit/first_layout.test.ts`)

const hexOf = (bytes: number): string => Array.from({ length: bytes }, () => random.below(256).toString(16).padStart(2, '0')).join('')

const bigints = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value)

/** Fields of a record of the first layout, drawn. */
function drawn(type: number): Decoded {
  const values: Decoded = {}
  for (const [field, kind] of Object.entries(layoutOf(type, 1)!.fields)) {
    if (kind.startsWith('bytes')) values[field] = hexOf(Number(kind.slice(5)))
    else values[field] = kind === 'i64' ? BigInt(random.u32()) : kind === 'u32' ? random.u32() : random.below(2 ** 30)
  }
  if (type === CommandType.UPSERT_AGENT) oneSlot(values)
  return { ...values, kind: kindOf(type, 1, random.below(9)) }
}

/** UPSERT_AGENT had no second slot, and its grants named no margin accounts that would stand there. */
function oneSlot(values: Decoded): Decoded {
  delete values['marginSequences']
  delete values['marginRows']
  values['grants'] = Number(values['grants']) % 2 ** 24
  return values
}

/** What nobody carried then. */
const LATER = { former: '00'.repeat(16) }
/** What names an order by its client order id; nothing did. */
const NAMED = { targetLength: 0, priceUnits: 0, lotsUnits: 0, priceScale: 0, lotsScale: 0,
  collateral: 0n, namedSequence: 0, marginAccount: 0, bucket: 0, leverage: 0, keyLow: 0, keyHigh: 0, position: 0,
}

/** What the fields of a record of the first layout are today. */
function today(type: number, old: Decoded): Decoded {
  const layout = COMMAND_LAYOUTS[type]!
  // ENTER_ORDER came with the second layout.
  if (type === CommandType.ENTER_ORDER || !('options' in layout.fields)) return old
  const flags = Number(old['flags'])
  const isOrder = layout.name === 'order'
  const labelled = isOrder && flags >>> 24 !== 0
  const long = type !== CommandType.CANCEL_ORDER && type !== CommandType.EXPIRE_ORDER && (labelled || (flags & Option.KEYED) !== 0)
  const { flags: _flags, key: _key, payload: _payload, label: _label, ...rest } = old
  const { key, payload, label } = old as Record<'key' | 'payload' | 'label', string>
  return {
    ...rest, kind: kindOf(type, long ? 2 : 1, Number(old['kind']) >>> 16),
    ...(isOrder ? { flags: (flags & ~OPTION_MASK) >>> 0, options: flags & OPTION_MASK, ...NAMED } : { options: flags }),
    ...(long ? { key, payload, ...LATER, ...(isOrder ? { label, target: '00'.repeat(40) } : { unused: '00'.repeat(40) }) } : {}),
  }
}

t.test('every record of a batch of the first layout has the fields it had', async (t) => {
  const types = Object.values(CommandType).filter((type) => type !== CommandType.GENESIS && type < CommandType.MOVE_COLLATERAL)
  const made = Array.from({ length: 600 }, () => types[random.below(types.length)]!)
  const old = viewsOf(new ArrayBuffer(made.length * RECORD_BYTES))
  const values = made.map((type, index) => {
    const fields = drawn(type)
    encode(layoutOf(type, 1)!, old, index * RECORD_WORDS, fields)
    return fields
  })
  const records = modernised(old.bytes)
  const views = viewsOf(Uint8Array.from(records).buffer)
  let at = 0
  for (const [index, type] of made.entries()) {
    const expected = today(type, values[index]!)
    const read = decode(COMMAND_LAYOUTS[type]!, views, at)
    const found = type === CommandType.UPSERT_AGENT ? oneSlot(read) : read
    if (JSON.stringify(Object.entries(found).sort(), bigints) !== JSON.stringify(Object.entries(expected).sort(), bigints)) {
      t.same(found, expected, `${index}: ${commandName(type)}`)
    }
    if (type !== CommandType.TRANSFER) t.equal(slotsOfKind(views.u32[at]!), slotsCarried(views.u32, at))
    at += slotsOfKind(views.u32[at]!) * RECORD_WORDS
  }
  t.equal(at, views.i32.length, 'and there are no others')
  t.throws(() => modernised(Buffer.alloc(RECORD_BYTES)), /without slots/)
})

t.test('no order of the first layout has legs, whatever bits its flags have', async (t) => {
  const old = viewsOf(new ArrayBuffer(RECORD_BYTES))
  encode(layoutOf(CommandType.PLACE_ORDER, 1)!, old, 0, { kind: kindOf(CommandType.PLACE_ORDER, 1, 3), flags: 0x00ff_ffff })
  const records = modernised(old.bytes)
  const views = viewsOf(Uint8Array.from(records).buffer)
  t.equal(records.length, 2 * RECORD_BYTES, 'a key, which bit 9 says')
  const order = decode(COMMAND_LAYOUTS[CommandType.PLACE_ORDER]!, views, 0)
  t.match(order, { options: 0xc3e00, flags: 0x00ff_ffff & ~0xc3e00, kind: kindOf(CommandType.PLACE_ORDER, 2, 3) })
  t.notOk('trailBps' in order)
})
