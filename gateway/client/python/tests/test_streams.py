"""What the streams hand on is complete and in order, or they say that it is not: against a service that leaves gaps,
repeats itself, refuses and goes away. Time and chance are the test's."""

from __future__ import annotations

import unittest
from typing import Any, Dict, List

from stage import OTHER, PAIR, Record, Stage

from ringbook.inbox import END, Inbox
from ringbook.link import StreamOptions
from ringbook.signing import SessionKey



class Sockets(unittest.TestCase):
    def test_one_socket_is_opened_by_the_first_subscription_and_closed_behind_the_last(self) -> None:
        stage = Stage()
        self.assertEqual(stage.streams.status, "closed")
        first, second = Record(), Record()
        one = stage.streams.subscribe("trades", {"tradingPairId": PAIR}, first)
        two = stage.streams.subscribe("trades", {"tradingPairId": OTHER}, second)
        self.assertEqual(len(stage.dialer.sockets), 1)
        self.assertEqual(stage.socket.said, [], "nothing before the first frame")
        stage.socket.connected()
        self.assertEqual([each["params"]["tradingPairId"] for each in stage.socket.asked("subscribe")], [PAIR, OTHER])
        stage.socket.confirm()
        for number, pair in (("a", PAIR), ("b", OTHER)):
            data = {"trades": [{"id": number, "tradingPairId": pair}]}
            stage.socket.tell(channel="trades", type="trades_update", data=data)
        self.assertEqual(first.told, ["open", {"trades": [{"id": "a", "tradingPairId": PAIR}]}])
        self.assertEqual(second.told, ["open", {"trades": [{"id": "b", "tradingPairId": OTHER}]}])
        stage.streams.leave(one)
        self.assertEqual(len(stage.socket.asked("unsubscribe")), 1)
        stage.streams.leave(two)
        stage.streams.leave(two)
        stage.clock.advance(0.9)
        self.assertFalse(stage.socket.closed, "kept for the next subscription for a while")
        stage.clock.advance(0.2)
        self.assertTrue(stage.socket.closed)
        self.assertEqual([first.told[-2:], second.told[-2:]], [["closed", "ended"]] * 2)
        self.assertEqual(stage.streams.status, "closed")
        self.assertEqual(stage.clock.waiting, 0, "nothing is left to do")

    def test_after_a_lost_socket_everything_is_subscribed_to_again_with_a_snapshot(self) -> None:
        stage = Stage()
        record = stage.listen("instruments")
        stage.socket.connected()
        stage.socket.confirm()
        stage.socket.tell(channel="instruments", type="snapshot", data={"instruments": [1]})
        stage.socket.end()
        self.assertEqual(stage.streams.status, "reconnecting")
        stage.clock.advance(0.5)
        stage.socket.connected()
        stage.socket.confirm()
        stage.socket.tell(channel="instruments", type="snapshot", data={"instruments": [2]})
        self.assertEqual(record.told, ["open", {"instruments": [1]}, "reconnecting", "open", {"instruments": [2]}])

    def test_pauses_double_up_to_a_cap_and_begin_anew_after_a_good_while(self) -> None:
        stage = Stage(StreamOptions(base=1, cap=8, stable=10))
        stage.listen("instruments")
        pauses: List[float] = []

        def lose(code: int = 1006, reason: str = "") -> None:
            before, count = stage.clock.now(), len(stage.dialer.sockets)
            stage.socket.end(code, reason)
            while len(stage.dialer.sockets) == count:
                stage.clock.advance(0.5)
            pauses.append(stage.clock.now() - before)

        for _ in range(5):
            lose()
        stage.socket.connected()
        stage.clock.advance(10)
        lose(1013)
        lose(1001)
        stage.socket.connected()
        stage.clock.advance(10)
        lose(1008, "MESSAGE_RATE_LIMIT")
        self.assertEqual(pauses, [2, 2, 4, 8, 8, 1, 4, 8])

    def test_silence_is_asked_about_and_then_given_up(self) -> None:
        stage = Stage(StreamOptions(ping=15, answer=10))
        record = stage.listen("instruments")
        stage.socket.connected()
        stage.socket.confirm()
        stage.clock.advance(15)
        self.assertEqual(len(stage.socket.asked("ping")), 1)
        stage.clock.advance(5)
        stage.socket.tell(type="pong")
        stage.clock.advance(14)
        self.assertEqual(len(stage.socket.asked("ping")), 1, "what came is a sign of life")
        stage.clock.advance(1)
        self.assertEqual(len(stage.socket.asked("ping")), 2)
        self.assertEqual(record.told[-1], "open")
        first = stage.socket
        stage.clock.advance(10)
        self.assertTrue(first.closed)
        self.assertEqual(record.told[-1], "reconnecting")

    def test_a_socket_that_never_begins_is_given_up(self) -> None:
        stage = Stage(StreamOptions(answer=10))
        record = stage.listen("instruments")
        stage.clock.advance(10)
        self.assertTrue(stage.dialer.sockets[0].closed)
        stage.clock.advance(1)
        self.assertEqual(len(stage.dialer.sockets), 2)
        self.assertEqual(record.told, [], "what was never complete is still connecting")

    def test_what_the_service_complained_of_counts_as_its_reason(self) -> None:
        stage = Stage(StreamOptions(base=1, cap=30))
        stage.listen("instruments")
        stage.socket.connected()
        stage.socket.tell(type="error", code="MESSAGE_RATE_LIMIT", message="too fast")
        stage.socket.end()
        stage.clock.advance(15)
        self.assertEqual(len(stage.dialer.sockets), 1)
        stage.clock.advance(1)
        self.assertEqual(len(stage.dialer.sockets), 2)

    def test_noise_gives_the_socket_up(self) -> None:
        for noise in ("{", "[]", "1", b"{}"):
            stage = Stage()
            stage.listen("instruments")
            stage.socket.connected()
            first = stage.socket
            first.noise(noise)
            self.assertTrue(first.closed, noise)
            stage.clock.advance(1)
            self.assertEqual(len(stage.dialer.sockets), 2)
            first.noise('{"type": "connected"}')
            self.assertEqual(stage.socket.said, [], "what an old socket says counts no more")

    def test_messages_leave_at_the_pace_of_the_service(self) -> None:
        stage = Stage(StreamOptions(messages_per_second=10, message_burst=3))
        for number in range(6):
            stage.listen("trades", tradingPairId=f"{PAIR[:-1]}{number}")
        stage.socket.connected()
        self.assertEqual(len(stage.socket.said), 3)
        stage.clock.advance(0.1)
        self.assertEqual(len(stage.socket.said), 4)
        stage.clock.advance(0.2)
        self.assertEqual(len(stage.socket.said), 6)


