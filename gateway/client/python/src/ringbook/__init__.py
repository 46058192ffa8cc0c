"""The Python client of Ringbook: every operation over REST, streams without gaps, verified books, orders over sockets.

`Client` waits, `AsyncClient` is the same for asyncio. Field names are those of the specification, method names those
of its operations in lower case. Types of requests, answers and frames are in `ringbook.types`.
"""

from . import types
from .aio import AsyncBook, AsyncClient, AsyncOrders, AsyncStream
from .book import BookView, Level
from .calls import Consent, RetryPolicy
from .client import Book, Client, Orders, Stream
from .errors import (
    UNEXPECTED_RESPONSE, AmbiguousError, NetworkError, NotSentError, RefusedError, RingbookError, StreamError, retry_of,
)
from .link import StreamOptions
from .signing import SessionKey, sign_message, sign_request
from .unified import AsyncUnified, Unified
from .wallet import Wallet

__version__ = "1.0.0"

__all__ = [
    "UNEXPECTED_RESPONSE", "AmbiguousError", "AsyncBook", "AsyncClient", "AsyncOrders", "AsyncStream", "AsyncUnified",
    "Book", "BookView", "Client", "Consent", "Level", "NetworkError", "NotSentError", "Orders", "RefusedError",
    "RetryPolicy", "RingbookError", "SessionKey", "Stream", "StreamError", "StreamOptions", "Unified", "Wallet",
    "retry_of", "sign_message", "sign_request", "types",
]
