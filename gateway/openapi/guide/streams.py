import hashlib, json, time, zlib
from decimal import Decimal
import websockets


async def open_streams(base, session=None):
    """A connection, authenticated when a session is given; iterate it for the texts of the frames that follow."""
    socket = await websockets.connect(base.replace("http", "ws", 1) + "/ws")
    await socket.recv()
    if session is not None:
        timestamp = str(int(time.time() * 1000))
        lines = "\n".join(["GET", "/ws", timestamp, hashlib.sha256(b"").hexdigest()])
        signature = session.key.sign(lines.encode()).signature.hex()
        message = {"type": "auth", "publicKey": session.public_key, "timestamp": timestamp, "signature": signature}
        await socket.send(json.dumps(message))
        answer = json.loads(await socket.recv())
        if answer["type"] != "authenticated":
            raise RuntimeError(f'{answer["code"]}: {answer["message"]}')
    return socket


class Book:
    """A book as the frames of `orderbook` leave it."""

    def __init__(self):
        self.sides = {"bids": {}, "asks": {}}
        self.sequence = -1

    def take(self, frame):
        """Takes in a frame. False: it does not continue this book; subscribe again."""
        data = frame["data"]
        if frame["type"] == "snapshot":
            self.sides = {"bids": {}, "asks": {}}
        elif data["previousSequence"] != self.sequence:
            return False
        self.sequence = frame["sequence"]
        for name, side in self.sides.items():
            for level in data[name]:
                if level["quantity"] == "0":
                    side.pop(level["price"], None)
                else:
                    side[level["price"]] = level["quantity"]
        text = ",".join(f"{price}:{quantity}" for name in self.sides for price, quantity in self.best(name, 10))
        return zlib.crc32(text.encode()) == data["checksum"]

    def best(self, name, count):
        """Prices with their quantities, best first."""
        return sorted(self.sides[name].items(), key=lambda level: Decimal(level[0]), reverse=name == "bids")[:count]
