"""Errors by the names that ccxt has for them, and what of the service each of them is."""

from __future__ import annotations

from typing import Any

from ._generated.table import CCXT
from .errors import AmbiguousError, RefusedError, RingbookError
from .errors import NetworkError as NoAnswer


class BaseError(RingbookError):
    """As in ccxt: everything these verbs raise."""


class ExchangeError(BaseError):
    """The service said no."""


class AuthenticationError(ExchangeError):
    """No session, or a signature that is not its."""


class PermissionDenied(AuthenticationError):
    """Not allowed to this session."""


class ArgumentsRequired(ExchangeError):
    """Which of several is meant has to be said."""


class BadRequest(ExchangeError):
    """Something is wrong with the request."""


class BadSymbol(BadRequest):
    """No such pair, or none that trades."""


class InsufficientFunds(ExchangeError):
    """Not enough to lock."""


class InvalidOrder(ExchangeError):
    """Terms that no order can have, or not now."""


class OrderNotFound(InvalidOrder):
    """No order that is open has this id."""


class OrderImmediatelyFillable(InvalidOrder):
    """A post-only order would take from the book."""


class DuplicateOrderId(InvalidOrder):
    """Another open order has this client order id."""


class NotSupported(ExchangeError):
    """The exchange has nothing of the kind."""


class NetworkError(BaseError):
    """It may pass."""


class RateLimitExceeded(NetworkError):
    """Too much at once."""


class ExchangeNotAvailable(NetworkError):
    """Not now."""


class OnMaintenance(ExchangeNotAvailable):
    """Orders are blocked; cancels go on."""


class InvalidNonce(NetworkError):
    """The clocks differ: `client.sync_clock()`."""


class RequestTimeout(NetworkError):
    """No answer. An order may have been placed."""


def class_of(name: str, errors: Any) -> Any:
    """The class of this name: of the module `errors`, where it has one."""
    return getattr(errors, name, None) or globals()[name]


def unified(error: RingbookError, errors: Any) -> Exception:
    """What ccxt would call it. What may have been applied is RequestTimeout, after which ccxt wants it looked for."""
    name = "ExchangeError"
    if isinstance(error, AmbiguousError):
        name = "RequestTimeout"
    elif isinstance(error, RefusedError):
        name = CCXT.get(error.code, "ExchangeNotAvailable" if error.status >= 500 else "ExchangeError")
    elif isinstance(error, NoAnswer):
        name = "RequestTimeout" if error.timed_out else "NetworkError"
    made: Exception = class_of(name, errors)(str(error))
    return made
