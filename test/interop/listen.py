"""Trades over REST and follows what becomes of it on a WebSocket, with the programs of the guide; one JSON object a line.

  listen.py GUIDE_DIRECTORY REST_URL WALLET_ADDRESS

It rests orders, tells so, and goes on when the test has traded with them. At the end it tells what the frames left of book, orders and
balances beside what REST answers.
"""
import asyncio
import json
import sys

from pipe import sign_message, tell

guide, base, wallet = sys.argv[1:]
sys.path.insert(0, guide)
from client import Session
from streams import Book, open_streams

OPEN = ("SUBMITTED", "PARTIALLY_FILLED")


class Account:
    """Orders and balances as the frames of the account leave them."""

    def __init__(self):
        self.orders, self.balances, self.events = {}, {}, []

    def take(self, frame):
        data = frame["data"]
        if frame["channel"] == "balances":
            for row in data.get("balances", [data]):
                if row["version"] > self.balances.get(row["assetId"], {"version": -1})["version"]:
                    self.balances[row["assetId"]] = row
        elif frame["type"] == "snapshot":
            self.orders.update({order["orderId"]: order for order in data["orders"]})
        else:
            self.events.append(data["eventType"])
            if data["status"] in OPEN:
                self.orders[data["orderId"]] = data
            else:
                self.orders.pop(data["orderId"], None)


class Listener:
    def __init__(self, socket):
        self.socket, self.book, self.account = socket, Book(), Account()

    async def until(self, holds):
        """Takes in frames until this holds."""
        while not holds():
            frame = json.loads(await asyncio.wait_for(self.socket.recv(), 30))
            if frame["type"] == "error":
                raise RuntimeError(frame["code"])
            if "data" not in frame:
                continue
            if frame["channel"] != "orderbook":
                self.account.take(frame)
            elif not self.book.take(frame):
                raise RuntimeError("a frame does not continue the book, or its checksum is another")


async def main():
    session = Session(base)
    session.sign_in(wallet, sign_message)
    session.request("POST", "/api/v1/faucet/mint", {})
    pairs = session.request("GET", "/api/v1/market/pairs?pageSize=100")["tradingPairs"]
    pair = next(each["id"] for each in pairs if each["symbol"] == "ETH/USDC")
    listener = Listener(await open_streams(base, session))
    account, book = listener.account, listener.book
    for channel, params in (("orderbook", {"tradingPairId": pair}), ("orders", {}), ("balances", {})):
        await listener.socket.send(json.dumps({"type": "subscribe", "id": channel, "channel": channel, "params": params}))
    await listener.until(lambda: account.balances and book.sequence >= 0)

    def place(side, price, quantity):
        order = {"tradingPairId": pair, "orderType": "LIMIT", "side": side, "quantity": quantity, "price": price}
        return session.request("POST", "/api/v1/orders", order)["orderId"]

    for i in range(12):
        place("BUY", str(1900 + i), "0.01")
        last = place("SELL", str(2000 + i), "0.1")
    session.request("DELETE", f"/api/v1/orders/{last}")
    tell("resting", pair=pair)
    await listener.until(lambda: account.events.count("OrderFilled") == 2 and "OrderPartiallyFilled" in account.events)

    rest = session.request("GET", f"/api/v1/orderbook/{pair}?depth=1000")
    rows = {row["assetId"]: row for row in session.request("GET", "/api/v1/accounts/balances?pageSize=100")["balances"]}
    orders = session.request("GET", "/api/v1/orders?status=SUBMITTED&status=PARTIALLY_FILLED&pageSize=100")["orders"]
    has_rows = lambda: all(account.balances[key]["version"] >= row["version"] for key, row in rows.items())
    await listener.until(lambda: book.sequence >= rest["sequence"] and has_rows())
    amounts = lambda found: {key: [row["availableBalance"], row["lockedBalance"], row["version"]] for key, row in found.items()}
    left = lambda found: sorted([order["orderId"], order["price"], order["remainingQuantity"]] for order in found)
    for name in ("bids", "asks"):
        tell(name, frames=book.best(name, 1000), rest=[[level["price"], level["quantity"]] for level in rest[name]])
    tell("sequence", frames=book.sequence, rest=rest["sequence"])
    tell("balances", frames=amounts(account.balances), rest=amounts(rows))
    tell("orders", frames=left(account.orders.values()), rest=left(orders))
    await listener.socket.close()


asyncio.run(main())
