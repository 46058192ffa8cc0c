/**
 * Promise: records of the first layout mean what they meant. As records of today they have the same fields, and the payload hash of a keyed
 * command is what it was, so that a key used before an upgrade finds its answer after it.
 */
import t from 'tap'
import { hash } from 'node:crypto'
import {
  COMMAND_LAYOUTS, CommandType, commandName, Flag, kindOf, Option, OPTION_MASK, slotsCarried, slotsOfKind,
} from '../../core/layout/command.ts'
import { FIRST_ORDER, layoutOf, modernised } from '../../core/layout/first_layout.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { createRing } from '../../core/ring/spsc.ts'
import { encodeOrder, encodeTransfer, type OrderTerms } from '../../gateway/bridge/encode.ts'
import type { Bridge } from '../../gateway/bridge/pending.ts'

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
  return { ...values, kind: kindOf(type, 1, random.below(9)) }
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
    ...(isOrder ? { flags: (flags & ~OPTION_MASK) >>> 0, options: flags & OPTION_MASK } : { options: flags }),
    ...(long ? { key, payload, ...(isOrder ? { label } : {}) } : {}),
  }
}

t.test('every record of a batch of the first layout has the fields it had', async (t) => {
  const types = Object.values(CommandType).filter((type) => type !== CommandType.GENESIS)
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
    const found = decode(COMMAND_LAYOUTS[type]!, views, at)
    if (JSON.stringify(Object.entries(found).sort(), bigints) !== JSON.stringify(Object.entries(expected).sort(), bigints)) {
      t.same(found, expected, `${index}: ${commandName(type)}`)
    }
    if (type !== CommandType.TRANSFER) t.equal(slotsOfKind(views.u32[at]!), slotsCarried(views.u32, at))
    at += slotsOfKind(views.u32[at]!) * RECORD_WORDS
  }
  t.equal(at, views.i32.length, 'and there are no others')
  t.throws(() => modernised(Buffer.alloc(RECORD_BYTES)), /without slots/)
})

/** A gateway's ring that nobody reads. */
const bridge = { gateway: 3, commands: createRing(8), written: 0 } as unknown as Bridge
const caller = { account: 4, session: 7, generation: 9 } as Parameters<typeof encodeOrder>[4]

/** What `write` encodes. */
function encoded(write: (at: number) => void): Views {
  Object.assign(bridge, { commands: createRing(8), written: 0 })
  write(0)
  return bridge.commands.slots
}

t.test('payload hashes are over the first layout', async (t) => {
  const terms: OrderTerms = {
    pair: 1, flags: Flag.SELL | Flag.STP_GIVEN | Flag.EXPIRES, options: Option.NEW_PRICE, price: 12_345, lots: 678, slippageBps: 9,
    expiresAt: 1_700_000_000_123, label: 'my-order', key: 'a key', targetSlot: 11, targetSequence: 1_000_000, pays: 0,
  }
  const { label, key } = terms
  const old = viewsOf(new ArrayBuffer(RECORD_BYTES))
  const flags = (Flag.SELL | Flag.EXPIRES | Option.KEYED | Option.NEW_PRICE | Option.TELL_SELF_TRADE | (label.length << 24)) >>> 0
  const { pair, price, lots, slippageBps, targetSlot, targetSequence, expiresAt } = terms
  encode(FIRST_ORDER, old, 0, {
    kind: CommandType.REPLACE_ORDER, pair, flags, price, lots, slippageBps, targetSlot, targetSequence, expiresAt,
    label: Buffer.from(label).toString('hex'),
  })
  const record = encoded((at) => encodeOrder(bridge, at, CommandType.REPLACE_ORDER, 5, caller, terms))
  const expected = {
    kind: kindOf(CommandType.REPLACE_ORDER, 2, 3), correlation: 5, session: 7, sessionGeneration: 9, pair, price, lots, slippageBps,
    targetSlot, targetSequence, expiresAt, flags: ((flags & ~OPTION_MASK) | Flag.STP_GIVEN) >>> 0, options: flags & OPTION_MASK,
    key: hash('sha256', `4:${key}`).slice(0, 32), payload: hash('sha256', old.bytes).slice(0, 32),
    label: Buffer.from(label).toString('hex').padEnd(80, '0'),
  }
  t.same(decode(COMMAND_LAYOUTS[CommandType.REPLACE_ORDER]!, record, 0), expected)
  t.equal(bridge.written, 2)

  const plain = encoded((at) => encodeOrder(bridge, at, CommandType.PLACE_ORDER, 5, caller, { ...terms, options: 0, label: '', key: '' }))
  t.equal(slotsOfKind(plain.u32[0]!), 1, 'an order without key and client order id takes one slot')
  t.equal(bridge.written, 1)
  t.ok(plain.i32.subarray(RECORD_WORDS).every((word) => word === 0))
})

t.test('and those of transfers', async (t) => {
  const old = viewsOf(new ArrayBuffer(RECORD_BYTES))
  encode(layoutOf(CommandType.TRANSFER, 1)!, old, 0, {
    kind: CommandType.TRANSFER, asset: 2, flags: Option.KEYED, subAccount: 6, toSub: 1, amount: 77n,
  })
  const transfer = { asset: 2, subAccount: 6, toSub: true, amount: 77n }
  const record = encoded((at) => encodeTransfer(bridge, at, 5, caller, { ...transfer, key: 'k' }))
  const { options, payload } = decode(COMMAND_LAYOUTS[CommandType.TRANSFER]!, record, 0)
  t.same([options, payload], [Option.KEYED, hash('sha256', old.bytes).slice(0, 32)])
  t.equal(slotsOfKind(encoded((at) => encodeTransfer(bridge, at, 5, caller, { ...transfer, key: '' })).u32[0]!), 1)
})
