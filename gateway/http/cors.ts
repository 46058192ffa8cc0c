/** Cross-origin rules for browser frontends: an application's allowedOrigins of the genesis, `*` for any. */
import type { Genesis } from '../../core/engine/genesis.ts'
import type { HeaderList } from './envelope.ts'
import { BUDGET_HEADERS } from '../limits/budget.ts'
import type { Exchange } from './server.ts'

const REQUEST_HEADERS = 'Content-Type, X-Svc-PublicKey, X-Svc-Timestamp, X-Svc-Signature, Signature, Signature-Input, Content-Digest'
const EXPOSED = ['Access-Control-Expose-Headers', ['Retry-After', ...Object.values(BUDGET_HEADERS)].join(', ')] as const
const NONE: HeaderList = []

/** Headers for every answer to a request with this Origin. */
export function createCors(genesis: Genesis): (exchange: Exchange) => HeaderList {
  const origins = new Set(genesis.applications.flatMap((application) => application.allowedOrigins))
  const any: HeaderList = [['Access-Control-Allow-Origin', '*'], EXPOSED]
  return ({ origin }) => {
    if (origin === '') return NONE
    if (origins.has('*')) return any
    if (!origins.has(origin)) return [['Vary', 'Origin']]
    return [['Access-Control-Allow-Origin', origin], EXPOSED, ['Vary', 'Origin']]
  }
}

/** What an OPTIONS request of a known path is answered with, besides the headers above. */
export const preflightHeaders = (allow: string): HeaderList => [
  ['Allow', allow],
  ['Access-Control-Allow-Methods', allow],
  ['Access-Control-Allow-Headers', REQUEST_HEADERS],
  ['Access-Control-Max-Age', '600'],
]
