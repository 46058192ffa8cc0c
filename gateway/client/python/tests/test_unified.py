"""The verbs of ccxt: what they ask of the service, the shapes they give, and the errors they raise; of both clients."""

from __future__ import annotations

import asyncio
import unittest
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any, Callable, Dict, List, Tuple, cast

from stage import PAIR

from ringbook import AmbiguousError, AsyncClient, Client, NetworkError, NotSentError, RefusedError, ccxt_errors
from ringbook._generated.table import CCXT
from ringbook.shapes import placed_of
from ringbook.unified import AsyncUnified, Unified

TIME = "2026-01-15T09:30:02.125Z"
MS = 1768469402125
MARKET = {
    "id": PAIR, "symbol": "ETH/USDC", "baseAssetId": "e", "quoteAssetId": "u", "isActive": True, "makerFeeBps": "-0.5",
    "takerFeeBps": "5", "lotSize": "0.001", "tickSize": "0.05", "minOrderSize": "0.001", "maxOrderSize": "1000",
    "minNotional": "1", "baseAmountDecimals": 9, "quoteAmountDecimals": 6,
}
ORDER = {
    "orderId": "o", "symbol": "ETH/USDC", "side": "BUY", "orderType": "LIMIT", "status": "PARTIALLY_FILLED",
    "quantity": "2", "filledQuantity": "0.5", "remainingQuantity": "1.5", "averageFillPrice": "100", "price": "101",
    "timeInForce": "GTC", "postOnly": False, "fee": "0.02", "createdAt": TIME, "updatedAt": TIME, "clientOrderId": "c",
}
TRADE = {
    "id": "t", "tradingPairId": PAIR, "price": "100", "quantity": "0.5", "quoteQuantity": "50", "makerSide": "SELL",
    "executedAt": TIME,
}
OWN = {**TRADE, "orderId": "o", "side": "BUY", "role": "taker", "fee": "0.02", "feeToken": "USDC"}
BOOK = {
    "bids": [{"price": "99", "quantity": "1"}], "asks": [], "timestamp": TIME, "sequence": 7, "tradingPairId": PAIR,
}
ANSWERS: Dict[str, Any] = {
    "ListTradingPairs": {"tradingPairs": [MARKET], "totalPages": 1},
    "GetMarketMetadata": {
        "symbol": "ETH/USDC", "lastPrice": "110", "volume24h": "4", "quoteVolume24h": "420", "high24h": "120",
        "low24h": "90", "priceChangePercent24h": "10",
    },
    "GetOrderbook": BOOK,
    "ListTrades": {"trades": [{**TRADE, "id": "newest", "makerSide": "BUY"}, TRADE], "nextPageToken": ""},
    "GetCandles": {"candles": [{"t": 60000, "o": "1", "h": "2", "l": "0.5", "c": "1.5", "v": "7"}]},
    "ListBalances": {
        "balances": [{"symbol": "ETH", "availableBalance": "1", "lockedBalance": "0.5", "totalBalance": "1.5"}],
        "totalPages": 1,
    },
    "CreateOrder": {
        "orderId": "o", "engineTime": TIME,
        "matchResult": {
            "tradesCount": 0, "totalFilled": "0", "remainingQuantity": "1.234", "status": "SUBMITTED",
        },
    },
    "ReplaceOrder": {
        "orderId": "o2", "engineTime": TIME,
        "matchResult": {
            "tradesCount": 2, "totalFilled": "0.3", "remainingQuantity": "0.2", "averageFillPrice": "100.3333333333",
            "status": "PARTIALLY_FILLED", "totalFilledQuote": "30.1", "totalFee": "0.01505", "fills": [
                {"tradeId": "t1", "price": "100", "quantity": "0.2", "fee": "0.01"},
                {"tradeId": "t2", "price": "101", "quantity": "0.1", "fee": "0.00505"},
            ],
        },
    },
    "GetOrder": ORDER,
    "CancelOrder": {"orderId": "o"},
    "BatchCancelAllOrders": {"orderIds": ["a", "b"]},
    "BatchCancelOrdersByPair": {"orderIds": ["a"]},
    "ListOrders": {"orders": [{**ORDER, "orderId": "newest", "status": "CANCELLED"}, ORDER]},
    "ListAccountTrades": {"trades": [OWN]},
    "GetServerTime": {"unixMs": MS},
    "Check": {"status": "degraded", "timestamp": TIME},
}


class Answers:
    """A client that answers what it is told to."""

    def __init__(self) -> None:
        self.asked: List[Tuple[str, Dict[str, Any]]] = []
        self.error: Any = None

    def call(self, name: str, **fields: Any) -> Any:
        self.asked.append((name, {key: value for key, value in fields.items() if value is not None}))
        if self.error is not None:
            raise self.error
        return ANSWERS[name]


