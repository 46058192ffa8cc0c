"""Uses the installed package against a real exchange: every operation, streams over cut connections, a verified book,
orders over a socket; with both clients. Tells what came of it, one JSON object a line.

  python_package.py EXAMPLES_DIRECTORY REST_URL URL_OF_THE_PROXY SERVER_KEY

{"cut": {}} asks for every connection of the proxy to be cut; one line is the answer.
"""
import asyncio
import inspect
import json
import re
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

from pipe import tell

examples, base, proxied, server_key = sys.argv[1:]
sys.path.insert(0, examples)
import ringbook  # noqa: E402
from ringbook import AsyncClient, Client, RefusedError, StreamOptions  # noqa: E402
from ringbook._generated.table import CHANNELS, OPERATIONS  # noqa: E402
from throwaway_wallet import new_wallet  # noqa: E402


def snake(name):
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: "_" + match.group(), name).lower()


async def ready(value):
    """What was called: of the client that waits, or of the other one."""
    return await value if inspect.isawaitable(value) else value


async def rows(client, name, **fields):
    """All rows of a listing."""
    found = client.rows(name, **fields)
    return [row async for row in found] if hasattr(found, "__aiter__") else list(found)


async def eventually(ask, holds):
    """What `ask` gives as soon as it holds: the history may lag on a busy machine."""
    for _ in range(400):
        given = await ready(ask())
        if holds(given):
            return given
        await asyncio.sleep(0.05)
    raise AssertionError(f"it never came: {given}")


