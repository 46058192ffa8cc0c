"""Trades over gRPC and REST as a stranger would, and tells what came of it: one JSON object a line.

  trade.py PROTO_DIRECTORY STUB_DIRECTORY GUIDE_DIRECTORY GRPC_ADDRESS REST_URL WALLET_ADDRESS

The wallet is on the other side of the pipe: {"sign": text} asks for its signature, and one line is the answer.
"""
import json
import sys
import urllib.request

from pipe import sign_message, tell
from svc_client import Exchange, Refused, compile_protos, details_of

protos, stubs, guide, address, base, wallet = sys.argv[1:]
sys.path.insert(0, guide)


def refusal(call):
    """What `call` was refused with."""
    try:
        call()
    except Refused as refused:
        info = refused.details["google.rpc.ErrorInfo"]
        return {"status": refused.status, "reason": info.reason, "domain": info.domain, "metadata": dict(info.metadata)}
    return {"status": "OK"}


exchange = Exchange(address, compile_protos(protos, stubs))
me = exchange.sign_in(wallet, sign_message)
tell("signed_in", address=me.user.address, new=me.is_new_user, profile=exchange.call("GetProfile").id == me.user.id)
tell("minted", count=len(exchange.call("Mint").minted))
pairs = exchange.call("ListTradingPairs", signed=False).trading_pairs
pair = next(each.id for each in pairs if each.symbol == "ETH/USDC")
limit = {"trading_pair_id": pair, "order_type": "ORDER_TYPE_LIMIT", "side": "SIDE_BUY", "quantity": "0.5", "price": "2000"}

# One order's life.
placed = exchange.call("CreateOrder", **limit, client_order_id="python")
order = exchange.call("GetOrder", order_id=placed.order_id)
tell("placed", status=placed.match_result.status, price=order.price, label=order.client_order_id, made=order.created_at.ToJsonString())
replaced = exchange.call("ReplaceOrder", order_id=placed.order_id, price="2001")
book = exchange.call("GetOrderbook", signed=False, trading_pair_id=pair)
tell("replaced", original=replaced.original_order_id == placed.order_id, bids=[[each.price, each.quantity] for each in book.bids])
cancelled = exchange.call("CancelOrder", order_id=replaced.order_id)
tell("cancelled", order=cancelled.order_id == replaced.order_id)

# What goes wrong says so in ErrorInfo.
tell("missing", **refusal(lambda: exchange.call("CancelOrder", order_id=replaced.order_id)))
tell("tick", **refusal(lambda: exchange.call("CreateOrder", **{**limit, "price": "2000.001"})))
tell("funds", **refusal(lambda: exchange.call("CreateOrder", **{**limit, "quantity": "100"})))
tell("unsigned", **refusal(lambda: exchange.call("GetProfile", signed=False)))

# A batch, and everything away again.
batch = exchange.call("BatchCreateOrders", orders=[limit, {**limit, "price": "0.001"}, {**limit, "price": "1999"}])
tell("batch", done=batch.total_succeeded, code=batch.results[1].error.code)
tell("emptied", count=exchange.call("BatchCancelAllOrders").total_cancelled)

# Many in flight on a stream: signed one by one, then counted within a session.
stream = exchange.stream()
for i in range(20):
    stream.send(f"signed-{i}", create_order={**limit, "quantity": "0.1", "price": str(1900 + i)})
made = [stream.wait(f"signed-{i}").create_order.order_id for i in range(20)]
stream.send("open", open_session={})
opened = stream.wait("open").open_session.expires_at
for i, order_id in enumerate(made):
    stream.send(f"counted-{i}", signed=False, counter=i + 1, cancel_order={"order_id": order_id})
ended = [stream.wait(f"counted-{i}").WhichOneof("answer") for i in range(20)]
stream.send("again", signed=False, counter=21, cancel_order={"order_id": made[0]})
error = stream.wait("again").error
reason = next(iter(details_of(error.SerializeToString()).values())).reason
rest = stream.close()
tell("streamed", orders=len(set(made)), cancelled=ended.count("cancel_order"), opened=opened > 0, error=reason, rest=len(rest))

# The same over REST with the program of the guide.
from client import ApiError, Session

session = Session(base)
session.sign_in(wallet, sign_message)
answer = session.request("POST", "/api/v1/orders", {
    "tradingPairId": pair, "orderType": "LIMIT", "side": "BUY", "quantity": "0.5", "price": "2000", "idempotencyKey": "clé ✓",
})
seen = exchange.call("GetOrder", order_id=answer["orderId"])
tell("rest", status=answer["matchResult"]["status"], same=seen.quantity)
session.request("DELETE", "/api/v1/orders/" + answer["orderId"])

# Every sample of the document runs; what its ids name is not there.
given = json.loads(sys.stdin.readline())
names = {"session": session, "server_key": given["serverKey"], "json": json, "urllib": urllib}
for name, source in given["samples"].items():
    try:
        exec(source, dict(names))
        code = None
    except ApiError as error:
        code = error.envelope["code"]
    tell("sample", name=name, code=code)
