"""Tests what `./dev chaos events` counts as a violation, and when its brokers are in sync."""

import contextlib
import json
import sqlite3
import tempfile
import threading
import unittest
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest import mock

from chaos import doors
from chaos.brokers import out_of_sync
from chaos.event_truth import Event, Rows, StateTable, as_rows, check_consumer, check_table
from chaos.events import check_course
from chaos.feed_readers import Reader, Readers, frames
from dev import example_consumers
from dev.example_consumers import ExampleConsumer

_TRUTH = {
    "1": Event("inbox.created", "a"),
    "2": Event("email.received", "a"),
    "3": Event("email.received", "a"),
    "4": Event("inbox.created", "b"),
    "5": Event("inbox.expired", "b"),
}
_KILLED = Counter(
    f"{name} SIGKILL"
    for name in (
        "kafka-3",
        "postgres",
        "mail-ingest-2",
        "inbox-1",
        "gateway-1",
        "webhook-dispatcher-1",
        "rate-limit-1",
        "python",
        "java",
        "go",
    )
) + Counter({"kafka-1 SIGTERM": 1, "leaders ELECTED": 12})
_LISTING: dict[str, Any] = {
    "originating_broker": {"id": 2, "name": "127.0.0.1:9092/2"},
    "topics": [
        {
            "topic": "email.received",
            "partitions": [
                {"partition": 0, "isrs": [{"id": 1}, {"id": 2}, {"id": 3}]},
                {"partition": 1, "isrs": [{"id": 1}, {"id": 3}]},
            ],
        }
    ],
}


class Consumers(unittest.TestCase):
    """Compares what a consumer stored, in the tables of examples/consumers, with what SQL holds."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        with mock.patch.object(example_consumers, "build"):
            self.consumer = ExampleConsumer("nowhere", "go", "group", Path(folder.name))
        self._change(
            "CREATE TABLE events (id TEXT PRIMARY KEY, type TEXT NOT NULL)",
            "CREATE TABLE inboxes (id TEXT PRIMARY KEY, events INTEGER NOT NULL)",
            "INSERT INTO events VALUES ('1', 'inbox.created'), ('2', 'email.received'), "
            "('3', 'email.received'), ('4', 'inbox.created'), ('5', 'inbox.expired')",
            "INSERT INTO inboxes VALUES ('a', 3), ('b', 2)",
        )

    def _change(self, *statements: str) -> None:
        database = sqlite3.connect(self.consumer._database)
        with contextlib.closing(database), database:
            for statement in statements:
                database.execute(statement)

    def _violations(self) -> list[str]:
        return list(check_consumer("go", _TRUTH, self.consumer.types(), self.consumer.counts()))

    def test_all_events_once_are_fine(self) -> None:
        self.assertEqual(self._violations(), [])

    def test_an_event_whose_offset_was_committed_before_its_work(self) -> None:
        self._change(
            "DELETE FROM events WHERE id = '3'", "UPDATE inboxes SET events = 2 WHERE id = 'a'"
        )

        self.assertEqual(
            self._violations(), ["email.received 3: is in SQL, not seen by the consumer in go"]
        )

    def test_an_id_that_was_stored_without_its_work_or_lost_after_it(self) -> None:
        self._change("UPDATE inboxes SET events = 1 WHERE id = 'b'")
        self.assertEqual(
            self._violations(),
            ["inbox b: the consumer in go worked 1 times and has the ids of 2 events"],
        )

        self._change("UPDATE inboxes SET events = 2 WHERE id = 'b'", "DELETE FROM events")
        self.assertEqual(len(self._violations()), len(_TRUTH) + 2)

    def test_work_that_was_done_twice(self) -> None:
        self._change("UPDATE inboxes SET events = 4 WHERE id = 'a'")

        self.assertEqual(
            self._violations(),
            ["inbox a: the consumer in go worked 4 times and has the ids of 3 events"],
        )

    def test_an_event_that_never_happened_or_is_another(self) -> None:
        self._change(
            "INSERT INTO events VALUES ('9', 'inbox.expired')",
            "UPDATE events SET type = 'inbox.created' WHERE id = '5'",
        )

        self.assertEqual(
            self._violations(),
            [
                "inbox.expired 5: is inbox.created to the consumer in go",
                "inbox.expired 9: seen by the consumer in go, not in SQL",
            ],
        )

    def test_a_consumer_that_stored_nothing(self) -> None:
        self.consumer._database.unlink()

        self.assertEqual(len(self._violations()), len(_TRUTH))


def _inbox(**changed: Any) -> dict[str, Any]:
    kept: dict[str, Any] = {
        "inboxId": "a",
        "emailAddress": "a@inbox.example",
        "status": "expired",
        "createdAt": "2026-11-21T12:00:00.000Z",
        "expiresAt": "2026-11-22T12:00:00.000Z",
        "expiredAt": "2026-11-21T13:00:00.000Z",
        "tags": ["chaos"],
    }
    return kept | changed


def _read(*inboxes: dict[str, Any], overtaken: Iterable[str] = ()) -> StateTable:
    return StateTable(as_rows("account", inboxes), list(overtaken), records=9, written=9)


def _listed(*inboxes: dict[str, Any]) -> Rows:
    return as_rows("account", inboxes)


class Table(unittest.TestCase):
    """Compares the table of inbox.state with the API's list."""

    def test_the_same_inboxes_are_fine(self) -> None:
        both = [_inbox(), _inbox(inboxId="b")]

        self.assertEqual(list(check_table(_read(*both), _listed(*both))), [])
        self.assertNotIn("tags", _listed(*both)["a"])

    def test_an_inbox_that_only_one_has(self) -> None:
        self.assertEqual(
            list(check_table(_read(_inbox()), _listed(_inbox(inboxId="b")))),
            [
                "inbox a: is in inbox.state, not listed",
                "inbox b: is listed, not in inbox.state",
            ],
        )

    def test_each_field_that_differs(self) -> None:
        for changed in (
            {"emailAddress": "b@inbox.example"},
            {"status": "active"},
            {"createdAt": "2026-11-21T12:00:00.001Z"},
            {"expiresAt": "2026-11-22T12:00:00.001Z"},
            {"expiredAt": None},
        ):
            with self.subTest(changed):
                self.assertEqual(
                    len(list(check_table(_read(_inbox()), _listed(_inbox(**changed))))), 1
                )
        self.assertEqual(len(list(check_table(_read(_inbox()), as_rows("another", [_inbox()])))), 1)

    def test_an_inbox_whose_last_record_is_out_of_date(self) -> None:
        self.assertEqual(
            list(check_table(_read(_inbox(), overtaken=["a"]), _listed(_inbox()))),
            ["inbox a: its newest state is not its last record in inbox.state"],
        )


