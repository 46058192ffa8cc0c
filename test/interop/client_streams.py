"""Keeps a book with the Python client, follows its own orders and enters one; one JSON object a line.

  client_streams.py URL SEED TRADING_PAIR_ID PRICE

Ends when the book has a bid of this price.
"""
import json
import sys

from ringbook import Client, RefusedError, SessionKey, StreamError

url, seed, pair, price = sys.argv[1:]


def tell(**values):
    print(json.dumps(values), flush=True)


order = {"tradingPairId": pair, "orderType": "LIMIT", "side": "BUY", "quantity": "0.02", "price": "60"}
with Client(url, key=SessionKey(bytes.fromhex(seed))) as client:
    with client.book(tradingPairId=pair) as book, client.streams.orders() as orders:
        book.wait(timeout=30)
        orders.get(timeout=30)
        tell(listening=True)
        book.wait_for(lambda view: any(level.price == price for level in view.bids), timeout=30)
        entered = client.orders.create_order(**order)
        try:
            client.orders.create_order(**{**order, "price": "60.0000001"})
        except RefusedError as refusal:
            tick = refusal.code
        own = None
        while own != entered["orderId"]:
            own = orders.get(timeout=30)["data"]["orderId"]
        view = book.wait_for(lambda view: any(level.price == "60" for level in view.bids), timeout=30)
with Client(url, key=SessionKey()) as stranger:
    with stranger.streams.orders() as orders:
        try:
            orders.get(timeout=30)
        except StreamError as error:
            refused = error.code
sides = {name: [list(level) for level in getattr(view, name)[:5]] for name in ("bids", "asks")}
tell(live=view.live, entered=entered["status"], own=True, refused=refused, tick=tick, **sides)
