"""The verbs of ccxt for perpetuals: what they ask of the service, and what they give; of both clients."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any, Callable, Dict, List, Tuple, cast

from ringbook import AsyncClient, Client, ccxt_errors
from ringbook.unified import AsyncUnified, Unified

SWAP = "BTC/USDC:USDC"


def pair_of(identity: str, symbol: str) -> Dict[str, Any]:
    return {
        "id": identity, "symbol": symbol, "baseAssetId": "b", "quoteAssetId": "q", "isActive": True,
        "makerFeeBps": "1", "takerFeeBps": "5", "lotSize": "0.001", "tickSize": "0.5", "minOrderSize": "0.001",
        "maxOrderSize": "10", "minNotional": "1", "baseAmountDecimals": 8, "quoteAmountDecimals": 6,
    }


def time_of(minute: int) -> str:
    return f"2026-01-01T00:0{minute}:00.000Z"


def milliseconds_of(minute: int) -> int:
    return 1767225600000 + minute * 60000


def open_position(identity: str, pair: str, side: str) -> Dict[str, Any]:
    return {
        "positionId": identity, "tradingPairId": pair, "side": side, "size": "0.02", "entryPrice": "100",
        "markPrice": "110", "leverage": "5", "marginMode": "CROSS", "initialMarginRequired": "0.44",
        "maintenanceMarginRequired": "0.022", "realizedPnl": "0", "unrealizedPnl": "0.11", "createdAt": time_of(0),
        "updatedAt": time_of(1),
    }


POSITIONS = [open_position(*each) for each in (("p1", "btc", "LONG"), ("p2", "btc", "SHORT"), ("p3", "eth", "SHORT"))]
#: Newest first, as the service lists them.
MOVEMENTS = [
    {
        "id": f"m{minute}", "referenceId": position, "entryType": entry, "amount": "1.5", "symbol": "USDC",
        "createdAt": time_of(minute),
    }
    for position, entry, minute in (
        ("p3", "DEBIT", 9), ("p1", "DEBIT", 7), ("p2", "CREDIT", 5), ("p3", "CREDIT", 3), ("p1", "CREDIT", 1),
    )
]
WAITING = {
    "conditionalOrderId": "c1", "conditionType": "STOP_LOSS", "state": "ARMED", "symbol": "BTC/USDC-PERP",
    "side": "SELL", "triggerPrice": "90.5", "orderType": "LIMIT", "limitPrice": "90", "timeInForce": "IOC", "quantity": "0.02",
    "createdAt": time_of(0), "updatedAt": time_of(1),
}
RATES = [{"fundingRate": f"0.00{minute}", "fundingTime": time_of(minute)} for minute in (8, 4)]


class Answers:
    """A client of a service with two perpetuals, which gives two rows a page."""

    def __init__(self) -> None:
        self.asked: List[Tuple[str, Dict[str, Any]]] = []

    def call(self, name: str, **fields: Any) -> Any:
        self.asked.append((name, {key: value for key, value in fields.items() if value is not None}))
        return getattr(self, name)(fields)

    def page(self, name: str, rows: List[Any], fields: Dict[str, Any]) -> Dict[str, Any]:
        first = int(fields["pageToken"] or 0)
        return {name: rows[first:first + 2], "nextPageToken": str(first + 2) if first + 2 < len(rows) else ""}

    def ListTradingPairs(self, fields: Dict[str, Any]) -> Any:
        pairs = [pair_of("btc", "BTC/USDC-PERP"), pair_of("eth", "ETH/USDC-PERP"), pair_of("spot", "BTC/USDC")]
        return {"tradingPairs": pairs, "totalPages": 1}

    def ListPositions(self, fields: Dict[str, Any]) -> Any:
        wanted = fields.get("tradingPairId")
        return self.page("positions", [row for row in POSITIONS if wanted in (None, row["tradingPairId"])], fields)

    def GetPosition(self, fields: Dict[str, Any]) -> Any:
        return next(row for row in POSITIONS if row["positionId"] == fields["positionId"])

    def GetPositionRisk(self, fields: Dict[str, Any]) -> Any:
        return {**self.GetPosition(fields), "equity": "2.5", "marginRatio": "0.01"}

    def ListMovements(self, fields: Dict[str, Any]) -> Any:
        begin = milliseconds_of(0) if fields["startTime"] is None else int(fields["startTime"])
        rows = [row for row in MOVEMENTS if milliseconds_of(int(row["id"][1:])) >= begin]
        return self.page("movements", rows, fields)

    def ListFundingRates(self, fields: Dict[str, Any]) -> Any:
        return {"fundingRates": RATES[:fields["pageSize"]], "nextPageToken": ""}

    def GetMarketMetadata(self, fields: Dict[str, Any]) -> Any:
        return {"symbol": "BTC/USDC-PERP", "markPrice": "110", "indexPrice": "109", "nextFundingTime": time_of(9),
                "predictedFundingRate": "-0.0025"}

    def GetPerpConfig(self, fields: Dict[str, Any]) -> Any:
        return {"symbol": "BTC/USDC-PERP", "fundingIntervalSeconds": 28800}

    def CreateOrder(self, fields: Dict[str, Any]) -> Any:
        result = {"totalFilled": "0", "remainingQuantity": "0.02", "status": "SUBMITTED"}
        return {"orderId": "o", "engineTime": time_of(9), "matchResult": result}

    def AttachTpSl(self, fields: Dict[str, Any]) -> Any:
        return {"stopLossOrderId": "s", "takeProfitOrderId": "t", "trailingStopOrderId": "r", "engineTime": time_of(9)}

    def ListConditionalOrders(self, fields: Dict[str, Any]) -> Any:
        return self.page("conditionalOrders", [WAITING], fields)

    def GetConditionalOrder(self, fields: Dict[str, Any]) -> Any:
        return {**WAITING, "state": "FAILED"}

    def CancelConditionalOrder(self, fields: Dict[str, Any]) -> Any:
        return {"status": "SUCCESS"}

    def ClosePosition(self, fields: Dict[str, Any]) -> Any:
        size = fields.get("quantity") or "0.02"
        result = {"totalFilled": size, "remainingQuantity": "0", "averageFillPrice": "110", "status": "FILLED"}
        return {"closeOrderId": "o", "submittedQuantity": size, "engineTime": time_of(9), "matchResult": result}


class AsyncAnswers(Answers):
    async def call(self, name: str, **fields: Any) -> Any:
        return super().call(name, **fields)


def both(call: Callable[[Any], Any]) -> Tuple[Any, List[Tuple[str, Dict[str, Any]]]]:
    """What a verb gives and what it asked for, which is the same for both clients."""
    first, second = Answers(), AsyncAnswers()
    given = call(Unified(cast(Client, first)))

    async def run() -> Any:
        return await call(AsyncUnified(cast(AsyncClient, second)))

    if (given, first.asked) != (asyncio.run(run()), second.asked):
        raise AssertionError("the two differ")
    return given, first.asked[1:]


class Perpetuals(unittest.TestCase):
    maxDiff = None

    def ids(self, call: Callable[[Any], Any]) -> List[str]:
        return [each["id"] for each in both(call)[0]]

    def test_markets_are_swaps(self) -> None:
        markets, _ = both(lambda exchange: exchange.load_markets())
        self.assertEqual(sorted(markets), ["BTC/USDC", SWAP, "ETH/USDC:USDC"])
        names = ("type", "swap", "spot", "linear", "settle", "contractSize", "base", "quote")
        self.assertEqual([markets[SWAP][name] for name in names], [
            "swap", True, False, True, "USDC", 1.0, "BTC", "USDC",
        ])
        self.assertEqual([markets["BTC/USDC"][name] for name in ("type", "swap", "linear", "settle")], [
            "spot", False, None, None,
        ])

    def test_orders_say_their_margin_as_the_service_has_it(self) -> None:
        terms = {"leverage": 5, "marginMode": "cross", "strategyKey": "carry"}
        order, asked = both(lambda exchange: exchange.create_order(SWAP, "limit", "buy", 0.02, 100, terms))
        self.assertEqual(asked, [("CreateOrder", {
            "tradingPairId": "btc", "tradingMode": "MARGIN", "orderType": "LIMIT", "side": "BUY", "quantity": "0.02",
            "price": "100", "leverage": "5", "marginMode": "CROSS", "strategyKey": "carry", "returnFills": True,
        })])
        self.assertEqual([order["symbol"], order["reduceOnly"]], [SWAP, False])
        _, asked = both(lambda exchange: exchange.create_order("BTC/USDC", "limit", "buy", 0.02, 100))
        self.assertNotIn("tradingMode", asked[0][1])
        exchange = Unified(cast(Client, Answers()))
        self.assertRaises(ccxt_errors.NotSupported, exchange.set_leverage, 5, SWAP)

    def test_one_of_several_positions_has_to_be_named(self) -> None:
        self.assertEqual(self.ids(lambda exchange: exchange.fetch_positions()), ["p1", "p2", "p3"])
        self.assertEqual(self.ids(lambda exchange: exchange.fetch_positions(["ETH/USDC:USDC"])), ["p3"])
        client = Answers()
        exchange = Unified(cast(Client, client))
        self.assertRaises(ccxt_errors.ArgumentsRequired, exchange.fetch_position, SWAP)
        self.assertRaises(ccxt_errors.ArgumentsRequired, exchange.close_position, SWAP)
        self.assertRaises(ccxt_errors.BadSymbol, exchange.close_position, SWAP, "long", {"positionId": "p2"})
        self.assertRaises(ccxt_errors.BadSymbol, exchange.fetch_position, "BTC/USDC")
        strange = {"positionId": "p1", "reduceOnly": True}
        self.assertRaises(ccxt_errors.NotSupported, exchange.close_position, SWAP, "long", strange)
        self.assertNotIn("ClosePosition", [name for name, _ in client.asked], "nothing was sent")

    def test_a_position_and_its_end(self) -> None:
        position, _ = both(lambda exchange: exchange.fetch_position(SWAP, {"positionId": "p2"}))
        names = ("id", "symbol", "side", "contracts", "notional", "collateral", "marginRatio", "percentage", "hedged")
        self.assertEqual([position[name] for name in names], [
            "p2", SWAP, "short", 0.02, 2.2, 2.5, 0.01, 25.0, False,
        ])
        self.assertIsNone(both(lambda exchange: exchange.fetch_position(SWAP, {"positionId": "x"}))[0])
        order, asked = both(lambda exchange: exchange.close_position(SWAP, "short", {"positionId": "p2"}))
        self.assertEqual(asked[-1], ("ClosePosition", {"positionId": "p2", "closeType": "MARKET"}))
        told = ("id", "symbol", "side", "type", "amount", "reduceOnly", "status", "average")
        self.assertEqual([order[name] for name in told], [
            "o", SWAP, "buy", "market", 0.02, True, "closed", 110.0,
        ])
        terms = {"positionId": "p1", "quantity": 0.0119, "closeType": "ioc", "price": 110.3}
        order, asked = both(lambda exchange: exchange.close_position(SWAP, None, terms))
        self.assertEqual(asked[-1][1], {"positionId": "p1", "closeType": "IOC", "quantity": "0.011", "price": "110.5"})
        self.assertEqual([order["side"], order["type"], order["timeInForce"]], ["sell", "limit", "IOC"])

    def test_legs_of_an_order(self) -> None:
        _, asked = both(lambda exchange: exchange.create_order(SWAP, "limit", "buy", 1, 100, {
            "stopLoss": {"type": "limit", "triggerPrice": 90.4, "price": 89.9, "amount": 0.5},
            "takeProfit": {"triggerPrice": "120", "slippageToleranceBps": 9}, "trailingStop": {"trailBps": 50},
        }))
        self.assertEqual({name: asked[-1][1][name] for name in ("stopLoss", "takeProfit", "trailingStop")}, {
            "stopLoss": {"orderType": "LIMIT", "triggerPrice": "90.5", "limitPrice": "90.0", "quantity": "0.5"},
            "takeProfit": {"orderType": "MARKET", "triggerPrice": "120", "slippageToleranceBps": 9},
            "trailingStop": {"trailBps": 50},
        })
        strange = {"stopLoss": {"triggerPrice": 90, "triggerBy": "last"}}
        with self.assertRaises(ccxt_errors.NotSupported):
            both(lambda exchange: exchange.create_order(SWAP, "market", "buy", 1, None, strange))

    def test_orders_that_close_a_position(self) -> None:
        def attach(kind: str, price: Any, more: Dict[str, Any], side: str = "sell") -> Tuple[Any, Any]:
            params = {"positionId": "p1", **more}
            order, asked = both(lambda exchange: exchange.create_order(SWAP, kind, side, 0.0209, price, params))
            return order, asked[-1]

        order, asked = attach("limit", 89.9, {"stopLossPrice": 90.4, "timeInForce": "IOC", "reduceOnly": True})
        stop = {"orderType": "LIMIT", "triggerPrice": "90.5", "limitPrice": "90.0", "timeInForce": "IOC"}
        self.assertEqual(asked, ("AttachTpSl", {"positionId": "p1", "stopLoss": {**stop, "quantity": "0.020"}}))
        names = ("id", "symbol", "side", "type", "price", "triggerPrice", "stopLossPrice", "amount", "status")
        self.assertEqual([order[name] for name in (*names, "timestamp")], [
            "s", SWAP, "sell", "limit", 90.0, 90.5, 90.5, 0.02, "open", milliseconds_of(9),
        ])
        order, asked = attach("market", 130, {"takeProfitPrice": 120})
        profit = {"orderType": "MARKET", "triggerPrice": "120", "quantity": "0.020"}
        self.assertEqual(asked[1], {"positionId": "p1", "takeProfit": profit})
        self.assertEqual([order["id"], order["takeProfitPrice"], order["stopLossPrice"]], ["t", 120.0, None])
        order, asked = attach("market", None, {"trailingPercent": 1.1, "trailingTriggerPrice": 110})
        trail = {"trailBps": 110, "activationPrice": "110", "quantity": "0.020"}
        self.assertEqual(asked[1], {"positionId": "p1", "trailingStop": trail})
        self.assertEqual([order["id"], order["triggerPrice"], order["reduceOnly"]], ["r", None, True])

        def stop_loss(**more: object) -> "dict[str, object]":
            return {"stopLossPrice": 90, **more}

        for strange in ("triggerPrice", "leverage", "clientOrderId", "stopLoss"):
            self.assertRaises(ccxt_errors.NotSupported, attach, "market", None, stop_loss(**{strange: 9}))
        contrary: "tuple[dict[str, object], ...]" = (
            {"takeProfitPrice": 120}, {"reduceOnly": False}, {"trailingTriggerPrice": 120}, {"positionId": "p2"},
        )
        for more in contrary:
            self.assertRaises(ccxt_errors.InvalidOrder, attach, "market", None, stop_loss(**more))
        for distance in (0.105, "x", "NaN", "Infinity"):
            self.assertRaises(ccxt_errors.InvalidOrder, attach, "market", None, {"trailingPercent": distance})
        self.assertRaises(ccxt_errors.InvalidOrder, attach, "limit", 100, {"trailingPercent": 1})
        self.assertRaises(ccxt_errors.InvalidOrder, attach, "market", None, stop_loss(), "buy")
        self.assertRaises(ccxt_errors.ArgumentsRequired, attach, "market", None, stop_loss(positionId=None))

    def test_orders_that_wait(self) -> None:
        orders, asked = both(lambda exchange: exchange.fetch_open_orders(SWAP, None, 5, {"trigger": True}))
        terms = {"pageToken": "", "pageSize": 5, "tradingPairId": "btc", "state": ["PENDING", "ARMED"]}
        self.assertEqual(asked[-1], ("ListConditionalOrders", terms))
        names = ("id", "symbol", "status", "side", "type", "price", "stopPrice", "amount", "remaining", "reduceOnly")
        self.assertEqual([[order[name] for name in names] for order in orders], [
            ["c1", SWAP, "open", "sell", "limit", 90.0, 90.5, 0.02, 0.02, True],
        ])
        order, asked = both(lambda exchange: exchange.fetch_order("c1", None, {"trigger": True}))
        self.assertEqual([order["status"], order["remaining"]], ["rejected", 0.0])
        ended, asked = both(lambda exchange: exchange.cancel_order("c1", SWAP, {"trigger": True}))
        self.assertEqual(asked[-1], ("CancelConditionalOrder", {"conditionalOrderId": "c1"}))
        self.assertEqual([ended["id"], ended["status"]], ["c1", "canceled"])

    def test_funding(self) -> None:
        paid, asked = both(lambda exchange: exchange.fetch_funding_history())
        self.assertEqual([(each["id"], each["amount"]) for each in paid], [
            ("m1", 1.5), ("m3", 1.5), ("m5", 1.5), ("m7", -1.5), ("m9", -1.5),
        ])
        self.assertEqual([name for name, _ in asked].count("GetPosition"), 3, "each position is looked up once")
        self.assertEqual([paid[0]["symbol"], paid[0]["code"], paid[0]["timestamp"]], [SWAP, "USDC", milliseconds_of(1)])
        self.assertEqual(self.ids(lambda exchange: exchange.fetch_funding_history(SWAP)), ["m1", "m5", "m7"])
        self.assertEqual(self.ids(lambda exchange: exchange.fetch_funding_history(SWAP, None, 2)), ["m5", "m7"])
        since = milliseconds_of(2)
        self.assertEqual(self.ids(lambda exchange: exchange.fetch_funding_history(SWAP, since, 1)), ["m5"])
        rate, _ = both(lambda exchange: exchange.fetch_funding_rate(SWAP))
        names: Tuple[str, ...]
        names = ("fundingRate", "fundingTimestamp", "fundingDatetime", "interval", "markPrice", "indexPrice")
        self.assertEqual(
            [rate[name] for name in names], [-0.0025, milliseconds_of(9), time_of(9), "8h", 110.0, 109.0],
            "of the running interval",
        )
        names = ("previousFundingRate", "previousFundingTimestamp", "previousFundingDatetime")
        self.assertEqual([rate[name] for name in names], [0.008, milliseconds_of(8), time_of(8)], "paid last")
        names = ("nextFundingRate", "nextFundingTimestamp", "nextFundingDatetime")
        self.assertEqual([rate[name] for name in names], [None] * 3, "nobody knows")
        rates, _ = both(lambda exchange: exchange.fetch_funding_rate_history(SWAP))
        self.assertEqual([each["fundingRate"] for each in rates], [0.004, 0.008], "oldest first")


if __name__ == "__main__":
    unittest.main()
