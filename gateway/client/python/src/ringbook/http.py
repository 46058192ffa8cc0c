"""HTTP/1.1 with the standard library: connections that stay open, one deadline for a whole exchange."""

from __future__ import annotations

import http.client
import select
import socket
import ssl
import threading
import time
from typing import List, Optional, Set, Tuple

from .errors import NetworkError, NotSentError
from .forks import Guard, silence
from .wire import Answer, Place, Request

#: Connections that are kept, and for how many seconds of rest: below the time after which the service closes one.
_KEPT = 32
_REST = 5.0
#: Most bytes of an answer.
_BODY_MAX = 64 * 1024 * 1024
_PART = 64 * 1024


class HttpTransport:
    """Sends requests, each on a connection of its own while it lasts. May be used by several threads at once."""

    def __init__(self, place: Place, timeout: float, context: Optional[ssl.SSLContext] = None) -> None:
        self._place = place
        self._timeout = timeout
        self._context = (context or ssl.create_default_context()) if place.tls else None
        self._lock = threading.Lock()
        self._idle: List[Tuple[http.client.HTTPConnection, float]] = []
        # Those on which a request is under way.
        self._used: Set[http.client.HTTPConnection] = set()
        self._guard = Guard(self, HttpTransport._forked)

    def _forked(self) -> None:
        """This is a child of the process that opened them."""
        for connection in [*self._used, *(each for each, _ in self._idle)]:
            silence(connection.sock)
            connection.close()
        self._lock = threading.Lock()
        self._used, self._idle = set(), []

    def send(self, request: Request) -> Answer:
        """Sends it and reads the answer. Raises NotSentError when it never left, NetworkError when no answer came."""
        deadline = time.monotonic() + self._timeout
        what = f"{request.method} {request.target}"
        connection = self._take() or self._connect(what)
        self._used.add(connection)
        try:
            connection.request(request.method, request.target, request.body or None, dict(request.headers))
            answer = self._read(connection, deadline)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NetworkError(f"{what}: no answer ({error!r})", isinstance(error, TimeoutError)) from error
        except BaseException:
            connection.close()
            raise
        finally:
            self._used.discard(connection)
        return answer

    def _read(self, connection: http.client.HTTPConnection, deadline: float) -> Answer:
        held = connection.sock
        _await_until(held, deadline)
        response = connection.getresponse()
        parts: List[bytes] = []
        size = 0
        # Newer versions of the library close it with the last byte.
        while not response.isclosed():
            _await_until(held, deadline)
            part = response.read1(_PART)
            if not part:
                break
            size += len(part)
            if size > _BODY_MAX:
                raise http.client.HTTPException("the answer is too large")
            parts.append(part)
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        response.close()
        answer = Answer(response.status, b"".join(parts), response.headers.get("Retry-After"))
        if response.will_close:
            connection.close()
        else:
            self._keep(connection)
        return answer

    def close(self) -> None:
        """Closes the connections that rest."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _take(self) -> Optional[http.client.HTTPConnection]:
        """A connection that rests and that the service has not closed: a request sent on a closed one would be
        ambiguous."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection, since = self._idle.pop()
            if time.monotonic() - since < _REST and not _is_readable(connection.sock):
                connection.sock.settimeout(self._timeout)
                return connection
            connection.close()

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < _KEPT:
                self._idle.append((connection, time.monotonic()))
                return
        connection.close()

    def _connect(self, what: str) -> http.client.HTTPConnection:
        host, port = self._place.host, self._place.port
        connection = (
            http.client.HTTPConnection(host, port, timeout=self._timeout) if self._context is None
            else http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._context)
        )
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            raise NotSentError(f"{what}: no connection ({error!r})", isinstance(error, TimeoutError)) from error
        return connection


def _await_until(held: Optional[socket.socket], deadline: float) -> None:
    """Lets the next read wait until the deadline, and no longer."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the answer took too long")
    if held is not None:
        held.settimeout(left)


def _is_readable(held: socket.socket) -> bool:
    """Whether something came, or the end."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(held, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([held], [], [], 0)[0])
