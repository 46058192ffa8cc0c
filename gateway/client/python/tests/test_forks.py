"""After a fork parent and child never share a connection: each gets its own answers, from sockets of its own."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import threading
import unittest
import warnings
from typing import Any, Callable, List

from service import SILENCE, Service
from stage import PAIR

from ringbook import AsyncClient, Client, SessionKey, StreamError

CALLS = 200


def in_child(act: Callable[[], Any]) -> Callable[[], Any]:
    """Runs it in a child; what is given back waits for its answer."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            said = act()
        except BaseException as error:  # noqa: BLE001  the parent is told
            said = repr(error)
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    os.close(writing)

    def answer() -> Any:
        with os.fdopen(reading, "rb") as pipe:
            said = json.loads(pipe.read())
        os.waitpid(child, 0)
        return said

    return answer


class Echo(Service):
    """Answers each request with what it asked for."""

    def __init__(self) -> None:
        super().__init__((200, b"{}"))

    def _answer(self, connection: Any, lines: Any) -> bool:
        target = lines.readline().decode().split()[1:2]
        while lines.readline().strip():
            pass
        if not target:
            return False
        text = json.dumps({"target": target[0]}).encode()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
        return True


def mistaken(call: Callable[[str], Any], name: str) -> int:
    """How many answers were those of another call."""
    return sum(not call(f"{name}{i}")["target"].endswith(f"/{name}{i}") for i in range(CALLS))


@unittest.skipUnless(hasattr(os, "fork"), "there is no fork here")
class Forks(unittest.TestCase):
    def test_answers(self) -> None:
        with Echo() as service, Client(service.base_url, key=SessionKey()) as client:
            def call(order: str) -> Any:
                return client.call("GetOrder", orderId=order)

            call("first")
            children = [in_child(lambda name=name: mistaken(call, name)) for name in ("a", "b")]  # type: ignore[misc]
            self.assertEqual(mistaken(call, "p"), 0)
            self.assertEqual([answer() for answer in children], [0, 0])
            self.assertEqual(service.connections, 3)

    def test_threads_and_multiprocessing(self) -> None:
        with Echo() as service, Client(service.base_url, key=SessionKey()) as client:
            def call(order: str) -> Any:
                return client.call("GetOrder", orderId=order)

            found: List[int] = []
            threads = [threading.Thread(target=lambda: found.append(mistaken(call, "t"))) for _ in range(3)]
            for each in threads:
                each.start()
            context = multiprocessing.get_context("fork")
            queue = context.SimpleQueue()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                process = context.Process(target=lambda: queue.put(mistaken(call, "m")))
                process.start()
            self.assertEqual(queue.get(), 0)
            process.join()
            for each in threads:
                each.join()
            self.assertEqual(found, [0, 0, 0])

    def test_async_client(self) -> None:
        with Echo() as service:
            client = AsyncClient(service.base_url, key=SessionKey())

            async def calls(name: str) -> int:
                wrong = 0
                for i in range(CALLS):
                    answer = await client.call("GetOrder", orderId=f"{name}{i}")
                    wrong += not answer["target"].endswith(f"/{name}{i}")
                return wrong

            self.assertEqual(asyncio.run(calls("f")), 0)
            answer = in_child(lambda: asyncio.run(calls("c")))
            self.assertEqual([asyncio.run(calls("p")), answer()], [0, 0])
            asyncio.run(client.close())

    def test_streams_and_order_entry(self) -> None:
        with Service(SILENCE) as service, Client(service.base_url, key=SessionKey()) as client:
            stream = client.streams.trades(tradingPairId=PAIR)
            book = client.book(tradingPairId=PAIR)
            call = client.orders.submit("CancelOrder", {"orderId": "o"})

            def tried() -> List[str]:
                found = []
                acts: List[Callable[[], Any]] = [lambda: stream.get(5), stream.renew, stream.close, lambda: book.wait(5)]
                for act in acts:
                    try:
                        act()
                    except StreamError as error:
                        found.append(error.code)
                found.append(client.orders.status)
                # Its own socket is another one, on a thread of its own.
                client.streams.trades(tradingPairId=PAIR)
                return [*found, client.orders.status]

            self.assertEqual(in_child(tried)(), ["FORKED"] * 4 + ["closed", "closed"])
            self.assertFalse(call.done())
            self.assertEqual(stream.status, "connecting")


if __name__ == "__main__":
    unittest.main()