class Everything:
    """Calls every operation by its method, once at least."""

    def __init__(self, make):
        self.make = make
        self.client = make(new_wallet())
        self.backend = make(None, server_key=server_key)
        self.called = set()

    async def call(self, name, client=None, **fields):
        self.called.add(name)
        return await ready(getattr(client or self.client, snake(name))(**fields))

    async def refused(self, name, **fields):
        try:
            await self.call(name, **fields)
        except RefusedError as error:
            return error.code

    async def run(self):
        me = await ready(self.client.sign_in())
        address = me["user"]["address"]
        offset = await ready(self.client.sync_clock())
        for name in ("GetServerTime", "Check", "GetProfile", "GetFaucetInfo", "GetScreener", "GetPortfolio", "Mint"):
            await self.call(name)
        await self.programs(address)
        assert (await self.call("GetBuildercodesConfig", clientId="ringbook"))["application"]["enrolled"] is False
        assert await self.refused("SetBuilderFee", bps=0) == "BUILDER_FEES_OFF"
        assert (await self.call("GetReferralPosition"))["rewards"] == []
        assert (await self.call("GetReferralDownline"))["complete"] is True
        await self.call("Challenge", address=address, sessionPublicKey=self.client.key.public_key)
        pairs = (await self.call("ListTradingPairs", pageSize=100))["tradingPairs"]
        pair = next(each["id"] for each in pairs if each["symbol"] == "ETH/USDC")
        usdc = next(row for row in (await self.call("ListBalances"))["balances"] if row["symbol"] == "USDC")
        await self.call("GetBalance", assetId=usdc["assetId"])
        for name in ("GetTradingPair", "GetMarketMetadata", "GetCandles", "GetOrderbook", "ListTrades"):
            await self.call(name, tradingPairId=pair)
        order = {"orderType": "LIMIT", "side": "BUY", "quantity": "0.5", "price": "2000"}
        await self.orders({"tradingPairId": pair, **order})
        await self.family(usdc["assetId"], address)
        await self.agents(pair, address)
        await self.perpetual(next(each["id"] for each in pairs if each["symbol"] == "BTC/USDC-PERP"))
        for name in ("Config", "Users", "Balances", "Orders", "Movements", "Stats"):
            verb = "Get" if name in ("Config", "Stats") else "List"
            await self.call(f"{verb}Application{name}", client=self.backend)
        await self.call("Refresh")
        # sign_in called it, and a nonce is good once.
        proof = {"address": address, "nonce": "x", "signature": "0x00", "sessionPublicKey": self.client.key.public_key}
        codes = [await self.refused("Verify", **proof)]
        await self.call("Revoke")
        codes.append(await self.refused("GetProfile"))
        await ready(self.client.close())
        await ready(self.backend.close())
        return {"missing": sorted(set(OPERATIONS) - self.called), "codes": codes, "offset": abs(offset) < 60_000}

    async def orders(self, order):
        pair = order["tradingPairId"]
        placed = await self.call("CreateOrder", **order, idempotencyKey="k")
        assert (await self.call("CreateOrder", **order, idempotencyKey="k"))["orderId"] == placed["orderId"]
        other = {**order, "price": "1", "idempotencyKey": "k"}
        assert await self.refused("CreateOrder", **other) == "IDEMPOTENCY_KEY_CONFLICT"
        assert (await self.call("GetOrder", orderId=placed["orderId"]))["status"] == "SUBMITTED"
        replaced = await self.call("ReplaceOrder", orderId=placed["orderId"], price="2001")
        await self.call("CancelOrder", orderId=replaced["orderId"])
        batch = await self.call("BatchCreateOrders", orders=[order, {**order, "price": "0.001"}, order])
        codes = [(item.get("error") or {}).get("code") for item in batch["results"]]
        assert codes == [None, "INVALID_TICK", None], codes
        ids = [item["orderId"] for item in batch["results"] if item.get("orderId")]
        moved = await self.call("BatchReplaceOrders", orders=[{"orderId": ids[0], "price": "1999"}])
        assert moved["totalSucceeded"] == 1
        assert (await self.call("BatchCancelOrders", orderIds=[ids[1]]))["totalSucceeded"] == 1
        assert (await self.call("BatchCancelOrdersByPair", tradingPairId=pair))["totalCancelled"] == 1
        assert (await self.call("BatchCancelAllOrders"))["totalCancelled"] == 0
        await self.call("SimulateFees", **order)
        cancelled = {"status": ["CANCELLED"], "tradingPairId": pair, "pageSize": 3}
        await eventually(lambda: self.call("ListOrders", **cancelled), lambda listed: len(listed["orders"]) == 3)
        cancelled["pageSize"] = 2
        assert len(await rows(self.client, "ListOrders", **cancelled)) >= 3
        assert len({each["symbol"] for each in await rows(self.client, "ListTradingPairs", pageSize=1)}) >= 3
        for name in ("ListMovements", "ListAccountTrades"):
            await self.call(name, pageToken="", pageSize=5)
        assert await self.refused("GetTrade", tradeId=placed["orderId"]) == "NOT_FOUND"

    async def family(self, asset, address):
        wallet = new_wallet()
        async with Closing(self.make(wallet)) as child:
            consent = await ready(child.consent_to(address, self.client.key.public_key))
        made = await self.call("CreateSubAccount", **consent._asdict())
        sub = {"subAccountId": made["subAccount"]["id"]}
        assert len((await self.call("ListSubAccounts"))["subAccounts"]) == 1
        moved = {**sub, "assetId": asset, "amount": "5", "direction": "TO_SUB_ACCOUNT", "idempotencyKey": "move"}
        await self.call("TransferSubAccountBalance", **moved)
        limit = {**sub, "assetId": asset}
        await self.call("CreateSubAccountLimit", **limit, maxAmount="10")
        await self.call("UpdateSubAccountLimit", **limit, maxAmount="20")
        assert (await self.call("ListSubAccountLimits", **sub))["limits"][0]["maxAmount"] == "20"
        await self.call("DeleteSubAccountLimit", **limit)

    async def agents(self, pair, address):
        wallet = new_wallet()
        grant = {"agentAddress": wallet.address, "allowedActions": ["CREATE_ORDER"], "allowedTradingPairIds": [pair]}
        agent = await self.call("UpsertDelegatedAgent", **grant)
        await self.call("ListDelegatedAgents")
        await self.call("GetDelegatedAgent", agentId=agent["id"])
        async with Closing(self.make(wallet)) as client:
            self.called.add("CreateDelegatedSession")
            await ready(client.sign_in_for(address))
            try:
                await ready(client.mint())
            except RefusedError as error:
                assert error.code == "AGENT_NOT_ALLOWED", error
        await self.call("RevokeDelegatedAgent", agentId=agent["id"])

    async def perpetual(self, pair):
        async with Closing(self.make(new_wallet())) as other:
            await ready(other.sign_in())
            await ready(other.mint())
            for client in (other, self.client):
                parent = (await self.call("ListMarginAccounts", client))["accounts"][0]["marginAccountId"]
                await self.call("DepositCollateral", client, marginAccountId=parent, amount="2000")
            ladder = (await self.call("GetPerpConfig", tradingPairId=pair))["riskTiers"]
            assert [tier["tierLevel"] for tier in ladder] == [1, 2, 3], ladder
            terms = {"tradingPairId": pair, "orderType": "LIMIT", "quantity": "0.01", "price": "65000", "leverage": "5"}
            bought, sold = {**terms, "side": "BUY"}, {**terms, "side": "SELL", "tradingMode": "MARGIN"}
            preview = lambda: self.call("SimulateParentOrderRisk", **bought)
            await eventually(preview, lambda risk: risk.get("rejectCode") != "PRICE_STALE")
            assert (await self.call("SimulateOrderRisk", marginAccountId=parent, **bought))["accepted"]
            await self.call("CreateOrder", other, **sold)
            await self.call("CreateOrder", **bought, tradingMode="MARGIN")
            await self.position(parent, (await self.call("ListPositions"))["positions"][0], bought)
            await self.call("CreateOrder", other, **{**sold, "side": "BUY", "price": "64000"})
            identity = {"positionId": (await self.call("ListPositions"))["positions"][0]["positionId"]}
            closed = await self.call("ClosePosition", **identity, closeType="IOC", price="64000")
            assert closed["matchResult"]["status"] == "FILLED", closed
            ended = await eventually(lambda: self.ended(**identity), lambda position: position is not None)
            assert ended["realizedPnl"] == "-10", ended
            await self.copies(other)
        await self.call("ListFundingRates", tradingPairId=pair)
        sub = {"marginAccountId": (await self.call("CreateMarginSubAccount", label="basis"))["marginAccountId"]}
        await self.call("TransferCollateralToSubAccount", **sub, amount="10")
        await self.call("TransferCollateralFromSubAccount", **sub, amount="4")
        assert (await self.call("CloseMarginSubAccount", **sub))["amount"] == "6"
        await self.call("WithdrawCollateral", marginAccountId=parent, amount="1")

    async def ended(self, **identity):
        """A position that was closed, from the history; None while that is behind."""
        try:
            return await self.call("GetPosition", **identity)
        except RefusedError as error:
            assert error.code == "HISTORY_UNAVAILABLE", error

    async def position(self, parent, position, order):
        bucket = {"riskBucketId": position["riskBucketId"]}
        assert (await self.call("GetMarginAccount", marginAccountId=parent))["accountState"] == "Normal"
        await self.call("GetAvailableCollateral")
        assert (await self.call("ListRiskBuckets"))["riskBuckets"][0]["riskBucketId"] == bucket["riskBucketId"]
        await self.call("TransferCollateralToRiskBucket", **bucket, amount="50")
        await self.call("TransferCollateralFromRiskBucket", **bucket, amount="20")
        assert (await self.call("SimulateRiskBucketOrderRisk", **bucket, **{**order, "price": "60000"}))["accepted"]
        assert float((await self.call("GetRiskBucket", **bucket))["equity"]) > 0
        same = {"positionId": position["positionId"]}
        assert (await self.call("GetPosition", **same))["entryPrice"] == "65000"
        assert (await self.call("GetPositionRisk", **same))["tierLevel"] == 1
        await self.call("AddPositionMargin", **same, amount="5")
        await self.call("ReducePositionMargin", **same, amount="5")
        assert (await self.call("ListFundingPayments", **same))["payments"] == []
        await self.waiting(same, order)

    async def programs(self, address):
        assert (await self.call("ListSweeperChains"))["chains"] is not None
        assert (await self.call("GetRewardsBalance"))["balances"] == []
        token = (await self.call("ListBalances"))["balances"][0]["token"]
        assert await self.refused("TransferRewards", token=token, amount="1") == "INSUFFICIENT_BALANCE"
        await self.money((await self.call("ListBalances"))["balances"][0]["assetId"])
        names = {"email": "a@b.example", "twitterUsername": "a", "telegramUsername": "abcde"}
        assert await self.refused("SubmitApplication", walletAddress=address, **names) == "PERMISSION_DENIED"
        assert await self.refused("ClaimLease", launchId="none", ownerId="process-1", expectedGeneration="0") == "NOT_FOUND"

    async def money(self, asset):
        await self.until("GetProfile", lambda profile: profile["canWithdraw"])
        made = await self.call("InitiateWithdrawal", assetId=asset, amount="1", idempotencyKey="w")
        same = {"withdrawalId": made["id"]}
        assert (await self.call("ListPendingWithdrawals"))["withdrawals"][0]["id"] == made["id"]
        await self.until("GetWithdrawal", lambda withdrawal: withdrawal["status"] == "SIGNED", **same)
        assert (await self.call("GetWithdrawalCalldata", **same))["nonce"] == made["nonce"]

    async def until(self, name, reached, **fields):
        for _ in range(600):
            if reached(await self.call(name, **fields)):
                return
            await asyncio.sleep(0.05)
        raise AssertionError(name)

    async def copies(self, leader):
        handle = "leader-" + self.client.key.public_key[:8].lower()
        await self.call("RegisterLeader", leader, handle=handle)
        assert any(each["handle"] == handle for each in (await self.call("ListLeaders"))["leaders"])
        same = {"followId": (await self.call("CreateFollow", leader=handle, allocation="50"))["followId"]}
        assert len((await self.call("ListFollows"))["follows"]) == 1
        await self.call("UpdateFollow", **same, status="CLOSE_ONLY")
        assert (await self.call("ListLeaderPositions", leader=handle))["positions"] == []
        assert len((await self.call("ListMyFollowers", leader, pageSize=5))["followers"]) == 1
        await self.call("CloseFollowPositions", **same)
        await self.call("CloseAllFollowPositions")
        await self.call("StopFollow", **same)
        await self.call("ReleaseLeader", leader)

    async def waiting(self, position, order):
        wanted = {leg: {"triggerPrice": at, "orderType": "MARKET"} for leg, at in (("takeProfit", "70000"), ("stopLoss", "60000"))}
        legs = await self.call("AttachTpSl", **position, **wanted)
        await eventually(lambda: self.call("ListConditionalOrders"), lambda listed: len(listed["conditionalOrders"]) == 2)
        for leg in ("takeProfitOrderId", "stopLossOrderId"):
            same = {"conditionalOrderId": legs[leg]}
            assert (await self.call("GetConditionalOrder", **same))["state"] == "ARMED"
            await self.call("CancelConditionalOrder", **same)
        start = datetime.now(timezone.utc) + timedelta(hours=1)
        terms = {name: order[name] for name in ("tradingPairId", "side", "quantity", "leverage")}
        made = await self.call(
            "CreateTwapOrder", **terms, tradingMode="MARGIN", durationSeconds=600, startTime=start.isoformat().replace("+00:00", "Z"),
        )
        same = {"twapOrderId": made["twapOrderId"]}
        assert (await self.call("GetTwapOrder", **same))["state"] == "PENDING"
        await eventually(lambda: self.call("ListTwapOrders"), lambda listed: len(listed["twapOrders"]) == 1)
        assert (await self.call("ListTwapSlices", **same))["slices"] == []
        await self.call("CancelTwapOrder", **same)


