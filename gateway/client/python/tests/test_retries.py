"""What may be sent again is, what may not is not, and who cannot know says so (specification, Errors, rules 4 to 7);
of both clients."""

from __future__ import annotations

import json
import socket
import time
import unittest
from typing import Any, Dict, List, Tuple, cast
from unittest.mock import patch

from service import CHUNKED, CHUNKED_HALF, HALF, RESET, SILENCE, Act, Service, outcomes, refusal
from stage import PAIR

from ringbook import (
    AmbiguousError, Client, NetworkError, NotSentError, RefusedError, RetryPolicy, SessionKey, http, retry_of,
)
from ringbook.http import _await_until, _is_readable
from ringbook.wire import Answer, Request

ORDER: Dict[str, Any] = {"tradingPairId": PAIR, "orderType": "LIMIT", "side": "BUY", "quantity": "1", "price": "5"}
KEYED = {**ORDER, "idempotencyKey": "k"}
DONE: Act = (200, {"orderId": "a"})
#: What comes from something in between, which does not know what became of the request.
UNNAMED: List[Act] = [
    CHUNKED_HALF, HALF, RESET, (502, b"<html>"), (503, b"busy"), (504, b""), (500, b""), (408, b""), (409, b""),
    (200, b"<html>"), (302, b"", {"Location": "http://127.0.0.1:9/"}),
]


