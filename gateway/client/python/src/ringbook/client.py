"""The client for programs that wait. Streams and order entry run on a thread of their own.

  with Client("http://127.0.0.1:8080", Wallet(address, sign)) as client:
      client.sign_in()
      client.create_order(tradingPairId=pair, orderType="LIMIT", side="BUY", quantity="1", price="100")
"""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
import time
from concurrent.futures import Future
from typing import Any, Callable, Dict, Generic, Iterator, Optional, TypeVar, cast

from . import calls
from . import types
from ._generated.table import OPERATIONS
from ._generated.methods import Channels, Operations, OrderOperations
from .book import BookReceiver, BookView
from .calls import USER_AGENT, Consent, Pause, RetryPolicy, Sign, State, Step, Steps
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
R = TypeVar("R")

#: Longest time of one try in seconds: above the service's own deadline of 30 s.
TIMEOUT = 35.0


class Client(Operations):
    """A client of the exchange. May be used by several threads at once."""

    def __init__(
        self, base_url: str, wallet: Optional[Wallet] = None, *,
        client_id: Optional[str] = None, key: Optional[SessionKey] = None, server_key: Optional[str] = None,
        protocol: str = "legacy", retry: Optional[RetryPolicy] = None, timeout: float = TIMEOUT,
        user_agent: str = USER_AGENT, clock_offset: float = 0.0, ssl_context: Optional[ssl.SSLContext] = None,
        stream_options: Optional[StreamOptions] = None, session_ended: Optional[Callable[[StreamError], None]] = None,
    ) -> None:
        """`base_url`: scheme, host and port. `wallet` signs in; `client_id` names an application, None: the default
        one.

        `key`: session key to use instead of a new one; with a session that is open already no sign-in is needed.
        `server_key`: secret key of an application's backend. `protocol`: `legacy`, or `rfc9421`. `retry`: without one
        every call is sent once. `timeout`: longest time of one try, seconds. `clock_offset`: the service's clock
        minus this one in ms; `sync_clock` measures it. `session_ended`: called, on a thread of its own, when streams
        find the session over; the place to sign in.
        """
        self._state = State(
            base_url, wallet.address if wallet else None, client_id, server_key, retry or RetryPolicy(), protocol,
            user_agent, key, clock_offset, key,
        )
        self._wallet, self._timeout, self._context = wallet, timeout, ssl_context
        self._transport = HttpTransport(self._state.place, timeout, ssl_context)
        self._stream_options = stream_options or StreamOptions()
        self._session_ended = session_ended
        self._lock = threading.Lock()
        self._background: Optional[_Background] = None
        self._guard = Guard(self, Client._forked)
        #: Channels, each as a stream of its frames.
        self.streams = _Channels(self)
        #: Orders over a socket, where the operator has switched that on: as over REST, signed once for all.
        self.orders = Orders(self)

    def _forked(self) -> None:
        """This is a child of the process that made the client: it opens its own sockets."""
        background, self._background = self._background, None
        self._lock = threading.Lock()
        if background is not None:
            background.forked()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def key(self) -> Optional[SessionKey]:
        """The key that signs, or None before a sign-in."""
        return self._state.key

    @property
    def clock_offset(self) -> float:
        """The service's clock minus this one, ms."""
        return self._state.clock_offset

    def call(self, name: str, **fields: Any) -> Any:
        """Any operation by its name in the specification, untyped."""
        return self._call(name, fields)

    def rows(self, name: str, **fields: Any) -> Iterator[Any]:
        """All rows of a listing, page by page as they are asked for: `client.rows("ListOrders", status=["FILLED"])`."""
        operation = OPERATIONS[name]
        page: Optional[Dict[str, Any]] = first_page(operation, fields)
        while page is not None:
            answer = self._call(name, page)
            yield from rows_of(answer)
            page = next_page(operation, page, answer)

    def sign_in(self, referral_code: Optional[str] = None) -> types.VerifyResponse:
        """Opens a session: challenge, wallet signature, verify. Calls use its key from then on."""
        return cast("types.VerifyResponse", self._open(calls.sign_in(self._state, referral_code)))

    def sign_in_for(self, owner_address: str) -> types.CreateDelegatedSessionResponse:
        """Opens a session of the wallet as a delegated agent of the account of `owner_address`."""
        return cast("types.CreateDelegatedSessionResponse", self._open(calls.sign_in_for(self._state, owner_address)))

    def consent_to(self, master: str, session_public_key: str) -> Consent:
        """The wallet agrees to become a sub-account of the wallet `master`; what the master's session with this key
        needs."""
        return cast(Consent, self._run(calls.consent_to(self._state, master, session_public_key)))

    def sync_clock(self) -> float:
        """Measures the service's clock against this one; signed calls then carry the service's time. The offset in
        ms."""
        return cast(float, self._run(calls.sync_clock(self._state)))

    def book(self, *, tradingPairId: str, magnitude: Optional[int] = None) -> Book:
        """Keeps a copy of a book, of which every change is verified. `magnitude` groups prices by that many ticks."""
        return Book(self._sockets(), {"tradingPairId": tradingPairId, "magnitude": magnitude})

    def close(self) -> None:
        """Closes all streams, the socket of order entry, and every connection."""
        with self._lock:
            background, self._background = self._background, None
        if background is not None:
            background.stop()
        self._transport.close()

    def _call(self, name: str, fields: Dict[str, Any]) -> Any:
        return self._run(calls.call(self._state, name, fields))

    def _open(self, steps: Steps) -> Any:
        session = self._run(steps)
        with self._lock:
            background = self._background
        if background is not None:
            background.run(background.signed_in)
        return session

    def _run(self, steps: Steps) -> Any:
        try:
            step: Step = next(steps)
            while True:
                try:
                    done = self._do(step)
                except Exception as error:  # noqa: BLE001  the steps decide what becomes of it
                    step = steps.throw(error)
                else:
                    step = steps.send(done)
        except StopIteration as stop:
            return stop.value

    def _do(self, step: Step) -> Any:
        if isinstance(step, Pause):
            return time.sleep(step.seconds)
        if isinstance(step, Sign):
            if self._wallet is None:
                raise RuntimeError("a client without a wallet cannot sign")
            return hex_of(self._wallet.sign(step.text))
        return self._transport.send(step)

    def _sockets(self) -> _Background:
        with self._lock:
            if self._background is None:
                ended = self._session_ended
                self._background = _Background(self._state, self._stream_options, self._context, self._timeout, ended)
            return self._background


