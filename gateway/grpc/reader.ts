/**
 * Strict reading. The library's reader replaces bytes that are no UTF-8, so that different requests would read the same,
 * and takes text that ends before its length says; proto3 allows neither, and here both are errors.
 *
 * Fields with a number that a message does not have are dropped by proto3 without a word. The reader notices that there
 * were any, which costs nothing as long as there are none; {@link unknownField} finds the first of them.
 */
import { isUtf8 } from 'node:buffer'
import protobuf from 'protobufjs'

const REPLACED = '\ufffd'

export class StrictReader extends protobuf.BufferReader {
  /** Whether something was passed over that the message has no field for. */
  skipped = false

  override skipType(wireType: number, depth?: number): protobuf.Reader {
    this.skipped = true
    return super.skipType(wireType, depth)
  }

  override string(): string {
    const length = this.uint32()
    const start = this.pos
    const end = start + length
    if (end > this.len) throw new RangeError('text ends before its length says')
    this.pos = end
    const bytes = this.buf as Buffer
    const text = bytes.toString('utf8', start, end)
    // Looked at again only when the character is there, sent or put in.
    if (text.includes(REPLACED) && !isUtf8(bytes.subarray(start, end))) throw new TypeError('text is no UTF-8')
    return text
  }
}

const LENGTH_DELIMITED = 2

/**
 * Where the first field is that the type does not have, in a message that can be decoded: the names of the fields that
 * lead to it, then its number, joined by dots. null: there is none.
 */
export function unknownField(type: protobuf.Type, bytes: Buffer): string | null {
  const reader = new protobuf.BufferReader(bytes)
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    const field = type.fieldsById[tag >>> 3]
    if (field === undefined) return String(tag >>> 3)
    if (field.resolvedType instanceof protobuf.Type && (tag & 7) === LENGTH_DELIMITED) {
      const inner = unknownField(field.resolvedType, reader.bytes() as Buffer)
      if (inner !== null) return `${field.name}.${inner}`
    } else reader.skipType(tag & 7)
  }
  return null
}
