#!/usr/bin/env python3
"""Measures what one account's large mails cost another: the time of a GET of a small email that is
cached, alone and while another account reads a mail of 5 MiB as often as its plan lets it, through
the same gateway.

Usage: ./dev bench large-mail [--seconds 20]

The reader of large mails gets 503 for what is more than its share. Needs wrk.
"""

import argparse
import asyncio
import http.client
import json
import os
import smtplib
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import wait
from dev.waiting import wait_until
from measuring import figures, targets
from measuring.percentiles import percentile

PLAN = "pro"  # of both accounts
CONNECTIONS = 25  # of the reader of large mails
LARGE_BYTES = 5 * 1024 * 1024
MAX_P95 = 50.0  # design target: ms, of the small email while large ones are read
SMALL_INTERVAL = 0.025  # s between requests for the small email: fewer than the plan allows
WAIT_SECONDS = 60


class Account:
    """An account that reads an email of its own."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.connection = http.client.HTTPConnection(
            urlsplit(os.environ["TEMPINBOX_GATEWAY_1_URL"]).netloc, timeout=WAIT_SECONDS
        )

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Sends one request and returns its JSON."""
        headers = {"X-API-Key": self.key, "Content-Type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise SystemExit(f"{method} {path} answered {response.status}: {text.decode()}")
        return json.loads(text)

    def email(self, html: str) -> str:
        """The path of an email that says so, in an inbox of its own."""
        inbox = self.call("POST", "/v1/inboxes", {"ttlSeconds": 3_600})
        sender, recipient = "ann@sender.example", inbox["emailAddress"]
        message = (
            f"From: {sender}\r\nTo: {recipient}\r\nSubject: hello\r\n"
            f"Content-Type: text/html\r\n\r\n{html}\r\n"
        )
        host, _, port = os.environ["TEMPINBOX_SMTP"].rpartition(":")
        with smtplib.SMTP(host, int(port), timeout=WAIT_SECONDS) as connection:
            connection.sendmail(sender, [recipient], message.encode())
        listed = f"/v1/inboxes/{inbox['inboxId']}/emails"
        emails: list[dict[str, Any]] = wait_until(
            lambda: self.call("GET", listed)["emails"],
            time.monotonic() + WAIT_SECONDS,
            "the email",
        )
        return f"/v1/emails/{emails[0]['emailId']}"


def make_account() -> Account:
    """A fresh one of the plan."""
    email = f"large-mail-{uuid.uuid4().hex[:12]}@bench.example"
    account = wait.operate("account", "create", "--email", email, "--plan", PLAN)["accountId"]
    return Account(wait.operate("key", "create", account, "--label", "bench")["key"])


def burst_of_plan() -> int:
    """Requests a second."""
    dsn = os.environ["TEMPINBOX_DATABASE"]
    sql = f"SELECT burst_per_second FROM accounts.plans WHERE plan = '{PLAN}'"
    command = ["psql", "-XAtq", "-d", dsn, "-c", sql]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def read_often(
    account: Account, path: str, rate: int, seconds: float, folder: Path
) -> subprocess.Popen[str]:
    """Begins so many reads a second."""
    script = folder / "paced.lua"
    script.write_text(f"function delay() return {1000 * CONNECTIONS / rate:.0f} end\n")
    url = os.environ["TEMPINBOX_GATEWAY_1_URL"] + path
    options = ["-t1", f"-c{CONNECTIONS}", f"-d{seconds:g}s", "--timeout", "10s", "-s", str(script)]
    command = ["wrk", *options, "-H", f"X-API-Key: {account.key}", url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def times(account: Account, path: str, seconds: float) -> list[float]:
    """Returns the times of GETs one after the other, in ms, sorted; those of the first second do
    not count.
    """
    taken = []
    began = time.monotonic()
    while (started := time.monotonic()) < began + 1 + seconds:
        account.call("GET", path)
        if started > began + 1:
            taken.append(1000 * (time.monotonic() - started))
        await asyncio.sleep(SMALL_INTERVAL)
    return sorted(taken)


def show(what: str, taken: list[float]) -> None:
    """Prints one line."""
    numbers = {percent: percentile(taken, percent) for percent in (50, 95, 99)}
    text = ", ".join(f"p{percent} {value:.1f} ms" for percent, value in numbers.items())
    print(f"  small email {what}: {text} ({len(taken)} requests)", flush=True)
    for percent, value in numbers.items():
        chart = "A small email beside another account's large ones"
        figures.note(chart, "ms", f"p{percent}, {what}", value)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20, help="of each part (default 20)")
    seconds = parser.parse_args().seconds

    reader, neighbor = make_account(), make_account()
    large = reader.email("<p>" + ("<b>large</b> mail<br>\r\n" * (LARGE_BYTES // 24)))
    small = neighbor.email("<p>small</p>")
    neighbor.call("GET", small)
    rate = burst_of_plan()
    alone = asyncio.run(times(neighbor, small, seconds))
    show("alone", alone)
    with (
        tempfile.TemporaryDirectory() as folder,
        read_often(reader, large, rate, seconds + 2, Path(folder)) as load,
    ):
        beside = asyncio.run(times(neighbor, small, seconds))
        report = load.communicate()[0]
    show("beside large mails", beside)
    print(f"  large mails, {rate} a second requested:\n{report}", flush=True)
    what = "small email beside large mails, p95 in ms"
    return 0 if targets.at_most(what, percentile(beside, 95), MAX_P95) else 1


if __name__ == "__main__":
    sys.exit(main())