class Closing:
    """`async with` for either client."""

    def __init__(self, client):
        self.client = client

    async def __aenter__(self):
        return self.client

    async def __aexit__(self, *_):
        await ready(self.client.close())


def cut():
    tell("cut")
    sys.stdin.readline()


async def streams(make):
    """Orders and a book over connections that are cut, and a session that ends."""
    options = StreamOptions(base=0.05, cap=0.2)
    ended = []
    tell_end = lambda error: ended.append(error.code)
    client = make(new_wallet(), url=proxied, stream_options=options, session_ended=tell_end)
    direct = make(None, key=None)
    await ready(client.sign_in())
    await ready(client.mint())
    pairs = (await ready(client.list_trading_pairs(pageSize=100)))["tradingPairs"]
    pair = next(each["id"] for each in pairs if each["symbol"] == "BTC/USDC")
    order = {"tradingPairId": pair, "orderType": "LIMIT", "side": "BUY", "quantity": "0.001"}
    listening = [getattr(client.streams, snake(name))(**params(name, pair)) for name in CHANNELS]
    kinds = [(await ready(stream.get(20)))["type"] for stream in listening]
    orders, book = client.streams.orders(), client.book(tradingPairId=pair)
    await ready(book.wait(20))
    mine, cuts, placed = {}, 0, []

    async def follow(holds):
        """Reads the stream until it holds of the orders."""
        nonlocal mine
        while not holds():
            frame = await ready(orders.get(20))
            data = frame["data"]
            if frame["type"] == "snapshot":
                mine = {each["orderId"]: each["price"] for each in data["orders"]}
            elif data["status"] in ("SUBMITTED", "PARTIALLY_FILLED"):
                mine[data["orderId"]] = data["price"]
            else:
                mine.pop(data["orderId"], None)

    for i in range(40):
        if i % 10 == 5:
            cut()
            cuts += 1
        answer = await ready(client.create_order(**order, price=str(30000 + i)))
        placed.append(answer["orderId"])
        if i % 4 == 0:
            await ready(client.cancel_order(orderId=placed.pop(0)))
    await follow(lambda: sorted(mine) == sorted(placed))
    rest = await ready(direct.get_orderbook(tradingPairId=pair, depth=1000))
    holds = lambda each: each.sequence >= rest["sequence"] or len(each.bids) == len(placed)
    view = await ready(book.wait_for(holds, 20))
    same = [list(level) for level in view.bids] == [[level["price"], level["quantity"]] for level in rest["bids"]]
    await ready(client.revoke())
    try:
        await follow(lambda: False)
    except ringbook.StreamError as error:
        over = error.code
    await ready(client.sign_in())
    mine = {}
    await follow(lambda: sorted(mine) == sorted(placed))
    await ready(client.batch_cancel_all_orders())
    await ready(client.close())
    await ready(direct.close())
    book = {"book": same and view.live, "levels": len(view.bids)}
    return {"kinds": kinds, "cuts": cuts, **book, "over": over, "ended": ended}


