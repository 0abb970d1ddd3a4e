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


@dataclass
class RestoredFeed:
    """The feed of an account, and the places of its readers."""

    gateway: str
    key: str
    begin: str
    before: str = ""  # the moment
    past: str = ""

    @classmethod
    def of(cls, gateway: str, key: str) -> "RestoredFeed":
        """Switches it on."""
        return cls(gateway, key, feed_readers.begin(gateway, key))

    def latest(self) -> str:
        """The present place."""
        return feed_readers.begin(self.gateway, self.key)

    def follow(self, cursor: str) -> list[str]:
        """The events behind a place that is good, in their order."""
        ids: list[str] = []
        while True:
            status, _, content = self._read(cursor)
            if status != 200:
                return ids
            page = json.loads(content)
            ids += [event["eventId"] for event in page["events"]]
            cursor = page["nextCursor"]
            if not page["hasMore"]:
                return ids

    def violations(self, expected: Set[str]) -> Iterator[str]:
        """Who was past the moment is told so, and from where to go on; nobody misses an event."""
        status, headers, _ = self._read(self.past)
        code = headers.get("X-Error-Code", "")
        if code != "cursor_reset":
            yield f"feed: a reader past the moment is answered {status} {code}, not cursor_reset"
            return
        resumed = self.follow(headers["X-Resume-After"])
        yield from check(self.follow(self.begin), self.follow(self.before), resumed, expected)

    def _read(self, cursor: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.gateway, timeout=_ANSWER_SECONDS)
        query = urlencode({"after": cursor, "limit": _LIMIT})
        connection.request("GET", f"/v1/events?{query}", headers={"X-API-Key": self.key})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, dict(answer.headers), content


def check(
    everything: list[str], from_before: list[str], resumed: list[str], expected: Set[str]
) -> Iterator[str]:
    """The feed from its begin has each event once; the others read its end, as it is."""
    twice = [event_id for event_id, times in Counter(everything).items() if times > 1]
    for what, ids in (
        ("lacks", sorted(expected - set(everything))),
        ("has twice", sorted(twice)),
    ):
        if ids:
            yield f"feed: {what} {len(ids)} events, such as {', '.join(ids[:_SHOWN_IDS])}"
    for who, ids in (("before", from_before), ("past", resumed)):
        if not ids:
            yield f"feed: a reader from {who} the moment got nothing"
        elif ids != everything[-len(ids) :]:
            yield f"feed: a reader from {who} the moment did not get the end of the feed"
