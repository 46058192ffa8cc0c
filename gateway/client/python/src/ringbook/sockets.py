"""WebSockets on an asyncio loop, for `link.py`, with the package `websockets` (10.4 and newer)."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, Optional, Set

import websockets
import websockets.exceptions

from .forks import keep, silence, silence_loop
from .link import NO_CLOSE_FRAME, Watcher

#: The library loads it when it is asked for, which type checkers cannot see.
_connect: Any = getattr(websockets, "connect")
#: Most bytes of a frame: snapshots of orders and books are far below.
_FRAME_MAX = 16 * 1024 * 1024
#: Longest time to close a socket in order, seconds.
_CLOSE = 1.0


class SocketDialer:
    def __init__(self, loop: asyncio.AbstractEventLoop, context: Optional[ssl.SSLContext] = None) -> None:
        self._loop, self._context = loop, context
        #: Sockets that are open or closing.
        self.sockets: Set[AsyncioSocket] = set()

    def dial(self, url: str, watcher: Watcher, timeout: float) -> "AsyncioSocket":
        """Opens a socket; never waits."""
        context = (self._context or ssl.create_default_context()) if url.startswith("wss:") else None
        return AsyncioSocket(self, self._loop, url, watcher, timeout, context)

    def forked(self) -> None:
        """This is a child of the process that opened them: they are the parent's."""
        for each in list(self.sockets):
            transport = getattr(each.socket, "transport", None)
            silence(None if transport is None else transport.get_extra_info("socket"))
        silence_loop(self._loop)
        keep(self)

    async def closed(self) -> None:
        """When every socket has ended."""
        while self.sockets:
            await asyncio.gather(*(each.task for each in self.sockets), return_exceptions=True)


class AsyncioSocket:
    def __init__(
        self, dialer: SocketDialer, loop: asyncio.AbstractEventLoop, url: str, watcher: Watcher, timeout: float,
        context: Optional[ssl.SSLContext],
    ) -> None:
        self._url, self._watcher, self._timeout, self._context = url, watcher, timeout, context
        self._outgoing: asyncio.Queue[Optional[str]] = asyncio.Queue()
        self._closing = self._is_open = False
        #: The library's, once it is open.
        self.socket: Any = None
        dialer.sockets.add(self)
        self.task = loop.create_task(self._run())
        self.task.add_done_callback(lambda _: dialer.sockets.discard(self))

    def send(self, text: str) -> None:
        """Sends a message; never waits. How many may wait is up to who sends."""
        self._outgoing.put_nowait(text)

    def close(self) -> None:
        """Closes it; nothing is told of it any more."""
        if self._closing:
            return
        self._closing = True
        if self._is_open:
            self._outgoing.put_nowait(None)
        else:
            self.task.cancel()

    async def _run(self) -> None:
        code, reason = NO_CLOSE_FRAME, ""
        try:
            # Pings are messages of the service's own protocol (link.py); the library answers those of WebSocket.
            socket = await _connect(
                self._url, ssl=self._context, open_timeout=self._timeout, close_timeout=_CLOSE, ping_interval=None,
                max_size=_FRAME_MAX, compression=None,
            )
        except Exception:  # noqa: BLE001  whatever it was, there is no socket
            if not self._closing:
                self._watcher.fail(NO_CLOSE_FRAME, "")
            return
        self._is_open, self.socket = True, socket
        sender = asyncio.ensure_future(self._send_all(socket))
        try:
            async for text in socket:
                if self._closing:
                    break
                self._watcher.receive(text)
        except (OSError, websockets.exceptions.WebSocketException):
            pass
        finally:
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
            await _close(socket)
        if not self._closing:
            code, reason = socket.close_code or code, socket.close_reason or reason
            self._watcher.fail(code, reason)

    async def _send_all(self, socket: Any) -> None:
        try:
            while True:
                text = await self._outgoing.get()
                if text is None:
                    await socket.close()
                    return
                await socket.send(text)
        except (OSError, websockets.exceptions.WebSocketException):
            # The reader sees the end too, and tells it.
            return


async def _close(socket: Any) -> None:
    try:
        await socket.close()
    except (OSError, websockets.exceptions.WebSocketException):
        pass