class _Background:
    """A thread with an asyncio loop, on which the sockets of one client live."""

    def __init__(
        self, state: State, options: StreamOptions, context: Optional[ssl.SSLContext], timeout: float,
        session_ended: Optional[Callable[[StreamError], None]],
    ) -> None:
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._session_ended = session_ended
        self.waiting = options.waiting
        clock, url = LoopClock(self._loop), url_of(state.base_url)
        self._dialer = SocketDialer(self._loop, context)
        self.streams = Streams(url, options, clock, self._dialer, state, self._tell)
        self.entry = OrderEntry(url, options, clock, self._dialer, state, timeout)
        self._thread = threading.Thread(target=self._loop.run_forever, name="ringbook", daemon=True)
        self._thread.start()

    def _tell(self, error: StreamError) -> None:
        if self._session_ended is not None:
            threading.Thread(target=self._session_ended, args=(error,), name="ringbook session", daemon=True).start()

    def forked(self) -> None:
        keep(self)
        self._dialer.forked()

    def check(self) -> None:
        """Raises StreamError in a child of the process that opened the sockets: they are not its own."""
        if self._process != os.getpid():
            raise StreamError("FORKED", "It was opened before the fork: open it anew in this process")

    def signed_in(self) -> None:
        self.streams.signed_in()
        self.entry.signed_in()

    def run(self, act: Callable[[], R]) -> R:
        """Runs `act` on the thread, and waits for it."""
        self.check()
        if threading.current_thread() is self._thread:
            return act()
        done: Future[R] = Future()

        def perform() -> None:
            try:
                done.set_result(act())
            except BaseException as error:  # noqa: BLE001  it belongs to who waits
                done.set_exception(error)

        self._loop.call_soon_threadsafe(perform)
        return done.result()

    def soon(self, act: Callable[[], None]) -> None:
        self.check()
        self._loop.call_soon_threadsafe(act)

    def stop(self) -> None:
        """Closes everything; the thread has ended then."""
        def close() -> None:
            self.streams.close()
            self.entry.close()

        self.run(close)
        asyncio.run_coroutine_threadsafe(self._dialer.closed(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Signal:
    """Wakes who waits for something to change."""

    def __init__(self) -> None:
        self._condition = threading.Condition()

    def __call__(self) -> None:
        with self._condition:
            self._condition.notify_all()

    def wait_for(self, holds: Callable[[], bool], timeout: Optional[float]) -> None:
        """Waits until it holds. Raises TimeoutError."""
        with self._condition:
            if not self._condition.wait_for(holds, timeout):
                raise TimeoutError("nothing came in time")


class _Subscription:
    """What a stream and a book have in common: a listener on the thread of the sockets."""

    def __init__(self, background: _Background) -> None:
        self._background = background
        self._listener: Optional[Listener] = None

    def open(self, channel: str, params: Dict[str, Any], receiver: Receiver) -> None:
        def subscribe() -> None:
            # Known before anything comes.
            self._listener = self._background.streams.subscribe(channel, params, receiver)

        self._background.run(subscribe)

    def check(self) -> None:
        self._background.check()

    def _renew(self) -> None:
        if self._listener is not None:
            self._background.streams.renew(self._listener)

    def _leave(self) -> None:
        if self._listener is not None:
            self._background.streams.leave(self._listener)

    def renew(self) -> None:
        """Asks for a new snapshot."""
        self._background.soon(self._renew)

    def close(self) -> None:
        """Listens no longer."""
        self._background.run(self._leave)


class Stream(Generic[F]):
    """The frames of a channel: iterate it. A snapshot, then updates without gap or repetition; another snapshot may
    come at any time, and is then in place of everything before.

    Iterating raises StreamError when the service refuses. A private stream whose session is over raises it too, and
    goes on after the next sign-in. Frames that nobody reads are dropped when there are too many: StreamError
    `UPDATES_LOST`, and then a new snapshot. A stream is for one reader: each reader opens its own, and the client
    subscribes once.
    """

    def __init__(self, background: _Background, channel: str, params: Dict[str, Any]) -> None:
        self._signal = _Signal()
        self._subscription = _Subscription(background)
        self._inbox = Inbox(background.waiting, self._subscription.renew, self._signal)
        self._subscription.open(channel, params, self._inbox)

    def __enter__(self) -> Stream[F]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def status(self) -> str:
        """connecting, open, reconnecting or closed. `open`: what comes is complete."""
        return self._inbox.status

    def get(self, timeout: Optional[float] = None) -> F:
        """The next frame. Raises TimeoutError after `timeout` seconds, StreamError, or EOFError when it was closed."""
        item: Any = None
        self._subscription.check()
        while item is None:
            # Another thread may have taken it.
            self._signal.wait_for(lambda: not self._inbox.is_empty, timeout)
            item = self._inbox.take()
        if item is END:
            raise EOFError("the stream was closed")
        if isinstance(item, StreamError):
            raise item
        return cast(F, item)

    def __iter__(self) -> Iterator[F]:
        return self

    def __next__(self) -> F:
        try:
            return self.get()
        except EOFError:
            raise StopIteration from None

    def renew(self) -> None:
        """Asks for a new snapshot."""
        self._subscription.renew()

    def close(self) -> None:
        """Listens no longer; what came before can still be read."""
        self._subscription.close()


class Book:
    """A copy of a book, verified with every frame."""

    def __init__(self, background: _Background, params: Dict[str, Any]) -> None:
        self._signal = _Signal()
        self._subscription = _Subscription(background)
        self._receiver = BookReceiver(self._subscription.renew, self._signal)
        self._subscription.open("orderbook", params, self._receiver)

    def __enter__(self) -> Book:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def view(self, depth: int = 1000) -> BookView:
        """The best levels of both sides as of one moment; `live` says whether it is the service's book."""
        return self._receiver.state.view(depth)

    def wait(self, timeout: Optional[float] = None) -> BookView:
        """The book as soon as it is live. Raises StreamError when it was refused or closed, TimeoutError."""
        self._subscription.check()
        self._signal.wait_for(self._receiver.is_settled, timeout)
        return self._receiver.settled()

    def wait_for(self, holds: Callable[[BookView], bool], timeout: Optional[float] = None) -> BookView:
        """The book as soon as it is live and this holds of it."""
        self._subscription.check()
        self._signal.wait_for(lambda: self._receiver.holds(holds), timeout)
        return self._receiver.settled()

    def close(self) -> None:
        """Listens no longer."""
        self._subscription.close()


class _Channels(Channels):
    def __init__(self, client: Client) -> None:
        self._client = client

    def _listen(self, channel: str, params: Dict[str, Any]) -> Stream[Any]:
        return Stream(self._client._sockets(), channel, params)


class Orders(OrderOperations):
    """Order entry over a socket, which is opened by the first call and stays until `close`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def _call(self, name: str, fields: Dict[str, Any]) -> Any:
        return self.submit(name, fields).result()

    def submit(self, name: str, fields: Dict[str, Any]) -> Future[Any]:
        """Makes a call and does not wait: what it answers is in the future. Calls are sent in the order they are
        made."""
        background = self._client._sockets()
        return background.run(lambda: background.entry.call(name, fields))

    @property
    def status(self) -> str:
        """connecting, open, reconnecting or closed."""
        background = self._client._background
        return "closed" if background is None else background.entry.status

    def close(self) -> None:
        """Closes the socket; calls that are not answered fail. The next call opens another one."""
        background = self._client._background
        if background is not None:
            background.run(background.entry.close)
