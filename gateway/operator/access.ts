/**
 * Who may ask the operator port for what. Probes, metrics and the state of the exchange are open to whoever can open a loopback connection;
 * what changes something, and what shows users or applications, needs the operator's token in `x-operator-token`.
 */
import { hash, timingSafeEqual } from 'node:crypto'

export const TOKEN_HEADER = 'x-operator-token'
/** What GET and HEAD may ask without a token. */
const OPEN: readonly string[] = [
  '/metrics', '/health', '/ready', '/status', '/openapi.json',
]

/** Whether a request needs the token; `path` without query. */
export const needsToken = (method: string, path: string): boolean => (method !== 'GET' && method !== 'HEAD') || !OPEN.includes(path)

/** Compared as hashes in constant time, so that neither length nor content shows. */
export const isToken = (given: string | string[] | undefined, token: string): boolean =>
  typeof given === 'string' && timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'))
