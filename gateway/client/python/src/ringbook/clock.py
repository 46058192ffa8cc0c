"""Time and chance of the streams, and how long to wait before trying again. Both are given, so that tests decide
them."""

from __future__ import annotations

import asyncio
import random
from typing import Callable, Optional, Protocol

Cancel = Callable[[], None]


def nothing() -> None:
    """Nothing to prevent."""


class Clock(Protocol):
    def now(self) -> float:
        """Seconds of a clock that never goes back."""

    def random(self) -> float:
        """At least 0, less than 1."""

    def after(self, seconds: float, act: Callable[[], None]) -> Cancel:
        """Runs `act` once after this time; what it gives back prevents that."""

    def soon(self, act: Callable[[], None]) -> None:
        """Runs `act` when the caller is done."""


class LoopClock:
    """The clock of an asyncio loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        return self._loop.time()

    def random(self) -> float:
        return random.random()

    def after(self, seconds: float, act: Callable[[], None]) -> Cancel:
        return self._loop.call_later(seconds, act).cancel

    def soon(self, act: Callable[[], None]) -> None:
        self._loop.call_soon(act)


class Backoff:
    """Pauses between tries: any time up to a bound that doubles with every failure (exponential back-off with full
    jitter), so that clients which lost the same service do not come back together."""

    def __init__(self, clock: Clock, base: float = 0.25, cap: float = 10.0, stable: float = 10.0) -> None:
        """`base`: longest first pause in seconds; `cap`: longest of all; what stood for `stable` seconds begins
        anew."""
        self._clock, self._base, self._cap, self._stable = clock, base, cap, stable
        self._failures = 0
        self._stood_at: Optional[float] = None

    def stands(self) -> None:
        """It worked, and stands from now on."""
        self._stood_at = self._clock.now()

    def pause(self, least: int = 0) -> float:
        """It failed: seconds to wait, drawn from a bound that has doubled `least` times at least."""
        if self._stood_at is not None and self._clock.now() - self._stood_at >= self._stable:
            self._failures = 0
        self._stood_at = None
        # Beyond 2^30 every bound is the cap.
        bound: float = min(self._cap, self._base * 2.0 ** min(30, max(least, self._failures)))
        self._failures += 1
        return self._clock.random() * bound
