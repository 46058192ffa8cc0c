"""Operations and channels as methods. Made by gateway/client/python/generate from the documents of the service: do
not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from ..client import Stream
    from .types import (
        AccountFrame, AddPositionMarginResponse, AgentAction, Amount, AttachTpSlResponse, Balance, BalancesFrame,
        BatchCancelAllOrdersResponse, BatchCancelOrdersByPairResponse, BatchCancelOrdersResponse,
        BatchCreateOrdersResponse, BatchReplaceOrdersResponse, CancelConditionalOrderResponse, CancelOrderResponse,
        CancelTwapOrderResponse, CandleInterval, ChallengeResponse, CheckResponse, ClaimLeaseResponse,
        CloseAllFollowPositionsResponse, CloseMarginSubAccountResponse, ClosePositionResponse, CloseType, ClosedFollow,
        ConditionType, ConditionalOrder, ConditionalOrdersFrame, ConditionalState, CreateDelegatedSessionResponse,
        CreateOrderResponse, CreateSubAccountLimitResponse, CreateSubAccountResponse, CreateTwapOrderResponse,
        DelegatedAgent, DeleteSubAccountLimitResponse, DepositCollateralResponse, EntryType, ExecutionStyle, Follow,
        GetApplicationConfigResponse, GetApplicationStatsResponse, GetAvailableCollateralResponse, GetBalanceResponse,
        GetBuildercodesConfigResponse, GetCandlesResponse, GetFaucetInfoResponse, GetMarketMetadataResponse,
        GetOrderbookResponse, GetPortfolioResponse, GetProfileResponse, GetReferralDownlineResponse,
        GetReferralPositionResponse, GetRewardsBalanceResponse, GetScreenerResponse, GetServerTimeResponse,
        GetTradingPairResponse, GetWithdrawalCalldataResponse, InstrumentsFrame, Leader, LiquidationsFrame,
        ListAccountTradesResponse, ListApplicationBalancesResponse, ListApplicationMovementsResponse,
        ListApplicationOrdersResponse, ListApplicationUsersResponse, ListBalancesResponse,
        ListConditionalOrdersResponse, ListDelegatedAgentsResponse, ListFollowsResponse, ListFundingPaymentsResponse,
        ListFundingRatesResponse, ListLeaderPositionsResponse, ListLeadersResponse, ListMarginAccountsResponse,
        ListMovementsResponse, ListMyFollowersResponse, ListOrdersResponse, ListPendingWithdrawalsResponse,
        ListPositionsResponse, ListRiskBucketsResponse, ListSubAccountLimitsResponse, ListSubAccountsResponse,
        ListSweeperChainsResponse, ListTradesResponse, ListTradingPairsResponse, ListTwapOrdersResponse,
        ListTwapSlicesResponse, LiveFollowStatus, MarginAccount, MarginMode, MarketStatsFrame, MintResponse, OhlcvFrame,
        Order, OrderItem, OrderRisk, OrderStatus, OrderType, OrderbookFrame, OrdersFrame, PerpConfig, Position,
        PositionRisk, PositionStatus, PositionsFrame, ReducePositionMarginResponse, RefreshResponse,
        ReleaseLeaderResponse, ReplaceElement, ReplaceOrderResponse, RevokeDelegatedAgentResponse, RevokeResponse,
        RiskBucket, RiskBucketState, SetBuilderFeeResponse, Side, SimulateFeesResponse, StopFollowResponse,
        SubmitApplicationResponse, TimeInForce, TpSlLeg, Trade, TradesFrame, TradingMode, TrailingStopLeg,
        TransactionType, TransferCollateralFromRiskBucketResponse, TransferCollateralFromSubAccountResponse,
        TransferCollateralToRiskBucketResponse, TransferCollateralToSubAccountResponse, TransferDirection,
        TransferRewardsResponse, TransferSubAccountBalanceResponse, TriggerDirection, TwapOrder, TwapOrdersFrame,
        TwapState, UpdateSubAccountLimitResponse, VerifyResponse, WithdrawCollateralResponse, Withdrawal,
    )


class Operations:
    """Every operation of the service, over REST."""

    def _call(self, name: str, fields: dict[str, Any]) -> Any:
        raise NotImplementedError

    def challenge(
        self,
        *,
        address: str,
        sessionPublicKey: str,
        clientId: str | None = None,
        chainId: int | str | None = None,
        subAccountOf: str | None = None,
    ) -> ChallengeResponse:
        """Ask for a text to sign. POST /api/v1/auth/challenge

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, MIXED_CREDENTIALS,
        USER_AGENT_REQUIRED, NOT_FOUND, REQUEST_TIMEOUT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED,
        INTERNAL, OVERLOADED, VERIFICATION_UNAVAILABLE.
        """
        return cast("ChallengeResponse", self._call("Challenge", {
            "address": address,
            "sessionPublicKey": sessionPublicKey,
            "clientId": clientId,
            "chainId": chainId,
            "subAccountOf": subAccountOf,
        }))

    def refresh(self) -> RefreshResponse:
        """Extend the session. POST /api/v1/auth/refresh

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, REQUEST_TIMEOUT, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OVERLOADED,
        SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("RefreshResponse", self._call("Refresh", {}))

    def revoke(self) -> RevokeResponse:
        """End the session. POST /api/v1/auth/revoke

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, REQUEST_TIMEOUT, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OVERLOADED,
        SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("RevokeResponse", self._call("Revoke", {}))

    def verify(
        self,
        *,
        address: str,
        signature: str,
        nonce: str,
        sessionPublicKey: str,
        sessionSignature: str | None = None,
        clientId: str | None = None,
        chainId: int | str | None = None,
        referralCode: str | None = None,
    ) -> VerifyResponse:
        """Open a session. POST /api/v1/auth/verify

        Needs no session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        MIXED_CREDENTIALS, NONCE_INVALID, USER_AGENT_REQUIRED, NOT_FOUND, REQUEST_TIMEOUT, SESSION_KEY_IN_USE,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OVERLOADED, SERVICE_UNAVAILABLE, VERIFICATION_UNAVAILABLE, DISK_FULL.
        """
        return cast("VerifyResponse", self._call("Verify", {
            "address": address,
            "signature": signature,
            "nonce": nonce,
            "sessionPublicKey": sessionPublicKey,
            "sessionSignature": sessionSignature,
            "clientId": clientId,
            "chainId": chainId,
            "referralCode": referralCode,
        }))

    def list_balances(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
    ) -> ListBalancesResponse:
        """Balances. GET /api/v1/accounts/balances

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("ListBalancesResponse", self._call("ListBalances", {
            "page": page,
            "pageSize": pageSize,
        }))

    def get_balance(
        self,
        *,
        assetId: str,
        proof: bool | None = None,
    ) -> GetBalanceResponse:
        """Balance of one asset. GET /api/v1/accounts/balances/{assetId}

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("GetBalanceResponse", self._call("GetBalance", {
            "assetId": assetId,
            "proof": proof,
        }))

    def get_profile(self) -> GetProfileResponse:
        """Who am I. GET /api/v1/accounts/me

        Signed by the session. May be repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL,
        OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("GetProfileResponse", self._call("GetProfile", {}))

    def list_movements(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
        entryType: EntryType | None = None,
        transactionType: TransactionType | None = None,
        assetId: str | None = None,
        startTime: str | None = None,
        endTime: str | None = None,
    ) -> ListMovementsResponse:
        """Movements of balances. GET /api/v1/accounts/movements

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, HISTORY_UNAVAILABLE.
        """
        return cast("ListMovementsResponse", self._call("ListMovements", {
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "entryType": entryType,
            "transactionType": transactionType,
            "assetId": assetId,
            "startTime": startTime,
            "endTime": endTime,
        }))

    def get_portfolio(
        self,
        *,
        period: Literal["24h", "7d", "30d", "all"] | None = None,
    ) -> GetPortfolioResponse:
        """Portfolio of a period. GET /api/v1/accounts/portfolio

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, HISTORY_UNAVAILABLE.
        """
        return cast("GetPortfolioResponse", self._call("GetPortfolio", {
            "period": period,
        }))

    def list_sub_accounts(self) -> ListSubAccountsResponse:
        """Sub-accounts. GET /api/v1/accounts/sub-accounts

        Signed by the session. May be repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, MASTER_ONLY, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("ListSubAccountsResponse", self._call("ListSubAccounts", {}))

    def create_sub_account(
        self,
        *,
        address: str,
        username: str | None = None,
        nonce: str | None = None,
        signature: str | None = None,
    ) -> CreateSubAccountResponse:
        """Make a sub-account. POST /api/v1/accounts/sub-accounts

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, NONCE_INVALID, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED,
        MASTER_ONLY, REQUEST_TIMEOUT, ADDRESS_IN_USE, TOO_MANY_SUB_ACCOUNTS, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OVERLOADED, SERVICE_UNAVAILABLE,
        VERIFICATION_UNAVAILABLE, DISK_FULL.
        """
        return cast("CreateSubAccountResponse", self._call("CreateSubAccount", {
            "address": address,
            "username": username,
            "nonce": nonce,
            "signature": signature,
        }))

    def create_sub_account_limit(
        self,
        *,
        subAccountId: str,
        assetId: str,
        maxAmount: str,
        dailyLimit: str | None = None,
    ) -> CreateSubAccountLimitResponse:
        """Let a sub-account spend your balance. POST /api/v1/accounts/sub-accounts/limits

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, LIMIT_EXISTS, UNAUTHENTICATED,
        INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED,
        MASTER_ONLY, NOT_FOUND, REQUEST_TIMEOUT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED,
        TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE,
        DISK_FULL.
        """
        return cast("CreateSubAccountLimitResponse", self._call("CreateSubAccountLimit", {
            "subAccountId": subAccountId,
            "assetId": assetId,
            "maxAmount": maxAmount,
            "dailyLimit": dailyLimit,
        }))

    def transfer_sub_account_balance(
        self,
        *,
        subAccountId: str,
        assetId: str,
        amount: str,
        direction: TransferDirection,
        idempotencyKey: str | None = None,
    ) -> TransferSubAccountBalanceResponse:
        """Move a balance to or from a sub-account. POST /api/v1/accounts/sub-accounts/transfer

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_BALANCE, UNAUTHENTICATED,
        INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED,
        MASTER_ONLY, CONSENT_REQUIRED, NOT_FOUND, REQUEST_TIMEOUT, IDEMPOTENCY_KEY_CONFLICT, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED,
        ORDER_SUBMISSION_CAPACITY_EXCEEDED, ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, SERVICE_UNAVAILABLE,
        DISK_RESERVE, DISK_FULL.
        """
        return cast("TransferSubAccountBalanceResponse", self._call("TransferSubAccountBalance", {
            "subAccountId": subAccountId,
            "assetId": assetId,
            "amount": amount,
            "direction": direction,
            "idempotencyKey": idempotencyKey,
        }))

    def list_sub_account_limits(
        self,
        *,
        subAccountId: str,
    ) -> ListSubAccountLimitsResponse:
        """Limits of a sub-account. GET /api/v1/accounts/sub-accounts/{subAccountId}/limits

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, MASTER_ONLY, NOT_FOUND,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("ListSubAccountLimitsResponse", self._call("ListSubAccountLimits", {
            "subAccountId": subAccountId,
        }))

    def update_sub_account_limit(
        self,
        *,
        subAccountId: str,
        assetId: str,
        maxAmount: str | None = None,
        dailyLimit: str | None = None,
        isActive: bool | None = None,
        noDailyLimit: bool | None = None,
    ) -> UpdateSubAccountLimitResponse:
        """Change a limit. PUT /api/v1/accounts/sub-accounts/{subAccountId}/limits/{assetId}

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, MASTER_ONLY,
        NOT_FOUND, REQUEST_TIMEOUT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT,
        INVALID_COMMAND, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("UpdateSubAccountLimitResponse", self._call("UpdateSubAccountLimit", {
            "subAccountId": subAccountId,
            "assetId": assetId,
            "maxAmount": maxAmount,
            "dailyLimit": dailyLimit,
            "isActive": isActive,
            "noDailyLimit": noDailyLimit,
        }))

    def delete_sub_account_limit(
        self,
        *,
        subAccountId: str,
        assetId: str,
    ) -> DeleteSubAccountLimitResponse:
        """Delete a limit. DELETE /api/v1/accounts/sub-accounts/{subAccountId}/limits/{assetId}

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, MASTER_ONLY, NOT_FOUND,
        LENGTH_REQUIRED, BODY_TOO_LARGE, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OVERLOADED,
        SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("DeleteSubAccountLimitResponse", self._call("DeleteSubAccountLimit", {
            "subAccountId": subAccountId,
            "assetId": assetId,
        }))

    def list_account_trades(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
        tradingPairId: str | None = None,
        side: Side | None = None,
        orderId: str | None = None,
        startTime: str | None = None,
        endTime: str | None = None,
        tradeId: str | None = None,
        proof: bool | None = None,
    ) -> ListAccountTradesResponse:
        """Own trades. GET /api/v1/accounts/trades

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, HISTORY_UNAVAILABLE.
        """
        return cast("ListAccountTradesResponse", self._call("ListAccountTrades", {
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "tradingPairId": tradingPairId,
            "side": side,
            "orderId": orderId,
            "startTime": startTime,
            "endTime": endTime,
            "tradeId": tradeId,
            "proof": proof,
        }))

    def list_orders(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
        status: list[OrderStatus] | None = None,
        tradingPairId: str | None = None,
        side: Side | None = None,
        orderType: OrderType | None = None,
        tradingMode: TradingMode | None = None,
        clientOrderId: str | None = None,
        startTime: str | None = None,
        endTime: str | None = None,
    ) -> ListOrdersResponse:
        """Orders. GET /api/v1/orders

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("ListOrdersResponse", self._call("ListOrders", {
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "status": status,
            "tradingPairId": tradingPairId,
            "side": side,
            "orderType": orderType,
            "tradingMode": tradingMode,
            "clientOrderId": clientOrderId,
            "startTime": startTime,
            "endTime": endTime,
        }))

    def create_order(
        self,
        *,
        tradingPairId: str,
        orderType: OrderType,
        side: Side,
        quantity: Amount,
        price: Amount | None = None,
        tradingMode: TradingMode | None = None,
        slippageToleranceBps: int | None = None,
        useMasterBalance: bool | None = None,
        expirationDate: str | None = None,
        timeInForce: TimeInForce | None = None,
        marginAccountId: str | None = None,
        riskBucketId: str | None = None,
        riskBucketCollateral: Amount | None = None,
        positionSide: Literal["LONG", "SHORT"] | None = None,
        leverage: Amount | None = None,
        reduceOnly: bool | None = None,
        strategyKey: str | None = None,
        marginMode: MarginMode | None = None,
        postOnly: bool | None = None,
        clientOrderId: str | None = None,
        idempotencyKey: str | None = None,
        selfTradePreventionMode: Literal["CANCEL_TAKER", "CANCEL_BOTH"] | None = None,
        returnFills: bool | None = None,
        trailingStop: TrailingStopLeg | None = None,
        takeProfit: TpSlLeg | None = None,
        stopLoss: TpSlLeg | None = None,
    ) -> CreateOrderResponse:
        """Place an order. POST /api/v1/orders

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INVALID_TICK, INVALID_LOT,
        INVALID_EXPIRATION, PAIR_NOT_ACTIVE, TOO_MANY_OPEN_ORDERS, NOT_SUB_ACCOUNT, INSUFFICIENT_BALANCE,
        BELOW_MIN_NOTIONAL, BELOW_MIN_ORDER_SIZE, ABOVE_MAX_ORDER_SIZE, SUB_ACCOUNT_LIMIT_EXCEEDED,
        INSUFFICIENT_MARGIN, LEVERAGE_TOO_HIGH, LEVERAGE_TOO_LOW, REDUCE_ONLY_REJECTED, POSITION_LIMIT_EXCEEDED,
        OPEN_INTEREST_LIMIT, PRICE_STALE, PAIR_REDUCE_ONLY, WRONG_TRADING_MODE, MASTER_BALANCE_NOT_ALLOWED,
        RISK_BUCKET_MISMATCH, TOO_MANY_REDUCE_ONLY, INVALID_TRIGGER_PRICE, POST_ONLY_WOULD_CROSS,
        SELF_TRADE_NOT_ALLOWED, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, STRATEGY_KEY_UNKNOWN, NOT_FOUND,
        REQUEST_TIMEOUT, IDEMPOTENCY_KEY_CONFLICT, CLIENT_ORDER_ID_CONFLICT, RISK_BUCKET_IN_LIQUIDATION,
        TOO_MANY_MARGIN_ACCOUNTS, TOO_MANY_RISK_BUCKETS, TOO_MANY_POSITIONS, WRONG_PERP_MODE,
        TRAILING_STOP_EXISTS, TOO_MANY_CONDITIONAL_ORDERS, LEASE_LOST, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED,
        ORDER_SUBMISSION_CAPACITY_EXCEEDED, ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, SERVICE_UNAVAILABLE,
        DISK_RESERVE, DISK_FULL.
        """
        return cast("CreateOrderResponse", self._call("CreateOrder", {
            "tradingPairId": tradingPairId,
            "orderType": orderType,
            "side": side,
            "quantity": quantity,
            "price": price,
            "tradingMode": tradingMode,
            "slippageToleranceBps": slippageToleranceBps,
            "useMasterBalance": useMasterBalance,
            "expirationDate": expirationDate,
            "timeInForce": timeInForce,
            "marginAccountId": marginAccountId,
            "riskBucketId": riskBucketId,
            "riskBucketCollateral": riskBucketCollateral,
            "positionSide": positionSide,
            "leverage": leverage,
            "reduceOnly": reduceOnly,
            "strategyKey": strategyKey,
            "marginMode": marginMode,
            "postOnly": postOnly,
            "clientOrderId": clientOrderId,
            "idempotencyKey": idempotencyKey,
            "selfTradePreventionMode": selfTradePreventionMode,
            "returnFills": returnFills,
            "trailingStop": trailingStop,
            "takeProfit": takeProfit,
            "stopLoss": stopLoss,
        }))

    def batch_cancel_orders(
        self,
        *,
        orderIds: list[str],
    ) -> BatchCancelOrdersResponse:
        """Cancel up to 100 orders. POST /api/v1/orders/batch-cancel

        Signed by the session. May be repeated, unless `client:` names an order: by then it may be another one.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, REQUEST_TIMEOUT,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OVERLOADED, DISK_FULL.
        """
        return cast("BatchCancelOrdersResponse", self._call("BatchCancelOrders", {
            "orderIds": orderIds,
        }))

    def batch_cancel_all_orders(
        self,
        *,
        afterMs: int | None = None,
    ) -> BatchCancelAllOrdersResponse:
        """Cancel all orders. POST /api/v1/orders/batch-cancel-all

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, REQUEST_TIMEOUT,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OVERLOADED, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("BatchCancelAllOrdersResponse", self._call("BatchCancelAllOrders", {
            "afterMs": afterMs,
        }))

    def batch_cancel_orders_by_pair(
        self,
        *,
        tradingPairId: str,
    ) -> BatchCancelOrdersByPairResponse:
        """Cancel all orders of a pair. POST /api/v1/orders/batch-cancel-by-pair

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND,
        REQUEST_TIMEOUT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT,
        INVALID_COMMAND, INTERNAL, OVERLOADED, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("BatchCancelOrdersByPairResponse", self._call("BatchCancelOrdersByPair", {
            "tradingPairId": tradingPairId,
        }))

    def batch_create_orders(
        self,
        *,
        orders: list[OrderItem],
    ) -> BatchCreateOrdersResponse:
        """Place up to 100 orders. POST /api/v1/orders/batch-create

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, REQUEST_TIMEOUT,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OPERATIONS_BLOCKED, OVERLOADED, DISK_RESERVE, DISK_FULL.
        """
        return cast("BatchCreateOrdersResponse", self._call("BatchCreateOrders", {
            "orders": orders,
        }))

    def batch_replace_orders(
        self,
        *,
        orders: list[ReplaceElement],
    ) -> BatchReplaceOrdersResponse:
        """Replace up to 100 orders. POST /api/v1/orders/batch-replace

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, REQUEST_TIMEOUT,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OPERATIONS_BLOCKED, OVERLOADED, DISK_RESERVE, DISK_FULL.
        """
        return cast("BatchReplaceOrdersResponse", self._call("BatchReplaceOrders", {
            "orders": orders,
        }))

    def list_conditional_orders(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
        startTime: str | None = None,
        endTime: str | None = None,
        state: list[ConditionalState] | None = None,
        conditionType: ConditionType | None = None,
        tradingPairId: str | None = None,
        positionId: str | None = None,
    ) -> ListConditionalOrdersResponse:
        """Conditional orders. GET /api/v1/orders/conditional

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("ListConditionalOrdersResponse", self._call("ListConditionalOrders", {
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "startTime": startTime,
            "endTime": endTime,
            "state": state,
            "conditionType": conditionType,
            "tradingPairId": tradingPairId,
            "positionId": positionId,
        }))

    def get_conditional_order(
        self,
        *,
        conditionalOrderId: str,
    ) -> ConditionalOrder:
        """One conditional order. GET /api/v1/orders/conditional/{conditionalOrderId}

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, ORDER_NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("ConditionalOrder", self._call("GetConditionalOrder", {
            "conditionalOrderId": conditionalOrderId,
        }))

    def cancel_conditional_order(
        self,
        *,
        conditionalOrderId: str,
    ) -> CancelConditionalOrderResponse:
        """Cancel a conditional order. DELETE /api/v1/orders/conditional/{conditionalOrderId}

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, PAIR_NOT_ACTIVE, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, ORDER_NOT_FOUND,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OVERLOADED, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("CancelConditionalOrderResponse", self._call("CancelConditionalOrder", {
            "conditionalOrderId": conditionalOrderId,
        }))

    def list_twap_orders(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
        startTime: str | None = None,
        endTime: str | None = None,
        state: list[TwapState] | None = None,
        tradingPairId: str | None = None,
    ) -> ListTwapOrdersResponse:
        """TWAP orders. GET /api/v1/orders/twap

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("ListTwapOrdersResponse", self._call("ListTwapOrders", {
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "startTime": startTime,
            "endTime": endTime,
            "state": state,
            "tradingPairId": tradingPairId,
        }))

    def create_twap_order(
        self,
        *,
        tradingPairId: str,
        side: Side,
        quantity: Amount,
        durationSeconds: int | None = None,
        startTime: str | None = None,
        endTime: str | None = None,
        limitPrice: Amount | None = None,
        slippageToleranceBps: int | None = None,
        randomize: bool | None = None,
        reduceOnly: bool | None = None,
        tradingMode: TradingMode | None = None,
        marginAccountId: str | None = None,
        riskBucketId: str | None = None,
        marginMode: MarginMode | None = None,
        leverage: Amount | None = None,
        strategyKey: str | None = None,
        useMasterBalance: bool | None = None,
        clientTwapId: str | None = None,
        executionStyle: ExecutionStyle | None = None,
        triggerPrice: Amount | None = None,
        triggerDirection: TriggerDirection | None = None,
        conditionalExpiry: str | None = None,
    ) -> CreateTwapOrderResponse:
        """Place a TWAP order. POST /api/v1/orders/twap

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INVALID_TICK, INVALID_LOT,
        INVALID_EXPIRATION, PAIR_NOT_ACTIVE, NOT_SUB_ACCOUNT, INSUFFICIENT_BALANCE, BELOW_MIN_ORDER_SIZE,
        INSUFFICIENT_MARGIN, LEVERAGE_TOO_HIGH, LEVERAGE_TOO_LOW, WRONG_TRADING_MODE, MASTER_BALANCE_NOT_ALLOWED,
        RISK_BUCKET_MISMATCH, INVALID_SCHEDULE, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, STRATEGY_KEY_UNKNOWN, NOT_FOUND,
        REQUEST_TIMEOUT, CLIENT_ORDER_ID_CONFLICT, TOO_MANY_MARGIN_ACCOUNTS, TOO_MANY_RISK_BUCKETS,
        TOO_MANY_CONDITIONAL_ORDERS, TOO_MANY_TWAP_ORDERS, LEASE_LOST, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED, OVERLOADED,
        SERVICE_UNAVAILABLE, DISK_RESERVE, DISK_FULL.
        """
        return cast("CreateTwapOrderResponse", self._call("CreateTwapOrder", {
            "tradingPairId": tradingPairId,
            "side": side,
            "quantity": quantity,
            "durationSeconds": durationSeconds,
            "startTime": startTime,
            "endTime": endTime,
            "limitPrice": limitPrice,
            "slippageToleranceBps": slippageToleranceBps,
            "randomize": randomize,
            "reduceOnly": reduceOnly,
            "tradingMode": tradingMode,
            "marginAccountId": marginAccountId,
            "riskBucketId": riskBucketId,
            "marginMode": marginMode,
            "leverage": leverage,
            "strategyKey": strategyKey,
            "useMasterBalance": useMasterBalance,
            "clientTwapId": clientTwapId,
            "executionStyle": executionStyle,
            "triggerPrice": triggerPrice,
            "triggerDirection": triggerDirection,
            "conditionalExpiry": conditionalExpiry,
        }))

    def get_twap_order(
        self,
        *,
        twapOrderId: str,
    ) -> TwapOrder:
        """One TWAP order. GET /api/v1/orders/twap/{twapOrderId}

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, ORDER_NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("TwapOrder", self._call("GetTwapOrder", {
            "twapOrderId": twapOrderId,
        }))

    def cancel_twap_order(
        self,
        *,
        twapOrderId: str,
    ) -> CancelTwapOrderResponse:
        """Cancel a TWAP order. DELETE /api/v1/orders/twap/{twapOrderId}

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, PAIR_NOT_ACTIVE, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, ORDER_NOT_FOUND,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OVERLOADED, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("CancelTwapOrderResponse", self._call("CancelTwapOrder", {
            "twapOrderId": twapOrderId,
        }))

    def list_twap_slices(
        self,
        *,
        twapOrderId: str,
        pageSize: int | None = None,
        pageToken: str | None = None,
        orderBy: Literal["ASC", "DESC"] | None = None,
    ) -> ListTwapSlicesResponse:
        """Slices of a TWAP order. GET /api/v1/orders/twap/{twapOrderId}/slices

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, ORDER_NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("ListTwapSlicesResponse", self._call("ListTwapSlices", {
            "twapOrderId": twapOrderId,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "orderBy": orderBy,
        }))

    def get_order(
        self,
        *,
        orderId: str,
    ) -> Order:
        """One order. GET /api/v1/orders/{orderId}

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, ORDER_NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("Order", self._call("GetOrder", {
            "orderId": orderId,
        }))

    def replace_order(
        self,
        *,
        orderId: str,
        price: Amount | None = None,
        quantity: Amount | None = None,
        useMasterBalance: bool | None = None,
        clientOrderId: str | None = None,
        idempotencyKey: str | None = None,
        postOnly: bool | None = None,
        slippageToleranceBps: int | None = None,
        selfTradePreventionMode: Literal["CANCEL_TAKER", "CANCEL_BOTH"] | None = None,
        returnFills: bool | None = None,
    ) -> ReplaceOrderResponse:
        """Replace an order. PUT /api/v1/orders/{orderId}

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INVALID_TICK, INVALID_LOT,
        INVALID_EXPIRATION, PAIR_NOT_ACTIVE, TOO_MANY_OPEN_ORDERS, NOT_SUB_ACCOUNT, INSUFFICIENT_BALANCE,
        BELOW_MIN_NOTIONAL, BELOW_MIN_ORDER_SIZE, ABOVE_MAX_ORDER_SIZE, SUB_ACCOUNT_LIMIT_EXCEEDED,
        INSUFFICIENT_MARGIN, LEVERAGE_TOO_HIGH, LEVERAGE_TOO_LOW, REDUCE_ONLY_REJECTED, POSITION_LIMIT_EXCEEDED,
        OPEN_INTEREST_LIMIT, PRICE_STALE, PAIR_REDUCE_ONLY, WRONG_TRADING_MODE, MASTER_BALANCE_NOT_ALLOWED,
        RISK_BUCKET_MISMATCH, TOO_MANY_REDUCE_ONLY, POST_ONLY_WOULD_CROSS, SELF_TRADE_NOT_ALLOWED,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        AGENT_NOT_ALLOWED, STRATEGY_KEY_UNKNOWN, ORDER_NOT_FOUND, NOT_FOUND, REQUEST_TIMEOUT,
        IDEMPOTENCY_KEY_CONFLICT, CLIENT_ORDER_ID_CONFLICT, RISK_BUCKET_IN_LIQUIDATION, TOO_MANY_MARGIN_ACCOUNTS,
        TOO_MANY_RISK_BUCKETS, TOO_MANY_POSITIONS, WRONG_PERP_MODE, LEASE_LOST, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED,
        ORDER_SUBMISSION_CAPACITY_EXCEEDED, ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, SERVICE_UNAVAILABLE,
        DISK_RESERVE, DISK_FULL.
        """
        return cast("ReplaceOrderResponse", self._call("ReplaceOrder", {
            "orderId": orderId,
            "price": price,
            "quantity": quantity,
            "useMasterBalance": useMasterBalance,
            "clientOrderId": clientOrderId,
            "idempotencyKey": idempotencyKey,
            "postOnly": postOnly,
            "slippageToleranceBps": slippageToleranceBps,
            "selfTradePreventionMode": selfTradePreventionMode,
            "returnFills": returnFills,
        }))

    def cancel_order(
        self,
        *,
        orderId: str,
    ) -> CancelOrderResponse:
        """Cancel an order. DELETE /api/v1/orders/{orderId}

        Signed by the session. May be repeated, unless `client:` names an order: by then it may be another one.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, PAIR_NOT_ACTIVE, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, ORDER_NOT_FOUND,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OVERLOADED, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("CancelOrderResponse", self._call("CancelOrder", {
            "orderId": orderId,
        }))

    def list_trading_pairs(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        isActive: bool | None = None,
        marketType: TradingMode | None = None,
        baseToken: str | None = None,
        quoteToken: str | None = None,
        category: str | None = None,
    ) -> ListTradingPairsResponse:
        """Trading pairs. GET /api/v1/market/pairs

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL.
        """
        return cast("ListTradingPairsResponse", self._call("ListTradingPairs", {
            "page": page,
            "pageSize": pageSize,
            "isActive": isActive,
            "marketType": marketType,
            "baseToken": baseToken,
            "quoteToken": quoteToken,
            "category": category,
        }))

    def get_trading_pair(
        self,
        *,
        tradingPairId: str,
    ) -> GetTradingPairResponse:
        """One trading pair. GET /api/v1/market/pairs/{tradingPairId}

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL.
        """
        return cast("GetTradingPairResponse", self._call("GetTradingPair", {
            "tradingPairId": tradingPairId,
        }))

    def get_candles(
        self,
        *,
        tradingPairId: str,
        interval: CandleInterval | None = None,
        startTime: str | None = None,
        endTime: str | None = None,
        limit: int | None = None,
    ) -> GetCandlesResponse:
        """Candles. GET /api/v1/market/pairs/{tradingPairId}/candles

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL, HISTORY_UNAVAILABLE.
        """
        return cast("GetCandlesResponse", self._call("GetCandles", {
            "tradingPairId": tradingPairId,
            "interval": interval,
            "startTime": startTime,
            "endTime": endTime,
            "limit": limit,
        }))

    def get_market_metadata(
        self,
        *,
        tradingPairId: str,
    ) -> GetMarketMetadataResponse:
        """What one market does. GET /api/v1/market/pairs/{tradingPairId}/metadata

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL, HISTORY_UNAVAILABLE.
        """
        return cast("GetMarketMetadataResponse", self._call("GetMarketMetadata", {
            "tradingPairId": tradingPairId,
        }))

    def get_perp_config(
        self,
        *,
        tradingPairId: str,
    ) -> PerpConfig:
        """Risk configuration of a perpetual. GET /api/v1/market/pairs/{tradingPairId}/perp/config

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL.
        """
        return cast("PerpConfig", self._call("GetPerpConfig", {
            "tradingPairId": tradingPairId,
        }))

    def list_funding_rates(
        self,
        *,
        tradingPairId: str,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
        startTime: str | None = None,
        endTime: str | None = None,
    ) -> ListFundingRatesResponse:
        """Funding rates of a perpetual. GET /api/v1/market/pairs/{tradingPairId}/perp/funding-rates

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL, HISTORY_UNAVAILABLE.
        """
        return cast("ListFundingRatesResponse", self._call("ListFundingRates", {
            "tradingPairId": tradingPairId,
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "startTime": startTime,
            "endTime": endTime,
        }))

    def get_screener(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        marketType: TradingMode | None = None,
    ) -> GetScreenerResponse:
        """What the markets do. GET /api/v1/market/screener

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL, HISTORY_UNAVAILABLE.
        """
        return cast("GetScreenerResponse", self._call("GetScreener", {
            "page": page,
            "pageSize": pageSize,
            "marketType": marketType,
        }))

    def list_sweeper_chains(self) -> ListSweeperChainsResponse:
        """Sweeper chains. GET /api/v1/sweeper/chains

        Needs no session. May be repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED,
        BODY_TOO_LARGE, INTERNAL.
        """
        return cast("ListSweeperChainsResponse", self._call("ListSweeperChains", {}))

    def get_server_time(self) -> GetServerTimeResponse:
        """Time of the service. GET /api/v1/time

        Needs no session. May be repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED,
        BODY_TOO_LARGE, INTERNAL.
        """
        return cast("GetServerTimeResponse", self._call("GetServerTime", {}))

    def get_orderbook(
        self,
        *,
        tradingPairId: str,
        depth: int | None = None,
        magnitude: int | None = None,
        denomination: Literal["BASE", "QUOTE"] | None = None,
    ) -> GetOrderbookResponse:
        """Order book. GET /api/v1/orderbook/{tradingPairId}

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL, ENGINE_UNAVAILABLE.
        """
        return cast("GetOrderbookResponse", self._call("GetOrderbook", {
            "tradingPairId": tradingPairId,
            "depth": depth,
            "magnitude": magnitude,
            "denomination": denomination,
        }))

    def list_trades(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
        tradingPairId: str | None = None,
        startTime: str | None = None,
        endTime: str | None = None,
    ) -> ListTradesResponse:
        """Trades of everybody. GET /api/v1/trades

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL, HISTORY_UNAVAILABLE.
        """
        return cast("ListTradesResponse", self._call("ListTrades", {
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "tradingPairId": tradingPairId,
            "startTime": startTime,
            "endTime": endTime,
        }))

    def get_trade(
        self,
        *,
        tradeId: str,
    ) -> Trade:
        """One trade. GET /api/v1/trades/{tradeId}

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL, HISTORY_UNAVAILABLE.
        """
        return cast("Trade", self._call("GetTrade", {
            "tradeId": tradeId,
        }))

    def simulate_fees(
        self,
        *,
        tradingPairId: str,
        side: Side,
        orderType: OrderType,
        quantity: Amount,
        price: Amount | None = None,
        tradingMode: TradingMode | None = None,
    ) -> SimulateFeesResponse:
        """What an order would cost. POST /api/v1/fees/simulate

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INVALID_TICK, INVALID_LOT,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, REQUEST_TIMEOUT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED,
        ENGINE_UNAVAILABLE.
        """
        return cast("SimulateFeesResponse", self._call("SimulateFees", {
            "tradingPairId": tradingPairId,
            "side": side,
            "orderType": orderType,
            "quantity": quantity,
            "price": price,
            "tradingMode": tradingMode,
        }))

    def list_margin_accounts(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
        state: Literal["ACTIVE", "CLOSED"] | None = None,
    ) -> ListMarginAccountsResponse:
        """Margin accounts. GET /api/v1/margin/accounts

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("ListMarginAccountsResponse", self._call("ListMarginAccounts", {
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "state": state,
        }))

    def get_margin_account(
        self,
        *,
        marginAccountId: str,
        tradingPairId: str | None = None,
    ) -> MarginAccount:
        """One margin account. GET /api/v1/margin/accounts/{marginAccountId}

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("MarginAccount", self._call("GetMarginAccount", {
            "marginAccountId": marginAccountId,
            "tradingPairId": tradingPairId,
        }))

    def deposit_collateral(
        self,
        *,
        marginAccountId: str,
        amount: str,
        idempotencyKey: str | None = None,
    ) -> DepositCollateralResponse:
        """Deposit collateral. POST /api/v1/margin/accounts/{marginAccountId}/collateral/transfer-in

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_BALANCE,
        INSUFFICIENT_COLLATERAL, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND, REQUEST_TIMEOUT,
        IDEMPOTENCY_KEY_CONFLICT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT,
        INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED, ORDER_SUBMISSION_CAPACITY_EXCEEDED,
        ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE, DISK_RESERVE,
        DISK_FULL.
        """
        return cast("DepositCollateralResponse", self._call("DepositCollateral", {
            "marginAccountId": marginAccountId,
            "amount": amount,
            "idempotencyKey": idempotencyKey,
        }))

    def withdraw_collateral(
        self,
        *,
        marginAccountId: str,
        amount: str,
        idempotencyKey: str | None = None,
    ) -> WithdrawCollateralResponse:
        """Withdraw collateral. POST /api/v1/margin/accounts/{marginAccountId}/collateral/transfer-out

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_COLLATERAL,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        AGENT_NOT_ALLOWED, NOT_FOUND, REQUEST_TIMEOUT, IDEMPOTENCY_KEY_CONFLICT, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED,
        ORDER_SUBMISSION_CAPACITY_EXCEEDED, ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, ENGINE_UNAVAILABLE,
        SERVICE_UNAVAILABLE, DISK_RESERVE, DISK_FULL.
        """
        return cast("WithdrawCollateralResponse", self._call("WithdrawCollateral", {
            "marginAccountId": marginAccountId,
            "amount": amount,
            "idempotencyKey": idempotencyKey,
        }))

    def simulate_order_risk(
        self,
        *,
        marginAccountId: str,
        tradingPairId: str,
        side: Side,
        orderType: OrderType,
        quantity: str,
        strategyKey: str | None = None,
        positionSide: Literal["LONG", "SHORT"] | None = None,
        timeInForce: TimeInForce | None = None,
        price: str | None = None,
        leverage: str | None = None,
        reduceOnly: bool | None = None,
        marginMode: MarginMode | None = None,
        selectedTradingPairIds: list[str] | None = None,
        slippageToleranceBps: int | None = None,
    ) -> OrderRisk:
        """What an order in a margin account would risk. POST
        /api/v1/margin/accounts/{marginAccountId}/simulate-order-risk

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INVALID_TICK, INVALID_LOT,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, REQUEST_TIMEOUT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED,
        ENGINE_UNAVAILABLE.
        """
        return cast("OrderRisk", self._call("SimulateOrderRisk", {
            "marginAccountId": marginAccountId,
            "tradingPairId": tradingPairId,
            "side": side,
            "orderType": orderType,
            "quantity": quantity,
            "strategyKey": strategyKey,
            "positionSide": positionSide,
            "timeInForce": timeInForce,
            "price": price,
            "leverage": leverage,
            "reduceOnly": reduceOnly,
            "marginMode": marginMode,
            "selectedTradingPairIds": selectedTradingPairIds,
            "slippageToleranceBps": slippageToleranceBps,
        }))

    def get_available_collateral(
        self,
        *,
        marginAccountId: str | None = None,
    ) -> GetAvailableCollateralResponse:
        """Collateral that can be moved. GET /api/v1/margin/available-collateral

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("GetAvailableCollateralResponse", self._call("GetAvailableCollateral", {
            "marginAccountId": marginAccountId,
        }))

    def simulate_parent_order_risk(
        self,
        *,
        tradingPairId: str,
        side: Side,
        orderType: OrderType,
        quantity: str,
        strategyKey: str | None = None,
        positionSide: Literal["LONG", "SHORT"] | None = None,
        timeInForce: TimeInForce | None = None,
        price: str | None = None,
        leverage: str | None = None,
        reduceOnly: bool | None = None,
        marginMode: MarginMode | None = None,
        selectedTradingPairIds: list[str] | None = None,
        slippageToleranceBps: int | None = None,
    ) -> OrderRisk:
        """What an order in the parent margin account would risk. POST /api/v1/margin/parent/simulate-order-risk

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INVALID_TICK, INVALID_LOT,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, REQUEST_TIMEOUT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED,
        ENGINE_UNAVAILABLE.
        """
        return cast("OrderRisk", self._call("SimulateParentOrderRisk", {
            "tradingPairId": tradingPairId,
            "side": side,
            "orderType": orderType,
            "quantity": quantity,
            "strategyKey": strategyKey,
            "positionSide": positionSide,
            "timeInForce": timeInForce,
            "price": price,
            "leverage": leverage,
            "reduceOnly": reduceOnly,
            "marginMode": marginMode,
            "selectedTradingPairIds": selectedTradingPairIds,
            "slippageToleranceBps": slippageToleranceBps,
        }))

    def list_risk_buckets(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
        marginAccountId: str | None = None,
        tradingPairId: str | None = None,
        marginMode: MarginMode | None = None,
        strategyKey: str | None = None,
        state: RiskBucketState | None = None,
    ) -> ListRiskBucketsResponse:
        """Risk buckets. GET /api/v1/margin/risk-buckets

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("ListRiskBucketsResponse", self._call("ListRiskBuckets", {
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "marginAccountId": marginAccountId,
            "tradingPairId": tradingPairId,
            "marginMode": marginMode,
            "strategyKey": strategyKey,
            "state": state,
        }))

    def get_risk_bucket(
        self,
        *,
        riskBucketId: str,
    ) -> RiskBucket:
        """One risk bucket. GET /api/v1/margin/risk-buckets/{riskBucketId}

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("RiskBucket", self._call("GetRiskBucket", {
            "riskBucketId": riskBucketId,
        }))

    def transfer_collateral_to_risk_bucket(
        self,
        *,
        riskBucketId: str,
        amount: str,
        idempotencyKey: str | None = None,
    ) -> TransferCollateralToRiskBucketResponse:
        """Move collateral to a risk bucket. POST /api/v1/margin/risk-buckets/{riskBucketId}/collateral/transfer-in

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_COLLATERAL,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        AGENT_NOT_ALLOWED, NOT_FOUND, REQUEST_TIMEOUT, IDEMPOTENCY_KEY_CONFLICT, RISK_BUCKET_IN_LIQUIDATION,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OPERATIONS_BLOCKED, ORDER_SUBMISSION_CAPACITY_EXCEEDED, ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED,
        ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE, DISK_RESERVE, DISK_FULL.
        """
        return cast("TransferCollateralToRiskBucketResponse", self._call("TransferCollateralToRiskBucket", {
            "riskBucketId": riskBucketId,
            "amount": amount,
            "idempotencyKey": idempotencyKey,
        }))

    def transfer_collateral_from_risk_bucket(
        self,
        *,
        riskBucketId: str,
        amount: str,
        idempotencyKey: str | None = None,
    ) -> TransferCollateralFromRiskBucketResponse:
        """Move collateral back from a risk bucket. POST
        /api/v1/margin/risk-buckets/{riskBucketId}/collateral/transfer-out

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_COLLATERAL, PRICE_STALE,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        AGENT_NOT_ALLOWED, NOT_FOUND, REQUEST_TIMEOUT, IDEMPOTENCY_KEY_CONFLICT, RISK_BUCKET_IN_LIQUIDATION,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OPERATIONS_BLOCKED, ORDER_SUBMISSION_CAPACITY_EXCEEDED, ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED,
        ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE, DISK_RESERVE, DISK_FULL.
        """
        return cast("TransferCollateralFromRiskBucketResponse", self._call("TransferCollateralFromRiskBucket", {
            "riskBucketId": riskBucketId,
            "amount": amount,
            "idempotencyKey": idempotencyKey,
        }))

    def simulate_risk_bucket_order_risk(
        self,
        *,
        riskBucketId: str,
        tradingPairId: str,
        side: Side,
        orderType: OrderType,
        quantity: str,
        strategyKey: str | None = None,
        positionSide: Literal["LONG", "SHORT"] | None = None,
        timeInForce: TimeInForce | None = None,
        price: str | None = None,
        leverage: str | None = None,
        reduceOnly: bool | None = None,
        marginMode: MarginMode | None = None,
        selectedTradingPairIds: list[str] | None = None,
        slippageToleranceBps: int | None = None,
    ) -> OrderRisk:
        """What an order in a risk bucket would risk. POST
        /api/v1/margin/risk-buckets/{riskBucketId}/simulate-order-risk

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INVALID_TICK, INVALID_LOT,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, REQUEST_TIMEOUT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED,
        ENGINE_UNAVAILABLE.
        """
        return cast("OrderRisk", self._call("SimulateRiskBucketOrderRisk", {
            "riskBucketId": riskBucketId,
            "tradingPairId": tradingPairId,
            "side": side,
            "orderType": orderType,
            "quantity": quantity,
            "strategyKey": strategyKey,
            "positionSide": positionSide,
            "timeInForce": timeInForce,
            "price": price,
            "leverage": leverage,
            "reduceOnly": reduceOnly,
            "marginMode": marginMode,
            "selectedTradingPairIds": selectedTradingPairIds,
            "slippageToleranceBps": slippageToleranceBps,
        }))

    def create_margin_sub_account(
        self,
        *,
        label: str | None = None,
    ) -> MarginAccount:
        """Make a margin sub-account. POST /api/v1/margin/sub-accounts

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND,
        REQUEST_TIMEOUT, TOO_MANY_MARGIN_ACCOUNTS, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED,
        TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED, OVERLOADED, SERVICE_UNAVAILABLE,
        DISK_RESERVE, DISK_FULL.
        """
        return cast("MarginAccount", self._call("CreateMarginSubAccount", {
            "label": label,
        }))

    def close_margin_sub_account(
        self,
        *,
        marginAccountId: str,
    ) -> CloseMarginSubAccountResponse:
        """Close a margin sub-account. POST /api/v1/margin/sub-accounts/{marginAccountId}/close

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND,
        RISK_BUCKET_IN_LIQUIDATION, MARGIN_ACCOUNT_NOT_FLAT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED,
        TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED, OVERLOADED, ENGINE_UNAVAILABLE,
        SERVICE_UNAVAILABLE, DISK_RESERVE, DISK_FULL.
        """
        return cast("CloseMarginSubAccountResponse", self._call("CloseMarginSubAccount", {
            "marginAccountId": marginAccountId,
        }))

    def transfer_collateral_to_sub_account(
        self,
        *,
        marginAccountId: str,
        amount: str,
        idempotencyKey: str | None = None,
    ) -> TransferCollateralToSubAccountResponse:
        """Move collateral to a margin sub-account. POST
        /api/v1/margin/sub-accounts/{marginAccountId}/collateral/transfer-in

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_COLLATERAL,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        AGENT_NOT_ALLOWED, NOT_FOUND, REQUEST_TIMEOUT, IDEMPOTENCY_KEY_CONFLICT, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED,
        ORDER_SUBMISSION_CAPACITY_EXCEEDED, ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, ENGINE_UNAVAILABLE,
        SERVICE_UNAVAILABLE, DISK_RESERVE, DISK_FULL.
        """
        return cast("TransferCollateralToSubAccountResponse", self._call("TransferCollateralToSubAccount", {
            "marginAccountId": marginAccountId,
            "amount": amount,
            "idempotencyKey": idempotencyKey,
        }))

    def transfer_collateral_from_sub_account(
        self,
        *,
        marginAccountId: str,
        amount: str,
        idempotencyKey: str | None = None,
    ) -> TransferCollateralFromSubAccountResponse:
        """Move collateral back from a margin sub-account. POST
        /api/v1/margin/sub-accounts/{marginAccountId}/collateral/transfer-out

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_COLLATERAL,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        AGENT_NOT_ALLOWED, NOT_FOUND, REQUEST_TIMEOUT, IDEMPOTENCY_KEY_CONFLICT, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED,
        ORDER_SUBMISSION_CAPACITY_EXCEEDED, ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, ENGINE_UNAVAILABLE,
        SERVICE_UNAVAILABLE, DISK_RESERVE, DISK_FULL.
        """
        return cast("TransferCollateralFromSubAccountResponse", self._call("TransferCollateralFromSubAccount", {
            "marginAccountId": marginAccountId,
            "amount": amount,
            "idempotencyKey": idempotencyKey,
        }))

    def list_positions(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
        status: PositionStatus | None = None,
        tradingPairId: str | None = None,
        marginAccountId: str | None = None,
        riskBucketId: str | None = None,
    ) -> ListPositionsResponse:
        """Positions. GET /api/v1/positions

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("ListPositionsResponse", self._call("ListPositions", {
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "status": status,
            "tradingPairId": tradingPairId,
            "marginAccountId": marginAccountId,
            "riskBucketId": riskBucketId,
        }))

    def get_position(
        self,
        *,
        positionId: str,
    ) -> Position:
        """One position. GET /api/v1/positions/{positionId}

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, POSITION_NOT_FOUND, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("Position", self._call("GetPosition", {
            "positionId": positionId,
        }))

    def close_position(
        self,
        *,
        positionId: str,
        quantity: str | None = None,
        closeType: CloseType | None = None,
        price: str | None = None,
        slippageToleranceBps: int | None = None,
    ) -> ClosePositionResponse:
        """Close a position. POST /api/v1/positions/{positionId}/close

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INVALID_TICK, INVALID_LOT,
        PAIR_NOT_ACTIVE, TOO_MANY_OPEN_ORDERS, REDUCE_ONLY_REJECTED, TOO_MANY_REDUCE_ONLY, UNAUTHENTICATED,
        INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED,
        POSITION_NOT_FOUND, REQUEST_TIMEOUT, RISK_BUCKET_IN_LIQUIDATION, WRONG_PERP_MODE, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OVERLOADED,
        ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("ClosePositionResponse", self._call("ClosePosition", {
            "positionId": positionId,
            "quantity": quantity,
            "closeType": closeType,
            "price": price,
            "slippageToleranceBps": slippageToleranceBps,
        }))

    def list_funding_payments(
        self,
        *,
        positionId: str,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
        startTime: str | None = None,
        endTime: str | None = None,
    ) -> ListFundingPaymentsResponse:
        """Funding of a position. GET /api/v1/positions/{positionId}/funding

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, POSITION_NOT_FOUND, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("ListFundingPaymentsResponse", self._call("ListFundingPayments", {
            "positionId": positionId,
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
            "startTime": startTime,
            "endTime": endTime,
        }))

    def add_position_margin(
        self,
        *,
        positionId: str,
        amount: str,
        idempotencyKey: str | None = None,
    ) -> AddPositionMarginResponse:
        """Add margin to an isolated position. POST /api/v1/positions/{positionId}/margin/add

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_COLLATERAL, PRICE_STALE,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        AGENT_NOT_ALLOWED, POSITION_NOT_FOUND, NOT_FOUND, REQUEST_TIMEOUT, IDEMPOTENCY_KEY_CONFLICT,
        RISK_BUCKET_IN_LIQUIDATION, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT,
        INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED, ORDER_SUBMISSION_CAPACITY_EXCEEDED,
        ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE, DISK_RESERVE,
        HISTORY_UNAVAILABLE, DISK_FULL.
        """
        return cast("AddPositionMarginResponse", self._call("AddPositionMargin", {
            "positionId": positionId,
            "amount": amount,
            "idempotencyKey": idempotencyKey,
        }))

    def reduce_position_margin(
        self,
        *,
        positionId: str,
        amount: str,
        idempotencyKey: str | None = None,
    ) -> ReducePositionMarginResponse:
        """Take margin from an isolated position. POST /api/v1/positions/{positionId}/margin/reduce

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_COLLATERAL, PRICE_STALE,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        AGENT_NOT_ALLOWED, POSITION_NOT_FOUND, NOT_FOUND, REQUEST_TIMEOUT, IDEMPOTENCY_KEY_CONFLICT,
        RISK_BUCKET_IN_LIQUIDATION, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT,
        INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED, ORDER_SUBMISSION_CAPACITY_EXCEEDED,
        ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE, DISK_RESERVE,
        HISTORY_UNAVAILABLE, DISK_FULL.
        """
        return cast("ReducePositionMarginResponse", self._call("ReducePositionMargin", {
            "positionId": positionId,
            "amount": amount,
            "idempotencyKey": idempotencyKey,
        }))

    def get_position_risk(
        self,
        *,
        positionId: str,
    ) -> PositionRisk:
        """What a position risks. GET /api/v1/positions/{positionId}/risk

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, POSITION_NOT_FOUND, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("PositionRisk", self._call("GetPositionRisk", {
            "positionId": positionId,
        }))

    def attach_tp_sl(
        self,
        *,
        positionId: str,
        takeProfit: TpSlLeg | None = None,
        stopLoss: TpSlLeg | None = None,
        trailingStop: TrailingStopLeg | None = None,
    ) -> AttachTpSlResponse:
        """Attach take-profit, stop-loss, trailing stop. POST /api/v1/positions/{positionId}/tp-sl

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INVALID_TICK, INVALID_LOT,
        INVALID_EXPIRATION, INVALID_TRIGGER_PRICE, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, POSITION_NOT_FOUND,
        REQUEST_TIMEOUT, RISK_BUCKET_IN_LIQUIDATION, TRAILING_STOP_EXISTS, TOO_MANY_CONDITIONAL_ORDERS,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OPERATIONS_BLOCKED, OVERLOADED, ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE, DISK_RESERVE, DISK_FULL.
        """
        return cast("AttachTpSlResponse", self._call("AttachTpSl", {
            "positionId": positionId,
            "takeProfit": takeProfit,
            "stopLoss": stopLoss,
            "trailingStop": trailingStop,
        }))

    def list_follows(
        self,
        *,
        status: Literal["STOPPED"] | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
    ) -> ListFollowsResponse:
        """Follows of the caller. GET /api/v1/copy-trading/follows

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("ListFollowsResponse", self._call("ListFollows", {
            "status": status,
            "pageSize": pageSize,
            "pageToken": pageToken,
        }))

    def create_follow(
        self,
        *,
        leader: str,
        allocation: str,
        maxLeverage: str | None = None,
        marginMode: MarginMode | None = None,
    ) -> Follow:
        """Follow a leader. POST /api/v1/copy-trading/follows

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_COLLATERAL,
        ALLOCATION_TOO_SMALL, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS,
        USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, COPY_TRADING_OFF, NOT_FOUND, REQUEST_TIMEOUT,
        TOO_MANY_MARGIN_ACCOUNTS, ALREADY_FOLLOWING, CANNOT_FOLLOW, TOO_MANY_FOLLOWS, LEADER_FULL,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OPERATIONS_BLOCKED, OVERLOADED, ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE, DISK_RESERVE, DISK_FULL.
        """
        return cast("Follow", self._call("CreateFollow", {
            "leader": leader,
            "allocation": allocation,
            "maxLeverage": maxLeverage,
            "marginMode": marginMode,
        }))

    def close_all_follow_positions(self) -> CloseAllFollowPositionsResponse:
        """Close the positions of all follows. POST /api/v1/copy-trading/follows/close-positions

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, ENGINE_UNAVAILABLE.
        """
        return cast("CloseAllFollowPositionsResponse", self._call("CloseAllFollowPositions", {}))

    def update_follow(
        self,
        *,
        followId: str,
        status: LiveFollowStatus | None = None,
        allocation: str | None = None,
    ) -> Follow:
        """Change a follow. PATCH /api/v1/copy-trading/follows/{followId}

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_COLLATERAL,
        ALLOCATION_TOO_SMALL, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS,
        USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, COPY_TRADING_OFF, NOT_FOUND, REQUEST_TIMEOUT, FOLLOW_STOPPING,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OVERLOADED, ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("Follow", self._call("UpdateFollow", {
            "followId": followId,
            "status": status,
            "allocation": allocation,
        }))

    def close_follow_positions(
        self,
        *,
        followId: str,
    ) -> ClosedFollow:
        """Close the positions of a follow. POST /api/v1/copy-trading/follows/{followId}/close-positions

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND, FOLLOW_STOPPING,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OVERLOADED, ENGINE_UNAVAILABLE, DISK_FULL.
        """
        return cast("ClosedFollow", self._call("CloseFollowPositions", {
            "followId": followId,
        }))

    def stop_follow(
        self,
        *,
        followId: str,
    ) -> StopFollowResponse:
        """Stop a follow. POST /api/v1/copy-trading/follows/{followId}/stop

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OVERLOADED,
        SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("StopFollowResponse", self._call("StopFollow", {
            "followId": followId,
        }))

    def list_leaders(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        clientId: str | None = None,
    ) -> ListLeadersResponse:
        """Leaders. GET /api/v1/copy-trading/leaders

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL, ENGINE_UNAVAILABLE.
        """
        return cast("ListLeadersResponse", self._call("ListLeaders", {
            "page": page,
            "pageSize": pageSize,
            "clientId": clientId,
        }))

    def register_leader(
        self,
        *,
        handle: str,
    ) -> Leader:
        """Take a handle. PUT /api/v1/copy-trading/leaders/me

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, COPY_TRADING_OFF,
        NOT_FOUND, REQUEST_TIMEOUT, HANDLE_TAKEN, HANDLE_CHANGE_TOO_SOON, ALREADY_LEADER, TOO_MANY_LEADERS,
        CANNOT_LEAD, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND,
        INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("Leader", self._call("RegisterLeader", {
            "handle": handle,
        }))

    def release_leader(self) -> ReleaseLeaderResponse:
        """Give the handle back. DELETE /api/v1/copy-trading/leaders/me

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OVERLOADED, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("ReleaseLeaderResponse", self._call("ReleaseLeader", {}))

    def list_my_followers(
        self,
        *,
        pageSize: int | None = None,
        pageToken: str | None = None,
    ) -> ListMyFollowersResponse:
        """Who follows the caller. GET /api/v1/copy-trading/leaders/me/followers

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("ListMyFollowersResponse", self._call("ListMyFollowers", {
            "pageSize": pageSize,
            "pageToken": pageToken,
        }))

    def list_leader_positions(
        self,
        *,
        leader: str,
    ) -> ListLeaderPositionsResponse:
        """Positions of a leader. GET /api/v1/copy-trading/leaders/{leader}/positions

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("ListLeaderPositionsResponse", self._call("ListLeaderPositions", {
            "leader": leader,
        }))

    def initiate_withdrawal(
        self,
        *,
        assetId: str,
        amount: str,
        destination: str | None = None,
        idempotencyKey: str | None = None,
    ) -> Withdrawal:
        """Withdraw. POST /api/v1/withdrawals

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_BALANCE,
        WITHDRAWAL_TOO_SMALL, WITHDRAWAL_LIMIT, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, MASTER_ONLY, NOT_FOUND, REQUEST_TIMEOUT,
        IDEMPOTENCY_KEY_CONFLICT, TOO_MANY_WITHDRAWALS, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED,
        TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED, ORDER_SUBMISSION_CAPACITY_EXCEEDED,
        ORDER_SUBMISSION_UNAVAILABLE, WITHDRAWALS_STOPPED, OVERLOADED, SERVICE_UNAVAILABLE, DISK_RESERVE,
        HISTORY_UNAVAILABLE, DISK_FULL, CHAIN_UNAVAILABLE.
        """
        return cast("Withdrawal", self._call("InitiateWithdrawal", {
            "assetId": assetId,
            "amount": amount,
            "destination": destination,
            "idempotencyKey": idempotencyKey,
        }))

    def list_pending_withdrawals(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        pageToken: str | None = None,
    ) -> ListPendingWithdrawalsResponse:
        """Withdrawals under way. GET /api/v1/withdrawals/pending

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("ListPendingWithdrawalsResponse", self._call("ListPendingWithdrawals", {
            "page": page,
            "pageSize": pageSize,
            "pageToken": pageToken,
        }))

    def get_withdrawal(
        self,
        *,
        withdrawalId: str,
    ) -> Withdrawal:
        """One withdrawal. GET /api/v1/withdrawals/{withdrawalId}

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, HISTORY_UNAVAILABLE.
        """
        return cast("Withdrawal", self._call("GetWithdrawal", {
            "withdrawalId": withdrawalId,
        }))

    def get_withdrawal_calldata(
        self,
        *,
        withdrawalId: str,
    ) -> GetWithdrawalCalldataResponse:
        """Calldata of a withdrawal. GET /api/v1/withdrawals/{withdrawalId}/calldata

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND, WITHDRAWAL_STATUS,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, WITHDRAWALS_STOPPED, OVERLOADED,
        HISTORY_UNAVAILABLE, CHAIN_UNAVAILABLE.
        """
        return cast("GetWithdrawalCalldataResponse", self._call("GetWithdrawalCalldata", {
            "withdrawalId": withdrawalId,
        }))

    def get_faucet_info(self) -> GetFaucetInfoResponse:
        """Faucet allowance. GET /api/v1/faucet/info

        Signed by the session. May be repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL,
        OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("GetFaucetInfoResponse", self._call("GetFaucetInfo", {}))

    def mint(
        self,
        *,
        assetId: str | None = None,
    ) -> MintResponse:
        """Take test funds. POST /api/v1/faucet/mint

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, FAUCET_ASSET, UNAUTHENTICATED,
        INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED,
        NOT_FOUND, REQUEST_TIMEOUT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, FAUCET_LIMIT,
        TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED, OVERLOADED, SERVICE_UNAVAILABLE,
        DISK_RESERVE, DISK_FULL.
        """
        return cast("MintResponse", self._call("Mint", {
            "assetId": assetId,
        }))

    def list_delegated_agents(self) -> ListDelegatedAgentsResponse:
        """Delegated agents. GET /api/v1/delegated-agents

        Signed by the session. May be repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("ListDelegatedAgentsResponse", self._call("ListDelegatedAgents", {}))

    def upsert_delegated_agent(
        self,
        *,
        agentAddress: str,
        allowedActions: list[AgentAction],
        allowedTradingPairIds: list[str],
        name: str | None = None,
        expiresAt: str | None = None,
        allowedOrderTypes: list[OrderType] | None = None,
        allowedTimeInForce: list[TimeInForce] | None = None,
        allowedMarginAccountIds: list[str] | None = None,
        noMarginAccounts: bool | None = None,
        maxLeverage: str | None = None,
        maxOrderNotional: str | None = None,
        maxOpenOrders: int | None = None,
    ) -> DelegatedAgent:
        """Let a wallet trade for you. POST /api/v1/delegated-agents

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND,
        REQUEST_TIMEOUT, TOO_MANY_AGENTS, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED,
        TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED, OVERLOADED, ENGINE_UNAVAILABLE,
        SERVICE_UNAVAILABLE, DISK_RESERVE, DISK_FULL.
        """
        return cast("DelegatedAgent", self._call("UpsertDelegatedAgent", {
            "agentAddress": agentAddress,
            "allowedActions": allowedActions,
            "allowedTradingPairIds": allowedTradingPairIds,
            "name": name,
            "expiresAt": expiresAt,
            "allowedOrderTypes": allowedOrderTypes,
            "allowedTimeInForce": allowedTimeInForce,
            "allowedMarginAccountIds": allowedMarginAccountIds,
            "noMarginAccounts": noMarginAccounts,
            "maxLeverage": maxLeverage,
            "maxOrderNotional": maxOrderNotional,
            "maxOpenOrders": maxOpenOrders,
        }))

    def create_delegated_session(
        self,
        *,
        agentAddress: str,
        ownerAddress: str,
        sessionPublicKey: str,
        nonce: str,
        signature: str,
        sessionSignature: str | None = None,
        clientId: str | None = None,
        chainId: int | str | None = None,
    ) -> CreateDelegatedSessionResponse:
        """Open a session as an agent. POST /api/v1/delegated-agents/sessions

        Needs no session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        MIXED_CREDENTIALS, NONCE_INVALID, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND, REQUEST_TIMEOUT,
        SESSION_KEY_IN_USE, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT,
        INVALID_COMMAND, INTERNAL, OVERLOADED, SERVICE_UNAVAILABLE, VERIFICATION_UNAVAILABLE, DISK_FULL.
        """
        return cast("CreateDelegatedSessionResponse", self._call("CreateDelegatedSession", {
            "agentAddress": agentAddress,
            "ownerAddress": ownerAddress,
            "sessionPublicKey": sessionPublicKey,
            "nonce": nonce,
            "signature": signature,
            "sessionSignature": sessionSignature,
            "clientId": clientId,
            "chainId": chainId,
        }))

    def get_delegated_agent(
        self,
        *,
        agentId: str,
    ) -> DelegatedAgent:
        """One delegated agent. GET /api/v1/delegated-agents/{agentId}

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("DelegatedAgent", self._call("GetDelegatedAgent", {
            "agentId": agentId,
        }))

    def revoke_delegated_agent(
        self,
        *,
        agentId: str,
    ) -> RevokeDelegatedAgentResponse:
        """Revoke a delegated agent. DELETE /api/v1/delegated-agents/{agentId}

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW,
        SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND, LENGTH_REQUIRED,
        BODY_TOO_LARGE, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED, OVERLOADED,
        SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("RevokeDelegatedAgentResponse", self._call("RevokeDelegatedAgent", {
            "agentId": agentId,
        }))

    def set_builder_fee(
        self,
        *,
        bps: int,
        makerBps: int | None | None = None,
    ) -> SetBuilderFeeResponse:
        """What your application adds to the fees of its users. PUT /api/v1/buildercodes/builder-fee

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, BUILDER_FEE_ABOVE_CAP,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        AGENT_NOT_ALLOWED, NOT_PAYOUT_WALLET, BUILDER_FEES_OFF, REQUEST_TIMEOUT, NOT_ENROLLED,
        NO_FEE_CHANGES_LEFT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT,
        INVALID_COMMAND, INTERNAL, OVERLOADED, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("SetBuilderFeeResponse", self._call("SetBuilderFee", {
            "bps": bps,
            "makerBps": makerBps,
        }))

    def get_buildercodes_config(
        self,
        *,
        clientId: str | None = None,
    ) -> GetBuildercodesConfigResponse:
        """The builder-codes program, and an application in it. GET /api/v1/buildercodes/config

        Needs no session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        NOT_FOUND, LENGTH_REQUIRED, BODY_TOO_LARGE, INTERNAL, ENGINE_UNAVAILABLE.
        """
        return cast("GetBuildercodesConfigResponse", self._call("GetBuildercodesConfig", {
            "clientId": clientId,
        }))

    def get_referral_position(self) -> GetReferralPositionResponse:
        """The caller in the referral program. GET /api/v1/refprog/referrals/me

        Signed by the session. May be repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL,
        OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("GetReferralPositionResponse", self._call("GetReferralPosition", {}))

    def get_referral_downline(self) -> GetReferralDownlineResponse:
        """Whom the caller brought. GET /api/v1/refprog/referrals/me/downline

        Signed by the session. May be repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL,
        OVERLOADED, ENGINE_UNAVAILABLE, HISTORY_UNAVAILABLE.
        """
        return cast("GetReferralDownlineResponse", self._call("GetReferralDownline", {}))

    def get_rewards_balance(self) -> GetRewardsBalanceResponse:
        """Rewards of the caller. GET /api/v1/refprog/rewards/balance

        Signed by the session. May be repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL,
        OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("GetRewardsBalanceResponse", self._call("GetRewardsBalance", {}))

    def transfer_rewards(
        self,
        *,
        token: str,
        amount: str,
        idempotencyKey: str | None = None,
    ) -> TransferRewardsResponse:
        """Move rewards to the balance. POST /api/v1/refprog/rewards/transfer

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INSUFFICIENT_BALANCE, UNAUTHENTICATED,
        INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED,
        NOT_FOUND, REQUEST_TIMEOUT, IDEMPOTENCY_KEY_CONFLICT, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED,
        ORDER_SUBMISSION_CAPACITY_EXCEEDED, ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, SERVICE_UNAVAILABLE,
        DISK_RESERVE, DISK_FULL.
        """
        return cast("TransferRewardsResponse", self._call("TransferRewards", {
            "token": token,
            "amount": amount,
            "idempotencyKey": idempotencyKey,
        }))

    def list_application_balances(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        userId: str | None = None,
        token: str | None = None,
    ) -> ListApplicationBalancesResponse:
        """Balances of the users of the application. GET /api/v1/applications/balances

        For backends, with their server key. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("ListApplicationBalancesResponse", self._call("ListApplicationBalances", {
            "page": page,
            "pageSize": pageSize,
            "userId": userId,
            "token": token,
        }))

    def get_application_config(self) -> GetApplicationConfigResponse:
        """The application itself. GET /api/v1/applications/config

        For backends, with their server key. May be repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED,
        BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("GetApplicationConfigResponse", self._call("GetApplicationConfig", {}))

    def list_application_movements(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        userId: str | None = None,
        entryType: EntryType | None = None,
        transactionType: TransactionType | None = None,
        token: str | None = None,
    ) -> ListApplicationMovementsResponse:
        """Movements of all users. GET /api/v1/applications/movements

        For backends, with their server key. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, HISTORY_UNAVAILABLE.
        """
        return cast("ListApplicationMovementsResponse", self._call("ListApplicationMovements", {
            "page": page,
            "pageSize": pageSize,
            "userId": userId,
            "entryType": entryType,
            "transactionType": transactionType,
            "token": token,
        }))

    def list_application_orders(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        status: list[OrderStatus] | None = None,
        tradingPairId: str | None = None,
        userId: str | None = None,
        side: Side | None = None,
        orderType: OrderType | None = None,
    ) -> ListApplicationOrdersResponse:
        """Orders of all users. GET /api/v1/applications/orders

        For backends, with their server key. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, HISTORY_UNAVAILABLE.
        """
        return cast("ListApplicationOrdersResponse", self._call("ListApplicationOrders", {
            "page": page,
            "pageSize": pageSize,
            "status": status,
            "tradingPairId": tradingPairId,
            "userId": userId,
            "side": side,
            "orderType": orderType,
        }))

    def get_application_stats(
        self,
        *,
        since: str | None = None,
    ) -> GetApplicationStatsResponse:
        """What the users traded. GET /api/v1/applications/stats

        For backends, with their server key. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, HISTORY_UNAVAILABLE.
        """
        return cast("GetApplicationStatsResponse", self._call("GetApplicationStats", {
            "since": since,
        }))

    def list_application_users(
        self,
        *,
        page: int | None = None,
        pageSize: int | None = None,
        isActive: bool | None = None,
        accountType: Literal["master", "sub"] | None = None,
        address: str | None = None,
    ) -> ListApplicationUsersResponse:
        """Users of the application. GET /api/v1/applications/users

        For backends, with their server key. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED, ENGINE_UNAVAILABLE.
        """
        return cast("ListApplicationUsersResponse", self._call("ListApplicationUsers", {
            "page": page,
            "pageSize": pageSize,
            "isActive": isActive,
            "accountType": accountType,
            "address": address,
        }))

    def check(self) -> CheckResponse:
        """Health. GET /api/v1/health

        Needs no session. May be repeated.

        Refused with MALFORMED_REQUEST, UNAUTHENTICATED, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, LENGTH_REQUIRED,
        BODY_TOO_LARGE, INTERNAL.
        """
        return cast("CheckResponse", self._call("Check", {}))

    def claim_lease(
        self,
        *,
        launchId: str,
        ownerId: str,
        expectedGeneration: str,
    ) -> ClaimLeaseResponse:
        """Claim or renew the lease of a maker. POST /api/v1/managed-markets/{launchId}/lease

        Signed by the session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, PERMISSION_DENIED,
        NOT_FOUND, REQUEST_TIMEOUT, LEASE_CONFLICT, LAUNCH_ENDED, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OVERLOADED, SERVICE_UNAVAILABLE,
        DISK_FULL.
        """
        return cast("ClaimLeaseResponse", self._call("ClaimLease", {
            "launchId": launchId,
            "ownerId": ownerId,
            "expectedGeneration": expectedGeneration,
        }))

    def submit_application(
        self,
        *,
        walletAddress: str,
        email: str,
        twitterUsername: str,
        telegramUsername: str,
    ) -> SubmitApplicationResponse:
        """Ask to be whitelisted (closed). POST /api/v1/whitelist

        Needs no session. Without an answer it may have happened: look before it is repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, MIXED_CREDENTIALS,
        USER_AGENT_REQUIRED, PERMISSION_DENIED, REQUEST_TIMEOUT, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, INTERNAL, OVERLOADED.
        """
        return cast("SubmitApplicationResponse", self._call("SubmitApplication", {
            "walletAddress": walletAddress,
            "email": email,
            "twitterUsername": twitterUsername,
            "telegramUsername": telegramUsername,
        }))


class OrderOperations:
    """Operations of order entry, over a socket."""

    def _call(self, name: str, fields: dict[str, Any]) -> Any:
        raise NotImplementedError

    def create_order(
        self,
        *,
        tradingPairId: str,
        orderType: OrderType,
        side: Side,
        quantity: Amount,
        price: Amount | None = None,
        tradingMode: TradingMode | None = None,
        slippageToleranceBps: int | None = None,
        useMasterBalance: bool | None = None,
        expirationDate: str | None = None,
        timeInForce: TimeInForce | None = None,
        marginAccountId: str | None = None,
        riskBucketId: str | None = None,
        riskBucketCollateral: Amount | None = None,
        positionSide: Literal["LONG", "SHORT"] | None = None,
        leverage: Amount | None = None,
        reduceOnly: bool | None = None,
        strategyKey: str | None = None,
        marginMode: MarginMode | None = None,
        postOnly: bool | None = None,
        clientOrderId: str | None = None,
        idempotencyKey: str | None = None,
        selfTradePreventionMode: Literal["CANCEL_TAKER", "CANCEL_BOTH"] | None = None,
        returnFills: bool | None = None,
        trailingStop: TrailingStopLeg | None = None,
        takeProfit: TpSlLeg | None = None,
        stopLoss: TpSlLeg | None = None,
    ) -> CreateOrderResponse:
        """Place an order. POST /api/v1/orders

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INVALID_TICK, INVALID_LOT,
        INVALID_EXPIRATION, PAIR_NOT_ACTIVE, TOO_MANY_OPEN_ORDERS, NOT_SUB_ACCOUNT, INSUFFICIENT_BALANCE,
        BELOW_MIN_NOTIONAL, BELOW_MIN_ORDER_SIZE, ABOVE_MAX_ORDER_SIZE, SUB_ACCOUNT_LIMIT_EXCEEDED,
        INSUFFICIENT_MARGIN, LEVERAGE_TOO_HIGH, LEVERAGE_TOO_LOW, REDUCE_ONLY_REJECTED, POSITION_LIMIT_EXCEEDED,
        OPEN_INTEREST_LIMIT, PRICE_STALE, PAIR_REDUCE_ONLY, WRONG_TRADING_MODE, MASTER_BALANCE_NOT_ALLOWED,
        RISK_BUCKET_MISMATCH, TOO_MANY_REDUCE_ONLY, INVALID_TRIGGER_PRICE, POST_ONLY_WOULD_CROSS,
        SELF_TRADE_NOT_ALLOWED, UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID,
        MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, STRATEGY_KEY_UNKNOWN, NOT_FOUND,
        REQUEST_TIMEOUT, IDEMPOTENCY_KEY_CONFLICT, CLIENT_ORDER_ID_CONFLICT, RISK_BUCKET_IN_LIQUIDATION,
        TOO_MANY_MARGIN_ACCOUNTS, TOO_MANY_RISK_BUCKETS, TOO_MANY_POSITIONS, WRONG_PERP_MODE,
        TRAILING_STOP_EXISTS, TOO_MANY_CONDITIONAL_ORDERS, LEASE_LOST, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED,
        ORDER_SUBMISSION_CAPACITY_EXCEEDED, ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, SERVICE_UNAVAILABLE,
        DISK_RESERVE, DISK_FULL.
        """
        return cast("CreateOrderResponse", self._call("CreateOrder", {
            "tradingPairId": tradingPairId,
            "orderType": orderType,
            "side": side,
            "quantity": quantity,
            "price": price,
            "tradingMode": tradingMode,
            "slippageToleranceBps": slippageToleranceBps,
            "useMasterBalance": useMasterBalance,
            "expirationDate": expirationDate,
            "timeInForce": timeInForce,
            "marginAccountId": marginAccountId,
            "riskBucketId": riskBucketId,
            "riskBucketCollateral": riskBucketCollateral,
            "positionSide": positionSide,
            "leverage": leverage,
            "reduceOnly": reduceOnly,
            "strategyKey": strategyKey,
            "marginMode": marginMode,
            "postOnly": postOnly,
            "clientOrderId": clientOrderId,
            "idempotencyKey": idempotencyKey,
            "selfTradePreventionMode": selfTradePreventionMode,
            "returnFills": returnFills,
            "trailingStop": trailingStop,
            "takeProfit": takeProfit,
            "stopLoss": stopLoss,
        }))

    def batch_cancel_orders(
        self,
        *,
        orderIds: list[str],
    ) -> BatchCancelOrdersResponse:
        """Cancel up to 100 orders. POST /api/v1/orders/batch-cancel

        Signed by the session. May be repeated, unless `client:` names an order: by then it may be another one.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, REQUEST_TIMEOUT,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OVERLOADED, DISK_FULL.
        """
        return cast("BatchCancelOrdersResponse", self._call("BatchCancelOrders", {
            "orderIds": orderIds,
        }))

    def batch_cancel_all_orders(
        self,
        *,
        afterMs: int | None = None,
    ) -> BatchCancelAllOrdersResponse:
        """Cancel all orders. POST /api/v1/orders/batch-cancel-all

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, REQUEST_TIMEOUT,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OVERLOADED, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("BatchCancelAllOrdersResponse", self._call("BatchCancelAllOrders", {
            "afterMs": afterMs,
        }))

    def batch_cancel_orders_by_pair(
        self,
        *,
        tradingPairId: str,
    ) -> BatchCancelOrdersByPairResponse:
        """Cancel all orders of a pair. POST /api/v1/orders/batch-cancel-by-pair

        Signed by the session. May be repeated.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, NOT_FOUND,
        REQUEST_TIMEOUT, LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT,
        INVALID_COMMAND, INTERNAL, OVERLOADED, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("BatchCancelOrdersByPairResponse", self._call("BatchCancelOrdersByPair", {
            "tradingPairId": tradingPairId,
        }))

    def batch_create_orders(
        self,
        *,
        orders: list[OrderItem],
    ) -> BatchCreateOrdersResponse:
        """Place up to 100 orders. POST /api/v1/orders/batch-create

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, REQUEST_TIMEOUT,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OPERATIONS_BLOCKED, OVERLOADED, DISK_RESERVE, DISK_FULL.
        """
        return cast("BatchCreateOrdersResponse", self._call("BatchCreateOrders", {
            "orders": orders,
        }))

    def batch_replace_orders(
        self,
        *,
        orders: list[ReplaceElement],
    ) -> BatchReplaceOrdersResponse:
        """Replace up to 100 orders. POST /api/v1/orders/batch-replace

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, REQUEST_TIMEOUT,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OPERATIONS_BLOCKED, OVERLOADED, DISK_RESERVE, DISK_FULL.
        """
        return cast("BatchReplaceOrdersResponse", self._call("BatchReplaceOrders", {
            "orders": orders,
        }))

    def replace_order(
        self,
        *,
        orderId: str,
        price: Amount | None = None,
        quantity: Amount | None = None,
        useMasterBalance: bool | None = None,
        clientOrderId: str | None = None,
        idempotencyKey: str | None = None,
        postOnly: bool | None = None,
        slippageToleranceBps: int | None = None,
        selfTradePreventionMode: Literal["CANCEL_TAKER", "CANCEL_BOTH"] | None = None,
        returnFills: bool | None = None,
    ) -> ReplaceOrderResponse:
        """Replace an order. PUT /api/v1/orders/{orderId}

        Signed by the session. May be repeated with the same idempotency key only.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, BODY_TOO_COMPLEX, INVALID_TICK, INVALID_LOT,
        INVALID_EXPIRATION, PAIR_NOT_ACTIVE, TOO_MANY_OPEN_ORDERS, NOT_SUB_ACCOUNT, INSUFFICIENT_BALANCE,
        BELOW_MIN_NOTIONAL, BELOW_MIN_ORDER_SIZE, ABOVE_MAX_ORDER_SIZE, SUB_ACCOUNT_LIMIT_EXCEEDED,
        INSUFFICIENT_MARGIN, LEVERAGE_TOO_HIGH, LEVERAGE_TOO_LOW, REDUCE_ONLY_REJECTED, POSITION_LIMIT_EXCEEDED,
        OPEN_INTEREST_LIMIT, PRICE_STALE, PAIR_REDUCE_ONLY, WRONG_TRADING_MODE, MASTER_BALANCE_NOT_ALLOWED,
        RISK_BUCKET_MISMATCH, TOO_MANY_REDUCE_ONLY, POST_ONLY_WOULD_CROSS, SELF_TRADE_NOT_ALLOWED,
        UNAUTHENTICATED, INVALID_SIGNATURE, CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED,
        AGENT_NOT_ALLOWED, STRATEGY_KEY_UNKNOWN, ORDER_NOT_FOUND, NOT_FOUND, REQUEST_TIMEOUT,
        IDEMPOTENCY_KEY_CONFLICT, CLIENT_ORDER_ID_CONFLICT, RISK_BUCKET_IN_LIQUIDATION, TOO_MANY_MARGIN_ACCOUNTS,
        TOO_MANY_RISK_BUCKETS, TOO_MANY_POSITIONS, WRONG_PERP_MODE, LEASE_LOST, LENGTH_REQUIRED, BODY_TOO_LARGE,
        RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL, OPERATIONS_BLOCKED,
        ORDER_SUBMISSION_CAPACITY_EXCEEDED, ORDER_SUBMISSION_UNAVAILABLE, OVERLOADED, SERVICE_UNAVAILABLE,
        DISK_RESERVE, DISK_FULL.
        """
        return cast("ReplaceOrderResponse", self._call("ReplaceOrder", {
            "orderId": orderId,
            "price": price,
            "quantity": quantity,
            "useMasterBalance": useMasterBalance,
            "clientOrderId": clientOrderId,
            "idempotencyKey": idempotencyKey,
            "postOnly": postOnly,
            "slippageToleranceBps": slippageToleranceBps,
            "selfTradePreventionMode": selfTradePreventionMode,
            "returnFills": returnFills,
        }))

    def cancel_order(
        self,
        *,
        orderId: str,
    ) -> CancelOrderResponse:
        """Cancel an order. DELETE /api/v1/orders/{orderId}

        Signed by the session. May be repeated, unless `client:` names an order: by then it may be another one.

        Refused with VALIDATION_ERROR, MALFORMED_REQUEST, PAIR_NOT_ACTIVE, UNAUTHENTICATED, INVALID_SIGNATURE,
        CLOCK_SKEW, SESSION_INVALID, MIXED_CREDENTIALS, USER_AGENT_REQUIRED, AGENT_NOT_ALLOWED, ORDER_NOT_FOUND,
        LENGTH_REQUIRED, BODY_TOO_LARGE, RATE_LIMIT_EXCEEDED, TOO_MANY_IN_FLIGHT, INVALID_COMMAND, INTERNAL,
        OVERLOADED, SERVICE_UNAVAILABLE, DISK_FULL.
        """
        return cast("CancelOrderResponse", self._call("CancelOrder", {
            "orderId": orderId,
        }))


class Channels:
    """Every channel, each as a stream of its frames."""

    def _listen(self, channel: str, params: dict[str, Any]) -> Stream[Any]:
        raise NotImplementedError

    def instruments(self) -> Stream[InstrumentsFrame]:
        """The trading pairs and what they allow."""
        return cast("Stream[InstrumentsFrame]", self._listen("instruments", {}))

    def market_stats(self, *, tradingPairId: str | None = None) -> Stream[MarketStatsFrame]:
        """What pairs traded in 24 hours, and prices, funding and open interest of perpetuals: one pair or all of
        them."""
        return cast("Stream[MarketStatsFrame]", self._listen("market_stats", {
            "tradingPairId": tradingPairId,
        }))

    def ohlcv(self, *, tradingPairId: str, interval: CandleInterval) -> Stream[OhlcvFrame]:
        """The candles of a pair."""
        return cast("Stream[OhlcvFrame]", self._listen("ohlcv", {
            "tradingPairId": tradingPairId,
            "interval": interval,
        }))

    def orderbook(self, *, tradingPairId: str, magnitude: int | None = None) -> Stream[OrderbookFrame]:
        """The best levels of both sides of a book, grouped by `magnitude` ticks."""
        return cast("Stream[OrderbookFrame]", self._listen("orderbook", {
            "tradingPairId": tradingPairId,
            "magnitude": magnitude,
        }))

    def trades(self, *, tradingPairId: str) -> Stream[TradesFrame]:
        """The trades of a pair, oldest first, without who made them."""
        return cast("Stream[TradesFrame]", self._listen("trades", {
            "tradingPairId": tradingPairId,
        }))

    def account(self, *, marginAccountId: str | None = None) -> Stream[AccountFrame]:
        """The health of the margin accounts of the account, of all or of one. Needs a session."""
        return cast("Stream[AccountFrame]", self._listen("account", {
            "marginAccountId": marginAccountId,
        }))

    def balances(self) -> Stream[BalancesFrame]:
        """The balances of the account. Needs a session."""
        return cast("Stream[BalancesFrame]", self._listen("balances", {}))

    def conditional_orders(self) -> Stream[ConditionalOrdersFrame]:
        """The conditional orders of the account: take-profit, stop-loss and trailing stop. Needs a session."""
        return cast("Stream[ConditionalOrdersFrame]", self._listen("conditionalOrders", {}))

    def liquidations(self) -> Stream[LiquidationsFrame]:
        """Liquidations of the risk buckets of the account. Needs a session."""
        return cast("Stream[LiquidationsFrame]", self._listen("liquidations", {}))

    def orders(self, *, tradingPairId: str | None = None) -> Stream[OrdersFrame]:
        """What happens to the orders of the account, of all pairs or of one. Needs a session."""
        return cast("Stream[OrdersFrame]", self._listen("orders", {
            "tradingPairId": tradingPairId,
        }))

    def positions(self) -> Stream[PositionsFrame]:
        """The positions of the account. Needs a session."""
        return cast("Stream[PositionsFrame]", self._listen("positions", {}))

    def twap_orders(self, *, tradingPairId: str | None = None) -> Stream[TwapOrdersFrame]:
        """The TWAP orders of the account, of all pairs or of one. Needs a session."""
        return cast("Stream[TwapOrdersFrame]", self._listen("twapOrders", {
            "tradingPairId": tradingPairId,
        }))
