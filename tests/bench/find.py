#!/usr/bin/env python3
"""Measures how long pages of searches over an account take, and whether they stay as short however
much mail it has.

Fills inboxes of a fresh account by SMTP, then asks one connection for every page of a search by
subject, which reads columns alone, and of one by text, which opens messages; neither finds any. The
first page by text is asked for again with other words, whose messages are then in memory. CPU is
that of all parts for one page. Then mail is awaited by subject and by text in turn, and another
account's lists are read beside ten searches at once. --strangers puts so many inboxes and emails of
other accounts beside it.

Usage: ./dev bench find [--emails 100000] [--strangers 0] [--waits 200] [--seconds 5]
"""

import argparse
import http.client
import json
import os
import smtplib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import api
from dev.waiting import delay_until
from measuring import figures, many_rows, plans, processes, smtp_source, targets, wrk
from measuring.percentiles import percentile
from wait import make_keys

EMAILS_AN_INBOX = 9_000
MAIL = smtp_source.Load(16, 2048, True)
REPEATS = 30
MAX_TEXTS, MAX_ROWS = 500, 2_000  # of a page
SEARCHES_AT_ONCE, LIST_CONNECTIONS = 10, 4
LISTED = 25
# Design targets, in ms and times.
MAX_COLUMNS_P50, MAX_TEXT_P50, MAX_TEXT_CPU, MAX_CACHED_CPU = 25.0, 150.0, 110.0, 20.0
MAX_TEXT_PAGES = 201  # at 100,000 emails
MAX_FIRST_PAGE, MAX_GROWTH, MAX_WAIT_RATIO, MAX_BESIDE = 500.0, 1.2, 1.2, 1.3


