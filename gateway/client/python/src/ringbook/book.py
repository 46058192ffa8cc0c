"""A book of the service kept up to date here: `orderbook` frames applied one by one, and the checksum of every frame
verified.

While the book is not known to be that of the service (`live` is false) it shows what was last verified, which is
old; after a wrong checksum it is empty, because then nothing of it is known to be right. A new snapshot is asked for
after a gap and after a wrong checksum, without anybody's doing. Prices are compared as exact decimals.
"""

from __future__ import annotations

import threading
import zlib
from bisect import bisect_left
from decimal import Decimal
from typing import Callable, List, NamedTuple, Optional, Tuple

from .errors import StreamError
from .link import Frame

#: Levels of each side that subscribers see, and that the checksum covers.
_DEPTH = 1000
_CHECKSUM_LEVELS = 10


class Level(NamedTuple):
    """Everything at one price: decimals as text, as the service writes them."""
    price: str
    quantity: str


class BookView(NamedTuple):
    """A book at one moment, best prices first."""
    bids: Tuple[Level, ...]
    asks: Tuple[Level, ...]
    #: Sequence of the last command that is in it; 0 before the first snapshot.
    sequence: int
    #: Whether this is the book of the service at that sequence.
    live: bool


class _Side:
    """One side, best first; `sign` is -1 for bids."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self._places: List[Decimal] = []
        self.levels: List[Level] = []

    def clear(self) -> None:
        self._places.clear()
        self.levels.clear()

    def set(self, price: str, quantity: str) -> None:
        """Sets a level; quantity "0" removes it."""
        place = Decimal(price) * self._sign
        if not place.is_finite():
            raise ValueError(f"{price} is no price")
        at = bisect_left(self._places, place)
        there = at < len(self._places) and self._places[at] == place
        if quantity == "0":
            if there:
                del self._places[at], self.levels[at]
        elif there:
            self.levels[at] = Level(price, quantity)
        else:
            self._places.insert(at, place)
            self.levels.insert(at, Level(price, quantity))


class BookState:
    """A book and what frames make of it. May be read by other threads than the one that frames come in."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bids, self._asks = _Side(-1), _Side(1)
        self._sequence = 0
        self._live = False

    def take(self, frame: Frame) -> bool:
        """Takes a frame in. False: the book is not that of the service, and a new snapshot is needed."""
        data = frame["data"]
        with self._lock:
            self._live = False
            if frame["type"] == "snapshot":
                self._clear()
            for side, levels in ((self._bids, data["bids"]), (self._asks, data["asks"])):
                for level in levels:
                    side.set(level["price"], level["quantity"])
            self._sequence = frame["sequence"]
            fits = len(self._bids.levels) <= _DEPTH and len(self._asks.levels) <= _DEPTH
            self._live = fits and self._checksum() == data["checksum"]
            if not self._live:
                self._clear()
            return self._live

    def rest(self) -> bool:
        """It may be old from now on. False: it was so before."""
        with self._lock:
            was, self._live = self._live, False
            return was

    def view(self, depth: int = _DEPTH) -> BookView:
        """The `depth` best levels of each side, all of one moment."""
        with self._lock:
            bids, asks = tuple(self._bids.levels[:depth]), tuple(self._asks.levels[:depth])
            return BookView(bids, asks, self._sequence, self._live)

    @property
    def checksum(self) -> int:
        """Checksum of the ten best levels of each side, which is that of the service."""
        with self._lock:
            return self._checksum()

    def _clear(self) -> None:
        self._bids.clear()
        self._asks.clear()

    def _checksum(self) -> int:
        best = self._bids.levels[:_CHECKSUM_LEVELS] + self._asks.levels[:_CHECKSUM_LEVELS]
        return zlib.crc32(",".join(f"{price}:{quantity}" for price, quantity in best).encode())




class BookReceiver:
    """Listens for a book. `renew` asks for a new snapshot; `changed` is called after every frame, and when it is not
    live."""

    def __init__(self, renew: Callable[[], None], changed: Callable[[], None]) -> None:
        self.state = BookState()
        self.status = "connecting"
        #: Why it was refused, once.
        self.error: Optional[StreamError] = None
        #: Nothing comes any more.
        self.is_closed = False
        self._renew, self._changed = renew, changed

    def hear(self, frame: Frame) -> None:
        if not self.state.take(frame):
            self._renew()
        self._changed()

    def refuse(self, error: StreamError) -> None:
        self.error = error
        self._changed()

    def status_changed(self, status: str) -> None:
        self.status = status
        if status != "open":
            self.state.rest()
        self._changed()

    def ended(self) -> None:
        self.is_closed = True
        self._changed()

    def is_settled(self) -> bool:
        """Whether the book is live, or will not be without anybody's doing."""
        return self.error is not None or self.is_closed or self.state.view(0).live

    def holds(self, condition: Callable[[BookView], bool]) -> bool:
        """Whether it is settled, and the condition holds of a live book."""
        return self.is_settled() and (not self.state.view(0).live or condition(self.state.view()))

    def settled(self) -> BookView:
        """The book. Raises why there is none."""
        error, self.error = self.error, None
        if error is not None:
            raise error
        if self.is_closed:
            raise StreamError("CLOSED", "the book was closed")
        return self.state.view()