class Brokers(unittest.TestCase):
    """Reads what a broker says of the partitions."""

    def test_a_partition_with_too_few_copies_is_named(self) -> None:
        self.assertEqual(out_of_sync(_LISTING, 2, copies=3), ["email.received/1"])
        self.assertEqual(out_of_sync(_LISTING, 2, copies=2), [])

    def test_only_the_broker_itself_can_say(self) -> None:
        for listing in (None, _LISTING):
            with self.subTest(listing):
                self.assertEqual(out_of_sync(listing, 1, copies=2), ["kafka-1 does not answer"])


class Course(unittest.TestCase):
    """A run proves something only where everything was killed and everything happened."""

    def test_all_of_them_are_fine(self) -> None:
        self.assertEqual(
            check_course(_KILLED, Counter(event.type for event in _TRUTH.values())), []
        )

    def test_what_lived_or_did_not_happen_is_named(self) -> None:
        counts = _KILLED - Counter(["kafka-3 SIGKILL", "java SIGKILL"])
        events = Counter({"email.received": 1, "inbox.created": 1})

        self.assertEqual(
            check_course(counts, events),
            ["no kafka was killed", "no java was killed", "no event inbox.expired"],
        )

    def test_brokers_that_were_not_restarted_and_leaders_that_were_not_elected_are_named(
        self,
    ) -> None:
        counts = _KILLED - Counter({"kafka-1 SIGTERM": 1, "leaders ELECTED": 12})

        self.assertEqual(
            check_course(counts, Counter(event.type for event in _TRUTH.values())),
            ["no kafka was restarted", "no leader was elected"],
        )

    def test_rounds_of_restarts_kill_neither_consumers_nor_brokers(self) -> None:
        counts = Counter(
            f"{name}-1 SIGKILL" for name in ("gateway", "inbox", "mail-ingest")
        ) + Counter({"kafka-1 SIGTERM": 3, "leaders ELECTED": 12})

        self.assertEqual(
            check_course(counts, Counter(event.type for event in _TRUTH.values()), rounds=1), []
        )


def _reader(*seen: str, account: str = "account", **more: Any) -> Reader:
    reader = Reader(account, ["gateway"], "key", "0", 1, list(seen), breaks=1)
    for name, value in more.items():
        setattr(reader, name, value)
    return reader


def _door(name: str, **more: Any) -> dict[str, Any]:
    good = {"good": True, "events": 7, "repeated": 0, "missing": 0, "missingIds": []}
    return {"door": name} | good | more