class Subscriptions(unittest.TestCase):
    def test_a_book_chains_by_its_sequences_and_a_gap_asks_for_a_snapshot(self) -> None:
        stage = Stage()
        record = stage.listen("orderbook", tradingPairId=PAIR)
        stage.socket.connected()

        def frame(kind: str, sequence: int, previous: Any = None) -> None:
            data = {"tradingPairId": PAIR, "bids": [], "asks": [], "n": sequence, "previousSequence": previous}
            stage.socket.tell(channel="orderbook", type=kind, sequence=sequence, data=data)

        stage.socket.confirm()
        frame("orderbook_update", 4, 3)
        frame("snapshot", 5)
        frame("orderbook_update", 7, 5)
        frame("orderbook_update", 9, 8)
        frame("orderbook_update", 10, 9)
        heard = [each["n"] for each in record.told if isinstance(each, dict)]
        self.assertEqual(heard, [5, 7], "nothing before the snapshot, nothing behind the gap")
        self.assertEqual(record.told[-1], "reconnecting")
        stage.clock.advance(0.25)
        self.assertEqual(len(stage.socket.asked("subscribe")), 2)
        stage.socket.confirm()
        frame("snapshot", 11)
        self.assertEqual([record.told[-2], record.told[-1]["n"]], ["open", 11])

    def test_a_sequence_that_does_not_grow_is_a_gap_and_nothing_counts_before_a_snapshot(self) -> None:
        stage = Stage()
        record = stage.listen("orderbook", tradingPairId=PAIR)
        stage.socket.connected()

        def frame(kind: str, sequence: int, previous: Any = None) -> None:
            data = {"tradingPairId": PAIR, "bids": [], "asks": [], "n": sequence, "previousSequence": previous}
            stage.socket.tell(channel="orderbook", type=kind, sequence=sequence, data=data)

        stage.socket.confirm()
        frame("snapshot", 5)
        frame("orderbook_update", 5, 5)
        self.assertEqual(record.told[-1], "reconnecting")
        stage.clock.advance(1)
        stage.socket.confirm()
        frame("orderbook_update", 6, 5)
        self.assertEqual(record.told[-1], "open", "it would go on from the snapshot before")

    def test_balances_count_by_their_versions(self) -> None:
        stage = Stage(key=SessionKey())
        record = stage.listen("balances")
        stage.socket.connected()
        stage.socket.tell(type="authenticated", expiresAt=1)
        stage.socket.confirm()

        def row(version: int) -> Dict[str, Any]:
            return {"assetId": "a", "version": version}

        stage.socket.tell(channel="balances", type="balance_update", data=row(9))
        stage.socket.tell(channel="balances", type="snapshot", data={"balances": [row(3)]})
        for version in (3, 2, 4, 4, 3, 6):
            stage.socket.tell(channel="balances", type="balance_update", data=row(version))
        heard = [each.get("version") for each in record.told if isinstance(each, dict)]
        self.assertEqual(heard, [None, 4, 6])

    def test_a_snapshot_of_orders_comes_as_one_and_what_it_has_is_not_told_again(self) -> None:
        for has_sequence in (True, False):
            stage = Stage(key=SessionKey())
            record = stage.listen("orders")
            stage.socket.connected()
            stage.socket.tell(type="authenticated", expiresAt=1)
            stage.socket.confirm()

            def tell(kind: str, sequence: int, **data: Any) -> None:
                number = {"commandSequence": sequence} if has_sequence else {}
                stage.socket.tell(channel="orders", type=kind, data={**data, **number})

            tell("snapshot", 7, orders=[{"orderId": "a"}], more=True)
            self.assertEqual(record.told, ["open"])
            tell("snapshot", 7, orders=[{"orderId": "b"}], more=False)
            if has_sequence:
                tell("order_update", 7, orderId="told already")
            tell("order_update", 8, orderId="c")
            self.assertEqual([each["orderId"] for each in record.told[1]["orders"]], ["a", "b"])
            self.assertEqual([each["orderId"] for each in record.told[2:]], ["c"])
            tell("snapshot", 9, orders=[{"orderId": "a"}], more=True)
            tell("order_update", 10, orderId="d")
            self.assertEqual(record.told[3:], ["reconnecting"], "an event within a snapshot is a gap")

    def test_listeners_of_one_subscription_share_it(self) -> None:
        stage = Stage()
        one = stage.listen("instruments")
        stage.socket.connected()
        stage.socket.confirm()
        two = stage.listen("instruments")
        stage.socket.confirm()
        stage.socket.tell(channel="instruments", type="snapshot", data={"instruments": []})
        self.assertEqual([len(stage.dialer.sockets), one.told], [1, ["open", {"instruments": []}]])
        self.assertEqual(two.told, one.told)

    def test_frames_are_told_to_those_whose_parameters_they_have(self) -> None:
        stage = Stage(key=SessionKey())
        everything, one = stage.listen("orders"), stage.listen("orders", tradingPairId=PAIR)
        stage.socket.connected()
        stage.socket.tell(type="authenticated", expiresAt=1)
        stage.socket.confirm()
        stage.socket.tell(channel="orders", type="snapshot", data={"orders": [], "more": False})
        stage.socket.tell(channel="orders", type="snapshot", data={"tradingPairId": PAIR, "orders": [], "more": False})
        stage.socket.tell(channel="orders", type="order_update", data={"tradingPairId": OTHER, "orderId": "a"})
        stage.socket.tell(channel="orders", type="order_update", data={"tradingPairId": PAIR, "orderId": "b"})
        self.assertEqual([each.get("orderId") for each in everything.told[1:]], [None, "a", "b"])
        self.assertEqual([each.get("orderId") for each in one.told[1:]], [None, "b"])
        candles = [stage.listen("ohlcv", tradingPairId=PAIR, interval=interval) for interval in ("1m", "1h")]
        stage.socket.confirm()
        data = {"tradingPairId": PAIR, "interval": "1h", "candles": []}
        stage.socket.tell(channel="ohlcv", type="ohlcv_update", data=data)
        self.assertEqual([len(each.told) for each in candles], [1, 2])

    def test_of_two_spellings_of_a_subscription_one_may_be_given_up(self) -> None:
        stage = Stage()
        first, second = Record(), Record()
        listener = stage.streams.subscribe("trades", {"tradingPairId": "AB"}, first)
        stage.streams.subscribe("trades", {"tradingPairId": "ab"}, second)
        stage.socket.connected()
        for message in stage.socket.asked("subscribe"):
            stage.socket.tell(type="subscribed", id=message["id"], channel="trades", params={"tradingPairId": "ab"})
        stage.streams.leave(listener)
        left = stage.socket.asked("unsubscribe")[0]
        stage.socket.tell(type="unsubscribed", id=left["id"], channel="trades", params={"tradingPairId": "ab"})
        self.assertEqual(len(stage.socket.asked("subscribe")), 3, "the other one is asked for again")

    def test_a_pair_by_its_symbol_gets_the_frames_of_its_id(self) -> None:
        stage = Stage()
        ids = {"BTC/USDC": PAIR, "eth/usdc": OTHER, PAIR: PAIR}
        records = {name: Record() for name in ids}
        listeners = {
            name: stage.streams.subscribe("trades", {"tradingPairId": name}, record) for name, record in records.items()
        }
        stage.socket.connected()
        asked = stage.socket.asked("subscribe")
        self.assertEqual([each["params"]["tradingPairId"] for each in asked], list(ids))
        # In another order than asked: the id of the request says which subscription stands.
        for each in reversed(asked):
            written = {"tradingPairId": ids[each["params"]["tradingPairId"]]}
            stage.socket.tell(type="subscribed", id=each["id"], channel="trades", params=written)
        frames = {}
        for pair in (PAIR, OTHER):
            trades = [{"id": f"of {pair}", "tradingPairId": pair}]
            frames[pair] = [{"tradingPairId": pair, "trades": []}, {"tradingPairId": pair, "trades": trades}]
            stage.socket.tell(channel="trades", type="snapshot", sequence=1, data=frames[pair][0])
            stage.socket.tell(channel="trades", type="trades_update", sequence=2, data=frames[pair][1])
        for name, pair in ids.items():
            self.assertEqual(records[name].told, ["open", *frames[pair]], name)
        stage.streams.leave(listeners["BTC/USDC"])
        left = stage.socket.asked("unsubscribe")[0]
        self.assertEqual(left["params"], {"tradingPairId": "BTC/USDC"})
        stage.socket.tell(type="unsubscribed", id=left["id"], channel="trades", params={"tradingPairId": PAIR})
        again = stage.socket.asked("subscribe")[3:]
        self.assertEqual([each["params"]["tradingPairId"] for each in again], [PAIR], "and not the other pair")

    def test_what_the_service_ends_has_ended(self) -> None:
        stage = Stage()
        record = stage.listen("trades", tradingPairId=PAIR)
        stage.socket.connected()
        stage.socket.confirm()
        stage.socket.tell(type="unsubscribed", channel="trades", params={"tradingPairId": PAIR})
        self.assertEqual(record.told[1:], ["SUBSCRIPTION_LIMIT", "closed", "ended"])
        self.assertEqual(stage.streams._routes, {}, "nothing is kept of it")

    def test_a_refused_subscription_ends_and_a_missing_snapshot_is_asked_for_again(self) -> None:
        stage = Stage()
        record = stage.listen("trades", tradingPairId="nothing")
        other = stage.listen("instruments")
        stage.socket.connected()
        first, second = stage.socket.asked("subscribe")
        stage.socket.tell(type="error", id=first["id"], code="INVALID_SUBSCRIPTION", message="no")
        self.assertEqual(record.told, ["INVALID_SUBSCRIPTION", "closed", "ended"])
        stage.socket.confirm()
        late = {"code": "SNAPSHOT_UNAVAILABLE", "message": "later", "channel": "instruments"}
        stage.socket.tell(type="error", id=second["id"], **late)
        stage.clock.advance(0.25)
        self.assertEqual(len([each for each in stage.socket.asked("subscribe") if each["channel"] == "instruments"]), 2)
        self.assertEqual(other.told, ["open", "reconnecting"])

    def test_more_subscriptions_than_the_service_takes_are_refused_here(self) -> None:
        stage = Stage(StreamOptions(subscriptions=1))
        stage.listen("instruments")
        record = stage.listen("trades", tradingPairId=PAIR)
        stage.clock.advance(0)
        self.assertEqual(record.told, ["SUBSCRIPTION_LIMIT", "closed", "ended"])


