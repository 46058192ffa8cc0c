/**
 * Cross-origin rules for browser frontends, by application; `*` stands for any origin.
 *
 * Answers to signed requests: origins of the application whose session signed. Everything else (public routes, preflights, refusals before
 * anybody is authenticated) tells nothing of one application: origins of all that are active. Server keys are for servers: their header
 * is not among those a page may send.
 *
 * What depends on the origin says so (`Vary`), also when no origin came: a cache must not give one page the answer of another.
 */
import type { Applications, ApplicationView } from '../../core/view/applications.ts'
import type { HeaderList } from './envelope.ts'
import { BUDGET_HEADERS } from '../limits/budget.ts'
import type { RequestContext } from './server.ts'

const REQUEST_HEADERS = 'Content-Type, X-Svc-PublicKey, X-Svc-Timestamp, X-Svc-Signature, Signature, Signature-Input, Content-Digest, ' +
  'X-Request-Id'
const EXPOSED = ['Access-Control-Expose-Headers', ['Retry-After', 'X-Request-Id', ...Object.values(BUDGET_HEADERS)].join(', ')] as const
const NONE: HeaderList = []
const ANY: HeaderList = [['Access-Control-Allow-Origin', '*'], EXPOSED]
const VARIES = ['Vary', 'Origin'] as const
const VARY: HeaderList = [VARIES]

/** Headers for every answer to a request with this Origin. */
export function createCors(applications: Applications): (exchange: RequestContext) => HeaderList {
  let known: readonly ApplicationView[] = []
  let ofAny: ReadonlySet<string> = new Set()
  let ofOne: readonly ReadonlySet<string>[] = []
  const refresh = (): void => {
    const list = applications.list()
    if (list === known) return
    known = list
    ofAny = new Set(list.flatMap(({ isActive, allowedOrigins }) => (isActive ? allowedOrigins : [])))
    const sets: ReadonlySet<string>[] = []
    for (const { application, allowedOrigins } of list) sets[application] = new Set(allowedOrigins)
    ofOne = sets
  }
  return ({ origin, application }) => {
    refresh()
    const origins = application < 0 ? ofAny : (ofOne[application] ?? ofAny)
    if (origins.has('*')) return origin === '' ? NONE : ANY
    return origin === '' || !origins.has(origin) ? VARY : [['Access-Control-Allow-Origin', origin], EXPOSED, VARIES]
  }
}

/** What an OPTIONS request of a known path is answered with, besides the headers above. */
export const preflightHeaders = (allow: string): HeaderList => [
  ['Allow', allow],
  ['Access-Control-Allow-Methods', allow],
  ['Access-Control-Allow-Headers', REQUEST_HEADERS],
  ['Access-Control-Max-Age', '600'],
]