class AsyncAnswers(Answers):
    async def call(self, name: str, **fields: Any) -> Any:
        return super().call(name, **fields)


class History(Answers):
    """Trades at these times in ms, listed newest first and in pages, as the service does."""

    def __init__(self, times: List[int]) -> None:
        super().__init__()
        self.trades = [
            {**TRADE, "id": str(i), "executedAt": datetime.fromtimestamp(at / 1000, timezone.utc).isoformat()}
            for i, at in enumerate(times)
        ]
        self.times = times

    def call(self, name: str, **fields: Any) -> Any:
        if name != "ListTrades":
            return super().call(name, **fields)
        self.asked.append((name, fields))
        low, high = int(fields["startTime"] or 0), int(fields["endTime"] or 10 ** 15)
        found = [each for each, at in zip(self.trades, self.times) if low <= at <= high][::-1]
        first = int(fields["pageToken"] or 0)
        after = first + fields["pageSize"]
        token = str(after) if after < len(found) else ""
        return {"trades": found[first:after], "nextPageToken": token}


def both(call: Callable[[Any], Any]) -> Tuple[Any, List[Tuple[str, Dict[str, Any]]]]:
    """What a verb gives and what it asked for, which is the same for both clients."""
    first, second = Answers(), AsyncAnswers()
    given = call(Unified(cast(Client, first)))

    async def run() -> Any:
        return await call(AsyncUnified(cast(AsyncClient, second)))

    if (given, first.asked) != (asyncio.run(run()), second.asked):
        raise AssertionError("the two differ")
    return given, first.asked[1:]


