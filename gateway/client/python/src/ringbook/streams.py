"""The streams of a client: any number of subscriptions over one link, which is opened by the first and closed with
the last.

Whatever happens to the link, what stands here is subscribed to again and begins with a new snapshot. Private
channels wait for the session, which authenticates each socket. A session that is over is dropped: private
subscriptions are told and stand still until the next sign-in, public ones go on. No I/O.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol

from ._generated.table import CHANNELS
from .clock import Backoff, Cancel, Clock, nothing
from .errors import StreamError
from .link import Dialer, Frame, Link, StreamOptions
from .signing import SessionKey, sign_request
from .topic import Listener, Receiver, Topic, key_of, said_of, terms_of

#: What is signed to authenticate a socket.
TARGET = "/ws"
#: How long a link without subscriptions is kept for the next one, seconds.
_LINGER = 1.0
#: Complaints about a whole connection that are about its session or account.
_SESSION_CODES = ("SESSION_INVALID", "AUTH_FAILED", "SUBSCRIPTION_LIMIT")


class Session(Protocol):
    """What signs: the key of the session, and the service's time in Unix ms."""
    key: Optional[SessionKey]

    def service_time(self) -> int:
        """Unix ms."""


def url_of(base_url: str) -> str:
    """Where the WebSocket of the service is."""
    return "ws" + base_url.rstrip("/")[len("http"):] + TARGET


def signed_message(session: Session, kind: str, method: str, target: str, body: str = "") -> Frame:
    """What a message needs that the session's key signs with this body."""
    if session.key is None:
        raise RuntimeError("sign in first")
    headers = sign_request(session.key, method, target, body.encode(), session.service_time())
    return {
        "type": kind, "publicKey": headers["X-Svc-PublicKey"], "timestamp": headers["X-Svc-Timestamp"],
        "signature": headers["X-Svc-Signature"],
    }


