"""What the tests of the streams stand on: a clock that is set by hand, and sockets whose other end is the test."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

sys.path[:0] = [str(Path(__file__).parents[1] / "src"), str(Path(__file__).parents[1] / "examples")]

from ringbook.errors import StreamError  # noqa: E402
from ringbook.link import StreamOptions, Watcher  # noqa: E402
from ringbook.order_entry import OrderEntry  # noqa: E402
from ringbook.signing import SessionKey  # noqa: E402
from ringbook.streams import Streams  # noqa: E402

PAIR = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


class HandClock:
    """Time stands until it is moved; chance gives what it is told."""

    def __init__(self) -> None:
        self.time = 0.0
        self.chance = 1.0
        self._due: List[Tuple[float, int, Callable[[], None]]] = []
        self._count = 0

    def now(self) -> float:
        return self.time

    def random(self) -> float:
        return self.chance

    def after(self, seconds: float, act: Callable[[], None]) -> Callable[[], None]:
        self._count += 1
        entry = (self.time + seconds, self._count, act)
        self._due.append(entry)
        return lambda: self._due.remove(entry) if entry in self._due else None

    def soon(self, act: Callable[[], None]) -> None:
        self.after(0.0, act)

    @property
    def waiting(self) -> int:
        return len(self._due)

    def advance(self, seconds: float) -> None:
        until = self.time + seconds
        while True:
            due = sorted(entry for entry in self._due if entry[0] <= until)
            if not due:
                break
            self._due.remove(due[0])
            self.time = max(self.time, due[0][0])
            due[0][2]()
        self.time = until


class ServiceSocket:
    """The service's end of a socket: what was said to it, and what it says."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self.said: List[Dict[str, Any]] = []
        self.closed = False

    def send(self, text: str) -> None:
        self.said.append(json.loads(text))

    def close(self) -> None:
        self.closed = True

    def tell(self, **frame: Any) -> None:
        self._watcher.receive(json.dumps(frame))

    def noise(self, text: Any) -> None:
        self._watcher.receive(text)

    def connected(self) -> None:
        self.tell(type="connected", connectionId="x", heartbeatMs=1)

    def end(self, code: int = 1006, reason: str = "") -> None:
        self.closed = True
        self._watcher.fail(code, reason)

    def asked(self, kind: str) -> List[Dict[str, Any]]:
        return [message for message in self.said if message["type"] == kind]

    def confirm(self) -> None:
        """Confirms everything that was asked for and not confirmed yet."""
        for message in self.asked("subscribe"):
            if not message.get("done"):
                message["done"] = True
                self.tell(type="subscribed", id=message["id"], channel=message["channel"], params=message["params"])


class Dialer:
    def __init__(self) -> None:
        self.sockets: List[ServiceSocket] = []

    def dial(self, url: str, watcher: Watcher, timeout: float) -> ServiceSocket:
        self.sockets.append(ServiceSocket(watcher))
        return self.sockets[-1]


class Account:
    """A session that signs."""

    def __init__(self, key: Optional[SessionKey]) -> None:
        self.key = key

    def service_time(self) -> int:
        return 1_700_000_000_000


class Record:
    """Everything that a listener was told, in order."""

    def __init__(self) -> None:
        self.told: List[Any] = []

    def hear(self, frame: Dict[str, Any]) -> None:
        self.told.append(frame["data"])

    def refuse(self, error: StreamError) -> None:
        self.told.append(error.code)

    def status_changed(self, status: str) -> None:
        self.told.append(status)

    def ended(self) -> None:
        self.told.append("ended")


class Stage:
    def __init__(self, options: Optional[StreamOptions] = None, key: Optional[SessionKey] = None) -> None:
        self.clock, self.dialer, self.account = HandClock(), Dialer(), Account(key)
        self.ended: List[str] = []
        chosen = options or StreamOptions()
        self.streams = Streams(
            "ws://x/ws", chosen, self.clock, self.dialer, self.account, lambda error: self.ended.append(error.code),
        )
        self.entry = OrderEntry("ws://x/ws", chosen, self.clock, self.dialer, self.account, 35.0)

    @property
    def socket(self) -> ServiceSocket:
        """The newest socket."""
        return self.dialer.sockets[-1]

    def listen(self, channel: str, **params: Any) -> Record:
        record = Record()
        self.streams.subscribe(channel, params, record)
        return record
