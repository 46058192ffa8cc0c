import hashlib, json, time, zlib
from decimal import Decimal
import websockets


def signed(session, method, target, body=""):
    """The signature of a message: GET and /ws to authenticate, WS and the type to enter an order."""
    timestamp = str(int(time.time() * 1000))
    lines = "\n".join([method, target, timestamp, hashlib.sha256(body.encode()).hexdigest()])
    return {"publicKey": session.public_key, "timestamp": timestamp, "signature": session.key.sign(lines.encode()).signature.hex()}


async def open_streams(base, session=None):
    """A connection, authenticated when a session is given; iterate it for the texts of the frames that follow."""
    socket = await websockets.connect(base.replace("http", "ws", 1) + "/ws")
    await socket.recv()
    if session is not None:
        await socket.send(json.dumps({"type": "auth", **signed(session, "GET", "/ws")}))
        answer = json.loads(await socket.recv())
        if answer["type"] != "authenticated":
            raise RuntimeError(f'{answer["code"]}: {answer["message"]}')
    return socket


async def enter_order(socket, session, kind, id, data):
    """Sends a signed message of order entry. The frame `result` with this id is its answer."""
    body = json.dumps(data)
    await socket.send(json.dumps({"type": kind, "id": id, "body": body, **signed(session, "WS", kind, body)}))


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
