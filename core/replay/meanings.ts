/**
 * What the fields of records mean to people, as a small vocabulary: the tables of command_columns.ts, answer_columns.ts and
 * event_columns.ts name one meaning for every field of every layout, and all that is printed for people, in whatever format, is made of
 * those. Where a field stands and how wide it is, its layout says (layout/table.ts).
 *
 * A meaning makes columns of a field: most make one, flags make several, and what another field says already makes none (`hidden`).
 */
import { Flag, Option, ORIGIN_NAMES, originOf, slotsOfKind } from '../layout/command.ts'
import { REASON_NAMES, STATUS_NAMES } from '../layout/event.ts'
import { formatId, IdKind } from '../layout/ids.ts'
import { RECORD_WORDS, wordsOf, type Layout, type Views } from '../layout/table.ts'
import { formatDecimal } from '../lib/decimal.ts'
import type { Pair } from '../state/genesis.ts'
import { unknown, type Names } from './names.ts'

/** A value of a column: decimals and ids are text, times Unix ms. `null`: there is none. */
export type Cell = string | number | boolean | null
export type CellType = 'text' | 'integer' | 'decimal' | 'time' | 'boolean'

/** The record that is being told: the first of its words, and who can be asked for names. */
export interface Told {
  views: Views
  at: number
  readonly names: Names
}

export interface Column {
  readonly name: string
  readonly type: CellType
  readonly cell: (told: Told) => Cell
  /** Row of the account that the column names, for exports of one user. */
  readonly account?: (told: Told) => number
}

export type Meaning = (field: string, layout: Layout) => readonly Column[]
/** A meaning for every field of a layout: a field without one does not compile. */
export type Meanings<L extends Layout> = { readonly [Field in keyof L['at']]: Meaning }

/** The columns of the records of `layout`, in the order of its fields. */
export function columnsOf<L extends Layout>(layout: L, meanings: Meanings<L>): readonly Column[] {
  const columns = Object.keys(layout.fields).flatMap((field) => meanings[field as keyof L['at']](field, layout))
  const twice = columns.find(({ name }, index) => columns.findIndex((other) => other.name === name) !== index)
  if (twice !== undefined) throw new Error(`${layout.name} has two columns ${twice.name}`)
  return columns
}

// Reading a field, whatever its type.

type Numbers = (told: Told) => number

/** Zero where the record has not the slot in which the field stands. */
function numberAt(layout: Layout, field: string): Numbers {
  const [word, type] = [layout.at[field]!, layout.fields[field]!]
  const read: Numbers = type === 'i32' ? ({ views, at }) => views.i32[at + word]!
    : type === 'u32' ? ({ views, at }) => views.u32[at + word]!
      : type === 'i64' ? ({ views, at }) => Number(views.i64[(at + word) >>> 1]!)
        : ({ views, at }) => views.f64[(at + word) >>> 1]!
  return word < RECORD_WORDS ? read : (told) => (reaches(told, word) ? read(told) : 0)
}

function atomsAt(layout: Layout, field: string): (told: Told) => bigint {
  const word = layout.at[field]!
  return ({ views, at }) => views.i64[(at + word) >>> 1]!
}

function bytesAt(layout: Layout, field: string): (told: Told) => Uint8Array {
  const from = layout.at[field]! * 4
  const length = wordsOf(layout.fields[field]!) * 4
  const read = ({ views, at }: Told): Uint8Array => views.bytes.subarray(at * 4 + from, at * 4 + from + length)
  return from < RECORD_WORDS * 4 ? read : (told) => (reaches(told, from / 4) ? read(told) : NONE)
}

const NONE = new Uint8Array(0)
/** Whether the record has the slot of this word. */
const reaches = ({ views, at }: Told, word: number): boolean => word < slotsOfKind(views.u32[at]!) * RECORD_WORDS

const one = (name: string, type: CellType, cell: Column['cell']): readonly Column[] => [{ name, type, cell }]

/** The same meaning where another field of the record says that there is a value at all. */
export const given = (meaning: Meaning, field: string, bit: number): Meaning => (own, layout) => {
  const bits = numberAt(layout, field)
  return meaning(own, layout).map((column) => ({ ...column, cell: (told) => ((bits(told) & bit) === 0 ? null : column.cell(told)) }))
}