class Sessions(unittest.TestCase):
    def test_private_channels_wait_for_the_session_of_the_socket(self) -> None:
        stage = Stage(key=SessionKey())
        stage.listen("orders")
        stage.listen("instruments")
        stage.socket.connected()
        self.assertEqual([each.get("channel", each["type"]) for each in stage.socket.said], ["auth", "instruments"])
        stage.socket.tell(type="authenticated", expiresAt=1)
        self.assertEqual(stage.socket.said[2]["channel"], "orders")

    def test_without_a_session_private_channels_are_refused_until_the_sign_in(self) -> None:
        stage = Stage()
        record = stage.listen("orders")
        stage.clock.advance(0)
        self.assertEqual(record.told, ["AUTH_REQUIRED", "closed"])
        stage.account.key = SessionKey()
        stage.socket.connected()
        stage.streams.signed_in()
        stage.socket.tell(type="authenticated", expiresAt=1)
        stage.socket.confirm()
        self.assertEqual(record.told[2:], ["connecting", "open"])

    def test_a_session_that_is_over_stops_private_channels_only(self) -> None:
        stage = Stage(key=SessionKey())
        private, public = stage.listen("orders"), stage.listen("instruments")
        stage.socket.connected()
        stage.socket.tell(type="authenticated", expiresAt=1)
        stage.socket.confirm()
        stage.socket.tell(type="error", code="SESSION_INVALID", message="over")
        self.assertEqual(stage.ended, ["SESSION_INVALID"])
        self.assertEqual([private.told[-2:], public.told[-1]], [["SESSION_INVALID", "closed"], "reconnecting"])
        stage.clock.advance(1)
        stage.socket.connected()
        stage.socket.confirm()
        self.assertEqual([each["type"] for each in stage.socket.said], ["subscribe"])
        self.assertEqual(public.told[-1], "open")
        stage.streams.signed_in()
        stage.socket.tell(type="authenticated", expiresAt=1)
        stage.socket.confirm()
        self.assertEqual(private.told[-2:], ["connecting", "open"])

    def test_while_the_session_is_over_private_channels_are_refused_at_once(self) -> None:
        stage = Stage(key=SessionKey())
        stage.listen("orders")
        stage.socket.connected()
        stage.socket.tell(type="authenticated", expiresAt=1)
        stage.socket.tell(type="error", code="SESSION_INVALID", message="over")
        refused = stage.listen("balances")
        stage.clock.advance(1)
        self.assertEqual(refused.told, ["SESSION_INVALID", "closed"])
        stage.socket.connected()
        stage.streams.signed_in()
        positions = stage.listen("positions")
        stage.socket.tell(type="authenticated", expiresAt=1)
        stage.socket.confirm()
        self.assertEqual([refused.told[-1], positions.told], ["open", ["open"]])

    def test_another_session_comes_with_another_socket(self) -> None:
        stage = Stage(key=SessionKey())
        stage.listen("orders")
        stage.socket.connected()
        stage.socket.tell(type="authenticated", expiresAt=1)
        stage.streams.signed_in()
        self.assertEqual(len(stage.dialer.sockets), 2)


