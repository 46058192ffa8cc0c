"""The verbs and shapes of ccxt, so that programs written for it need little more than another object.

  exchange = Unified(client)
  order = exchange.create_order("BTC/USDC", "limit", "buy", 0.01, 60000)

Symbols are `BASE/QUOTE`, of perpetuals `BASE/QUOTE:QUOTE`; numbers are floats as in ccxt, and `info` has what the
service said, as exact text. What is sent is text: amounts are cut to the lot size and prices rounded to the tick size.
Errors have the names of ccxt's classes; given the module (`Unified(client, errors=ccxt)`) they are ccxt's own.

What may have been applied is `RequestTimeout`, as in ccxt: look before you send it again, or give
`params={"idempotencyKey": ...}` and repeat it as it is.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP
from typing import Any, Dict, List, Optional, Sequence, cast

from .aio import AsyncClient
from .ccxt_errors import BaseError, unified
from .client import Client
from .errors import RingbookError
from .shapes import Shape
from .triggers import TriggerVerbs
from .verbs import CLOSED, Params, Verb


class _Base:
    """What both have: markets, and what is rounded to them."""
    #: ccxt's name of how `precision` is meant: as steps.
    precisionMode = 4
    id = "ringbook"
    timeframes = {each: each for each in ("1m", "5m", "15m", "30m", "1h", "4h", "1d", "1w")}

    def __init__(self, errors: Any) -> None:
        self._verbs = TriggerVerbs(errors)

    @property
    def markets(self) -> Dict[str, Shape]:
        """By symbol, once they were loaded."""
        return self._verbs.markets

    @property
    def symbols(self) -> List[str]:
        return sorted(self._verbs.markets)

    @property
    def currencies(self) -> Dict[str, Shape]:
        """By code, of the markets that were loaded."""
        return self._verbs.currencies

    def market(self, symbol: str) -> Shape:
        """The market of a symbol. Raises BadSymbol."""
        return self._verbs.market(symbol)

    def amount_to_precision(self, symbol: str, amount: Any) -> str:
        """An amount cut to the lot size, as it is sent."""
        return self._verbs.rounded(symbol, amount, "lotSize", ROUND_DOWN)

    def price_to_precision(self, symbol: str, price: Any) -> str:
        """A price rounded to the tick size, as it is sent."""
        return self._verbs.rounded(symbol, price, "tickSize", ROUND_HALF_UP)

    def currency_to_precision(self, code: str, amount: Any) -> str:
        """An amount cut to the digits that amounts of a currency have, as in transfers."""
        return self._verbs.cut(code, amount)


class Unified(_Base):
    """The verbs of ccxt for a `Client` that has signed in. `errors`: a module with ccxt's classes."""

    def __init__(self, client: Client, errors: Any = None) -> None:
        super().__init__(errors)
        self.client = client

    def _run(self, verb: Verb) -> Any:
        steps = self._verbs.prepared(verb)
        try:
            name, fields = next(steps)
            while True:
                name, fields = steps.send(self.client.call(name, **fields))
        except StopIteration as stop:
            return stop.value
        except BaseError:
            raise
        except RingbookError as error:
            raise unified(error, self._verbs.errors) from error

    def load_markets(self, reload: bool = False) -> Dict[str, Shape]:
        """Markets by symbol; they are kept, unless `reload`."""
        return cast("Dict[str, Shape]", self._run(self._verbs.load_markets(reload)))

    def fetch_ticker(self, symbol: str) -> Shape:
        """24 hours of a market, and its best prices."""
        return cast("Shape", self._run(self._verbs.fetch_ticker(symbol)))

    def fetch_order_book(self, symbol: str, limit: Optional[int] = None) -> Shape:
        """The best `limit` levels of each side; `nonce` is the sequence."""
        return cast("Shape", self._run(self._verbs.fetch_order_book(symbol, limit)))

    def fetch_trades(self, symbol: str, since: Optional[int] = None, limit: Optional[int] = None) -> List[Shape]:
        """Public trades from `since` (Unix ms) on, or the newest; oldest first, 100 or `limit`."""
        return cast("List[Shape]", self._run(self._verbs.fetch_trades(symbol, since, limit)))

    def fetch_ohlcv(
        self, symbol: str, timeframe: str = "1m", since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[List[float]]:
        """Candles, oldest first."""
        return cast("List[List[float]]", self._run(self._verbs.fetch_ohlcv(symbol, timeframe, since, limit)))

    def fetch_balance(self) -> Shape:
        """What is free, used, and both, by currency."""
        return cast("Shape", self._run(self._verbs.fetch_balance()))

    def create_order(
        self, symbol: str, type: str, side: str, amount: Any, price: Any = None, params: Params = None,
    ) -> Shape:
        """Places a limit or market order; `params` are fields of CreateOrder, or say what it waits for."""
        return cast("Shape", self._run(self._verbs.create_order(symbol, type, side, amount, price, params)))

    def edit_order(
        self, id: str, symbol: str, type: Optional[str] = None, side: Optional[str] = None, amount: Any = None,
        price: Any = None, params: Params = None,
    ) -> Shape:
        """Replaces an order; the new one has another id. `type` and `side` stay what they are. With an empty id
        `params["clientOrderId"]` names the order, otherwise it is the new one's."""
        return cast("Shape", self._run(self._verbs.edit_order(id, symbol, amount, price, params)))

    def cancel_order(self, id: str, symbol: Optional[str] = None, params: Params = None) -> Shape:
        """Cancels an order; `symbol` is not needed. `params["clientOrderId"]` names it in place of the id;
        `params["trigger"]`: it is one that waits for a price."""
        return cast("Shape", self._run(self._verbs.cancel_order(id, params)))

    def cancel_all_orders(self, symbol: Optional[str] = None) -> List[Shape]:
        """Cancels all orders, or those of a market."""
        return cast("List[Shape]", self._run(self._verbs.cancel_all_orders(symbol)))

    def fetch_order(self, id: str, symbol: Optional[str] = None, params: Params = None) -> Shape:
        """An order; `symbol` is not needed. `params["clientOrderId"]` names it in place of the id;
        `params["trigger"]`: it is one that waits for a price."""
        return cast("Shape", self._run(self._verbs.fetch_order(id, params)))

    def fetch_orders(
        self, symbol: Optional[str] = None, since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[Shape]:
        """Orders from `since` (Unix ms) on, or the newest; oldest first, 100 or `limit`."""
        return cast("List[Shape]", self._run(self._verbs.fetch_orders((), symbol, since, limit)))

    def fetch_open_orders(
        self, symbol: Optional[str] = None, since: Optional[int] = None, limit: Optional[int] = None,
        params: Params = None,
    ) -> List[Shape]:
        """Orders that rest; with `params["trigger"]` those that wait for a price."""
        return cast("List[Shape]", self._run(self._verbs.fetch_open_orders(symbol, since, limit, params)))

    def fetch_closed_orders(
        self, symbol: Optional[str] = None, since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[Shape]:
        """Orders that were filled."""
        return cast("List[Shape]", self._run(self._verbs.fetch_orders(CLOSED, symbol, since, limit)))

    def fetch_my_trades(
        self, symbol: Optional[str] = None, since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[Shape]:
        """Trades of the account from `since` (Unix ms) on, or the newest; oldest first, 100 or `limit`."""
        return cast("List[Shape]", self._run(self._verbs.fetch_my_trades(symbol, since, limit)))

    def fetch_time(self) -> int:
        """The service's clock, Unix ms."""
        return cast("int", self._run(self._verbs.fetch_time()))

    def fetch_status(self) -> Shape:
        """ok, maintenance or error."""
        return cast("Shape", self._run(self._verbs.fetch_status()))

    def set_leverage(self, leverage: Any, symbol: Optional[str] = None, params: Params = None) -> Shape:
        """Raises NotSupported: each order has its own, `params["leverage"]`."""
        return cast("Shape", self._run(self._verbs.set_leverage()))

    def fetch_positions(self, symbols: Optional[Sequence[str]] = None) -> List[Shape]:
        """Open positions, of all perpetuals or of these; without `collateral` and `marginRatio`."""
        return cast("List[Shape]", self._run(self._verbs.fetch_positions(symbols)))

    def fetch_position(self, symbol: str, params: Params = None) -> Optional[Shape]:
        """The open position of a perpetual. ArgumentsRequired: there are several, `params["positionId"]` names one."""
        return cast("Optional[Shape]", self._run(self._verbs.fetch_position(symbol, params)))

    def close_position(self, symbol: str, side: Optional[str] = None, params: Params = None) -> Shape:
        """Closes a position with an order that only reduces; `params` are fields of ClosePosition."""
        return cast("Shape", self._run(self._verbs.close_position(symbol, side, params)))

    def fetch_funding_rate(self, symbol: str) -> Shape:
        """The rate that was paid last, and when it is paid next."""
        return cast("Shape", self._run(self._verbs.fetch_funding_rate(symbol)))

    def fetch_funding_rate_history(
        self, symbol: str, since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[Shape]:
        """Rates that were paid from `since` (Unix ms) on, or the newest; oldest first."""
        return cast("List[Shape]", self._run(self._verbs.fetch_funding_rate_history(symbol, since, limit)))

    def fetch_funding_history(
        self, symbol: Optional[str] = None, since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[Shape]:
        """Funding that positions got and paid from `since` (Unix ms) on, or the newest; oldest first."""
        return cast("List[Shape]", self._run(self._verbs.fetch_funding_history(symbol, since, limit)))


class AsyncUnified(_Base):
    """The verbs of ccxt for an `AsyncClient` that has signed in. `errors`: a module with ccxt's classes."""

    def __init__(self, client: AsyncClient, errors: Any = None) -> None:
        super().__init__(errors)
        self.client = client

    async def _run(self, verb: Verb) -> Any:
        steps = self._verbs.prepared(verb)
        try:
            name, fields = next(steps)
            while True:
                name, fields = steps.send(await self.client.call(name, **fields))
        except StopIteration as stop:
            return stop.value
        except BaseError:
            raise
        except RingbookError as error:
            raise unified(error, self._verbs.errors) from error

    async def load_markets(self, reload: bool = False) -> Dict[str, Shape]:
        """Markets by symbol; they are kept, unless `reload`."""
        return cast("Dict[str, Shape]", await self._run(self._verbs.load_markets(reload)))

    async def fetch_ticker(self, symbol: str) -> Shape:
        """24 hours of a market, and its best prices."""
        return cast("Shape", await self._run(self._verbs.fetch_ticker(symbol)))

    async def fetch_order_book(self, symbol: str, limit: Optional[int] = None) -> Shape:
        """The best `limit` levels of each side; `nonce` is the sequence."""
        return cast("Shape", await self._run(self._verbs.fetch_order_book(symbol, limit)))

    async def fetch_trades(self, symbol: str, since: Optional[int] = None, limit: Optional[int] = None) -> List[Shape]:
        """Public trades from `since` (Unix ms) on, or the newest; oldest first, 100 or `limit`."""
        return cast("List[Shape]", await self._run(self._verbs.fetch_trades(symbol, since, limit)))

    async def fetch_ohlcv(
        self, symbol: str, timeframe: str = "1m", since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[List[float]]:
        """Candles, oldest first."""
        return cast("List[List[float]]", await self._run(self._verbs.fetch_ohlcv(symbol, timeframe, since, limit)))

    async def fetch_balance(self) -> Shape:
        """What is free, used, and both, by currency."""
        return cast("Shape", await self._run(self._verbs.fetch_balance()))

    async def create_order(
        self, symbol: str, type: str, side: str, amount: Any, price: Any = None, params: Params = None,
    ) -> Shape:
        """Places a limit or market order; `params` are fields of CreateOrder, or say what it waits for."""
        return cast("Shape", await self._run(self._verbs.create_order(symbol, type, side, amount, price, params)))

    async def edit_order(
        self, id: str, symbol: str, type: Optional[str] = None, side: Optional[str] = None, amount: Any = None,
        price: Any = None, params: Params = None,
    ) -> Shape:
        """Replaces an order; the new one has another id. `type` and `side` stay what they are. With an empty id
        `params["clientOrderId"]` names the order, otherwise it is the new one's."""
        return cast("Shape", await self._run(self._verbs.edit_order(id, symbol, amount, price, params)))

    async def cancel_order(self, id: str, symbol: Optional[str] = None, params: Params = None) -> Shape:
        """Cancels an order; `symbol` is not needed. `params["clientOrderId"]` names it in place of the id;
        `params["trigger"]`: it is one that waits for a price."""
        return cast("Shape", await self._run(self._verbs.cancel_order(id, params)))

    async def cancel_all_orders(self, symbol: Optional[str] = None) -> List[Shape]:
        """Cancels all orders, or those of a market."""
        return cast("List[Shape]", await self._run(self._verbs.cancel_all_orders(symbol)))

    async def fetch_order(self, id: str, symbol: Optional[str] = None, params: Params = None) -> Shape:
        """An order; `symbol` is not needed. `params["clientOrderId"]` names it in place of the id;
        `params["trigger"]`: it is one that waits for a price."""
        return cast("Shape", await self._run(self._verbs.fetch_order(id, params)))

    async def fetch_orders(
        self, symbol: Optional[str] = None, since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[Shape]:
        """Orders from `since` (Unix ms) on, or the newest; oldest first, 100 or `limit`."""
        return cast("List[Shape]", await self._run(self._verbs.fetch_orders((), symbol, since, limit)))

    async def fetch_open_orders(
        self, symbol: Optional[str] = None, since: Optional[int] = None, limit: Optional[int] = None,
        params: Params = None,
    ) -> List[Shape]:
        """Orders that rest; with `params["trigger"]` those that wait for a price."""
        return cast("List[Shape]", await self._run(self._verbs.fetch_open_orders(symbol, since, limit, params)))

    async def fetch_closed_orders(
        self, symbol: Optional[str] = None, since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[Shape]:
        """Orders that were filled."""
        return cast("List[Shape]", await self._run(self._verbs.fetch_orders(CLOSED, symbol, since, limit)))

    async def fetch_my_trades(
        self, symbol: Optional[str] = None, since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[Shape]:
        """Trades of the account from `since` (Unix ms) on, or the newest; oldest first, 100 or `limit`."""
        return cast("List[Shape]", await self._run(self._verbs.fetch_my_trades(symbol, since, limit)))

    async def fetch_time(self) -> int:
        """The service's clock, Unix ms."""
        return cast("int", await self._run(self._verbs.fetch_time()))

    async def fetch_status(self) -> Shape:
        """ok, maintenance or error."""
        return cast("Shape", await self._run(self._verbs.fetch_status()))

    async def set_leverage(self, leverage: Any, symbol: Optional[str] = None, params: Params = None) -> Shape:
        """Raises NotSupported: each order has its own, `params["leverage"]`."""
        return cast("Shape", await self._run(self._verbs.set_leverage()))

    async def fetch_positions(self, symbols: Optional[Sequence[str]] = None) -> List[Shape]:
        """Open positions, of all perpetuals or of these; without `collateral` and `marginRatio`."""
        return cast("List[Shape]", await self._run(self._verbs.fetch_positions(symbols)))

    async def fetch_position(self, symbol: str, params: Params = None) -> Optional[Shape]:
        """The open position of a perpetual. ArgumentsRequired: there are several, `params["positionId"]` names one."""
        return cast("Optional[Shape]", await self._run(self._verbs.fetch_position(symbol, params)))

    async def close_position(self, symbol: str, side: Optional[str] = None, params: Params = None) -> Shape:
        """Closes a position with an order that only reduces; `params` are fields of ClosePosition."""
        return cast("Shape", await self._run(self._verbs.close_position(symbol, side, params)))

    async def fetch_funding_rate(self, symbol: str) -> Shape:
        """The rate that was paid last, and when it is paid next."""
        return cast("Shape", await self._run(self._verbs.fetch_funding_rate(symbol)))

    async def fetch_funding_rate_history(
        self, symbol: str, since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[Shape]:
        """Rates that were paid from `since` (Unix ms) on, or the newest; oldest first."""
        return cast("List[Shape]", await self._run(self._verbs.fetch_funding_rate_history(symbol, since, limit)))

    async def fetch_funding_history(
        self, symbol: Optional[str] = None, since: Optional[int] = None, limit: Optional[int] = None,
    ) -> List[Shape]:
        """Funding that positions got and paid from `since` (Unix ms) on, or the newest; oldest first."""
        return cast("List[Shape]", await self._run(self._verbs.fetch_funding_history(symbol, since, limit)))