/**
 * The same of a command that names its order by id. One that names it by client order id does not know the pair: of it the decimal in
 * the fields `units` and `scale` is told, and without these fields nothing.
 */
export const ofKnownPair = (meaning: Meaning, units?: string, scale?: string): Meaning => (own, layout) => {
  const length = numberAt(layout, 'targetLength')
  const decimal = units === undefined || scale === undefined ? () => null : decimalAt(layout, units, scale)
  return meaning(own, layout).map((column) =>
    ({ ...column, cell: (told) => (length(told) === 0 ? column.cell(told) : decimal(told)) }))
}

/** units × 10^-scale; `null`: what a gateway never sends. */
function decimalAt(layout: Layout, units: string, scale: string): (told: Told) => string | null {
  const [count, digits] = [numberAt(layout, units), numberAt(layout, scale)]
  return (told) => {
    const isDecimal = Number.isSafeInteger(count(told)) && digits(told) >= 0 && digits(told) <= DIGITS_MAX
    return isDecimal ? formatDecimal(count(told), digits(told)) : null
  }
}

const DIGITS_MAX = 18

/** The same in refusals of this number alone: their word means something else, or nothing, in others. */
export const whenRefused = (meaning: Meaning, code: number): Meaning => (own, layout) => {
  const refused = numberAt(layout, 'code')
  return meaning(own, layout).map((column) => ({ ...column, cell: (told) => (refused(told) === code ? column.cell(told) : null) }))
}
export const unlessRefused = (meaning: Meaning, code: number): Meaning => (own, layout) => {
  const refused = numberAt(layout, 'code')
  return meaning(own, layout).map((column) => ({ ...column, cell: (told) => (refused(told) === code ? null : column.cell(told)) }))
}
/** The same where field `atoms` of the record is not 0. */
export const unlessZero = (meaning: Meaning, atoms: string): Meaning => (own, layout) => {
  const read = atomsAt(layout, atoms)
  return meaning(own, layout).map((column) => ({ ...column, cell: (told) => (read(told) === 0n ? null : column.cell(told)) }))
}
/** The same where the field itself is not `none`. */
export const unless = (meaning: Meaning, none: number): Meaning => (own, layout) => {
  const read = numberAt(layout, own)
  return meaning(own, layout).map((column) => ({ ...column, cell: (told) => (read(told) === none ? null : column.cell(told)) }))
}
export const both = (...meanings: readonly Meaning[]): Meaning => (field, layout) => meanings.flatMap((meaning) => meaning(field, layout))

// Plain values. `name`: of the column, where it is not the field's.

/** Said by another column, reserved, or of use to nobody but the engine. `--raw` shows it. */
export const hidden: Meaning = () => []

/** A whole number; `none` is the one that means that there is none. */
export const whole = (name?: string, none?: number): Meaning => (field, layout) => {
  const read = numberAt(layout, field)
  return one(name ?? field, 'integer', (told) => {
    const value = read(told)
    return value === none || !Number.isSafeInteger(value) ? null : value
  })
}

export const yes = (name?: string): Meaning => (field, layout) => {
  const read = numberAt(layout, field)
  return one(name ?? field, 'boolean', (told) => read(told) !== 0)
}

/** Unix ms; 0 or less: none. */
export const time = (name?: string): Meaning => (field, layout) => {
  const read = numberAt(layout, field)
  return one(name ?? field, 'time', (told) => {
    const ms = read(told)
    return ms > 0 ? Math.min(Math.floor(ms), LATEST) : null
  })
}
/** 9999-12-31T23:59:59.999Z: RFC 3339 has no later time. An expiry behind it is told as that. */
const LATEST = 253_402_300_799_999

/** A number that has a name at its place in a list, or as the value of a key. `shift`, `mask`: of it in the word. */
export function named(names: readonly string[] | Readonly<Record<string, number>>, name?: string, shift = 0, mask = -1): Meaning {
  const list = listOf(names)
  return (field, layout) => {
    const read = numberAt(layout, field)
    const number: Numbers = mask === -1 ? read : (told) => (read(told) >>> shift) & mask
    return one(name ?? field, 'text', (told) => nameIn(list, number(told)))
  }
}

