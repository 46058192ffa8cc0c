"""ccxt's verbs for positions and funding of perpetuals, which are swaps to ccxt, without their I/O.

A perpetual may have several positions of an account, one in each risk bucket. A verb that is about one of them takes
`params={"positionId": ...}`, and refuses to guess.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .ccxt_errors import class_of
from .shapes import Shape, moment_of, number_of, placed_of
from .verbs import Listing, Params, Verb, Verbs, rows_of

_PAGE = 100
_PAGE_MAX = 1000
_CLOSE_PARAMS = ("positionId", "quantity", "closeType", "price", "slippageToleranceBps")


def position_of(row: Mapping[str, Any], symbol: str, risk: Optional[Mapping[str, Any]] = None) -> Shape:
    """A position; `collateral` and `marginRatio` are those of its risk bucket, where `risk` has them."""
    size, mark, profit = float(row["size"]), float(row["markPrice"]), float(row["unrealizedPnl"])
    initial, maintenance = float(row["initialMarginRequired"]), float(row["maintenanceMarginRequired"])
    notional = size * mark
    known = risk or {}
    return {
        "id": row["positionId"], "symbol": symbol, **moment_of(row["createdAt"]),
        "lastUpdateTimestamp": moment_of(row["updatedAt"])["timestamp"], "isolated": row["marginMode"] == "ISOLATED",
        "marginMode": row["marginMode"].lower(), "hedged": False, "side": row["side"].lower(), "contracts": size,
        "contractSize": 1.0, "entryPrice": float(row["entryPrice"]), "markPrice": mark, "lastPrice": None,
        "notional": notional, "leverage": float(row["leverage"]), "collateral": number_of(known.get("equity")),
        "marginRatio": number_of(known.get("marginRatio")), "initialMargin": initial,
        "initialMarginPercentage": initial / notional if notional else None, "maintenanceMargin": maintenance,
        "maintenanceMarginPercentage": maintenance / notional if notional else None, "unrealizedPnl": profit,
        "realizedPnl": float(row["realizedPnl"]), "percentage": profit / initial * 100 if initial else None,
        "liquidationPrice": number_of(row.get("liquidationPrice")), "stopLossPrice": None, "takeProfitPrice": None,
        "info": risk or row,
    }


def _span_of(seconds: int) -> str:
    """A span of time as ccxt writes it: in hours, minutes or seconds, the largest that it is a whole number of."""
    if seconds % 3600 == 0:
        return f"{seconds // 3600}h"
    return f"{seconds // 60}m" if seconds % 60 == 0 else f"{seconds}s"


def _funding_rate_of(metadata: Mapping[str, Any], last: Mapping[str, Any], seconds: int, symbol: str) -> Shape:
    """The rate of the running interval by its samples so far and when it is paid, and the rate that was paid last."""
    paid, following = moment_of(last.get("fundingTime")), moment_of(metadata.get("nextFundingTime"))
    return {
        "symbol": symbol, **moment_of(None), "markPrice": number_of(metadata.get("markPrice")),
        "indexPrice": number_of(metadata.get("indexPrice")), "interestRate": None, "estimatedSettlePrice": None,
        "fundingRate": number_of(metadata.get("predictedFundingRate")), "fundingTimestamp": following["timestamp"],
        "fundingDatetime": following["datetime"], "nextFundingRate": None, "nextFundingTimestamp": None,
        "nextFundingDatetime": None, "previousFundingRate": number_of(last.get("fundingRate")),
        "previousFundingTimestamp": paid["timestamp"], "previousFundingDatetime": paid["datetime"],
        "interval": _span_of(seconds), "info": dict(metadata),
    }


def _payment_of(movement: Mapping[str, Any], symbol: str) -> Shape:
    sign = -1 if movement["entryType"] == "DEBIT" else 1
    return {
        "id": movement["id"], "symbol": symbol, "code": movement["symbol"] or movement["token"],
        "amount": sign * float(movement["amount"]), **moment_of(movement["createdAt"]), "info": movement,
    }


class PerpetualVerbs(Verbs):
    """All verbs, those of perpetuals among them."""

    def set_leverage(self) -> Verb:
        """Always raises NotSupported."""
        yield from ()
        said = "leverage is set by each order: params['leverage'] of create_order"
        raise class_of("NotSupported", self.errors)(said)

    def fetch_positions(self, symbols: Optional[Sequence[str]]) -> Verb:
        wanted = None if symbols is None else {self.pair_of(symbol) for symbol in symbols}
        rows = yield from self._open({})
        yield from self.known(row["tradingPairId"] for row in rows)
        return [
            position_of(row, self.symbol_of(row["tradingPairId"]))
            for row in rows if wanted is None or row["tradingPairId"] in wanted
        ]

    def fetch_position(self, symbol: str, params: Params) -> Verb:
        row = yield from self._one(symbol, params)
        if row is None:
            return None
        risk = yield "GetPositionRisk", {"positionId": row["positionId"]}
        return position_of(row, symbol, risk)

    def close_position(self, symbol: str, side: Optional[str], params: Params) -> Verb:
        given = {name: value for name, value in (params or {}).items() if value is not None}
        for name in given:
            if name not in _CLOSE_PARAMS:
                said = f"ClosePosition has no parameter {name}: nothing was sent"
                raise class_of("NotSupported", self.errors)(said)
        row = yield from self._one(symbol, params)
        if row is None or side not in (None, *(("long", "buy") if row["side"] == "LONG" else ("short", "sell"))):
            raise class_of("BadSymbol", self.errors)(f"{symbol} has no such open position")
        fields: Dict[str, Any] = {**given, "positionId": row["positionId"]}
        fields["closeType"] = str(given.get("closeType", "MARKET")).upper()
        if "quantity" in given:
            fields["quantity"] = self.rounded(symbol, given["quantity"], "lotSize", ROUND_DOWN)
        if "price" in given:
            fields["price"] = self.rounded(symbol, given["price"], "tickSize", ROUND_HALF_UP)
        answer = yield "ClosePosition", fields
        asked = {
            "orderType": "MARKET" if fields["closeType"] == "MARKET" else "LIMIT", "price": fields.get("price"),
            "side": "SELL" if row["side"] == "LONG" else "BUY", "quantity": answer["submittedQuantity"],
            "reduceOnly": True, "timeInForce": "IOC" if fields["closeType"] == "IOC" else None,
        }
        return placed_of({**answer, "orderId": answer["closeOrderId"]}, asked, symbol)

    def fetch_funding_rate(self, symbol: str) -> Verb:
        pair = {"tradingPairId": self._swap(symbol)}
        metadata = yield "GetMarketMetadata", pair
        listed = yield "ListFundingRates", {**pair, "pageToken": "", "pageSize": 1}
        config = yield "GetPerpConfig", pair
        last = (listed["fundingRates"] or [{}])[0]
        return _funding_rate_of(metadata, last, int(config["fundingIntervalSeconds"]), symbol)

    def fetch_funding_rate_history(self, symbol: str, since: Optional[int], limit: Optional[int]) -> Verb:
        rates = Listing("ListFundingRates", "fundingRates", "fundingTime", {"tradingPairId": self._swap(symbol)})
        rows = yield from rows_of(rates, since, limit)
        return [
            {"symbol": symbol, "fundingRate": float(row["fundingRate"]), **moment_of(row["fundingTime"]), "info": row}
            for row in rows
        ]

    def fetch_funding_history(self, symbol: Optional[str], since: Optional[int], limit: Optional[int]) -> Verb:
        if symbol is not None:
            self._swap(symbol)
        wanted = _PAGE if limit is None else limit
        known: Dict[str, Any] = {}
        found: List[Shape] = []
        token: Optional[str] = ""
        # Movements do not say which market they are of, so those from `since` on are all looked at.
        while token is not None and (since is not None or len(found) < wanted):
            span = {"startTime": None if since is None else str(since)}
            terms = {**span, "transactionType": "FUNDING", "pageToken": token, "pageSize": _PAGE_MAX}
            page = yield "ListMovements", terms
            for row in page["movements"]:
                position = row["referenceId"]
                if position not in known:
                    known[position] = yield "GetPosition", {"positionId": position}
                    yield from self.known([known[position]["tradingPairId"]])
                paid = _payment_of(row, self.symbol_of(known[position]["tradingPairId"]))
                if symbol is None or paid["symbol"] == symbol:
                    found.append(paid)
            token = page.get("nextPageToken") or None
        found.reverse()
        return found[max(0, len(found) - wanted):] if since is None else found[:wanted]

    def _swap(self, symbol: str) -> str:
        """The pair of a perpetual. Raises BadSymbol for another market."""
        if not self.market(symbol)["swap"]:
            raise class_of("BadSymbol", self.errors)(f"{symbol} is no perpetual")
        return str(self.market(symbol)["id"])

    def _one(self, symbol: str, params: Params) -> Verb:
        rows = yield from self._open({"tradingPairId": self._swap(symbol)})
        name = (params or {}).get("positionId")
        if name is not None:
            rows = [row for row in rows if row["positionId"] == name]
        if len(rows) > 1:
            said = f"{symbol} has {len(rows)} positions: params['positionId']"
            raise class_of("ArgumentsRequired", self.errors)(said)
        return rows[0] if rows else None

    def _open(self, fields: Dict[str, Any]) -> Verb:
        """All open positions, newest first."""
        rows: List[Any] = []
        token: Optional[str] = ""
        while token is not None:
            page = yield "ListPositions", {**fields, "pageToken": token, "pageSize": _PAGE_MAX}
            rows += page["positions"]
            token = page.get("nextPageToken") or None
        return rows
