"""Keeps a book with the program of the guide, and tells what came of it: one JSON object a line.

  guide_streams.py GUIDE_DIRECTORY URL SEED TRADING_PAIR_ID PRICE

Ends when the book has a bid of this price.
"""
import asyncio
import json
import sys
from types import SimpleNamespace

from nacl.signing import SigningKey

guide, url, seed, pair, price = sys.argv[1:]
sys.path.insert(0, guide)
from streams import Book, enter_order, open_streams  # noqa: E402


async def main():
    key = SigningKey(bytes.fromhex(seed))
    session = SimpleNamespace(key=key, public_key=bytes(key.verify_key).hex())
    socket = await open_streams(url, session)
    for channel, params in [("orders", {}), ("orderbook", {"tradingPairId": pair})]:
        await socket.send(json.dumps({"type": "subscribe", "channel": channel, "params": params}))
    book, told = Book(), []
    async for text in socket:
        frame = json.loads(text)
        told.append(f'{frame.get("channel")} {frame["type"]}')
        if frame.get("channel") == "orderbook" and "data" in frame:
            if not book.take(frame):
                raise RuntimeError(f"it does not continue the book: {text}")
            print(json.dumps({"sequence": book.sequence}), flush=True)
            if price in book.sides["bids"]:
                break
    order = {"tradingPairId": pair, "orderType": "LIMIT", "side": "BUY", "quantity": "0.02", "price": "60"}
    await enter_order(socket, session, "order.create", "mine", order)
    entered = None
    async for text in socket:
        entered = json.loads(text)
        if entered["type"] == "result":
            break
    await socket.close()
    other = SimpleNamespace(key=SigningKey.generate(), public_key=bytes(key.verify_key).hex())
    try:
        await open_streams(url, other)
    except RuntimeError as error:
        print(json.dumps({"refused": str(error)}), flush=True)
    wrong = {"type": "orderbook_update", "sequence": 0, "data": {"previousSequence": -2, "bids": [], "asks": [], "checksum": 0}}
    sides = {"bids": book.best("bids", 5), "asks": book.best("asks", 5)}
    print(json.dumps({"told": told, "entered": entered, **sides, "gap": book.take(wrong)}), flush=True)


asyncio.run(main())