function listOf(names: readonly string[] | Readonly<Record<string, number>>): readonly (string | undefined)[] {
  if (Array.isArray(names)) return names as readonly string[]
  const list: string[] = []
  for (const [name, number] of Object.entries(names as Readonly<Record<string, number>>)) list[number] = name
  return list
}

const nameIn = (list: readonly (string | undefined)[], number: number): string | null => (list[number] ?? unknown(number)) || null

/** Names of the bits that are set, joined by |; bits without a name as 0x1000. `shift`: of the first of them in the word. */
export const bits = (names: Readonly<Record<string, number>>, name?: string, shift = 0, mask = -1): Meaning => (field, layout) => {
  const read = numberAt(layout, field)
  return one(name ?? field, 'text', (told) => bitsText(names, (read(told) >>> shift) & mask))
}

const BIT_TEXTS = new Map<object, Map<number, string | null>>()
/** Values of one word that are remembered: flags of orders are few dozens of them. */
const TEXTS_KEPT = 4096

/** Names of the bits that are set, joined by |, bits without a name as 0x1000; `null`: none. */
export function bitsText(names: Readonly<Record<string, number>>, value: number): string | null {
  let kept = BIT_TEXTS.get(names)
  if (kept === undefined || kept.size > TEXTS_KEPT) BIT_TEXTS.set(names, (kept = new Map<number, string | null>()))
  const known = kept.get(value)
  if (known !== undefined) return known
  const all = Object.values(names).reduce((sum, bit) => sum | bit, 0)
  const set = Object.entries(names).flatMap(([name, bit]) => ((value & bit) !== 0 ? [name] : []))
  const rest = (value & ~all) >>> 0
  const text = [...set, ...(rest === 0 ? [] : [`0x${rest.toString(16)}`])].join('|') || null
  kept.set(value, text)
  return text
}

const TEXT = new TextDecoder()

/** UTF-8 without the zeros behind it; `null`: nothing. */
export const text = (name?: string): Meaning => (field, layout) => {
  const read = bytesAt(layout, field)
  return one(name ?? field, 'text', (told) => {
    const bytes = read(told)
    const end = bytes.indexOf(0)
    return TEXT.decode(end < 0 ? bytes : bytes.subarray(0, end)) || null
  })
}

/** Lower-case hex digits behind `prefix`; `null`: all zero, or not there. */
export const hex = (name?: string, prefix = ''): Meaning => (field, layout) => {
  const read = bytesAt(layout, field)
  return one(name ?? field, 'text', (told) => {
    const bytes = read(told)
    return bytes.some((byte) => byte !== 0) ? prefix + Buffer.from(bytes).toString('hex') : null
  })
}
/** An address, of a wallet or a token. */
export const address = (name?: string): Meaning => hex(name, '0x')

// Money. Prices, quantities and quote amounts are of the record's pair, amounts of its asset.

/** Parts per million as basis points, as the wire has fees. */
export const basisPoints = (name: string): Meaning => decimals(name, 2)

/** A whole number of 10^-scale; `none` is the one that means that there is none. */
export const decimals = (name: string, scale: number, none?: bigint): Meaning => (field, layout) => {
  const isAtoms = layout.fields[field] === 'i64'
  const [atoms, read] = [atomsAt(layout, field), numberAt(layout, field)]
  return one(name, 'decimal', (told) => {
    const value = isAtoms ? atoms(told) : BigInt(read(told))
    return value === none ? null : formatDecimal(value, scale)
  })
}

/** Index of the record's pair: it names it, or an open position, whose it is; -1: nobody knows. */
function pairAt(layout: Layout): Numbers {
  if (layout.at['pair'] !== undefined) return numberAt(layout, 'pair')
  const [row, opened] = [numberAt(layout, 'position'), numberAt(layout, 'openedSequence')]
  return (told) => told.names.pairOfPosition(row(told), opened(told))
}

const ofPair = (layout: Layout, cell: (told: Told, pair: Pair) => Cell): Column['cell'] => {
  const read = pairAt(layout)
  return (told) => {
    const found = told.names.pair(read(told))
    return found === undefined ? null : cell(told, found)
  }
}