class Readers(unittest.TestCase):
    def test_frames_that_nobody_reads_are_dropped_as_a_whole_and_a_snapshot_follows(self) -> None:
        renewed: List[int] = []
        inbox = Inbox(2, lambda: renewed.append(1), lambda: None)
        for number in range(4):
            inbox.hear({"type": "snapshot" if number == 0 else "update", "n": number})
        lost: Any = inbox.take()
        self.assertEqual([renewed, lost.code, inbox.take()], [[1], "UPDATES_LOST", None])
        inbox.hear({"type": "update", "n": 4})
        inbox.hear({"type": "snapshot", "n": 5})
        inbox.hear({"type": "update", "n": 6})
        self.assertEqual([inbox.take(), inbox.take()], [{"type": "snapshot", "n": 5}, {"type": "update", "n": 6}])
        inbox.ended()
        self.assertEqual([inbox.take(), inbox.take(), inbox.overflows], [END, END, 1])

    def test_two_readers_of_one_channel_see_500_orders_end(self) -> None:
        stage = Stage(key=SessionKey())
        readers = [Inbox(10_000, lambda: None, lambda: None) for _ in range(2)]
        for reader in readers:
            stage.streams.subscribe("orders", {}, reader)
        stage.socket.connected()
        stage.socket.tell(type="authenticated", expiresAt=1)
        stage.socket.confirm()
        self.assertEqual(len(stage.socket.asked("subscribe")), 1)
        stage.socket.tell(type="snapshot", channel="orders", data={"orders": [], "commandSequence": 1, "more": False})
        wanted = [f"o{number}" for number in range(500)]
        for number, order in enumerate(wanted):
            data = {"orderId": order, "status": "FILLED", "commandSequence": number + 2}
            stage.socket.tell(type="order_update", channel="orders", data=data)
        for reader in readers:
            seen: List[str] = []
            item = reader.take()
            while item is not None:
                seen += [item["data"]["orderId"]] if item["type"] != "snapshot" else []
                item = reader.take()
            self.assertEqual(seen, wanted)


if __name__ == "__main__":
    unittest.main()