class Caller:
    """A kept connection to the API with an account's key."""

    def __init__(self, key: str) -> None:
        self._key = key
        netloc = urlsplit(os.environ["TEMPINBOX_API"]).netloc
        self._connection = http.client.HTTPConnection(netloc, timeout=70)

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Sends one request; returns its status and JSON."""
        headers = {"X-API-Key": self._key, "Content-Type": "application/json"}
        self._connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())

    def get(self, path: str, **query: Any) -> Any:
        """Returns the JSON of a GET that must succeed."""
        status, answer = self.send("GET", f"{path}?{urlencode(query)}" if query else path)
        if status != 200:
            raise SystemExit(f"GET {path} {query} answered {status}: {answer}")
        return answer

    def new_inbox(self, *tags: str) -> dict[str, Any]:
        """Returns a new inbox that lives for a day."""
        request = {"ttlSeconds": 86_400, "tags": list(tags)}
        status, inbox = self.send("POST", "/v1/inboxes", request)
        if status != 201:
            raise SystemExit(f"no inbox: {status} {inbox}")
        return dict(inbox)


@dataclass(frozen=True)
class Page:
    """A page of a search: its time in ms, and how far it looked."""

    millis: float
    rows: int
    texts: int
    found: int


def pages(caller: Caller, **query: Any) -> Iterator[Page]:
    """Reads all pages of a search over the account."""
    cursor = None
    while True:
        request = query | ({"cursor": cursor} if cursor else {})
        began = time.monotonic()
        answer = caller.get("/v1/emails", **request)
        millis = 1000 * (time.monotonic() - began)
        searched = answer["searched"]
        yield Page(millis, searched["emails"], searched["texts"], len(answer["emails"]))
        cursor = answer["nextCursor"]
        if cursor is None:
            return


def fill(caller: Caller, emails: int) -> None:
    """Sends so much mail to inboxes of the account, the oldest one with words of its own."""
    count = max(1, -(-emails // EMAILS_AN_INBOX))
    addresses = [caller.new_inbox()["emailAddress"] for _ in range(count)]
    host, _, port = os.environ["TEMPINBOX_SMTP"].rpartition(":")
    with smtplib.SMTP(host, int(port), timeout=30) as server:
        words = "x" * 300 + " the needle\r\n"
        text = f"From: a@sender.example\r\nSubject: far\r\n\r\n{words}"
        server.sendmail("a@sender.example", addresses[:1], text.encode())
    share = smtp_source.processes(MAIL)
    began, sent = time.monotonic(), 1
    while sent < emails:
        turn = [addresses[(sent // share + number) % count] for number in range(share)]
        requested = min(emails - sent, count * EMAILS_AN_INBOX // 10)
        sent += smtp_source.run(os.environ["TEMPINBOX_SMTP"], MAIL, turn, requested)[0]
    print(f"{sent:,} emails in {count} inboxes, sent in {time.monotonic() - began:.0f} s")


def cpu_of(groups: dict[str, list[int]], action: Callable[[], int]) -> dict[str, float]:
    """CPU of each part in ms for one of what the action did, which it counts."""
    before = {name: sum(map(processes.cpu_seconds, pids)) for name, pids in groups.items()}
    done = max(1, action())
    after = {name: sum(map(processes.cpu_seconds, pids)) for name, pids in groups.items()}
    return {name: 1000 * (after[name] - before[name]) / done for name in groups}


def show(name: str, read: list[Page], cpu: dict[str, float]) -> None:
    """Prints one line about pages."""
    times = sorted(page.millis for page in read)
    split = ", ".join(f"{part} {millis:.1f}" for part, millis in cpu.items() if millis >= 0.1)
    print(
        f"{name:<16} {len(read):>5} pages  p50 {percentile(times, 50):6.1f} ms  p99 "
        f"{percentile(times, 99):6.1f} ms  CPU of a page in ms: {split}",
        flush=True,
    )
    figures.note("A page of a search, p50", "ms", name, percentile(times, 50))


def walk(caller: Caller, name: str, **query: Any) -> tuple[list[Page], float]:
    """Reads all pages; returns them and the CPU of one in ms."""
    read: list[Page] = []

    def all_pages() -> int:
        read.extend(pages(caller, **query))
        return len(read)

    cpu = cpu_of(api.parts(), all_pages)
    show(name, read, cpu)
    return read, sum(cpu.values())


def p50(read: list[Page]) -> float:
    """Returns the median of their times."""
    return percentile(sorted(page.millis for page in read), 50)


def judge_pages(caller: Caller, emails: int) -> bool:
    """Reads all pages by columns and by text, and the first by text again and again."""
    columns, _ = walk(caller, "columns", subject="absent")
    texts, cpu = walk(caller, "text, cold", text="absent")
    found, _ = walk(caller, "text, one hit", text="the needle")
    again: list[Page] = []

    def repeat() -> int:
        again.extend(next(pages(caller, text=f"absent {number}")) for number in range(REPEATS))
        return REPEATS

    next(pages(caller, text="warm"))
    cached = cpu_of(api.parts(), repeat)
    show("text, cached", again, cached)
    full = [page for page in texts if page.texts >= MAX_TEXTS] or texts
    part = max(1, len(full) // 5)
    growth = p50(full[-part:]) / p50(full[:part])
    outcomes = [
        targets.at_most("columns, p50 of a page in ms", p50(columns), MAX_COLUMNS_P50),
        targets.at_most("text, p50 of a page in ms", p50(full), MAX_TEXT_P50),
        targets.at_most("text, CPU of a page in ms", cpu, MAX_TEXT_CPU),
        targets.at_most("text in memory, CPU in ms", sum(cached.values()), MAX_CACHED_CPU),
        targets.at_most("text, first page in ms", texts[0].millis, MAX_FIRST_PAGE),
        targets.at_most("text, last pages of the first ones", growth, MAX_GROWTH),
        targets.at_most("pages of a search by text", len(texts), MAX_TEXT_PAGES),
        targets.at_most("messages opened for a page", max(it.texts for it in texts), MAX_TEXTS),
        targets.at_most("rows of a page", max(it.rows for it in columns), MAX_ROWS),
        targets.at_least("emails looked at", sum(it.rows for it in texts), emails),
        targets.at_least("hits at the far end", sum(it.found for it in found), 1),
        targets.at_most("hits at the far end", sum(it.found for it in found), 1),
    ]
    return all(outcomes)


def judge_tag(caller: Caller) -> bool:
    """Seven emails of a tag among all others are one page."""
    inboxes = [caller.new_inbox("bench find") for _ in range(3)]
    for number, inbox in enumerate(inboxes):
        api.send(os.environ["TEMPINBOX_SMTP"], inbox["emailAddress"], 2 + (number == 0))
    times = []
    for _ in range(REPEATS):
        read = list(pages(caller, tag="bench find"))
        if len(read) != 1 or read[0].found != 7:
            raise SystemExit(f"the emails of a tag: {read}")
        times.append(read[0].millis)
    middle = percentile(sorted(times), 50)
    return targets.at_most("emails of a tag, p50 in ms", middle, MAX_COLUMNS_P50)


def waited(caller: Caller, server: smtplib.SMTP, inbox: dict[str, Any], name: str) -> float:
    """Milliseconds from SMTP's 250 to the answer of a wait by `name`."""
    word = f"word-{time.monotonic_ns()}"
    answered: list[float] = []

    def ask() -> None:
        answer = caller.get(
            f"/v1/inboxes/{inbox['inboxId']}/emails/wait", timeoutSeconds=20, **{name: word}
        )
        answered.append(time.monotonic())
        if answer["outcome"] != "matched":
            raise SystemExit(f"a wait by {name} ended with {answer['outcome']}")

    waiting = threading.Thread(target=ask)
    waiting.start()
    delay_until(time.monotonic() + 0.02)  # it waits by then
    message = f"From: a@sender.example\r\nSubject: {word}\r\n\r\n{'x' * 300} {word}\r\n"
    server.sendmail("a@sender.example", [inbox["emailAddress"]], message.encode())
    stored = time.monotonic()
    waiting.join()
    if not answered:
        raise SystemExit(f"a wait by {name} was not answered")
    return 1000 * (answered[0] - stored)


