"""How a call fails, and whether it may be repeated (specification, Errors, rules 4 to 8).

What matters after a failure is whether something happened:

  RefusedError     the service said no: nothing was applied
  NotSentError     the request never left: nothing was applied
  AmbiguousError   it may have been applied, and sending it again might do it twice
  NetworkError     no answer to something that may be sent again in any case: a read, a cancel

Only refusals that the service's register names are known to be safe. A 502, a 503 without a code and a 504 come from
something in between, which does not know; on a create or a movement they are ambiguous.
"""

from __future__ import annotations

import json
import math
from typing import Any, Mapping, Optional

from ._generated.table import RETRY

#: Code of an answer that is no envelope: something else than the service answered, a proxy for one.
UNEXPECTED_RESPONSE = "UNEXPECTED_RESPONSE"
#: "The original response cannot be retrieved; an order may exist": the same key again, and until then nobody knows.
_MAY_EXIST = "ORDER_SUBMISSION_UNAVAILABLE"
_TIMEOUT = 408
_CONFLICT = 409
_SERVER_ERROR = 500


def retry_of(code: str, status: int = _SERVER_ERROR) -> str:
    """Retry class of a refusal, and of `results[].error.code` of a batch, which has no status.

    `no`: refused again. `after`: wait for `retry_after`. `safe`: nothing was applied. `same-key`: only with the same
    idempotency key. `ambiguous`: may have been applied. `reauthenticate`: sign in again.
    """
    if code in RETRY:
        return RETRY[code]
    if status == 401:
        return "reauthenticate"
    if status == 429:
        return "after"
    # What nobody named, a success that cannot be read, and what is no refusal at all (rules 6 and 7).
    if status < 400 or status in (_TIMEOUT, _CONFLICT) or status >= _SERVER_ERROR:
        return "ambiguous"
    return "no"


class RingbookError(Exception):
    """Everything this package raises about the service."""


class StreamError(RingbookError):
    """What the service refused on a socket; or what it would have refused. `code`: of an error frame (Events, rule
    4)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class RefusedError(RingbookError):
    """An answer that is no success. `code` is stable; `error` is its class, `status` the HTTP status, `retry` its
    retry class.

    Nothing was applied; of a call that may be sent again in any case (a read, a cancel) that is not said.
    """

    def __init__(self, envelope: Mapping[str, Any], status: int) -> None:
        self.status = status
        self.error = str(envelope.get("error"))
        self.code = str(envelope.get("code") or self.error)
        self.message = str(envelope.get("message"))
        details = envelope.get("details")
        self.details: dict[str, Any] = dict(details) if isinstance(details, Mapping) else {}
        self.retry = retry_of(self.code, status)
        super().__init__(f"{status} {self.code}: {self.message}")

    @property
    def retry_after(self) -> Optional[float]:
        """Seconds to wait before trying again, when the service named them."""
        try:
            seconds = float(self.details["retryAfter"])
        except (KeyError, TypeError, ValueError):
            return None
        return seconds if math.isfinite(seconds) and seconds >= 0 else None


class NetworkError(RingbookError):
    """No answer. What was asked may have happened; it is of a kind that may be asked again."""

    def __init__(self, message: str, timed_out: bool = False) -> None:
        super().__init__(message)
        self.timed_out = timed_out


class NotSentError(NetworkError):
    """The request never left, so nothing was applied."""


class AmbiguousError(RingbookError):
    """It may have been applied, and nobody can tell from here.

    With an idempotency key: send the same key and payload again, within 24 hours. Without one: look at the order
    stream or the account before you repeat it; listings may lag behind. `cause` is what came instead of an answer.
    """

    def __init__(self, operation: str, cause: Exception) -> None:
        super().__init__(f"{operation}: ambiguous, it may have been applied ({cause})")
        self.operation = operation
        self.cause = cause


def error_of(status: int, body: bytes, retry_after: Optional[str] = None) -> RefusedError:
    """The error of an answer that is no success, whatever its body is."""
    try:
        envelope = json.loads(body)
    except ValueError:
        envelope = None
    is_object = isinstance(envelope, dict)
    if not is_object or not isinstance(envelope.get("error"), str) or not isinstance(envelope.get("message"), str):
        envelope = {"error": UNEXPECTED_RESPONSE, "message": f"HTTP {status} without an error envelope"}
    details = envelope.get("details")
    if retry_after is not None:
        envelope["details"] = {"retryAfter": retry_after, **(details if isinstance(details, dict) else {})}
    return RefusedError(envelope, status)


def known_not_applied(error: Exception) -> bool:
    """Whether nothing was applied, for certain."""
    if isinstance(error, RefusedError):
        return error.retry != "ambiguous" and error.code != _MAY_EXIST
    return isinstance(error, NotSentError)


def failure_of(operation: str, repeatable: bool, error: RingbookError, doubt: Optional[RingbookError]) -> RingbookError:
    """What the caller is told of `error`. `repeatable`: it may be sent again in any case; `doubt`: why it may have
    been applied."""
    return error if repeatable or doubt is None else AmbiguousError(operation, doubt)
