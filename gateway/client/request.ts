/**
 * From an operation and its flat input to what goes over the wire: `{name}` of the path, then the JSON body, or
 * without one the query. Absent and null fields are left out: they mean the same to the service.
 */
import type { CallData } from './operations.ts'

export interface WireRequest {
  readonly url: string
  /** Path and query as the service gets them, without a path of the base URL, which a proxy takes off: this is what gets signed. */
  readonly target: string
  /** UTF-8 JSON; empty when there is nothing to say. */
  readonly body: Uint8Array<ArrayBuffer>
}

const NOTHING = new Uint8Array(0)

export function wireRequest(
  baseUrl: string, operation: Pick<CallData, 'path' | 'body'>, input: Readonly<Record<string, unknown>>,
): WireRequest {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined && value !== null))
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name)
    rest.delete(name)
    return pathSegment(name, value)
  })
  // The URL parser has the last word on what is sent (it escapes an apostrophe, for one), so the target is read back from it.
  const url = new URL(baseUrl + path + (operation.body ? '' : queryOf(rest)))
  const body = !operation.body || rest.size === 0 ? NOTHING : new TextEncoder().encode(JSON.stringify(Object.fromEntries(rest)))
  const prefix = new URL(baseUrl).pathname.replace(/\/+$/, '')
  return { url: url.href, target: url.pathname.slice(prefix.length) + url.search, body }
}

/** Empty and dot segments would become another path. */
function pathSegment(name: string, value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  if (text === '' || text === '.' || text === '..') throw new TypeError(`${name} is missing or cannot stand in a path`)
  return encodeURIComponent(text)
}

/** Lists repeat their name. */
function queryOf(fields: ReadonlyMap<string, unknown>): string {
  const parts: string[] = []
  for (const [name, value] of fields) {
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(item))}`)
    }
  }
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}
