"""What signs in: an address, and something that signs a text with its key. This package holds no wallet's key."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, NamedTuple, Union

Signature = Union[str, bytes]


class Wallet(NamedTuple):
    """A wallet. `sign` makes the EIP-191 `personal_sign` signature of a text, as hex or bytes; for asyncio it may be
    awaitable."""
    address: str
    sign: Callable[[str], Union[Signature, Awaitable[Signature]]]


def hex_of(signature: Any) -> str:
    """A signature as the service takes it."""
    if isinstance(signature, (bytes, bytearray)):
        return "0x" + signature.hex()
    if not isinstance(signature, str):
        raise TypeError("a wallet's signature is hex or bytes")
    return signature
