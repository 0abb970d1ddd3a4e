#!/usr/bin/env python3
"""Measures how fast mail is taken, beside Postfix and smtp-sink in the same run on the same
machine.

Drives smtp-source against the running suite (first mail-ingest), a private Postfix that syncs its
queue to disk and discards the mail behind it, and smtp-sink, which keeps nothing. "16 inboxes"
spreads the mails, "1 inbox" sends all into one. Each load runs in rounds, all servers by turns, for
a machine is not as fast in one minute as in the next; what counts is the median. CPU is that of
server and what it stores to, load not included, up to the moment all is quiet again. Needs root,
for Postfix.

With --hostile it measures something else: how long ordinary mail of one client address waits for
its 250, alone and while 100 mails that are made to take long to read are under way from another.

With --logins it measures what logins cost: CPU of a mail by login to people elsewhere beside one to
a named inbox, by turns at the same even rate, and how many logins a second a core of mail-ingest
takes; all in the clear, so TLS is no part of it.

Usage: ./dev bench smtp [--quick] [--rounds 3] [--seconds 3 | --messages N] [--no-postfix]
       ./dev bench smtp --hostile [--rounds 3] [--seconds 10]
       ./dev bench smtp --logins [--rounds 3] [--seconds 10]
"""

import argparse
import asyncio
import base64
import contextlib
import http.client
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from measuring import figures, hostile_mail, login_cost, peers, processes, smtp_source, targets
from measuring.percentiles import percentile
from measuring.smtp_source import Load

_INBOXES = 16
_ORDINARY_RATE = 25.0  # mails a second beside hostile ones
_HOSTILE_MAILS = 100  # under way at a time
_MAX_TIMES_ALONE = 1.5
_WARM_UP = Load(16, 4096, True)
_WARM_UP_MESSAGES = 4000
_KIB = 1024
_FULL = [
    Load(sessions, size * _KIB, kept)
    for size in (4, 64)
    for kept in (True, False)
    for sessions in (1, 16, 64)
]
_QUICK = [
    Load(1, 4 * _KIB, True),
    Load(16, 4 * _KIB, True),
    Load(64, 4 * _KIB, True),
    Load(16, 4 * _KIB, False),
    Load(16, 64 * _KIB, True),
]


@dataclass(frozen=True)
class Server:
    """Something that takes mail: its address, whom to write to, and the processes behind it by
    name.
    """

    name: str
    address: str
    recipients: list[str]
    groups: dict[str, int]
    peer: peers.Peer | None = None


@dataclass
class Outcome:
    """A load on one server."""

    rate: float
    cpu_ms: dict[str, float] = field(default_factory=dict)
    peak_megabytes: float = 0.0


