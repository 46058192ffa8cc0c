"""Frames of one subscription until its reader takes them: bounded, and complete or said not to be.

When `limit` frames wait, all are dropped and a new snapshot is asked for. The reader gets StreamError
`UPDATES_LOST` and then the snapshot, which does not have what ended meanwhile. May be used by several threads; each
item goes to one of them.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Callable, Deque, Optional, Union

from .errors import StreamError
from .link import Frame


class End:
    """Nothing comes any more."""


END = End()
Item = Union[Frame, StreamError, End]


class Inbox:
    def __init__(self, limit: int, renew: Callable[[], None], came: Callable[[], None]) -> None:
        """`renew` asks for a new snapshot; `came` is called when there is something to read, or the status changed."""
        self._limit, self._renew, self._came = limit, renew, came
        self._items: Deque[Item] = deque()
        self._lock = threading.Lock()
        # Frames were dropped: those up to the next snapshot are worth nothing.
        self._broken = False
        self.status = "connecting"
        #: How often frames were dropped because nobody read them.
        self.overflows = 0

    def hear(self, frame: Frame) -> None:
        with self._lock:
            if self._broken and frame["type"] != "snapshot":
                return
            self._broken = len(self._items) >= self._limit
            if not self._broken:
                self._items.append(frame)
            else:
                self._items.clear()
                self._items.append(StreamError("UPDATES_LOST", f"{self._limit} frames waited and were dropped"))
                self.overflows += 1
            renew = self._broken
        self._came()
        if renew:
            self._renew()

    def refuse(self, error: StreamError) -> None:
        self._add(error)

    def status_changed(self, status: str) -> None:
        self.status = status
        self._came()

    def ended(self) -> None:
        self._add(END)

    def _add(self, item: Item) -> None:
        with self._lock:
            self._items.append(item)
        self._came()

    @property
    def is_empty(self) -> bool:
        return not self._items

    def take(self) -> Optional[Any]:
        """The next item, or None when there is none. The end stays."""
        with self._lock:
            if not self._items:
                return None
            item = self._items[0]
            if not isinstance(item, End):
                self._items.popleft()
            return item
