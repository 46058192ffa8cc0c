"""Signatures of a session key, in both protocols of the REST interface (specification, Authentication)."""

from __future__ import annotations

import base64
import hashlib
from typing import Dict, Optional

from nacl.signing import SigningKey

_COMPONENTS = '("@method" "@path" "@query" "content-digest")'


class SessionKey:
    """An ed25519 key that signs requests. Its seed is a secret: who has it acts for the account until the session
    ends."""

    def __init__(self, seed: Optional[bytes] = None) -> None:
        """The key of a seed of 32 bytes, or a new one."""
        self._key = SigningKey.generate() if seed is None else SigningKey(seed)
        #: 64 lowercase hex digits.
        self.public_key: str = bytes(self._key.verify_key).hex()

    @property
    def seed(self) -> bytes:
        """What the key is made of, to go on with its session after a restart."""
        return bytes(self._key)

    def sign(self, data: bytes) -> bytes:
        """The 64 bytes of the signature of `data`."""
        return bytes(self._key.sign(data).signature)

    def __repr__(self) -> str:
        return f"SessionKey({self.public_key})"


def sign_request(key: SessionKey, method: str, target: str, body: bytes, timestamp: int) -> Dict[str, str]:
    """Legacy headers of a request. Signed are four lines: method, path with query as sent, Unix ms, SHA-256 of the
    body."""
    lines = f"{method}\n{target}\n{timestamp}\n{hashlib.sha256(body).hexdigest()}"
    return {
        "X-Svc-PublicKey": key.public_key,
        "X-Svc-Timestamp": str(timestamp),
        "X-Svc-Signature": key.sign(lines.encode()).hex(),
    }


def sign_message(key: SessionKey, method: str, target: str, body: bytes, timestamp: int) -> Dict[str, str]:
    """Headers of RFC 9421, and RFC 9530 for the body; `timestamp` in Unix ms as above, signed to the second."""
    path, mark, query = target.partition("?")
    digest = f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"
    parameters = f'{_COMPONENTS};created={timestamp // 1000};keyid="{key.public_key}";alg="ed25519"'
    lines = [
        f'"@method": {method}', f'"@path": {path}', f'"@query": ?{query}', f'"content-digest": {digest}',
        f'"@signature-params": {parameters}',
    ]
    signature = base64.b64encode(key.sign("\n".join(lines).encode())).decode()
    return {"Signature-Input": f"svc={parameters}", "Signature": f"svc=:{signature}:", "Content-Digest": digest}
