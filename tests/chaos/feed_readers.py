"""Readers of accounts' feeds in a chaos run, which break off in the middle of pages and streams and
go on with the cursor that they kept; then what each has seen is compared with what happened.
"""

import contextlib
import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from dev.terminal import fail
from dev.waiting import wait_until

_ANSWER_SECONDS = 20.0
_BEGIN_SECONDS = 60.0
_RETRY_SECONDS = 0.3  # after what failed
_BREAKS = 0.25  # of the pages
_STREAMS = 4  # each fourth reader is a stream
_MAX_LIMIT, _MAX_WAIT_SECONDS = 60, 5
_MAX_STREAM_EVENTS = 100  # until it hangs up
_SHOWN_IDS = 3


class _Lost(Exception):
    """The service refused a cursor that it had given."""


def begin(gateway: str, key: str) -> str:
    """Switches the account's feed on; the place behind all that was before."""
    found: dict[str, Any] = {}

    def is_answered() -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, content = _get(gateway, key, {})
            if status == 200:
                found.update(json.loads(content))
        return bool(found)

    try:
        wait_until(is_answered, time.monotonic() + _BEGIN_SECONDS, "a feed begins", every=0.2)
    except TimeoutError:
        fail("GET /v1/events was not answered in time")
    return str(found["nextCursor"])


def _get(gateway: str, key: str, query: dict[str, Any]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(gateway, timeout=_ANSWER_SECONDS)
    with contextlib.closing(connection):
        connection.request("GET", "/v1/events?" + urlencode(query), headers={"X-API-Key": key})
        answer = connection.getresponse()
        return answer.status, answer.read()


@dataclass
class Reader:
    """One reader: what it has seen, in its order, and the place behind that."""

    account_id: str
    gateways: list[str]
    key: str
    cursor: str
    seed: int
    seen: list[str] = field(default_factory=list)
    breaks: int = 0
    lost: str = ""  # how the service refused its cursor

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311 - the same breaks for the same seed

    def run(self, over: threading.Event) -> None:
        """Until it is over, or its place is lost."""
        is_stream = self.seed % _STREAMS == 0
        while not over.is_set():
            try:
                if is_stream:
                    self._read_stream(over)
                else:
                    self._read_page()
            except _Lost as error:
                self.lost = str(error)
                return
            except (OSError, http.client.HTTPException, ValueError):
                # Cut, or half an answer: nothing of it counts.
                over.wait(_RETRY_SECONDS)

    def _read_page(self) -> None:
        query = {
            "after": self.cursor,
            "limit": self._random.randint(1, _MAX_LIMIT),
            "waitSeconds": self._random.randint(0, _MAX_WAIT_SECONDS),
        }
        status, content = _get(self._random.choice(self.gateways), self.key, query)
        self._check(status, content)
        page = json.loads(content)
        events = [(event["eventId"], event["cursor"]) for event in page["events"]]
        if events and self._random.random() < _BREAKS:
            # After some of them, or before the first.
            self.breaks += 1
            self._take(events[: self._random.randrange(len(events))])
        else:
            self._take(events)
            self.cursor = page["nextCursor"]

    def _read_stream(self, over: threading.Event) -> None:
        gateway = self._random.choice(self.gateways)
        connection = http.client.HTTPConnection(gateway, timeout=_ANSWER_SECONDS)
        with contextlib.closing(connection):
            headers = {
                "X-API-Key": self.key,
                "Accept": "text/event-stream",
                "Last-Event-ID": self.cursor,
            }
            connection.request("GET", "/v1/events", headers=headers)
            answer = connection.getresponse()
            if answer.status != 200:
                self._check(answer.status, answer.read())
            left = self._random.randint(1, _MAX_STREAM_EVENTS)
            for frame in frames(answer):
                if frame.get("event") == "error":
                    raise _Lost(f"a stream ended with {frame['data']}")
                if "data" in frame:
                    self._take([(json.loads(frame["data"])["eventId"], frame["id"])])
                    left -= 1
                elif "id" in frame:
                    self.cursor = frame["id"]
                if left == 0 or over.is_set():
                    self.breaks += 1
                    return

    def _take(self, events: Iterable[tuple[str, str]]) -> None:
        for event_id, cursor in events:
            self.seen.append(event_id)
            self.cursor = cursor

    @staticmethod
    def _check(status: int, content: bytes) -> None:
        """Busy, or starting: again. What else is refused is refused for good."""
        if status == 200:
            return
        if status == 429 or status >= 500:
            raise http.client.HTTPException(str(status))
        raise _Lost(f"GET /v1/events was answered {status}: {content.decode(errors='replace')}")


def frames(lines: Iterable[bytes]) -> Iterator[dict[str, str]]:
    """The whole frames of a stream of server-sent events; what is cut in a frame counts as nothing
    of it. A comment is the field of an empty name.
    """
    frame: dict[str, str] = {}
    for line in lines:
        if not line.endswith(b"\n"):
            return
        if text := line.decode().rstrip("\r\n"):
            name, _, value = text.partition(": ")
            frame[name] = value
        elif frame:
            yield frame
            frame = {}


class Readers:
    """All of a run. They read from `start` to `stop`, also while everything settles."""

    def __init__(self, readers: list[Reader]) -> None:
        self.readers = readers
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=reader.run, args=(self._over,), daemon=True)
            for reader in readers
        ]

    def start(self) -> None:
        """Begins to read."""
        for thread in self._threads:
            thread.start()

    def have(self, expected: dict[str, Set[str]]) -> bool:
        """Whether each has all events of its account, or will never have them."""
        return all(
            reader.lost or expected[reader.account_id] <= set(reader.seen)
            for reader in self.readers
        )

    def stop(self) -> None:
        """Ends them; what they have seen stays as it is."""
        self._over.set()
        for thread in self._threads:
            thread.join(_ANSWER_SECONDS + _MAX_WAIT_SECONDS)

    def violations(self, expected: dict[str, Set[str]]) -> Iterator[str]:
        """Each event of the account once in each reader, in one order, and nothing else."""
        first: dict[str, Reader] = {}
        for number, reader in enumerate(self.readers):
            name = f"reader {number} of account {reader.account_id}"
            yield from check_reader(name, reader, expected[reader.account_id])
            other = first.setdefault(reader.account_id, reader)
            # One that lost its place or an event is named above.
            both = min(len(reader.seen), len(other.seen))
            if reader.seen[:both] != other.seen[:both]:
                yield f"{name}: has the events in another order than another reader"
        if not any(reader.breaks for reader in self.readers):
            yield "no reader broke off"


def check_reader(name: str, reader: Reader, expected: Set[str]) -> Iterator[str]:
    """What one reader skipped, got twice, or got though it did not happen."""
    if reader.lost:
        yield f"{name}: {reader.lost}"
    times = Counter(reader.seen)
    found = {
        "skipped": sorted(expected - times.keys()),
        "got twice": sorted(event_id for event_id, count in times.items() if count > 1),
        "got what is not in SQL": sorted(times.keys() - expected),
    }
    for what, ids in found.items():
        if ids:
            yield f"{name}: {what}: {len(ids)} events, such as {', '.join(ids[:_SHOWN_IDS])}"
