/**
 * Strict reading of text. The library's reader replaces bytes that are no UTF-8, so that different requests would read the same, and takes
 * text that ends before its length says; proto3 allows neither, and here both are errors.
 */
import { isUtf8 } from 'node:buffer'
import protobuf from 'protobufjs'

const REPLACED = '\ufffd'

export class StrictReader extends protobuf.BufferReader {
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