def params(name, pair):
    """What a channel needs."""
    needed = {"orderbook": {"tradingPairId": pair}, "trades": {"tradingPairId": pair}}
    return {**needed, "ohlcv": {"tradingPairId": pair, "interval": "1m"}}.get(name, {})


async def entry(make):
    """Orders over a socket; and what is known when it is cut."""
    client = make(new_wallet(), url=proxied, stream_options=StreamOptions(base=0.05, cap=0.2))
    await ready(client.sign_in())
    await ready(client.mint())
    pairs = (await ready(client.list_trading_pairs(pageSize=100)))["tradingPairs"]
    pair = next(each["id"] for each in pairs if each["symbol"] == "ETH/USDC")
    order = {"tradingPairId": pair, "orderType": "LIMIT", "side": "BUY", "quantity": "0.01", "price": "1000"}
    futures = [client.orders.submit("CreateOrder", order) for _ in range(300)]
    ids = {(await wait(future))["orderId"] for future in futures}
    try:
        await ready(client.orders.create_order(**{**order, "price": "0.001"}))
    except RefusedError as error:
        code = error.code
    cut()
    deadline, again = 200, None
    while again is None and deadline > 0:
        deadline -= 1
        try:
            again = await ready(client.orders.cancel_order(orderId=next(iter(ids))))
        except ringbook.NetworkError:
            await asyncio.sleep(0.05)
    left = await ready(client.orders.batch_cancel_all_orders())
    client.orders.close()
    await ready(client.close())
    return {"placed": len(ids), "code": code, "again": again is not None, "left": left["totalCancelled"]}


