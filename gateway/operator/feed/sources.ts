/**
 * Where index prices come from besides the exchange itself: a JSON file of perpetuals, each with its sources.
 *
 *   { "BTC/USDC-PERP": { "least": 2, "outlierBps": 200, "sources": [
 *       { "name": "one", "url": "https://one.example/ticker?s=BTC", "path": "data.0.price", "everySeconds": 2,
 *         "timePath": "data.0.time", "staleSeconds": 20 },
 *       { "name": "two", "url": "wss://two.example/stream", "send": { "op": "subscribe" }, "path": "p" } ] } }
 *
 * `path`: keys and places of the JSON answer, between points. `least`: fresh sources without which there is no price, by default more than
 * half of them. `outlierBps`: a source further than this from the median of all is left out. `everySeconds`: between two requests; of a
 * WebSocket, within which a message must come. `timePath`: where the answer says when its price is from, a number since 1970 in seconds,
 * ms, µs or ns, or RFC 3339; one that is older than `staleSeconds`, 30 by default, is no price. Without it a source that answers with
 * what it knew an hour ago is taken at its word.
 */

/** What makes the index of a perpetual: its spot book here, sources outside, the reference of its terms, or the operator alone. */
export const INDEX_MAKERS = ['OWN_BOOK', 'SOURCES', 'REFERENCE', 'OPERATOR'] as const
export type IndexMaker = (typeof INDEX_MAKERS)[number]

export interface Source {
  readonly name: string
  readonly url: string
  readonly path: readonly string[]
  readonly everyMs: number
  /** Where the answer says when its price is from; `null`: it does not. */
  readonly timePath: readonly string[] | null
  /** How old that may be. */
  readonly staleMs: number
  /** Message that subscribes on a WebSocket; `null`: none. */
  readonly send: string | null
}
export interface PairSources {
  readonly symbol: string
  readonly least: number
  readonly outlierBps: number
  readonly sources: readonly Source[]
}

/** What is wrong with the file, in words. */
export class SourcesError extends Error {
  override name = 'SourcesError'
}

const SOURCES_MAX = 16
const NAME = /^[a-z0-9_.-]{1,32}$/i
type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

function whole(json: Json, key: string, low: number, high: number, absent: number): number {
  const value = json[key] ?? absent
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return value
  throw new SourcesError(`${key} must be a whole number from ${low} to ${high}`)
}

function known(json: Json, keys: readonly string[]): void {
  const other = Object.keys(json).find((key) => !keys.includes(key))
  if (other !== undefined) throw new SourcesError(`unknown key ${other}`)
}

/** The sources of a document; `symbols`: perpetuals that there are. Throws {@link SourcesError}. */
export function readSources(text: string, symbols: readonly string[]): PairSources[] {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new SourcesError((error as Error).message)
  }
  if (!isObject(json)) throw new SourcesError('no JSON object')
  return Object.entries(json).map(([symbol, of]) => {
    try {
      if (!symbols.includes(symbol)) throw new SourcesError('there is no such perpetual')
      return pairSources(symbol, of)
    } catch (error) {
      if (error instanceof SourcesError) throw new SourcesError(`${symbol}: ${error.message}`)
      throw error
    }
  })
}

function pairSources(symbol: string, json: unknown): PairSources {
  if (!isObject(json)) throw new SourcesError('no JSON object')
  known(json, ['least', 'outlierBps', 'sources'])
  const listed = json['sources']
  if (!Array.isArray(listed) || listed.length < 1 || listed.length > SOURCES_MAX) {
    throw new SourcesError(`sources must be a list of 1 to ${SOURCES_MAX}`)
  }
  const sources = listed.map(sourceOf)
  if (new Set(sources.map(({ name }) => name)).size !== sources.length) throw new SourcesError('a source is named twice')
  const least = whole(json, 'least', 1, sources.length, Math.floor(sources.length / 2) + 1)
  return { symbol, least, outlierBps: whole(json, 'outlierBps', 1, 10_000, 200), sources }
}

function sourceOf(json: unknown): Source {
  if (!isObject(json)) throw new SourcesError('a source is no JSON object')
  known(json, ['name', 'url', 'path', 'timePath', 'everySeconds', 'staleSeconds', 'send'])
  const { name, url, path, timePath, send } = json
  if (typeof name !== 'string' || !NAME.test(name)) throw new SourcesError('name must be 1 to 32 of a-z, 0-9, _, . and -')
  if (typeof url !== 'string' || !/^(https?|wss?):$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new SourcesError(`${name}: url must be http, https, ws or wss`)
  }
  const isPath = (text: unknown): text is string => typeof text === 'string' && text.length <= 256
  if (!isPath(path)) throw new SourcesError(`${name}: path must be a text`)
  if (timePath !== undefined && !isPath(timePath)) throw new SourcesError(`${name}: timePath must be a text`)
  if (timePath === undefined && json['staleSeconds'] !== undefined) {
    throw new SourcesError(`${name}: staleSeconds is held against the time of the answer: say with timePath where that stands`)
  }
  return {
    name, url, everyMs: 1000 * whole(json, 'everySeconds', 1, 60, 2), path: keysOf(path),
    timePath: timePath === undefined ? null : keysOf(timePath), staleMs: 1000 * whole(json, 'staleSeconds', 1, 3600, 30),
    send: send === undefined ? null : JSON.stringify(send),
  }
}

const keysOf = (path: string): string[] => (path === '' ? [] : path.split('.'))

/** What stands at `path` of an answer; `undefined`: nothing. */
function valueAt(text: string, path: readonly string[]): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Json)[key]
  }
  return value
}

/** The price at `path` of an answer; `null`: there is none above 0. */
export function priceAt(text: string, path: readonly string[]): number | null {
  const value = valueAt(text, path)
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d{1,20}(\.\d{1,20})?$/.test(value))
  const price = isNumber ? Number(value) : NaN
  return Number.isFinite(price) && price > 0 ? price : null
}

/** Numbers from these on are of ms, of µs and of ns: in seconds they would be of the year 5138 and later. */
const [MS_FROM, MICROS_FROM, NANOS_FROM] = [1e11, 1e14, 1e17]

/** The time at `path` of an answer, Unix ms; `null`: there is none. */
export function timeAt(text: string, path: readonly string[]): number | null {
  const value = valueAt(text, path)
  const number = typeof value === 'string' && !/^\d+(\.\d+)?$/.test(value) ? NaN : Number(value)
  if (Number.isNaN(number)) {
    const parsed = typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(value) ? Date.parse(value) : NaN
    return Number.isFinite(parsed) ? parsed : null
  }
  if (number <= 0 || typeof value === 'boolean') return null
  return number < MS_FROM ? number * 1000 : number < MICROS_FROM ? number : number < NANOS_FROM ? number / 1e3 : number / 1e6
}

/** The middle one; of an even number the mean of the two. `prices` is not empty. */
export function medianOf(prices: readonly number[]): number {
  const sorted = [...prices].sort((a, b) => a - b)
  const half = sorted.length >>> 1
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

/** The median of those that are near the median of all; `null`: fewer than `least` are. */
export function agreedPrice(prices: readonly number[], { least, outlierBps }: Pick<PairSources, 'least' | 'outlierBps'>): number | null {
  if (prices.length < least) return null
  const middle = medianOf(prices)
  const near = prices.filter((price) => Math.abs(price - middle) * 10_000 <= middle * outlierBps)
  return near.length < least ? null : medianOf(near)
}
