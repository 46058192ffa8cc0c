"""What a process made by `fork` must not share with its parent: sockets.

A connection that both use gives one of them the answer of the other. So in the child every connection of every client
is dropped before any code of the child runs: its descriptor is put over by that of the null device. That says nothing
to the service, and the parent's connection ends when the parent closes it. The child opens its own connections.
"""

from __future__ import annotations

import os
import weakref
from typing import Any, Callable, List

_guards: "weakref.WeakSet[Guard]" = weakref.WeakSet()
#: What the child must never collect: event loops close themselves then, on descriptors of the parent.
_kept: List[object] = []


class Guard:
    """Calls `forked` in a child; lives as long as the client that holds it."""

    def __init__(self, owner: Any, forked: Callable[[Any], None]) -> None:
        """`forked` is given the owner, which is not kept alive."""
        self._owner, self._forked = weakref.ref(owner), forked
        _guards.add(self)

    def run(self) -> None:
        owner = self._owner()
        if owner is not None:
            self._forked(owner)


def keep(each: object) -> None:
    _kept.append(each)


def silence(held: Any) -> None:
    """Takes the descriptor of a socket from this process, and leaves the connection as it is."""
    descriptor = -1 if held is None else held if isinstance(held, int) else held.fileno()
    if descriptor < 0:
        return
    null = os.open(os.devnull, os.O_RDWR)
    try:
        os.dup2(null, descriptor, inheritable=False)
    finally:
        os.close(null)


def silence_loop(loop: Any) -> None:
    """All that an event loop of the parent listens to, sockets that are being opened too."""
    selector = getattr(loop, "_selector", None)
    for key in list((selector.get_map() or {}).values()) if selector is not None else []:
        silence(key.fd)


def _forget() -> None:
    for guard in list(_guards):
        guard.run()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
