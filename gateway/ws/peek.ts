/**
 * Type and id of an order message, read from the beginning of its bytes without making anything of the rest.
 *
 * Who sends more than the service can do is refused message by message, and each refusal takes from those that are done: so no more is
 * read than the refusal needs, and no text is made of it. Most clients write both fields first. What is not found at once, or not plainly
 * written, is parsed as every other message. Nothing is looked at behind both: what follows need be no JSON, and may have them again.
 */
import { NAME_MAX } from './protocol.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN = 0x7b
const CLOSE = 0x7d
const ZERO = 0x30
const MINUS = 0x2d
/** Bytes looked at, and fields. */
const MOST = 256
const FIELDS = 4
/** Digits of a whole number that is surely safe. */
const DIGITS = 15

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39
/** Printable ASCII but quote and backslash: the same in JSON as it is. */
const isPlain = (byte: number): boolean => byte >= 0x20 && byte < 0x7f && byte !== QUOTE && byte !== BACKSLASH

/** The same text within bytes. */
function isAt(bytes: Uint8Array, from: number, to: number, text: Uint8Array): boolean {
  if (to - from !== text.length) return false
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text[i]) return false
  return true
}

const textOf = (text: string): Uint8Array => new TextEncoder().encode(JSON.stringify(text))
const TYPE = textOf('type')
const ID = textOf('id')

/** Reads one message after the other; makes nothing of any. */
export class OrderPeek {
  readonly #types: readonly Uint8Array[]
  #bytes: Uint8Array = new Uint8Array(0)
  #end = 0
  #at = 0
  /** Where the last value began; it ends at `#at`. */
  #from = 0
  /** Where the id of the last message stands, as JSON. */
  idFrom = 0
  idTo = 0

  /** `types`: those that are looked for. */
  constructor(types: readonly string[]) {
    this.#types = types.map(textOf)
  }

  /** Whether the message is of such a type and has an id: texts or whole numbers are all its first fields up to both. */
  read(bytes: Uint8Array): boolean {
    this.#bytes = bytes
    this.#end = Math.min(bytes.length, MOST)
    this.#at = 0
    this.idFrom = this.idTo = 0
    if (!this.#skip(OPEN)) return false
    let isTyped = false
    for (let field = 0; field < FIELDS; field++) {
      if (field > 0 && !this.#skip(COMMA)) return false
      if (!this.#value() || bytes[this.#from] !== QUOTE) return false
      const isType = isAt(bytes, this.#from, this.#at, TYPE)
      const isId = isAt(bytes, this.#from, this.#at, ID)
      if (!this.#skip(COLON) || !this.#value()) return false
      if (isType) {
        if (!this.#isKnown()) return false
        isTyped = true
      } else if (isId) {
        if (!this.#isId()) return false
        this.idFrom = this.#from
        this.idTo = this.#at
      }
      if (isTyped && this.idTo > 0) return true
    }
    return false
  }

  /** Goes on behind spaces and this byte; false: another is there. */
  #skip(byte: number): boolean {
    while (this.#at < this.#end && isSpace(this.#bytes[this.#at]!)) this.#at++
    return this.#at < this.#end && this.#bytes[this.#at++] === byte
  }

  /** Goes on behind a text of plain characters, with its quotes, or a whole number; false when it is neither. */
  #value(): boolean {
    while (this.#at < this.#end && isSpace(this.#bytes[this.#at]!)) this.#at++
    this.#from = this.#at
    if (this.#bytes[this.#at] === QUOTE) {
      this.#at++
      while (this.#at < this.#end && isPlain(this.#bytes[this.#at]!)) this.#at++
      return this.#at < this.#end && this.#bytes[this.#at++] === QUOTE
    }
    if (this.#bytes[this.#at] === MINUS) this.#at++
    const digits = this.#at
    while (this.#at < this.#end && isDigit(this.#bytes[this.#at]!)) this.#at++
    const count = this.#at - digits
    const isWhole = count >= 1 && count <= DIGITS && (count === 1 || this.#bytes[digits] !== ZERO)
    return isWhole && this.#isOver()
  }

  /** A field ends here: what goes on is another number. */
  #isOver(): boolean {
    let at = this.#at
    while (at < this.#end && isSpace(this.#bytes[at]!)) at++
    return at < this.#end && (this.#bytes[at] === COMMA || this.#bytes[at] === CLOSE)
  }

  #isKnown(): boolean {
    for (const type of this.#types) if (isAt(this.#bytes, this.#from, this.#at, type)) return true
    return false
  }

  /** Of 1 to {@link NAME_MAX} characters, or a number, which would be written otherwise if it were -0. */
  #isId(): boolean {
    const length = this.#at - this.#from
    if (this.#bytes[this.#from] === QUOTE) return length > 2 && length <= NAME_MAX + 2
    return this.#bytes[this.#from] !== MINUS || this.#bytes[this.#from + 1] !== ZERO
  }
}
