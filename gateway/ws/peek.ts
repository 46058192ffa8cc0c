/**
 * Type and id of an order message, read from the beginning of its bytes without making anything of the rest.
 *
 * Who sends more than the service can do is refused message by message, and each refusal takes from those that are done: so no more is
 * read than the refusal needs. Most clients write both fields first. What is not found at once, or not plainly written, is `null`, and is
 * parsed as every other message. Nothing is looked at behind both: of a field that is there twice the first counts, and what follows need
 * be no JSON.
 */
import { NAME_MAX } from './protocol.ts'

/** `id` as JSON. */
export interface Peeked {
  readonly type: string
  readonly id: string
}

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

class Reader {
  readonly #bytes: Uint8Array
  readonly #end: number
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#end = Math.min(bytes.length, MOST)
  }

  /** Goes on behind spaces and this byte; false: another is there. */
  skip(byte: number): boolean {
    while (this.#at < this.#end && isSpace(this.#bytes[this.#at]!)) this.#at++
    return this.#at < this.#end && this.#bytes[this.#at++] === byte
  }

  /** A text of plain characters, with its quotes, or a whole number; '' when it is neither. */
  value(): string {
    while (this.#at < this.#end && isSpace(this.#bytes[this.#at]!)) this.#at++
    const from = this.#at
    if (this.#bytes[this.#at] === QUOTE) {
      this.#at++
      while (this.#at < this.#end && isPlain(this.#bytes[this.#at]!)) this.#at++
      if (this.#at === this.#end || this.#bytes[this.#at++] !== QUOTE) return ''
      return this.#text(from)
    }
    if (this.#bytes[this.#at] === MINUS) this.#at++
    const digits = this.#at
    while (this.#at < this.#end && isDigit(this.#bytes[this.#at]!)) this.#at++
    const count = this.#at - digits
    const isWhole = count >= 1 && count <= DIGITS && (count === 1 || this.#bytes[digits] !== ZERO)
    return isWhole && this.#isOver() ? this.#text(from) : ''
  }

  /** A field ends here: what goes on is another number. */
  #isOver(): boolean {
    let at = this.#at
    while (at < this.#end && isSpace(this.#bytes[at]!)) at++
    return at < this.#end && (this.#bytes[at] === COMMA || this.#bytes[at] === CLOSE)
  }

  #text(from: number): string {
    let text = ''
    for (let at = from; at < this.#at; at++) text += String.fromCharCode(this.#bytes[at]!)
    return text
  }
}

/** What the message says first, when that is a text or a whole number for each of its first fields up to type and id. */
export function peekOrder(bytes: Uint8Array): Peeked | null {
  const reader = new Reader(bytes)
  if (!reader.skip(OPEN)) return null
  let [type, id] = ['', '']
  for (let field = 0; field < FIELDS; field++) {
    if (field > 0 && !reader.skip(COMMA)) return null
    const name = reader.value()
    if (!name.startsWith('"') || !reader.skip(COLON)) return null
    const value = reader.value()
    if (value === '') return null
    if (name === '"type"') type = value
    else if (name === '"id"') id = value
    if (type !== '' && id !== '') return type.startsWith('"') && isId(id) ? { type: type.slice(1, -1), id } : null
  }
  return null
}

/** Of 1 to {@link NAME_MAX} characters, or a number, which would be written otherwise if it were -0. */
const isId = (id: string): boolean => (id.startsWith('"') ? id.length > 2 && id.length <= NAME_MAX + 2 : id !== '-0')
