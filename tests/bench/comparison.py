#!/usr/bin/env python3
"""Measures what a change was worth: the running suite beside an older one, by turns.

Both suites run at the same time, and each kind of load goes first to one and then to the other, so
that a slower minute of the machine is a slower minute of both. Prints the medians of the rounds
(requests a second, and CPU of a request: services, PostgreSQL and Kafka together), what they are of
the older ones, and the memory of each service at the end, with as many inboxes in both. The older
suite is that of another checkout, built there (`./dev build --preset release`, `./dev up -d`);
deploy/baseline names the commit to compare with.

Usage: ./dev bench comparison --older CHECKOUT [--rounds 5] [--seconds 5] [--mailpit PROGRAM]
"""

import argparse
import contextlib
import http.client
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import urljoin, urlsplit

import api
from measuring import figures, peers, plans, processes, smtp_source, targets, wrk

CONNECTIONS = 64
MAILS = (smtp_source.Load(16, 4096, True), smtp_source.Load(64, 4096, True))
MAILS_A_ROUND = 4_000
MAILPIT, MAILPIT_LIST = "Mailpit, a message", "Mailpit, a list"
CREATE, READ, MARK = "create inbox", "get email", "mark email"
MAX_MEMORY = 1.2  # times that of the older service
# Design targets: rate times the older, CPU in ms at most; None where there is none.
TARGETS = {CREATE: (4.0, 1.0), READ: (2.5, 0.4)}
MAX_MAIL_CPU = 0.85  # times the older
MIN_TIMES_MAILPIT = {READ: (MAILPIT, 3.0), api.UNKNOWN: (MAILPIT_LIST, 4.0)}


@dataclass
class Suite:
    """A suite under load: its environment, and what was measured of it."""

    name: str
    environment: dict[str, str]
    inbox: dict[str, str] = field(default_factory=dict)
    targets: list[wrk.Target] = field(default_factory=list)
    rates: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cpu: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @contextlib.contextmanager
    def chosen(self) -> Iterator[None]:
        """Makes the environment name this suite inside the block."""
        before = dict(os.environ)
        os.environ.update(self.environment)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def note(self, kind: str, rate: float, cpu: float) -> None:
        """Notes the figures of one round."""
        self.rates[kind].append(rate)
        self.cpu[kind].append(cpu)


def older_suite(checkout: Path) -> Suite:
    """The suite that runs in another checkout; its plans allow what the bench does."""
    program = str(checkout / "dev")
    bare = {name: value for name, value in os.environ.items() if not name.startswith("TEMPINBOX")}
    bare.pop("PYTHONPATH", None)
    said = subprocess.run([program, "env"], capture_output=True, text=True, env=bare)
    if said.returncode != 0:
        raise SystemExit(f"no suite runs in {checkout}: {said.stdout}{said.stderr}")
    lines = (shlex.split(line) for line in said.stdout.splitlines())
    found = dict(parts[1].split("=", 1) for parts in lines if parts[:1] == ["export"])
    numbers = ["--requests-per-day", "1000000000", "--live-inboxes", "10000000"]
    plan = [program, "ctl", "plan", "set", "premium", *numbers]
    subprocess.run(plan, check=True, stdout=subprocess.DEVNULL, env=bare)
    return Suite("older", found)


def prepare(suite: Suite) -> None:
    """An inbox with mail, and the requests."""
    with suite.chosen():
        suite.inbox = api.inbox_with_mail()
        expected = (CREATE, READ, api.UNKNOWN)
        suite.targets = [each for each in api.targets_of(suite.inbox) if each.name in expected]
        read = next(each for each in suite.targets if each.name == READ)
        suite.targets.append(
            wrk.Target(MARK, read.url, read.headers, '{"isRead":true}', method="PATCH")
        )


def measure_requests(suite: Suite, target: wrk.Target, seconds: float) -> None:
    """Measures one load on one suite."""
    with suite.chosen():
        measured = api.measure(target, CONNECTIONS, seconds, api.parts())
    if measured.rate.failed:
        raise SystemExit(f"{suite.name}, {target.name}: {measured.rate.failed} requests failed")
    suite.note(target.name, measured.rate.per_second, sum(measured.cpu.values()))


def measure_mails(suite: Suite, load: smtp_source.Load) -> None:
    """Mails to inboxes of the suite."""
    address = suite.environment["TEMPINBOX_SMTP"]
    with suite.chosen():
        pids = [pid for each in api.parts().values() for pid in each]
        to = [
            api.call("POST", "/v1/inboxes", {"ttlSeconds": 3600})["emailAddress"]
            for _ in range(smtp_source.processes(load))
        ]
    smtp_source.pilot(address, load, to)
    before = sum(map(processes.cpu_seconds, pids))
    sent, seconds = smtp_source.run(address, load, to, MAILS_A_ROUND)
    used = sum(map(processes.cpu_seconds, pids)) - before
    suite.note(mails_of(load), sent / seconds, 1000 * used / sent)


def mails_of(load: smtp_source.Load) -> str:
    """Returns the name of the load."""
    return f"mail in, c={load.sessions}"


