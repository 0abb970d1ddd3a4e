"""Readers of a feed whose database goes back to a moment: one stands before the moment, one is past
it.
"""

import http.client
import json
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass
from urllib.parse import urlencode

from chaos import feed_readers

_LIMIT = 500
_ANSWER_SECONDS = 30.0
_SHOWN_IDS = 3


@dataclass(frozen=True)
class Reader:
    """How far a reader is, and the events that it has had until there."""

    cursor: str
    known: frozenset[str] = frozenset()


@dataclass
class RestoredFeed:
    """The feed of an account, and its readers."""

    gateway: str
    key: str
    begin: Reader
    before: Reader  # the moment
    past: Reader

    @classmethod
    def of(cls, gateway: str, key: str) -> "RestoredFeed":
        """Switches it on."""
        begin = Reader(feed_readers.begin(gateway, key))
        return cls(gateway, key, begin, begin, begin)

    def read_on(self, reader: Reader) -> Reader:
        """The reader at the present end of the feed."""
        ids, cursor = self._follow(reader.cursor)
        return Reader(cursor, reader.known | set(ids))

    def violations(self, expected: Set[str]) -> Iterator[str]:
        """Who was past the moment is told so, and from where to go on; nobody misses an event."""
        status, headers, _ = self._read(self.past.cursor)
        code = headers.get("X-Error-Code", "")
        if code != "cursor_reset":
            yield f"feed: a reader past the moment is answered {status} {code}, not cursor_reset"
            return
        everything, _ = self._follow(self.begin.cursor)
        from_before, _ = self._follow(self.before.cursor)
        resumed, _ = self._follow(headers["X-Resume-After"])
        yield from check(everything, expected)
        yield from check_reader("before", self.before.known, from_before, everything, expected)
        yield from check_reader("past", self.past.known, resumed, everything, expected)

    def _follow(self, cursor: str) -> tuple[list[str], str]:
        """The events behind a place that is good, in their order, and the place behind them."""
        ids: list[str] = []
        while True:
            status, _, content = self._read(cursor)
            if status != 200:
                return ids, cursor
            page = json.loads(content)
            ids += [event["eventId"] for event in page["events"]]
            cursor = page["nextCursor"]
            if not page["hasMore"]:
                return ids, cursor

    def _read(self, cursor: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.gateway, timeout=_ANSWER_SECONDS)
        query = urlencode({"after": cursor, "limit": _LIMIT})
        connection.request("GET", f"/v1/events?{query}", headers={"X-API-Key": self.key})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, dict(answer.headers), content


def check(everything: list[str], expected: Set[str]) -> Iterator[str]:
    """The feed from its begin has each event once."""
    twice = [event_id for event_id, times in Counter(everything).items() if times > 1]
    yield from _ids("lacks", expected - set(everything))
    yield from _ids("has twice", set(twice))


def check_reader(
    who: str, known: Set[str], ids: list[str], everything: list[str], expected: Set[str]
) -> Iterator[str]:
    """It reads the end of the feed, as it is, and misses nothing."""
    if not ids:
        yield f"feed: a reader from {who} the moment got nothing"
    elif ids != everything[-len(ids) :]:
        yield f"feed: a reader from {who} the moment did not get the end of the feed"
    yield from _ids(f"a reader from {who} the moment misses", expected - known - set(ids))


def _ids(what: str, ids: Set[str]) -> Iterator[str]:
    if ids:
        yield f"feed: {what} {len(ids)} events, such as {', '.join(sorted(ids)[:_SHOWN_IDS])}"
