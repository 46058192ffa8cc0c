/** Parameters of a subscription: what the schema of the channel says, and what no schema can say. */
import type { Static } from 'typebox'
import type { Gateway } from '../../context.ts'
import { compile } from '../../operations/operation.ts'
import { findPair } from '../../operations/lookup.ts'
import type { Params } from '../frames.ts'
import type { Declaration } from './channel.ts'

/**
 * A reader of the parameters this channel declares: gives the fields it declares and nothing else, or a text that says what is wrong. A
 * pair that `tradingPairId` names exists, and its id is in its one written form.
 */
export function readerOf<D extends Declaration>(
  gateway: Gateway, { params: schema }: D,
): (params: Params) => (Params & Static<D['params']>) | string {
  type Terms = Params & Static<D['params']>
  const { check } = compile(schema)
  const names = Object.keys(schema.properties)
  return (params) => {
    const given = Object.fromEntries(names.map((name) => [name, params[name] ?? null]).filter(([, value]) => value !== null)) as Params
    const refused = check(given)
    if (refused !== null) return refused.message
    const { tradingPairId } = given
    if (tradingPairId === undefined) return given as Terms
    const pair = findPair(gateway, tradingPairId as string)
    if (pair === undefined) return 'tradingPairId names no trading pair'
    const terms: Params = { ...given, tradingPairId: pair.id }
    return terms as Terms
  }
}
