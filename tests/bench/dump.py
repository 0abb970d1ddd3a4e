#!/usr/bin/env python3
"""Measures what a backup costs mail: the time from a final dot to its 250 while a transaction reads
every table of the mailbox, as pg_dump does for as long as it runs, and past partitions are due to
be dropped. Runs with one inbox replica and with six, by turns with and without the maintenance of
partitions.

Usage: ./dev bench dump [--quick] [--rounds 5] [--seconds 20] [--rate 40] [--replicas 6]

Changes how many inbox replicas the suite has, to one at the end, and starts them anew at the
beginning of each turn, so that each looks after the partitions in it.
"""

import argparse
import contextlib
import functools
import http.client
import json
import os
import shlex
import signal
import smtplib
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dev.waiting import wait_until
from measuring import targets
from measuring.percentiles import percentile

_ROOT = Path(__file__).resolve().parents[2]
_MAX_RATIO = 2.0  # times what the same dump costs without maintenance
_SENDERS = 4
_MESSAGE = "From: a@sender.example\r\nSubject: dump\r\n\r\n" + "x" * 1024 + "\r\n"
_PAST_HOURS = 4
_RESTART_SECONDS = 30.0


class Session:
    """A psql session that stays open."""

    def __init__(self, *statements: str) -> None:
        self._process = subprocess.Popen(
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", os.environ["TEMPINBOX_DATABASE"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for statement in (*statements, "SELECT 'done'"):
            self._say(statement)
        assert self._process.stdout
        for line in self._process.stdout:
            if line.strip() == "done":
                return
        raise SystemExit("psql ended")

    def _say(self, statement: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(statement + ";\n")
        self._process.stdin.flush()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=10)


def dump() -> Session:
    """Holds what pg_dump holds from its beginning to its end."""
    tables = query(
        "SELECT string_agg(format('%I.%I', schemaname, tablename), ', ')"
        " FROM pg_tables WHERE schemaname = 'mailbox'"
    )
    return Session(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        f"LOCK TABLE {tables} IN ACCESS SHARE MODE",
    )


def without_maintenance() -> Session:
    """While somebody holds this lock no process drops partitions."""
    return Session("SELECT pg_advisory_lock(hashtext('mailbox.partitions'))")


def query(statement: str) -> str:
    """The rows of one statement."""
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", os.environ["TEMPINBOX_DATABASE"]]
    done = subprocess.run([*command, "-c", statement], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def make_past_partitions() -> None:
    """Makes partitions that every replica has to drop at once."""
    query(
        "SELECT mailbox.ensure_body_hour(now() - n * interval '1 hour')"
        f" FROM generate_series(3, {2 + _PAST_HOURS}) AS n"
    )


class Replicas:
    """The inbox replicas of the suite, as many as asked for."""

    def __init__(self, count: int) -> None:
        _dev("up", "-d", "--no-build", "--replicas", f"inbox={count}")
        self._numbers = range(1, count + 1)

    def restart(self) -> None:
        """Ends them, so that they are started anew; does not wait for it."""
        variables = _variables()
        for number in self._numbers:
            os.kill(int(variables[f"TEMPINBOX_INBOX_{number}_PID"]), signal.SIGTERM)

    def wait_ready(self) -> None:
        """Waits until each is there again."""
        deadline = time.monotonic() + _RESTART_SECONDS
        variables = _variables()
        for number in self._numbers:
            answers = functools.partial(_is_ready, variables[f"TEMPINBOX_INBOX_{number}_ADMIN"])
            wait_until(answers, deadline, f"inbox-{number} is ready again")


def _dev(*arguments: str) -> str:
    command = [str(_ROOT / "dev"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _variables() -> dict[str, str]:
    """Returns what `./dev env` says now: processes change."""
    lines = (shlex.split(line) for line in _dev("env").splitlines())
    return dict(parts[1].split("=", 1) for parts in lines if parts[:1] == ["export"])


def _is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/readyz", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def make_inboxes(count: int) -> list[str]:
    """Addresses that live for an hour."""
    api = urlsplit(os.environ["TEMPINBOX_API"]).netloc
    connection = http.client.HTTPConnection(api, timeout=10)
    headers = {"X-API-Key": os.environ["TEMPINBOX_API_KEY"], "Content-Type": "application/json"}
    addresses = []
    for _ in range(count):
        connection.request("POST", "/v1/inboxes", json.dumps({"ttlSeconds": 3600}), headers)
        made: dict[str, Any] = json.loads(connection.getresponse().read())
        addresses.append(str(made["emailAddress"]))
    return addresses


class Load:
    """Mails at a steady rate for so many seconds, each timed from its due time, so that a stall
    counts for all that it holds up.
    """

    def __init__(self, addresses: list[str], rate: float, seconds: float) -> None:
        self._addresses = addresses
        self._rate = rate
        self._count = int(rate * seconds)
        self._over = threading.Event()
        self.milliseconds: list[float] = []
        self.problems: list[str] = []
        began = time.monotonic()
        self._threads = [
            threading.Thread(target=self._send, args=(number, began)) for number in range(_SENDERS)
        ]
        for thread in self._threads:
            thread.start()

    def _send(self, number: int, began: float) -> None:
        host, _, port = os.environ["TEMPINBOX_SMTP"].rpartition(":")
        with smtplib.SMTP(host, int(port), local_hostname="bench.example", timeout=60) as server:
            for turn in range(number, self._count, _SENDERS):
                due = began + turn / self._rate
                if self._over.wait(max(0.0, due - time.monotonic())):
                    return
                try:
                    server.sendmail("a@sender.example", [self._addresses[number]], _MESSAGE)
                except smtplib.SMTPException as problem:
                    self.problems.append(str(problem))
                self.milliseconds.append(1000 * (time.monotonic() - due))

    def wait(self) -> None:
        """Waits until all are sent."""
        for thread in self._threads:
            thread.join()

    def end(self) -> None:
        """Sends no more."""
        self._over.set()
        self.wait()


def turn(replicas: Replicas, has_maintenance: bool, options: argparse.Namespace) -> float:
    """The 99th percentile of one turn."""
    make_past_partitions()
    with contextlib.ExitStack() as stack:
        if not has_maintenance:
            stack.enter_context(without_maintenance())
        stack.enter_context(dump())
        load = Load(options.addresses, options.rate, options.seconds)
        try:
            replicas.restart()
            load.wait()
            replicas.wait_ready()
        finally:
            load.end()
    if load.problems:
        raise SystemExit(f"mail was refused: {load.problems[0]}")
    return percentile(sorted(load.milliseconds), 99)


def measure(count: int, options: argparse.Namespace) -> bool:
    """Measures with so many replicas, and returns whether the target is met."""
    replicas = Replicas(count)
    seen: dict[bool, list[float]] = {False: [], True: []}
    for number in range(options.rounds):
        for has_maintenance, found in seen.items():
            found.append(turn(replicas, has_maintenance, options))
            how = "with" if has_maintenance else "without"
            print(
                f"{count} x inbox, round {number + 1}, {how} maintenance: p99 {found[-1]:.1f} ms",
                flush=True,
            )
    off, on = (statistics.median(seen[has_maintenance]) for has_maintenance in (False, True))
    print(
        f"{count} x inbox: p99 of mail {off:.1f} ms without maintenance, {on:.1f} ms with it, "
        "medians"
    )
    return targets.at_most(
        f"p99 with maintenance of {count} replicas, against without", on / off, _MAX_RATIO
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one round of 8 s a turn")
    parser.add_argument("--rounds", type=int, help="1 to 20 (default 5)")
    parser.add_argument("--seconds", type=float, help="of each turn, 5 to 120 (default 20)")
    parser.add_argument("--rate", type=float, default=40, help="mails a second (default 40)")
    parser.add_argument("--replicas", type=int, default=6, help="the larger number (default 6)")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.seconds = options.seconds or (8.0 if options.quick else 20.0)
    if not (
        1 <= options.rounds <= 20 and 5 <= options.seconds <= 120 and 1 <= options.rate <= 1000
    ):
        parser.error("--rounds must be 1 to 20, --seconds 5 to 120 and --rate 1 to 1000")
    options.addresses = make_inboxes(_SENDERS)
    are_met = [measure(count, options) for count in (1, options.replicas)]
    Replicas(1)
    return 0 if all(are_met) else 1


if __name__ == "__main__":
    sys.exit(main())
