"""A socket to `/ws` that is there as long as it is wanted: opens one, watches it, and opens another after a close
that was not ours.

What is to be said is not stored here: whenever a message may leave, the link asks its owner for one, so that nothing
old is sent and nothing piles up. Messages leave at the pace the service allows. No I/O: a `Dialer` opens sockets and
tells what came.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Optional, Protocol

from ._generated.table import LIMITS
from .clock import Backoff, Cancel, Clock, nothing

#: A frame as it came; nothing of it is checked but that it is an object.
Frame = Dict[str, Any]

# Codes of the service's closes, and how often the pause has doubled for them at least.
_RESYNC, _GOING_AWAY, NO_CLOSE_FRAME = 1013, 1001, 1006
_LEAST_OTHER, _LEAST_GOING_AWAY, _LEAST_RATE_LIMIT = 1, 2, 4


@dataclass(frozen=True)
class StreamOptions:
    """How streams behave. Times in seconds."""
    #: Messages a second, and at once: below the 20 and 300 of the service, because messages may arrive closer than they
    #: left.
    messages_per_second: float = 18.0
    message_burst: float = 240.0
    #: Longest silence before a ping; longest time to connect, and to answer a ping.
    ping: float = 15.0
    answer: float = 10.0
    #: Back-off: longest first pause, longest of all, and after how long a socket counts as standing.
    base: float = 0.25
    cap: float = 10.0
    stable: float = 10.0
    #: Most different subscriptions; the service takes as many.
    subscriptions: int = LIMITS["subscriptions"]
    #: Most frames of a stream that wait for their reader; with more, all are dropped and a new snapshot is asked for.
    waiting: int = 10_000
    #: Order entry alone: when its socket ends, every open order of the account is cancelled.
    cancel_on_disconnect: bool = False
    #: With it: after a crash of the exchange the account may return for so many ms, and its orders stay. None: 5,000.
    restart_grace_ms: Optional[int] = None


class Socket(Protocol):
    def send(self, text: str) -> None:
        """Sends a message; never waits."""

    def close(self) -> None:
        """Closes it; nothing is told of it any more."""


class Watcher(Protocol):
    """Told what happens to one socket."""

    def receive(self, text: Any) -> None:
        """A message came."""

    def fail(self, code: int, reason: str) -> None:
        """It is gone, or could not be opened."""


class Dialer(Protocol):
    def dial(self, url: str, watcher: Watcher, timeout: float) -> Socket:
        """Opens a socket; never waits."""


class LinkOwner(Protocol):
    def next_message(self) -> Optional[Frame]:
        """The next message, if there is one; asked for whenever one may leave."""

    def opened(self) -> None:
        """The socket is open and knows nothing yet."""

    def took(self, frame: Frame) -> None:
        """A frame came. What it raises gives the socket up."""

    def lost(self, code: int, reason: str) -> None:
        """The socket is gone; `reason` is the service's word for it, when it gave one."""

    def status_changed(self, status: str) -> None:
        """connecting, open, reconnecting or closed."""


def _least_of(code: int, reason: str) -> int:
    if code == _RESYNC:
        return 0
    if reason == "MESSAGE_RATE_LIMIT":
        return _LEAST_RATE_LIMIT
    return _LEAST_GOING_AWAY if code == _GOING_AWAY else _LEAST_OTHER


class _Watcher:
    """Of one socket: what comes of one that was let go counts no more."""

    def __init__(self, link: Link) -> None:
        self.link: Optional[Link] = link

    def receive(self, text: Any) -> None:
        if self.link is not None:
            self.link.receive(text)

    def fail(self, code: int, reason: str) -> None:
        if self.link is not None:
            self.link.fail(code, reason)


