/** Names and descriptions of what several operations share: records, enumerations and forms of text. */
import type { TSchema } from 'typebox'
import { DECIMAL } from '../../operations/amounts.ts'
import { HANDLERS, type OperationName } from '../../operations/index.ts'
import { Decimal, OrderName, Timestamp, Uuid } from '../../operations/operation.ts'
import { OrderItem, OrderType, ReplaceItem, Side, TimeInForce, TradingMode } from '../../operations/order_terms.ts'
import { OrderStatus } from '../../operations/order_record.ts'

interface Part {
  readonly properties?: Readonly<Record<string, Part>>
  readonly items?: Part
}

/** What an operation answers, or the part of it that is reached by these field names; lists are entered by the way. */
function answerOf(name: OperationName, ...path: readonly string[]): TSchema {
  let part = HANDLERS[name].output as Part
  for (const field of path) {
    const next = part.properties?.[field]
    if (next === undefined) throw new Error(`${name} answers nothing called ${path.join('.')}`)
    part = next.items ?? next
  }
  return part as TSchema
}

export const RECORDS = {
  Uuid,
  OrderName,
  Decimal,
  Timestamp,
  Side,
  OrderType,
  TimeInForce,
  TradingMode,
  OrderStatus,
  OrderItem,
  ReplaceItem,
  Order: answerOf('GetOrder'),
  MatchResult: answerOf('CreateOrder', 'matchResult'),
  Balance: answerOf('GetBalance'),
  TradingPair: answerOf('GetTradingPair', 'tradingPair'),
  ScreenerItem: answerOf('GetScreener', 'items'),
  ScreenerDay: answerOf('GetScreener', 'items', 'snapshot7d'),
  Candle: answerOf('GetCandles', 'candles'),
  CandleInterval: answerOf('GetCandles', 'interval'),
  BookLevel: answerOf('GetOrderbook', 'bids'),
  FaucetMint: answerOf('Mint', 'minted'),
  ReplaceElement: HANDLERS.BatchReplaceOrders.items['orders']!,
  Trade: answerOf('GetTrade'),
  AccountTrade: answerOf('ListAccountTrades', 'trades'),
  SettlementStatus: answerOf('GetTrade', 'settlementStatus'),
  Movement: answerOf('ListMovements', 'movements'),
  EntryType: answerOf('ListMovements', 'movements', 'entryType'),
  TransactionType: answerOf('ListMovements', 'movements', 'transactionType'),
  SubAccount: answerOf('CreateSubAccount', 'subAccount'),
  SubAccountLimit: answerOf('CreateSubAccountLimit', 'limit'),
  TransferDirection: answerOf('TransferSubAccountBalance', 'direction'),
  DelegatedAgent: answerOf('GetDelegatedAgent'),
  AgentAction: answerOf('GetDelegatedAgent', 'allowedActions'),
  ItemError: answerOf('BatchCreateOrders', 'results', 'error'),
  NotCancelled: answerOf('BatchCancelAllOrders', 'notCancelled'),
} as const satisfies Record<string, TSchema>

type RecordText = { readonly description: string } & Readonly<Record<string, unknown>>

export const RECORD_TEXTS: { readonly [Name in keyof typeof RECORDS]: RecordText } = {
  Uuid: { description: 'Identifier. Upper and lower case name the same thing.' },
  OrderName: {
    description: 'An order: its id, or `client:` and the client order id under which it rests (percent-encoded in a path). The name is '
      + 'resolved when the engine takes the request, so it may follow the create at once.',
  },
  Decimal: {
    description: 'Exact decimal number as text: no exponent, no trailing zeros in answers.',
    pattern: DECIMAL.source,
  },
  Timestamp: { description: 'RFC 3339 date-time in UTC with milliseconds.' },
  Side: { description: 'BUY takes from the asks, SELL from the bids.' },
  OrderType: { description: 'LIMIT has a price of its own; MARKET takes what is there, inside the protective band, and never rests.' },
  TimeInForce: {
    description: 'GTC rests until it is filled, cancelled or expires; IOC fills what it can at once and ends; FOK fills whole at once or '
      + 'not at all. A MARKET order carries none.',
  },
  TradingMode: { description: 'This market is SPOT.' },
  OrderStatus: {
    description: 'SUBMITTED rests untouched, PARTIALLY_FILLED rests with fills, FILLED is complete; SETTLED and SETTLED_ON_CHAIN follow '
      + 'settlement. CANCELLED, EXPIRED and REJECTED are final.',
  },
  OrderItem: { description: 'One order to place. Unknown fields are ignored.' },
  ReplaceItem: { description: 'What changes; a price that is left out stays as it was, and without quantity it is what is still open.' },
  ReplaceElement: { description: 'One replacement of a batch: the order, and what changes.' },
  Order: { description: 'An order as it is now.' },
  MatchResult: { description: 'What an order met when it arrived.' },
  Balance: { description: 'Balance of one asset. Apply a higher version, treat an equal one as a duplicate, ignore a lower one.' },
  TradingPair: { description: 'A market and its rules.' },
  ScreenerItem: { description: 'A market and what it does. What is not known is null, and so is what only perpetuals have.' },
  ScreenerDay: { description: 'A market on one day of UTC.' },
  Candle: { description: 'Price and volume of one interval.' },
  CandleInterval: { description: 'Length of a candle: minutes, hours, a day, a week.' },
  BookLevel: { description: 'All orders of one price.' },
  FaucetMint: { description: 'Test funds of one asset.' },
  Trade: { description: 'A trade as everybody sees it: nothing of it tells who traded.' },
  AccountTrade: { description: 'A trade with the side of the caller.' },
  SettlementStatus: { description: 'PENDING waits for settlement on the chain, SETTLED is handed over to it, SETTLED_ON_CHAIN is final.' },
  Movement: { description: 'One change of one balance.' },
  EntryType: { description: 'CREDIT and DEBIT change what the account has; LOCK and UNLOCK move between available and locked.' },
  TransactionType: { description: 'What caused a movement.' },
  SubAccount: { description: 'An account of a wallet that another account, its master, made.' },
  SubAccountLimit: { description: 'What orders of a sub-account may spend of its master\'s balance of one asset.' },
  TransferDirection: { description: 'TO_SUB_ACCOUNT gives to the sub-account, FROM_SUB_ACCOUNT takes back.' },
  DelegatedAgent: { description: 'A wallet that may trade for the caller, and inside which bounds.' },
  AgentAction: { description: 'Something a delegated agent may do.' },
  NotCancelled: { description: 'An order that a mass cancel left on the book.' },
  ItemError: { description: 'Why one item of a batch was refused; the others are not affected.' },
}
