"""The verbs of ccxt without their I/O: which operations each of them needs, and the shape of what it gives."""

from __future__ import annotations

import inspect
import re
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, localcontext
from math import ceil
from typing import (
    Any, Callable, Dict, FrozenSet, Generator, Iterable, List, Mapping, NamedTuple, Optional, Sequence,
)

from ._generated.methods import Operations
from .ccxt_errors import class_of
from .shapes import (
    Shape, arrival_trades, balances_of, candle_of, currencies_of, market_of, moment_of, number_of, order_of,
    own_trade_of, placed_of, ticker_of, trade_of,
)

Verb = Generator["tuple[str, Dict[str, Any]]", Any, Any]
Params = Optional[Mapping[str, Any]]
OPEN = ("SUBMITTED", "PARTIALLY_FILLED")
CLOSED = ("FILLED", "SETTLED", "SETTLED_ON_CHAIN")
#: Every row of a listing: what is open is given whole.
ALL = 2**53
_PAGE = 100
_PAGE_MAX = 1000
#: Most levels of a side of a book, and most candles of an answer.
_DEPTH_MAX = 1000
_CANDLES_MAX = 500
#: Unix ms from which on the service takes times: 2001, since smaller numbers are seconds.
_FIRST_MS = 978_307_200_000
_DECIMAL = re.compile(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
#: Enough digits for what a decimal of that form and its step make exactly.
_DIGITS = 1100


def _fields_of(method: Callable[..., Any]) -> FrozenSet[str]:
    return frozenset(inspect.signature(method).parameters) - {"self"}


_FIELDS = {"CreateOrder": _fields_of(Operations.create_order), "ReplaceOrder": _fields_of(Operations.replace_order)}


class Verbs:
    """The verbs as generators: they yield the operations they need, and are given the answers."""

    def __init__(self, errors: Any) -> None:
        self.errors = errors
        self.markets: Dict[str, Shape] = {}
        self.by_id: Dict[str, Shape] = {}
        self.currencies: Dict[str, Shape] = {}

    def market(self, symbol: str) -> Shape:
        """The market of a symbol. Raises BadSymbol."""
        found = self.markets.get(symbol)
        if found is None:
            said = f"{symbol} is no symbol of this exchange" if self.markets else "load_markets() first"
            raise class_of("BadSymbol", self.errors)(said)
        return found

    def pair_of(self, symbol: Optional[str]) -> Optional[str]:
        return None if symbol is None else str(self.market(symbol)["id"])

    def rounded(self, symbol: str, value: Any, what: str, rounding: str) -> str:
        return self._in_steps(value, Decimal(self.market(symbol)["info"][what]), rounding)

    def cut(self, code: str, amount: Any) -> str:
        currency = self.currencies.get(code)
        if currency is None:
            said = f"no market has the currency {code}" if self.markets else "load_markets() first"
            raise class_of("BadSymbol", self.errors)(said)
        return self._in_steps(amount, Decimal(str(currency["precision"])), ROUND_DOWN)

    def _in_steps(self, value: Any, step: Decimal, rounding: str) -> str:
        """Decimal text in whole steps. Raises InvalidOrder for what is no decimal."""
        text = str(value).strip()
        if _DECIMAL.fullmatch(text) is None:
            raise class_of("InvalidOrder", self.errors)(f"not a decimal: {value!r}")
        with localcontext() as context:
            context.prec = _DIGITS
            return format((Decimal(text) / step).to_integral_value(rounding) * step, "f")

    def _word(self, value: Any, words: Sequence[str]) -> str:
        """One of these words in upper case. Raises InvalidOrder."""
        word = str(value).upper()
        if word not in words:
            raise class_of("InvalidOrder", self.errors)(f"{value!r} is none of {', '.join(words).lower()}")
        return word

    def known(self, pairs: Iterable[str]) -> Verb:
        """Markets are loaded again when one of these pairs was listed after they were."""
        if any(pair not in self.by_id for pair in pairs):
            yield from self.load_markets(True)

    def symbol_of(self, pair: str) -> str:
        """The symbol of a pair, or its id where no market has it."""
        found = self.by_id.get(pair)
        return pair if found is None else str(found["symbol"])

    def prepared(self, verb: Verb) -> Verb:
        """The verb, with the markets loaded before it."""
        yield from self.load_markets(False)
        return (yield from verb)

    def load_markets(self, reload: bool) -> Verb:
        if self.markets and not reload:
            return self.markets
        markets: List[Shape] = []
        page, pages = 1, 1
        while page <= pages:
            answer = yield "ListTradingPairs", {"page": page, "pageSize": _PAGE}
            markets += [market_of(pair) for pair in answer["tradingPairs"]]
            page, pages = page + 1, answer["totalPages"]
        self.markets = {market["symbol"]: market for market in markets}
        self.by_id = {market["id"]: market for market in markets}
        self.currencies = {code: each for market in markets for code, each in currencies_of(market).items()}
        return self.markets

    def fetch_ticker(self, symbol: str) -> Verb:
        pair = self.pair_of(symbol)
        metadata = yield "GetMarketMetadata", {"tradingPairId": pair}
        book = yield "GetOrderbook", {"tradingPairId": pair, "depth": 1}
        return ticker_of(metadata, book)

    def fetch_order_book(self, symbol: str, limit: Optional[int]) -> Verb:
        book = yield "GetOrderbook", {"tradingPairId": self.pair_of(symbol), "depth": _cut(limit, _DEPTH_MAX)}
        sides = {
            side: [[number_of(level["price"]), number_of(level["quantity"])] for level in book[side]]
            for side in ("bids", "asks")
        }
        return {"symbol": symbol, **sides, **moment_of(book["timestamp"]), "nonce": book["sequence"], "info": book}

    def fetch_trades(self, symbol: str, since: Optional[int], limit: Optional[int]) -> Verb:
        trades = Listing("ListTrades", "trades", "executedAt", {"tradingPairId": self.pair_of(symbol)})
        rows = yield from rows_of(trades, since, limit)
        return [trade_of(row, symbol) for row in rows]

    def fetch_ohlcv(self, symbol: str, timeframe: str, since: Optional[int], limit: Optional[int]) -> Verb:
        terms = {"interval": timeframe, "startTime": _text(since), "limit": _cut(limit, _CANDLES_MAX)}
        answer = yield "GetCandles", {"tradingPairId": self.pair_of(symbol), **terms}
        return [candle_of(candle) for candle in answer["candles"]]

    def fetch_balance(self) -> Verb:
        rows: List[Any] = []
        page, pages = 1, 1
        while page <= pages:
            answer = yield "ListBalances", {"page": page, "pageSize": _PAGE}
            rows += answer["balances"]
            page, pages = page + 1, answer["totalPages"]
        return balances_of(rows)

    def checked(self, operation: str, params: Params) -> Mapping[str, Any]:
        """`params` of an order. Raises NotSupported for one that the operation has no field for.

        The service ignores fields that it does not know, and ccxt has many for orders that wait for a price: an order
        with `triggerPrice` would be done at once, without it. What both have is in triggers.py.
        """
        for name, value in (params or {}).items():
            if value is not None and name not in _FIELDS[operation]:
                said = f"{operation} has no parameter {name}, and an order without it is another order"
                raise class_of("NotSupported", self.errors)(f"{said}: nothing was sent")
        return {name: value for name, value in (params or {}).items() if value is not None}

    def create_order(self, symbol: str, kind: str, side: str, amount: Any, price: Any, params: Params) -> Verb:
        # In ccxt a market order may be given a price, which does not count.
        kind, side = self._word(kind, ("LIMIT", "MARKET")), self._word(side, ("BUY", "SELL"))
        if kind == "LIMIT" and price is None:
            raise class_of("InvalidOrder", self.errors)("a limit order needs a price")
        unpriced = kind == "MARKET"
        mode = {"tradingMode": "MARGIN"} if self.market(symbol)["swap"] else {}
        fields: Dict[str, Any] = {
            "tradingPairId": self.pair_of(symbol), "orderType": kind, "side": side, **mode,
            "quantity": self.rounded(symbol, amount, "lotSize", ROUND_DOWN),
            "price": None if unpriced else self.rounded(symbol, price, "tickSize", ROUND_HALF_UP),
            "returnFills": True, **_margin_of(self.checked("CreateOrder", params)),
        }
        if fields.get("timeInForce") == "PO":
            fields = {**fields, "timeInForce": None, "postOnly": True}
        placed = yield "CreateOrder", fields
        return placed_of(placed, fields, symbol)

    def edit_order(self, order: str, symbol: str, amount: Any, price: Any, params: Params) -> Verb:
        fields = {
            "orderId": _name_of(order, params) if order == "" else order,
            "quantity": None if amount is None else self.rounded(symbol, amount, "lotSize", ROUND_DOWN),
            "price": None if price is None else self.rounded(symbol, price, "tickSize", ROUND_HALF_UP),
            "returnFills": True, **self.checked("ReplaceOrder", params),
        }
        replaced = yield "ReplaceOrder", fields
        placed = order_of((yield "GetOrder", {"orderId": replaced["orderId"]}))
        return {**placed, "trades": arrival_trades(replaced, placed["side"], placed["symbol"])}

    def cancel_order(self, order: str, params: Params) -> Verb:
        answer = yield "CancelOrder", {"orderId": _name_of(order, params)}
        return {"id": answer["orderId"], "status": "canceled", "info": answer}

    def cancel_all_orders(self, symbol: Optional[str]) -> Verb:
        if symbol is None:
            answer = yield "BatchCancelAllOrders", {}
        else:
            answer = yield "BatchCancelOrdersByPair", {"tradingPairId": self.pair_of(symbol)}
        return [{"id": order, "status": "canceled", "info": answer} for order in answer["orderIds"]]

    def fetch_order(self, order: str, params: Params) -> Verb:
        record = yield "GetOrder", {"orderId": _name_of(order, params)}
        return order_of(record)

    def fetch_orders(
        self, statuses: Sequence[str], symbol: Optional[str], since: Optional[int], limit: Optional[int],
    ) -> Verb:
        fields = {"status": list(statuses) or None, "tradingPairId": self.pair_of(symbol)}
        wanted = ALL if limit is None and tuple(statuses) == OPEN else limit
        rows = yield from rows_of(Listing("ListOrders", "orders", "createdAt", fields), since, wanted)
        return [order_of(row) for row in rows]

    def fetch_my_trades(self, symbol: Optional[str], since: Optional[int], limit: Optional[int]) -> Verb:
        trades = Listing("ListAccountTrades", "trades", "executedAt", {"tradingPairId": self.pair_of(symbol)})
        rows = yield from rows_of(trades, since, limit)
        yield from self.known(row["tradingPairId"] for row in rows)
        return [own_trade_of(row, self.symbol_of(row["tradingPairId"])) for row in rows]

    def fetch_time(self) -> Verb:
        answer = yield "GetServerTime", {}
        return answer["unixMs"]

    def fetch_status(self) -> Verb:
        answer = yield "Check", {}
        status = {"ok": "ok", "maintenance": "maintenance"}.get(answer["status"], "error")
        return {"status": status, **moment_of(answer["timestamp"]), "info": answer}


class Listing(NamedTuple):
    """A listing of the service, which is newest first."""
    name: str
    #: Field of the answer with the rows, and of a row with the time by which they are ordered.
    rows: str
    time: str
    fields: Dict[str, Any]

    def ask(self, token: str, size: int, start: Optional[int] = None, end: Optional[int] = None) -> Verb:
        span = {"startTime": _text(start), "endTime": _text(end)}
        answer = yield self.name, {**self.fields, **span, "pageToken": token, "pageSize": size}
        return answer[self.rows], answer.get("nextPageToken") or ""


def rows_of(listing: Listing, since: Optional[int], limit: Optional[int]) -> Verb:
    """`limit` rows, or a page: the oldest from `since` (Unix ms) on, or without it the newest. Oldest first."""
    wanted = _PAGE if limit is None else limit
    if since is None:
        newest = yield from _newest(listing, wanted)
        return newest[::-1]
    return (yield from _oldest(listing, _FIRST_MS if since <= 0 else ceil(since), None, wanted))


def _newest(listing: Listing, wanted: Optional[int], start: Optional[int] = None, end: Optional[int] = None) -> Verb:
    """The newest rows, newest first; None: all."""
    found: List[Any] = []
    token = ""
    while wanted is None or len(found) < wanted:
        size = _PAGE_MAX if wanted is None else min(_PAGE_MAX, wanted - len(found))
        rows, token = yield from listing.ask(token, size, start, end)
        found += rows
        if not token:
            break
    return found


def _oldest(listing: Listing, start: int, end: Optional[int], wanted: int) -> Verb:
    """The oldest rows of a span of time, oldest first.

    A span with more rows than a page holds is halved, and its earlier half asked for first. Each answer also says when
    its oldest row was, which ends the halving early.
    """
    rows, token = yield from listing.ask("", min(_PAGE_MAX, max(_PAGE, wanted)), start, end)
    if not token or not rows:
        return rows[::-1][:wanted]
    last = moment_of(rows[-1][listing.time])["timestamp"]
    if last <= start and end is not None and end <= start:
        # All of it in one millisecond: there is nothing to halve.
        rows = yield from _newest(listing, None, start, end)
        return rows[::-1][:wanted]
    middle = start + max(0, last - start) // 2
    earlier = yield from _oldest(listing, start, middle, wanted)
    if len(earlier) >= wanted:
        return earlier
    later = yield from _oldest(listing, middle + 1, end, wanted - len(earlier))
    return earlier + later


def _margin_of(params: Mapping[str, Any]) -> Dict[str, Any]:
    """As the service has them: ccxt has leverage as a number and margin modes in lower case."""
    fields = dict(params)
    if "leverage" in fields:
        fields["leverage"] = str(fields["leverage"])
    if "marginMode" in fields:
        fields["marginMode"] = str(fields["marginMode"]).upper()
    return fields


def _name_of(order: str, params: Params) -> str:
    """How the service knows the order: its id, or the client order id of one that rests."""
    name = (params or {}).get("clientOrderId")
    return f"client:{name}" if name else order


def _cut(limit: Optional[int], most: int) -> Optional[int]:
    return None if limit is None else min(limit, most)


def _text(since: Optional[int]) -> Optional[str]:
    return None if since is None else str(since)