class Link:
    def __init__(
        self, url: str, options: StreamOptions, clock: Clock, dialer: Dialer, owner: LinkOwner, paced: bool = True,
    ) -> None:
        """`paced`: messages count in the service's budget of messages; those of order entry do not."""
        self._url, self._options, self._clock, self._dialer, self._owner = url, options, clock, dialer, owner
        self._paced = paced
        self._backoff = Backoff(clock, options.base, options.cap, options.stable)
        self.status = "closed"
        self._socket: Optional[Socket] = None
        self._watcher: Optional[_Watcher] = None
        self._allowance = 0.0
        self._paced_at = 0.0
        self._heard_at = 0.0
        # A ping is to be sent; and one was, or is about to be, and nothing came since.
        self._ping_due = False
        self._pinging = False
        # What the service complained of last, of the whole connection.
        self._complaint = ""
        # Prevent what is to come: the next try or the watch, and the next message.
        self._cancel_timer: Cancel = nothing
        self._cancel_pace: Optional[Cancel] = None

    def open(self) -> None:
        """Opens the link, if it is not."""
        if self.status == "closed":
            self._set_status("connecting")
            self._connect()

    def close(self) -> None:
        """Closes it for good, or until it is opened again."""
        if self.status != "closed":
            self._drop()
            self._set_status("closed")

    def restart(self) -> None:
        """Closes the socket and opens another one at once."""
        if self.status != "open":
            return
        self._drop()
        self._set_status("reconnecting")
        self._owner.lost(NO_CLOSE_FRAME, "")
        if self.status == "reconnecting":
            self._connect()

    def wake(self) -> None:
        """There is something to say: sends what may leave now, and the rest in time."""
        if self.status != "open" or self._cancel_pace is not None:
            return
        options, now = self._options, self._clock.now()
        earned = (now - self._paced_at) * options.messages_per_second
        self._allowance = min(options.message_burst, self._allowance + earned)
        self._paced_at = now
        while not self._paced or self._allowance >= 1:
            message = self._next_message()
            if message is None or self._socket is None:
                return
            self._allowance -= 1 if self._paced else 0
            self._socket.send(json.dumps(message, separators=(",", ":"), ensure_ascii=False))
            if self.status != "open":
                return
        self._cancel_pace = self._clock.after((1 - self._allowance) / options.messages_per_second, self._go_on)

    def _go_on(self) -> None:
        self._cancel_pace = None
        self.wake()

    def _next_message(self) -> Optional[Frame]:
        if not self._ping_due:
            return self._owner.next_message()
        self._ping_due = False
        return {"type": "ping"}

    def _connect(self) -> None:
        self._complaint = ""
        self._watcher = _Watcher(self)
        self._cancel_timer = self._clock.after(self._options.answer, lambda: self.fail(NO_CLOSE_FRAME, ""))
        self._socket = self._dialer.dial(self._url, self._watcher, self._options.answer)

    def receive(self, text: Any) -> None:
        self._heard_at = self._clock.now()
        self._pinging = False
        frame = _read_frame(text)
        if frame is None:
            return self.fail(NO_CLOSE_FRAME, "")
        if self.status != "open":
            if frame.get("type") == "connected":
                self._begin()
            return None
        if frame.get("type") == "error" and frame.get("id") is None and frame.get("channel") is None:
            self._complaint = str(frame.get("code"))
        try:
            self._owner.took(frame)
        except Exception:  # noqa: BLE001  a service that says such things is not to be relied on
            self.fail(NO_CLOSE_FRAME, "")

    def _begin(self) -> None:
        self._cancel_timer()
        self._backoff.stands()
        self._allowance = self._options.message_burst
        self._paced_at = self._clock.now()
        self._watch(self._options.ping)
        self._set_status("open")
        self._owner.opened()
        self.wake()

    def _watch(self, seconds: float) -> None:
        """Looks again after so long whether something came."""
        self._cancel_timer = self._clock.after(seconds, self._look)

    def _look(self) -> None:
        options = self._options
        silence = self._clock.now() - self._heard_at
        if self._pinging:
            return self.fail(NO_CLOSE_FRAME, "")
        if silence < options.ping:
            return self._watch(options.ping - silence)
        self._pinging = self._ping_due = True
        self._watch(options.answer)
        self.wake()

    def fail(self, code: int, reason: str) -> None:
        """The socket is gone, or given up."""
        word = reason or self._complaint
        self._drop()
        pause = self._backoff.pause(_least_of(code, word))
        self._cancel_timer = self._clock.after(pause, self._connect)
        if self.status == "open":
            self._set_status("reconnecting")
        self._owner.lost(code, word)

    def _drop(self) -> None:
        """Lets go of the socket and of everything that was to come."""
        self._cancel_timer()
        self._cancel_timer = nothing
        if self._cancel_pace is not None:
            self._cancel_pace()
        self._cancel_pace = None
        self._pinging = self._ping_due = False
        if self._watcher is not None:
            self._watcher.link = None
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close()

    def _set_status(self, status: str) -> None:
        self.status = status
        self._owner.status_changed(status)


def _read_frame(text: Any) -> Optional[Frame]:
    """One frame, or None when this is none."""
    if not isinstance(text, str):
        return None
    try:
        frame = json.loads(text)
    except ValueError:
        return None
    return frame if isinstance(frame, dict) else None
