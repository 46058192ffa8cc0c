"""Operations, refusals, channels and messages. Made by gateway/client/python/generate from the documents of the
service: do not edit."""

from __future__ import annotations

from typing import NamedTuple


class Operation(NamedTuple):
    """An operation of the service."""
    name: str
    method: str
    path: str
    #: public, session or server-key.
    access: str
    #: Whether sending it twice is as good as once: always, with-key, or never known.
    repeat: str


OPERATIONS = {row[0]: Operation(*row) for row in (
    ("Challenge", "POST", "/api/v1/auth/challenge", "public", "always"),
    ("Refresh", "POST", "/api/v1/auth/refresh", "session", "always"),
    ("Revoke", "POST", "/api/v1/auth/revoke", "session", "never"),
    ("Verify", "POST", "/api/v1/auth/verify", "public", "never"),
    ("ListBalances", "GET", "/api/v1/accounts/balances", "session", "always"),
    ("GetBalance", "GET", "/api/v1/accounts/balances/{assetId}", "session", "always"),
    ("GetProfile", "GET", "/api/v1/accounts/me", "session", "always"),
    ("ListMovements", "GET", "/api/v1/accounts/movements", "session", "always"),
    ("GetPortfolio", "GET", "/api/v1/accounts/portfolio", "session", "always"),
    ("ListSubAccounts", "GET", "/api/v1/accounts/sub-accounts", "session", "always"),
    ("CreateSubAccount", "POST", "/api/v1/accounts/sub-accounts", "session", "never"),
    ("CreateSubAccountLimit", "POST", "/api/v1/accounts/sub-accounts/limits", "session", "never"),
    ("TransferSubAccountBalance", "POST", "/api/v1/accounts/sub-accounts/transfer", "session", "with-key"),
    ("ListSubAccountLimits", "GET", "/api/v1/accounts/sub-accounts/{subAccountId}/limits", "session", "always"),
    ("UpdateSubAccountLimit", "PUT", "/api/v1/accounts/sub-accounts/{subAccountId}/limits/{assetId}",
     "session", "never"),
    ("DeleteSubAccountLimit", "DELETE", "/api/v1/accounts/sub-accounts/{subAccountId}/limits/{assetId}",
     "session", "never"),
    ("ListAccountTrades", "GET", "/api/v1/accounts/trades", "session", "always"),
    ("ListOrders", "GET", "/api/v1/orders", "session", "always"),
    ("CreateOrder", "POST", "/api/v1/orders", "session", "with-key"),
    ("BatchCancelOrders", "POST", "/api/v1/orders/batch-cancel", "session", "always"),
    ("BatchCancelAllOrders", "POST", "/api/v1/orders/batch-cancel-all", "session", "always"),
    ("BatchCancelOrdersByPair", "POST", "/api/v1/orders/batch-cancel-by-pair", "session", "always"),
    ("BatchCreateOrders", "POST", "/api/v1/orders/batch-create", "session", "with-key"),
    ("BatchReplaceOrders", "POST", "/api/v1/orders/batch-replace", "session", "with-key"),
    ("GetOrder", "GET", "/api/v1/orders/{orderId}", "session", "always"),
    ("ReplaceOrder", "PUT", "/api/v1/orders/{orderId}", "session", "with-key"),
    ("CancelOrder", "DELETE", "/api/v1/orders/{orderId}", "session", "always"),
    ("ListTradingPairs", "GET", "/api/v1/market/pairs", "public", "always"),
    ("GetTradingPair", "GET", "/api/v1/market/pairs/{tradingPairId}", "public", "always"),
    ("GetCandles", "GET", "/api/v1/market/pairs/{tradingPairId}/candles", "public", "always"),
    ("GetMarketMetadata", "GET", "/api/v1/market/pairs/{tradingPairId}/metadata", "public", "always"),
    ("GetScreener", "GET", "/api/v1/market/screener", "public", "always"),
    ("GetServerTime", "GET", "/api/v1/time", "public", "always"),
    ("GetOrderbook", "GET", "/api/v1/orderbook/{tradingPairId}", "public", "always"),
    ("ListTrades", "GET", "/api/v1/trades", "public", "always"),
    ("GetTrade", "GET", "/api/v1/trades/{tradeId}", "public", "always"),
    ("SimulateFees", "POST", "/api/v1/fees/simulate", "session", "always"),
    ("GetFaucetInfo", "GET", "/api/v1/faucet/info", "session", "always"),
    ("Mint", "POST", "/api/v1/faucet/mint", "session", "never"),
    ("ListDelegatedAgents", "GET", "/api/v1/delegated-agents", "session", "always"),
    ("UpsertDelegatedAgent", "POST", "/api/v1/delegated-agents", "session", "never"),
    ("CreateDelegatedSession", "POST", "/api/v1/delegated-agents/sessions", "public", "never"),
    ("GetDelegatedAgent", "GET", "/api/v1/delegated-agents/{agentId}", "session", "always"),
    ("RevokeDelegatedAgent", "DELETE", "/api/v1/delegated-agents/{agentId}", "session", "never"),
    ("ListApplicationBalances", "GET", "/api/v1/applications/balances", "server-key", "always"),
    ("GetApplicationConfig", "GET", "/api/v1/applications/config", "server-key", "always"),
    ("ListApplicationMovements", "GET", "/api/v1/applications/movements", "server-key", "always"),
    ("ListApplicationOrders", "GET", "/api/v1/applications/orders", "server-key", "always"),
    ("GetApplicationStats", "GET", "/api/v1/applications/stats", "server-key", "always"),
    ("ListApplicationUsers", "GET", "/api/v1/applications/users", "server-key", "always"),
    ("Check", "GET", "/api/v1/health", "public", "always"),
)}