def judge_waits(caller: Caller, count: int) -> bool:
    """Waits by subject and by text, in turn, each for mail of its own."""
    taken: dict[str, list[float]] = {"subject": [], "text": []}
    host, _, port = os.environ["TEMPINBOX_SMTP"].rpartition(":")
    inboxes = {name: caller.new_inbox() for name in taken}
    with smtplib.SMTP(host, int(port), timeout=30) as server:
        for _ in range(count):
            for name, times in taken.items():
                times.append(waited(caller, server, inboxes[name], name))
    for name, times in taken.items():
        times.sort()
        print(
            f"wait by {name}: {count} mails, p50 {percentile(times, 50):.1f} ms, p99 "
            f"{percentile(times, 99):.1f} ms",
            flush=True,
        )
        figures.note("SMTP's 250 to a wait's answer, p99", "ms", name, percentile(times, 99))
    ratio = percentile(taken["text"], 99) / max(percentile(taken["subject"], 99), 0.1)
    return targets.at_most("wait by text, p99 of that by subject", ratio, MAX_WAIT_RATIO)


def judge_beside(key: str, other: str, seconds: float) -> bool:
    """Lists of another account, alone and beside searches of one account."""
    reader = Caller(other)
    inbox = reader.new_inbox()
    api.send(os.environ["TEMPINBOX_SMTP"], inbox["emailAddress"], LISTED)
    url = f"{os.environ['TEMPINBOX_API']}/v1/inboxes/{inbox['inboxId']}/emails"
    target = wrk.Target("list", url, {"X-API-Key": other})
    wrk.run(target, LIST_CONNECTIONS, 1)
    alone = wrk.run(target, LIST_CONNECTIONS, seconds)
    is_over = threading.Event()

    def search(number: int) -> dict[int, int]:
        caller, statuses = Caller(key), dict[int, int]()
        while not is_over.is_set():
            status, _ = caller.send("GET", f"/v1/emails?text=absent+{number}")
            statuses[status] = statuses.get(status, 0) + 1
        return statuses

    with ThreadPoolExecutor(SEARCHES_AT_ONCE) as threads:
        running = [threads.submit(search, number) for number in range(SEARCHES_AT_ONCE)]
        beside = wrk.run(target, LIST_CONNECTIONS, seconds)
        is_over.set()
        answered: dict[int, int] = {}
        for each in running:
            for status, count in each.result().items():
                answered[status] = answered.get(status, 0) + count
    print(
        f"lists of another account, c={LIST_CONNECTIONS}: p99 {alone.p99_ms:.2f} ms alone, "
        f"{beside.p99_ms:.2f} ms beside {SEARCHES_AT_ONCE} searches, answered {answered}",
        flush=True,
    )
    failed = (
        alone.failed
        + beside.failed
        + sum(count for status, count in answered.items() if status not in (200, 503))
    )
    outcomes = [
        targets.at_most(
            "lists beside searches, p99 of that alone", beside.p99_ms / alone.p99_ms, MAX_BESIDE
        ),
        targets.at_most("requests that failed", failed, 0),
    ]
    return all(outcomes)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--emails", type=int, default=100_000, help="of the account (default 100000)"
    )
    parser.add_argument(
        "--strangers", type=int, default=0, help="inboxes and emails of others (default 0)"
    )
    parser.add_argument("--waits", type=int, default=200, help="by each filter (default 200)")
    parser.add_argument("--seconds", type=float, default=5, help="for each load (default 5)")
    options = parser.parse_args()

    plans.set_numbers("premium", requests_per_day=1_000_000_000, live_inboxes=10_000_000)
    key, other = make_keys(2)
    fill(Caller(key), options.emails)
    if options.strangers:
        many_rows.load(os.environ["TEMPINBOX_DATABASE"], options.strangers, 0, lambda: False)
    caller = Caller(key)  # a connection from before would have been idle for too long
    print("against the targets:")
    outcomes = [
        judge_pages(caller, options.emails),
        judge_tag(caller),
        judge_waits(caller, options.waits),
        judge_beside(key, other, options.seconds),
    ]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
