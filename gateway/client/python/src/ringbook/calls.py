"""Calls without their I/O: signing, retries, sign-in.

Each call is a generator of steps. It yields what is to be done (`Request`: send it; `Pause`: wait; `Sign`: ask the
wallet) and is given what came of it, or the exception. `client.py` does the steps and waits, `aio.py` does the same
for asyncio; nothing else differs between them.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Generator, Mapping, NamedTuple, Optional, Union, cast

from . import types
from ._generated.table import OPERATIONS, Operation
from .errors import NetworkError, NotSentError, RefusedError, RingbookError, failure_of, known_not_applied
from .signing import SessionKey, sign_message, sign_request
from .wire import Request, harmless, keyed, place_of, read_answer, repeatable, target_and_body

USER_AGENT = "ringbook-python/1.0.0"


class Pause(NamedTuple):
    seconds: float


class Sign(NamedTuple):
    """The wallet is to sign this text (EIP-191 `personal_sign`) and give hex."""
    text: str


Step = Union[Request, Pause, Sign]
Steps = Generator[Step, Any, Any]


@dataclass(frozen=True)
class RetryPolicy:
    """How often a call is tried. Repeated is only what may be: reads, cancels by id, and calls with an idempotency
    key."""
    #: Tries in all, at least 1.
    attempts: int = 1
    #: Longest pause before the second try in seconds; doubles with each further one.
    base: float = 0.1
    #: Longest pause of all in seconds; a longer Retry-After is not waited for.
    cap: float = 5.0


@dataclass
class State:
    """What the calls of one client share."""
    base_url: str
    address: Optional[str] = None
    client_id: Optional[str] = None
    server_key: Optional[str] = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    #: Headers that carry the signatures: legacy (X-Svc-*) or rfc9421.
    protocol: str = "legacy"
    user_agent: str = USER_AGENT
    #: The key that signs; None before a sign-in.
    key: Optional[SessionKey] = None
    #: The service's clock minus this one, ms.
    clock_offset: float = 0.0
    #: Key of the next sign-in; None: a new one each time.
    next_key: Optional[SessionKey] = None
    now: Callable[[], float] = time.time
    draw: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        if self.protocol not in ("legacy", "rfc9421"):
            raise ValueError(f"protocol is legacy or rfc9421, not {self.protocol!r}")
        self.place = place_of(self.base_url)

    def service_time(self) -> int:
        """The clock of the service, Unix ms."""
        return round(self.now() * 1000 + self.clock_offset)


def call(state: State, name: str, fields: Mapping[str, Any]) -> Steps:
    """One call with its retries. Gives what the operation answers."""
    operation = OPERATIONS[name]
    may_repeat = repeatable(operation, fields)
    target, body = target_and_body("", operation, fields)
    attempt = 1
    doubt: Optional[RingbookError] = None
    may_measure = True
    while True:
        try:
            # Each try is signed for itself, with the time it is sent at.
            return read_answer((yield _request(state, operation, target, body)))
        except RingbookError as error:
            if may_measure and isinstance(error, RefusedError) and error.code == "CLOCK_SKEW":
                # The try was refused for its time alone: it does not count.
                may_measure = False
                if (yield from _has_measured(state)):
                    continue
            pause = _pause_before(error, attempt, state) if attempt < state.retry.attempts else None
            # A try whose answer was lost may have been done: a later refusal (of a session that ended, say) is no
            # verdict on it.
            if doubt is None and not known_not_applied(error):
                doubt = error
            if pause is None or not (may_repeat or _was_not_taken(error)):
                raise failure_of(name, harmless(operation, fields), error, doubt) from error
        yield Pause(pause)
        attempt += 1


def _has_measured(state: State) -> Generator[Step, Any, bool]:
    try:
        yield from sync_clock(state)
    except RingbookError:
        return False
    return True


def _was_not_taken(error: RingbookError) -> bool:
    """Whether anything may be sent again after this: it never left, or a budget refused it before anything was done."""
    return isinstance(error, NotSentError) or (isinstance(error, RefusedError) and error.retry in ("after", "safe"))


def _pause_before(error: RingbookError, attempt: int, state: State) -> Optional[float]:
    """Seconds to wait before trying again, or None when trying again is no use."""
    if isinstance(error, RefusedError):
        if error.retry in ("no", "reauthenticate"):
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= state.retry.cap else None
    elif not isinstance(error, NetworkError):
        return None
    bound: float = min(state.retry.cap, state.retry.base * 2 ** (attempt - 1))
    return state.draw() * bound


def _request(state: State, operation: Operation, target: str, body: bytes) -> Request:
    headers: Dict[str, str] = {"User-Agent": state.user_agent}
    if body:
        headers["Content-Type"] = "application/json"
    if operation.access == "session":
        if state.key is None:
            raise RuntimeError("sign in first")
        sign = sign_message if state.protocol == "rfc9421" else sign_request
        headers.update(sign(state.key, operation.method, target, body, state.service_time()))
    elif operation.access == "server-key":
        if state.server_key is None:
            raise RuntimeError("a client without a server key cannot call for an application")
        headers["x-server-key"] = state.server_key
    # What is signed is what the service gets: a proxy takes the path of the base URL off.
    return Request(operation.method, state.place.path + target, body, headers)


def _address(state: State) -> str:
    if state.address is None:
        raise RuntimeError("a client without a wallet cannot sign in")
    return state.address


def open_session(state: State, name: str, fields: Mapping[str, Any]) -> Steps:
    """Challenge, the wallet's signature, and the operation `name` that opens the session; `fields` are its own."""
    address = _address(state)
    key = state.next_key or SessionKey()
    identity = {"sessionPublicKey": key.public_key, "clientId": state.client_id}
    challenge = yield from call(state, "Challenge", {"address": address, **identity})
    signature = yield Sign(challenge["message"])
    proof = key.sign(challenge["message"].encode()).hex()
    session = yield from call(state, name, {
        **identity, "nonce": challenge["nonce"], "signature": signature, "sessionSignature": proof, **fields,
    })
    state.key = key
    return session


def sign_in(state: State, referral_code: Optional[str] = None) -> Steps:
    """Opens a session of the wallet. Gives what Verify answers."""
    return open_session(state, "Verify", {"address": _address(state), "referralCode": referral_code})


def sign_in_for(state: State, owner_address: str) -> Steps:
    """Opens a session of the wallet as a delegated agent of the account of `owner_address`."""
    fields = {"agentAddress": _address(state), "ownerAddress": owner_address}
    return open_session(state, "CreateDelegatedSession", fields)


class Consent(NamedTuple):
    """What a master needs for CreateSubAccount."""
    address: str
    nonce: str
    signature: str


def consent_to(state: State, master: str, session_public_key: str) -> Steps:
    """The wallet agrees to become a sub-account of the wallet `master`, which then controls its balances."""
    address = _address(state)
    challenge = yield from call(state, "Challenge", {
        "address": address, "sessionPublicKey": session_public_key, "subAccountOf": master, "clientId": state.client_id,
    })
    signature = yield Sign(challenge["message"])
    return Consent(address, challenge["nonce"], signature)


def sync_clock(state: State) -> Steps:
    """Measures the service's clock against this one. Gives the offset in ms."""
    sent = state.now() * 1000
    answer = cast("types.GetServerTimeResponse", (yield from call(state, "GetServerTime", {})))
    # The answer was written about half-way.
    state.clock_offset = answer["unixMs"] - (sent + state.now() * 1000) / 2
    return state.clock_offset