def _call(method: str, path: str, body: Any = None) -> Any:
    connection = http.client.HTTPConnection(
        urlsplit(os.environ["TEMPINBOX_API"]).netloc, timeout=10
    )
    headers = {"X-API-Key": os.environ["TEMPINBOX_API_KEY"], "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    content = json.loads(answer.read())
    if answer.status >= 300:
        raise SystemExit(f"{method} {path} answered {answer.status}: {content['message']}")
    return content


def create_inboxes(count: int) -> list[str]:
    """Addresses of fresh inboxes."""
    return [_call("POST", "/v1/inboxes", {})["emailAddress"] for _ in range(count)]


@contextlib.contextmanager
def captures(count: int) -> Iterator[list[str]]:
    """The responses of AUTH PLAIN of fresh captures, which end with the block: a plan has few."""
    with contextlib.ExitStack() as ending:
        found = []
        for _ in range(count):
            inbox = _call("POST", "/v1/inboxes", {"capture": True})
            ending.callback(_call, "DELETE", f"/v1/inboxes/{inbox['inboxId']}")
            login = f"\0{inbox['capture']['user']}\0{inbox['capture']['password']}"
            found.append(base64.b64encode(login.encode()).decode())
        yield found


def measure(server: Server, load: Load, messages: int) -> Outcome:
    """Runs the load once the server is quiet."""
    roots = list(server.groups.values())
    is_done = server.peer.is_idle if server.peer else lambda: True
    processes.wait_quiet(roots, is_done)
    before = {name: processes.cpu_seconds(pid) for name, pid in server.groups.items()}
    for pid in roots[:1]:
        processes.reset_peak(pid)
    sent, seconds = smtp_source.run(server.address, load, server.recipients, messages)
    peak = processes.peak_megabytes(roots[0])
    processes.wait_quiet(roots, is_done)
    used = {
        name: 1000 * (processes.cpu_seconds(pid) - before[name]) / sent
        for name, pid in server.groups.items()
    }
    return Outcome(sent / seconds, used, peak)


def median(rounds: list[Outcome]) -> Outcome:
    """Medians, and the highest peak."""
    return Outcome(
        statistics.median(one.rate for one in rounds),
        {name: statistics.median(one.cpu_ms[name] for one in rounds) for name in rounds[0].cpu_ms},
        max(one.peak_megabytes for one in rounds),
    )


def measure_by_turns(
    all_servers: list[Server], load: Load, options: argparse.Namespace
) -> dict[str, list[Outcome]]:
    """The load on each server, by name, in rounds."""
    messages = {}
    for server in all_servers:
        rate = smtp_source.pilot(server.address, load, server.recipients)
        messages[server.name] = options.messages or int(rate * options.seconds)
    found: dict[str, list[Outcome]] = {server.name: [] for server in all_servers}
    for _ in range(options.rounds):
        for server in all_servers:
            found[server.name].append(measure(server, load, messages[server.name]))
    return found


def _groups() -> dict[str, int]:
    """What takes and stores mail, by name."""
    return {
        name: int(os.environ[f"TEMPINBOX_{name.upper().replace('-', '_')}_PID"])
        for name in ("mail-ingest-1", "postgres", "kafka")
    }


@contextlib.contextmanager
def servers(with_postfix: bool) -> Iterator[list[Server]]:
    """Ours twice, then the peers."""
    domain = os.environ["TEMPINBOX_DOMAIN"]
    inboxes = create_inboxes(_INBOXES)
    groups = _groups()
    ours = os.environ["TEMPINBOX_SMTP"]
    others = [f"user{number}@{domain}" for number in range(_INBOXES)]
    with contextlib.ExitStack() as open_peers:
        found = [
            Server("16 inboxes", ours, inboxes, groups),
            Server("1 inbox", ours, inboxes[:1], groups),
        ]
        if with_postfix:
            postfix = open_peers.enter_context(peers.postfix(domain))
            found.append(
                Server("Postfix", postfix.address, others, {"postfix": postfix.pid}, postfix)
            )
        sink = open_peers.enter_context(peers.sink())
        found.append(Server("smtp-sink", sink.address, others, {"sink": sink.pid}, sink))
        yield found


def _ratio(ours: Outcome, other: Outcome | None) -> str:
    return f"{ours.rate / other.rate:.2f}" if other else "-"


def _row(load: Load, found: dict[str, Outcome], rates: list[float]) -> str:
    ours, hot, postfix, sink = (
        found.get(name) for name in ("16 inboxes", "1 inbox", "Postfix", "smtp-sink")
    )
    assert ours
    assert hot
    assert sink
    cpu = " ".join(f"{ours.cpu_ms[name]:6.3f}" for name in ("mail-ingest-1", "postgres", "kafka"))
    return (
        f"{load.size // _KIB:>3} KiB {'kept' if load.is_kept else 'new ':4} {load.sessions:>3} | "
        f"{ours.rate:>7.0f} {hot.rate:>7.0f} "
        f"{postfix.rate if postfix else 0:>7.0f} {sink.rate:>7.0f} | {_ratio(ours, postfix):>7} "
        f"{_ratio(ours, sink):>5} {hot.rate / ours.rate:>5.2f} | "
        f"{cpu} {sum(ours.cpu_ms.values()):6.3f} "
        f"{postfix.cpu_ms['postfix'] if postfix else 0:7.3f} | {ours.peak_megabytes:4.0f} | "
        f"{min(rates):.0f}-{max(rates):.0f}"
    )


def _note(load: Load, found: dict[str, Outcome]) -> None:
    mails = f"of {load.size // _KIB} KiB, {'kept' if load.is_kept else 'new'} connections"
    for name, outcome in found.items():
        bar = f"c={load.sessions}, {name}"
        figures.note(f"Mails {mails}", "a second", bar, outcome.rate)
        for part, millis in outcome.cpu_ms.items():
            figures.note(f"CPU of a mail {mails}", "ms", bar, millis, part)


def judge(load: Load, found: dict[str, Outcome]) -> bool:
    """Targets are for kept connections."""
    ours, postfix = found["16 inboxes"], found.get("Postfix")
    name = f"{load.size // _KIB} KiB, c={load.sessions}"
    is_small = load.size == 4 * _KIB
    outcomes = []
    if postfix:
        times = ours.rate / postfix.rate
        if is_small and load.sessions > 1:  # two cores are full there
            print(f"  {name}, times Postfix: {times:.2f}", flush=True)
        else:
            least = 1.3 if is_small else 1.2
            outcomes.append(targets.at_least(f"{name}, times Postfix", times, least))
    if is_small and load.sessions > 1:
        outcomes.append(
            targets.at_least(f"{name}, times smtp-sink", ours.rate / found["smtp-sink"].rate, 0.4)
        )
    if is_small:
        outcomes.append(
            targets.at_least(f"{name}, one inbox beside 16", found["1 inbox"].rate / ours.rate, 0.7)
        )
    if load.sessions == 64:
        outcomes.append(
            targets.at_most(f"{name}, RSS of mail-ingest in MB", ours.peak_megabytes, 100)
        )
    return all(outcomes)


def measure_hostile(rounds: int, seconds: float) -> int:
    """Ordinary mail alone and beside hostile mail, by turns; p95 of both and their ratio."""
    smtp = os.environ["TEMPINBOX_SMTP"]
    *ordinary, hostile = create_inboxes(_INBOXES)

    def run(what: str) -> float:
        taken = asyncio.run(hostile_mail.times(smtp, ordinary, _ORDINARY_RATE, seconds))
        numbers = {percent: percentile(taken, percent) for percent in (50, 95, 99)}
        text = ", ".join(f"p{percent} {value:.1f} ms" for percent, value in numbers.items())
        print(f"  ordinary mail {what}: {text} ({len(taken)} mails)", flush=True)
        figures.note("Ordinary mail until its 250", "ms", f"p95, {what}", numbers[95])
        return numbers[95]

    run("to warm up")
    ratios = []
    for _ in range(rounds):
        alone = run("alone")
        with hostile_mail.Flood(smtp, hostile, _HOSTILE_MAILS) as flood:
            before, began = flood.accepted.value, time.monotonic()
            beside = run(f"beside {_HOSTILE_MAILS} hostile mails")
            rate = (flood.accepted.value - before) / (time.monotonic() - began)
            print(f"    hostile mails: {rate:.0f} read a second, {flood.refused.value} refused")
        ratios.append(beside / alone)
    what = "p95 of ordinary mail beside hostile mail, times that alone, median of the rounds"
    return 0 if targets.at_most(what, statistics.median(ratios), _MAX_TIMES_ALONE) else 1


def measure_logins(rounds: int, seconds: float) -> int:
    """Mail by login beside mail to named inboxes, and logins."""
    clear = f"{os.environ['TEMPINBOX_SUBMISSION_HOST']}:{os.environ['TEMPINBOX_SUBMISSION_PORT']}"
    inboxes = create_inboxes(_INBOXES)
    foreign = [f"user{number:03}@shop{number % 5}.example" for number in range(1000)]
    with captures(_INBOXES) as logins:
        measurement = login_cost.Measurement(
            _groups(),
            login_cost.Way("to a named inbox", os.environ["TEMPINBOX_SMTP"], inboxes),
            login_cost.Way("by login", clear, foreign, logins),
            seconds,
        )
        return 0 if measurement.run(rounds) else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./dev bench smtp",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--quick", action="store_true", help="five loads of 2 s a round instead of twelve"
    )
    parser.add_argument(
        "--rounds", type=int, default=3, help="how often each load runs, 1 to 20 (default 3)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        help="about how long each load runs in a round, 1 to 60 (default 3)",
    )
    parser.add_argument(
        "--messages", type=int, help="mails of each load in a round, instead of a time"
    )
    parser.add_argument("--no-postfix", action="store_true", help="leave Postfix out")
    parser.add_argument(
        "--hostile", action="store_true", help="ordinary mail beside mail made to take long"
    )
    parser.add_argument(
        "--logins", action="store_true", help="mail by login beside mail to named inboxes"
    )
    options = parser.parse_args()
    options.seconds = options.seconds or (
        10.0 if options.hostile or options.logins else 2.0 if options.quick else 3.0
    )
    if not 1 <= options.rounds <= 20:
        parser.error("--rounds must be 1 to 20")
    if not 1 <= options.seconds <= 60 or (
        options.messages is not None and not 1 <= options.messages <= 1_000_000
    ):
        parser.error("--seconds must be 1 to 60, --messages 1 to 1000000")
    if options.hostile:
        return measure_hostile(options.rounds, options.seconds)
    if options.logins:
        return measure_logins(options.rounds, options.seconds)
    if not options.no_postfix and os.geteuid() != 0:
        parser.error("Postfix can only be started by root: run as root, or with --no-postfix")

    print(
        "connections: kept = all mails of a session over one, new = one a mail; CPU in ms a mail "
        "with 16 inboxes; RSS: peak of mail-ingest in MB;\n"
        f"all are medians of {options.rounds} rounds, the last column is ours with 16 inboxes in "
        "the slowest and the fastest of them\n"
    )
    print(
        f"{'':16} | {'mails a second':^31} | {'ratios':^19} | {'CPU ms a mail':^35} |  RSS | rounds"
    )
    print(
        f"{'size':>7} {'conn':4} {'c':>3} | {'ours':>7} {'1 inbox':>7} {'Postfix':>7} "
        f"{'sink':>7} | {'Postfix':>7} {'sink':>5} {'hot':>5} | "
        f"{'ingest':>6} {'postgr':>6} {'kafka':>6} {'sum':>6} {'Postfix':>7} |",
        flush=True,
    )
    with servers(not options.no_postfix) as all_servers:
        # Kafka's broker takes a while to be compiled to machine code; a suite that has run for a
        # minute is what counts.
        smtp_source.run(
            all_servers[0].address, _WARM_UP, all_servers[0].recipients, _WARM_UP_MESSAGES
        )
        kept = []
        for load in _QUICK if options.quick else _FULL:
            rounds = measure_by_turns(all_servers, load, options)
            found = {name: median(outcomes) for name, outcomes in rounds.items()}
            print(_row(load, found, [one.rate for one in rounds["16 inboxes"]]), flush=True)
            _note(load, found)
            if load.is_kept:
                kept.append((load, found))
    print("\nagainst the targets, for kept connections:")
    outcomes = [judge(load, found) for load, found in kept]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
