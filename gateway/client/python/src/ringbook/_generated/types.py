"""What goes over the wire. Made by gateway/client/python/generate from the documents of the service: do not edit."""

from __future__ import annotations

import decimal
from typing import Any, Literal, TypedDict, Union

#: A decimal in a request: text, or exact. Binary floating point is refused.
Amount = Union[str, decimal.Decimal]

class AccountSnapshot(TypedDict):
    """Margin accounts."""
    channel: Literal["account"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    timestamp: str
    """When the frame was made."""
    data: AccountSnapshotData
    """What the channel tells."""


class _AccountSnapshotData(TypedDict):
    accounts: list[MarginAccount]
    """Margin accounts, the parent first."""


class AccountSnapshotData(_AccountSnapshotData, total=False):
    """What the channel tells."""
    marginAccountId: str
    """The margin account that was asked for; absent: all."""


class _AccountTrade(TypedDict):
    id: str
    """Identifier of this record."""
    tradingPairId: str
    """Trading pair."""
    price: str
    """Units of the quote token for one of the base token; a positive multiple of tickSize."""
    quantity: str
    """In units of the base token; a positive multiple of lotSize."""
    quoteQuantity: str
    """Price times quantity, in units of the quote token."""
    makerSide: Side
    """Side of the order that rested."""
    executedAt: str
    """When it was matched."""
    settlementStatus: SettlementStatus
    """How far settlement on the chain has come."""
    orderId: str
    """Order."""
    side: Side
    """BUY or SELL."""
    role: Literal["maker", "taker"]
    """maker: your order rested; taker: it came and took."""
    fee: str
    """In units of the quote token: positive paid, negative earned."""
    feeRaw: str
    """The fee in smallest units of the token."""
    applicationFee: str
    """What the application of the order charged besides, in units of the quote token."""
    feeToken: str
    """Symbol of the asset the fees are in."""


class AccountTrade(_AccountTrade, total=False):
    """A trade with the side of the caller."""
    settlement: SettlementProof | None
    """With `proof`: what proves that it is in its batch; null while it waits for one. Its leaf names both sides."""


class AccountUpdate(TypedDict):
    """A margin account whose figures changed; of marks at most one frame a second."""
    channel: Literal["account"]
    """Name of the channel."""
    type: Literal["account_update"]
    """What the frame is."""
    sequence: int
    """Number of the last command that is in the frame."""
    timestamp: str
    """When the frame was made."""
    data: MarginAccount
    """What the channel tells."""


class AddPositionMarginResponse(TypedDict):
    """Answer of AddPositionMargin."""
    positionId: str
    """Position."""
    marginAccountId: str
    """Margin account."""
    newIsolatedMargin: str
    """Collateral that the bucket of the position has committed now."""
    status: Literal["SUCCESS"]
    """SUCCESS: what was asked for was done."""


#: Something a delegated agent may do.
AgentAction = Literal["CREATE_ORDER", "CANCEL_ORDER", "REPLACE_ORDER", "CLOSE_POSITION"]

class _AttachTpSlResponse(TypedDict):
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    engineTime: str
    """Sequenced time at which the engine took the command."""


class AttachTpSlResponse(_AttachTpSlResponse, total=False):
    """Answer of AttachTpSl."""
    takeProfitOrderId: str
    """The take-profit that was made."""
    stopLossOrderId: str
    """The stop-loss that was made."""
    trailingStopOrderId: str
    """The trailing stop that was made."""
    ocoGroupId: str
    """The pair of take-profit and stop-loss, of which one cancels the other."""


class Balance(TypedDict):
    """Balance of one asset. Apply a higher version, treat an equal one as a duplicate, ignore a lower one."""
    assetId: str
    """Asset."""
    token: str
    """Contract address of the token."""
    symbol: str | None
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    decimals: int
    """Digits of the token on the chain: raw amounts are this many places longer."""
    amountDecimals: int
    """Digits behind the point that amounts of it may have; may be fewer than the token has on the chain."""
    availableBalance: str
    """Free to use, in units of the token."""
    lockedBalance: str
    """Held for open orders, in units of the token."""
    totalBalance: str
    """Available plus locked."""
    availableBalanceRaw: str
    """Available, in smallest units of the token."""
    lockedBalanceRaw: str
    """Locked, in smallest units of the token."""
    version: int
    """Ranks states of one thing: higher is newer."""


class BalanceUpdate(TypedDict):
    """One row as it is now: a higher `version` replaces what you have, an equal or lower one is ignored. Funding,
    liquidation and auto-deleveraging give a new version too, although they change a margin account and no amount
    of the row."""
    channel: Literal["balances"]
    """Name of the channel."""
    type: Literal["balance_update"]
    """What the frame is."""
    reason: Literal[
        "trade", "fee", "rebate", "lock", "unlock", "faucet", "transfer", "funding", "liquidation", "adl",
        "application_fee", "revenue_share", "referral_reward", "deposit", "withdrawal",
    ]
    """What caused it; the first of `reasons`."""
    timestamp: str
    """When the frame was made."""
    data: BalanceUpdateData
    """What the channel tells."""


class _BalanceUpdateData(TypedDict):
    assetId: str
    """Asset."""
    token: str
    """Contract address of the token."""
    symbol: str | None
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    decimals: int
    """Digits of the token on the chain: raw amounts are this many places longer."""
    amountDecimals: int
    """Digits behind the point that amounts of it may have; may be fewer than the token has on the chain."""
    availableBalance: str
    """Free to use, in units of the token."""
    lockedBalance: str
    """Held for open orders, in units of the token."""
    totalBalance: str
    """Available plus locked."""
    availableBalanceRaw: str
    """Available, in smallest units of the token."""
    lockedBalanceRaw: str
    """Locked, in smallest units of the token."""
    version: int
    """Ranks states of one thing: higher is newer."""
    reasons: list[Literal[
        "trade", "fee", "rebate", "lock", "unlock", "faucet", "transfer", "funding", "liquidation", "adl",
        "application_fee", "revenue_share", "referral_reward", "deposit", "withdrawal",
    ]]
    """Everything that changed the balance since the frame before."""


class BalanceUpdateData(_BalanceUpdateData, total=False):
    """What the channel tells."""
    tokenSymbol: str | None
    """Symbol of the asset, where a reason is trade, fee, rebate, funding, liquidation or adl."""


class BalancesSnapshot(TypedDict):
    """A row of every asset."""
    channel: Literal["balances"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    timestamp: str
    """When the frame was made."""
    data: BalancesSnapshotData
    """What the channel tells."""


class BalancesSnapshotData(TypedDict):
    """What the channel tells."""
    balances: list[Balance]
    """One row per asset, zero balances included."""


class _BatchCancelAllOrdersResponse(TypedDict):
    totalCancelled: int
    """Orders, conditional orders and TWAP orders that were cancelled."""
    orderIds: list[str]
    """Orders, conditional orders and TWAP orders that were cancelled."""


class BatchCancelAllOrdersResponse(_BatchCancelAllOrdersResponse, total=False):
    """Answer of BatchCancelAllOrders."""
    totalNotCancelled: int
    """Those that stay, although the request meant them."""
    notCancelled: list[NotCancelled]
    """The first 1,000 of them, newest first."""
    cancelAt: str | None
    """Of a request with `afterMs`: when everything is cancelled unless it is repeated before. null: never."""


class _BatchCancelOrdersByPairResponse(TypedDict):
    totalCancelled: int
    """Orders, conditional orders and TWAP orders that were cancelled."""
    orderIds: list[str]
    """Orders, conditional orders and TWAP orders that were cancelled."""


class BatchCancelOrdersByPairResponse(_BatchCancelOrdersByPairResponse, total=False):
    """Answer of BatchCancelOrdersByPair."""
    totalNotCancelled: int
    """Those that stay, although the request meant them."""
    notCancelled: list[NotCancelled]
    """The first 1,000 of them, newest first."""


class BatchCancelOrdersResponse(TypedDict):
    """Answer of BatchCancelOrders."""
    totalRequested: int
    """Items of the request."""
    totalSucceeded: int
    """Items that were carried out."""
    totalFailed: int
    """Items that were refused."""
    results: list[BatchCancelOrdersResponseResultsItem]
    """One per item, in the order of the request."""


class BatchCancelOrdersResponseResultsItem(TypedDict, total=False):
    orderId: str
    """Order."""
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    engineTime: str
    """Sequenced time at which the engine took the command."""
    error: ItemError
    """Why this item was refused; absent when it was carried out."""


class BatchCreateOrdersResponse(TypedDict):
    """Answer of BatchCreateOrders."""
    totalRequested: int
    """Items of the request."""
    totalSucceeded: int
    """Items that were carried out."""
    totalFailed: int
    """Items that were refused."""
    results: list[BatchCreateOrdersResponseResultsItem]
    """One per item, in the order of the request."""


class BatchCreateOrdersResponseResultsItem(TypedDict, total=False):
    orderId: str
    """Order."""
    matchResult: MatchResult
    """What the order met when it arrived."""
    submittedQuantity: str
    """Of a reduceOnly order: the quantity that it is for, at most what is open and at most what one order may have."""
    takeProfitOrderId: str
    """The take-profit that was made."""
    stopLossOrderId: str
    """The stop-loss that was made."""
    trailingStopOrderId: str
    """The trailing stop that was made."""
    ocoGroupId: str
    """The pair of take-profit and stop-loss, of which one cancels the other."""
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    engineTime: str
    """Sequenced time at which the engine took the command."""
    error: ItemError
    """Why this item was refused; absent when it was carried out."""


class BatchReplaceOrdersResponse(TypedDict):
    """Answer of BatchReplaceOrders."""
    totalRequested: int
    """Items of the request."""
    totalSucceeded: int
    """Items that were carried out."""
    totalFailed: int
    """Items that were refused."""
    results: list[BatchReplaceOrdersResponseResultsItem]
    """One per item, in the order of the request."""


class BatchReplaceOrdersResponseResultsItem(TypedDict, total=False):
    originalOrderId: str
    """The order that was replaced."""
    newOrderId: str
    """The order that took its place."""
    quantity: str
    """In units of the base token; a positive multiple of lotSize."""
    matchResult: MatchResult
    """What the order met when it arrived."""
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    engineTime: str
    """Sequenced time at which the engine took the command."""
    error: ItemError
    """Why this item was refused; absent when it was carried out."""


class BookLevel(TypedDict):
    """All orders of one price."""
    price: str
    """Units of the quote token for one of the base token."""
    quantity: str
    """Everything at this price, in the denomination asked for."""
    orderCount: int
    """Orders at this price."""


class CancelConditionalOrderResponse(TypedDict):
    """Answer of CancelConditionalOrder."""
    conditionalOrderId: str
    """Conditional order."""
    status: Literal["SUCCESS"]
    """SUCCESS: what was asked for was done."""
    message: str
    """What happened, in words; do not parse it."""
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    engineTime: str
    """Sequenced time at which the engine took the command."""


class CancelOrderResponse(TypedDict):
    """Answer of CancelOrder."""
    orderId: str
    """Order."""
    status: Literal["SUCCESS"]
    """SUCCESS: what was asked for was done."""
    message: str
    """What happened, in words; do not parse it."""
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    engineTime: str
    """Sequenced time at which the engine took the command."""


class CancelTwapOrderResponse(TypedDict):
    """Answer of CancelTwapOrder."""
    twapOrderId: str
    """TWAP order."""
    status: Literal["SUCCESS"]
    """SUCCESS: what was asked for was done."""
    message: str
    """What happened, in words; do not parse it."""
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    engineTime: str
    """Sequenced time at which the engine took the command."""


class Candle(TypedDict):
    """Price and volume of one interval."""
    t: int
    """Beginning, Unix milliseconds."""
    T: int
    """Last millisecond that belongs to it, Unix milliseconds."""
    o: str
    """First price."""
    h: str
    """Highest price."""
    l: str
    """Lowest price."""
    c: str
    """Last price."""
    v: str
    """Traded, in units of the base token."""
    q: str
    """Traded, in units of the quote token."""
    n: int
    """Trades."""


#: Length of a candle: minutes, hours, a day, a week.
CandleInterval = Literal["1m", "5m", "15m", "30m", "1h", "4h", "1d", "1w"]

class ChallengeResponse(TypedDict):
    """Answer of Challenge."""
    nonce: str
    """Single use, valid for 5 minutes, bound to address, session key and application."""
    message: str
    """Text the wallet signs, byte for byte (EIP-191 personal_sign)."""
    expiresAt: int
    """Unix time in seconds."""


class CheckResponse(TypedDict):
    """Answer of Check."""
    status: Literal["ok", "degraded", "maintenance"]
    """ok; maintenance: the operator blocks orders and transfers; degraded: something is not well, which `degraded`
    names."""
    version: str
    """Version of this interface."""
    sequence: int
    """Number of the newest command that was applied when this was read; it only grows."""
    timestamp: str
    """When this was read."""
    degraded: list[str]
    """What is not well: engine, the matching engine does not answer; history, it cannot be read or is late. More may
    come."""


class ClaimLeaseResponse(TypedDict):
    """Answer of ClaimLease."""
    launchId: str
    """The launch, as the operator named it."""
    ownerId: str
    """Who holds the lease."""
    generation: str
    """Grows by one with each change of who holds the lease."""
    quoteRevision: str
    """Grows with each change of holder, maker, phase or length: quotes of before are of other terms."""
    expiresAt: str
    """When the lease is over unless it is renewed."""
    refreshIntervalMs: int
    """Renew this often, milliseconds."""
    phase: str
    """Phase of the launch: PREPARING, LIVE, CLOSING, ENDED; more may come."""


class CloseAllFollowPositionsResponse(TypedDict):
    """Answer of CloseAllFollowPositions."""
    follows: list[ClosedFollow]
    """Live follows, newest first."""
    stoppingFollowIds: list[str]
    """Follows whose stop is in progress."""
    failedFollows: list[CloseAllFollowPositionsResponseFailedFollowsItem]
    """Follows whose close could not run."""


class CloseAllFollowPositionsResponseFailedFollowsItem(TypedDict):
    followId: str
    """Follow."""
    reason: str
    """Code of the refusal, such as TOO_MANY_IN_FLIGHT."""


class CloseMarginSubAccountResponse(TypedDict):
    """Answer of CloseMarginSubAccount."""
    marginAccountId: str
    """The one that was closed."""
    defaultMarginAccountId: str
    """The parent, which has its collateral now."""
    amount: str
    """Collateral that moved to the parent."""


class ClosePositionResponse(TypedDict):
    """Answer of ClosePosition."""
    closeOrderId: str
    """The order that closes it, or the first of them."""
    closeOrderIds: list[str]
    """All orders that close it, in the order in which they were placed."""
    status: Literal["SUCCESS"]
    """SUCCESS: what was asked for was done."""
    message: str
    """What happened, in words; do not parse it."""
    submittedQuantity: str
    """Quantity of all these orders: what was asked for, at most what is open."""
    matchResult: MatchResult
    """What the orders met when they arrived, together."""
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    engineTime: str
    """Sequenced time at which the engine took the command."""


#: MARKET takes what is there inside the protective band; LIMIT rests at its price; IOC takes what it can at its price.
CloseType = Literal["MARKET", "LIMIT", "IOC"]

class ClosedFollow(TypedDict):
    """What closing the positions of a follow came to."""
    followId: str
    """Follow."""
    closeOrdersPlaced: int
    """Close orders that were accepted."""
    positionsNotClosed: int
    """Positions whose close was refused or not filled in full."""


#: What a conditional order waits for.
ConditionType = Literal["TAKE_PROFIT", "STOP_LOSS", "TRAILING_STOP"]

class _ConditionalOrder(TypedDict):
    conditionalOrderId: str
    """Conditional order."""
    id: str
    """The same as conditionalOrderId."""
    conditionType: ConditionType
    """What it waits for."""
    state: ConditionalState
    """Where it stands."""
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    side: Side
    """Side of the order that closes: SELL closes a long position."""
    orderType: OrderType
    """What it enters."""
    closePosition: bool
    """It closes the whole position."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it changed last."""


class ConditionalOrder(_ConditionalOrder, total=False):
    """A take-profit, stop-loss or trailing stop."""
    positionId: str
    """Position that it closes; absent while its entry order has opened none."""
    marginAccountId: str
    """Margin account of the position; absent when it is not known any more."""
    riskBucketId: str
    """Risk bucket of the position; absent when it is not known any more."""
    triggerPrice: str
    """Mark price that fires it; of a trailing stop the one of now, absent while it is not armed."""
    limitPrice: str
    """Price of the LIMIT order."""
    timeInForce: TimeInForce
    """Of the LIMIT order."""
    slippageToleranceBps: int
    """How far from the best price the MARKET order may trade, in basis points."""
    quantity: str
    """What it closes if it fires now, in units of the base token: what was asked for, never more than the position
    has. Of one that fired: what was ordered. Absent: all of a position that is not there yet."""
    trailBps: int
    """Of a trailing stop: how far behind the best mark price, in basis points."""
    activationPrice: str
    """Of a trailing stop: mark price that arms it; absent: it was armed at once."""
    watermarkPrice: str
    """Of a trailing stop: best mark price since it was armed."""
    trailArmedAt: str
    """Of a trailing stop: when it was armed."""
    ocoGroupId: str
    """Pair of which one cancels the other."""
    parentOrderId: str
    """Entry order that it came with, where that is known: while it waits for that order to fill, and of what the
    history has."""
    triggeredOrderId: str
    """The order that it entered; of several the first."""
    failureCode: str
    """FAILED: code of the refusal of its order."""
    terminalReason: ConditionalTerminalReason
    """CANCELLED: why."""
    expiresAt: str
    """When it ends without having fired; absent: never."""


class ConditionalOrderUpdate(TypedDict):
    """A conditional order that changed; of prices at most one frame a second for each trailing stop."""
    channel: Literal["conditionalOrders"]
    """Name of the channel."""
    type: Literal["conditional_order_update"]
    """What the frame is."""
    reason: Literal[
        "created", "armed", "triggered", "continued", "failed", "expired", "user_cancelled", "oco", "position_closed",
        "entry_ended", "delegation_revoked", "by_operator", "entry_replaced", "ratcheted", "resized",
    ]
    """What caused it; the first of `reasons`."""
    timestamp: str
    """When the frame was made."""
    data: ConditionalOrder
    """What the channel tells."""


class ConditionalOrdersSnapshot(TypedDict):
    """Conditional orders that wait."""
    channel: Literal["conditionalOrders"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    timestamp: str
    """When the frame was made."""
    data: ConditionalOrdersSnapshotData
    """What the channel tells."""


class ConditionalOrdersSnapshotData(TypedDict):
    """What the channel tells."""
    conditionalOrders: list[ConditionalOrder]
    """Conditional orders that wait, newest first."""


#: PENDING waits for its entry order to fill, or for its activation price; ARMED fires when the mark price reaches it.
#: TRIGGERED fired, and its order was entered; FAILED fired, and its order was refused; CANCELLED and EXPIRED never
#: fired.
ConditionalState = Literal["PENDING", "ARMED", "TRIGGERED", "CANCELLED", "EXPIRED", "FAILED"]

#: Why it was cancelled. OCO: the other one of its pair fired. ENTRY_ENDED: its entry order ended without a position in
#: its direction.
ConditionalTerminalReason = Literal[
    "USER_CANCELLED", "OCO", "POSITION_CLOSED", "ENTRY_ENDED", "DELEGATION_REVOKED", "BY_OPERATOR",
]

class CreateDelegatedSessionResponse(TypedDict):
    """Answer of CreateDelegatedSession."""
    expiresAt: int
    """Unix time in seconds."""
    agentId: str
    """Delegated agent."""
    userId: str
    """The owner, for whom the session acts."""


class _CreateOrderResponse(TypedDict):
    orderId: str
    """Order."""
    status: Literal["SUCCESS"]
    """SUCCESS: what was asked for was done."""
    message: str
    """What happened, in words; do not parse it."""
    matchResult: MatchResult
    """What the order met when it arrived."""
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    engineTime: str
    """Sequenced time at which the engine took the command."""


class CreateOrderResponse(_CreateOrderResponse, total=False):
    """Answer of CreateOrder."""
    submittedQuantity: str
    """Of a reduceOnly order: the quantity that it is for, at most what is open and at most what one order may have."""
    takeProfitOrderId: str
    """The take-profit that was made."""
    stopLossOrderId: str
    """The stop-loss that was made."""
    trailingStopOrderId: str
    """The trailing stop that was made."""
    ocoGroupId: str
    """The pair of take-profit and stop-loss, of which one cancels the other."""


class CreateSubAccountLimitResponse(TypedDict):
    """Answer of CreateSubAccountLimit."""
    limit: SubAccountLimit
    """The limit."""


class CreateSubAccountResponse(TypedDict):
    """Answer of CreateSubAccount."""
    subAccount: SubAccount
    """The sub-account."""


class _CreateTwapOrderResponse(TypedDict):
    twapOrderId: str
    """TWAP order."""
    status: Literal["SUCCESS"]
    """SUCCESS: what was asked for was done."""
    message: str
    """What happened, in words; do not parse it."""
    state: TwapState
    """PENDING while it waits for its start time or its price, else ACTIVE."""
    plannedSlices: int
    """Slices that are planned."""
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    engineTime: str
    """Sequenced time at which the engine took the command."""


class CreateTwapOrderResponse(_CreateTwapOrderResponse, total=False):
    """Answer of CreateTwapOrder."""
    marginAccountId: str
    """Of margin orders: margin account it trades for."""
    riskBucketId: str
    """Of margin orders: risk bucket it trades in; absent while there is none."""
    firstSliceAt: str
    """When the first slice is due; absent while it waits for its price."""
    endTime: str
    """When its window ends; absent while that is not known."""


class _DelegatedAgent(TypedDict):
    id: str
    """Identifier of this record."""
    agentAddress: str
    """Wallet of the agent."""
    isActive: bool
    """Neither revoked nor expired."""
    allowedActions: list[AgentAction]
    """What it may do."""
    allowedTradingPairIds: list[str]
    """Trading pairs it may act on."""
    allowedOrderTypes: list[OrderType]
    """Order types it may place."""
    allowedTimeInForce: list[TimeInForce]
    """Times in force of its LIMIT orders."""
    noMarginAccounts: bool
    """true: it may use no margin account, as an empty allowedMarginAccountIds says."""
    maxOpenOrders: int
    """Most orders of it that rest at once, 1 to 1000."""
    openOrders: int
    """Orders of it that rest now."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it changed last."""


class DelegatedAgent(_DelegatedAgent, total=False):
    """A wallet that may trade for the caller, and inside which bounds."""
    name: str
    """Name of your own, up to 32 bytes of UTF-8."""
    allowedMarginAccountIds: list[str]
    """Margin accounts it may use; absent: every one; empty: none."""
    maxLeverage: str
    """Highest leverage, at most 2 digits after the point; absent: not bounded."""
    maxOrderNotional: str
    """Most value of one order, in units of its quote token, at most 9 digits after the point; absent: not bounded."""
    expiresAt: str
    """When the grant ends; absent: never."""


class DeleteSubAccountLimitResponse(TypedDict):
    """Answer of DeleteSubAccountLimit."""
    deleted: bool
    """The limit is deleted."""


class _DepositCollateralResponse(TypedDict):
    movementId: str
    """The movement."""
    amount: str
    """In units of the asset."""


class DepositCollateralResponse(_DepositCollateralResponse, total=False):
    """Answer of DepositCollateral."""
    fromMarginAccountId: str
    """Margin account that gave; absent when it was no margin account."""
    toMarginAccountId: str
    """Margin account that got it; absent when it was no margin account."""
    fromRiskBucketId: str
    """Risk bucket that gave; absent when it was none."""
    toRiskBucketId: str
    """Risk bucket that got it; absent when it was none."""


#: CREDIT and DEBIT change what the account has; LOCK and UNLOCK move between available and locked.
EntryType = Literal["CREDIT", "DEBIT", "LOCK", "UNLOCK"]

#: MARKET: slices take what is there. PASSIVE: they rest at the best price of their own side until the next one, and
#: take nothing.
ExecutionStyle = Literal["MARKET", "PASSIVE"]

class FaucetMint(TypedDict):
    """Test funds of one asset."""
    assetId: str
    """Asset."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    amount: str
    """In units of the asset."""
    txHash: str | None
    """Transaction that minted it to the vault on the settlement chain; null while it waits for one, and when it is
    long ago."""


class Fill(TypedDict):
    """One fill of an order on arrival. The order is the taker; the trade has the same id everywhere."""
    tradeId: str
    """The trade."""
    price: str
    """Units of the quote token for one of the base token: the price of the order that rested."""
    quantity: str
    """In units of the base token."""
    fee: str
    """Fee of this fill, in units of the quote token: positive paid, negative earned."""


class Follow(TypedDict):
    """What the caller has of a leader: an allocation, and how it is copied."""
    followId: str
    """Follow."""
    leader: str | None
    """Handle of the leader; null when it was released: then it names no one, and copying goes on."""
    status: FollowStatus
    """ACTIVE, CLOSE_ONLY, STOPPING or STOPPED."""
    allocation: str
    """In the collateral asset. It stands in a margin sub-account of its own; copies never use more."""
    maxLeverage: str | None
    """Most leverage of a copy; null: as the leader."""
    marginMode: MarginMode
    """Of the copies."""
    marginAccountId: str
    """Margin account."""
    strategyKey: str
    """Strategy key of its risk buckets: `copy:` and the id of the follow."""
    ordersCopied: int
    """Orders that were placed for it."""
    skips: int
    """Times that no order was placed, or not all of one was filled."""
    lastSkip: FollowLastSkip0 | None
    """The last of them; null: there was none."""
    nextAttemptAt: str | None
    """When what of the copies could not be closed, or waits for a price to open at, is tried again; null: there is
    nothing. `lastSkip` says why it could not be closed."""
    lastCopy: FollowLastCopy0 | None
    """The last copy that was filled, in part or in full; null: there was none, or the follow is over."""
    slippageCost: str | None
    """What all copies cost more than at their reference prices, in the collateral asset; negative: less; null: the
    follow is over."""
    startedAt: str
    """When it began. What the leader had then is not copied."""
    updatedAt: str
    """When it changed last."""


class FollowLastCopy0(TypedDict):
    tradingPairId: str
    """Trading pair."""
    quantity: str
    """What was filled, in units of the base token; negative: it was sold."""
    referencePrice: str
    """Price of the fill of the leader that it copies; of a stop the mark price."""
    slippageBps: str
    """How much worse than that its average price was, in basis points; negative: better."""
    at: str
    """When."""


class FollowLastSkip0(TypedDict):
    reason: str
    """Code of the refusal, such as INSUFFICIENT_MARGIN."""
    tradingPairId: str | None
    """Trading pair; null: it is of the whole follow, whose bucket is in liquidation or in bad debt."""
    at: str
    """When."""


#: ACTIVE mirrors everything, CLOSE_ONLY what reduces; STOPPING closes its positions and is STOPPED, over, then.
FollowStatus = Literal["ACTIVE", "CLOSE_ONLY", "STOPPING", "STOPPED"]

class Follower(TypedDict):
    """A live follow, as its leader sees it."""
    walletAddress: str
    """Wallet of the follower."""
    display: str
    """Its handle, or its wallet in short."""
    status: LiveFollowStatus
    """ACTIVE or CLOSE_ONLY."""
    allocation: str
    """In the collateral asset."""
    startedAt: str
    """When it began."""


class FundingPayment(TypedDict):
    """Funding that a position got for the intervals since the payment before."""
    positionId: str
    """Position."""
    tradingPairId: str
    """Trading pair."""
    amount: str
    """In units of the collateral asset; negative: it was paid."""
    side: PositionDirection
    """LONG or SHORT."""
    size: str
    """Quantity that it was for, in units of the base token."""
    fundingRate: str
    """Rate of the interval that was paid last; positive: longs paid shorts."""
    markPrice: str
    """Mark price then."""
    createdAt: str
    """When it was settled."""


class FundingRate(TypedDict):
    """Funding of one interval of a perpetual."""
    tradingPairId: str
    """Trading pair."""
    fundingRate: str
    """Part of the notional that was paid; positive: longs paid shorts."""
    fundingTime: str
    """When it was paid."""
    markPrice: str
    """Mark price that it was paid at."""
    indexPrice: str
    """Index price then."""
    samples: int
    """Samples of the premium that the rate is the mean of; 0: none, and the rate is 0."""
    openInterest: str
    """Quantity of all longs, in units of the base token."""


class GetApplicationConfigResponse(TypedDict):
    """Answer of GetApplicationConfig."""
    id: str
    """Identifier of this record."""
    name: str
    """What people call it; the text a wallet signs names it."""
    clientId: str
    """What clients name the application by when they sign in."""
    allowedOrigins: list[str]
    """Origins of pages that may call with sessions of this application; `*` is any."""
    payoutAddress: str | None
    """Where builder fees go; null without."""
    builderFeeBps: int
    """What the application adds for takers, in basis points."""
    builderMakerFeeBps: int
    """What the application adds for makers, in basis points."""
    isActive: bool
    """Whether anybody can sign in to it."""
    createdAt: str | None
    """When it was made; null: with the exchange."""


class GetApplicationStatsResponse(TypedDict):
    """Answer of GetApplicationStats."""
    assetId: str
    """Asset of every amount here."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    volume: str
    """Value of the trades in which a user was the taker."""
    makerFee: str
    """Fees of the users as makers: positive paid, negative earned."""
    takerFee: str
    """Fees of the users as takers: positive paid, negative earned."""
    applicationFee: str
    """What the application charged the users besides."""
    totalUsers: int
    """Users of the application."""
    activeUsers: int
    """Users that traded since then."""
    totalTrades: int
    """Trades since then in which a user took part; one between two users counts once."""
    since: str | None
    """The moment asked for; null: from the beginning."""
    sequence: int
    """Newest command in it."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class GetAvailableCollateralResponse(TypedDict):
    """Answer of GetAvailableCollateral."""
    assetId: str
    """Asset."""
    token: str
    """Contract address of the token."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    marginAccountId: str
    """Margin account."""
    walletBalance: str
    """Available balance of the wallet, which a deposit may take."""
    availableCollateral: str
    """Collateral of the margin account that no risk bucket has."""


class _GetBalanceResponse(TypedDict):
    assetId: str
    """Asset."""
    token: str
    """Contract address of the token."""
    symbol: str | None
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    decimals: int
    """Digits of the token on the chain: raw amounts are this many places longer."""
    amountDecimals: int
    """Digits behind the point that amounts of it may have; may be fewer than the token has on the chain."""
    availableBalance: str
    """Free to use, in units of the token."""
    lockedBalance: str
    """Held for open orders, in units of the token."""
    totalBalance: str
    """Available plus locked."""
    availableBalanceRaw: str
    """Available, in smallest units of the token."""
    lockedBalanceRaw: str
    """Locked, in smallest units of the token."""
    version: int
    """Ranks states of one thing: higher is newer."""


class GetBalanceResponse(_GetBalanceResponse, total=False):
    """Answer of GetBalance."""
    settlement: SettlementProof | None
    """With `proof`: what proves what the account had of the asset when the newest batch of settlement on the chain
    was opened; null when it had nothing then, and before the first batch."""


class GetBuildercodesConfigResponse(TypedDict):
    """Answer of GetBuildercodesConfig."""
    builderFeeCapBps: int
    """Most that an application may add for a side, in basis points."""
    builderFeeEnabled: bool
    """Whether orders that are placed now get what their application adds."""
    revenueShareEnabled: bool
    """Whether applications get a part of what the service earns."""
    revenueShare: str
    """That part: of the net fee income of each fill, 0 to 1."""
    application: GetBuildercodesConfigResponseApplication0 | None
    """The application asked for; null: none was."""


class GetBuildercodesConfigResponseApplication0(TypedDict):
    clientId: str
    """The application."""
    enrolled: bool
    """Whether it takes part, with a payout address."""
    payoutAddress: str | None
    """Where its fees go; null: it never had one."""
    builderFeeBps: int
    """What it adds for takers, in basis points."""
    builderMakerFeeBps: int
    """What it adds for makers, in basis points."""


class GetCandlesResponse(TypedDict):
    """Answer of GetCandles."""
    tradingPairId: str
    """Trading pair."""
    interval: CandleInterval
    """Length of a candle; default 1m."""
    candles: list[Candle]
    """Oldest first."""


class _GetFaucetInfoResponse(TypedDict):
    remainingRequests24h: int
    """Requests left now."""
    dailyLimit: int
    """Requests in any 24 hours."""
    recentRequests: list[GetFaucetInfoResponseRecentRequestsItem]
    """The five newest requests, newest first."""


class GetFaucetInfoResponse(_GetFaucetInfoResponse, total=False):
    """Answer of GetFaucetInfo."""
    nextAvailableAt: str
    """When the next request is sure to be granted; absent when none is counted or the faucet is off."""


class GetFaucetInfoResponseRecentRequestsItem(TypedDict):
    requestedAt: str
    """When it was asked for."""
    minted: list[FaucetMint]
    """What was credited."""


class _GetMarketMetadataResponse(TypedDict):
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    lastPrice: str | None
    """Price of the last trade; null before the first."""
    volume24h: str | None
    """Traded in 24 hours, in units of the base token."""
    quoteVolume24h: str | None
    """Traded in 24 hours, in units of the quote token."""
    high24h: str | None
    """Highest price of 24 hours; null without a trade in them."""
    low24h: str | None
    """Lowest price of 24 hours; null without a trade in them."""
    priceChangePercent24h: str | None
    """From the price of 24 hours ago to the last one, in percent, rounded to 4 digits; null while there was none."""


class GetMarketMetadataResponse(_GetMarketMetadataResponse, total=False):
    """Answer of GetMarketMetadata."""
    markPrice: str
    """Of perpetuals: price at which positions are valued; absent before the first."""
    indexPrice: str
    """Of perpetuals: price of the underlying; absent before the first."""
    fundingRate: str
    """Of perpetuals: rate of the funding interval that ended last, a fraction; absent before it."""
    nextFundingTime: str
    """Of perpetuals: when funding is paid next."""
    openInterest: str
    """Of perpetuals: quantity of all long positions, which is that of all short ones."""
    predictedFundingRate: str
    """Of perpetuals: rate that the running interval would have if it ended now, from its samples so far, one a
    minute; '0' before the first. What is paid may differ. Absent before the first index price."""


class _GetOrderbookResponse(TypedDict):
    tradingPairId: str
    """Trading pair."""
    bids: list[BookLevel]
    """Buyers, best price first."""
    asks: list[BookLevel]
    """Sellers, best price first."""
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    checksum: int
    """CRC-32 of the best levels of each side as answered, ten at most: `price:quantity` joined by commas, bids
    first."""
    timestamp: str
    """When this was read."""


class GetOrderbookResponse(_GetOrderbookResponse, total=False):
    """Answer of GetOrderbook."""
    bestBid: str
    """Highest price somebody buys at; absent when nobody does."""
    bestAsk: str
    """Lowest price somebody sells at; absent when nobody does."""


class GetPortfolioResponse(TypedDict):
    """Answer of GetPortfolio."""
    period: Literal["24h", "7d", "30d", "all"]
    """Span of time that ends now."""
    assetId: str
    """Asset."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    points: list[GetPortfolioResponsePointsItem]
    """Equity over the period, oldest first; the last point is at asOf."""
    realizedPnl: str
    """Realised profit of the period, average cost method; negative is a loss."""
    volume: str
    """Traded value of the period."""
    fees: str
    """Fees of the period: positive paid, negative earned."""
    sequence: int
    """Newest command in it."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class GetPortfolioResponsePointsItem(TypedDict):
    timestamp: str
    """When the equity was this."""
    equity: str | None
    """Value of all balances; null while one of them has no price yet."""


class GetProfileResponse(TypedDict):
    """Answer of GetProfile."""
    id: str
    """Identifier of this record."""
    address: str
    """Wallet address. Answers carry the EIP-55 form."""
    username: str | None
    """Chosen name, or null."""
    accountType: Literal["master", "sub"]
    """master or sub."""
    canWithdraw: bool
    """Whether a withdrawal would be taken now: of a master, while withdrawals are not stopped and nothing is
    maintained."""
    depositAddress: str | None
    """Personal deposit address, the same on every chain that deposits may come from (ListSweeperChains): tokens that
    are paid to it are swept into the vault and credited. Null while the vault is not known."""
    createdAt: str
    """When it was made."""
    masterAccountId: str | None
    """Of a sub-account: the user that is its master; null for a master."""


class _GetReferralDownlineResponse(TypedDict):
    earningsBySource: list[ReferralSource]
    """Of all levels, at most 100: whose last reward is the newest comes first."""
    directReferees: list[Referee]
    """Users whom the caller brought, at most 500, newest first."""
    complete: bool
    """Whether directReferees has all of them; false also when some could not be read now."""
    summary: list[ReferralLevel]
    """Levels 1 to 3."""


class GetReferralDownlineResponse(_GetReferralDownlineResponse, total=False):
    """Answer of GetReferralDownline."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class _GetReferralPositionResponse(TypedDict):
    referralCode: str
    """Who gives it at the first sign-in was brought by the caller. It never changes."""
    referrer: PublicUser | None
    """Who brought the caller; null: nobody, or one whose account is no more."""
    totalEarned: list[RewardAmount]
    """Ever, by token; transferred or not."""
    rewards: list[ReferralRewardEntry]
    """The newest, at most 100, newest first."""


class GetReferralPositionResponse(_GetReferralPositionResponse, total=False):
    """Answer of GetReferralPosition."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class GetRewardsBalanceResponse(TypedDict):
    """Answer of GetRewardsBalance."""
    balances: list[GetRewardsBalanceResponseBalancesItem]
    """In the order of the listing of assets."""


class GetRewardsBalanceResponseBalancesItem(TypedDict):
    token: str
    """Contract address of the token."""
    available: str
    """What may be transferred, in units of the token."""


class GetScreenerResponse(TypedDict):
    """Answer of GetScreener."""
    items: list[ScreenerItem]
    """Most quote volume of 24 hours first; pairs that never traded last."""
    page: int
    """Page number, from 1; at most 10,000."""
    pageSize: int
    """Rows of a page."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""


class GetServerTimeResponse(TypedDict):
    """Answer of GetServerTime."""
    serverTime: str
    """Time of the service."""
    unixMs: int
    """The same in Unix milliseconds: what X-Svc-Timestamp is held against."""


class GetTradingPairResponse(TypedDict):
    """Answer of GetTradingPair."""
    tradingPair: TradingPair
    """The pair."""


class GetWithdrawalCalldataResponse(TypedDict):
    """Answer of GetWithdrawalCalldata."""
    withdrawalId: str
    """Withdrawal."""
    chainId: int
    """EVM chain id of the settlement chain."""
    to: str
    """Address of the vault, to which the transaction goes."""
    data: str
    """Input of the transaction: `withdraw` with the authorisation of the operator, 0x and hex digits."""
    value: str
    """What the transaction pays, in the native coin: 0."""
    nonce: str
    """Nonce of its authorisation in the vault: a whole number as text."""
    expiresAt: str
    """Until when the vault takes it, by the time of the block."""


class InstrumentsSnapshot(TypedDict):
    """All trading pairs."""
    channel: Literal["instruments"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    timestamp: str
    """When the frame was made."""
    data: InstrumentsSnapshotData
    """What the channel tells."""


class InstrumentsSnapshotData(TypedDict):
    """What the channel tells."""
    instruments: list[TradingPair]
    """Trading pairs as they are now."""


class InstrumentsUpdate(TypedDict):
    """The trading pairs that are new or changed, as they are now."""
    channel: Literal["instruments"]
    """Name of the channel."""
    type: Literal["instruments_update"]
    """What the frame is."""
    sequence: int
    """Number of the last command that is in the frame."""
    timestamp: str
    """When the frame was made."""
    data: InstrumentsUpdateData
    """What the channel tells."""


class InstrumentsUpdateData(TypedDict):
    """What the channel tells."""
    instruments: list[TradingPair]
    """Trading pairs as they are now."""


class ItemError(TypedDict):
    """Why one item of a batch was refused; the others are not affected."""
    code: str
    """Stable code of the refusal; see the table of error codes."""
    message: str
    """What happened, in words; do not parse it."""


class Leader(TypedDict):
    """An account whose trading on perpetuals may be copied."""
    handle: str
    """Handle of the leader; upper and lower case name the same one."""
    followers: int
    """Live follows of it."""
    allocation: str
    """What its live follows have allocated together, in the collateral asset."""
    since: str
    """Since when it has its handle."""
    returnPercent: str | None
    """Return on its margin equity over 30 days, net of deposits and withdrawals; null: not known, or of less than a
    day."""
    maxDrawdownPercent: str | None
    """Largest fall of that from a peak, 0 to 100; null as returnPercent."""


class LeaderPosition(TypedDict):
    """What a leader holds of a perpetual."""
    tradingPairId: str
    """Trading pair."""
    side: PositionDirection
    """LONG or SHORT."""
    size: str
    """Open quantity, in units of the base token."""
    entryPrice: str
    """Average price of what is open."""
    markPrice: str
    """Mark price."""
    unrealizedPnl: str
    """Profit of what is open at the mark price."""
    leverage: str
    """Its leverage."""
    marginMode: MarginMode
    """ISOLATED or CROSS."""


class LiquidationUpdate(TypedDict):
    """A liquidation that began, went on or ended."""
    channel: Literal["liquidations"]
    """Name of the channel."""
    type: Literal["liquidation_update"]
    """What the frame is."""
    sequence: int
    """Number of the last command that is in the frame."""
    timestamp: str
    """When the frame was made."""
    data: LiquidationUpdateData
    """What the channel tells."""


class _LiquidationUpdateData(TypedDict):
    riskBucketId: str
    """Risk bucket that is liquidated."""
    marginAccountId: str
    """Its margin account."""
    status: Literal["UNRESOLVED", "COMPLETED"]
    """COMPLETED: it is over."""
    accountState: Literal["Normal", "Liquidating", "BadDebt"]
    """State of the bucket after it."""
    equity: str
    """Equity of the bucket."""
    maintenanceMarginRequired: str
    """Maintenance margin of the bucket."""
    updatedAt: str
    """When it was so."""


class LiquidationUpdateData(_LiquidationUpdateData, total=False):
    """What the channel tells."""
    step: Literal["STARTED", "ORDERS_CANCELLED", "REDUCED", "TAKEN_OVER", "DELEVERAGED", "BAD_DEBT", "COMPLETED"]
    """What was done; absent in a snapshot."""
    tradingPairId: str
    """Trading pair."""
    quantity: str
    """Taken from the position of the pair, in units of the base token."""
    price: str
    """Price at which it was taken."""
    fee: str
    """Liquidation fee of the step, in units of the collateral."""
    badDebt: str
    """Loss that neither the bucket nor the insurance fund could bear."""


class LiquidationsSnapshot(TypedDict):
    """Liquidations that are not resolved."""
    channel: Literal["liquidations"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    timestamp: str
    """When the frame was made."""
    data: LiquidationsSnapshotData
    """What the channel tells."""


class LiquidationsSnapshotData(TypedDict):
    """What the channel tells."""
    liquidations: list[LiquidationsSnapshotDataLiquidationsItem]
    """Liquidations that are not resolved."""


class _LiquidationsSnapshotDataLiquidationsItem(TypedDict):
    riskBucketId: str
    """Risk bucket that is liquidated."""
    marginAccountId: str
    """Its margin account."""
    status: Literal["UNRESOLVED", "COMPLETED"]
    """COMPLETED: it is over."""
    accountState: Literal["Normal", "Liquidating", "BadDebt"]
    """State of the bucket after it."""
    equity: str
    """Equity of the bucket."""
    maintenanceMarginRequired: str
    """Maintenance margin of the bucket."""
    updatedAt: str
    """When it was so."""


class LiquidationsSnapshotDataLiquidationsItem(_LiquidationsSnapshotDataLiquidationsItem, total=False):
    step: Literal["STARTED", "ORDERS_CANCELLED", "REDUCED", "TAKEN_OVER", "DELEVERAGED", "BAD_DEBT", "COMPLETED"]
    """What was done; absent in a snapshot."""
    tradingPairId: str
    """Trading pair."""
    quantity: str
    """Taken from the position of the pair, in units of the base token."""
    price: str
    """Price at which it was taken."""
    fee: str
    """Liquidation fee of the step, in units of the collateral."""
    badDebt: str
    """Loss that neither the bucket nor the insurance fund could bear."""


class _ListAccountTradesResponse(TypedDict):
    trades: list[AccountTrade]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListAccountTradesResponse(_ListAccountTradesResponse, total=False):
    """Answer of ListAccountTrades."""
    page: int
    """Page number, from 1; at most 10,000."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class ListApplicationBalancesResponse(TypedDict):
    """Answer of ListApplicationBalances."""
    balances: list[ListApplicationBalancesResponseBalancesItem]
    """Balances that are not zero."""
    page: int
    """Page number, from 1; at most 10,000."""
    pageSize: int
    """Rows of a page."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""


class ListApplicationBalancesResponseBalancesItem(TypedDict):
    userId: str
    """User whose balance it is."""
    assetId: str
    """Asset."""
    token: str
    """Contract address of the token."""
    symbol: str | None
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    decimals: int
    """Digits of the token on the chain: raw amounts are this many places longer."""
    amountDecimals: int
    """Digits behind the point that amounts of it may have; may be fewer than the token has on the chain."""
    availableBalance: str
    """Free to use, in units of the token."""
    lockedBalance: str
    """Held for open orders, in units of the token."""
    totalBalance: str
    """Available plus locked."""
    availableBalanceRaw: str
    """Available, in smallest units of the token."""
    lockedBalanceRaw: str
    """Locked, in smallest units of the token."""
    version: int
    """Ranks states of one thing: higher is newer."""


class _ListApplicationMovementsResponse(TypedDict):
    movements: list[ListApplicationMovementsResponseMovementsItem]
    """Newest first."""
    page: int
    """Page number, from 1; at most 10,000."""
    pageSize: int
    """Rows of a page."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""


class ListApplicationMovementsResponse(_ListApplicationMovementsResponse, total=False):
    """Answer of ListApplicationMovements."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class _ListApplicationMovementsResponseMovementsItem(TypedDict):
    id: str
    """Identifier of this record."""
    assetId: str
    """Asset."""
    token: str
    """Contract address of the token."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    entryType: EntryType
    """CREDIT and DEBIT change what the account has; LOCK and UNLOCK move between available and locked."""
    transactionType: TransactionType
    """What caused the movement."""
    amount: str
    """In units of the asset."""
    balanceAfter: str
    """Available balance after the movement."""
    lockedAfter: str
    """Locked balance after the movement."""
    referenceId: str | None
    """What it belongs to: order, trade, withdrawal, position, risk bucket, or the first movement of its transfer;
    null when it came otherwise."""
    createdAt: str
    """When it was made."""
    userId: str
    """User whose balance changed."""


class ListApplicationMovementsResponseMovementsItem(_ListApplicationMovementsResponseMovementsItem, total=False):
    marginAccountId: str
    """Margin account whose collateral changed: balances are what it has free and in risk buckets. Absent: a wallet
    balance."""
    riskBucketId: str
    """Risk bucket of the margin account that it concerns."""
    txHash: str
    """Transaction on the chain, of deposits and of withdrawals that were paid; absent otherwise."""


class _ListApplicationOrdersResponse(TypedDict):
    orders: list[Order]
    """Newest first."""
    page: int
    """Page number, from 1; at most 10,000."""
    pageSize: int
    """Rows of a page."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""


class ListApplicationOrdersResponse(_ListApplicationOrdersResponse, total=False):
    """Answer of ListApplicationOrders."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class ListApplicationUsersResponse(TypedDict):
    """Answer of ListApplicationUsers."""
    users: list[ListApplicationUsersResponseUsersItem]
    """In the order they were made."""
    page: int
    """Page number, from 1; at most 10,000."""
    pageSize: int
    """Rows of a page."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""


class ListApplicationUsersResponseUsersItem(TypedDict):
    id: str
    """Identifier of this record."""
    address: str
    """Wallet address. Answers carry the EIP-55 form."""
    username: str | None
    """Chosen name, or null."""
    accountType: Literal["master", "sub"]
    """master or sub."""
    isActive: bool
    """Whether the user may trade; every user may in this version."""
    createdAt: str
    """When it was made."""


class ListBalancesResponse(TypedDict):
    """Answer of ListBalances."""
    balances: list[Balance]
    """One row per asset, zero balances included."""
    page: int
    """Page number, from 1; at most 10,000."""
    pageSize: int
    """Rows of a page."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""


class _ListConditionalOrdersResponse(TypedDict):
    conditionalOrders: list[ConditionalOrder]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListConditionalOrdersResponse(_ListConditionalOrdersResponse, total=False):
    """Answer of ListConditionalOrders."""
    page: int
    """Page number, from 1; 0 of a walk."""
    total: int
    """Rows that match, where they are asked for by page; 0 of a walk, which counts nothing."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class ListDelegatedAgentsResponse(TypedDict):
    """Answer of ListDelegatedAgents."""
    agents: list[DelegatedAgent]
    """Newest first."""


class _ListFollowsResponse(TypedDict):
    follows: list[Follow]
    """Newest first."""


class ListFollowsResponse(_ListFollowsResponse, total=False):
    """Answer of ListFollows."""
    nextPageToken: str
    """Of those that are over: cursor of the next page; empty at the end."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class _ListFundingPaymentsResponse(TypedDict):
    payments: list[FundingPayment]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListFundingPaymentsResponse(_ListFundingPaymentsResponse, total=False):
    """Answer of ListFundingPayments."""
    page: int
    """Page number, from 1; at most 10,000."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class _ListFundingRatesResponse(TypedDict):
    fundingRates: list[FundingRate]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListFundingRatesResponse(_ListFundingRatesResponse, total=False):
    """Answer of ListFundingRates."""
    page: int
    """Page number, from 1; at most 10,000."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class ListLeaderPositionsResponse(TypedDict):
    """Answer of ListLeaderPositions."""
    positions: list[LeaderPosition]
    """Open ones, newest first."""


class ListLeadersResponse(TypedDict):
    """Answer of ListLeaders."""
    leaders: list[Leader]
    """The most allocated first."""
    page: int
    """Page number, from 1; at most 10,000."""
    pageSize: int
    """Rows of a page."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""


class _ListMarginAccountsResponse(TypedDict):
    accounts: list[MarginAccount]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListMarginAccountsResponse(_ListMarginAccountsResponse, total=False):
    """Answer of ListMarginAccounts."""
    page: int
    """Page number, from 1; at most 10,000."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class _ListMovementsResponse(TypedDict):
    movements: list[Movement]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListMovementsResponse(_ListMovementsResponse, total=False):
    """Answer of ListMovements."""
    page: int
    """Page number, from 1; at most 10,000."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class ListMyFollowersResponse(TypedDict):
    """Answer of ListMyFollowers."""
    followers: list[Follower]
    """Newest first."""
    nextPageToken: str
    """Cursor of the next page; empty at the end."""


class _ListOrdersResponse(TypedDict):
    orders: list[Order]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListOrdersResponse(_ListOrdersResponse, total=False):
    """Answer of ListOrders."""
    page: int
    """Page number, from 1; at most 10,000."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""
    totalCapped: bool
    """True when total and totalPages are lower bounds."""


class _ListPendingWithdrawalsResponse(TypedDict):
    withdrawals: list[Withdrawal]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListPendingWithdrawalsResponse(_ListPendingWithdrawalsResponse, total=False):
    """Answer of ListPendingWithdrawals."""
    page: int
    """Page number, from 1; at most 10,000."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class _ListPositionsResponse(TypedDict):
    positions: list[Position]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListPositionsResponse(_ListPositionsResponse, total=False):
    """Answer of ListPositions."""
    page: int
    """Page number, from 1; at most 10,000."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class _ListRiskBucketsResponse(TypedDict):
    riskBuckets: list[RiskBucket]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListRiskBucketsResponse(_ListRiskBucketsResponse, total=False):
    """Answer of ListRiskBuckets."""
    page: int
    """Page number, from 1; at most 10,000."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class ListSubAccountLimitsResponse(TypedDict):
    """Answer of ListSubAccountLimits."""
    limits: list[SubAccountLimit]
    """One per asset at most."""


class ListSubAccountsResponse(TypedDict):
    """Answer of ListSubAccounts."""
    subAccounts: list[SubAccount]
    """Oldest first."""


class ListSweeperChainsResponse(TypedDict):
    """Answer of ListSweeperChains."""
    chains: list[SweeperChain]
    """Chains; exactly one of them is the hub."""


class _ListTradesResponse(TypedDict):
    trades: list[Trade]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListTradesResponse(_ListTradesResponse, total=False):
    """Answer of ListTrades."""
    page: int
    """Page number, from 1; at most 10,000."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class ListTradingPairsResponse(TypedDict):
    """Answer of ListTradingPairs."""
    tradingPairs: list[TradingPair]
    """Pairs that match the filters."""
    page: int
    """Page number, from 1; at most 10,000."""
    pageSize: int
    """Rows of a page."""
    total: int
    """Rows that match, of page mode."""
    totalPages: int
    """Pages that match, of page mode."""


class _ListTwapOrdersResponse(TypedDict):
    twapOrders: list[TwapOrder]
    """Newest first."""
    pageSize: int
    """Rows of a page."""


class ListTwapOrdersResponse(_ListTwapOrdersResponse, total=False):
    """Answer of ListTwapOrders."""
    page: int
    """Page number, from 1; 0 of a walk."""
    total: int
    """Rows that match, where they are asked for by page; 0 of a walk, which counts nothing."""
    totalPages: int
    """Pages that match, of page mode."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


class _ListTwapSlicesResponse(TypedDict):
    slices: list[Order]
    """In the order that was asked for."""
    pageSize: int
    """Rows of a page."""
    nextPageToken: str
    """Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again."""


class ListTwapSlicesResponse(_ListTwapSlicesResponse, total=False):
    """Answer of ListTwapSlices."""
    asOf: str
    """What happened until then is in the answer: now, or, when the history is behind, when its newest command was.
    Lists have it only when the history is behind."""


#: ACTIVE mirrors everything, CLOSE_ONLY what reduces.
LiveFollowStatus = Literal["ACTIVE", "CLOSE_ONLY"]

class _MarginAccount(TypedDict):
    marginAccountId: str
    """Margin account."""
    accountKind: Literal["PARENT", "SUB"]
    """PARENT: the one that every user has."""
    accountState: MarginAccountState
    """The worst of its risk buckets."""
    collateralAsset: str
    """Symbol of the asset that all amounts are in."""
    depositedCollateral: str
    """Collateral that it has, that of its risk buckets included."""
    earmarkedCollateral: str
    """Of that, what its risk buckets have."""
    equity: str
    """Collateral, realised profit, unrealised profit and funding that was not settled, at the mark prices."""
    initialMarginRequired: str
    """Initial margin of the positions and of what resting orders may open."""
    maintenanceMarginRequired: str
    """Maintenance margin of the positions: below it, liquidation begins."""
    freeCollateral: str
    """Equity and collateral of resting orders, less initialMarginRequired; negative when that is not covered.
    Unrealised gains are in it, so it is not what may be withdrawn."""
    withdrawableCollateral: str
    """The largest amount that a transfer out of this scope accepts. Gains that are not settled never count. Of a
    margin account: what no risk bucket has. Of a flat risk bucket: all that is allocated, which settles its loss;
    with a loss, amounts between its equity and this one are refused. 0 while a price of the bucket is stale."""
    totalPositionNotional: str
    """Sum of abs(size) times mark price."""
    unrealizedPnl: str
    """Of the open positions at their mark prices, without funding."""
    realizedPnl: str
    """Profit of closed quantity, less fees, with funding, ever."""
    updatedAt: str
    """When it changed last."""


class MarginAccount(_MarginAccount, total=False):
    """A margin account, or a risk bucket of it that was asked for."""
    label: str
    """Your name of a margin sub-account."""
    riskBucketId: str
    """The risk bucket that the figures are of; absent: of the whole margin account."""
    marginMode: MarginMode
    """Of the risk bucket."""
    tradingPairId: str
    """Trading pair of an isolated bucket; absent of a cross one."""
    strategyKey: str
    """Strategy key of the bucket; absent without one."""
    selectedTradingPairIds: list[str]
    """Of a cross bucket: the pairs that it traded and those of its open positions."""
    availableOrderCollateral: str
    """Collateral that is left to open more orders in this bucket, what its margin account would add included."""


#: Normal; MarginCall: equity is below 1.25 times the maintenance margin; Liquidating: it was below it; BadDebt: a loss
#: that nobody bore; Closed. Of a margin account, the worst of its risk buckets.
MarginAccountState = Literal["Normal", "MarginCall", "Liquidating", "BadDebt", "Closed"]

#: ISOLATED: the collateral of the position is its own; CROSS: positions of one strategy key share theirs.
MarginMode = Literal["ISOLATED", "CROSS"]

class MarketStatsSnapshot(TypedDict):
    """The pair, or all pairs."""
    channel: Literal["market_stats"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    sequence: int
    """Number of the last command that is in the frame."""
    timestamp: str
    """When the frame was made."""
    data: MarketStatsSnapshotData
    """What the channel tells."""


class _MarketStatsSnapshotData(TypedDict):
    markets: list[MarketStatsSnapshotDataMarketsItem]
    """Statistics of pairs."""


class MarketStatsSnapshotData(_MarketStatsSnapshotData, total=False):
    """What the channel tells."""
    tradingPairId: str
    """The pair that was asked for; absent: all."""


class _MarketStatsSnapshotDataMarketsItem(TypedDict):
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    lastPrice: str | None
    """Price of the last trade; null before the first."""
    volume24h: str | None
    """Traded in 24 hours, in units of the base token."""
    quoteVolume24h: str | None
    """Traded in 24 hours, in units of the quote token."""
    high24h: str | None
    """Highest price of 24 hours; null without a trade in them."""
    low24h: str | None
    """Lowest price of 24 hours; null without a trade in them."""
    priceChangePercent24h: str | None
    """From the price of 24 hours ago to the last one, in percent, rounded to 4 digits; null while there was none."""


class MarketStatsSnapshotDataMarketsItem(_MarketStatsSnapshotDataMarketsItem, total=False):
    markPrice: str
    """Of perpetuals: price at which positions are valued; absent before the first."""
    indexPrice: str
    """Of perpetuals: price of the underlying; absent before the first."""
    fundingRate: str
    """Of perpetuals: rate of the funding interval that ended last, a fraction; absent before it."""
    nextFundingTime: str
    """Of perpetuals: when funding is paid next."""
    openInterest: str
    """Of perpetuals: quantity of all long positions, which is that of all short ones."""
    predictedFundingRate: str
    """Of perpetuals: rate that the running interval would have if it ended now, from its samples so far, one a
    minute; '0' before the first. What is paid may differ. Absent before the first index price."""


class MarketStatsUpdate(TypedDict):
    """A pair that changed; at most one frame of it a second."""
    channel: Literal["market_stats"]
    """Name of the channel."""
    type: Literal["market_stats_update"]
    """What the frame is."""
    sequence: int
    """Number of the last command that is in the frame."""
    timestamp: str
    """When the frame was made."""
    data: MarketStatsUpdateData
    """What the channel tells."""


class _MarketStatsUpdateData(TypedDict):
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    lastPrice: str | None
    """Price of the last trade; null before the first."""
    volume24h: str | None
    """Traded in 24 hours, in units of the base token."""
    quoteVolume24h: str | None
    """Traded in 24 hours, in units of the quote token."""
    high24h: str | None
    """Highest price of 24 hours; null without a trade in them."""
    low24h: str | None
    """Lowest price of 24 hours; null without a trade in them."""
    priceChangePercent24h: str | None
    """From the price of 24 hours ago to the last one, in percent, rounded to 4 digits; null while there was none."""


class MarketStatsUpdateData(_MarketStatsUpdateData, total=False):
    """What the channel tells."""
    markPrice: str
    """Of perpetuals: price at which positions are valued; absent before the first."""
    indexPrice: str
    """Of perpetuals: price of the underlying; absent before the first."""
    fundingRate: str
    """Of perpetuals: rate of the funding interval that ended last, a fraction; absent before it."""
    nextFundingTime: str
    """Of perpetuals: when funding is paid next."""
    openInterest: str
    """Of perpetuals: quantity of all long positions, which is that of all short ones."""
    predictedFundingRate: str
    """Of perpetuals: rate that the running interval would have if it ended now, from its samples so far, one a
    minute; '0' before the first. What is paid may differ. Absent before the first index price."""


class _MatchResult(TypedDict):
    tradesCount: int
    """Fills on arrival."""
    totalFilled: str
    """Filled on arrival, in units of the base token."""
    remainingQuantity: str
    """Not filled, in units of the base token."""
    status: OrderStatus
    """State of the order right after it arrived."""


class MatchResult(_MatchResult, total=False):
    """What an order met when it arrived."""
    averageFillPrice: str
    """Average price of the fills, rounded to 8 digits beyond the tick; absent without fills."""
    actualSlippageBps: int
    """Distance of the average price from the best price (MARKET) or from the limit (LIMIT), in whole basis points."""
    maxSlippageBps: int
    """The tolerance that was asked for."""
    executionPriceRange: MatchResultExecutionPriceRange
    """Best and worst price of the fills."""
    totalFilledQuote: str
    """Sum of price times quantity over the fills on arrival, in units of the quote token; absent without fills."""
    totalFee: str
    """Fees of the fills on arrival, in units of the quote token: positive paid, negative earned; absent without
    fills."""
    fills: list[Fill]
    """With `returnFills`: the fills on arrival in their order, the first 20; `tradesCount` counts all. Absent
    without fills, and when they are not at hand any more, as in an answer that is repeated for its
    `idempotencyKey` long after the first: ListAccountTrades with this `orderId` has every one. Everything else of
    a repeated answer is as it was."""


class MatchResultExecutionPriceRange(TypedDict):
    """Best and worst price of the fills."""
    bestPrice: str
    """Price of the first fill."""
    worstPrice: str
    """Price of the last fill."""


class _MintResponse(TypedDict):
    requestedAt: str
    """When it was asked for."""
    minted: list[FaucetMint]
    """What was credited."""
    remainingRequests24h: int
    """Requests left now."""


class MintResponse(_MintResponse, total=False):
    """Answer of Mint."""
    nextAvailableAt: str
    """When the next request is sure to be granted; absent when none is counted or the faucet is off."""


class _Movement(TypedDict):
    id: str
    """Identifier of this record."""
    assetId: str
    """Asset."""
    token: str
    """Contract address of the token."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    entryType: EntryType
    """CREDIT and DEBIT change what the account has; LOCK and UNLOCK move between available and locked."""
    transactionType: TransactionType
    """What caused the movement."""
    amount: str
    """In units of the asset."""
    balanceAfter: str
    """Available balance after the movement."""
    lockedAfter: str
    """Locked balance after the movement."""
    referenceId: str | None
    """What it belongs to: order, trade, withdrawal, position, risk bucket, or the first movement of its transfer;
    null when it came otherwise."""
    createdAt: str
    """When it was made."""


class Movement(_Movement, total=False):
    """One change of one balance."""
    marginAccountId: str
    """Margin account whose collateral changed: balances are what it has free and in risk buckets. Absent: a wallet
    balance."""
    riskBucketId: str
    """Risk bucket of the margin account that it concerns."""
    txHash: str
    """Transaction on the chain, of deposits and of withdrawals that were paid; absent otherwise."""


class NotCancelled(TypedDict):
    """An order that a mass cancel left where it was."""
    orderId: str
    """Order, conditional order or TWAP order."""
    tradingPairId: str
    """Trading pair."""
    reason: str
    """Code that cancelling this order alone would have had: PAIR_NOT_ACTIVE on a halted pair, AGENT_NOT_ALLOWED."""


class OhlcvSnapshot(TypedDict):
    """The newest candles, 100 at most, oldest first."""
    channel: Literal["ohlcv"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    sequence: int
    """Number of the last command that is in the frame."""
    timestamp: str
    """When the frame was made."""
    data: OhlcvSnapshotData
    """What the channel tells."""


class OhlcvSnapshotData(TypedDict):
    """What the channel tells."""
    tradingPairId: str
    """Trading pair."""
    interval: CandleInterval
    """Length of a candle; default 1m."""
    candles: list[Candle]
    """Oldest first."""


class OhlcvUpdate(TypedDict):
    """The candles that changed, oldest first: each replaces the one with the same `t`, or is a new one."""
    channel: Literal["ohlcv"]
    """Name of the channel."""
    type: Literal["ohlcv_update"]
    """What the frame is."""
    sequence: int
    """Number of the last command that is in the frame."""
    timestamp: str
    """When the frame was made."""
    data: OhlcvUpdateData
    """What the channel tells."""


class OhlcvUpdateData(TypedDict):
    """What the channel tells."""
    tradingPairId: str
    """Trading pair."""
    interval: CandleInterval
    """Length of a candle; default 1m."""
    candles: list[Candle]
    """Oldest first."""


class _Order(TypedDict):
    orderId: str
    """Order."""
    id: str
    """The same as orderId."""
    userId: str
    """User the order belongs to."""
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    side: Side
    """BUY or SELL."""
    orderType: OrderType
    """LIMIT or MARKET."""
    tradingMode: TradingMode
    """MARGIN of an order of a perpetual, otherwise SPOT."""
    status: OrderStatus
    """State of the order."""
    quantity: str
    """In units of the base token; a positive multiple of lotSize."""
    filledQuantity: str
    """Filled so far, in units of the base token."""
    remainingQuantity: str
    """Not filled, in units of the base token."""
    postOnly: bool
    """Refuse the order rather than let it take from the book; GTC only."""
    reduceOnly: bool
    """Of margin orders: it only makes the position smaller."""
    fee: str
    """In units of the quote token: positive paid, negative earned."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it changed last."""


class Order(_Order, total=False):
    """An order as it is now."""
    price: str
    """Units of the quote token for one of the base token; a positive multiple of tickSize."""
    averageFillPrice: str
    """Average price of the fills, rounded to 8 digits beyond the tick; absent without fills."""
    timeInForce: TimeInForce
    """GTC (default), IOC or FOK; LIMIT only."""
    leverage: str
    """Of margin orders; absent of reduce-only ones, which need none."""
    marginMode: MarginMode
    """Of margin orders: ISOLATED or CROSS."""
    marginAccountId: str
    """Of margin orders: margin account it trades for."""
    riskBucketId: str
    """Of margin orders: risk bucket it trades in."""
    strategyKey: str
    """Of margin orders: strategy key of the risk bucket; absent when it has none."""
    slippageToleranceBps: int
    """MARKET only: how far from the best price it may trade, in basis points (1/100 of a percent), 0 to 1000."""
    clientOrderId: str
    """Name of your own, 1 to 40 printable ASCII characters; one resting order of yours may hold it."""
    parentOrderId: str
    """Of a slice: the TWAP order that placed it."""
    selfTradePreventionMode: str
    """What happens when the order meets one of your own: CANCEL_TAKER (default) ends this one, CANCEL_BOTH both."""
    terminalReason: str
    """Why the order ended; absent while it lives and when it was simply filled."""
    useMasterBalance: bool
    """True when the order of a sub-account spends and earns on the balance of its master; absent otherwise."""
    cancelledByOperator: bool
    """True when the operator cancelled the order; terminalReason is USER_CANCELLED then. Absent otherwise."""
    expirationDate: str
    """When a resting order expires, RFC 3339, in the future. Default: 90 days."""


class _OrderItem(TypedDict):
    tradingPairId: str
    """Trading pair, by id or symbol (`BTC/USDC`); in a path of REST the slash is `%2F`."""
    orderType: OrderType
    """LIMIT or MARKET."""
    side: Side
    """BUY or SELL."""
    quantity: Amount
    """In units of the base token; a positive multiple of lotSize."""


class OrderItem(_OrderItem, total=False):
    """One order to place. Unknown fields are ignored in JSON and refused over gRPC."""
    price: Amount
    """Quote per base, a positive multiple of tickSize. A LIMIT order needs it, a MARKET order must not have it."""
    tradingMode: TradingMode
    """MARGIN on a perpetual, which needs it; SPOT (default) on any other pair."""
    slippageToleranceBps: int
    """MARKET only: how far from the best price it may trade, in basis points (1/100 of a percent), 0 to 1000."""
    useMasterBalance: bool
    """Spend and earn on the balance of the master account, inside its limits; only a sub-account can."""
    expirationDate: str
    """When a resting order expires, RFC 3339, in the future. Default: 90 days."""
    timeInForce: TimeInForce
    """GTC (default), IOC or FOK; LIMIT only."""
    marginAccountId: str
    """Margin orders: margin account it trades for; absent: the parent."""
    riskBucketId: str
    """Margin orders: risk bucket it trades in; absent: the one of the pair, or with CROSS of the margin account,
    that has the strategyKey. It is made when there is none."""
    riskBucketCollateral: Amount
    """Margin orders: least collateral that it brings into its risk bucket, in units of the quote token; only fills
    commit it. Absent: what it needs."""
    positionSide: Literal["LONG", "SHORT"]
    """Accepted and ignored: side is authoritative."""
    leverage: Amount
    """Margin orders: needed, at most 2 digits behind the point, from minLeverage of the perpetual to maxLeverage of
    the tier. Ignored with reduceOnly."""
    reduceOnly: bool
    """Margin orders: only makes the position smaller, never larger or turned; it is cut to it, now and while it
    rests."""
    strategyKey: str
    """Margin orders: name of your own for a risk bucket, 1 to 48 printable ASCII characters."""
    marginMode: MarginMode
    """Margin orders: ISOLATED (default) or CROSS."""
    postOnly: bool
    """Refuse the order rather than let it take from the book; GTC only."""
    clientOrderId: str
    """Name of your own, 1 to 40 printable ASCII characters; one resting order of yours may hold it."""
    idempotencyKey: str
    """Repeating a request with the same key and content within 24 hours gives the first answer again and executes
    nothing."""
    selfTradePreventionMode: Literal["CANCEL_TAKER", "CANCEL_BOTH"]
    """What happens when the order meets one of your own: CANCEL_TAKER (default) ends this one, CANCEL_BOTH both."""
    returnFills: bool
    """Answer with the fills on arrival one by one (`matchResult.fills`), not only with their totals. Default: false,
    which is faster. It is no part of what an idempotencyKey stands for."""
    trailingStop: TrailingStopLeg
    """Margin orders that are not reduceOnly: trails the position that the order opens. It is made when the order was
    filled in full on arrival or what is left of it rests."""
    takeProfit: TpSlLeg
    """Margin orders that are not reduceOnly: closes the position at a gain. It waits until the order fills; with
    stopLoss, one cancels the other."""
    stopLoss: TpSlLeg
    """Margin orders that are not reduceOnly: closes the position at a loss. It waits until the order fills; with
    takeProfit, one cancels the other."""


class _OrderRisk(TypedDict):
    accepted: bool
    """Whether it would be accepted."""
    marginMode: MarginMode
    """ISOLATED or CROSS."""


class OrderRisk(_OrderRisk, total=False):
    """What an order would do to its risk bucket. What is absent is not known, never zero."""
    rejectReason: str
    """Why it would be refused, in the words of the refusal."""
    rejectCode: str
    """The code of that refusal."""
    equityAfter: str
    """Equity of the bucket afterwards."""
    initialMarginRequiredAfter: str
    """Its initial margin afterwards, that of resting orders included."""
    maintenanceMarginRequiredAfter: str
    """Its maintenance margin afterwards."""
    freeCollateralAfter: str
    """Its free collateral afterwards."""
    estimatedFee: str
    """Fee of the whole order at your own rates: taker of what crosses now, maker of what would rest; negative is a
    net rebate. Also of a refused order; absent when it could not be priced."""
    estimatedLiquidationPrice: str
    """Liquidation price of the position afterwards; in CROSS mode while other marks stay. Absent: there is none."""
    marginAccountId: str
    """Margin account."""
    strategyKey: str
    """Strategy key of the bucket; absent without one."""
    riskBucketId: str
    """The bucket; absent while the order would make it."""
    selectedTradingPairIds: list[str]
    """CROSS only: pairs that the bucket traded, those of its open positions, and the previewed one."""
    expectedMatchResult: MatchResult
    """What it would meet now; only of an accepted order."""
    referencePrice: str
    """Of an accepted MARKET order: the best price on the side that it takes from."""


#: SUBMITTED rests untouched, PARTIALLY_FILLED rests with fills, FILLED is complete; SETTLED and SETTLED_ON_CHAIN follow
#: settlement. CANCELLED, EXPIRED and REJECTED are final.
OrderStatus = Literal[
    "SUBMITTED", "PARTIALLY_FILLED", "FILLED", "SETTLED", "SETTLED_ON_CHAIN", "CANCELLED", "EXPIRED", "REJECTED",
]

#: LIMIT has a price of its own; MARKET takes what is there, inside the protective band, and never rests.
OrderType = Literal["LIMIT", "MARKET"]

class OrderUpdate(TypedDict):
    """One event of one order, with the whole order as it is then."""
    channel: Literal["orders"]
    """Name of the channel."""
    type: Literal["order_update"]
    """What the frame is."""
    timestamp: str
    """When the frame was made."""
    data: OrderUpdateData
    """What the channel tells."""


class _OrderUpdateData(TypedDict):
    eventType: Literal[
        "OrderSubmitted", "OrderMatched", "OrderPartiallyFilled", "OrderFilled", "OrderCancelled", "OrderExpired",
        "OrderReplaced", "OrderResized", "OrderSettled",
    ]
    """What happened to the order."""
    commandSequence: int
    """Number of the command that the event came of, which its other events share."""
    orderId: str
    """Order."""
    id: str
    """The same as orderId."""
    userId: str
    """User the order belongs to."""
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    side: Side
    """BUY or SELL."""
    orderType: OrderType
    """LIMIT or MARKET."""
    tradingMode: TradingMode
    """MARGIN of an order of a perpetual, otherwise SPOT."""
    status: OrderStatus
    """State of the order after the event."""
    quantity: str
    """In units of the base token; a positive multiple of lotSize."""
    filledQuantity: str
    """Filled so far, in units of the base token."""
    remainingQuantity: str
    """Not filled, in units of the base token."""
    reduceOnly: bool
    """Of margin orders: it only makes the position smaller."""
    fee: str
    """Of the trade that the frame tells of, in units of the quote token: positive paid, negative earned; 0 without
    one."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it changed last."""
    feeRaw: str
    """The same in smallest units of the token."""
    totalFee: str
    """Fees of the order so far: what `fee` adds up to."""


class OrderUpdateData(_OrderUpdateData, total=False):
    """What the channel tells."""
    price: str
    """Units of the quote token for one of the base token; a positive multiple of tickSize."""
    averageFillPrice: str
    """Average price of the fills, rounded to 8 digits beyond the tick; absent without fills."""
    timeInForce: TimeInForce
    """GTC (default), IOC or FOK; LIMIT only."""
    postOnly: Literal[True]
    """True where it is; absent otherwise."""
    leverage: str
    """Of margin orders; absent of reduce-only ones, which need none."""
    marginMode: MarginMode
    """Of margin orders: ISOLATED or CROSS."""
    marginAccountId: str
    """Of margin orders: margin account it trades for."""
    riskBucketId: str
    """Of margin orders: risk bucket it trades in."""
    strategyKey: str
    """Of margin orders: strategy key of the risk bucket; absent when it has none."""
    slippageToleranceBps: int
    """MARKET only: how far from the best price it may trade, in basis points (1/100 of a percent), 0 to 1000."""
    clientOrderId: str
    """Name of your own, 1 to 40 printable ASCII characters; one resting order of yours may hold it."""
    parentOrderId: str
    """Of a slice: the TWAP order that placed it."""
    selfTradePreventionMode: str
    """What happens when the order meets one of your own: CANCEL_TAKER (default) ends this one, CANCEL_BOTH both."""
    terminalReason: str
    """Why the order ended; absent while it lives and when it was simply filled."""
    useMasterBalance: bool
    """True when the order of a sub-account spends and earns on the balance of its master; absent otherwise."""
    cancelledByOperator: bool
    """True when the operator cancelled the order; terminalReason is USER_CANCELLED then. Absent otherwise."""
    expirationDate: str
    """When a resting order expires, RFC 3339, in the future. Default: 90 days."""
    tradeId: str
    """The trade, where the event is one."""
    lastFillQuantity: str
    """Quantity of this trade, in units of the base token."""
    lastFillPrice: str
    """Price of this trade."""
    role: Literal["maker", "taker"]
    """maker: the order rested; taker: it came and took. With a trade only."""
    stpCounterpartyOrderId: str
    """Your other order, where a trade with yourself was prevented."""
    replacedByOrderId: str
    """The order in its place, where it was replaced."""


class OrderbookSnapshot(TypedDict):
    """The best levels of each side."""
    channel: Literal["orderbook"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    sequence: int
    """Number of the last command that is in the frame."""
    timestamp: str
    """When the frame was made."""
    data: OrderbookSnapshotData
    """What the channel tells."""


class OrderbookSnapshotData(TypedDict):
    """What the channel tells."""
    tradingPairId: str
    """Trading pair."""
    magnitude: int
    """Group prices by this many ticks, a power of ten; default 1. Bids are grouped downwards, asks upwards."""
    bids: list[OrderbookSnapshotDataBidsItem]
    """Buyers, best price first. In an update: those that changed."""
    asks: list[OrderbookSnapshotDataAsksItem]
    """Sellers, best price first. In an update: those that changed."""
    checksum: int
    """CRC-32 of the ten best levels of each side after this frame: `price:quantity` joined by commas, bids first."""


class OrderbookSnapshotDataAsksItem(TypedDict):
    price: str
    """Units of the quote token for one of the base token."""
    quantity: str
    """Everything at this price, in units of the base token; '0' in an update: nothing any more."""


class OrderbookSnapshotDataBidsItem(TypedDict):
    price: str
    """Units of the quote token for one of the base token."""
    quantity: str
    """Everything at this price, in units of the base token; '0' in an update: nothing any more."""


class OrderbookUpdate(TypedDict):
    """The levels that changed since the frame that had `previousSequence`; quantity 0 removes one."""
    channel: Literal["orderbook"]
    """Name of the channel."""
    type: Literal["orderbook_update"]
    """What the frame is."""
    sequence: int
    """Number of the last command that is in the frame."""
    timestamp: str
    """When the frame was made."""
    data: OrderbookUpdateData
    """What the channel tells."""


class OrderbookUpdateData(TypedDict):
    """What the channel tells."""
    tradingPairId: str
    """Trading pair."""
    magnitude: int
    """Group prices by this many ticks, a power of ten; default 1. Bids are grouped downwards, asks upwards."""
    previousSequence: int
    """`sequence` of the frame before. Another one than you have: frames are missing, subscribe again."""
    bids: list[OrderbookUpdateDataBidsItem]
    """Buyers, best price first. In an update: those that changed."""
    asks: list[OrderbookUpdateDataAsksItem]
    """Sellers, best price first. In an update: those that changed."""
    checksum: int
    """CRC-32 of the ten best levels of each side after this frame: `price:quantity` joined by commas, bids first."""


class OrderbookUpdateDataAsksItem(TypedDict):
    price: str
    """Units of the quote token for one of the base token."""
    quantity: str
    """Everything at this price, in units of the base token; '0' in an update: nothing any more."""


class OrderbookUpdateDataBidsItem(TypedDict):
    price: str
    """Units of the quote token for one of the base token."""
    quantity: str
    """Everything at this price, in units of the base token; '0' in an update: nothing any more."""


class OrdersSnapshot(TypedDict):
    """Orders that rest, in as many frames as it takes; `more` says whether another follows."""
    channel: Literal["orders"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    timestamp: str
    """When the frame was made."""
    data: OrdersSnapshotData
    """What the channel tells."""


class _OrdersSnapshotData(TypedDict):
    commandSequence: int
    """Number of the last command that is in it."""
    orders: list[Order]
    """Orders that rest."""
    more: bool
    """Whether another frame of this snapshot follows."""


class OrdersSnapshotData(_OrdersSnapshotData, total=False):
    """What the channel tells."""
    tradingPairId: str
    """The pair that was asked for; absent: all."""


class PerpConfig(TypedDict):
    """Risk configuration of a perpetual."""
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    minLeverage: str
    """Lowest leverage of an order."""
    maxLeverage: str
    """Highest leverage, of tier 1."""
    initialMarginRatio: str
    """Of tier 1."""
    maintenanceMarginRatio: str
    """Of tier 1."""
    fundingIntervalSeconds: int
    """Funding is paid every so many seconds."""
    liquidationFeeBps: str
    """Fee of what a liquidation closes, in basis points of the value."""
    riskTiers: list[RiskTier]
    """Ascending by lowerBoundNotional, never empty."""
    maxPositionSize: str
    """Largest position, orders included, in units of the base token; the same on every tier."""
    maxPositionNotional: str
    """Deprecated: the same as maxPositionSize."""
    updatedAt: str | None
    """When it changed last; null: it is as old as the exchange."""


class _Position(TypedDict):
    positionId: str
    """Position."""
    marginAccountId: str
    """Margin account."""
    riskBucketId: str
    """Risk bucket."""
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    side: PositionDirection
    """LONG or SHORT."""
    status: PositionStatus
    """OPEN or CLOSED."""
    size: str
    """Open quantity, in units of the base token; 0 of a closed one."""
    entryPrice: str
    """Average price of what is open; of a closed one, of what was closed last."""
    markPrice: str
    """Mark price; of a closed one, when it closed."""
    leverage: str
    """Leverage of the newest order that was not reduce-only."""
    marginMode: MarginMode
    """ISOLATED or CROSS."""
    initialMarginRequired: str
    """Initial margin at the mark price; resting orders are not in it."""
    maintenanceMarginRequired: str
    """Maintenance margin at the mark price."""
    realizedPnl: str
    """Profit of closed quantity since it was opened, without fees and funding."""
    unrealizedPnl: str
    """Profit of what is open at the mark price."""
    accruedFunding: str
    """Funding that it got in its life, settled or not; negative: paid."""
    unsettledFunding: str
    """The part of accruedFunding that is not settled yet and counts in its equity; 0 when it is closed."""
    version: int
    """Grows only when the position changed. Apply a higher one, ignore a lower one."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it changed last."""


class Position(_Position, total=False):
    """What an account holds of a perpetual, netted in its risk bucket."""
    isolatedMargin: str
    """Collateral that its isolated bucket has committed; absent in CROSS mode."""
    liquidationPrice: str
    """Mark price at which its bucket is liquidated; in CROSS mode while the other marks stay. Absent: there is none."""
    strategyKey: str
    """Strategy key of its bucket; absent without one."""
    closedAt: str
    """When it closed; absent while it is open."""


#: LONG gains when the price rises, SHORT when it falls.
PositionDirection = Literal["LONG", "SHORT"]

class _PositionRisk(TypedDict):
    positionId: str
    """Position."""
    marginAccountId: str
    """Margin account."""
    riskBucketId: str
    """Risk bucket."""
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    side: PositionDirection
    """LONG or SHORT."""
    status: PositionStatus
    """OPEN or CLOSED."""
    size: str
    """Open quantity, in units of the base token; 0 of a closed one."""
    entryPrice: str
    """Average price of what is open; of a closed one, of what was closed last."""
    markPrice: str
    """Mark price; of a closed one, when it closed."""
    leverage: str
    """Leverage of the newest order that was not reduce-only."""
    marginMode: MarginMode
    """ISOLATED or CROSS."""
    initialMarginRequired: str
    """Initial margin at the mark price; resting orders are not in it."""
    maintenanceMarginRequired: str
    """Maintenance margin at the mark price."""
    realizedPnl: str
    """Profit of closed quantity since it was opened, without fees and funding."""
    unrealizedPnl: str
    """Profit of what is open at the mark price."""
    accruedFunding: str
    """Funding that it got in its life, settled or not; negative: paid."""
    unsettledFunding: str
    """The part of accruedFunding that is not settled yet and counts in its equity; 0 when it is closed."""
    version: int
    """Grows only when the position changed. Apply a higher one, ignore a lower one."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it changed last."""
    equity: str
    """Equity of its risk bucket."""
    notional: str
    """size times mark price."""
    tierLevel: int
    """Risk tier of the notional, from 1."""


class PositionRisk(_PositionRisk, total=False):
    """A position with what it risks."""
    isolatedMargin: str
    """Collateral that its isolated bucket has committed; absent in CROSS mode."""
    liquidationPrice: str
    """Mark price at which its bucket is liquidated; in CROSS mode while the other marks stay. Absent: there is none."""
    strategyKey: str
    """Strategy key of its bucket; absent without one."""
    closedAt: str
    """When it closed; absent while it is open."""
    marginRatio: str
    """Maintenance margin of the bucket divided by its equity, rounded up to 6 digits: at 1 liquidation begins.
    Absent: there is no equity."""
    bankruptcyPrice: str
    """Last mark price at which the equity of the bucket is not negative, while other marks stay. Absent: there is
    none."""


#: OPEN, or CLOSED with the figures of its last moment.
PositionStatus = Literal["OPEN", "CLOSED"]

class PositionUpdate(TypedDict):
    """A position that changed: a higher `version` replaces what you have, an equal or lower one is ignored."""
    channel: Literal["positions"]
    """Name of the channel."""
    type: Literal["position_update"]
    """What the frame is."""
    reason: Literal["trade", "liquidation", "take_over", "deleverage", "funding", "margin", "settlement", "leverage"]
    """What caused it; the first of `reasons`."""
    timestamp: str
    """When the frame was made."""
    data: Position
    """What the channel tells."""


class PositionsSnapshot(TypedDict):
    """Open positions."""
    channel: Literal["positions"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    timestamp: str
    """When the frame was made."""
    data: PositionsSnapshotData
    """What the channel tells."""


class PositionsSnapshotData(TypedDict):
    """What the channel tells."""
    positions: list[Position]
    """Open positions."""


class PublicUser(TypedDict):
    """Another user: wallet, and handle or wallet in short."""
    walletAddress: str
    """Wallet of the user."""
    display: str
    """Handle of the user, or the wallet in short."""


class ReducePositionMarginResponse(TypedDict):
    """Answer of ReducePositionMargin."""
    positionId: str
    """Position."""
    marginAccountId: str
    """Margin account."""
    newIsolatedMargin: str
    """Collateral that the bucket of the position has committed now."""
    status: Literal["SUCCESS"]
    """SUCCESS: what was asked for was done."""


class Referee(TypedDict):
    """A user whom the caller brought."""
    walletAddress: str
    """Wallet of the user."""
    display: str
    """Handle of the user, or the wallet in short."""
    joinedAt: str
    """First sign-in."""


class ReferralLevel(TypedDict):
    """One level of those the caller brought."""
    level: int
    """1: brought by the caller; 2: by somebody of level 1; 3: by somebody of level 2."""
    referees: int
    """Users of this level now."""
    share: str
    """What the caller earns of the net fee income of their fills now, 0 to 1."""
    earned: list[RewardAmount]
    """Ever, by token; transferred or not."""


class ReferralRewardEntry(TypedDict):
    """What one fill of somebody brought the caller."""
    tradeId: str
    """The trade."""
    level: int
    """1: brought by the caller; 2: by somebody of level 1; 3: by somebody of level 2."""
    source: PublicUser
    """Who traded; of a sub-account its master."""
    token: str
    """Contract address of the token."""
    amount: str
    """In units of the asset."""
    createdAt: str
    """When the trade was."""


class ReferralSource(TypedDict):
    """What the caller earned of one user."""
    source: PublicUser
    """Who traded; of a sub-account its master."""
    level: int
    """1: brought by the caller; 2: by somebody of level 1; 3: by somebody of level 2."""
    earned: list[RewardAmount]
    """Ever, by token; transferred or not."""
    lastEarnedAt: str
    """When the last reward came."""


class RefreshResponse(TypedDict):
    """Answer of Refresh."""
    expiresAt: int
    """Unix time in seconds."""


class ReleaseLeaderResponse(TypedDict):
    """Answer of ReleaseLeader."""
    released: Literal[True]
    """True."""


class _ReplaceElement(TypedDict):
    orderId: str
    """Order."""


class ReplaceElement(_ReplaceElement, total=False):
    """One replacement of a batch: the order, and what changes."""
    price: Amount
    """New limit price; absent: unchanged."""
    quantity: Amount
    """Quantity of the successor, which starts unfilled; absent: what is still open of the original."""
    useMasterBalance: bool
    """Spend and earn on the balance of the master account, inside its limits; only a sub-account can."""
    clientOrderId: str
    """Name of your own, 1 to 40 printable ASCII characters; one resting order of yours may hold it."""
    idempotencyKey: str
    """Repeating a request with the same key and content within 24 hours gives the first answer again and executes
    nothing."""
    postOnly: bool
    """Refuse the order rather than let it take from the book; GTC only."""
    slippageToleranceBps: int
    """MARKET only: how far from the best price it may trade, in basis points (1/100 of a percent), 0 to 1000."""
    selfTradePreventionMode: Literal["CANCEL_TAKER", "CANCEL_BOTH"]
    """What happens when the order meets one of your own: CANCEL_TAKER (default) ends this one, CANCEL_BOTH both."""
    returnFills: bool
    """Answer with the fills on arrival one by one (`matchResult.fills`), not only with their totals. Default: false,
    which is faster. It is no part of what an idempotencyKey stands for."""


class ReplaceOrderResponse(TypedDict):
    """Answer of ReplaceOrder."""
    orderId: str
    """Order."""
    originalOrderId: str
    """The order that was replaced."""
    status: Literal["SUCCESS"]
    """SUCCESS: what was asked for was done."""
    message: str
    """What happened, in words; do not parse it."""
    quantity: str
    """In units of the base token; a positive multiple of lotSize."""
    matchResult: MatchResult
    """What the order met when it arrived."""
    sequence: int
    """Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the
    last one that was applied when this was read."""
    engineTime: str
    """Sequenced time at which the engine took the command."""


class RevokeDelegatedAgentResponse(TypedDict):
    """Answer of RevokeDelegatedAgent."""
    revoked: bool
    """The grant has ended."""
    ordersCancelled: int
    """Resting orders that ended with it."""


class RevokeResponse(TypedDict):
    """Answer of Revoke."""
    revoked: bool
    """The session of the signing key is closed."""


class RewardAmount(TypedDict):
    """Rewards in one token."""
    token: str
    """Contract address of the token."""
    amount: str
    """In units of the asset."""


class _RiskBucket(TypedDict):
    riskBucketId: str
    """Risk bucket."""
    marginAccountId: str
    """Margin account."""
    marginMode: MarginMode
    """ISOLATED or CROSS."""
    state: RiskBucketState
    """ACTIVE, LIQUIDATING, BAD_DEBT or CLOSED."""
    accountState: MarginAccountState
    """The same with MarginCall, which is ACTIVE too."""
    collateralAsset: str
    """Symbol of the asset that all amounts are in."""
    allocatedCollateral: str
    """Collateral that is committed to the bucket."""
    pendingCollateral: str
    """Collateral that resting orders brought and that no fill has committed yet."""
    equity: str
    """Collateral, realised profit, unrealised profit and funding that was not settled, at the mark prices."""
    initialMarginRequired: str
    """Initial margin of the positions and of what resting orders may open."""
    maintenanceMarginRequired: str
    """Maintenance margin of the positions: below it, liquidation begins."""
    freeCollateral: str
    """Equity and collateral of resting orders, less initialMarginRequired; negative when that is not covered.
    Unrealised gains are in it, so it is not what may be withdrawn."""
    withdrawableCollateral: str
    """The largest amount that a transfer out of this scope accepts. Gains that are not settled never count. Of a
    margin account: what no risk bucket has. Of a flat risk bucket: all that is allocated, which settles its loss;
    with a loss, amounts between its equity and this one are refused. 0 while a price of the bucket is stale."""
    totalPositionNotional: str
    """Sum of abs(size) times mark price."""
    unrealizedPnl: str
    """Of the open positions at their mark prices, without funding."""
    realizedPnl: str
    """Profit of closed quantity, less fees, with funding, ever."""
    updatedAt: str
    """When it changed last."""
    openPositions: int
    """Its open positions."""
    openOrders: int
    """Its resting orders."""
    createdAt: str
    """When it was made."""


class RiskBucket(_RiskBucket, total=False):
    """Collateral that backs one position, or in CROSS mode several together."""
    tradingPairId: str
    """Trading pair of an isolated bucket; absent of a cross one."""
    strategyKey: str
    """Strategy key of the bucket; absent without one."""
    selectedTradingPairIds: list[str]
    """Of a cross bucket: the pairs that it traded and those of its open positions."""
    availableOrderCollateral: str
    """Collateral that is left to open more orders in this bucket, what its margin account would add included."""


#: ACTIVE, LIQUIDATING, BAD_DEBT or CLOSED.
RiskBucketState = Literal["ACTIVE", "LIQUIDATING", "BAD_DEBT", "CLOSED"]

class _RiskTier(TypedDict):
    tierLevel: int
    """From 1, the lowest."""
    lowerBoundNotional: str
    """A position is in the tier when abs(quantity) times mark price is at or above this; 0 of tier 1."""
    initialMarginRatio: str
    """Initial margin: notional times this, less initialMarginDeduction."""
    maintenanceMarginRatio: str
    """Maintenance margin: notional times this, less maintenanceMarginDeduction."""
    initialMarginDeduction: str
    """In units of the quote token; 0 of tier 1. It makes the requirement continuous."""
    maintenanceMarginDeduction: str
    """In units of the quote token; 0 of tier 1."""
    maxPositionNotional: str
    """Deprecated: the same as maxPositionSize."""
    maxPositionSize: str
    """Largest position, orders included, in units of the base token; the same on every tier."""


class RiskTier(_RiskTier, total=False):
    """What a position of some notional needs."""
    maxLeverage: str
    """Highest leverage in the tier. Absent only of a single tier that is configured by its ratios."""


class ScreenerDay(TypedDict):
    """A market on one day of UTC."""
    bucketStart: str
    """Beginning of the day: Unix milliseconds as text."""
    quoteVolume: str | None
    """Traded on that day, in units of the quote token; null on days before the first trade."""
    priceChangePercent: str | None
    """From the last price before that day to its own last one, in percent, rounded to 4 digits."""
    openInterestNotionalAvg: str | None
    """Of perpetuals: mean of the open interest of that day, in units of the quote token; null while under 95 % of it
    are known."""


class ScreenerItem(TypedDict):
    """A market and what it does. What is not known is null, and so is what only perpetuals have."""
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    baseIconUrl: str | None
    """Icon, or null."""
    quoteIconUrl: str | None
    """Icon, or null."""
    lastPrice: str | None
    """Price of the last trade; null before the first."""
    lastPriceTimestamp: str | None
    """When the last trade was made: Unix milliseconds as text."""
    quoteVolume1h: str | None
    """Traded in 1 hour, in units of the quote token."""
    quoteVolume24h: str | None
    """Traded in 24 hours, in units of the quote token."""
    quoteVolume7d: str | None
    """Traded in 7 days, in units of the quote token."""
    priceChangePercent1h: str | None
    """From the price of 1 hour ago to the last one, in percent, rounded to 4 digits."""
    priceChangePercent24h: str | None
    """From the price of 24 hours ago to the last one, in percent, rounded to 4 digits; null while there was none."""
    priceChangePercent7d: str | None
    """From the price of 7 days ago to the last one, in percent, rounded to 4 digits."""
    snapshot7d: list[ScreenerDay]
    """The seven days of UTC up to today, oldest first."""
    category: str | None
    """Group of markets, or null."""
    totalQuoteVolumeLtd: str | None
    """Traded since the first trade, in units of the quote token."""
    totalTradeCountLtd: int | None
    """Trades since the first."""
    latestFundingRate: str | None
    """Of perpetuals: rate of the funding interval that ended last, a fraction; positive: longs paid."""
    lastFundingTime: str | None
    """Of perpetuals: when that was paid, Unix milliseconds as text."""
    openInterestBase: str | None
    """Of perpetuals: quantity of all long positions, which is that of all short ones."""
    openInterestNotional: str | None
    """Of perpetuals: the same at the mark price, in units of the quote token."""
    openInterestNotionalAvg1h: str | None
    """Of perpetuals: its mean over 1 hour. One sample a minute that is over; null while fewer than 95 % of the
    minutes have one."""
    openInterestNotionalAvg24h: str | None
    """Of perpetuals: its mean over 24 hours. One sample a minute that is over; null while fewer than 95 % of the
    minutes have one."""
    openInterestNotionalAvg7d: str | None
    """Of perpetuals: its mean over 7 days. One sample a minute that is over; null while fewer than 95 % of the
    minutes have one."""


class SetBuilderFeeResponse(TypedDict):
    """Answer of SetBuilderFee."""
    builderFeeBps: int
    """Stored now, for takers."""
    previousBuilderFeeBps: int
    """What it was."""
    changesRemaining: int
    """Changes left in the current rolling 24 hours."""
    nextChangeAllowedAt: str | None
    """When there is one again; null: there is one now."""
    builderMakerFeeBps: int
    """Stored now, for makers."""
    previousBuilderMakerFeeBps: int
    """What it was."""


class SettlementProof(TypedDict):
    """Proves that a trade or a balance is in a batch of settlement. SHA-256 throughout: a leaf hashes as 0x00 and
    its bytes, a node as 0x01 and its two children; the last node of an odd level goes up as it is, and the proof
    has no sibling there."""
    batch: int
    """Number of the batch, by which the vault has its roots."""
    status: SettlementStatus
    """SETTLED: its roots are on their way; SETTLED_ON_CHAIN: they stand in the vault."""
    leaf: str
    """Bytes of the leaf, 0x and hex digits."""
    index: int
    """Place of the leaf, from 0."""
    count: int
    """Leaves of the tree."""
    proof: list[str]
    """Siblings from the leaf up, 32 bytes each."""
    root: str
    """Root of the tree."""
    txHash: str | None
    """Transaction that posted the roots; null while the batch is not on the chain."""


#: PENDING waits for settlement on the chain, SETTLED is handed over to it, SETTLED_ON_CHAIN is final.
SettlementStatus = Literal["PENDING", "SETTLED", "SETTLED_ON_CHAIN"]

#: BUY takes from the asks, SELL from the bids.
Side = Literal["BUY", "SELL"]

class SimulateFeesResponse(TypedDict):
    """Answer of SimulateFees."""
    notional: str
    """Value of what would fill now and of what would rest at its limit, in units of the quote token."""
    makerFeeBps: str
    """Fee of orders that rested, in basis points of the value; negative is paid to you."""
    takerFeeBps: str
    """Fee of orders that took, in basis points of the value."""
    applicationTakerFeeBps: str
    """What the application adds for takers, in basis points."""
    applicationMakerFeeBps: str
    """What the application adds for makers, in basis points."""
    makerFee: str
    """Fee of the part that would rest; negative is paid to you."""
    takerFee: str
    """Fee of the part that would fill at once."""
    applicationFee: str
    """What the application would charge for all of it."""
    totalFee: str
    """Sum of all of them; negative is a net rebate."""
    feeToken: str
    """Symbol of the asset the fees are in."""


class StopFollowResponse(TypedDict):
    """Answer of StopFollow."""
    followId: str
    """Follow."""
    status: FollowStatus
    """STOPPING."""


class SubAccount(TypedDict):
    """An account of a wallet that another account, its master, made."""
    id: str
    """Identifier of this record."""
    address: str
    """Wallet address. Answers carry the EIP-55 form."""
    username: str | None
    """Chosen name, or null."""
    accountType: Literal["sub"]
    """master or sub."""
    isActive: bool
    """Whether it may be used."""
    consented: bool
    """Whether its wallet agreed to its master. One linked before that was asked for gives nothing until then."""
    createdAt: str
    """When it was made."""
    balances: list[Balance]
    """One row per asset, zero balances included; empty in the answer that made it."""


class SubAccountLimit(TypedDict):
    """What orders of a sub-account may spend of its master's balance of one asset."""
    id: str
    """Identifier of this record."""
    subAccountId: str
    """User that is the sub-account."""
    token: str
    """Contract address of the token."""
    dailyLimit: str | None
    """Most that they may spend in a UTC day together with what they hold; null: not bounded."""
    usedToday: str
    """Spent by fills since lastResetAt, in units of the asset."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it changed last."""
    masterAccountId: str
    """User that is the master."""
    maxAmount: str
    """Most that orders of the sub-account may hold at any time, in units of the asset."""
    lastResetAt: str
    """The UTC midnight that usedToday counts from."""
    isActive: bool
    """Whether new orders may spend."""
    assetId: str
    """Asset."""
    outstanding: str
    """Held now by resting orders, in units of the asset."""


class SubmitApplicationResponse(TypedDict):
    """Answer of SubmitApplication."""
    message: str
    """What happened, in words; do not parse it."""
    userId: str
    """User of the application."""


class SweeperAsset(TypedDict):
    """A token that is swept from a chain."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    tokenAddress: str
    """Contract address of the token on that chain."""
    decimals: int
    """Decimals of the token on that chain; may differ from those of the asset."""
    minSweepRaw: str
    """Least amount that is swept, in base units of the token: a whole number as text."""


class SweeperChain(TypedDict):
    """A chain from which deposits are swept."""
    chainId: int
    """EVM chain id."""
    shortName: str
    """Short name of the chain."""
    isHub: bool
    """True of the one chain of settlement, to which all others are swept."""
    assets: list[SweeperAsset]
    """Tokens that are swept."""
    vault: str | None
    """The vault, which takes deposits; that of the hub pays withdrawals. Null while it is not known."""
    factory: str | None
    """The factory of deposit addresses, the same on every chain; null while it is not known."""


#: GTC rests until it is filled, cancelled or expires; IOC fills what it can at once and ends; FOK fills whole at once
#: or not at all. A MARKET order carries none.
TimeInForce = Literal["GTC", "IOC", "FOK"]

class _TpSlLeg(TypedDict):
    triggerPrice: Amount
    """Mark price that fires it; a multiple of tickSize."""
    orderType: OrderType
    """What is placed then: MARKET or LIMIT."""


class TpSlLeg(_TpSlLeg, total=False):
    """A reduce-only close that is placed when the mark price reaches a trigger."""
    limitPrice: Amount
    """Price of the LIMIT order, which needs it; a MARKET order must not have it."""
    timeInForce: TimeInForce
    """Of the LIMIT order: GTC (default), IOC or FOK."""
    slippageToleranceBps: int
    """MARKET only: how far from the best price it may trade, in basis points, 0 to 1000. Absent: 1,200."""
    quantity: Amount
    """How much it closes at most, in units of the base token; a positive multiple of lotSize. Never more than the
    position has when it fires. Absent: all of it."""
    expiresAt: str
    """When it ends without having fired, RFC 3339, in the future. Absent: never."""


class Trade(TypedDict):
    """A trade as everybody sees it: nothing of it tells who traded."""
    id: str
    """Identifier of this record."""
    tradingPairId: str
    """Trading pair."""
    price: str
    """Units of the quote token for one of the base token; a positive multiple of tickSize."""
    quantity: str
    """In units of the base token; a positive multiple of lotSize."""
    quoteQuantity: str
    """Price times quantity, in units of the quote token."""
    makerSide: Side
    """Side of the order that rested."""
    executedAt: str
    """When it was matched."""
    settlementStatus: SettlementStatus
    """How far settlement on the chain has come."""


class TradesSnapshot(TypedDict):
    """The newest trades, 50 at most."""
    channel: Literal["trades"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    sequence: int
    """Number of the last command that is in the frame."""
    timestamp: str
    """When the frame was made."""
    data: TradesSnapshotData
    """What the channel tells."""


class TradesSnapshotData(TypedDict):
    """What the channel tells."""
    tradingPairId: str
    """Trading pair."""
    trades: list[Trade]
    """Oldest first."""


class TradesUpdate(TypedDict):
    """Trades since the frame before; `sequence` is that of the last one."""
    channel: Literal["trades"]
    """Name of the channel."""
    type: Literal["trades_update"]
    """What the frame is."""
    sequence: int
    """Number of the last command that is in the frame."""
    timestamp: str
    """When the frame was made."""
    data: TradesUpdateData
    """What the channel tells."""


class TradesUpdateData(TypedDict):
    """What the channel tells."""
    tradingPairId: str
    """Trading pair."""
    trades: list[Trade]
    """Oldest first."""


#: MARGIN on perpetuals, SPOT on all other pairs.
TradingMode = Literal["SPOT", "MARGIN"]

class TradingPair(TypedDict):
    """A market and its rules."""
    id: str
    """Identifier of this record."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    baseToken: str
    """Symbol of what is traded."""
    quoteToken: str
    """Symbol of what it is paid in."""
    baseAssetId: str
    """Asset that is traded."""
    quoteAssetId: str
    """Asset it is paid in."""
    baseTokenContract: str
    """Contract address of the base token."""
    quoteTokenContract: str
    """Contract address of the quote token."""
    baseDecimals: int
    """Digits of the base token on the chain."""
    quoteDecimals: int
    """Digits of the quote token on the chain."""
    baseAmountDecimals: int
    """Digits behind the point that amounts of it may have; may be fewer than the token has on the chain."""
    quoteAmountDecimals: int
    """Digits behind the point that amounts of it may have; may be fewer than the token has on the chain."""
    baseIconUrl: str | None
    """Icon, or null."""
    quoteIconUrl: str | None
    """Icon, or null."""
    isActive: bool
    """Whether new orders are taken."""
    makerFeeBps: str
    """Fee of orders that rested, in basis points of the value; negative is paid to you."""
    takerFeeBps: str
    """Fee of orders that took, in basis points of the value."""
    minOrderSize: str
    """Smallest quantity of an order."""
    maxOrderSize: str
    """Largest quantity of an order."""
    minNotional: str
    """Smallest value of an order (price times quantity), in units of the quote token."""
    tickSize: str
    """Prices are multiples of this."""
    lotSize: str
    """Quantities are multiples of this."""
    marketType: TradingMode
    """SPOT or MARGIN."""
    category: str | None
    """Group of markets, or null."""


class _TrailingStopLeg(TypedDict):
    trailBps: int
    """How far behind the best mark price, in basis points, 10 to 2000."""


class TrailingStopLeg(_TrailingStopLeg, total=False):
    """A reduce-only market close whose trigger follows the best mark price since it was armed, and never goes back."""
    activationPrice: Amount
    """Mark price that arms it; a multiple of tickSize. Absent: it is armed at once."""
    quantity: Amount
    """How much it closes at most, in units of the base token; a positive multiple of lotSize. Never more than the
    position has when it fires. Absent: all of it."""
    closePosition: bool
    """Close the whole position, as without quantity; excludes quantity."""
    slippageToleranceBps: int
    """MARKET only: how far from the best price it may trade, in basis points, 0 to 1000. Absent: 1,200."""
    expiresAt: str
    """When it ends without having fired, RFC 3339, in the future. Absent: never."""


#: What caused a movement.
TransactionType = Literal[
    "DEPOSIT", "WITHDRAWAL", "TRADE", "FEE", "REBATE", "APPLICATION_FEE", "TRANSFER", "FUNDING", "LIQUIDATION", "ADL",
    "FAUCET", "REFERRAL_REWARD", "REVENUE_SHARE", "SETTLEMENT", "ADJUSTMENT",
]

class _TransferCollateralFromRiskBucketResponse(TypedDict):
    movementId: str
    """The movement."""
    amount: str
    """In units of the asset."""


class TransferCollateralFromRiskBucketResponse(_TransferCollateralFromRiskBucketResponse, total=False):
    """Answer of TransferCollateralFromRiskBucket."""
    fromMarginAccountId: str
    """Margin account that gave; absent when it was no margin account."""
    toMarginAccountId: str
    """Margin account that got it; absent when it was no margin account."""
    fromRiskBucketId: str
    """Risk bucket that gave; absent when it was none."""
    toRiskBucketId: str
    """Risk bucket that got it; absent when it was none."""


class _TransferCollateralFromSubAccountResponse(TypedDict):
    movementId: str
    """The movement."""
    amount: str
    """In units of the asset."""


class TransferCollateralFromSubAccountResponse(_TransferCollateralFromSubAccountResponse, total=False):
    """Answer of TransferCollateralFromSubAccount."""
    fromMarginAccountId: str
    """Margin account that gave; absent when it was no margin account."""
    toMarginAccountId: str
    """Margin account that got it; absent when it was no margin account."""
    fromRiskBucketId: str
    """Risk bucket that gave; absent when it was none."""
    toRiskBucketId: str
    """Risk bucket that got it; absent when it was none."""


class _TransferCollateralToRiskBucketResponse(TypedDict):
    movementId: str
    """The movement."""
    amount: str
    """In units of the asset."""


class TransferCollateralToRiskBucketResponse(_TransferCollateralToRiskBucketResponse, total=False):
    """Answer of TransferCollateralToRiskBucket."""
    fromMarginAccountId: str
    """Margin account that gave; absent when it was no margin account."""
    toMarginAccountId: str
    """Margin account that got it; absent when it was no margin account."""
    fromRiskBucketId: str
    """Risk bucket that gave; absent when it was none."""
    toRiskBucketId: str
    """Risk bucket that got it; absent when it was none."""


class _TransferCollateralToSubAccountResponse(TypedDict):
    movementId: str
    """The movement."""
    amount: str
    """In units of the asset."""


class TransferCollateralToSubAccountResponse(_TransferCollateralToSubAccountResponse, total=False):
    """Answer of TransferCollateralToSubAccount."""
    fromMarginAccountId: str
    """Margin account that gave; absent when it was no margin account."""
    toMarginAccountId: str
    """Margin account that got it; absent when it was no margin account."""
    fromRiskBucketId: str
    """Risk bucket that gave; absent when it was none."""
    toRiskBucketId: str
    """Risk bucket that got it; absent when it was none."""


#: TO_SUB_ACCOUNT gives to the sub-account, FROM_SUB_ACCOUNT takes back.
TransferDirection = Literal["TO_SUB_ACCOUNT", "FROM_SUB_ACCOUNT"]

class TransferRewardsResponse(TypedDict):
    """Answer of TransferRewards."""
    token: str
    """Contract address of the token."""
    amount: str
    """In units of the asset."""
    movementId: str
    """The movement, of type REFERRAL_REWARD."""


class TransferSubAccountBalanceResponse(TypedDict):
    """Answer of TransferSubAccountBalance."""
    movementId: str
    """The caller's movement."""
    subAccountId: str
    """User that is the sub-account."""
    assetId: str
    """Asset."""
    token: str
    """Contract address of the token."""
    amount: str
    """In units of the asset."""
    direction: TransferDirection
    """TO_SUB_ACCOUNT gives, FROM_SUB_ACCOUNT takes back."""


#: ABOVE: at the price or above; BELOW: at it or below.
TriggerDirection = Literal["ABOVE", "BELOW"]

class _TwapOrder(TypedDict):
    twapOrderId: str
    """TWAP order."""
    id: str
    """The same as twapOrderId."""
    state: TwapState
    """Where it stands."""
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    side: Side
    """BUY or SELL."""
    tradingMode: TradingMode
    """MARGIN on a perpetual, otherwise SPOT."""
    quantity: str
    """Of all slices together, in units of the base token."""
    filledQuantity: str
    """Filled so far, in units of the base token."""
    remainingQuantity: str
    """Not filled, in units of the base token."""
    slicesPlaced: int
    """Orders that were placed."""
    plannedSlices: int
    """Slices that are planned."""
    randomize: bool
    """Sizes and times of slices vary by a fifth."""
    reduceOnly: bool
    """Slices only make the position smaller."""
    executionStyle: ExecutionStyle
    """MARKET or PASSIVE."""
    fee: str
    """Of all slices, in units of the quote token: positive paid, negative earned."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it changed last."""


class TwapOrder(_TwapOrder, total=False):
    """A quantity that is traded in slices over a window of time."""
    shortfall: str
    """What was not filled when it was over; it is traded no more. Absent until then."""
    averageFillPrice: str
    """Average price of the fills, rounded to 8 digits beyond the tick; absent without fills."""
    limitPrice: str
    """No slice trades beyond this price."""
    slippageToleranceBps: int
    """How far from the best price a slice may trade, in basis points."""
    startTime: str
    """When its window begins; absent while that is not known."""
    endTime: str
    """When its window ends; absent while that is not known."""
    durationSeconds: int
    """From its start to its end; absent while that is not known."""
    firstSliceAt: str
    """When the first slice is due; absent while it waits for its price."""
    nextSliceAt: str
    """When the next slice is due; absent when none is."""
    lastSkipCode: str
    """Why the last slice was left out: code of a refusal; absent when it was placed."""
    failureCode: str
    """FAILED: code of the refusal."""
    triggerPrice: str
    """Price that it waits for, or waited."""
    triggerDirection: TriggerDirection
    """From which side."""
    conditionalExpiry: str
    """Until when it waits for it."""
    clientTwapId: str
    """Name of your own."""
    useMasterBalance: bool
    """True when it spends and earns on the balance of the master; absent otherwise."""
    marginAccountId: str
    """Of margin orders: margin account it trades for."""
    riskBucketId: str
    """Of margin orders: risk bucket it trades in; absent while there is none."""
    marginMode: MarginMode
    """Of margin orders: ISOLATED or CROSS."""
    leverage: str
    """Of margin orders; absent of reduce-only ones, which need none."""
    strategyKey: str
    """Of margin orders: strategy key of the risk bucket; absent when it has none."""


class TwapOrderUpdate(TypedDict):
    """A TWAP order that changed."""
    channel: Literal["twapOrders"]
    """Name of the channel."""
    type: Literal["twap_order_update"]
    """What the frame is."""
    reason: Literal[
        "created", "started", "slice", "skipped", "completed", "window_over", "condition_expired", "user_cancelled",
        "by_operator", "session_revoked", "failed", "filled",
    ]
    """What caused it; the first of `reasons`."""
    timestamp: str
    """When the frame was made."""
    data: TwapOrderUpdateData
    """What the channel tells."""


class _TwapOrderUpdateData(TypedDict):
    twapOrderId: str
    """TWAP order."""
    id: str
    """The same as twapOrderId."""
    state: TwapState
    """Where it stands."""
    tradingPairId: str
    """Trading pair."""
    symbol: str
    """Symbol of the asset, or BASE/QUOTE of the pair."""
    side: Side
    """BUY or SELL."""
    tradingMode: TradingMode
    """MARGIN on a perpetual, otherwise SPOT."""
    quantity: str
    """Of all slices together, in units of the base token."""
    filledQuantity: str
    """Filled so far, in units of the base token."""
    remainingQuantity: str
    """Not filled, in units of the base token."""
    slicesPlaced: int
    """Orders that were placed."""
    plannedSlices: int
    """Slices that are planned."""
    randomize: bool
    """Sizes and times of slices vary by a fifth."""
    reduceOnly: bool
    """Slices only make the position smaller."""
    executionStyle: ExecutionStyle
    """MARKET or PASSIVE."""
    fee: str
    """Of all slices, in units of the quote token: positive paid, negative earned."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it changed last."""


class TwapOrderUpdateData(_TwapOrderUpdateData, total=False):
    """What the channel tells."""
    shortfall: str
    """What was not filled when it was over; it is traded no more. Absent until then."""
    averageFillPrice: str
    """Average price of the fills, rounded to 8 digits beyond the tick; absent without fills."""
    limitPrice: str
    """No slice trades beyond this price."""
    slippageToleranceBps: int
    """How far from the best price a slice may trade, in basis points."""
    startTime: str
    """When its window begins; absent while that is not known."""
    endTime: str
    """When its window ends; absent while that is not known."""
    durationSeconds: int
    """From its start to its end; absent while that is not known."""
    firstSliceAt: str
    """When the first slice is due; absent while it waits for its price."""
    nextSliceAt: str
    """When the next slice is due; absent when none is."""
    lastSkipCode: str
    """Why the last slice was left out: code of a refusal; absent when it was placed."""
    failureCode: str
    """FAILED: code of the refusal."""
    triggerPrice: str
    """Price that it waits for, or waited."""
    triggerDirection: TriggerDirection
    """From which side."""
    conditionalExpiry: str
    """Until when it waits for it."""
    clientTwapId: str
    """Name of your own."""
    useMasterBalance: bool
    """True when it spends and earns on the balance of the master; absent otherwise."""
    marginAccountId: str
    """Of margin orders: margin account it trades for."""
    riskBucketId: str
    """Of margin orders: risk bucket it trades in; absent while there is none."""
    marginMode: MarginMode
    """Of margin orders: ISOLATED or CROSS."""
    leverage: str
    """Of margin orders; absent of reduce-only ones, which need none."""
    strategyKey: str
    """Of margin orders: strategy key of the risk bucket; absent when it has none."""
    sliceOrderId: str
    """The order that was placed, where the reason is `slice`."""


class TwapOrdersSnapshot(TypedDict):
    """TWAP orders that are PENDING or ACTIVE."""
    channel: Literal["twapOrders"]
    """Name of the channel."""
    type: Literal["snapshot"]
    """What the frame is."""
    reason: Literal["snapshot"]
    """What caused it; the first of `reasons`."""
    timestamp: str
    """When the frame was made."""
    data: TwapOrdersSnapshotData
    """What the channel tells."""


class _TwapOrdersSnapshotData(TypedDict):
    twapOrders: list[TwapOrder]
    """TWAP orders that are PENDING or ACTIVE, newest first."""


class TwapOrdersSnapshotData(_TwapOrdersSnapshotData, total=False):
    """What the channel tells."""
    tradingPairId: str
    """The pair that was asked for; absent: all."""


#: PENDING waits for its start time or its price; ACTIVE places slices. COMPLETED: all of it was filled. EXPIRED: its
#: window, or the time it waits for its price, is over. FAILED: a slice was refused for a reason that no later one gets
#: over.
TwapState = Literal["PENDING", "ACTIVE", "COMPLETED", "EXPIRED", "CANCELLED", "FAILED"]

class UpdateSubAccountLimitResponse(TypedDict):
    """Answer of UpdateSubAccountLimit."""
    limit: SubAccountLimit
    """The limit."""


class VerifyResponse(TypedDict):
    """Answer of Verify."""
    expiresAt: int
    """Unix time in seconds."""
    user: VerifyResponseUser
    """Who signed in."""
    isNewUser: bool
    """True when this sign-in created the user."""
    referralApplied: bool
    """True when this sign-in recorded who brought the user."""


class VerifyResponseUser(TypedDict):
    """Who signed in."""
    id: str
    """Identifier of this record."""
    address: str
    """Wallet address. Answers carry the EIP-55 form."""
    username: str | None
    """Chosen name, or null."""


class _WithdrawCollateralResponse(TypedDict):
    movementId: str
    """The movement."""
    amount: str
    """In units of the asset."""


class WithdrawCollateralResponse(_WithdrawCollateralResponse, total=False):
    """Answer of WithdrawCollateral."""
    fromMarginAccountId: str
    """Margin account that gave; absent when it was no margin account."""
    toMarginAccountId: str
    """Margin account that got it; absent when it was no margin account."""
    fromRiskBucketId: str
    """Risk bucket that gave; absent when it was none."""
    toRiskBucketId: str
    """Risk bucket that got it; absent when it was none."""


class _Withdrawal(TypedDict):
    id: str
    """Identifier of this record."""
    assetId: str
    """Asset."""
    token: str
    """Contract address of the token."""
    amount: str
    """In units of the asset."""
    amountRaw: str
    """The amount in smallest units of the token on the settlement chain."""
    destination: str
    """Who is paid, in EIP-55 form."""
    status: WithdrawalStatus
    """How far it is."""
    needsApproval: bool
    """True while it waits for the approval of the operator, because of its amount."""
    nonce: str
    """Nonce of its authorisation in the vault: a whole number as text."""
    createdAt: str
    """When it was made."""
    expiresAt: str | None
    """Until when the vault takes its authorisation; null before SIGNED."""


class Withdrawal(_Withdrawal, total=False):
    """A withdrawal to an address of the settlement chain."""
    txHash: str
    """Transaction on the chain; absent until one was seen."""


#: PENDING waits for its authorisation, SIGNED has one that is yours to submit, SUBMITTED was seen on the chain.
#: CONFIRMED was paid; FAILED, EXPIRED and CANCELLED were not, and the funds are available again.
WithdrawalStatus = Literal["PENDING", "SIGNED", "SUBMITTED", "CONFIRMED", "FAILED", "EXPIRED", "CANCELLED"]


InstrumentsFrame = Union[InstrumentsSnapshot, InstrumentsUpdate]
MarketStatsFrame = Union[MarketStatsSnapshot, MarketStatsUpdate]
OhlcvFrame = Union[OhlcvSnapshot, OhlcvUpdate]
OrderbookFrame = Union[OrderbookSnapshot, OrderbookUpdate]
TradesFrame = Union[TradesSnapshot, TradesUpdate]
AccountFrame = Union[AccountSnapshot, AccountUpdate]
BalancesFrame = Union[BalancesSnapshot, BalanceUpdate]
ConditionalOrdersFrame = Union[ConditionalOrdersSnapshot, ConditionalOrderUpdate]
LiquidationsFrame = Union[LiquidationsSnapshot, LiquidationUpdate]
OrdersFrame = Union[OrdersSnapshot, OrderUpdate]
PositionsFrame = Union[PositionsSnapshot, PositionUpdate]
TwapOrdersFrame = Union[TwapOrdersSnapshot, TwapOrderUpdate]

__all__ = [
    "AccountFrame", "AccountSnapshot", "AccountSnapshotData", "AccountTrade", "AccountUpdate",
    "AddPositionMarginResponse", "AgentAction", "Amount", "AttachTpSlResponse", "Balance", "BalanceUpdate",
    "BalanceUpdateData", "BalancesFrame", "BalancesSnapshot", "BalancesSnapshotData", "BatchCancelAllOrdersResponse",
    "BatchCancelOrdersByPairResponse", "BatchCancelOrdersResponse", "BatchCancelOrdersResponseResultsItem",
    "BatchCreateOrdersResponse", "BatchCreateOrdersResponseResultsItem", "BatchReplaceOrdersResponse",
    "BatchReplaceOrdersResponseResultsItem", "BookLevel", "CancelConditionalOrderResponse", "CancelOrderResponse",
    "CancelTwapOrderResponse", "Candle", "CandleInterval", "ChallengeResponse", "CheckResponse", "ClaimLeaseResponse",
    "CloseAllFollowPositionsResponse", "CloseAllFollowPositionsResponseFailedFollowsItem",
    "CloseMarginSubAccountResponse", "ClosePositionResponse", "CloseType", "ClosedFollow", "ConditionType",
    "ConditionalOrder", "ConditionalOrderUpdate", "ConditionalOrdersFrame", "ConditionalOrdersSnapshot",
    "ConditionalOrdersSnapshotData", "ConditionalState", "ConditionalTerminalReason", "CreateDelegatedSessionResponse",
    "CreateOrderResponse", "CreateSubAccountLimitResponse", "CreateSubAccountResponse", "CreateTwapOrderResponse",
    "DelegatedAgent", "DeleteSubAccountLimitResponse", "DepositCollateralResponse", "EntryType", "ExecutionStyle",
    "FaucetMint", "Fill", "Follow", "FollowLastCopy0", "FollowLastSkip0", "FollowStatus", "Follower", "FundingPayment",
    "FundingRate", "GetApplicationConfigResponse", "GetApplicationStatsResponse", "GetAvailableCollateralResponse",
    "GetBalanceResponse", "GetBuildercodesConfigResponse", "GetBuildercodesConfigResponseApplication0",
    "GetCandlesResponse", "GetFaucetInfoResponse", "GetFaucetInfoResponseRecentRequestsItem",
    "GetMarketMetadataResponse", "GetOrderbookResponse", "GetPortfolioResponse", "GetPortfolioResponsePointsItem",
    "GetProfileResponse", "GetReferralDownlineResponse", "GetReferralPositionResponse", "GetRewardsBalanceResponse",
    "GetRewardsBalanceResponseBalancesItem", "GetScreenerResponse", "GetServerTimeResponse", "GetTradingPairResponse",
    "GetWithdrawalCalldataResponse", "InstrumentsFrame", "InstrumentsSnapshot", "InstrumentsSnapshotData",
    "InstrumentsUpdate", "InstrumentsUpdateData", "ItemError", "Leader", "LeaderPosition", "LiquidationUpdate",
    "LiquidationUpdateData", "LiquidationsFrame", "LiquidationsSnapshot", "LiquidationsSnapshotData",
    "LiquidationsSnapshotDataLiquidationsItem", "ListAccountTradesResponse", "ListApplicationBalancesResponse",
    "ListApplicationBalancesResponseBalancesItem", "ListApplicationMovementsResponse",
    "ListApplicationMovementsResponseMovementsItem", "ListApplicationOrdersResponse", "ListApplicationUsersResponse",
    "ListApplicationUsersResponseUsersItem", "ListBalancesResponse", "ListConditionalOrdersResponse",
    "ListDelegatedAgentsResponse", "ListFollowsResponse", "ListFundingPaymentsResponse", "ListFundingRatesResponse",
    "ListLeaderPositionsResponse", "ListLeadersResponse", "ListMarginAccountsResponse", "ListMovementsResponse",
    "ListMyFollowersResponse", "ListOrdersResponse", "ListPendingWithdrawalsResponse", "ListPositionsResponse",
    "ListRiskBucketsResponse", "ListSubAccountLimitsResponse", "ListSubAccountsResponse", "ListSweeperChainsResponse",
    "ListTradesResponse", "ListTradingPairsResponse", "ListTwapOrdersResponse", "ListTwapSlicesResponse",
    "LiveFollowStatus", "MarginAccount", "MarginAccountState", "MarginMode", "MarketStatsFrame", "MarketStatsSnapshot",
    "MarketStatsSnapshotData", "MarketStatsSnapshotDataMarketsItem", "MarketStatsUpdate", "MarketStatsUpdateData",
    "MatchResult", "MatchResultExecutionPriceRange", "MintResponse", "Movement", "NotCancelled", "OhlcvFrame",
    "OhlcvSnapshot", "OhlcvSnapshotData", "OhlcvUpdate", "OhlcvUpdateData", "Order", "OrderItem", "OrderRisk",
    "OrderStatus", "OrderType", "OrderUpdate", "OrderUpdateData", "OrderbookFrame", "OrderbookSnapshot",
    "OrderbookSnapshotData", "OrderbookSnapshotDataAsksItem", "OrderbookSnapshotDataBidsItem", "OrderbookUpdate",
    "OrderbookUpdateData", "OrderbookUpdateDataAsksItem", "OrderbookUpdateDataBidsItem", "OrdersFrame",
    "OrdersSnapshot", "OrdersSnapshotData", "PerpConfig", "Position", "PositionDirection", "PositionRisk",
    "PositionStatus", "PositionUpdate", "PositionsFrame", "PositionsSnapshot", "PositionsSnapshotData", "PublicUser",
    "ReducePositionMarginResponse", "Referee", "ReferralLevel", "ReferralRewardEntry", "ReferralSource",
    "RefreshResponse", "ReleaseLeaderResponse", "ReplaceElement", "ReplaceOrderResponse",
    "RevokeDelegatedAgentResponse", "RevokeResponse", "RewardAmount", "RiskBucket", "RiskBucketState", "RiskTier",
    "ScreenerDay", "ScreenerItem", "SetBuilderFeeResponse", "SettlementProof", "SettlementStatus", "Side",
    "SimulateFeesResponse", "StopFollowResponse", "SubAccount", "SubAccountLimit", "SubmitApplicationResponse",
    "SweeperAsset", "SweeperChain", "TimeInForce", "TpSlLeg", "Trade", "TradesFrame", "TradesSnapshot",
    "TradesSnapshotData", "TradesUpdate", "TradesUpdateData", "TradingMode", "TradingPair", "TrailingStopLeg",
    "TransactionType", "TransferCollateralFromRiskBucketResponse", "TransferCollateralFromSubAccountResponse",
    "TransferCollateralToRiskBucketResponse", "TransferCollateralToSubAccountResponse", "TransferDirection",
    "TransferRewardsResponse", "TransferSubAccountBalanceResponse", "TriggerDirection", "TwapOrder", "TwapOrderUpdate",
    "TwapOrderUpdateData", "TwapOrdersFrame", "TwapOrdersSnapshot", "TwapOrdersSnapshotData", "TwapState",
    "UpdateSubAccountLimitResponse", "VerifyResponse", "VerifyResponseUser", "WithdrawCollateralResponse", "Withdrawal",
    "WithdrawalStatus",
]