async def unified(make, kind):
    """The verbs of ccxt, of two accounts that trade with one another."""
    clients = [make(new_wallet()), make(new_wallet())]
    exchanges = [kind(client) for client in clients]
    for client in clients:
        await ready(client.sign_in())
        await ready(client.mint())
    maker, taker = exchanges
    symbol = "SEI/USDC"
    await ready(maker.load_markets())
    ask = await ready(maker.create_order(symbol, "limit", "sell", 10, 0.5))
    bid = await ready(taker.create_order(symbol, "limit", "buy", 4, 0.5, {"timeInForce": "IOC"}))
    moved = await ready(maker.edit_order(ask["id"], symbol, price=0.6))
    rest = [each["id"] for each in await ready(maker.fetch_open_orders(symbol))]
    try:
        await ready(taker.create_order(symbol, "limit", "buy", 10**6, 0.5))
    except ringbook.unified.BaseError as error:
        refused = type(error).__name__
    mine = lambda trades: bool(trades) and trades[-1]["order"] == bid["id"]
    trades = await eventually(lambda: taker.fetch_my_trades(symbol), mine)
    same = lambda found: found and found[-1]["id"] == trades[-1]["id"]
    ticker = await eventually(lambda: taker.fetch_ticker(symbol), lambda found: found["last"] is not None)
    closed = lambda orders: [each["id"] for each in orders] == [bid["id"]]
    told = {
        "ask": ask["status"], "bid": [bid["status"], bid["filled"], bid["average"]], "rest": rest == [moved["id"]],
        "trade": [trades[-1][name] for name in ("side", "takerOrMaker", "price", "amount")],
        "public": (await eventually(lambda: taker.fetch_trades(symbol), same))[-1]["side"],
        "candle": (await eventually(lambda: taker.fetch_ohlcv(symbol), bool))[-1][4],
        "ticker": [ticker[name] for name in ("last", "ask")],
        "book": (await ready(taker.fetch_order_book(symbol)))["asks"],
        "used": (await ready(maker.fetch_balance()))["SEI"]["used"],
        "closed": closed(await eventually(lambda: taker.fetch_closed_orders(symbol), closed)),
        "refused": refused, "cancelled": len(await ready(maker.cancel_all_orders(symbol))),
        "status": (await ready(taker.fetch_status()))["status"], "swap": await swaps(maker, taker),
    }
    for client in clients:
        await ready(client.close())
    return told


