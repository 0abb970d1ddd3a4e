#!/usr/bin/env python3
"""Measures what a scrape of the metrics of a warmed gateway costs its event loop.

Every operation of both APIs is called in ways that are answered differently, so that the gateway
has about as many series as it ever will. Then it is scraped again and again, while another process
sends it one small request after the other, which the same loop answers: how much longer the slowest
of them takes beside a scrape than at rest is how long the scrape held the loop. What the loop's
thread used for a scrape is read from /proc.

Usage: ./dev bench scrape [--scrapes 50]
"""

import argparse
import http.client
import json
import multiprocessing
import os
import re
import socket
import statistics
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from dev.waiting import delay_until
from measuring import targets
from measuring.percentiles import percentile

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_PARAMETER = re.compile(r"\{\w+\}")
_CALL_SECONDS = 10
_BETWEEN_CALLS_SECONDS = 0.03
_PROBES_AT_REST = 2_000
_PROBE = b"GET /livez HTTP/1.1\r\nHost: admin\r\n\r\n"
MIN_LINES = 3_000  # fewer, and the gateway was not warm
MAX_MILLISECONDS = 2.0  # design target: of the loop, for a scrape


class Api:
    """Both APIs with one account: a key for the one, a session for the other."""

    def __init__(self) -> None:
        self._host = urlsplit(os.environ["TEMPINBOX_API"]).netloc
        self._key = {"X-API-Key": os.environ["TEMPINBOX_API_KEY"]}
        self._session: dict[str, str] = {"Sec-Fetch-Site": "same-origin"}
        self.statuses: Counter[int] = Counter()
        self._next = 0.0
        self._sign_in()

    def _sign_in(self) -> None:
        body = {
            "email": os.environ["TEMPINBOX_DASHBOARD_EMAIL"],
            "password": os.environ["TEMPINBOX_DASHBOARD_PASSWORD"],
        }
        connection = http.client.HTTPConnection(self._host, timeout=_CALL_SECONDS)
        headers = self._session | {"Content-Type": "application/json"}
        connection.request("POST", "/dashboard/api/session", json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"signing in was answered {answer.status}: {text.decode()}")
        cookie = (answer.getheader("Set-Cookie") or "").split(";")[0]
        self._session |= {"Cookie": cookie, "X-CSRF-Token": json.loads(text)["csrfToken"]}
        connection.close()

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """Sends one request and returns its JSON, if it has any."""
        is_v1 = path.startswith("/v1")
        mine = self._key if is_v1 else self._session
        if not is_v1:  # a session has 50 a second
            delay_until(self._next)
            self._next = time.monotonic() + _BETWEEN_CALLS_SECONDS
        content = None if method in ("GET", "DELETE") else json.dumps(body or {})
        headers = mine if content is None else mine | {"Content-Type": kind}
        connection = http.client.HTTPConnection(self._host, timeout=_CALL_SECONDS)
        try:
            connection.request(method, path, content, headers)
            answer = connection.getresponse()
            self.statuses[answer.status] += 1
            if answer.getheader("Content-Type", "").startswith("text/event-stream"):
                return None  # it has no end
            text = answer.read()
        except TimeoutError:
            return None  # a long poll
        finally:
            connection.close()
        return json.loads(text) if text.startswith(b"{") else None


def operations() -> Iterator[tuple[str, str]]:
    """Method and path of each, as the contracts name them."""
    for contract in ("openapi.yaml", "dashboard-openapi.yaml"):
        paths = yaml.safe_load((_DOCS / contract).read_text(encoding="utf-8"))["paths"]
        for path, item in paths.items():
            for method in item:
                if method in ("get", "post", "put", "patch", "delete"):
                    yield method.upper(), path


def warm(api: Api) -> None:
    """Calls everything: with what is there, what is not, what is no id, and wrongly."""
    inbox = api.call("POST", "/v1/inboxes", {"tags": ["bench scrape"]})
    known = {"inboxId": inbox["inboxId"]} if inbox else {}
    for method, path in operations():
        if method == "DELETE" and "{" not in path:
            continue  # of the account or its session, which the rest needs
        absent = _PARAMETER.sub(str(uuid.uuid4()), path)
        api.call(method, absent + "?nonsense=1")
        api.call("PUT" if method != "PUT" else "GET", absent)
        api.call(method, _PARAMETER.sub("no-id", path), {"nonsense": True})
        api.call("POST", absent, kind="text/plain")
        if "{" in path:
            api.call(method, absent)
        elif method == "GET":
            api.call(method, path)
        there = path
        for name, value in known.items():
            there = there.replace(f"{{{name}}}", value)
        if method == "GET" and there != path and "{" not in there and "wait" not in there:
            api.call(method, there)
    if inbox:
        api.call("DELETE", f"/v1/inboxes/{inbox['inboxId']}")


