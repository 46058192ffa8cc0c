"""Records of the service in the shapes of ccxt. Text becomes floats, times Unix ms; `info` has the record itself."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Dict, List, Mapping, Optional

Shape = Dict[str, Any]

_STATUS = {
    "SUBMITTED": "open", "PARTIALLY_FILLED": "open", "FILLED": "closed", "SETTLED": "closed",
    "SETTLED_ON_CHAIN": "closed", "CANCELLED": "canceled", "EXPIRED": "expired", "REJECTED": "rejected",
    # Of orders that wait for a price.
    "PENDING": "open", "ARMED": "open", "TRIGGERED": "closed", "FAILED": "rejected",
}


def number_of(text: Optional[str]) -> Optional[float]:
    return None if text is None else float(text)


def _exact(text: Optional[str]) -> Optional[Decimal]:
    return None if text is None else Decimal(text)


def _float(value: Optional[Decimal]) -> Optional[float]:
    return None if value is None else float(value)


def moment_of(time: Optional[str]) -> Shape:
    """A time of RFC 3339 as ccxt has it: Unix ms, and as text."""
    if time is None:
        return {"timestamp": None, "datetime": None}
    moment = datetime.fromisoformat(time.replace("Z", "+00:00"))
    return {"timestamp": round(moment.timestamp() * 1000), "datetime": time}


_PERPETUAL = "-PERP"


def unified_symbol(symbol: str) -> str:
    """A symbol of the service as ccxt has it: `BTC/USDC-PERP` is `BTC/USDC:USDC`."""
    return f"{symbol[:-len(_PERPETUAL)]}:{_quote_of(symbol)}" if symbol.endswith(_PERPETUAL) else symbol


def _quote_of(symbol: str) -> str:
    """The currency that a market is paid in, of a symbol of the service or of ccxt."""
    quote = symbol.split("/")[1].split(":")[0]
    return quote[:-len(_PERPETUAL)] if quote.endswith(_PERPETUAL) else quote


def market_of(pair: Mapping[str, Any]) -> Shape:
    base, quote = pair["symbol"].split("/")[0], _quote_of(pair["symbol"])
    swap = pair["symbol"].endswith(_PERPETUAL)
    return {
        "id": pair["id"], "symbol": unified_symbol(pair["symbol"]), "base": base, "quote": quote,
        "baseId": pair["baseAssetId"], "quoteId": pair["quoteAssetId"], "type": "swap" if swap else "spot",
        "spot": not swap, "margin": False, "swap": swap, "future": False, "option": False, "contract": swap,
        "linear": True if swap else None, "inverse": False if swap else None, "contractSize": 1.0 if swap else None,
        "settle": quote if swap else None, "settleId": pair["quoteAssetId"] if swap else None,
        "active": pair["isActive"], "percentage": True, "tierBased": True,
        "maker": float(pair["makerFeeBps"]) / 10_000, "taker": float(pair["takerFeeBps"]) / 10_000,
        "precision": {
            "amount": number_of(pair["lotSize"]), "price": number_of(pair["tickSize"]),
            "base": float(f"1e-{pair['baseAmountDecimals']}"), "quote": float(f"1e-{pair['quoteAmountDecimals']}"),
        },
        "limits": {
            "amount": {"min": number_of(pair["minOrderSize"]), "max": number_of(pair["maxOrderSize"])},
            "price": {"min": number_of(pair["tickSize"]), "max": None},
            "cost": {"min": number_of(pair["minNotional"]), "max": None},
            "leverage": {"min": None, "max": None},
        },
        "info": pair,
    }


def currencies_of(market: Mapping[str, Any]) -> Dict[str, Shape]:
    """The two currencies of a market, by code."""
    return {
        market[side]: {"id": market[f"{side}Id"], "code": market[side], "precision": market["precision"][side]}
        for side in ("base", "quote")
    }


def ticker_of(metadata: Mapping[str, Any], book: Mapping[str, Any]) -> Shape:
    last, percent, volume, quote = (
        _exact(metadata[name]) for name in ("lastPrice", "priceChangePercent24h", "volume24h", "quoteVolume24h")
    )
    best = {side: book[side][0] if book[side] else {"price": None, "quantity": None} for side in ("bids", "asks")}
    opened = None if last is None or percent is None or percent <= -100 else last / (1 + percent / 100)
    return {
        "symbol": unified_symbol(metadata["symbol"]), **moment_of(book["timestamp"]),
        "high": number_of(metadata["high24h"]), "low": number_of(metadata["low24h"]),
        "bid": number_of(best["bids"]["price"]), "bidVolume": number_of(best["bids"]["quantity"]),
        "ask": number_of(best["asks"]["price"]), "askVolume": number_of(best["asks"]["quantity"]),
        "vwap": float(quote / volume) if quote is not None and volume else None,
        "open": _float(opened), "close": _float(last), "last": _float(last), "previousClose": None,
        "change": None if last is None or opened is None else float(last - opened), "percentage": _float(percent),
        "average": None if last is None or opened is None else float((last + opened) / 2),
        "baseVolume": _float(volume), "quoteVolume": _float(quote), "info": dict(metadata),
    }


def candle_of(candle: Mapping[str, Any]) -> List[float]:
    return [candle["t"], *(float(candle[name]) for name in "ohlcv")]


def trade_of(trade: Mapping[str, Any], symbol: str) -> Shape:
    """A public trade: its side is that of who came and took."""
    taker = "sell" if trade["makerSide"] == "BUY" else "buy"
    return {
        "id": trade["id"], "symbol": symbol, **moment_of(trade["executedAt"]), "order": None, "type": None,
        "side": taker, "takerOrMaker": None, "price": number_of(trade["price"]), "amount": number_of(trade["quantity"]),
        "cost": number_of(trade["quoteQuantity"]), "fee": None, "fees": [], "info": trade,
    }


def own_trade_of(trade: Mapping[str, Any], symbol: str) -> Shape:
    fee = {"cost": number_of(trade["fee"]), "currency": trade["feeToken"]}
    return {
        **trade_of(trade, symbol), "order": trade["orderId"], "side": trade["side"].lower(),
        "takerOrMaker": trade["role"], "fee": fee, "fees": [fee],
    }


def _order(record: Mapping[str, Any], symbol: str, more: Shape) -> Shape:
    """What an order has however it is known."""
    filled, average = float(more["filled"]), number_of(more["average"])
    post_only = bool(record.get("postOnly"))
    return {
        "clientOrderId": record.get("clientOrderId"), "symbol": symbol, "type": record["orderType"].lower(),
        "timeInForce": "PO" if post_only else record.get("timeInForce"), "postOnly": post_only,
        "reduceOnly": bool(record.get("reduceOnly")), "side": record["side"].lower(),
        "price": number_of(record.get("price")), "triggerPrice": None, "stopPrice": None, "stopLossPrice": None,
        "takeProfitPrice": None, "amount": number_of(record["quantity"]), **more, "filled": filled, "average": average,
        "remaining": number_of(more["remaining"]), "cost": 0.0 if average is None else filled * average,
        "status": _STATUS[more["status"]], "trades": [], "lastTradeTimestamp": None,
    }


def order_of(order: Mapping[str, Any]) -> Shape:
    fee = {"cost": number_of(order["fee"]), "currency": _quote_of(order["symbol"])}
    return _order(order, unified_symbol(order["symbol"]), {
        "id": order["orderId"], **moment_of(order["createdAt"]),
        "lastUpdateTimestamp": moment_of(order["updatedAt"])["timestamp"],
        "filled": order["filledQuantity"], "remaining": order["remainingQuantity"],
        "average": order.get("averageFillPrice"), "status": order["status"], "fee": fee, "fees": [fee], "info": order,
    })


def conditional_of(row: Mapping[str, Any], info: Any) -> Shape:
    """An order that waits for a price.

    It trades nothing itself: what it entered is another order, `info["triggeredOrderId"]`. Its amount is what it closes
    if it fires now, 0 while it waits for a position.
    """
    trigger, amount = number_of(row.get("triggerPrice")), row.get("quantity") or "0"
    gains = row["conditionType"] == "TAKE_PROFIT"
    terms = {**row, "price": row.get("limitPrice"), "quantity": amount, "reduceOnly": True}
    order = _order(terms, unified_symbol(row["symbol"]), {
        "id": row["conditionalOrderId"], **moment_of(row["createdAt"]),
        "lastUpdateTimestamp": moment_of(row["updatedAt"])["timestamp"], "filled": "0", "average": None,
        "remaining": amount if _STATUS[row["state"]] == "open" else "0", "status": row["state"], "fee": None,
        "fees": [], "info": info,
    })
    prices = {"triggerPrice": trigger, "stopPrice": trigger, "takeProfitPrice" if gains else "stopLossPrice": trigger}
    return {**order, **prices}


def arrival_trades(placed: Mapping[str, Any], side: str, symbol: str) -> List[Shape]:
    """The fills on arrival that the answer to an order lists."""
    trades: List[Shape] = []
    for fill in placed["matchResult"].get("fills") or []:
        fee = {"cost": number_of(fill["fee"]), "currency": _quote_of(symbol)}
        trades.append({
            "id": fill["tradeId"], "symbol": symbol, **moment_of(placed["engineTime"]), "order": placed["orderId"],
            "type": None, "side": side, "takerOrMaker": "taker", "price": number_of(fill["price"]),
            "amount": number_of(fill["quantity"]), "cost": float(Decimal(fill["price"]) * Decimal(fill["quantity"])),
            "fee": fee, "fees": [fee], "info": fill,
        })
    return trades


def placed_of(answer: Mapping[str, Any], asked: Mapping[str, Any], symbol: str) -> Shape:
    """An order as it was asked for and met the book."""
    result = answer["matchResult"]
    total = result.get("totalFee")
    fee = None if total is None else {"cost": number_of(total), "currency": _quote_of(symbol)}
    moment = moment_of(answer["engineTime"])
    # What reduces is cut to what is open and to what one order may have.
    terms = {**asked, "quantity": answer.get("submittedQuantity") or asked["quantity"]}
    order = _order(terms, symbol, {
        "id": answer["orderId"], **moment, "lastUpdateTimestamp": moment["timestamp"],
        "filled": result["totalFilled"], "remaining": result["remainingQuantity"],
        "average": result.get("averageFillPrice"), "status": result["status"], "fee": fee,
        "fees": [] if fee is None else [fee], "info": answer,
    })
    trades = arrival_trades(answer, order["side"], symbol)
    cost = number_of(result.get("totalFilledQuote"))
    return {**order, "cost": order["cost"] if cost is None else cost, "trades": trades}


def balances_of(rows: List[Mapping[str, Any]]) -> Shape:
    found: Shape = {"info": rows, **moment_of(None), "free": {}, "used": {}, "total": {}}
    for row in rows:
        name = row["symbol"] or row["token"]
        kinds = {"free": "availableBalance", "used": "lockedBalance", "total": "totalBalance"}
        amounts = {kind: float(row[field]) for kind, field in kinds.items()}
        found[name] = amounts
        for kind, amount in amounts.items():
            found[kind][name] = amount
    return found
