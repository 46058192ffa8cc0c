"""The same client for asyncio. Sockets live on the loop that first uses them; HTTP requests run on threads of their
own.

  async with AsyncClient("http://127.0.0.1:8080", Wallet(address, sign)) as client:
      await client.sign_in()
      async for frame in client.streams.trades(tradingPairId=pair):
          ...

A call that is cancelled may have been sent, and is done all the same.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import ssl
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, Generic, List, Optional, TypeVar, Union, cast

from . import calls
from . import types
from ._generated.table import OPERATIONS
from ._generated.async_methods import AsyncChannels, AsyncOperations, AsyncOrderOperations
from .book import BookReceiver, BookView
from .calls import USER_AGENT, Consent, Pause, RetryPolicy, Sign, State, Step, Steps
from .client import TIMEOUT
from .clock import LoopClock
from .errors import StreamError
from .forks import Guard, keep
from .http import HttpTransport
from .inbox import END, Inbox
from .link import StreamOptions
from .order_entry import OrderEntry
from .signing import SessionKey
from .sockets import SocketDialer
from .streams import Streams, url_of
from .topic import Listener, Receiver
from .wallet import Wallet, hex_of
from .wire import first_page, next_page, rows_of

F = TypeVar("F")
SessionEnded = Callable[[StreamError], Union[None, Awaitable[None]]]

#: Requests at once; more wait for one of these to end.
REQUESTS = 32


class AsyncClient(AsyncOperations):
    """A client of the exchange, for one event loop."""

    def __init__(
        self, base_url: str, wallet: Optional[Wallet] = None, *,
        client_id: Optional[str] = None, key: Optional[SessionKey] = None, server_key: Optional[str] = None,
        protocol: str = "legacy", retry: Optional[RetryPolicy] = None, timeout: float = TIMEOUT,
        user_agent: str = USER_AGENT, clock_offset: float = 0.0, ssl_context: Optional[ssl.SSLContext] = None,
        stream_options: Optional[StreamOptions] = None, session_ended: Optional[SessionEnded] = None,
    ) -> None:
        """As of `Client`; `session_ended` and the wallet's `sign` may be coroutine functions."""
        self._state = State(
            base_url, wallet.address if wallet else None, client_id, server_key, retry or RetryPolicy(), protocol,
            user_agent, key, clock_offset, key,
        )
        self._wallet, self._timeout, self._context = wallet, timeout, ssl_context
        self._transport = HttpTransport(self._state.place, timeout, ssl_context)
        self._threads = ThreadPoolExecutor(REQUESTS, thread_name_prefix="ringbook")
        self._stream_options = stream_options or StreamOptions()
        self._session_ended = session_ended
        self._sockets: Optional[_Sockets] = None
        self._guard = Guard(self, AsyncClient._forked)
        #: Channels, each as a stream of its frames.
        self.streams = _Channels(self)
        #: Orders over a socket, where the operator has switched that on: as over REST, signed once for all.
        self.orders = AsyncOrders(self)

    def _forked(self) -> None:
        """This is a child of the process that made the client: it opens its own sockets, on threads of its own."""
        sockets, self._sockets = self._sockets, None
        keep(self._threads)
        self._threads = ThreadPoolExecutor(REQUESTS, thread_name_prefix="ringbook")
        if sockets is not None:
            sockets.forked()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def key(self) -> Optional[SessionKey]:
        """The key that signs, or None before a sign-in."""
        return self._state.key

    @property
    def clock_offset(self) -> float:
        """The service's clock minus this one, ms."""
        return self._state.clock_offset

    async def call(self, name: str, **fields: Any) -> Any:
        """Any operation by its name in the specification, untyped."""
        return await self._call(name, fields)

    async def rows(self, name: str, **fields: Any) -> AsyncIterator[Any]:
        """All rows of a listing, page by page as they are asked for: `client.rows("ListOrders", status=["FILLED"])`."""
        operation = OPERATIONS[name]
        page: Optional[Dict[str, Any]] = first_page(operation, fields)
        while page is not None:
            answer = await self._call(name, page)
            for row in rows_of(answer):
                yield row
            page = next_page(operation, page, answer)

    async def sign_in(self, referral_code: Optional[str] = None) -> types.VerifyResponse:
        """Opens a session: challenge, wallet signature, verify. Calls use its key from then on."""
        return cast("types.VerifyResponse", await self._open(calls.sign_in(self._state, referral_code)))

    async def sign_in_for(self, owner_address: str) -> types.CreateDelegatedSessionResponse:
        """Opens a session of the wallet as a delegated agent of the account of `owner_address`."""
        session = await self._open(calls.sign_in_for(self._state, owner_address))
        return cast("types.CreateDelegatedSessionResponse", session)

    async def consent_to(self, master: str, session_public_key: str) -> Consent:
        """The wallet agrees to become a sub-account of the wallet `master`; what the master's session with this key
        needs."""
        return cast(Consent, await self._run(calls.consent_to(self._state, master, session_public_key)))

    async def sync_clock(self) -> float:
        """Measures the service's clock against this one; signed calls then carry the service's time. The offset in
        ms."""
        return cast(float, await self._run(calls.sync_clock(self._state)))

    def book(self, *, tradingPairId: str, magnitude: Optional[int] = None) -> AsyncBook:
        """Keeps a copy of a book, of which every change is verified. `magnitude` groups prices by that many ticks."""
        return AsyncBook(self._get_sockets(), {"tradingPairId": tradingPairId, "magnitude": magnitude})

    async def close(self) -> None:
        """Closes all streams, the socket of order entry, and every connection."""
        sockets, self._sockets = self._sockets, None
        if sockets is not None:
            await sockets.close()
        self._threads.shutdown(wait=False)
        self._transport.close()

    async def _call(self, name: str, fields: Dict[str, Any]) -> Any:
        return await self._run(calls.call(self._state, name, fields))

    async def _open(self, steps: Steps) -> Any:
        session = await self._run(steps)
        if self._sockets is not None:
            self._sockets.streams.signed_in()
            self._sockets.entry.signed_in()
        return session

    async def _run(self, steps: Steps) -> Any:
        try:
            step: Step = next(steps)
            while True:
                try:
                    done = await self._do(step)
                except Exception as error:  # noqa: BLE001  the steps decide what becomes of it
                    step = steps.throw(error)
                else:
                    step = steps.send(done)
        except StopIteration as stop:
            return stop.value

    async def _do(self, step: Step) -> Any:
        if isinstance(step, Pause):
            return await asyncio.sleep(step.seconds)
        if isinstance(step, Sign):
            if self._wallet is None:
                raise RuntimeError("a client without a wallet cannot sign")
            signature = self._wallet.sign(step.text)
            return hex_of(await signature if inspect.isawaitable(signature) else signature)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._transport.send, step)

    def _get_sockets(self) -> _Sockets:
        if self._sockets is None:
            ended = self._session_ended
            self._sockets = _Sockets(self._state, self._stream_options, self._context, self._timeout, ended)
        return self._sockets


