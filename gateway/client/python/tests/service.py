"""An HTTP service that answers what it is told to: errors of proxies, half answers, none."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from stage import PAIR  # noqa: F401  finds the package

from ringbook import AsyncClient, Client, RetryPolicy, SessionKey

#: An answer: status, body and headers; or what happens instead of one. `X-Gone`: closes behind it without a word.
Act = Union[Tuple[Any, ...], str]
RESET, HALF, SILENCE = "reset", "half", "silence"
#: Answers in parts without a length, as proxies give them; of the second the end is missing.
CHUNKED, CHUNKED_HALF = "chunked", "chunked half"
_PARTS = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"orderI\r\n8\r\nd": "a"}\r\n'


class Service:
    """Each request has the next act; the last one goes on for ever."""

    def __init__(self, *acts: Act, context: Optional[ssl.SSLContext] = None) -> None:
        self.acts = list(acts)
        self.requests: List[Dict[str, Any]] = []
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: List[socket.socket] = []
        self._context = context
        scheme = "http" if context is None else "https"
        self.base_url = f"{scheme}://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._listener.close()
        for each in self._open:
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as lines:
                while self._answer(connection, lines):
                    pass
        except (OSError, ValueError):
            return

    def _answer(self, connection: socket.socket, lines: Any) -> bool:
        """Answers one request. False: no more come on this connection."""
        first = lines.readline().decode().split()
        if not first:
            return False
        headers: Dict[str, str] = {}
        while (line := lines.readline().decode().strip()):
            name, _, value = line.partition(": ")
            headers[name.lower()] = value
        body = lines.read(int(headers.get("content-length", "0")))
        self.requests.append({"method": first[0], "target": first[1], "headers": headers, "body": body})
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        if isinstance(act, str):
            if act == HALF:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}")
            if act in (CHUNKED, CHUNKED_HALF):
                connection.sendall(_PARTS + (b"0\r\n\r\n" if act == CHUNKED else b""))
                return act == CHUNKED
            if act == SILENCE:
                lines.read(1)
            return False
        more = "".join(f"{name}: {value}\r\n" for name, value in (act[2] if len(act) == 3 else {}).items())
        text = act[1] if isinstance(act[1], bytes) else json.dumps(act[1]).encode()
        head = f"HTTP/1.1 {act[0]} X\r\nContent-Length: {len(text)}\r\n{more}\r\n"
        connection.sendall(head.encode() + text)
        return "Connection" not in more and "X-Gone" not in more


Outcome = Union[Any, Exception]


def outcomes(
    acts: List[Act], name: str, fields: Dict[str, Any], attempts: int = 3, options: Optional[Dict[str, Any]] = None,
) -> List[Tuple[Outcome, int]]:
    """What the call gives or raises and how many requests it took: of the client that waits, and of the one for
    asyncio."""
    retry = RetryPolicy(attempts=attempts, base=0.001, cap=2)
    given: Dict[str, Any] = {"key": SessionKey(), "retry": retry, "timeout": 5, **(options or {})}

    def waiting(base_url: str) -> Outcome:
        with Client(base_url, **given) as client:
            return _caught(lambda: client.call(name, **fields))

    async def concurrent(base_url: str) -> Outcome:
        async with AsyncClient(base_url, **given) as client:
            try:
                return await client.call(name, **fields)
            except Exception as error:  # noqa: BLE001  it is what the test asks for
                return error

    runs: List[Callable[[str], Outcome]] = [waiting, lambda base_url: asyncio.run(concurrent(base_url))]
    found = []
    for run in runs:
        with Service(*acts) as each:
            found.append((run(each.base_url), len(each.requests)))
    return found


def _caught(call: Callable[[], Any]) -> Outcome:
    try:
        return call()
    except Exception as error:  # noqa: BLE001  it is what the test asks for
        return error


def refusal(status: int, code: str, **details: Any) -> Act:
    return status, {"error": "X", "code": code, "message": "no", "statusCode": status, "details": details}
