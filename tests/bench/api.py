#!/usr/bin/env python3
"""Measures how many requests a second the API answers, beside what the machine can do at most in
the same run.

wrk (one thread, kept connections) asks the first gateway for a list of 25 emails (the same again
and again, as who polls does, and one that nobody asked for before), for one email, for its
timeline, and for new inboxes; nginx with a file as large as the list and pgbench with one prepared
row are the floors, Mailpit's list of 25 emails (SQLite, no key, no quota) is the peer where its
program is at hand. CPU is that of each part for one request. Then so many requests wait, each for
an inbox of its own, and the time from SMTP's 250 to the answer is taken. `./dev bench growth` does
the same beside millions of inboxes.

Usage: ./dev bench api [--quick] [--seconds 5] [--mailpit PROGRAM]
"""

import argparse
import asyncio
import http.client
import json
import os
import shutil
import smtplib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import wait
from measuring import figures, floors, many_rows, peers, plans, processes, targets, wrk
from measuring.percentiles import percentile

ROOT = Path(__file__).resolve().parents[2]
CONNECTIONS = (1, 16, 64)
EMAILS = 25
POLLED, UNKNOWN, TIMELINE = f"list of {EMAILS}", "list, unknown", "timeline"
DELIVERIES, ATTEMPTS = 3, 3  # of the email whose timeline is read, and of each delivery
FIRST_SEQUENCE = 1_000_000_000_000  # so that `after` has many values below it
MIN_LISTS = 4  # design target: times Mailpit, at most connections
TIMELINE_CONNECTIONS, MAX_TIMELINE_P99 = 16, 50.0  # design target, in ms
WAIT_MAILS, WAIT_RATE = 100, 20.0
MAX_ANSWER_P50, MAX_ANSWER_P99 = 6.0, 15.0  # ms, from 250 to the answer
_PARTS = ["GATEWAY", "INBOX", "RATE_LIMIT", "MAIL_INGEST", "WEBHOOK_DISPATCHER"]


def operate(*arguments: str) -> None:
    """The operator's command line."""
    subprocess.run([str(ROOT / "dev"), *arguments], check=True, stdout=subprocess.DEVNULL)


