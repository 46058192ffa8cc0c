"""A wallet of its own for tests and examples, in plain Python: secp256k1, Keccak-256, EIP-191.

Slow, and its timing tells about the key: for wallets that hold nothing. Others sign with a hardware wallet, or
`eth-account`.
"""

from __future__ import annotations

import secrets

from ringbook import Wallet

# secp256k1 (SEC 2, 2.4.1): y^2 = x^3 + 7 modulo P, with a generator of order N.
P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)
Point = tuple[int, int]


def _add(a: Point | None, b: Point | None) -> Point | None:
    if a is None or b is None:
        return a or b
    if a[0] == b[0]:
        if (a[1] + b[1]) % P == 0:
            return None
        slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, P) % P
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, P) % P
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def _times(scalar: int, point: Point) -> Point:
    found: Point | None = None
    step: Point | None = point
    while scalar:
        if scalar & 1:
            found = _add(found, step)
        step = _add(step, step)
        scalar >>= 1
    assert found is not None
    return found


def _round_constants() -> list[int]:
    """The constants of Keccak-f[1600], from its shift register."""
    constants, register = [], 1
    for _ in range(24):
        constant = 0
        for bit in range(7):
            if register & 1:
                constant |= 1 << ((1 << bit) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


_ROUNDS = _round_constants()
_MASK = 2**64 - 1


def _turn(word: int, by: int) -> int:
    return ((word << by % 64) | (word >> (64 - by % 64))) & _MASK


def _permute(lanes: list[list[int]]) -> list[list[int]]:
    for constant in _ROUNDS:
        columns = [lanes[x][0] ^ lanes[x][1] ^ lanes[x][2] ^ lanes[x][3] ^ lanes[x][4] for x in range(5)]
        mixed = [columns[(x - 1) % 5] ^ _turn(columns[(x + 1) % 5], 1) for x in range(5)]
        lanes = [[lanes[x][y] ^ mixed[x] for y in range(5)] for x in range(5)]
        x, y, current = 1, 0, lanes[1][0]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x][y] = lanes[x][y], _turn(current, (step + 1) * (step + 2) // 2)
        lanes = [[lanes[x][y] ^ (~lanes[(x + 1) % 5][y] & lanes[(x + 2) % 5][y]) for y in range(5)] for x in range(5)]
        lanes[0][0] ^= constant
    return lanes


def keccak256(data: bytes) -> bytes:
    """Keccak-256 as Ethereum has it, before the padding of SHA-3."""
    rate = 136
    padded = bytearray(data + b"\x01" + bytes(-(len(data) + 1) % rate))
    padded[-1] |= 0x80
    lanes = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), rate):
        for i in range(rate // 8):
            lanes[i % 5][i // 5] ^= int.from_bytes(padded[start + 8 * i:start + 8 * i + 8], "little")
        lanes = _permute(lanes)
    return b"".join(lanes[i % 5][i // 5].to_bytes(8, "little") for i in range(4))


def checksummed(address: bytes) -> str:
    """An address with the capitals of EIP-55."""
    text = address.hex()
    digits = keccak256(text.encode()).hex()
    return "0x" + "".join(c.upper() if int(digits[i], 16) >= 8 else c for i, c in enumerate(text))


def new_wallet(secret: int | None = None) -> Wallet:
    """A wallet with this key, or a new one."""
    key = secret or secrets.randbelow(N - 1) + 1
    x, y = _times(key, G)
    address = keccak256(x.to_bytes(32, "big") + y.to_bytes(32, "big"))[-20:]

    def sign(text: str) -> str:
        data = text.encode()
        digest = int.from_bytes(keccak256(b"\x19Ethereum Signed Message:\n" + str(len(data)).encode() + data), "big")
        while True:
            nonce = secrets.randbelow(N - 1) + 1
            point = _times(nonce, G)
            r = point[0] % N
            s = pow(nonce, -1, N) * (digest + r * key) % N
            if r and s and point[0] < N:
                break
        # EIP-2: the lower of the two values; the other one is of the mirrored point.
        odd = point[1] & 1
        if s > N // 2:
            s, odd = N - s, odd ^ 1
        return "0x" + r.to_bytes(32, "big").hex() + s.to_bytes(32, "big").hex() + format(27 + odd, "02x")

    return Wallet(checksummed(address), sign)
