/** The words that orders and everything that becomes an order are said in. */
import Type from 'typebox'
import { record } from './schema.ts'

export const Side = record('Side', 'BUY takes from the asks, SELL from the bids.', Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]))
export const OrderType = record(
  'OrderType', 'LIMIT has a price of its own; MARKET takes what is there, inside the protective band, and never rests.',
  Type.Union([Type.Literal('LIMIT'), Type.Literal('MARKET')]),
)
export const TimeInForce = record('TimeInForce', 'GTC rests until it is filled, cancelled or expires; IOC fills '
  + 'what it can at once and ends; FOK fills whole at once or '
  + 'not at all. A MARKET order carries none.', Type.Union([Type.Literal('GTC'), Type.Literal('IOC'), Type.Literal('FOK')]))
export const TradingMode = record(
  'TradingMode', 'MARGIN on perpetuals, SPOT on all other pairs.', Type.Union([Type.Literal('SPOT'), Type.Literal('MARGIN')]),
)
export const MarginMode = record(
  'MarginMode', 'ISOLATED: the collateral of the position is its own; CROSS: positions of one strategy key share theirs.',
  Type.Union([Type.Literal('ISOLATED'), Type.Literal('CROSS')]),
)
export const PositionSide = Type.Union([Type.Literal('LONG'), Type.Literal('SHORT')])