class Doors(unittest.TestCase):
    """Reads what a comparison of doors printed."""

    def _violations(self, *shown: dict[str, Any]) -> list[str]:
        return list(doors.check("account", json.dumps({"doors": shown})))

    def test_doors_that_agree_are_fine(self) -> None:
        self.assertEqual(self._violations(_door("topics", repeated=2), _door("feed")), [])

    def test_a_door_that_lacks_or_repeats_an_event_is_named(self) -> None:
        lacking = _door("feed", good=False, missing=4, missingIds=["1", "2", "3", "4"])
        repeating = _door("emails", good=False, repeated=2)

        self.assertEqual(
            self._violations(lacking, repeating),
            [
                "account: feed lacks 4 events, such as 1, 2, 3",
                "account: emails has 2 events more than once",
            ],
        )

    def test_doors_that_saw_nothing_prove_nothing(self) -> None:
        self.assertEqual(self._violations(_door("feed", events=0)), ["account: feed had no event"])

    def test_a_comparison_that_failed_is_named(self) -> None:
        self.assertEqual(
            list(doors.check("account", "", "Kafka does not answer\n")),
            ["account: not compared: Kafka does not answer"],
        )


class FeedReaders(unittest.TestCase):
    """Compares what readers of a feed saw with what SQL holds, and lets them break off."""

    def _violations(self, *readers: Reader) -> list[str]:
        return list(Readers(list(readers)).violations({"account": {"1", "2", "3"}}))

    def test_each_event_once_in_one_order_is_fine(self) -> None:
        self.assertEqual(self._violations(_reader("2", "1", "3"), _reader("2", "1", "3")), [])

    def test_what_was_skipped_or_came_twice_or_never_happened_is_named(self) -> None:
        for seen, named in (
            (("1", "3"), "skipped: 1 events, such as 2"),
            (("1", "2", "2", "3"), "got twice: 1 events, such as 2"),
            (("1", "2", "3", "9"), "got what is not in SQL: 1 events, such as 9"),
        ):
            with self.subTest(named):
                self.assertEqual(
                    self._violations(_reader(*seen)), [f"reader 0 of account account: {named}"]
                )

    def test_another_order_is_named(self) -> None:
        [violation] = self._violations(_reader("1", "2", "3"), _reader("1", "3", "2"))

        self.assertIn("reader 1", violation)
        self.assertIn("another order", violation)

    def test_a_place_that_was_refused_is_named(self) -> None:
        violations = self._violations(_reader("1", lost="GET /v1/events was answered 410: gone"))

        self.assertIn("answered 410", violations[0])
        self.assertEqual(len(violations), 2)

    def test_readers_that_never_broke_off_prove_nothing(self) -> None:
        self.assertEqual(
            self._violations(_reader("1", "2", "3", breaks=0)), ["no reader broke off"]
        )

    def test_one_that_breaks_off_goes_on_behind_what_it_kept(self) -> None:
        """The service has a hundred events, and fails now and then."""
        over = threading.Event()
        answers = iter(range(1_000))

        def get(_gateway: str, _key: str, query: dict[str, Any]) -> tuple[int, bytes]:
            if next(answers) % 7 == 3:
                return 503, b""
            after, end = int(query["after"]), min(100, int(query["after"]) + query["limit"])
            if after == 100:
                over.set()
            events = [{"eventId": f"e{at}", "cursor": str(at)} for at in range(after + 1, end + 1)]
            return 200, json.dumps({"events": events, "nextCursor": str(end)}).encode()

        reader = Reader("account", ["gateway"], "key", "0", 1)
        with (
            mock.patch("chaos.feed_readers._get", get),
            mock.patch("chaos.feed_readers._RETRY_SECONDS", 0.0),
            mock.patch("chaos.feed_readers._MAX_LIMIT", 10),
        ):
            reader.run(over)

        self.assertEqual(reader.seen, [f"e{at}" for at in range(1, 101)])
        self.assertGreater(reader.breaks, 0)
        self.assertEqual(reader.lost, "")

    def test_one_whose_place_is_refused_ends(self) -> None:
        reader = Reader("account", ["gateway"], "key", "0", 1)
        with mock.patch("chaos.feed_readers._get", return_value=(410, b"gone")):
            reader.run(threading.Event())

        self.assertIn("410", reader.lost)

    def test_half_a_frame_is_none(self) -> None:
        whole = b": alive\nid: 5\n\nid: 6\nevent: x\n\n"
        lines = (whole + b"id: 7\nid").splitlines(keepends=True)

        self.assertEqual(list(frames(lines)), [{"": "alive", "id": "5"}, {"id": "6", "event": "x"}])


if __name__ == "__main__":
    unittest.main()
