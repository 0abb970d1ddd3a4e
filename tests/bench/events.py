#!/usr/bin/env python3
"""Measures how fresh events are: the time from the storing of an email to the moment at which a
consumer of another team has its record, at an even 20 and 2,000 mails a second; and what the
processes use for an email meanwhile.

The mails go to 64 inboxes over kept SMTP connections; the consumer is a program of its own that
reads all partitions of email.received with Confluent's Python client.

Usage: ./dev bench events [--rates 20,2000] [--seconds 15] [--connections 32] [--rounds 3]

A rate that the machine does not reach is said, and its figure counts for nothing.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import api
import wait
from dev import python_packages
from measuring import mail_stream, plans, processes, targets
from measuring.percentiles import percentile

_READER = Path(__file__).with_name("measuring") / "event_reader.py"
_INBOXES = 64
# The objectives by rate; docs/events/contract.md, "Freshness".
_MAX_P99 = {20: 50.0, 2_000: 100.0}
_REACHED = 0.95  # of the requested rate
_TIMEOUT_SECONDS = 120.0


@contextmanager
def _reader(count: int) -> Iterator[subprocess.Popen[str]]:
    """Reads from now on."""
    command = [
        str(python_packages.python()),
        "-B",
        str(_READER),
        os.environ["TEMPINBOX_KAFKA"],
        "email.received",
        str(count),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        if process.stdout.readline().strip() != "ready":
            raise SystemExit("the consumer did not begin")
        yield process
    finally:
        process.kill()
        process.wait()


def _cpu() -> dict[str, float]:
    """Seconds used so far, by part."""
    return {name: sum(map(processes.cpu_seconds, pids)) for name, pids in api.parts().items()}


def _measure(addresses: list[str], rate: float, options: argparse.Namespace) -> list[float] | None:
    """Milliseconds in order of size; none where the rate was not reached."""
    messages = round(rate * options.seconds)
    with _reader(messages) as reader:
        before = _cpu()
        smtp = os.environ["TEMPINBOX_SMTP"]
        reached = asyncio.run(
            mail_stream.send(smtp, addresses, messages, rate, options.connections)
        )
        said, _ = reader.communicate(timeout=_TIMEOUT_SECONDS)
        after = _cpu()
    late = [float(each) for each in said.split()]
    if len(late) < messages:
        raise SystemExit(f"{messages - len(late)} of {messages} records did not come")
    used = {part: 1000 * (after[part] - before[part]) / messages for part in after}
    shares = ", ".join(
        f"{part} {ms:.3f}"
        for part, ms in sorted(used.items(), key=lambda it: -it[1])
        if ms >= 0.001
    )
    print(
        f"{rate:g}/s ({reached:.0f} reached): p50 {percentile(late, 50):.1f} ms, p99 "
        f"{percentile(late, 99):.1f}, most {late[-1]:.1f}; CPU ms an email: {shares}",
        flush=True,
    )
    return late if reached >= _REACHED * rate else None


def _judge(rate: float, rounds: list[list[float] | None]) -> bool:
    """Compares the median of the rounds with the objective."""
    good = [percentile(late, 99) for late in rounds if late is not None]
    if not good:
        print(f"  p99 at {rate:g}/s: this machine did not reach the rate", flush=True)
        return False
    middle = statistics.median(good)
    if rate not in _MAX_P99:
        print(f"  p99 in ms at {rate:g}/s: {middle:.1f} (no target)", flush=True)
        return True
    return targets.at_most(f"p99 in ms at {rate:g}/s", middle, _MAX_P99[int(rate)])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rates", default="20,2000", help="mails a second (default 20,2000)")
    parser.add_argument("--seconds", type=float, default=15, help="for each (default 15)")
    parser.add_argument("--connections", type=int, default=32, help="of SMTP (default 32)")
    parser.add_argument("--rounds", type=int, default=3, help="by turns (default 3)")
    options = parser.parse_args()
    rates = [float(each) for each in options.rates.split(",")]
    plans.set_numbers("premium", requests_per_day=100_000_000, live_inboxes=100_000)
    inboxes = asyncio.run(wait.Bench().make_inboxes(_INBOXES))
    addresses = [inbox["emailAddress"] for inbox in inboxes]
    found: dict[float, list[list[float] | None]] = {rate: [] for rate in rates}
    for _ in range(options.rounds):
        for rate in rates:
            found[rate].append(_measure(addresses, rate, options))
    print("against the targets:")
    outcomes = [_judge(rate, rounds) for rate, rounds in found.items()]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
