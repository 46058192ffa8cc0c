"""Orders over a socket: in order, counted, bounded; and after a lost socket it is said what may have happened."""

from __future__ import annotations

import hashlib
import json
import unittest
from concurrent.futures import Future
from typing import Any, Dict, List

from stage import PAIR, Stage

from ringbook.errors import AmbiguousError, NetworkError, NotSentError, RefusedError
from ringbook.link import StreamOptions
from ringbook.order_entry import IN_FLIGHT, WAITING_MAX
from ringbook.signing import SessionKey

ORDER: Dict[str, Any] = {"tradingPairId": PAIR, "orderType": "LIMIT", "side": "BUY", "quantity": "1", "price": "5"}


def opened(stage: Stage) -> None:
    stage.socket.connected()
    stage.socket.tell(type="result", id=stage.socket.asked("session.open")[-1]["id"], status=200, data={"expiresAt": 1})


class Orders(unittest.TestCase):
    def setUp(self) -> None:
        self.stage = Stage(key=SessionKey())

    def call(self, name: str = "CreateOrder", **fields: Any) -> "Future[Any]":
        return self.stage.entry.call(name, {**ORDER, **fields} if name == "CreateOrder" else fields)

    def test_one_signature_opens_the_session_and_a_counter_goes_on(self) -> None:
        first, second = self.call(), self.call("CancelOrder", orderId="a")
        self.stage.socket.connected()
        self.assertEqual([each["type"] for each in self.stage.socket.said], ["session.open"])
        opening = self.stage.socket.said[0]
        self.stage.socket.tell(type="result", id=opening["id"], status=200, data={"expiresAt": 1})
        said = self.stage.socket.said[1:]
        begin = json.loads(opening["body"])["counter"]
        counted = [(each["type"], each["counter"] - begin) for each in said]
        self.assertEqual(counted, [("order.create", 1), ("order.cancel", 2)])
        self.assertEqual(said[0]["body"], ORDER)
        envelope = {"error": "NOT_FOUND", "code": "ORDER_NOT_FOUND", "message": "no"}
        self.stage.socket.tell(type="result", id=said[1]["id"], status=404, error=envelope)
        self.stage.socket.tell(type="result", id=said[0]["id"], status=200, data={"orderId": "b"})
        self.assertEqual(first.result(0), {"orderId": "b"})
        error = second.exception(0)
        assert isinstance(error, RefusedError)
        self.assertEqual([error.code, error.status, error.retry], ["ORDER_NOT_FOUND", 404, "no"])

    def test_the_opening_asks_for_cancels_at_the_end_when_that_is_wanted(self) -> None:
        stage = Stage(StreamOptions(cancel_on_disconnect=True), SessionKey())
        stage.entry.call("CreateOrder", ORDER)
        stage.socket.connected()
        bodies = [json.loads(each["body"]) for each in stage.socket.said]
        self.assertEqual([each["cancelOnDisconnect"] for each in bodies], [True])
        self.call()
        self.stage.socket.connected()
        self.assertNotIn("cancelOnDisconnect", json.loads(self.stage.socket.said[0]["body"]))

    def test_after_a_lost_socket_sent_and_unsent_calls_are_told_apart(self) -> None:
        create, keyed, cancel = self.call(), self.call(idempotencyKey="k"), self.call("CancelOrder", orderId="a")
        named = self.call("CancelOrder", orderId="client:quote")
        opened(self.stage)
        full = [self.call("CancelOrder", orderId=str(i)) for i in range(IN_FLIGHT)]
        self.assertEqual(len(self.stage.socket.said), IN_FLIGHT + 1, "no more than the service takes")
        self.stage.socket.end(1006)
        self.assertIsInstance(create.exception(0), AmbiguousError)
        self.assertIsInstance(keyed.exception(0), AmbiguousError)
        self.assertIs(type(cancel.exception(0)), NetworkError)
        self.assertIsInstance(named.exception(0), AmbiguousError, "by then another order may have the name")
        self.assertIsInstance(full[-1].exception(0), NotSentError)

    def test_refusals_that_nobody_named_are_ambiguous_for_an_order(self) -> None:
        def answer(name: str, status: int, code: str, **fields: Any) -> type:
            future = self.call(name, **fields)
            if self.stage.entry.status != "open":
                opened(self.stage)
            envelope = {"error": code, "code": code, "message": "no"}
            self.stage.socket.tell(type="result", id=self.stage.socket.said[-1]["id"], status=status, error=envelope)
            return type(future.exception(0))

        self.assertIs(answer("CreateOrder", 503, "SERVICE_UNAVAILABLE"), AmbiguousError)
        self.assertIs(answer("CreateOrder", 500, "INTERNAL"), AmbiguousError)
        self.assertIs(answer("CreateOrder", 503, "OVERLOADED"), RefusedError)
        self.assertIs(answer("CreateOrder", 503, "SOMETHING_NEW"), AmbiguousError)
        self.assertIs(answer("CancelOrder", 503, "SERVICE_UNAVAILABLE", orderId="a"), RefusedError)

    def test_a_call_that_takes_too_long_fails_and_a_late_answer_is_nobodys(self) -> None:
        late, waiting = self.call(), self.call()
        self.stage.clock.advance(9)
        opened(self.stage)
        self.stage.clock.advance(14)
        self.stage.socket.tell(type="pong")
        self.stage.clock.advance(12)
        self.assertIsInstance(late.exception(0), AmbiguousError)
        self.assertIsInstance(waiting.exception(0), AmbiguousError)
        other = Stage(key=SessionKey())
        never = other.entry.call("CreateOrder", ORDER)
        other.clock.advance(35)
        self.assertIsInstance(never.exception(0), NotSentError)
        self.stage.socket.tell(type="result", id=2, status=200, data={})
        self.assertEqual(self.stage.entry.status, "open")

    def test_another_socket_has_a_session_and_a_counter_of_its_own(self) -> None:
        self.call()
        opened(self.stage)
        self.stage.socket.end()
        second = self.call()
        self.stage.clock.advance(1)
        self.assertEqual(len(self.stage.dialer.sockets), 2)
        opened(self.stage)
        said = self.stage.socket.said
        self.assertEqual([each["type"] for each in said], ["session.open", "order.create"])
        self.assertEqual(said[1]["counter"], json.loads(said[0]["body"])["counter"] + 1)
        self.stage.socket.tell(type="result", id=said[1]["id"], status=200, data={})
        self.assertEqual(second.result(0), {})

    def test_two_clients_of_one_key_open_with_signatures_of_their_own(self) -> None:
        openings = []
        key = SessionKey()
        for chance in (0.25, 0.75):
            stage = Stage(key=key)
            stage.clock.chance = chance
            stage.entry.call("CreateOrder", ORDER)
            stage.socket.connected()
            openings.append(stage.socket.asked("session.open")[0])
        one, other = openings
        self.assertEqual(one["timestamp"], other["timestamp"])
        self.assertNotEqual(one["signature"], other["signature"])
        lines = f"WS\nsession.open\n{one['timestamp']}\n{hashlib.sha256(one['body'].encode()).hexdigest()}"
        self.assertEqual(key.sign(lines.encode()).hex(), one["signature"])

    def test_the_answer_to_a_call_that_was_given_up_is_nobodys(self) -> None:
        call = self.call()
        opened(self.stage)
        call.cancel()
        self.stage.socket.tell(type="result", id=self.stage.socket.said[-1]["id"], status=200, data={})
        self.assertEqual(self.stage.entry.status, "open")

    def test_a_refused_session_tells_everybody_and_the_next_call_tries_again(self) -> None:
        first, second = self.call(), self.call()
        self.stage.socket.connected()
        said = self.stage.socket.said[0]
        self.stage.socket.tell(type="error", id=said["id"], code="ORDER_ENTRY_DISABLED", message="off")
        for future in (first, second):
            error = future.exception(0)
            assert isinstance(error, RefusedError)
            self.assertEqual(error.code, "ORDER_ENTRY_DISABLED")
        self.assertEqual(self.stage.entry.status, "closed")
        self.call()
        self.assertEqual(len(self.stage.dialer.sockets), 2)

    def test_more_calls_than_may_wait_are_refused(self) -> None:
        futures: List[Future[Any]] = [self.call() for _ in range(WAITING_MAX + 1)]
        error = futures[-1].exception(0)
        assert isinstance(error, RefusedError)
        self.assertEqual(error.code, "OVERLOADED")
        self.assertFalse(futures[0].done())

    def test_a_batch_that_would_close_the_socket_is_refused_here(self) -> None:
        batch = {"orders": [{**ORDER, "idempotencyKey": "k" * 600} for _ in range(100)]}
        error = self.stage.entry.call("BatchCreateOrders", batch).exception(0)
        assert isinstance(error, RefusedError)
        self.assertEqual([error.code, self.stage.entry.status], ["BODY_TOO_LARGE", "closed"])

    def test_a_call_that_was_given_up_before_it_left_never_leaves(self) -> None:
        first, second = self.call(), self.call(price="6")
        first.cancel()
        opened(self.stage)
        said = self.stage.socket.said[1:]
        self.assertEqual([each["body"]["price"] for each in said], ["6"])
        self.stage.socket.tell(type="result", id=said[0]["id"], status=200, data={})
        self.assertEqual(second.result(0), {})

    def test_without_a_session_nothing_is_called(self) -> None:
        self.assertRaises(RuntimeError, Stage().entry.call, "CreateOrder", ORDER)


if __name__ == "__main__":
    unittest.main()