def measure_mailpit(program: str, suite: Suite, seconds: float) -> None:
    """Its list and its message, noted beside the suite's."""
    with peers.mailpit(program) as server:
        api.send(server.smtp, "bench@receiver.example", api.EMAILS)
        listed = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
        listed.request("GET", server.url)
        message = json.load(listed.getresponse())["messages"][0]["ID"]
        listed.close()
        of_message = urljoin(server.url, f"message/{message}")
        for name, url in ((MAILPIT_LIST, server.url), (MAILPIT, of_message)):
            measured = api.measure(
                wrk.Target(name, url, {}), CONNECTIONS, seconds, {"mailpit": [server.pid]}
            )
            if measured.rate.failed:
                raise SystemExit(f"{measured.rate.failed} requests to Mailpit failed")
            suite.note(name, measured.rate.per_second, sum(measured.cpu.values()))


def live_inboxes(suite: Suite) -> int:
    """Returns the number of live inboxes of the bench's account."""
    with suite.chosen():
        live: int = api.call("GET", "/v1/account")["usage"]["liveInboxes"]
        return live


def make_as_many_inboxes(new: Suite, old: Suite) -> None:
    """Makes as many inboxes in both: in the same time the faster one made more, and mail-ingest
    keeps the address of each.
    """
    behind, ahead = sorted((new, old), key=live_inboxes)
    missing = live_inboxes(ahead) - live_inboxes(behind)
    create = next(each for each in behind.targets if each.name == CREATE)
    seconds = round(missing / median(behind.rates[CREATE]))
    print(f"{missing:,} inboxes more for {behind.name}, {seconds} s", flush=True)
    if seconds > 0:
        with behind.chosen():
            api.measure(create, CONNECTIONS, seconds, api.parts())


def memory(suite: Suite) -> dict[str, float]:
    """MiB of each service's processes."""
    with suite.chosen():
        found = api.parts()
    return {
        name: sum(map(processes.resident_megabytes, pids))
        for name, pids in found.items()
        if name not in ("postgresql", "kafka")
    }


def report(new: Suite, old: Suite) -> bool:
    """The medians and the targets; whether all are met."""
    for kind, rates in new.rates.items():
        rate, cpu = median(rates), median(new.cpu[kind])
        line = f"{kind:<20} {rate:>9,.0f}/s {cpu:7.3f} ms"
        figures.note("Requests by turns", "a second", kind, rate)
        figures.note("CPU of a request by turns", "ms", kind, cpu)
        if kind in old.rates:
            rate_before, cpu_before = median(old.rates[kind]), median(old.cpu[kind])
            line += f"   older {rate_before:>9,.0f}/s {cpu_before:7.3f} ms"
            line += f"   {rate / rate_before:5.2f} x the rate, {cpu / cpu_before:5.2f} x the CPU"
            figures.note("Requests by turns", "a second", f"{kind}, {old.name}", rate_before)
            figures.note("CPU of a request by turns", "ms", f"{kind}, {old.name}", cpu_before)
        print(line, flush=True)
    good = []
    for kind, (times, max_cpu) in TARGETS.items():
        reached = median(new.rates[kind]) / median(old.rates[kind])
        good.append(targets.at_least(f"{kind}, times the older rate", reached, times))
        good.append(targets.at_most(f"{kind}, CPU in ms", median(new.cpu[kind]), max_cpu))
    for kind, (peer, times) in MIN_TIMES_MAILPIT.items():
        if peer in new.rates:
            reached = median(new.rates[kind]) / median(new.rates[peer])
            good.append(targets.at_least(f"{kind}, times {peer}", reached, times))
        else:
            print(f"  {kind}, times {peer}: not measured: give Mailpit's program with --mailpit")
    for load in MAILS:
        kind = mails_of(load)
        reached = median(new.cpu[kind]) / median(old.cpu[kind])
        good.append(targets.at_most(f"{kind}, CPU times the older", reached, MAX_MAIL_CPU))
    before = memory(old)
    for name, used in memory(new).items():
        what = f"memory of {name}, {used:.0f} MiB, times the older"
        good.append(targets.at_most(what, used / before[name], MAX_MEMORY))
    return all(good)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--older", type=Path, required=True, help="the checkout in which the older suite runs"
    )
    parser.add_argument("--rounds", type=int, default=5, help="default 5")
    parser.add_argument("--seconds", type=float, default=5, help="for each load (default 5)")
    parser.add_argument(
        "--mailpit",
        metavar="PROGRAM",
        default=shutil.which("mailpit"),
        help="Mailpit, to be measured in the same run (default: the one in PATH)",
    )
    options = parser.parse_args()
    if options.rounds < 1 or options.seconds <= 0:
        parser.error("--rounds must be at least 1, --seconds more than 0")

    new, old = Suite("new", dict(os.environ)), older_suite(options.older.resolve())
    plans.set_numbers("premium", requests_per_day=1_000_000_000, live_inboxes=10_000_000)
    for suite in (new, old):
        prepare(suite)
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", flush=True)
        order = (new, old) if number % 2 == 0 else (old, new)
        for index in range(len(new.targets)):
            for suite in order:
                measure_requests(suite, suite.targets[index], options.seconds)
        for load in MAILS:
            for suite in order:
                measure_mails(suite, load)
        if options.mailpit:
            measure_mailpit(options.mailpit, new, options.seconds)
    make_as_many_inboxes(new, old)
    return 0 if report(new, old) else 1


if __name__ == "__main__":
    sys.exit(main())
