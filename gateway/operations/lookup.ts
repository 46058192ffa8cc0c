/**
 * What clients name: pairs, assets and orders, from the text they gave to the row it means, or the refusal that says there is none.
 *
 * A pair is named by its id or its symbol, anywhere where a request or a subscription names one; in a path the slash of a symbol is written
 * `%2F`. Ids and symbols may be in either case. Answers and frames have the id. What has neither form is a VALIDATION_ERROR of the schema.
 */
import { IdKind, parseId, type Id } from '../../core/layout/ids.ts'
import type { Asset, Pair } from '../../core/state/genesis.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { CLIENT_PREFIX } from './operation.ts'

/** The pair of this name; `undefined`: there is none. */
export const findPair = ({ pairs }: Gateway, name: string): Pair | undefined => pairs.get(name) ?? pairs.get(name.toLowerCase())

/** The pair of this name, or the refusal of the field that has it. */
export const pairOf = (gateway: Gateway, name: string, field = 'tradingPairId'): Pair | Refused =>
  findPair(gateway, name) ?? new Refused('NOT_FOUND', 'Trading pair not found', { field })

/** The asset with this id; `undefined`: there is none. */
export const findAsset = ({ assets }: Gateway, id: string): Asset | undefined => assets.get(id) ?? assets.get(id.toLowerCase())

/** The asset with this id, or the refusal of the field that has it. */
export const assetOf = (gateway: Gateway, id: string, field = 'assetId'): Asset | Refused =>
  findAsset(gateway, id) ?? new Refused('NOT_FOUND', 'Asset not found', { field })

/** What a caller names an order by: its id, or the client order id of one that rests. */
export type NamedOrder = Id | { readonly clientOrderId: string }

/** What `text` names, which has the form of an {@link OrderName}; or the refusal of an id that no order ever had. */
export function orderOf(text: string): NamedOrder | Refused {
  if (text.startsWith(CLIENT_PREFIX)) return { clientOrderId: text.slice(CLIENT_PREFIX.length) }
  return parseId(IdKind.ORDER, text) ?? new Refused('ORDER_NOT_FOUND')
}
