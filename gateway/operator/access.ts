/**
 * The operator's token, in the header `x-operator-token`. Each route says whether it needs it (route.ts): what changes
 * something does, and what shows users or applications. Probes, metrics and the state of the exchange are open to
 * whoever can open a loopback connection.
 */
import { hash, timingSafeEqual } from 'node:crypto'

export const TOKEN_HEADER = 'x-operator-token'

/** Compared as hashes in constant time, so that neither length nor content shows. */
export const isToken = (given: string | string[] | undefined, token: string): boolean =>
  typeof given === 'string' && timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'))
