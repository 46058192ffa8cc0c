/**
 * Where index prices come from besides the exchange itself: a JSON file of perpetuals, each with its sources.
 *
 *   { "BTC/USDC-PERP": { "least": 2, "outlierBps": 200, "sources": [
 *       { "name": "one", "url": "https://one.example/ticker?s=BTC", "path": "data.0.price", "everySeconds": 2 },
 *       { "name": "two", "url": "wss://two.example/stream", "send": { "op": "subscribe" }, "path": "p" } ] } }
 *
 * `path`: keys and places of the JSON answer, between points. `least`: fresh sources without which there is no price, by default more than
 * half of them. `outlierBps`: a source further than this from the median of all is left out. `everySeconds`: between two requests; of a
 * WebSocket, within which a message must come.
 */
export interface Source {
  readonly name: string
  readonly url: string
  readonly path: readonly string[]
  readonly everyMs: number
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
  known(json, ['name', 'url', 'path', 'everySeconds', 'send'])
  const { name, url, path, send } = json
  if (typeof name !== 'string' || !NAME.test(name)) throw new SourcesError('name must be 1 to 32 of a-z, 0-9, _, . and -')
  if (typeof url !== 'string' || !/^(https?|wss?):$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new SourcesError(`${name}: url must be http, https, ws or wss`)
  }
  if (typeof path !== 'string' || path.length > 256) throw new SourcesError(`${name}: path must be a text`)
  const everyMs = 1000 * whole(json, 'everySeconds', 1, 60, 2)
  return { name, url, everyMs, path: path === '' ? [] : path.split('.'), send: send === undefined ? null : JSON.stringify(send) }
}

/** The price at `path` of an answer; `null`: there is none above 0. */
export function priceAt(text: string, path: readonly string[]): number | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null
    value = (value as Json)[key]
  }
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d{1,20}(\.\d{1,20})?$/.test(value))
  const price = isNumber ? Number(value) : NaN
  return Number.isFinite(price) && price > 0 ? price : null
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
