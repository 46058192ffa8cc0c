"""Orders over a socket: the calls of REST that market makers make often, without a signature for each.

One signed message opens a session on the socket, and a counter that grows continues it; so the way to the service
must be trusted: TLS, or the same machine. The operator switches it on. Calls are sent in the order they are made and
answered under their id, with the errors of REST. When the socket is lost, calls that never left fail with
NotSentError and the others are ambiguous, unless they may be sent again in any case, as a cancel may. Nothing is sent
twice by itself. No I/O.

Bounds: `IN_FLIGHT` calls are not answered at the service, `WAITING_MAX` more wait here; others are OVERLOADED. Bodies
have `BODY_MAX` bytes.
"""

from __future__ import annotations

import json
from concurrent.futures import Future
from typing import Any, Dict, Mapping, Optional, Union

from ._generated.table import LIMITS, OPERATIONS, ORDER_MESSAGES
from .clock import Cancel, Clock
from .errors import NetworkError, NotSentError, RefusedError, RingbookError, failure_of, known_not_applied
from .link import Dialer, Frame, Link, StreamOptions
from .streams import Session, signed_message
from .wire import harmless, plain

SESSION_OPEN = "session.open"
IN_FLIGHT = LIMITS["ordersInFlight"]
#: Bytes of a body: a larger message would close the socket, and leave what is under way on it without an answer.
BODY_MAX = LIMITS["orderMessageBytes"] - 256
WAITING_MAX = 4096
#: A session begins with one of so many counters; far below 2^53, where they end.
COUNTERS = 2**40


class _Call:
    def __init__(self, name: str, body: Any) -> None:
        self.name, self.body = name, body
        self.answer: "Future[Any]" = Future()
        self.sent = False
        self.stop_timer: Cancel = lambda: None

    def fail(self, error: RingbookError) -> None:
        self.stop_timer()
        doubt = None if known_not_applied(error) else error
        self._settle(failure_of(self.name, harmless(OPERATIONS[self.name], self.body), error, doubt))

    def lose(self, why: str, timed_out: bool = False) -> None:
        """No answer comes any more."""
        message = f"{self.name}: {why}"
        self.fail(NetworkError(message, timed_out) if self.sent else NotSentError(f"{message}, never sent", timed_out))

    def refuse(self, error: RingbookError) -> None:
        """It was never sent, and `error` says why."""
        self.stop_timer()
        self._settle(error)

    def succeed(self, data: Any) -> None:
        self.stop_timer()
        self._settle(data)

    def _settle(self, outcome: Union[Any, Exception]) -> None:
        # Whoever waited may have given up.
        if not self.answer.set_running_or_notify_cancel():
            return
        if isinstance(outcome, Exception):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


#: HTTP status that a refusal of the whole socket would have over REST.
_STATUSES = {"ORDER_ENTRY_DISABLED": 403, "AUTH_FAILED": 401, "SESSION_INVALID": 401, "MESSAGE_RATE_LIMIT": 429}


def _refused(status: int, code: str, message: str) -> RefusedError:
    return RefusedError({"error": code, "code": code, "message": message}, status)