class _Sockets:
    """The sockets of one client, on the loop that runs."""

    def __init__(
        self, state: State, options: StreamOptions, context: Optional[ssl.SSLContext], timeout: float,
        session_ended: Optional[SessionEnded],
    ) -> None:
        self._process = os.getpid()
        self._loop = asyncio.get_running_loop()
        self._session_ended = session_ended
        self._tasks: List[asyncio.Future[None]] = []
        self.waiting = options.waiting
        clock, url = LoopClock(self._loop), url_of(state.base_url)
        self._dialer = SocketDialer(self._loop, context)
        self.streams = Streams(url, options, clock, self._dialer, state, self._tell)
        self.entry = OrderEntry(url, options, clock, self._dialer, state, timeout)

    def forked(self) -> None:
        keep(self)
        self._dialer.forked()

    def check(self) -> None:
        """Raises StreamError in a child of the process that opened the sockets: they are not its own."""
        if self._process != os.getpid():
            raise StreamError("FORKED", "It was opened before the fork: open it anew in this process")

    def _tell(self, error: StreamError) -> None:
        if self._session_ended is not None:
            self._loop.call_soon(self._tell_now, self._session_ended, error)

    def _tell_now(self, session_ended: SessionEnded, error: StreamError) -> None:
        told = session_ended(error)
        if inspect.isawaitable(told):
            self._tasks = [task for task in self._tasks if not task.done()] + [asyncio.ensure_future(told)]

    async def close(self) -> None:
        self.streams.close()
        self.entry.close()
        await self._dialer.closed()