#: Retry class of every code that the service refuses with.
RETRY = {
    "USER_AGENT_REQUIRED": "no",
    "UNAUTHENTICATED": "reauthenticate",
    "MIXED_CREDENTIALS": "reauthenticate",
    "VALIDATION_ERROR": "no",
    "MALFORMED_REQUEST": "no",
    "BODY_TOO_LARGE": "no",
    "LENGTH_REQUIRED": "no",
    "BODY_TOO_COMPLEX": "no",
    "REQUEST_TIMEOUT": "safe",
    "RATE_LIMIT_EXCEEDED": "after",
    "NOT_FOUND": "no",
    "OVERLOADED": "safe",
    "VERIFICATION_UNAVAILABLE": "safe",
    "INTERNAL": "ambiguous",
    "INVALID_SIGNATURE": "reauthenticate",
    "CLOCK_SKEW": "no",
    "SESSION_INVALID": "reauthenticate",
    "TOO_MANY_IN_FLIGHT": "after",
    "SERVICE_UNAVAILABLE": "ambiguous",
    "DISK_FULL": "safe",
    "INVALID_COMMAND": "no",
    "NONCE_INVALID": "reauthenticate",
    "SESSION_KEY_IN_USE": "no",
    "ENGINE_UNAVAILABLE": "safe",
    "HISTORY_UNAVAILABLE": "safe",
    "AGENT_NOT_ALLOWED": "no",
    "MASTER_ONLY": "no",
    "ADDRESS_IN_USE": "no",
    "TOO_MANY_SUB_ACCOUNTS": "no",
    "LIMIT_EXISTS": "no",
    "CONSENT_REQUIRED": "no",
    "OPERATIONS_BLOCKED": "safe",
    "IDEMPOTENCY_KEY_CONFLICT": "no",
    "ORDER_SUBMISSION_CAPACITY_EXCEEDED": "same-key",
    "ORDER_SUBMISSION_UNAVAILABLE": "same-key",
    "INSUFFICIENT_BALANCE": "no",
    "DISK_RESERVE": "safe",
    "INVALID_TICK": "no",
    "INVALID_LOT": "no",
    "INVALID_EXPIRATION": "no",
    "CLIENT_ORDER_ID_CONFLICT": "no",
    "PAIR_NOT_ACTIVE": "no",
    "TOO_MANY_OPEN_ORDERS": "no",
    "NOT_SUB_ACCOUNT": "no",
    "BELOW_MIN_NOTIONAL": "no",
    "BELOW_MIN_ORDER_SIZE": "no",
    "ABOVE_MAX_ORDER_SIZE": "no",
    "SUB_ACCOUNT_LIMIT_EXCEEDED": "no",
    "POST_ONLY_WOULD_CROSS": "no",
    "SELF_TRADE_NOT_ALLOWED": "no",
    "ORDER_NOT_FOUND": "no",
    "FAUCET_LIMIT": "after",
    "FAUCET_ASSET": "no",
    "TOO_MANY_AGENTS": "no",
}

#: Channels, and whether they need a session.
CHANNELS = {
    "orderbook": False,
    "trades": False,
    "ohlcv": False,
    "market_stats": False,
    "instruments": False,
    "orders": True,
    "balances": True,
    "conditionalOrders": True,
    "twapOrders": True,
    "positions": True,
    "account": True,
    "liquidations": True,
}

#: Messages of order entry, by the operation they do.
ORDER_MESSAGES = {
    "CreateOrder": "order.create",
    "CancelOrder": "order.cancel",
    "ReplaceOrder": "order.replace",
    "BatchCreateOrders": "order.batch",
    "BatchReplaceOrders": "order.batch_replace",
    "BatchCancelOrders": "order.batch_cancel",
    "BatchCancelAllOrders": "order.cancel_all",
    "BatchCancelOrdersByPair": "order.cancel_by_pair",
}

#: What a connection of streams or order entry may do, as the service is set up by itself.
LIMITS = {
    "subscriptions": 1024,
    "subscriptionBurst": 1200,
    "connections": 10000,
    "unusedSeconds": 60,
    "connectionsPerAccount": 50,
    "messagesPerSecond": 20,
    "messageBurst": 300,
    "bytesPerSecond": 65536,
    "byteBurst": 524288,
    "messageBytes": 16384,
    "orderBytesPerSecond": 8388608,
    "orderByteBurst": 8388608,
    "orderMessageBytes": 65536,
    "ordersInFlight": 256,
    "signaturesInTurn": 2048,
    "waitingBytes": 1048576,
    "idleSeconds": 60,
}
