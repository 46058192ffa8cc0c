/**
 * Which frames of a subscription count (specification, Events, rule 5): what was told already is left out, and a gap is noticed.
 *
 *   orderbook            a frame goes on where the one before it ended: `previousSequence` is its `sequence`
 *   balances, positions  a row replaces one of a lower `version`
 *   orders               an event of a command behind the snapshot's `commandSequence`; the frames of a snapshot are put together
 *
 * What is no such frame at all throws: a service that says so is not to be relied on.
 */
import type { RawFrame } from './reconnecting_socket.ts'

/** Something is missing: only a new snapshot helps. */
export const GAP = Symbol('a frame is missing')

export interface GapDetection {
  /** The frame to hand on, which may be made of several; `null`: nothing, for now or for ever. */
  take(frame: RawFrame): RawFrame | typeof GAP | null
}

type Fields = Record<string, unknown>

const fieldsOf = ({ data }: RawFrame): Fields => data as Fields

function numberOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new TypeError('not a whole number')
  return value
}

function listOf(value: unknown): Fields[] {
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null)
  if (!isList) throw new TypeError('not a list of records')
  return value as Fields[]
}

const isSnapshot = ({ type }: RawFrame): boolean => type === 'snapshot'

class Chain implements GapDetection {
  #sequence: number | null = null

  take(frame: RawFrame): RawFrame | typeof GAP | null {
    const { bids, asks, previousSequence } = fieldsOf(frame)
    const sequence = numberOf(frame['sequence'])
    for (const { price, quantity } of [...listOf(bids), ...listOf(asks)]) {
      if (typeof price !== 'string' || typeof quantity !== 'string') throw new TypeError('not a level')
    }
    if (!isSnapshot(frame)) {
      if (this.#sequence === null) return null
      if (previousSequence !== this.#sequence || sequence <= this.#sequence) return GAP
    }
    this.#sequence = sequence
    return frame
  }
}

class Versions implements GapDetection {
  readonly #list: string
  readonly #key: string
  #versions: Map<unknown, number> | null = null

  /** Rows stand in a snapshot under `list` and are told apart by `key`. */
  constructor(list: string, key: string) {
    this.#list = list
    this.#key = key
  }

  take(frame: RawFrame): RawFrame | null {
    const data = fieldsOf(frame)
    if (isSnapshot(frame)) {
      this.#versions = new Map(listOf(data[this.#list]).map((row) => [row[this.#key], numberOf(row['version'])]))
      return frame
    }
    const version = numberOf(data['version'])
    if (this.#versions === null || version <= (this.#versions.get(data[this.#key]) ?? -1)) return null
    this.#versions.set(data[this.#key], version)
    return frame
  }
}

class Events implements GapDetection {
  /** Of the snapshot, when it is complete. */
  #since: number | null = null
  #parts: Fields[] = []

  take(frame: RawFrame): RawFrame | typeof GAP | null {
    const data = fieldsOf(frame)
    const sequence = numberOf(data['commandSequence'])
    if (!isSnapshot(frame)) {
      if (this.#since !== null) return sequence > this.#since ? frame : null
      return this.#parts.length > 0 ? GAP : null
    }
    this.#since = null
    this.#parts.push(...listOf(data['orders']))
    if (data['more'] === true) return null
    const orders = this.#parts
    this.#parts = []
    this.#since = sequence
    return { ...frame, data: { ...data, orders } }
  }
}

/** Channels whose frames stand for themselves. */
const ALONE: GapDetection = { take: (frame) => frame }

const RULES: Readonly<Record<string, () => GapDetection>> = {
  orderbook: () => new Chain(),
  balances: () => new Versions('balances', 'assetId'),
  positions: () => new Versions('positions', 'positionId'),
  orders: () => new Events(),
}

/** The rule of a channel, from the beginning of a subscription. */
export const gapDetectionOf = (channel: string): GapDetection => RULES[channel]?.() ?? ALONE