def call(method: str, path: str, body: Any = None) -> Any:
    """Sends one request to the API and returns its JSON."""
    connection = http.client.HTTPConnection(
        urlsplit(os.environ["TEMPINBOX_API"]).netloc, timeout=30
    )
    headers = {"X-API-Key": os.environ["TEMPINBOX_API_KEY"], "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status >= 300:
        raise SystemExit(f"{method} {path} answered {answer.status}: {text.decode()}")
    return json.loads(text)


def send(server: str, address: str, count: int) -> None:
    """Ordinary mail with a code, to the SMTP server at host:port."""
    host, _, port = server.rpartition(":")
    with smtplib.SMTP(host, int(port), timeout=30) as connection:
        for number in range(count):
            text = (
                f"From: Ann <ann@sender.example>\r\nTo: {address}\r\n"
                f"Subject: Your code {number}\r\n\r\nYour code is {100000 + number}.\r\n"
            )
            connection.sendmail("ann@sender.example", [address], text.encode())


def parts() -> dict[str, list[int]]:
    """The processes of the suite by name."""
    found = {}
    for part in _PARTS:
        pids = [os.environ.get(f"TEMPINBOX_{part}_{number}_PID", "") for number in range(1, 20)]
        found[part.lower().replace("_", "-")] = [int(pid) for pid in pids if pid]
    found["postgresql"] = [int(os.environ["TEMPINBOX_POSTGRES_PID"])]
    found["kafka"] = [int(os.environ["TEMPINBOX_KAFKA_PID"])]
    return found


@dataclass(frozen=True)
class Measured:
    """A load and what the parts used for one request, in milliseconds."""

    rate: wrk.Rate
    cpu: dict[str, float]


def measure(
    target: wrk.Target, connections: int, seconds: float, groups: dict[str, list[int]]
) -> Measured:
    """Measures after a short run to warm up."""
    wrk.run(target, connections, min(1.0, seconds))
    before = {name: sum(map(processes.cpu_seconds, pids)) for name, pids in groups.items()}
    rate = wrk.run(target, connections, seconds)
    after = {name: sum(map(processes.cpu_seconds, pids)) for name, pids in groups.items()}
    return Measured(
        rate, {name: 1000 * (after[name] - before[name]) / max(1, rate.requests) for name in groups}
    )


def show(name: str, connections: int, measured: Measured) -> None:
    """Prints one line."""
    used = sorted(measured.cpu.items(), key=lambda it: -it[1])
    split = ", ".join(f"{part} {millis:.3f}" for part, millis in used if millis >= 0.002)
    rate = measured.rate
    failed = f"  {rate.failed} FAILED" if rate.failed else ""
    print(
        f"{name:<16} c={connections:<3} {rate.per_second:>9,.0f}/s  p50 {rate.p50_ms:6.2f} ms  "
        f"p99 {rate.p99_ms:6.2f} ms  CPU ms: {split}{failed}",
        flush=True,
    )
    figures.note(f"Requests, c={connections}", "a second", name, rate.per_second)
    for part, millis in used:
        if millis >= 0.002:
            figures.note(f"CPU of a request, c={connections}", "ms", name, millis, part)


def targets_of(inbox: dict[str, Any]) -> list[wrk.Target]:
    """List, get, timeline, create."""
    base = os.environ["TEMPINBOX_API"]
    key = {"X-API-Key": os.environ["TEMPINBOX_API_KEY"]}
    emails = call("GET", f"/v1/inboxes/{inbox['inboxId']}/emails")["emails"]
    if len(emails) != EMAILS:
        raise SystemExit(f"{len(emails)} emails in the list, not {EMAILS}")
    return [
        wrk.Target(POLLED, f"{base}/v1/inboxes/{inbox['inboxId']}/emails", key),
        wrk.Target(
            UNKNOWN, f"{base}/v1/inboxes/{inbox['inboxId']}/emails?after=", key, counts=True
        ),
        wrk.Target("get email", f"{base}/v1/emails/{emails[0]['emailId']}", key),
        wrk.Target(TIMELINE, f"{base}/v1/emails/{emails[0]['emailId']}/timeline", key),
        wrk.Target(
            "create inbox", f"{base}/v1/inboxes", key, '{"ttlSeconds":3600,"tags":["bench api"]}'
        ),
    ]


def make_deliveries(inbox: dict[str, Any]) -> None:
    """The newest email gets deliveries and attempts, as if it had been sent to webhooks."""
    emails = call("GET", f"/v1/inboxes/{inbox['inboxId']}/emails?limit=1")["emails"]
    email, account = emails[0]["emailId"], os.environ["TEMPINBOX_ACCOUNT"]
    sql = f"""
        WITH delivery AS (
            INSERT INTO webhooks.deliveries (event_id, webhook_id, account_id, state, attempts,
                rule_ids, created_at)
            SELECT '{email}', gen_random_uuid(), '{account}', 'succeeded', {ATTEMPTS}, '{{}}', now()
            FROM generate_series(1, {DELIVERIES})
            RETURNING event_id, webhook_id, account_id)
        INSERT INTO webhooks.attempts (event_id, webhook_id, number, lease_id, account_id, at,
            duration_ms, status)
        SELECT event_id, webhook_id, n, gen_random_uuid(), account_id, now(), 5, 200
        FROM delivery, generate_series(1, {ATTEMPTS}) AS n"""
    many_rows.psql(os.environ["TEMPINBOX_DATABASE"], sql)


def show_floors(inbox: dict[str, Any], seconds: float, connections: tuple[int, ...]) -> None:
    """Prints what the machine can do at most."""
    listed = json.dumps(call("GET", f"/v1/inboxes/{inbox['inboxId']}/emails")).encode()
    dsn = os.environ["TEMPINBOX_DATABASE"]
    account = os.environ["TEMPINBOX_ACCOUNT"]
    row = (
        f"SELECT last_sequence FROM mailbox.inboxes WHERE account_id = '{account}' AND inbox_id "
        f"= '{inbox['inboxId']}'"
    )
    with floors.nginx(listed) as server:
        for count in connections:
            show(
                "nginx, a file",
                count,
                measure(wrk.Target("", server.url, {}), count, seconds, {"nginx": [server.pid]}),
            )
    for count in connections:
        rate = floors.pgbench(dsn, row, count, seconds)
        print(f"{'pgbench, a row':<16} c={count:<3} {rate:>9,.0f}/s", flush=True)
        figures.note(f"Requests, c={count}", "a second", "pgbench, a row", rate)


def measure_mailpit(program: str | None, seconds: float, connections: int) -> float | None:
    """Its lists a second, where there is a Mailpit."""
    if program is None:
        print("no Mailpit: give its program with --mailpit to compare lists with", flush=True)
        return None
    with peers.mailpit(program) as server:
        send(server.smtp, "bench@receiver.example", EMAILS)
        measured = measure(
            wrk.Target("", server.url, {}), connections, seconds, {"mailpit": [server.pid]}
        )
    show("Mailpit, a list", connections, measured)
    if measured.rate.failed:
        raise SystemExit(f"{measured.rate.failed} requests to Mailpit failed")
    return measured.rate.per_second


def judge_lists(polled: float, unknown: float, peer: float | None) -> bool:
    """Judges the lists beside the peer, which answers the same list again and again, too."""
    if peer is None:
        return True
    print(f"  lists that nobody asked for before, times Mailpit: {unknown / peer:.2f}")
    return targets.at_least("lists, times Mailpit", polled / peer, MIN_LISTS)


def bench(
    inbox: dict[str, Any], seconds: float, connections: tuple[int, ...], peer: float | None
) -> tuple[dict[str, Measured], bool]:
    """The API; what each kind of request came to at most connections, and whether the targets are
    met.
    """
    last = {}
    outcomes = []
    for target in targets_of(inbox):
        for count in connections:
            measured = measure(target, count, seconds, parts())
            show(target.name, count, measured)
            if measured.rate.failed:
                raise SystemExit(f"{measured.rate.failed} requests failed")
            last[target.name] = measured
            if target.name == TIMELINE and count == TIMELINE_CONNECTIONS:
                what = f"timeline, c={count}, p99 in ms"
                outcomes.append(targets.at_most(what, measured.rate.p99_ms, MAX_TIMELINE_P99))
    outcomes.append(judge_lists(last[POLLED].rate.per_second, last[UNKNOWN].rate.per_second, peer))
    for count in connections:
        late = asyncio.run(wait.latencies(count, WAIT_MAILS, WAIT_RATE))
        what = f"SMTP 250 to a waiting request's answer at {WAIT_RATE:g}/s, c={count}"
        for percent, most in ((50, MAX_ANSWER_P50), (99, MAX_ANSWER_P99)):
            reached = percentile(late, percent)
            outcomes.append(targets.at_most(f"{what}, p{percent} in ms", reached, most))
            chart = f"SMTP's 250 to a waiting request's answer, {WAIT_RATE:g} mails a second"
            figures.note(chart, "ms", f"p{percent}, c={count}", reached)
    return last, all(outcomes)


def inbox_with_mail() -> dict[str, Any]:
    """The inbox that is asked for. Its sequences are high: a list of all its emails can be asked
    for by many values of `after`, each of which nobody asked for before.
    """
    inbox: dict[str, Any] = call("POST", "/v1/inboxes", {"ttlSeconds": 86_400})
    many_rows.psql(
        os.environ["TEMPINBOX_DATABASE"],
        f"UPDATE mailbox.inboxes SET last_sequence = {FIRST_SEQUENCE} WHERE inbox_id = "
        f"'{inbox['inboxId']}'",
    )
    send(os.environ["TEMPINBOX_SMTP"], inbox["emailAddress"], EMAILS)
    return inbox


def prepare() -> dict[str, Any]:
    """The inbox that is asked for; the plan allows what a bench does."""
    plans.set_numbers("premium", requests_per_day=1_000_000_000, live_inboxes=10_000_000)
    inbox = inbox_with_mail()
    make_deliveries(inbox)
    return inbox


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="2 seconds each, at 16 and 64 connections"
    )
    parser.add_argument("--seconds", type=float, default=5, help="for each load (default 5)")
    parser.add_argument(
        "--mailpit",
        metavar="PROGRAM",
        default=shutil.which("mailpit"),
        help="Mailpit, to be measured in the same run (default: the one in PATH)",
    )
    options = parser.parse_args()
    seconds = 2.0 if options.quick else options.seconds
    connections = CONNECTIONS[1:] if options.quick else CONNECTIONS

    inbox = prepare()
    show_floors(inbox, seconds, connections)
    peer = measure_mailpit(options.mailpit, seconds, connections[-1])
    _, is_met = bench(inbox, seconds, connections, peer)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
