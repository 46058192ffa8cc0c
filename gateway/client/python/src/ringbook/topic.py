"""One subscription of the service, however many listen to it here."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional, Protocol

from .clock import Backoff, Cancel, nothing
from .continuity import Gap, continuity_of
from .errors import StreamError
from .link import Frame

#: Parameters that narrow a channel which has a snapshot of everything too.
_SCOPES = ("tradingPairId", "marginAccountId")


def terms_of(params: Mapping[str, Any]) -> Dict[str, Any]:
    """Parameters without those that are absent, in one order."""
    return {name: params[name] for name in sorted(params) if params[name] is not None}


def key_of(channel: str, params: Mapping[str, Any]) -> str:
    return f"{channel} {json.dumps(terms_of(params))}"


def said_of(data: Mapping[str, Any], name: str) -> Any:
    """What a frame says of a parameter: itself, or the first record of its list."""
    if data.get(name) is not None:
        return data[name]
    rows: Optional[List[Any]] = next((value for value in data.values() if isinstance(value, list)), None)
    return rows[0].get(name) if rows and isinstance(rows[0], dict) else None


class Receiver(Protocol):
    """Who listens. Nothing of it may raise."""

    def hear(self, frame: Frame) -> None:
        """A frame: a snapshot is in place of everything before."""

    def refuse(self, error: StreamError) -> None:
        """It was refused. A private subscription whose session is over stands, and goes on with the next sign-in."""

    def status_changed(self, status: str) -> None:
        """connecting, open, reconnecting or closed. `open`: what comes is complete."""

    def ended(self) -> None:
        """Nothing comes any more."""


class Topic:
    """Phases: waiting (to be asked for), asked, standing, suspended (not asked for until something changes)."""

    def __init__(self, channel: str, params: Dict[str, Any], is_private: bool, backoff: Backoff) -> None:
        self.channel, self.params, self.is_private, self.backoff = channel, params, is_private, backoff
        self.key = key_of(channel, params)
        self.listeners: List[Listener] = []
        self.phase = "waiting"
        #: The service was told of it, on this socket.
        self.told = False
        #: Id of the last message about it.
        self.id = 0
        #: Parameters as the service writes them; None before it confirmed.
        self.confirmed: Optional[Dict[str, Any]] = None
        self._cancel_pause: Cancel = nothing
        self._continuity = continuity_of(channel)

    def pause_with(self, cancel: Cancel) -> None:
        """Tries again after a while."""
        self._cancel_pause = cancel

    def stop_pause(self) -> None:
        self._cancel_pause()
        self._cancel_pause = nothing

    def stand(self, params: Dict[str, Any]) -> None:
        """The service confirmed it: a snapshot follows."""
        self.phase, self.confirmed = "standing", params
        self._continuity = continuity_of(self.channel)
        self.set_status("open")

    def take(self, frame: Frame) -> bool:
        """Hands a frame on. False: something is missing before it."""
        whole = self._continuity.take(frame)
        if isinstance(whole, Gap):
            return False
        if whole is not None:
            for listener in list(self.listeners):
                listener.receiver.hear(whole)
        return True

    def covers(self, kind: Any, data: Mapping[str, Any]) -> bool:
        """Whether a frame with this data is told to this topic.

        A snapshot says whose it is; an update is told to everybody whose parameters it has, as far as it says them.
        """
        confirmed = self.confirmed
        if self.phase != "standing" or confirmed is None:
            return False
        if kind == "snapshot":
            return all(data.get(name) == confirmed.get(name) for name in {*_SCOPES, *confirmed})
        return all(said_of(data, name) in (None, value) for name, value in confirmed.items())

    def set_status(self, status: str) -> None:
        for listener in list(self.listeners):
            listener.set_status(status)

    def interrupt(self) -> None:
        """It goes on without being complete, unless it never was."""
        for listener in list(self.listeners):
            if listener.status == "open":
                listener.set_status("reconnecting")

    def refuse(self, error: StreamError) -> None:
        for listener in list(self.listeners):
            listener.refuse(error)


class Listener:
    """One call of `subscribe`."""

    def __init__(self, topic: Topic, receiver: Receiver) -> None:
        self.topic, self.receiver = topic, receiver
        self.status = "connecting"

    def refuse(self, error: StreamError) -> None:
        self.receiver.refuse(error)
        self.set_status("closed")

    def set_status(self, status: str) -> None:
        if status != self.status:
            self.status = status
            self.receiver.status_changed(status)