async def swaps(maker, taker):
    """A position of a perpetual from its order to its end."""
    symbol, terms = "BTC/USDC:USDC", {"leverage": 5, "marginMode": "isolated"}
    for exchange in (maker, taker):
        parent = (await ready(exchange.client.list_margin_accounts()))["accounts"][0]["marginAccountId"]
        await ready(exchange.client.deposit_collateral(marginAccountId=parent, amount="1000"))
    await ready(maker.create_order(symbol, "limit", "sell", 0.01, 65000, terms))
    bought = await ready(taker.create_order(symbol, "limit", "buy", 0.01, 65000, terms))
    listed = await ready(taker.fetch_positions())
    risk = await ready(taker.fetch_position(symbol))
    await ready(maker.create_order(symbol, "limit", "buy", 0.01, 64000, terms))
    closed = await ready(taker.close_position(symbol))
    rate = await ready(taker.fetch_funding_rate(symbol))
    return {
        "bought": [bought["status"], bought["symbol"]], "closed": [closed[name] for name in ("status", "side", "average")],
        "position": [listed[0][name] for name in ("symbol", "side", "contracts", "entryPrice", "leverage", "marginMode")],
        "risk": risk["id"] == listed[0]["id"] and risk["collateral"] > 0 and 0 < risk["liquidationPrice"] < 65000,
        "left": await ready(taker.fetch_positions([symbol])), "next": rate["fundingTimestamp"] % 3_600_000,
    }


async def wait(future):
    return await (future if asyncio.isfuture(future) else asyncio.wrap_future(future))


def maker(kind, **always):
    def make(wallet=None, url=base, **options):
        return kind(url, wallet, **{**always, **options})

    return make


async def main():
    place = Path(ringbook.__file__).parent
    tell("package", place=str(place), typed=(place / "py.typed").exists())
    retry = ringbook.RetryPolicy(attempts=5)
    for name, kind in (("threads", Client), ("asyncio", AsyncClient)):
        for protocol in ("legacy", "rfc9421"):
            tell(f"{name} {protocol}", **await Everything(maker(kind, retry=retry, protocol=protocol)).run())
        tell(f"{name} streams", **await streams(maker(kind, retry=retry)))
        tell(f"{name} entry", **await entry(maker(kind, retry=retry)))
        verbs = ringbook.Unified if kind is Client else ringbook.AsyncUnified
        tell(f"{name} unified", **await unified(maker(kind, retry=retry), verbs))


asyncio.run(main())