class OrderEntry:
    def __init__(
        self, url: str, options: StreamOptions, clock: Clock, dialer: Dialer, session: Session, timeout: float,
    ) -> None:
        """`timeout`: longest time of a call, seconds."""
        self._clock, self._session, self._timeout = clock, session, timeout
        self._cancels: Dict[str, Any] = {"cancelOnDisconnect": True} if options.cancel_on_disconnect else {}
        if options.cancel_on_disconnect and options.restart_grace_ms is not None:
            self._cancels["restartGraceMs"] = options.restart_grace_ms
        self._link = Link(url, options, clock, dialer, self, paced=False)
        # Calls that were not sent, in order, and those that were, by id.
        self._waiting: Dict[_Call, None] = {}
        self._sent: Dict[int, _Call] = {}
        self._last_id = 0
        self._counter = 0
        self._opening = "none"

    @property
    def status(self) -> str:
        return self._link.status

    def call(self, name: str, fields: Mapping[str, Any]) -> "Future[Any]":
        """Makes a call; what it gives is told later."""
        call = _Call(name, plain(fields))
        if self._session.key is None:
            raise RuntimeError("sign in first")
        refusal = self._refusal_of(call)
        if refusal is not None:
            call.fail(refusal)
            return call.answer
        call.stop_timer = self._clock.after(self._timeout, lambda: self._late(call))
        self._waiting[call] = None
        self._link.open()
        self._link.wake()
        return call.answer

    def _refusal_of(self, call: _Call) -> Optional[RefusedError]:
        """What the service would say, and cannot without harm to others."""
        if len(self._waiting) >= WAITING_MAX:
            return _refused(503, "OVERLOADED", "Too many calls are waiting")
        # Only batches can be that large.
        if "Batch" in call.name and len(json.dumps(call.body, ensure_ascii=False).encode()) > BODY_MAX:
            return _refused(413, "BODY_TOO_LARGE", "Too large for a socket: split the batch, or use REST")
        return None

    def _late(self, call: _Call) -> None:
        self._waiting.pop(call, None)
        for call_id in [call_id for call_id, each in self._sent.items() if each is call]:
            del self._sent[call_id]
        call.lose("no answer in time", timed_out=True)

    def signed_in(self) -> None:
        """A new session may be of another account: what comes is for that one."""
        self._link.restart()

    def close(self) -> None:
        """Closes the socket; calls that are not answered fail. The next call opens another one."""
        self._link.close()
        self._lose_all("the socket was closed")

    def next_message(self) -> Optional[Frame]:
        if self._opening == "none":
            self._opening = "asked"
            self._last_id += 1
            body = json.dumps({"counter": self._counter, **self._cancels})
            signed = signed_message(self._session, SESSION_OPEN, "WS", SESSION_OPEN, body)
            return {**signed, "id": self._last_id, "body": body}
        if self._opening == "asked" or len(self._sent) >= IN_FLIGHT:
            return None
        while self._waiting:
            call = next(iter(self._waiting))
            del self._waiting[call]
            if call.answer.cancelled():
                # Who waited has given up, and it never left.
                call.stop_timer()
                continue
            self._last_id += 1
            self._counter += 1
            call.sent = True
            self._sent[self._last_id] = call
            return {"type": ORDER_MESSAGES[call.name], "id": self._last_id, "counter": self._counter, "body": call.body}
        return None

    def opened(self) -> None:
        self._opening = "none"
        # One signature opens one session, and a signature is of the millisecond: with a counter of its own no other
        # client of the same key, opening at the same time, has the same one.
        self._counter = int(self._clock.random() * COUNTERS)

    def took(self, frame: Frame) -> None:
        kind, frame_id = frame.get("type"), frame.get("id")
        is_opening = self._opening == "asked" and frame_id == self._last_id
        if kind == "error" and is_opening:
            code = str(frame.get("code"))
            return self._refuse(_refused(_STATUSES.get(code, 400), code, str(frame.get("message"))))
        if kind != "result":
            return None
        status = frame.get("status")
        failure = None if status == 200 else RefusedError(frame["error"], int(status or 500))
        if is_opening:
            if failure is not None:
                return self._refuse(failure)
            self._opening = "open"
            return self._link.wake()
        call = self._sent.pop(frame_id, None) if isinstance(frame_id, int) else None
        if call is None:
            return None
        if failure is None:
            call.succeed(frame.get("data"))
        else:
            call.fail(failure)
        return self._link.wake()

    def _refuse(self, error: RingbookError) -> None:
        """No session is to be had: who waits is told, and the next call tries again. Nothing was sent without a
        session."""
        self._link.close()
        for call in self._take_all():
            call.refuse(error)

    def lost(self, code: int, reason: str) -> None:
        self._lose_all(f"the socket was lost ({reason or code})")

    def status_changed(self, status: str) -> None:
        """Whoever wants to know asks."""

    def _lose_all(self, why: str) -> None:
        for call in self._take_all():
            call.lose(why)

    def _take_all(self) -> "list[_Call]":
        calls = [*self._sent.values(), *self._waiting]
        self._sent.clear()
        self._waiting.clear()
        return calls