/** Ticks; 0: none. */
export const price = (name?: string): Meaning => (field, layout) => {
  const read = numberAt(layout, field)
  return one(name ?? field, 'decimal', ofPair(layout, (told, { tickUnits, priceScale }) => {
    const ticks = read(told)
    return ticks === 0 ? null : formatDecimal(BigInt(ticks) * BigInt(tickUnits), priceScale)
  }))
}

/** Lots. */
export const quantity = (name: string): Meaning => (field, layout) => {
  const read = numberAt(layout, field)
  return one(name, 'decimal', ofPair(layout, (told, { lotUnits, lotScale }) =>
    formatDecimal(BigInt(read(told)) * BigInt(lotUnits), lotScale)))
}

/** Atoms of the quote asset. */
export const quote = (name: string): Meaning => (field, layout) => {
  const read = atomsAt(layout, field)
  return one(name, 'decimal', ofPair(layout, (told, pair) => formatDecimal(read(told), told.names.asset(pair.quote)!.scale)))
}

/** Atoms of what the order pays with: quote of a BUY, base of a SELL. */
export const paid = (name: string): Meaning => (field, layout) => {
  const [read, flags] = [atomsAt(layout, field), numberAt(layout, 'flags')]
  return one(name, 'decimal', ofPair(layout, (told, pair) => {
    const asset = (flags(told) & Flag.SELL) !== 0 ? pair.base : pair.quote
    return formatDecimal(read(told), told.names.asset(asset)!.scale)
  }))
}

/** Atoms of the asset that field `asset` names; `none` means that there is none. */
export const amount = (name?: string, none?: bigint): Meaning => (field, layout) => {
  const [read, asset] = [atomsAt(layout, field), numberAt(layout, 'asset')]
  return one(name ?? field, 'decimal', (told) => {
    const [atoms, found] = [read(told), told.names.asset(asset(told))]
    return atoms === none || found === undefined ? null : formatDecimal(atoms, found.scale)
  })
}

// Who and what.

/** Symbol of the record's pair; -1: none, or all. */
export const pair: Meaning = (_field, layout) => {
  const read = pairAt(layout)
  return one('pair', 'text', (told) => {
    const index = read(told)
    return index === -1 ? null : told.names.pair(index)?.symbol ?? unknown(index)
  })
}

/** Symbol of an asset; -1: none, or all. */
export const asset = (name = 'asset'): Meaning => (field, layout) => {
  const read = numberAt(layout, field)
  return one(name, 'text', (told) => {
    const index = read(told)
    return index === -1 ? null : told.names.asset(index)?.symbol ?? unknown(index)
  })
}

/** Row of an account: the user that has it after this command. */
export const user = (name = 'userId'): Meaning => (field, layout) => {
  const read = numberAt(layout, field)
  return [{ name, type: 'text', cell: (told) => told.names.user(read(told)), account: read }]
}

/** An id of the wire. What is no place or no sequence, as refused commands may name, is told by its number. */
const idText = (kind: number, sequence: number, slot: number): string =>
  slot >= 0 && slot <= SLOT_MAX && Number.isInteger(sequence) && sequence <= SEQUENCE_MAX ? formatId(kind, sequence, slot) : unknown(slot)
const SLOT_MAX = 2 ** 30 - 1
const SEQUENCE_MAX = 2 ** 48 - 1

/** Row + `from` of an account that `field` names together with the sequence that made it; sequence 0: whoever has the row. */
export const userMadeAt = (name: string, sequenceField: string, from = 0): Meaning => (field, layout) => {
  const [word, made] = [numberAt(layout, field), numberAt(layout, sequenceField)]
  const read: Numbers = from === 0 ? word : (told) => word(told) - from
  const cell = (told: Told): Cell => {
    const [account, sequence] = [read(told), made(told)]
    return sequence > 0 && account !== -1 ? idText(IdKind.USER, sequence, account) : told.names.user(account)
  }
  return [{ name, type: 'text', cell, account: read }]
}

/**
 * Row of something that has an id of this kind, with the sequence that made it in another field; 0 or less: none. `mask`: of the number of
 * the id in the word.
 */
