/**
 * Fixed record layouts, declared once as tables.
 *
 * A record is 128 bytes = 32 words of 32 bits. A table lists the fields of a record in order; encoder, decoder, journal
 * printer and NDJSON export are all derived from it, so that no offset is ever written by hand.
 *
 *   word   0    1    2    3    4 ...                                   31
 *        +----+----+----+----+----------------------------------------+
 *        | header (4 words)  | body, meaning depends on the kind       |
 *        +----+----+----+----+----------------------------------------+
 *
 * A command may carry more than fits: such a layout has fields of a second slot, from word 32 on, or of a third, and only the records that
 * have them take it. The header says how many slots a record has.
 *
 * Eight-byte fields (`i64`, `f64`) start on an even word, because records are 128-byte aligned and typed-array views need it.
 * All values are little endian, which is the byte order of every machine Node 22 has binaries for.
 */

/** Words in one record slot. */
export const RECORD_WORDS = 32
/** Bytes in one record slot. */
export const RECORD_BYTES = RECORD_WORDS * 4

/** `i32`/`u32`: one word. `i64` (BigInt) and `f64`: two words. `bytesN`: N bytes, N a multiple of 4. */
export type FieldType = 'i32' | 'u32' | 'i64' | 'f64' | `bytes${number}`
export type Fields = Record<string, FieldType>

declare const kind: unique symbol
/** Places of eight-byte fields in a record or row, in 32-bit words like all others; the type keeps them apart. */
export type F64Field = number & { readonly [kind]: 'f64' }
export type I64Field = number & { readonly [kind]: 'i64' }
/** Any other field: one word, or the first of several. */
export type WordField<F extends number> = F extends F64Field | I64Field ? never : F

/** Word offset of every field of a table. */
export type Offsets<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends 'f64' ? F64Field : F[K] extends 'i64' ? I64Field : number
}

/** A layout: the fields in order and their word offsets. */
export interface Layout<F extends Fields = Fields> {
  readonly name: string
  readonly fields: F
  readonly at: Offsets<F>
  /** Words used of the first slot; the rest of it is zero and free for later fields. */
  readonly words: number
  /** 2 or 3: records may have so many slots. */
  readonly slots: 1 | 2 | 3
}

export function wordsOf(type: FieldType): number {
  if (type === 'i32' || type === 'u32') return 1
  if (type === 'i64' || type === 'f64') return 2
  const bytes = Number(type.slice('bytes'.length))
  if (!Number.isInteger(bytes) || bytes <= 0 || bytes % 4 !== 0) throw new Error(`bad field type ${type}`)
  return bytes / 4
}

/**
 * Computes the offsets of `fields`, starting at word 0, of those of the second slot, `more`, starting at word 32, and of those of the
 * third, `rest`; throws when a field is misaligned or a slot overflows.
 */
export function defineLayout<
  const F extends Fields, const M extends Fields = Record<never, never>, const T extends Fields = Record<never, never>,
>(name: string, fields: F, more?: M, rest?: T): Layout<F & M & T> {
  const at: Record<string, number> = {}
  const words = place(name, fields, at, 0)
  if (more !== undefined) place(name, more, at, RECORD_WORDS)
  if (rest !== undefined) place(name, rest, at, 2 * RECORD_WORDS)
  // The copies have fast properties, which the compiler folds to constants; an object filled key by key has not.
  const all = { ...fields, ...more, ...rest } as F & M & T
  const slots = rest !== undefined ? 3 : more !== undefined ? 2 : 1
  return { name, fields: all, at: Object.freeze({ ...at }) as Offsets<F & M & T>, words, slots }
}

/** Offsets of the fields of the slot that begins at word `start`, into `at`; the words they take. */
function place(name: string, fields: Fields, at: Record<string, number>, start: number): number {
  let word = start
  for (const [field, type] of Object.entries(fields)) {
    if ((type === 'i64' || type === 'f64') && word % 2 !== 0) throw new Error(`${name}.${field} is not 8-byte aligned`)
    at[field] = word
    word += wordsOf(type)
  }
  if (word - start > RECORD_WORDS) throw new Error(`${name} needs ${word - start} words, a slot has ${RECORD_WORDS}`)
  return word - start
}

/** The four views of one buffer that typed access needs. The hot path keeps these in local constants. */
export interface Views {
  readonly i32: Int32Array
  readonly u32: Uint32Array
  readonly i64: BigInt64Array
  readonly f64: Float64Array
  readonly bytes: Uint8Array
}

export function viewsOf(buffer: ArrayBufferLike, byteOffset = 0, byteLength = buffer.byteLength - byteOffset): Views {
  return {
    i32: new Int32Array(buffer, byteOffset, byteLength >>> 2),
    u32: new Uint32Array(buffer, byteOffset, byteLength >>> 2),
    i64: new BigInt64Array(buffer, byteOffset, byteLength >>> 3),
    f64: new Float64Array(buffer, byteOffset, byteLength >>> 3),
    bytes: new Uint8Array(buffer, byteOffset, byteLength),
  }
}

/** A decoded record: numbers, BigInts for `i64`, lowercase hex for byte fields. For printers and tests, never the hot path. */
export type Decoded = Record<string, number | bigint | string>

/** Slots, in the header word of commands. */
const SLOTS_SHIFT = 8
const SLOTS_MASK = 0xff << SLOTS_SHIFT

/** Reads the record that starts at word `base`: the fields of the slots that it has. */
export function decode(layout: Layout, views: Views, base: number): Decoded {
  const out: Decoded = {}
  const slots = layout.slots === 1 ? 1 : (views.u32[base]! & SLOTS_MASK) >>> SLOTS_SHIFT
  for (const [field, type] of Object.entries(layout.fields)) {
    if (layout.at[field]! >= slots * RECORD_WORDS) continue
    const word = base + layout.at[field]!
    if (type === 'i32') out[field] = views.i32[word]!
    else if (type === 'u32') out[field] = views.u32[word]!
    else if (type === 'i64') out[field] = views.i64[word >>> 1]!
    else if (type === 'f64') out[field] = views.f64[word >>> 1]!
    else out[field] = Buffer.from(views.bytes.subarray(word * 4, (word + wordsOf(type)) * 4)).toString('hex')
  }
  return out
}

/**
 * Writes `values` into the record that starts at word `base`; absent fields become zero. A record with a value for a field of the second
 * or third slot, other than '', gets that slot and those before it, and `kind` says so whatever it was given as. The inverse of {@link
 * decode}.
 */
export function encode(layout: Layout, views: Views, base: number, values: Decoded): void {
  let slots = 1
  for (const [field, value] of layout.slots > 1 ? Object.entries(values) : []) {
    if (value !== '') slots = Math.max(slots, Math.floor(layout.at[field]! / RECORD_WORDS) + 1)
  }
  views.i32.fill(0, base, base + slots * RECORD_WORDS)
  for (const [field, value] of Object.entries(values)) {
    const type = layout.fields[field]
    if (type === undefined) throw new Error(`${layout.name} has no field ${field}`)
    if (value === '') continue
    const word = base + layout.at[field]!
    if (type === 'i32') views.i32[word] = value as number
    else if (type === 'u32') views.u32[word] = value as number
    else if (type === 'i64') views.i64[word >>> 1] = BigInt(value)
    else if (type === 'f64') views.f64[word >>> 1] = value as number
    else views.bytes.set(Buffer.from(value as string, 'hex').subarray(0, wordsOf(type) * 4), word * 4)
  }
  if (slots > 1) views.u32[base] = ((views.u32[base]! & ~SLOTS_MASK) | (slots << SLOTS_SHIFT)) >>> 0
}
