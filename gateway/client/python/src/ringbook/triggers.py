"""Orders that wait for a price, as ccxt has them, without their I/O.

`stopLoss` and `takeProfit` come with an order that opens a position. Orders with `stopLossPrice`, `takeProfitPrice` or
`trailingPercent` close one: the service keeps them with the position, so they are attached to the open one of the
symbol; `params={"positionId": ...}` names one of several. `params={"trigger": True}` says that orders of this kind are
to be listed, looked up or cancelled. Triggers are mark prices.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, Dict, Mapping, Optional, Sequence

from .ccxt_errors import class_of
from .perpetuals import PerpetualVerbs
from .shapes import conditional_of
from .verbs import ALL, OPEN, Listing, Params, Verb, rows_of

#: Which leg of the service an order with one of these is, and its type there.
_TRIGGERS = {
    "stopLossPrice": ("stopLoss", "STOP_LOSS"), "takeProfitPrice": ("takeProfit", "TAKE_PROFIT"),
    "trailingPercent": ("trailingStop", "TRAILING_STOP"),
}
_CLOSING_PARAMS = (
    *_TRIGGERS, "trailingTriggerPrice", "positionId", "reduceOnly", "timeInForce", "slippageToleranceBps", "expiresAt",
)
_LEG_PARAMS = (
    "triggerPrice", "type", "orderType", "price", "limitPrice", "amount", "quantity", "timeInForce",
    "slippageToleranceBps", "expiresAt",
)
_WAITING = ("PENDING", "ARMED")


def _is_trigger(params: Params) -> bool:
    return (params or {}).get("trigger") is True


class TriggerVerbs(PerpetualVerbs):
    """All verbs, those of orders that wait for a price among them."""

    def create_order(self, symbol: str, kind: str, side: str, amount: Any, price: Any, params: Params) -> Verb:
        given = {name: value for name, value in (params or {}).items() if value is not None}
        if any(name in given for name in _TRIGGERS):
            way = self._word(side, ("BUY", "SELL"))
            return (yield from self._attach(symbol, self._word(kind, ("LIMIT", "MARKET")), way, amount, price, given))
        for name in ("stopLoss", "takeProfit"):
            if name in given:
                given[name] = self._leg(symbol, given[name])
        return (yield from super().create_order(symbol, kind, side, amount, price, given))

    def cancel_order(self, order: str, params: Params) -> Verb:
        if not _is_trigger(params):
            return (yield from super().cancel_order(order, params))
        answer = yield "CancelConditionalOrder", {"conditionalOrderId": order}
        return {"id": order, "status": "canceled", "info": answer}

    def fetch_order(self, order: str, params: Params) -> Verb:
        if not _is_trigger(params):
            return (yield from super().fetch_order(order, params))
        record = yield "GetConditionalOrder", {"conditionalOrderId": order}
        return conditional_of(record, record)

    def fetch_open_orders(
        self, symbol: Optional[str], since: Optional[int], limit: Optional[int], params: Params,
    ) -> Verb:
        if not _is_trigger(params):
            return (yield from self.fetch_orders(OPEN, symbol, since, limit))
        fields = {"state": list(_WAITING), "tradingPairId": self.pair_of(symbol)}
        waiting = Listing("ListConditionalOrders", "conditionalOrders", "createdAt", fields)
        rows = yield from rows_of(waiting, since, ALL if limit is None else limit)
        return [conditional_of(row, row) for row in rows]

    def _attach(
        self, symbol: str, kind: str, side: str, amount: Any, price: Any, given: Mapping[str, Any],
    ) -> Verb:
        """Attaches a closing order to the open position of its symbol; it is in no pair."""
        self._refuse_strange("A closing order that waits", given, _CLOSING_PARAMS)
        named = [name for name in _TRIGGERS if name in given]
        if len(named) > 1:
            raise self._invalid(f"{' and '.join(named)} are of different orders")
        if given.get("reduceOnly", True) is not True:
            raise self._invalid(f"An order with {named[0]} only reduces")
        leg, condition = _TRIGGERS[named[0]]
        asked = {name: given[name] for name in ("timeInForce", "slippageToleranceBps", "expiresAt") if name in given}
        if leg == "trailingStop":
            terms = self._trail(symbol, kind, amount, given, asked)
        elif "trailingTriggerPrice" in given:
            raise self._invalid("trailingTriggerPrice is for orders with trailingPercent")
        else:
            words = {"triggerPrice": given[named[0]], "orderType": kind, "price": price, "amount": amount}
            terms = self._leg(symbol, {**words, **asked})
        row = yield from self._one(symbol, given)
        if row is None or (row["side"] == "LONG") != (side == "SELL"):
            raise self._invalid(f"{symbol} has no open position that a {side.lower()} order closes")
        answer = yield "AttachTpSl", {"positionId": row["positionId"], leg: terms}
        told = {
            "orderType": "MARKET", **terms, "conditionType": condition, "side": side, "state": "ARMED",
            "conditionalOrderId": answer[f"{leg}OrderId"], "symbol": self.market(symbol)["info"]["symbol"],
            "createdAt": answer["engineTime"], "updatedAt": answer["engineTime"],
        }
        return conditional_of(told, answer)

    def _trail(
        self, symbol: str, kind: str, amount: Any, given: Mapping[str, Any], asked: Mapping[str, Any],
    ) -> Dict[str, Any]:
        if kind != "MARKET" or "timeInForce" in given:
            raise self._invalid("A trailing stop closes at the market")
        try:
            distance = Decimal(str(given["trailingPercent"])) * 100
            points = int(distance)
        except (InvalidOperation, OverflowError, ValueError):
            distance, points = Decimal(0), -1
        if distance != points:
            raise self._invalid(f"trailingPercent {given['trailingPercent']} is no whole number of hundredths")
        activation = given.get("trailingTriggerPrice")
        armed = {} if activation is None else {"activationPrice": self._price(symbol, activation)}
        return {"trailBps": points, **armed, "quantity": self.rounded(symbol, amount, "lotSize", ROUND_DOWN), **asked}

    def _leg(self, symbol: str, leg: Mapping[str, Any]) -> Dict[str, Any]:
        """A stop-loss or take-profit, as ccxt has it or as the service has it."""
        given = {name: value for name, value in leg.items() if value is not None}
        self._refuse_strange("A stop-loss or take-profit", given, _LEG_PARAMS)
        limit = given.get("limitPrice", given.get("price"))
        kind = str(given.get("orderType", given.get("type", "MARKET" if limit is None else "LIMIT"))).upper()
        terms: Dict[str, Any] = {"orderType": kind}
        if "triggerPrice" in given:
            terms["triggerPrice"] = self._price(symbol, given["triggerPrice"])
        # In ccxt a market order may be given a price, which does not count.
        if limit is not None and kind != "MARKET":
            terms["limitPrice"] = self._price(symbol, limit)
        size = given.get("quantity", given.get("amount"))
        if size is not None:
            terms["quantity"] = self.rounded(symbol, size, "lotSize", ROUND_DOWN)
        same = ("timeInForce", "slippageToleranceBps", "expiresAt")
        return {**terms, **{name: given[name] for name in same if name in given}}

    def _price(self, symbol: str, price: Any) -> str:
        return self.rounded(symbol, price, "tickSize", ROUND_HALF_UP)

    def _invalid(self, said: str) -> Any:
        return class_of("InvalidOrder", self.errors)(said)

    def _refuse_strange(self, what: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
        for name in given:
            if name not in known:
                raise class_of("NotSupported", self.errors)(f"{what} has no parameter {name}: nothing was sent")
