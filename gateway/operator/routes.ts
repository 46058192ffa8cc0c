/** The files whose exported routes the operator's port serves, and all their routes. */
import { needsToken as neededByPath } from './access.ts'
import { isRoute, type OperatorRoute } from './route.ts'
import * as applications from './applications.ts'
import * as clock from './clock.ts'
import * as keys from './keys.ts'
import * as limits from './limits.ts'
import * as listing from './listing.ts'
import * as policy from './policy.ts'
import * as pools from './pools.ts'
import * as sessions from './sessions.ts'
import * as subAccounts from './sub_accounts.ts'

export interface NamedRoute {
  /** What its export is called; `operationId` in the document. */
  readonly name: string
  readonly route: OperatorRoute
}

export const DECLARED: readonly NamedRoute[] = [applications, clock, keys, limits, listing, policy, pools, sessions, subAccounts]
  .flatMap((area) => Object.entries(area as Readonly<Record<string, unknown>>))
  .filter((entry): entry is [string, OperatorRoute] => isRoute(entry[1]))
  .map(([name, route]) => ({ name, route }))
  .sort((a, b) => (a.route.path === b.route.path ? (a.route.method < b.route.method ? -1 : 1) : a.route.path < b.route.path ? -1 : 1))

/** Whether a request needs the operator's token; `path` without query. */
export function needsToken(method: string, path: string): boolean {
  const served = method === 'HEAD' ? 'GET' : method
  const found = DECLARED.find(({ route }) => route.path === path && route.method === served)
  return found === undefined ? neededByPath(method, path) : found.route.token
}
