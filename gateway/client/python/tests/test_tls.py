"""Over TLS: requests and sockets, with a certificate that is trusted and with one that is not; of both clients."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Optional

from service import Service
from stage import PAIR

import websockets
from ringbook import AsyncClient, Client, NotSentError, StreamOptions

SNAPSHOT = {"tradingPairId": PAIR, "bids": [{"price": "2", "quantity": "3"}], "asks": [], "checksum": 1121408899}


class Sockets:
    """A service of streams that has one book, on a thread of its own."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._loop = asyncio.new_event_loop()
        self._context = context
        self._stopped: Optional[asyncio.Event] = None
        self.port = 0
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._serve(ready)), daemon=True)
        self._thread.start()
        ready.wait(10)

    async def _serve(self, ready: threading.Event) -> None:
        self._stopped = asyncio.Event()
        serve: Any = getattr(websockets, "serve")
        async with serve(self._talk, "127.0.0.1", 0, ssl=self._context) as server:
            self.port = list(server.sockets)[0].getsockname()[1]
            ready.set()
            await self._stopped.wait()

    async def _talk(self, socket: Any, *_: Any) -> None:
        await socket.send(json.dumps({"type": "connected"}))
        async for text in socket:
            asked = json.loads(text)
            if asked["type"] != "subscribe":
                continue
            await socket.send(json.dumps({**asked, "type": "subscribed"}))
            await socket.send(json.dumps({"channel": "orderbook", "type": "snapshot", "sequence": 1, "data": SNAPSHOT}))

    def stop(self) -> None:
        if self._stopped is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(10)
        self._loop.close()


@unittest.skipIf(shutil.which("openssl") is None, "openssl is missing, which makes the certificate")
class Tls(unittest.TestCase):
    context: ssl.SSLContext
    trusting: ssl.SSLContext

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        key, certificate = (str(Path(folder.name) / name) for name in ("key.pem", "certificate.pem"))
        words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x -addext".split()
        files = ["subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
        subprocess.run(["openssl", *words, *files], check=True, capture_output=True)
        cls.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        cls.context.load_cert_chain(certificate, key)
        cls.trusting = ssl.create_default_context(cafile=certificate)

    def test_requests(self) -> None:
        with Service((200, {"status": "ok"}), context=self.context) as service:
            with Client(service.base_url, ssl_context=self.trusting) as client:
                self.assertEqual([client.call("Check"), client.call("Check")], [{"status": "ok"}] * 2)
            self.assertEqual(service.connections, 1)
            with Client(service.base_url) as client:
                self.assertRaises(NotSentError, client.call, "Check")

    def test_sockets(self) -> None:
        sockets = Sockets(self.context)
        self.addCleanup(sockets.stop)
        base_url = f"https://127.0.0.1:{sockets.port}"
        with Client(base_url, ssl_context=self.trusting) as client, client.book(tradingPairId=PAIR) as book:
            self.assertEqual(book.wait(10).bids, (("2", "3"),))

        async def concurrent() -> Any:
            async with AsyncClient(base_url, ssl_context=self.trusting) as client:
                async with client.book(tradingPairId=PAIR) as book:
                    return (await book.wait(10)).bids

        self.assertEqual(asyncio.run(concurrent()), (("2", "3"),))
        options = StreamOptions(base=0.01, cap=0.01)
        with Client(base_url, stream_options=options) as client, client.book(tradingPairId=PAIR) as book:
            self.assertRaises(TimeoutError, book.wait, 0.3)


if __name__ == "__main__":
    unittest.main()
