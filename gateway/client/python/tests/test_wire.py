"""What goes over the wire: fields of paths, queries and bodies, exact amounts, and nothing that could mean something
else."""

from __future__ import annotations

import asyncio
import json
import unittest
from decimal import Decimal
from typing import Any, List

from service import Service
from stage import PAIR

from ringbook import AsyncClient, Client, SessionKey
from ringbook._generated.table import OPERATIONS
from ringbook.calls import State
from ringbook.streams import url_of
from ringbook.wire import place_of, target_and_body


def wire(name: str, **fields: Any) -> Any:
    return target_and_body("", OPERATIONS[name], fields)


class Wire(unittest.TestCase):
    def test_fields_go_where_the_operation_has_them(self) -> None:
        self.assertEqual(wire("GetOrder", orderId="a b/c"), ("/api/v1/orders/a%20b%2Fc", b""))
        listed = wire("ListOrders", status=["A", "B"], side=None, page=2)
        self.assertEqual(listed, ("/api/v1/orders?status=A&status=B&page=2", b""))
        self.assertEqual(wire("ListTradingPairs", isActive=True)[0], "/api/v1/market/pairs?isActive=true")
        target, body = wire("ReplaceOrder", orderId="a", price=Decimal("1.50"), quantity=None, clientOrderId="é'\"")
        self.assertEqual([target, json.loads(body)], ["/api/v1/orders/a", {"price": "1.50", "clientOrderId": "é'\""}])
        self.assertEqual(wire("BatchCancelAllOrders"), ("/api/v1/orders/batch-cancel-all", b""))

    def test_amounts_are_exact(self) -> None:
        order = {"tradingPairId": PAIR, "quantity": Decimal("1E-7"), "price": Decimal("1E+3")}
        body = json.loads(wire("BatchCreateOrders", orders=[order])[1])
        self.assertEqual([body["orders"][0]["quantity"], body["orders"][0]["price"]], ["0.0000001", "1000"])
        self.assertRaises(TypeError, wire, "CreateOrder", quantity=0.1)
        self.assertRaises(ValueError, wire, "CreateOrder", quantity=Decimal("NaN"))

    def test_a_path_cannot_become_another(self) -> None:
        for value in ("", ".", "..", None):
            self.assertRaises(ValueError, wire, "CancelOrder", orderId=value)

    def test_listings_go_on_to_their_end_and_no_further(self) -> None:
        pages: List[Any] = [
            (200, {"orders": [1, 2], "nextPageToken": "t"}), (200, {"orders": [3], "nextPageToken": ""}), (500, {}),
        ]
        numbered: List[Any] = [(200, {"balances": [each], "totalPages": 2}) for each in (1, 2)]
        for name, acts, targets in (
            ("ListOrders", pages, ["?pageSize=1000&side=BUY&pageToken=", "?pageSize=1000&side=BUY&pageToken=t"]),
            ("ListBalances", numbered, ["?pageSize=100&side=BUY&page=1", "?pageSize=100&side=BUY&page=2"]),
        ):
            with Service(*acts) as service, Client(service.base_url, key=SessionKey()) as client:
                self.assertEqual(list(client.rows(name, side="BUY")), [1, 2, 3][:len(acts)])
                self.assertEqual([each["target"][each["target"].index("?"):] for each in service.requests], targets)

            async def concurrent(base_url: str) -> List[Any]:
                async with AsyncClient(base_url, key=SessionKey()) as client:
                    return [row async for row in client.rows(name, side="BUY")]

            with Service(*acts) as service:
                self.assertEqual(asyncio.run(concurrent(service.base_url)), [1, 2, 3][:len(acts)])
        with Client("http://x") as client:
            self.assertRaises(ValueError, next, client.rows("GetProfile"))

    def test_where_the_service_is(self) -> None:
        self.assertEqual(tuple(place_of("https://example.com/prefix/")), (True, "example.com", 443, "/prefix"))
        self.assertEqual(tuple(place_of("http://[::1]:8080")), (False, "::1", 8080, ""))
        self.assertEqual(url_of("https://example.com/"), "wss://example.com/ws")
        for wrong in ("example.com", "ftp://example.com", "http://", "http://x?y"):
            self.assertRaises(ValueError, place_of, wrong)

    def test_wrong_options_are_refused_at_once(self) -> None:
        self.assertRaises(ValueError, State, "http://x", protocol="none")

    def test_without_key_wallet_or_server_key_nothing_is_sent(self) -> None:
        with Client("http://127.0.0.1:9") as client:
            self.assertRaisesRegex(RuntimeError, "sign in first", client.get_profile)
            self.assertRaisesRegex(RuntimeError, "wallet", client.sign_in)
            self.assertRaisesRegex(RuntimeError, "server key", client.get_application_config)

    def test_a_key_tells_its_public_half_only(self) -> None:
        key = SessionKey(bytes(32))
        self.assertEqual(repr(key), "SessionKey(3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29)")


if __name__ == "__main__":
    unittest.main()
