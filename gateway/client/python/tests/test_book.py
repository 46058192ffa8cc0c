"""A book is the service's own, verified with every frame, or says that it is not."""

from __future__ import annotations

import unittest
import zlib
from typing import Any, Dict, List, Tuple

from stage import PAIR, Stage

from ringbook.book import BookReceiver, BookState
from ringbook.errors import StreamError

Levels = List[Tuple[str, str]]


def checksum(bids: Levels, asks: Levels) -> int:
    return zlib.crc32(",".join(f"{price}:{quantity}" for price, quantity in bids[:10] + asks[:10]).encode())


def frame(kind: str, sequence: int, bids: Levels, asks: Levels, check: int, previous: int = 0) -> Dict[str, Any]:
    both = (("bids", bids), ("asks", asks))
    sides = {name: [{"price": price, "quantity": size} for price, size in levels] for name, levels in both}
    data = {"tradingPairId": PAIR, **sides, "checksum": check, "previousSequence": previous}
    return {"channel": "orderbook", "type": kind, "sequence": sequence, "data": data}


class Books(unittest.TestCase):
    def test_levels_stand_in_their_order_and_zero_removes(self) -> None:
        book = BookState()
        bids, asks = [("10", "1"), ("9.5", "2"), ("9", "1")], [("10.1", "3"), ("100", "1")]
        self.assertTrue(book.take(frame("snapshot", 1, bids, asks, checksum(bids, asks))))
        self.assertEqual([list(book.view().bids), list(book.view().asks)], [bids, asks])
        after = [("9.75", "4"), ("9.5", "7"), ("9", "1")]
        changes = [("10", "0"), ("9.75", "4"), ("9.5", "7"), ("3", "0")]
        update = frame("orderbook_update", 2, changes, [], checksum(after, asks))
        self.assertTrue(book.take(update))
        self.assertEqual([list(book.view().bids), book.view().sequence], [after, 2])
        self.assertEqual(book.view(1).bids, (("9.75", "4"),))
        self.assertEqual(book.checksum, checksum(after, asks))

    def test_a_snapshot_is_in_place_of_everything_before(self) -> None:
        book = BookState()
        for bids in ([("10", "1"), ("9", "1")], [("8", "2")]):
            self.assertTrue(book.take(frame("snapshot", 1, bids, [], checksum(bids, []))))
            self.assertEqual(list(book.view().bids), bids)

    def test_a_wrong_checksum_empties_it_and_asks_for_a_snapshot(self) -> None:
        stage = Stage()
        asked: List[int] = []
        receiver = BookReceiver(lambda: asked.append(1), lambda: None)
        stage.streams.subscribe("orderbook", {"tradingPairId": PAIR}, receiver)
        stage.socket.connected()
        stage.socket.confirm()
        bids = [("10", "1")]
        stage.socket.tell(**frame("snapshot", 1, bids, [], checksum(bids, [])))
        self.assertTrue(receiver.settled().live)
        stage.socket.tell(**frame("orderbook_update", 2, [("11", "1")], [], 0, previous=1))
        self.assertEqual([receiver.state.view(), asked], [((), (), 2, False), [1]])

    def test_a_lost_socket_leaves_what_was_verified_last(self) -> None:
        stage = Stage()
        receiver = BookReceiver(lambda: None, lambda: None)
        stage.streams.subscribe("orderbook", {"tradingPairId": PAIR}, receiver)
        stage.socket.connected()
        stage.socket.confirm()
        bids = [("10", "1")]
        stage.socket.tell(**frame("snapshot", 1, bids, [], checksum(bids, [])))
        stage.socket.end()
        self.assertEqual(receiver.state.view(), ((("10", "1"),), (), 1, False))
        self.assertFalse(receiver.is_settled())

    def test_what_is_no_price_gives_the_socket_up(self) -> None:
        for price in ("NaN", "x", "Infinity", ""):
            stage = Stage()
            receiver = BookReceiver(lambda: None, lambda: None)
            stage.streams.subscribe("orderbook", {"tradingPairId": PAIR}, receiver)
            stage.socket.connected()
            stage.socket.confirm()
            stage.socket.tell(**frame("snapshot", 1, [(price, "1")], [], 0))
            self.assertTrue(stage.socket.closed, price)

    def test_more_levels_than_the_service_shows_are_none_of_its_book(self) -> None:
        book = BookState()
        bids = [(str(price), "1") for price in range(2000, 999, -1)]
        self.assertFalse(book.take(frame("snapshot", 1, bids, [], checksum(bids, []))))

    def test_a_refused_book_says_why(self) -> None:
        receiver = BookReceiver(lambda: None, lambda: None)
        receiver.refuse(StreamError("INVALID_SUBSCRIPTION", "no"))
        self.assertRaises(StreamError, receiver.settled)


if __name__ == "__main__":
    unittest.main()