def _scrape_on_request(admin: str, pipe: Connection) -> None:
    """Runs in a process of its own: answers each message with the seconds and lines of a scrape."""
    connection = http.client.HTTPConnection(admin, timeout=30)
    while pipe.recv():
        began = time.monotonic()
        connection.request("GET", "/metrics")
        text = connection.getresponse().read()
        pipe.send((time.monotonic() - began, text.count(b"\n")))
    connection.close()


class Probe:
    """Small requests over one connection, one after the other."""

    def __init__(self, admin: str) -> None:
        host, _, port = admin.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def milliseconds(self) -> float:
        """Returns the milliseconds of one request."""
        began = time.perf_counter()
        self._socket.sendall(_PROBE)
        received = b""
        while not received.endswith(b"ok\n"):
            more = self._socket.recv(4096)
            if not more:
                raise SystemExit("the gateway closed the probe's connection")
            received += more
        return 1000 * (time.perf_counter() - began)


def loop_seconds(pid: int) -> float:
    """CPU time of the thread that runs the event loop: the first one."""
    nanoseconds = Path(f"/proc/{pid}/task/{pid}/schedstat").read_text(encoding="ascii").split()[0]
    return int(nanoseconds) / 1e9


def measure(scrapes: int) -> bool:
    """Prints the figures; whether they are good enough."""
    admin = os.environ["TEMPINBOX_GATEWAY_1_ADMIN"]
    pid = int(os.environ["TEMPINBOX_GATEWAY_1_PID"])
    ours, theirs = multiprocessing.Pipe()
    scraper = multiprocessing.Process(target=_scrape_on_request, args=(admin, theirs), daemon=True)
    scraper.start()
    probe = Probe(admin)
    at_rest = sorted(probe.milliseconds() for _ in range(_PROBES_AT_REST))
    usual = percentile(at_rest, 50)

    delays, took, lines = [], [], 0
    for _ in range(scrapes):
        ours.send(True)
        slowest = 0.0
        while not ours.poll():
            slowest = max(slowest, probe.milliseconds())
        seconds, lines = ours.recv()
        took.append(1000 * seconds)
        delays.append(max(0.0, slowest - usual))

    before = loop_seconds(pid)
    for _ in range(scrapes):
        ours.send(True)
        ours.recv()
    used = 1000 * (loop_seconds(pid) - before) / scrapes
    ours.send(False)
    scraper.join(timeout=10)

    print(f"{lines} lines; a scrape takes {statistics.median(took):.1f} ms, most {max(took):.1f}")
    print(
        f"a request at rest: p50 {usual:.2f} ms, p99 {percentile(at_rest, 99):.2f} ms, most "
        f"{at_rest[-1]:.2f} ms"
    )
    print(
        f"beside a scrape the slowest takes longer by: median {statistics.median(delays):.2f} ms, "
        f"most {max(delays):.2f} ms, over {scrapes} scrapes"
    )
    print("against the targets:")
    outcomes = [
        targets.at_least("lines", lines, MIN_LINES),
        targets.at_most(
            "ms that a scrape holds the loop", statistics.median(delays), MAX_MILLISECONDS
        ),
        targets.at_most("ms of CPU of the loop for a scrape", used, MAX_MILLISECONDS),
    ]
    return all(outcomes)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./dev bench scrape",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--scrapes", type=int, default=50, help="how many (default 50)")
    options = parser.parse_args()
    if not 1 <= options.scrapes <= 10_000:
        parser.error("--scrapes must be 1 to 10000")
    api = Api()
    warm(api)
    answered = ", ".join(f"{status} x {count}" for status, count in sorted(api.statuses.items()))
    print(f"warmed by {api.statuses.total()} requests: {answered}", flush=True)
    return 0 if measure(options.scrapes) else 1


if __name__ == "__main__":
    sys.exit(main())
