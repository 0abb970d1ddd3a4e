#!/usr/bin/env python3
"""Measures how late inboxes expire: makes inboxes that fall due at a steady rate and compares each
`inbox.expired` with its due time.

Usage: ./dev bench expiry [--rate 100] [--seconds 20]
"""

import argparse
import datetime
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

from measuring.percentiles import percentile

TTL_SECONDS = 60
WORKERS = 8


def make_inboxes(api: str, key: str, rate: int, seconds: int) -> dict[str, float]:
    """Creates `rate` inboxes a second; answers their due times by id."""
    due: dict[str, float] = {}
    lock = threading.Lock()
    began = time.monotonic()
    numbers = iter(range(rate * seconds))
    has_failed = threading.Event()

    def work() -> None:
        try:
            create_in_time()
        except BaseException:
            has_failed.set()
            raise

    def create_in_time() -> None:
        connection = http.client.HTTPConnection(urlsplit(api).netloc, timeout=10)
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            if has_failed.wait(max(0.0, began + number / rate - time.monotonic())):
                return
            connection.request(
                "POST",
                "/v1/inboxes",
                json.dumps({"ttlSeconds": TTL_SECONDS}),
                {"X-API-Key": key, "Content-Type": "application/json"},
            )
            answer = connection.getresponse()
            body = json.loads(answer.read())
            if answer.status != 201:
                print(f"POST /v1/inboxes answered {answer.status}: {body['message']}", flush=True)
                continue
            with lock:
                expires = datetime.datetime.fromisoformat(body["expiresAt"])
                due[body["inboxId"]] = expires.timestamp()

    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return due


def read_expiries(brokers: str, due: dict[str, float]) -> dict[str, float]:
    """Returns when each `inbox.expired` was appended to its topic, by inbox id."""
    deadline = max(due.values()) + 30
    seen: dict[str, float] = {}
    command = [
        "kcat",
        "-C",
        "-b",
        brokers,
        "-t",
        "inbox.expired",
        "-o",
        "beginning",
        "-q",
        "-u",
        "-f",
        "%k %T\n",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        stop = threading.Timer(deadline - time.time(), reader.terminate)
        stop.start()
        assert reader.stdout
        for line in reader.stdout:
            inbox, stamp = line.split()
            if inbox in due:
                seen.setdefault(inbox, int(stamp) / 1000)
            if len(seen) == len(due):
                break
        stop.cancel()
        reader.terminate()
    return seen


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rate", type=int, default=100, help="inboxes a second, 1 to 1000 (default 100)"
    )
    parser.add_argument(
        "--seconds", type=int, default=20, help="for how long, 1 to 120 (default 20)"
    )
    options = parser.parse_args()
    if not (1 <= options.rate <= 1000 and 1 <= options.seconds <= 120):
        parser.error("--rate must be 1 to 1000 and --seconds 1 to 120")

    print(
        f"making {options.rate * options.seconds} inboxes, {options.rate} a second; each falls due "
        f"{TTL_SECONDS} s later",
        flush=True,
    )
    due = make_inboxes(
        os.environ["TEMPINBOX_API"], os.environ["TEMPINBOX_API_KEY"], options.rate, options.seconds
    )
    print("waiting for their inbox.expired events", flush=True)
    seen = read_expiries(os.environ["TEMPINBOX_KAFKA"], due)
    late = sorted(1000 * (seen[inbox] - due[inbox]) for inbox in seen)
    if not late:
        print("no event came")
        return 1

    print(
        f"{len(late)} of {len(due)} expired; milliseconds from due to published: "
        f"p50 {percentile(late, 50):.0f}, p99 {percentile(late, 99):.0f}, most {late[-1]:.0f}, "
        f"least {late[0]:.0f}"
    )
    return 0 if len(late) == len(due) else 1


if __name__ == "__main__":
    sys.exit(main())
