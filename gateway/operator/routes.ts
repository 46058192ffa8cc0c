/** The files whose exported routes the operator's port serves, and all their routes. It serves nothing else. */
import Type from 'typebox'
import { field } from '../operations/schema.ts'
import { createDocument } from './document.ts'
import { isRoute, operatorRoute, type NamedRoute, type OperatorRoute } from './route.ts'
import * as applications from './applications.ts'
import * as builder from './builder.ts'
import * as clock from './clock.ts'
import * as copies from './copies.ts'
import * as deposits from './deposits.ts'
import * as keys from './keys.ts'
import * as launches from './launches.ts'
import * as limits from './limits.ts'
import * as listing from './listing.ts'
import * as perps from './perps.ts'
import * as perpTerms from './perp_terms.ts'
import * as policy from './policy.ts'
import * as pools from './pools.ts'
import * as probes from './probes.ts'
import * as referrals from './referrals.ts'
import * as sessions from './sessions.ts'
import * as solvency from './solvency.ts'
import * as status from './status.ts'
import * as subAccounts from './sub_accounts.ts'
import * as vaultChain from './vault_chain.ts'
import * as withdrawals from './withdrawals.ts'

/** It stands here because it describes all of them, itself too. */
export const ShowDocument = operatorRoute({
  method: 'GET', path: '/openapi.json', token: false,
  summary: 'This document', description: 'Every route of the port as OpenAPI 3.1.',
  output: Type.Object({
    openapi: field(Type.String(), 'Version of the format.'), info: field(Type.Object({}), 'What is described.'),
    paths: field(Type.Object({}), 'The routes, by path and method.'), components: field(Type.Object({}), 'What they share.'),
  }),
  refusals: [],
  example: { input: {}, output: { openapi: '3.1.0', info: {}, paths: {}, components: {} } },
  commands: 'it is for programs; help has the same for people',
  run: () => createDocument(DECLARED),
})

const AREAS = [
  applications, builder, clock, copies, deposits, keys, launches, limits, listing, perps, perpTerms, policy, pools, probes, referrals,
  sessions, solvency, status, subAccounts, vaultChain, withdrawals,
  { ShowDocument },
]

const byPath = ({ route: a }: NamedRoute, { route: b }: NamedRoute): number => {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1
  return a.method < b.method ? -1 : 1
}

/** All of them, by path and method. */
export const DECLARED: readonly NamedRoute[] = AREAS
  .flatMap((area) => Object.entries(area as Readonly<Record<string, unknown>>))
  .filter((entry): entry is [string, OperatorRoute] => isRoute(entry[1]))
  .map(([name, route]) => ({ name, route }))
  .sort(byPath)

/** Whether a request needs the operator's token; `path` without query. */
export const needsToken = (method: string, path: string): boolean =>
  DECLARED.find(({ route }) => route.path === path && route.method === method)?.route.token ?? true
