"""What is no decimal is InvalidOrder and nothing is sent; limits are cut; pairs that were listed later are known; a wrong
clock is measured once; a path of the base URL is not signed."""

from __future__ import annotations

import unittest
from typing import Any, Callable, Dict, List, Sequence, Tuple

from stage import PAIR

from ringbook import RefusedError, SessionKey, calls
from ringbook.calls import State
from ringbook.ccxt_errors import InvalidOrder
from ringbook.signing import sign_request
from ringbook.triggers import TriggerVerbs
from ringbook.wire import Answer, Request
from test_unified import MARKET, OWN, TIME

NEW = "22222222-2222-4222-8222-222222222222"
Asked = List[Tuple[str, Dict[str, Any]]]


class Service:
    """Answers operations, with one pair and, once it is listed, another."""

    def __init__(self) -> None:
        self.asked: Asked = []
        self.pairs = [MARKET]
        self.answers: Dict[str, Callable[[], Any]] = {
            "ListTradingPairs": lambda: {"tradingPairs": self.pairs, "totalPages": 1},
            "GetCandles": lambda: {"candles": []},
            "GetOrderbook": lambda: {"bids": [], "asks": [], "timestamp": TIME, "sequence": 1},
            "ListAccountTrades": lambda: {"trades": [{**OWN, "tradingPairId": NEW}], "nextPageToken": ""},
            "ListMovements": lambda: {"nextPageToken": "", "movements": [{
                "id": "m", "referenceId": "p", "amount": "1", "entryType": "DEBIT", "symbol": "USDC", "token": "USDC",
                "createdAt": TIME,
            }]},
            "GetPosition": lambda: {"tradingPairId": NEW},
        }

    def run(self, verb: Any) -> Any:
        try:
            name, fields = next(verb)
            while True:
                self.asked.append((name, fields))
                name, fields = verb.send(self.answers[name]())
        except StopIteration as stop:
            return stop.value


class Inputs(unittest.TestCase):
    def setUp(self) -> None:
        self.service, self.verbs = Service(), TriggerVerbs(None)
        self.service.run(self.verbs.load_markets(False))

    def test_what_is_no_decimal_is_an_invalid_order(self) -> None:
        create: Callable[..., Any] = self.verbs.create_order
        run = self.service.run
        odds: Sequence[Any] = (float("nan"), None, "1,5", float("inf"), "", "x", {}, "1_0", True, "\u0661")
        for odd in odds:
            for terms in (
                ("limit", "buy", odd, 1, None), ("limit", "buy", 1, odd, None), (odd, "buy", 1, 1, None),
                ("limit", odd, 1, 1, None),
            ):
                with self.subTest(terms=terms), self.assertRaises(InvalidOrder):
                    run(create("ETH/USDC", *terms))
            if odd is not None:
                with self.subTest(edit=odd), self.assertRaises(InvalidOrder):
                    run(self.verbs.edit_order("o", "ETH/USDC", odd, 1, None))
                with self.subTest(leg=odd), self.assertRaises(InvalidOrder):
                    run(create("ETH/USDC", "limit", "buy", 1, 1, {"stopLoss": {"triggerPrice": odd}}))
        self.assertEqual([name for name, _ in self.service.asked], ["ListTradingPairs"])

    def test_large_and_small_numbers_are_exact(self) -> None:
        self.assertEqual(self.verbs.rounded("ETH/USDC", "9" * 40 + ".0019", "lotSize", "ROUND_DOWN"), "9" * 40 + ".001")

    def test_a_limit_beyond_the_most_is_cut(self) -> None:
        self.service.run(self.verbs.fetch_ohlcv("ETH/USDC", "1m", None, 5000))
        self.service.run(self.verbs.fetch_order_book("ETH/USDC", 5000))
        (_, candles), (_, book) = self.service.asked[1:]
        self.assertEqual([candles["limit"], book["depth"]], [500, 1000])

    def test_a_pair_that_was_listed_later_is_known(self) -> None:
        self.service.pairs = [MARKET, {**MARKET, "id": NEW, "symbol": "NEW/USDC"}]
        for _ in range(2):
            self.assertEqual(self.service.run(self.verbs.fetch_my_trades(None, None, None))[0]["symbol"], "NEW/USDC")
        self.assertEqual([name for name, _ in self.service.asked].count("ListTradingPairs"), 2)
        other = TriggerVerbs(None)
        self.assertEqual(self.service.run(other.fetch_funding_history(None, None, None))[0]["symbol"], "NEW/USDC")
        self.service.pairs = [MARKET]
        other = TriggerVerbs(None)
        self.assertEqual(self.service.run(other.fetch_my_trades(None, None, None))[0]["symbol"], NEW)


class Clocks(unittest.TestCase):
    def call(self, ahead_ms: int, knows_time: bool = True) -> Tuple[Any, List[Request]]:
        """One signed call to a service whose clock is ahead: its answer, and what was sent."""
        sent: List[Request] = []
        state = State("http://x", key=SessionKey(), now=lambda: 1_000_000.0)
        steps = calls.call(state, "ListBalances", {})
        try:
            step = next(steps)
            while True:
                assert isinstance(step, Request)
                sent.append(step)
                step = steps.send(self.answer(step, ahead_ms, knows_time))
        except StopIteration as stop:
            return stop.value, sent

    def answer(self, request: Request, ahead_ms: int, knows_time: bool) -> Answer:
        if request.target.endswith("/time"):
            body = b'{"unixMs": %d}' % (1_000_000_000 + ahead_ms)
            return Answer(200, body, None) if knows_time else Answer(503, b"", None)
        skewed = abs(int(request.headers["X-Svc-Timestamp"]) - 1_000_000_000 - ahead_ms) > 30_000
        refusal = b'{"error": "UNAUTHENTICATED", "code": "CLOCK_SKEW", "message": "m"}'
        return Answer(401, refusal, None) if skewed else Answer(200, b"{}", None)

    def test_a_wrong_clock_is_measured_once(self) -> None:
        for ahead in (45_000, -45_000):
            outcome, sent = self.call(ahead)
            self.assertEqual([outcome, len(sent)], [{}, 3])
            self.assertRegex(sent[1].target, "/time$")

    def test_without_a_time_the_refusal_is_told(self) -> None:
        with self.assertRaises(RefusedError) as raised:
            self.call(45_000, knows_time=False)
        self.assertEqual(raised.exception.code, "CLOCK_SKEW")

    def test_a_path_of_the_base_url_is_not_signed(self) -> None:
        state = State("http://x/venue/", key=SessionKey(), now=lambda: 1_000_000.0)
        request = next(calls.call(state, "ListBalances", {}))
        assert isinstance(request, Request)
        self.assertEqual(request.target, "/venue/api/v1/accounts/balances")
        assert state.key is not None
        signed = sign_request(state.key, "GET", "/api/v1/accounts/balances", b"", 1_000_000_000)
        self.assertEqual(request.headers["X-Svc-Signature"], signed["X-Svc-Signature"])


if __name__ == "__main__":
    unittest.main()