export const madeId = (name: string, kind: number, sequenceField: string, mask = -1): Meaning => (field, layout) => {
  const [row, made] = [numberAt(layout, field), numberAt(layout, sequenceField)]
  const number: Numbers = mask === -1 ? row : (told) => row(told) & mask
  return one(name, 'text', (told) => (made(told) > 0 ? idText(kind, made(told), number(told)) : null))
}
/** An order: its slot, and in `sequenceField` the sequence that placed it. */
export const order = (name: string, sequenceField: string): Meaning => madeId(name, IdKind.ORDER, sequenceField)

export const application: Meaning = (field, layout) => {
  const read = numberAt(layout, field)
  return one('applicationId', 'text', (told) => told.names.application(read(told)))
}

/** Number of a session, and its generation in another field. */
export const session = (generationField: string): Meaning => (field, layout) => {
  const [read, generation] = [numberAt(layout, field), numberAt(layout, generationField)]
  return one('sessionId', 'text', (told) => told.names.session(read(told), generation(told)))
}

/** The session that signed a command: who that is, and which delegated agent. */
export const signer: Meaning = (field, layout) => {
  const [read, generation] = [numberAt(layout, field), numberAt(layout, 'sessionGeneration')]
  const account = (told: Told): number => told.names.signer(read(told), generation(told)).account
  return [
    { name: 'userId', type: 'text', cell: (told) => told.names.user(account(told)), account },
    ...session('sessionGeneration')(field, layout),
    ...one('signingAgentId', 'text', (told) => told.names.agent(told.names.signer(read(told), generation(told)).agent)),
  ]
}

// Orders.

/** Bits of an order's flags that stand in no column of their own. */
const OTHER_FLAGS: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(Flag).filter(([, bit]) => (bit & (Flag.SELL | Flag.MARKET | Flag.IOC | Flag.FOK)) === 0),
)
/** All but side, type, time in force, origin and the length of the client order id. */
const OTHER_BITS = 0x1fffff & ~(Flag.SELL | Flag.MARKET | Flag.IOC | Flag.FOK)

/** Both: what a record of no gateway may say. */
const TIMES_IN_FORCE = { IOC: Flag.IOC, FOK: Flag.FOK }

/** A name with `prefix` before it: `side`, and `makerSide` of a fill's maker. */
const prefixed = (prefix: string, name: string): string => prefix === '' ? name : `${prefix}${name[0]!.toUpperCase()}${name.slice(1)}`

/** All that the flags of an order say. */
export const orderFlags = (prefix = ''): Meaning => (field, layout) => {
  const read = numberAt(layout, field)
  return [
    ...one(prefixed(prefix, 'side'), 'text', (told) => ((read(told) & Flag.SELL) !== 0 ? 'SELL' : 'BUY')),
    ...one(prefixed(prefix, 'orderType'), 'text', (told) => ((read(told) & Flag.MARKET) !== 0 ? 'MARKET' : 'LIMIT')),
    ...one(prefixed(prefix, 'timeInForce'), 'text', (told) => {
      const flags = read(told)
      const given = bitsText(TIMES_IN_FORCE, flags & (Flag.IOC | Flag.FOK))
      return given ?? ((flags & Flag.MARKET) !== 0 ? null : 'GTC')
    }),
    ...otherFlags(prefix)(field, layout),
    ...one(prefixed(prefix, 'origin'), 'text', (told) => nameIn(ORIGIN_NAMES, originOf(read(told)))),
  ]
}
/** Those of {@link orderFlags} that a replacement may give. */
export const otherFlags = (prefix = ''): Meaning => bits(OTHER_FLAGS, prefixed(prefix, 'flags'), 0, OTHER_BITS)

/** Status | Reason << 8. */
export const outcome: Meaning = (field, layout) => {
  const read = numberAt(layout, field)
  return [
    ...one('status', 'text', (told) => nameIn(STATUS_NAMES, read(told) & 0xff)),
    ...one('reason', 'text', (told) => nameIn(REASON_NAMES, read(told) >>> 8)),
  ]
}

/** {@link Option} bits. */
export const options: Meaning = bits(Option, 'options')