class _Signal:
    """Wakes who waits for something to change."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def __call__(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_for(self, holds: Callable[[], bool], timeout: Optional[float]) -> None:
        """Waits until it holds. Raises TimeoutError."""
        async def until() -> None:
            while not holds():
                await self._changed.wait()

        if holds():
            return
        try:
            await asyncio.wait_for(until(), timeout)
        except asyncio.TimeoutError:
            raise TimeoutError("nothing came in time") from None


class _Subscription:
    """What a stream and a book have in common: a listener."""

    def __init__(self, sockets: _Sockets) -> None:
        self._sockets = sockets
        self._listener: Optional[Listener] = None

    def open(self, channel: str, params: Dict[str, Any], receiver: Receiver) -> None:
        self._listener = self._sockets.streams.subscribe(channel, params, receiver)

    def check(self) -> None:
        self._sockets.check()

    def renew(self) -> None:
        """Asks for a new snapshot."""
        self.check()
        if self._listener is not None:
            self._sockets.streams.renew(self._listener)

    def close(self) -> None:
        """Listens no longer."""
        self.check()
        if self._listener is not None:
            self._sockets.streams.leave(self._listener)


class AsyncStream(Generic[F]):
    """The frames of a channel: iterate it. A snapshot, then updates without gap or repetition; another snapshot may
    come at any time, and is then in place of everything before.

    Iterating raises StreamError when the service refuses. A private stream whose session is over raises it too, and
    goes on after the next sign-in. Frames that nobody reads are dropped when there are too many: StreamError
    `UPDATES_LOST`, and then a new snapshot. A stream is for one reader: each reader opens its own, and the client
    subscribes once.
    """

    def __init__(self, sockets: _Sockets, channel: str, params: Dict[str, Any]) -> None:
        self._signal = _Signal()
        self._subscription = _Subscription(sockets)
        self._inbox = Inbox(sockets.waiting, self._subscription.renew, self._signal)
        self._subscription.open(channel, params, self._inbox)

    async def __aenter__(self) -> AsyncStream[F]:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    @property
    def status(self) -> str:
        """connecting, open, reconnecting or closed. `open`: what comes is complete."""
        return self._inbox.status

    async def get(self, timeout: Optional[float] = None) -> F:
        """The next frame. Raises TimeoutError after `timeout` seconds, StreamError, or EOFError when it was closed."""
        item: Any = None
        self._subscription.check()
        while item is None:
            # Another task may have taken it. Nothing is taken before nothing can cancel any more.
            await self._signal.wait_for(lambda: not self._inbox.is_empty, timeout)
            item = self._inbox.take()
        if item is END:
            raise EOFError("the stream was closed")
        if isinstance(item, StreamError):
            raise item
        return cast(F, item)

    def __aiter__(self) -> AsyncIterator[F]:
        return self

    async def __anext__(self) -> F:
        try:
            return await self.get()
        except EOFError:
            raise StopAsyncIteration from None

    def renew(self) -> None:
        """Asks for a new snapshot."""
        self._subscription.renew()

    def close(self) -> None:
        """Listens no longer; what came before can still be read."""
        self._subscription.close()


class AsyncBook:
    """A copy of a book, verified with every frame."""

    def __init__(self, sockets: _Sockets, params: Dict[str, Any]) -> None:
        self._signal = _Signal()
        self._subscription = _Subscription(sockets)
        self._receiver = BookReceiver(self._subscription.renew, self._signal)
        self._subscription.open("orderbook", params, self._receiver)

    async def __aenter__(self) -> AsyncBook:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def view(self, depth: int = 1000) -> BookView:
        """The best levels of both sides as of one moment; `live` says whether it is the service's book."""
        return self._receiver.state.view(depth)

    async def wait(self, timeout: Optional[float] = None) -> BookView:
        """The book as soon as it is live. Raises StreamError when it was refused or closed, TimeoutError."""
        self._subscription.check()
        await self._signal.wait_for(self._receiver.is_settled, timeout)
        return self._receiver.settled()

    async def wait_for(self, holds: Callable[[BookView], bool], timeout: Optional[float] = None) -> BookView:
        """The book as soon as it is live and this holds of it."""
        self._subscription.check()
        await self._signal.wait_for(lambda: self._receiver.holds(holds), timeout)
        return self._receiver.settled()

    def close(self) -> None:
        """Listens no longer."""
        self._subscription.close()


class _Channels(AsyncChannels):
    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    def _listen(self, channel: str, params: Dict[str, Any]) -> AsyncStream[Any]:
        return AsyncStream(self._client._get_sockets(), channel, params)


class AsyncOrders(AsyncOrderOperations):
    """Order entry over a socket, which is opened by the first call and stays until `close`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def _call(self, name: str, fields: Dict[str, Any]) -> Any:
        return await self.submit(name, fields)

    def submit(self, name: str, fields: Dict[str, Any]) -> asyncio.Future[Any]:
        """Makes a call; what it answers is in the future. Calls are sent in the order they are made."""
        answer: Future[Any] = self._client._get_sockets().entry.call(name, fields)
        return asyncio.wrap_future(answer)

    @property
    def status(self) -> str:
        """connecting, open, reconnecting or closed."""
        sockets = self._client._sockets
        return "closed" if sockets is None else sockets.entry.status

    def close(self) -> None:
        """Closes the socket; calls that are not answered fail. The next call opens another one."""
        sockets = self._client._sockets
        if sockets is not None:
            sockets.entry.close()