class Retries(unittest.TestCase):
    def expect(
        self, acts: List[Act], name: str, fields: Dict[str, Any], outcome: Any, requests: int, **more: Any,
    ) -> None:
        for found, count in outcomes(acts, name, fields, **more):
            if isinstance(outcome, type):
                self.assertIs(type(found), outcome, f"{acts} {name}: {found!r}")
            else:
                self.assertEqual(found, outcome, acts)
            self.assertEqual(count, requests, acts)

    def test_a_create_without_a_key_is_ambiguous_after_what_nobody_named(self) -> None:
        for act in UNNAMED:
            self.expect([act, DONE], "CreateOrder", ORDER, AmbiguousError, 1)

    def test_so_is_a_movement_or_a_batch_of_which_one_item_has_no_key(self) -> None:
        self.expect([(504, b""), DONE], "Mint", {}, AmbiguousError, 1)
        self.expect([(504, b""), DONE], "BatchCreateOrders", {"orders": [KEYED, ORDER]}, AmbiguousError, 1)
        self.expect([(504, b""), DONE], "BatchCreateOrders", {"orders": []}, AmbiguousError, 1)

    def test_with_a_key_it_is_sent_again_with_the_same_payload(self) -> None:
        for act in UNNAMED:
            self.expect([act, DONE], "CreateOrder", KEYED, {"orderId": "a"}, 2)
        self.expect([(504, b""), DONE], "BatchCreateOrders", {"orders": [KEYED, KEYED]}, {"orderId": "a"}, 2)
        retry = RetryPolicy(attempts=2, base=0)
        with Service((504, b""), DONE) as service, Client(service.base_url, key=SessionKey(), retry=retry) as client:
            client.call("CreateOrder", **KEYED)
            self.assertEqual([json.loads(request["body"]) for request in service.requests], [KEYED, KEYED])

    def test_when_it_is_given_up_it_is_still_ambiguous(self) -> None:
        for act in UNNAMED:
            self.expect([act], "CreateOrder", KEYED, AmbiguousError, 3)
        unavailable = refusal(503, "ORDER_SUBMISSION_UNAVAILABLE")
        self.expect([unavailable], "CreateOrder", KEYED, AmbiguousError, 3)
        self.expect([unavailable, DONE], "CreateOrder", KEYED, {"orderId": "a"}, 2)

    def test_a_later_refusal_is_no_verdict_on_a_try_whose_answer_was_lost(self) -> None:
        late = refusal(429, "RATE_LIMIT_EXCEEDED", retryAfter=99)
        for act in (refusal(401, "SESSION_INVALID"), refusal(503, "OPERATIONS_BLOCKED"), late):
            for found, _ in outcomes([RESET, act], "CreateOrder", KEYED):
                assert isinstance(found, AmbiguousError)
                self.assertIsInstance(found.cause, NetworkError)

    def test_named_refusals_are_safe(self) -> None:
        safe = ((503, "OPERATIONS_BLOCKED"), (503, "OVERLOADED"), (408, "REQUEST_TIMEOUT"), (503, "DISK_RESERVE"))
        for status, code in safe:
            self.expect([refusal(status, code), DONE], "CreateOrder", ORDER, {"orderId": "a"}, 2)
            self.expect([refusal(status, code)], "CreateOrder", ORDER, RefusedError, 3)
        for code in ("CLIENT_ORDER_ID_CONFLICT", "IDEMPOTENCY_KEY_CONFLICT"):
            self.expect([refusal(409, code), DONE], "CreateOrder", KEYED, RefusedError, 1)
        full = refusal(503, "ORDER_SUBMISSION_CAPACITY_EXCEEDED")
        self.expect([full, DONE], "CreateOrder", KEYED, {"orderId": "a"}, 2)
        self.expect([full], "CreateOrder", KEYED, RefusedError, 3)

    def test_what_was_named_ambiguous_or_is_unknown_is_not(self) -> None:
        for act in (refusal(503, "SERVICE_UNAVAILABLE"), refusal(500, "INTERNAL"), refusal(503, "SOMETHING_NEW")):
            self.expect([act, DONE], "CreateOrder", ORDER, AmbiguousError, 1)
            self.expect([act, DONE], "CreateOrder", KEYED, {"orderId": "a"}, 2)

    def test_plain_refusals_are_final(self) -> None:
        final = ((400, "INVALID_TICK"), (401, "SESSION_INVALID"), (403, "AGENT_NOT_ALLOWED"), (404, "NOT_FOUND"))
        for status, code in final:
            self.expect([refusal(status, code), DONE], "CreateOrder", KEYED, RefusedError, 1)
            self.expect([refusal(status, code), DONE], "GetProfile", {}, RefusedError, 1)
        for status in (400, 401, 403, 404, 413):
            self.expect([(status, b"<html>"), DONE], "CreateOrder", ORDER, RefusedError, 1)

    def test_reads_and_cancels_are_repeated_after_anything_that_may_pass(self) -> None:
        calls: List[Tuple[str, Dict[str, Any]]] = [
            ("GetProfile", {}), ("CancelOrder", {"orderId": "a"}), ("BatchCancelAllOrders", {}),
        ]
        for name, fields in calls:
            for act in [*UNNAMED, refusal(503, "SERVICE_UNAVAILABLE"), refusal(500, "INTERNAL")]:
                self.expect([act, DONE], name, fields, {"orderId": "a"}, 2)
            self.expect([(502, b"")], name, fields, RefusedError, 3)
            self.expect([RESET], name, fields, NetworkError, 3)

    def test_a_cancel_by_client_order_id_may_meet_another_order_when_it_is_repeated(self) -> None:
        calls: List[Tuple[str, Dict[str, Any]]] = [
            ("CancelOrder", {"orderId": "client:quote"}), ("BatchCancelOrders", {"orderIds": ["a", "client:quote"]}),
        ]
        for name, fields in calls:
            for act in [*UNNAMED, refusal(503, "SERVICE_UNAVAILABLE"), refusal(500, "INTERNAL")]:
                self.expect([act, DONE], name, fields, AmbiguousError, 1)
            self.expect([refusal(503, "OVERLOADED"), DONE], name, fields, {"orderId": "a"}, 2)
            self.expect([refusal(404, "ORDER_NOT_FOUND"), DONE], name, fields, RefusedError, 1)
        self.expect([RESET, DONE], "BatchCancelOrders", {"orderIds": ["a", "b"]}, {"orderId": "a"}, 2)

    def test_answers_in_parts_are_read(self) -> None:
        self.expect([CHUNKED], "CreateOrder", ORDER, {"orderId": "a"}, 1)
        with Service(CHUNKED) as service, Client(service.base_url) as client:
            self.assertEqual([client.call("Check"), client.call("Check")], [{"orderId": "a"}] * 2)
            self.assertEqual(service.connections, 1)

    def test_a_wait_that_was_named_is_kept_or_not_begun(self) -> None:
        soon = refusal(429, "RATE_LIMIT_EXCEEDED", retryAfter=0)
        self.expect([soon, DONE], "CreateOrder", ORDER, {"orderId": "a"}, 2)
        self.expect([(429, b"", {"Retry-After": "0"}), DONE], "CreateOrder", ORDER, {"orderId": "a"}, 2)
        for found, _ in outcomes([refusal(429, "RATE_LIMIT_EXCEEDED", retryAfter=3), DONE], "CreateOrder", ORDER):
            assert isinstance(found, RefusedError)
            self.assertEqual([found.retry_after, found.retry], [3.0, "after"])

    def test_without_a_policy_everything_is_sent_once(self) -> None:
        self.expect([(502, b""), DONE], "GetProfile", {}, RefusedError, 1, attempts=1)

    def test_what_never_left_is_known_not_to_have_been_applied(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            base_url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with Client(base_url, key=SessionKey(), retry=RetryPolicy(attempts=2, base=0)) as client:
            self.assertRaises(NotSentError, client.call, "CreateOrder", **ORDER)

    def test_what_never_left_may_always_be_sent_again(self) -> None:
        with Service(DONE) as service:
            retry = RetryPolicy(attempts=2, base=0)
            with Client(service.base_url, key=SessionKey(), retry=retry) as client:
                send, failures = client._transport.send, [NotSentError("no connection")]

                def sometimes(request: Request) -> Answer:
                    if failures:
                        raise failures.pop()
                    return send(request)

                with patch.object(client._transport, "send", sometimes):
                    self.assertEqual(client.call("CreateOrder", **ORDER), {"orderId": "a"})

    def test_a_connection_that_is_gone_is_not_used_again(self) -> None:
        gone: Act = (200, {}, {"X-Gone": "1"})
        with Service(gone, DONE) as service, Client(service.base_url, key=SessionKey()) as client:
            client.call("Check")
            idle = client._transport._idle[0][0]
            for _ in range(1000):
                if _is_readable(idle.sock):
                    break
                time.sleep(0.005)
            self.assertEqual(client.call("CreateOrder", **ORDER), {"orderId": "a"})

    def test_reading_waits_as_long_as_is_left_and_takes_no_more_than_fits(self) -> None:
        class Held:
            timeout = 0.0

            def settimeout(self, seconds: float) -> None:
                self.timeout = seconds

        held = Held()
        _await_until(cast(socket.socket, held), time.monotonic() + 5)
        self.assertTrue(0 < held.timeout <= 5)
        self.assertRaises(TimeoutError, _await_until, None, time.monotonic() - 1)
        with patch.object(http, "_BODY_MAX", 4):
            self.expect([(200, {"orderId": "a"})], "GetProfile", {}, NetworkError, 1, attempts=1)

    def test_silence_ends_with_the_deadline(self) -> None:
        self.expect([SILENCE], "CreateOrder", ORDER, AmbiguousError, 1, options={"timeout": 0.2})
        for found, _ in outcomes([SILENCE], "GetProfile", {}, attempts=1, options={"timeout": 0.2}):
            assert isinstance(found, NetworkError)
            self.assertTrue(found.timed_out)

    def test_connections_stay_open_and_closed_ones_are_not_used_again(self) -> None:
        last: Act = (200, {}, {"Connection": "close"})
        with Service(DONE, DONE, last, DONE) as service, Client(service.base_url) as client:
            for _ in range(3):
                client.call("Check")
            self.assertEqual(service.connections, 1)
            client.call("Check")
            self.assertEqual(service.connections, 2)

    def test_codes_of_items_have_their_class(self) -> None:
        self.assertEqual([retry_of("INVALID_TICK"), retry_of("OVERLOADED")], ["no", "safe"])
        for code in ("SERVICE_UNAVAILABLE", "SOMETHING_NEW", "INTERNAL"):
            self.assertEqual(retry_of(code), "ambiguous")


if __name__ == "__main__":
    unittest.main()
