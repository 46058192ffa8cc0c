/** Inputs whose path, query and body fields come together in one object: messages of gRPC, bodies of order entry on a WebSocket. */
import type { JsonObject } from './body.ts'
import type { Refused } from '../refused.ts'
import type { Check, Operation } from './operation.ts'

/** Path, query and body, where an operation has them. */
export const partsOf = ({ params, query, body }: Operation<never>): Check[] => [params, query, body].filter((check) => check !== null)

/** The check of such an input: that of each part, with the fields that are its own. */
export function flatCheck(operation: Operation<never>): (input: JsonObject) => Refused | null {
  const parts = partsOf(operation)
  if (parts.length === 1) return parts[0]!.check
  const checks = parts.map(checkOf)
  return (input) => {
    for (const check of checks) {
      const refused = check(input)
      if (refused !== null) return refused
    }
    return null
  }
}

/** A body that allows no other fields must not see the path's. */
function checkOf({ schema, check }: Check): Check['check'] {
  const names = Object.keys(schema.properties)
  return (input) => check(Object.fromEntries(names.filter((name) => Object.hasOwn(input as JsonObject, name))
    .map((name) => [name, (input as JsonObject)[name]])))
}
