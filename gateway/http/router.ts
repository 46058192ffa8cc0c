/**
 * From method and path to an operation. Built once; paths without parameters are one map look-up, the others are matched by
 * their segments. Paths are compared as sent: nothing is decoded or normalised, because what is signed is what was sent. Only in a
 * parameter that was found, `%2F` is decoded, since the symbol of a pair has a slash, and one that names something by a text of the client
 * (`client:...`) altogether.
 */
import type { ServedOperation } from '../operations/index.ts'

export interface Route {
  readonly served: ServedOperation
  /** Parameter names by segment; '' where the segment is literal. */
  readonly names: readonly string[]
  readonly segments: readonly string[]
}

interface Place {
  /** By method; HEAD is served by GET's route. */
  readonly routes: Map<string, Route>
  readonly segments: readonly string[]
}

export interface Router {
  readonly fixed: Map<string, Place>
  /** Places with parameters, by number of segments. */
  readonly patterns: Map<number, Place[]>
}

export interface Match {
  readonly route: Route
  readonly params: Record<string, string>
}

/** A path that exists, without the method asked for. */
export interface WrongMethod {
  readonly allow: string
}

const SLASH = /%2f/i
const NO_PARAMS: Record<string, string> = {}

export function createRouter(operations: readonly ServedOperation[]): Router {
  const router: Router = { fixed: new Map(), patterns: new Map() }
  for (const served of operations) {
    const { method, path } = served.row
    const segments = path.split('/')
    const names = segments.map((segment) => (segment.startsWith('{') ? segment.slice(1, -1) : ''))
    placeOf(router, path, segments).routes.set(method, { served, names, segments })
  }
  return router
}

function placeOf(router: Router, path: string, segments: readonly string[]): Place {
  if (!path.includes('{')) {
    const place = router.fixed.get(path) ?? { routes: new Map<string, Route>(), segments }
    router.fixed.set(path, place)
    return place
  }
  const places = router.patterns.get(segments.length) ?? []
  router.patterns.set(segments.length, places)
  const known = places.find((place) => place.segments.join('/') === path)
  if (known !== undefined) return known
  const place: Place = { routes: new Map(), segments }
  places.push(place)
  return place
}

const fits = (place: Place, parts: readonly string[]): boolean =>
  place.segments.every((segment, i) => (segment.startsWith('{') ? parts[i] !== '' : segment === parts[i]))

/** The route of a request; `null` when no operation has this path. */
export function findRoute(router: Router, method: string, path: string): Match | WrongMethod | null {
  const fixed = router.fixed.get(path)
  if (fixed !== undefined) {
    const route = routeOf(fixed, method)
    if (route !== undefined) return { route, params: NO_PARAMS }
  }
  const parts = path.split('/')
  const place = router.patterns.get(parts.length)?.find((each) => fits(each, parts))
  const route = place === undefined ? undefined : routeOf(place, method)
  if (route !== undefined) {
    const params: Record<string, string> = {}
    route.names.forEach((name, i) => {
      if (name !== '') params[name] = decoded(parts[i]!)
    })
    return { route, params }
  }
  return fixed === undefined && place === undefined ? null : { allow: allowed(fixed, place) }
}

const CLIENT_TEXT = /^client(:|%3a)/i

/** A parameter; of one that is badly encoded nothing is left, so it has the wrong form. */
function decoded(part: string): string {
  if (!CLIENT_TEXT.test(part)) return part.replace(SLASH, '/')
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

const routeOf = (place: Place, method: string): Route | undefined => place.routes.get(method === 'HEAD' ? 'GET' : method)

function allowed(...places: readonly (Place | undefined)[]): string {
  const methods = new Set(['OPTIONS'])
  for (const place of places) {
    for (const method of place?.routes.keys() ?? []) {
      methods.add(method)
      if (method === 'GET') methods.add('HEAD')
    }
  }
  return [...methods].sort().join(', ')
}
