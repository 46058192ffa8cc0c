"""Which frames of a subscription count (specification, Events, rule 5): what was told already is left out, and a gap
is noticed.

  orderbook            a frame goes on where the one before it ended: `previousSequence` is its `sequence`
  balances, positions  a row replaces one of a lower `version`
  orders               an event behind the snapshot; the frames of a snapshot are put together

What is no such frame at all raises: a service that says so is not to be relied on.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Protocol, Union

from .link import Frame


class Gap:
    """Something is missing: only a new snapshot helps."""


GAP = Gap()


class Continuity(Protocol):
    def take(self, frame: Frame) -> Union[Frame, Gap, None]:
        """The frame to hand on, which may be made of several; None: nothing, for now or for ever."""


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("not a whole number")
    return value


def _records(value: Any) -> List[Frame]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise TypeError("not a list of records")
    return value


def _is_snapshot(frame: Frame) -> bool:
    return frame.get("type") == "snapshot"


class _Chain:
    def __init__(self) -> None:
        self._sequence: Optional[int] = None

    def take(self, frame: Frame) -> Union[Frame, Gap, None]:
        data, sequence = frame["data"], _whole(frame.get("sequence"))
        for level in [*_records(data.get("bids")), *_records(data.get("asks"))]:
            if not isinstance(level.get("price"), str) or not isinstance(level.get("quantity"), str):
                raise TypeError("not a level")
        if not _is_snapshot(frame):
            if self._sequence is None:
                return None
            if data.get("previousSequence") != self._sequence or sequence <= self._sequence:
                return GAP
        self._sequence = sequence
        return frame


class _Versions:
    def __init__(self, rows: str, key: str) -> None:
        """Rows stand in a snapshot under `rows` and are told apart by `key`."""
        self._rows, self._key = rows, key
        self._versions: Optional[Dict[Any, int]] = None

    def take(self, frame: Frame) -> Union[Frame, Gap, None]:
        data = frame["data"]
        if _is_snapshot(frame):
            self._versions = {row.get(self._key): _whole(row.get("version")) for row in _records(data.get(self._rows))}
            return frame
        version = _whole(data.get("version"))
        if self._versions is None or version <= self._versions.get(data.get(self._key), -1):
            return None
        self._versions[data.get(self._key)] = version
        return frame


class _Events:
    def __init__(self) -> None:
        self._complete = False
        # Command of the snapshot: the order stream itself has no sequence (specification, Events, rule 2).
        self._since: Optional[int] = None
        self._parts: List[Frame] = []

    def take(self, frame: Frame) -> Union[Frame, Gap, None]:
        data = frame["data"]
        sequence = data.get("commandSequence")
        if not _is_snapshot(frame):
            if not self._complete:
                return GAP if self._parts else None
            told = self._since is not None and sequence is not None and _whole(sequence) <= self._since
            return None if told else frame
        self._complete = False
        self._parts += _records(data.get("orders"))
        if data.get("more") is True:
            return None
        orders, self._parts = self._parts, []
        self._complete, self._since = True, None if sequence is None else _whole(sequence)
        return {**frame, "data": {**data, "orders": orders}}


class _Alone:
    """Frames that stand for themselves."""

    def take(self, frame: Frame) -> Union[Frame, Gap, None]:
        return frame


def continuity_of(channel: str) -> Continuity:
    """The rule of a channel, from the beginning of a subscription."""
    if channel == "orderbook":
        return _Chain()
    if channel == "balances":
        return _Versions("balances", "assetId")
    if channel == "positions":
        return _Versions("positions", "positionId")
    if channel == "orders":
        return _Events()
    return _Alone()
