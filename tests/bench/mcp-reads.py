#!/usr/bin/env python3
"""Measures what one account's tools of MCP cost another account's reads.

An inbox holds eight mails of 512 KiB whose HTML is made to take long: each element has eight
classes that many rules ask for. An account reads an email of its own, one request after the other,
alone and then beside six calls of `get_link` by the account of that inbox, which look into all
eight again and again: each has one link, which only ends a subscription. Prints p50, p95 and the
most of both, and how many calls were answered meanwhile.

Usage: ./dev bench mcp-reads [--seconds 10] [--calls 6] [--mails 8] [--rounds 3] [--different]

`--different`: no two tags of the mails are alike, so that nothing is remembered.
"""

import argparse
import http.client
import json
import os
import smtplib
import statistics
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from dev.waiting import wait_until
from measuring import plans, targets
from measuring.percentiles import percentile
from wait import make_keys

MAX_TIMES_ALONE = 3.0
PAGE_BYTES = 500 * 1024  # of one mail, which holds 512 KiB with its headers
MIN_SAMPLES = 50


def costly_page(are_tags_different: bool) -> str:
    """HTML with a link that ends a subscription, and elements that many rules ask for."""
    names = "abcdefgh"
    selectors = ",".join(f".{a} .{b},.{a}>.{b}" for a in names for b in names)
    link = "<a href='https://shop.example/u'>Unsubscribe</a>"
    rules = "display:block;opacity:1;width:9px;height:9px;top:1px;left:1px;font-size:9px"
    parts = [f"<style>{selectors},i{{{rules}}}</style>{link}\r\n"]
    size = len(parts[0])
    while size < PAGE_BYTES:
        mark = f" n={len(parts)}" if are_tags_different else ""
        parts.append(f"<b class='a b c d e f g h'{mark}>x\r\n")
        size += len(parts[-1])
    return "".join(parts)


@dataclass
class Client:
    """A connection to the gateway with an account's key."""

    key: str
    connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        address = urlsplit(os.environ["TEMPINBOX_GATEWAY_1_URL"])
        self.connection = http.client.HTTPConnection(
            str(address.hostname), int(address.port or 80), timeout=60
        )

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of a request that succeeds."""
        headers = {"X-API-Key": self.key, "MCP-Protocol-Version": "2025-11-25"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self.connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {content.decode()}")
        return json.loads(content)

    def make_inbox(self) -> dict[str, Any]:
        """Makes an inbox that outlives the bench."""
        inbox: dict[str, Any] = self.request("POST", "/v1/inboxes", {"ttlSeconds": 86_400})
        return inbox

    def emails(self, inbox: dict[str, Any]) -> list[dict[str, Any]]:
        """Returns the stored emails."""
        listed: list[dict[str, Any]] = self.request(
            "GET", f"/v1/inboxes/{inbox['inboxId']}/emails"
        )["emails"]
        return listed


def send(inbox: dict[str, Any], content_type: str, body: str, count: int) -> None:
    """Sends so many equal mails over one session."""
    host, _, port = os.environ["TEMPINBOX_SMTP"].rpartition(":")
    mail = (
        "From: bench@sender.example\r\nSubject: hello\r\nMIME-Version: 1.0\r\n"
        f"Content-Type: {content_type}; charset=us-ascii\r\n\r\n{body}\r\n"
    )
    with smtplib.SMTP(host, int(port)) as session:
        for _ in range(count):
            session.sendmail("bench@sender.example", [inbox["emailAddress"]], mail)


class Flood:
    """Calls of get_link at once, each for a link to follow, which no mail has."""

    def __init__(self, key: str, inbox: dict[str, Any], calls: int) -> None:
        self.inbox_id = inbox["inboxId"]
        self.is_over = threading.Event()
        self.outcomes: list[str] = []
        self.threads = [
            threading.Thread(target=self.run, args=(Client(key),)) for _ in range(calls)
        ]

    def run(self, client: Client) -> None:
        """Runs until it is over."""
        arguments = {"inboxId": self.inbox_id, "timeoutSeconds": 1}
        call = {"name": "get_link", "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        while not self.is_over.is_set():
            result = client.request("POST", "/mcp", message)["result"]
            content = result.get("structuredContent", {})
            self.outcomes.append(content.get("outcome", "error"))

    def __enter__(self) -> "Flood":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        for thread in self.threads:
            thread.join()


def read_times(client: Client, email_id: str, seconds: float) -> list[float]:
    """Milliseconds of each read, in order of size; one read follows the other."""
    times: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(times) < MIN_SAMPLES:
        began = time.monotonic()
        client.request("GET", f"/v1/emails/{email_id}")
        times.append(1000 * (time.monotonic() - began))
    return sorted(times)


def show(what: str, times: list[float]) -> None:
    print(
        f"{what}: p50 {percentile(times, 50):.1f} ms, p95 {percentile(times, 95):.1f} ms, "
        f"most {times[-1]:.1f} ms, {len(times)} reads",
        flush=True,
    )


def measure(options: argparse.Namespace) -> int:
    plans.set_numbers("premium", burst_per_second=0, requests_per_day=1_000_000_000)
    loud, quiet = (Client(key) for key in make_keys(2))
    flooded, own = loud.make_inbox(), quiet.make_inbox()
    send(flooded, "text/html", costly_page(options.different), options.mails)
    send(own, "text/plain", "Hello", 1)
    deadline = time.monotonic() + 30
    wait_until(lambda: len(loud.emails(flooded)) == options.mails, deadline, "mails are stored")
    wait_until(lambda: len(quiet.emails(own)) == 1, deadline, "the reader's mail is stored")
    email_id = quiet.emails(own)[0]["emailId"]

    ratios, outcomes = [], []
    read_times(quiet, email_id, 1)
    for _ in range(options.rounds):
        alone = read_times(quiet, email_id, options.seconds)
        with Flood(loud.key, flooded, options.calls) as flood:
            beside = read_times(quiet, email_id, options.seconds)
        show("reads alone", alone)
        show(f"beside {options.calls} get_link over {options.mails} mails", beside)
        print(f"calls answered meanwhile: {len(flood.outcomes)}", flush=True)
        outcomes += flood.outcomes
        ratios.append(percentile(beside, 95) / percentile(alone, 95))
    print("against the target:")
    is_met = targets.at_most(
        "p95 of another account's reads, times that alone, median of the rounds",
        statistics.median(ratios),
        MAX_TIMES_ALONE,
    )
    unexpected = sorted(set(outcomes) - {"not_yet"})
    if unexpected:
        print(f"problem: outcomes {', '.join(unexpected)}")
    return 0 if is_met and outcomes and not unexpected else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--calls", type=int, default=6, help="of get_link at once")
    parser.add_argument("--mails", type=int, default=8, help="in the inbox they look into")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--different", action="store_true", help="no two tags are alike")
    return measure(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
