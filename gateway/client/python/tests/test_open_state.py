"""What is open is given whole, however many there are; history is given in pages, as many as asked for."""

from __future__ import annotations

import unittest
from typing import Any, List, cast
from unittest.mock import patch

import stage  # noqa: F401  finds the package

from ringbook.triggers import TriggerVerbs

COUNT = 2350


def same(row: Any, *_: Any) -> Any:
    return row


@patch("ringbook.verbs.order_of", same)
@patch("ringbook.triggers.conditional_of", same)
class OpenState(unittest.TestCase):
    def read(self, verb: Any, rows: str) -> List[int]:
        """What a verb gives of a service that has so many rows, newest first."""
        try:
            _, fields = next(verb)
            while True:
                start = int(fields["pageToken"] or 0)
                self.assertLessEqual(fields["pageSize"], 1000)
                end = min(COUNT, start + fields["pageSize"])
                _, fields = verb.send({rows: list(range(start, end)), "nextPageToken": str(end) if end < COUNT else ""})
        except StopIteration as stop:
            return cast("List[int]", stop.value)

    def test_it_is_whole(self) -> None:
        verbs = TriggerVerbs(None)
        everything = list(range(COUNT))[::-1]
        self.assertEqual(self.read(verbs.fetch_open_orders(None, None, None, None), "orders"), everything)
        waiting = self.read(verbs.fetch_open_orders(None, None, None, {"trigger": True}), "conditionalOrders")
        self.assertEqual(waiting, everything)
        self.assertEqual(len(self.read(verbs.fetch_open_orders(None, None, 150, None), "orders")), 150)

    def test_history_has_pages(self) -> None:
        self.assertEqual(len(self.read(TriggerVerbs(None).fetch_orders((), None, None, None), "orders")), 100)


if __name__ == "__main__":
    unittest.main()