class Streams:
    def __init__(
        self, url: str, options: StreamOptions, clock: Clock, dialer: Dialer, session: Session,
        session_ended: Callable[[StreamError], None] = lambda _: None,
    ) -> None:
        """`session_ended`: the session is over, or was refused; the place to sign in again."""
        self._options, self._clock, self._session, self._session_ended = options, clock, session, session_ended
        self._link = Link(url, options, clock, dialer, self)
        # By channel and parameters as given.
        self._topics: Dict[str, Topic] = {}
        # Those about which something is to be said, in order; by the id of the last message about each; those that
        # stand, by channel and pair.
        self._dirty: Dict[Topic, None] = {}
        self._asked: Dict[int, Topic] = {}
        self._routes: Dict[str, List[Topic]] = {}
        self._last_id = 0
        self._auth = "none"
        # What this socket was told of its session; why there is no session to use, as far as is known.
        self._complaint: Optional[StreamError] = None
        self._session_error: Optional[StreamError] = None
        self._cancel_linger: Cancel = nothing

    @property
    def status(self) -> str:
        return self._link.status

    def subscribe(self, channel: str, params: Mapping[str, Any], receiver: Receiver) -> Listener:
        """Listens to a channel: a snapshot, then its updates without gap or repetition, until it is closed."""
        key = key_of(channel, params)
        fresh = key not in self._topics
        topic = self._make(channel, params) if fresh else self._topics[key]
        listener = Listener(topic, receiver)
        topic.listeners.append(listener)
        if fresh and len(self._topics) >= self._options.subscriptions:
            topic.phase = "suspended"
            refused = StreamError("SUBSCRIPTION_LIMIT", "Too many subscriptions")
            self._clock.soon(lambda: self._end(topic, refused))
            return listener
        self._topics[key] = topic
        error = self._lacking() if topic.is_private else None
        if error is None:
            self._start(topic)
        else:
            topic.phase = "suspended"
            self._clock.soon(partial(self._refuse_suspended, listener, error))
        self._cancel_linger()
        self._link.open()
        return listener

    def _make(self, channel: str, params: Mapping[str, Any]) -> Topic:
        options = self._options
        backoff = Backoff(self._clock, options.base, options.cap, options.stable)
        return Topic(channel, terms_of(params), CHANNELS[channel], backoff)

    def _refuse_suspended(self, listener: Listener, error: StreamError) -> None:
        if listener.topic.phase == "suspended":
            listener.refuse(error)

    def signed_in(self) -> None:
        """A sign-in gave a new session: private subscriptions use it from now on."""
        self._session_error = None
        # A socket keeps its account, and whose the new session is, is not known here.
        if self._auth != "none":
            self._link.restart()
        for topic in self._topics.values():
            if topic.phase == "suspended":
                topic.set_status("connecting")
                self._start(topic)

    def close(self) -> None:
        """Closes all subscriptions, and the socket."""
        for topic in list(self._topics.values()):
            for listener in list(topic.listeners):
                self.leave(listener)
        self._cancel_linger()
        self._hang_up()

    def renew(self, listener: Listener) -> None:
        """Asks for a new snapshot, at once when the last one was good for a while."""
        topic = listener.topic
        if topic.phase != "standing" or not topic.listeners:
            return
        topic.phase = "waiting"
        topic.interrupt()
        topic.pause_with(self._clock.after(topic.backoff.pause(), lambda: self._start(topic)))

    def leave(self, listener: Listener) -> None:
        """Listens no longer."""
        topic = listener.topic
        if listener not in topic.listeners:
            return
        topic.listeners.remove(listener)
        if not topic.listeners:
            self._give_up(topic)
        listener.set_status("closed")
        listener.receiver.ended()

    def _hang_up(self) -> None:
        self._forget()
        self._link.close()

    def _start(self, topic: Topic) -> None:
        """Lets the topic be asked for."""
        topic.stop_pause()
        topic.phase = "waiting"
        self._say(topic)

    def _lacking(self) -> Optional[StreamError]:
        if self._session.key is None:
            return StreamError("AUTH_REQUIRED", "Sign in before private channels")
        return self._session_error

    def _say(self, topic: Topic) -> None:
        self._dirty[topic] = None
        self._link.wake()

    def _give_up(self, topic: Topic) -> None:
        """Nobody listens to it any more."""
        if self._topics.get(topic.key) is topic:
            del self._topics[topic.key]
        topic.stop_pause()
        self._unroute(topic)
        self._asked.pop(topic.id, None)
        if topic.told:
            self._say(topic)
        else:
            self._dirty.pop(topic, None)
        if not self._topics:
            self._cancel_linger()
            self._cancel_linger = self._clock.after(_LINGER, self._hang_up)

    def _end(self, topic: Topic, error: StreamError) -> None:
        """The service does not have it, and will not."""
        topic.phase = "suspended"
        topic.told = False
        topic.refuse(error)
        for listener in list(topic.listeners):
            self.leave(listener)

    def next_message(self) -> Optional[Frame]:
        for topic in self._dirty:
            if not topic.is_private or self._auth == "done" or not topic.listeners:
                return self._message_of(topic)
            if self._auth == "none":
                self._auth = "asked"
                return signed_message(self._session, "auth", "GET", TARGET)
        return None

    def _message_of(self, topic: Topic) -> Frame:
        del self._dirty[topic]
        self._asked.pop(topic.id, None)
        self._last_id += 1
        topic.id, topic.told = self._last_id, bool(topic.listeners)
        said = {"id": topic.id, "channel": topic.channel, "params": topic.params}
        if not topic.told:
            return {"type": "unsubscribe", **said}
        topic.phase = "asked"
        self._asked[topic.id] = topic
        return {"type": "subscribe", **said}

    def opened(self) -> None:
        for topic in self._topics.values():
            if topic.phase == "waiting":
                self._dirty[topic] = None

    def lost(self, code: int, reason: str) -> None:
        complaint = self._complaint or StreamError(reason, "The session was refused")
        self._forget()
        for topic in self._topics.values():
            topic.stop_pause()
            topic.told = False
            if topic.phase != "suspended":
                topic.phase = "waiting"
                topic.interrupt()
        if complaint.code in _SESSION_CODES:
            self._drop_session(complaint)

    def _forget(self) -> None:
        """Nothing of the socket that was there counts any more."""
        self._auth = "none"
        self._complaint = None
        self._dirty.clear()
        self._asked.clear()
        self._routes.clear()

    def status_changed(self, status: str) -> None:
        """Whoever wants to know asks."""

    def _drop_session(self, error: StreamError) -> None:
        self._session_error = error
        for topic in list(self._topics.values()):
            if topic.is_private and topic.phase != "suspended":
                topic.stop_pause()
                topic.phase = "suspended"
                self._dirty.pop(topic, None)
                topic.refuse(error)
        self._session_ended(error)

    def took(self, frame: Frame) -> None:
        kind, channel, data = frame.get("type"), frame.get("channel"), frame.get("data")
        if isinstance(channel, str) and isinstance(data, dict):
            self._take_data(channel, kind, frame, data)
        elif kind == "authenticated":
            self._auth = "done"
            self._link.wake()
        elif kind == "subscribed":
            self._stand(self._asked.get(frame.get("id", 0)), frame)
        elif kind == "unsubscribed":
            self._take_unsubscribed(frame)
        elif kind == "error":
            self._take_error(frame)

    def _stand(self, topic: Optional[Topic], frame: Frame) -> None:
        if topic is None or topic.phase != "asked" or not topic.listeners:
            return
        params = frame.get("params")
        if not isinstance(params, dict):
            raise TypeError("a confirmation without parameters")
        self._unroute(topic)
        self._routes.setdefault(_route_of(topic.channel, params.get("tradingPairId")), []).append(topic)
        topic.backoff.stands()
        topic.stand(params)

    def _unroute(self, topic: Topic) -> None:
        route = _route_of(topic.channel, (topic.confirmed or {}).get("tradingPairId"))
        there = self._routes.get(route, [])
        if topic in there:
            there.remove(topic)
        if not there:
            self._routes.pop(route, None)

    def _take_data(self, channel: str, kind: Any, frame: Frame, data: Frame) -> None:
        routes = {_route_of(channel, said_of(data, "tradingPairId")), channel}
        for topic in [topic for route in routes for topic in self._routes.get(route, [])]:
            if topic.covers(kind, data) and not topic.take(frame) and topic.listeners:
                self.renew(topic.listeners[0])

    def _take_unsubscribed(self, frame: Frame) -> None:
        """The same subscription may stand under two spellings of its parameters, of which one was given up."""
        channel, params = frame.get("channel"), frame.get("params")
        if not isinstance(channel, str) or not isinstance(params, dict):
            return
        for topic in list(self._topics.values()):
            if topic.phase != "standing" or key_of(channel, params) != key_of(topic.channel, topic.confirmed or {}):
                continue
            if frame.get("id") is None:
                self._end(topic, StreamError("SUBSCRIPTION_LIMIT", "Too many subscriptions for too long"))
            else:
                self._start(topic)

    def _take_error(self, frame: Frame) -> None:
        code, message = frame.get("code"), frame.get("message")
        if not isinstance(code, str) or not isinstance(message, str):
            raise TypeError("an error without code or message")
        error = StreamError(code, message)
        if frame.get("id") is None:
            if code in _SESSION_CODES and frame.get("channel") is None:
                # The service is about to close. Whatever becomes of that, the next socket comes after a pause.
                self._complaint = error
                raise error
            return
        topic = self._asked.get(frame["id"])
        if topic is None:
            return
        # The subscription stands, but without a snapshot it is worth nothing.
        if code == "SNAPSHOT_UNAVAILABLE" and topic.listeners:
            self.renew(topic.listeners[0])
        else:
            self._end(topic, error)


def _route_of(channel: str, pair: Any = None) -> str:
    """Frames of one channel and pair, or of no pair in particular."""
    return f"{channel} {pair}" if isinstance(pair, str) else channel
