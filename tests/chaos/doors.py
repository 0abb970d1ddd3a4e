"""`tempinboxctl events compare-doors` in a chaos run: whether Kafka, a webhook, the feed and the
API's list of emails show the same events of an account.
"""

import contextlib
import json
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dev.ports import free_port
from dev.suite import Suite

_SHOWN_IDS = 3
_SHOWN_BYTES = 1_000
# From the last moment at which it may look to its end.
_END_SECONDS = 30.0


@dataclass(frozen=True)
class Followed:
    """An account whose doors are compared, by a gateway and a key."""

    account_id: str
    gateway: str
    key: str


@dataclass(frozen=True)
class Comparison:
    """One comparison under way."""

    name: str
    process: subprocess.Popen[str]
    log: Path
    ends_at: float  # at the latest

    def has_ended(self) -> bool:
        """Returns whether it has looked."""
        return self.process.poll() is not None

    def violations(self) -> Iterator[str]:
        """Returns what it found, once it has ended."""
        try:
            printed, _ = self.process.communicate(timeout=max(1.0, self.ends_at - time.monotonic()))
        except subprocess.TimeoutExpired:
            yield f"{self.name}: did not end in time"
            return
        self.log.with_suffix(".json").write_text(printed, encoding="utf-8")
        log = self.log.read_text(encoding="utf-8", errors="replace")[-_SHOWN_BYTES:]
        yield from check(self.name, printed, log)


@contextlib.contextmanager
def comparing(
    suite: Suite, accounts: Iterable[Followed], times: tuple[int, int], name: str
) -> Iterator[list[Comparison]]:
    """Comparisons of what happens in the next seconds, one of each account; ends them. `times` are
    these seconds, and those that the last events may take.
    """
    started: list[Comparison] = []
    try:
        for number, account in enumerate(accounts):
            log = suite.logs / f"doors-{name}-{number}.log"
            started.append(_start(suite, account, times, log))
        yield started
    finally:
        for comparison in started:
            comparison.process.kill()
            comparison.process.wait()


def _start(suite: Suite, account: Followed, times: tuple[int, int], log: Path) -> Comparison:
    seconds, settling = times
    arguments = ["events", "compare-doors", "--api", f"http://{account.gateway}"]
    arguments += ["--receiver", f"127.0.0.1:{free_port()}", "--seconds", str(seconds)]
    arguments += ["--settle", str(settling), "--output", "json"]
    command, environment = suite.operator_command(arguments)
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            env=environment | {"TEMPINBOX_API_KEY": account.key},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    ends_at = time.monotonic() + seconds + settling + _END_SECONDS
    return Comparison(f"doors of account {account.account_id}", process, log, ends_at)


def check(name: str, printed: str, log: str = "") -> Iterator[str]:
    """What a comparison printed: a door that lacks an event, or has it twice. One that saw nothing
    proves nothing.
    """
    try:
        doors = json.loads(printed)["doors"]
    except (ValueError, KeyError):
        yield f"{name}: not compared: {log.strip() or printed.strip()}"
        return
    for door in doors:
        if door["good"]:
            if not door["events"]:
                yield f"{name}: {door['door']} had no event"
            continue
        shown = ", ".join(door["missingIds"][:_SHOWN_IDS])
        lacking = f"lacks {door['missing']} events, such as {shown}" if door["missing"] else ""
        twice = f"has {door['repeated']} events more than once" if door["repeated"] else ""
        yield f"{name}: {door['door']} {' and '.join(filter(None, (lacking, twice)))}"