class Verbs(unittest.TestCase):
    maxDiff = None

    def test_markets(self) -> None:
        markets, asked = both(lambda exchange: exchange.load_markets())
        market = markets["ETH/USDC"]
        self.assertEqual([market["id"], market["base"], market["quote"], market["spot"]], [PAIR, "ETH", "USDC", True])
        self.assertEqual([market["maker"], market["taker"]], [-0.00005, 0.0005])
        self.assertEqual(market["precision"], {"amount": 0.001, "price": 0.05, "base": 1e-9, "quote": 1e-6})
        self.assertEqual(market["limits"]["cost"], {"min": 1.0, "max": None})
        self.assertEqual(asked, [], "they were loaded before, and are kept")

    def test_tickers_books_trades_and_candles(self) -> None:
        ticker, _ = both(lambda exchange: exchange.fetch_ticker("ETH/USDC"))
        self.assertEqual([ticker[name] for name in ("last", "bid", "ask", "open", "change", "vwap")], [
            110.0, 99.0, None, 100.0, 10.0, 105.0,
        ])
        book, asked = both(lambda exchange: exchange.fetch_order_book("ETH/USDC", 5))
        self.assertEqual([book["bids"], book["asks"], book["nonce"], book["timestamp"]], [[[99.0, 1.0]], [], 7, MS])
        self.assertEqual(asked, [("GetOrderbook", {"tradingPairId": PAIR, "depth": 5})])
        trades, asked = both(lambda exchange: exchange.fetch_trades("ETH/USDC", MS, 2))
        seen = [(each["id"], each["side"], each["cost"]) for each in trades]
        self.assertEqual(seen, [("t", "buy", 50.0), ("newest", "sell", 50.0)])
        self.assertEqual(asked[0][1], {"tradingPairId": PAIR, "startTime": str(MS), "pageToken": "", "pageSize": 100})
        candles, asked = both(lambda exchange: exchange.fetch_ohlcv("ETH/USDC", "1h", limit=3))
        self.assertEqual(candles, [[60000, 1.0, 2.0, 0.5, 1.5, 7.0]])
        self.assertEqual(asked[0][1], {"tradingPairId": PAIR, "interval": "1h", "limit": 3})

    def test_since_gives_the_oldest_rows_from_then_on(self) -> None:
        times = [MS + gap for gap in (0, 0, 5, *range(1000, 400_000, 7), *range(400_000, 410_000), *[500_000] * 2500, 500_001)]
        client = History(times)
        exchange = Unified(cast(Client, client))
        for since, limit in ((MS, 3), (MS, None), (MS + 1, 150), (MS + 399_000, 2000), (MS + 400_001, 150), (MS + 400_001, 999), (MS + 400_777, 7), (MS + 500_000, 2200), (0, 1)):
            del client.asked[:]
            found = [each["id"] for each in exchange.fetch_trades("ETH/USDC", since, limit)]
            expected = [str(i) for i, at in enumerate(times) if at >= since][:100 if limit is None else limit]
            self.assertEqual(found, expected, (since, limit))
            self.assertLess(len(client.asked), 100, "bounded, however many rows there are")
        self.assertEqual([each["id"] for each in exchange.fetch_trades("ETH/USDC", None, 2)], [
            str(len(times) - 2), str(len(times) - 1),
        ])

    def test_orders_are_sent_as_exact_text(self) -> None:
        terms = ("ETH/USDC", "limit", "buy", 1.2349, 100.07, {"timeInForce": "PO"})
        order, asked = both(lambda exchange: exchange.create_order(*terms))
        self.assertEqual(asked, [("CreateOrder", {
            "tradingPairId": PAIR, "orderType": "LIMIT", "side": "BUY", "quantity": "1.234", "price": "100.05",
            "postOnly": True, "returnFills": True,
        })])
        self.assertEqual([order[name] for name in ("id", "status", "amount", "price", "remaining", "timeInForce")], [
            "o", "open", 1.234, 100.05, 1.234, "PO",
        ])
        self.assertEqual([order[name] for name in ("filled", "cost", "fee", "trades", "timestamp")], [0, 0, None, [], MS])
        _, asked = both(lambda exchange: exchange.create_order("ETH/USDC", "market", "sell", 1))
        self.assertEqual(asked[0][1], {
            "tradingPairId": PAIR, "orderType": "MARKET", "side": "SELL", "quantity": "1", "returnFills": True,
        })
        order, asked = both(lambda exchange: exchange.edit_order("o", "ETH/USDC", price=99.99))
        self.assertEqual(asked[0], ("ReplaceOrder", {"orderId": "o", "price": "100.00", "returnFills": True}))
        self.assertEqual(asked[1], ("GetOrder", {"orderId": "o2"}))
        self.assertEqual([each["id"] for each in order["trades"]], ["t1", "t2"])

    def test_what_traded_on_arrival(self) -> None:
        order = placed_of(ANSWERS["ReplaceOrder"], {"orderType": "LIMIT", "side": "BUY", "quantity": "0.5"}, "ETH/USDC")
        self.assertEqual([order[name] for name in ("filled", "remaining", "average", "cost", "fee")], [
            0.3, 0.2, 100.3333333333, 30.1, {"cost": 0.01505, "currency": "USDC"},
        ])
        fee = {"cost": 0.00505, "currency": "USDC"}
        self.assertEqual(order["trades"][1], {
            "id": "t2", "symbol": "ETH/USDC", "timestamp": MS, "datetime": TIME, "order": "o2", "type": None,
            "side": "buy", "takerOrMaker": "taker", "price": 101.0, "amount": 0.1, "cost": 10.1, "fee": fee,
            "fees": [fee], "info": ANSWERS["ReplaceOrder"]["matchResult"]["fills"][1],
        })

    def test_an_order_with_a_parameter_that_the_service_would_ignore_is_not_placed(self) -> None:
        client = Answers()
        exchange = Unified(cast(Client, client))
        exchange.load_markets()
        client.asked.clear()
        for name in ("triggerPrice", "stopPrice", "trailingTriggerPrice", "trigger", "cost", "test", "self"):
            with self.assertRaises(ccxt_errors.NotSupported):
                exchange.create_order("ETH/USDC", "market", "sell", 1, None, {name: 90.0})
            with self.assertRaises(ccxt_errors.NotSupported):
                exchange.edit_order("o", "ETH/USDC", "limit", "buy", 1, 1, {name: 90.0})
        for name in ("stopLossPrice", "takeProfitPrice", "trailingPercent"):
            with self.assertRaises(ccxt_errors.BadSymbol):
                exchange.create_order("ETH/USDC", "market", "sell", 1, None, {name: 9.0})
            with self.assertRaises(ccxt_errors.NotSupported):
                exchange.edit_order("o", "ETH/USDC", "limit", "buy", 1, 1, {name: 9.0})
        self.assertEqual(client.asked, [])
        exchange.create_order("ETH/USDC", "limit", "buy", 1, 90, {"stopPrice": None, "clientOrderId": "mine"})
        self.assertEqual(client.asked[0][1]["clientOrderId"], "mine")

    def test_arguments_are_where_ccxt_has_them(self) -> None:
        _, asked = both(lambda exchange: exchange.create_order("ETH/USDC", "market", "sell", 1, 100))
        self.assertNotIn("price", asked[0][1], "a market order has none")
        _, asked = both(lambda exchange: exchange.edit_order("o", "ETH/USDC", "limit", "buy", 1.5, 99.99))
        self.assertEqual(asked[0], ("ReplaceOrder", {
            "orderId": "o", "quantity": "1.5", "price": "100.00", "returnFills": True,
        }))
        named = {"clientOrderId": "mine"}
        _, asked = both(lambda exchange: exchange.cancel_order("", "ETH/USDC", named))
        self.assertEqual(asked, [("CancelOrder", {"orderId": "client:mine"})])
        _, asked = both(lambda exchange: exchange.fetch_order("", "ETH/USDC", named))
        self.assertEqual(asked, [("GetOrder", {"orderId": "client:mine"})])
        _, asked = both(lambda exchange: exchange.edit_order("", "ETH/USDC", None, None, None, 99, named))
        self.assertEqual(asked[0][1], {
            "orderId": "client:mine", "price": "99.0", "clientOrderId": "mine", "returnFills": True,
        })

    def test_orders_and_trades_of_the_account(self) -> None:
        order, _ = both(lambda exchange: exchange.fetch_order("o"))
        names = ("id", "status", "filled", "remaining", "cost", "fee", "timestamp")
        self.assertEqual({name: order[name] for name in names}, {
            "id": "o", "status": "open", "filled": 0.5, "remaining": 1.5, "cost": 50.0, "timestamp": MS,
            "fee": {"cost": 0.02, "currency": "USDC"},
        })
        orders, asked = both(lambda exchange: exchange.fetch_open_orders("ETH/USDC"))
        self.assertEqual([each["status"] for each in orders], ["open", "canceled"])
        self.assertEqual(asked[0][1]["status"], ["SUBMITTED", "PARTIALLY_FILLED"])
        _, asked = both(lambda exchange: exchange.fetch_orders(limit=5))
        self.assertEqual(asked[0][1], {"pageToken": "", "pageSize": 5})
        trades, _ = both(lambda exchange: exchange.fetch_my_trades())
        seen = [trades[0][name] for name in ("symbol", "order", "side", "takerOrMaker")]
        self.assertEqual(seen, ["ETH/USDC", "o", "buy", "taker"])
        balance, _ = both(lambda exchange: exchange.fetch_balance())
        self.assertEqual([balance["ETH"], balance["free"]], [{"free": 1.0, "used": 0.5, "total": 1.5}, {"ETH": 1.0}])
        self.assertEqual(len(both(lambda exchange: exchange.cancel_all_orders())[0]), 2)
        self.assertEqual(len(both(lambda exchange: exchange.cancel_all_orders("ETH/USDC"))[0]), 1)
        self.assertEqual(both(lambda exchange: exchange.cancel_order("o"))[0]["id"], "o")
        self.assertEqual(both(lambda exchange: exchange.fetch_time())[0], MS)
        self.assertEqual(both(lambda exchange: exchange.fetch_status())[0]["status"], "error")

    def test_errors_have_the_names_of_ccxt(self) -> None:
        def refused(code: str, status: int = 400) -> RefusedError:
            return RefusedError({"error": "X", "code": code, "message": "no"}, status)

        cases: List[Tuple[Exception, str]] = [
            (refused("INSUFFICIENT_BALANCE"), "InsufficientFunds"), (refused("ORDER_NOT_FOUND"), "OrderNotFound"),
            (refused("POST_ONLY_WOULD_CROSS"), "OrderImmediatelyFillable"), (refused("CLOCK_SKEW"), "InvalidNonce"),
            (refused("OPERATIONS_BLOCKED", 503), "OnMaintenance"), (refused("NEW", 503), "ExchangeNotAvailable"),
            (refused("NEW"), "ExchangeError"), (AmbiguousError("CreateOrder", NetworkError("x")), "RequestTimeout"),
            (NetworkError("x", timed_out=True), "RequestTimeout"), (NotSentError("x"), "NetworkError"),
        ]
        for error, name in cases:
            client = Answers()
            exchange = Unified(cast(Client, client))
            exchange.load_markets()
            client.error = error
            with self.assertRaises(ccxt_errors.BaseError) as raised:
                exchange.fetch_order("o")
            self.assertEqual(type(raised.exception).__name__, name)
        for name in CCXT.values():
            self.assertTrue(issubclass(getattr(ccxt_errors, name), ccxt_errors.BaseError), name)

    def test_classes_may_be_those_of_ccxt(self) -> None:
        class OrderNotFound(Exception):
            """As a program that knows ccxt expects it."""

        client = Answers()
        exchange = Unified(cast(Client, client), errors=SimpleNamespace(OrderNotFound=OrderNotFound))
        exchange.load_markets()
        client.error = RefusedError({"error": "X", "code": "ORDER_NOT_FOUND", "message": "no"}, 404)
        self.assertRaises(OrderNotFound, exchange.fetch_order, "o")
        self.assertRaises(ccxt_errors.BadSymbol, exchange.market, "X/Y")


if __name__ == "__main__":
    unittest.main()
