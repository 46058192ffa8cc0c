"""Trades over REST and follows what becomes of it on a WebSocket, with the Python client; one JSON object a line.

  listen.py PACKAGE_DIRECTORY REST_URL WALLET_ADDRESS

It rests orders, tells so, and goes on when the test has traded with them. At the end it tells what the frames left of
book, orders and balances beside what REST answers.
"""
import asyncio
import sys

from pipe import sign_message, tell

package, base, wallet = sys.argv[1:]
sys.path.insert(0, package)
from ringbook import AsyncClient, Wallet

OPEN = ("SUBMITTED", "PARTIALLY_FILLED")


class Account:
    """Orders and balances as the frames of the account leave them."""

    def __init__(self):
        self.orders, self.balances, self.events = {}, {}, []

    def take(self, frame):
        data = frame["data"]
        if frame["channel"] == "balances":
            self.balances.update({row["assetId"]: row for row in data.get("balances", [data])})
        elif frame["type"] == "snapshot":
            self.orders = {order["orderId"]: order for order in data["orders"]}
        else:
            self.events.append(data["eventType"])
            if data["status"] in OPEN:
                self.orders[data["orderId"]] = data
            else:
                self.orders.pop(data["orderId"], None)

    async def until(self, stream, holds):
        """Takes in frames of a stream until this holds."""
        while not holds():
            self.take(await stream.get(timeout=30))


async def main():
    client = AsyncClient(base, Wallet(wallet, sign_message))
    await client.sign_in()
    await client.mint()
    pairs = (await client.list_trading_pairs(pageSize=100))["tradingPairs"]
    pair = next(each["id"] for each in pairs if each["symbol"] == "ETH/USDC")
    account = Account()
    book, orders, balances = client.book(tradingPairId=pair), client.streams.orders(), client.streams.balances()
    await book.wait(timeout=30)
    await account.until(balances, lambda: account.balances)

    async def place(side, price, quantity):
        order = {"tradingPairId": pair, "orderType": "LIMIT", "side": side, "quantity": quantity, "price": price}
        return (await client.create_order(**order))["orderId"]

    for i in range(12):
        await place("BUY", str(1900 + i), "0.01")
        last = await place("SELL", str(2000 + i), "0.1")
    await client.cancel_order(orderId=last)
    tell("resting", pair=pair)
    events = account.events
    await account.until(orders, lambda: events.count("OrderFilled") == 2 and "OrderPartiallyFilled" in events)

    rest = await client.get_orderbook(tradingPairId=pair, depth=1000)
    rows = {row["assetId"]: row for row in (await client.list_balances(pageSize=100))["balances"]}
    listed = (await client.list_orders(status=list(OPEN), pageSize=100))["orders"]
    newest = lambda: all(account.balances[key]["version"] >= row["version"] for key, row in rows.items())
    await account.until(balances, newest)
    view = await book.wait_for(lambda each: each.sequence >= rest["sequence"], timeout=30)
    amounts = lambda found: {
        key: [row["availableBalance"], row["lockedBalance"], row["version"]] for key, row in found.items()
    }
    left = lambda found: sorted([order["orderId"], order["price"], order["remainingQuantity"]] for order in found)
    for name in ("bids", "asks"):
        levels = [[level["price"], level["quantity"]] for level in rest[name]]
        tell(name, frames=[list(level) for level in getattr(view, name)], rest=levels)
    tell("sequence", frames=view.sequence, rest=rest["sequence"])
    tell("balances", frames=amounts(account.balances), rest=amounts(rows))
    tell("orders", frames=left(account.orders.values()), rest=left(listed))
    await client.close()


asyncio.run(main())
