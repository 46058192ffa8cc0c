/** Fields that mean the same wherever they stand, declared once. */
import Type from 'typebox'
import { Decimal, Nullable, OrderName, PairName, Timestamp, Uuid } from './operation.ts'
import { field } from './schema.ts'

export const address = field(Type.String(), 'Wallet address. Answers carry the EIP-55 form.')
export const amount = field(Decimal, 'In units of the asset.')
export const asOf = field(
  Timestamp,
  'What happened until then is in the answer: now, or, when the history is behind, when its newest command was. '
    + 'Lists have it only when the history is behind.',
)
export const assetId = field(Uuid, 'Asset.')
/** Meaning of `amountDecimals`, whose asset its name says. */
export const AMOUNT_DECIMALS =
  'Digits behind the point that amounts of it may have; may be fewer than the token has on the chain.'
export const createdAt = field(Timestamp, 'When it was made.')
export const expiresAt = field(Type.Integer(), 'Unix time in seconds.')
export const id = field(Uuid, 'Identifier of this record.')
export const message = field(Type.String(), 'What happened, in words; do not parse it.')
export const orderName = field(OrderName, 'Order.')
export const orderId = field(Uuid, 'Order.')
export const postOnly = field(Type.Boolean(), 'Refuse the order rather than let it take from the book; GTC only.')
export const quantity = field(Decimal, 'In units of the base token; a positive multiple of lotSize.')
export const subAccountId = field(Uuid, 'User that is the sub-account.')
export const symbol = field(Type.String(), 'Symbol of the asset, or BASE/QUOTE of the pair.')
export const token = field(Type.String(), 'Contract address of the token.')
export const tradingPairId = field(Uuid, 'Trading pair.')
/** As a request or a subscription names it. */
export const pairName = field(PairName, 'Trading pair, by id or symbol (`BTC/USDC`); in a path of REST the slash is `%2F`.')
export const updatedAt = field(Timestamp, 'When it changed last.')
export const username = field(Nullable(Type.String()), 'Chosen name, or null.')
/** Of an answer, and of a state that is read. */
export const sequence = field(
  Type.Integer(),
  'Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the last one that '
    + 'was applied when this was read.',
)
