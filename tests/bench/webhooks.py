#!/usr/bin/env python3
"""Measures how fast events become webhooks: the time from handing an event to Kafka to its arrival
at 20 a second, alone and, by turns, beside an endpoint that hangs and one that fails; then
deliveries a second and what they cost at 1, 100 and 10,000 endpoints, with and without rules; last
the same time alone and beside 250 endpoints of others that answer after nine seconds and always
have more to be sent: six first tries each, 1,500 of the 2,000 requests a dispatcher has under way
at most.

Events are published straight to Kafka; the receiver is a plain local one that answers 204. The
floors, on the same machine in the same run, are wrk on the receiver and, for the latency, what
Kafka alone takes from a producer to a consumer and PostgreSQL to commit one row: an event is stored
before it is sent. What rules cost, and what one endpoint carries, is taken by turns. CPU is that of
dispatchers, PostgreSQL and Kafka up to the moment all is quiet again, load and receiver not
included.

Usage: ./dev bench webhooks [--quick] [--slow-only] [--slow-endpoints 250] [--events 20000]
       [--seconds 10] [--preset release] [--no-build]

The suite must run the same preset. Needs wrk.
"""

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from chaos.publishing import Publisher
from dev import python_packages
from dev.waiting import wait_until
from measuring import figures, floors, many_rows, processes, targets, wrk
from measuring.percentiles import percentile
from measuring.webhook_load import Accounts, Sink, sink, wait_count

ROOT = Path(__file__).resolve().parents[2]
RATE = 20.0
TURNS = 3
MIN_RATE, MAX_CPU_MS, MAX_P99 = 5_000.0, 0.3, 10.0
MAX_OF_KAFKA = 1.7  # p50, beside Kafka alone
MAX_WITH_RULES, MIN_OF_ONE, MAX_BESIDE = 1.15, 0.6, 1.3
SLOW_SECONDS = 9.0  # bench-webhook-sink's, on the average
WINDOW = 6  # first tries of an endpoint at once
MAX_IN_FLIGHT = 2_000  # requests of a dispatcher at once
BODY = (
    '{"event":"email.received","timestamp":"2026-11-21T12:00:00.000Z",'
    '"data":{"emailId":"01990000-0000-7000-8000-000000000000",'
    '"inboxId":"01990000-0000-7000-8000-000000000000",'
    '"from":"robot@sender.example","subject":"Your order 1 is on its way"}}'
)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a flood of events."""

    rate: float
    cpu_ms: dict[str, float]
    wal_bytes: float
    dead_rows: float
    repeats: int
    missing: int

    @property
    def own_cpu_ms(self) -> float:
        """Returns the CPU that the target counts: the dispatchers and PostgreSQL."""
        return self.cpu_ms["dispatcher"] + self.cpu_ms["PostgreSQL"]


def parts() -> dict[str, list[int]]:
    """The processes that are charged."""
    dispatchers = [
        int(pid)
        for name, pid in os.environ.items()
        if re.fullmatch(r"TEMPINBOX_WEBHOOK_DISPATCHER_\d+_PID", name)
    ]
    return {
        "dispatcher": dispatchers,
        "PostgreSQL": [int(os.environ["TEMPINBOX_POSTGRES_PID"])],
        "Kafka": [int(os.environ["TEMPINBOX_KAFKA_PID"])],
    }


def used() -> dict[str, float]:
    """CPU seconds of each part so far."""
    return {name: sum(map(processes.cpu_seconds, pids)) for name, pids in parts().items()}


def query(sql: str) -> float:
    """Returns one number from PostgreSQL."""
    return float(many_rows.psql(os.environ["TEMPINBOX_DATABASE"], sql))


def wal() -> float:
    """Bytes ever written ahead."""
    return query("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")


def rows(what: str) -> float:
    """Rows of the dispatcher's tables that ever were inserted or died."""
    return query(f"SELECT sum({what}) FROM pg_stat_user_tables WHERE schemaname = 'webhooks'")


def wait_counted(attempts_before: float, expected: int) -> None:
    """PostgreSQL's connections report their counts up to ten seconds late."""
    with contextlib.suppress(TimeoutError):
        wait_until(
            lambda: query(ATTEMPTS) - attempts_before >= expected,
            time.monotonic() + 15,
            f"{expected} attempts",
            every=0.2,
        )


ATTEMPTS = (
    "SELECT sum(n_tup_ins) FROM pg_stat_user_tables WHERE schemaname = 'webhooks' AND relname ~ "
    "'^attempts'"
)
DEAD = "n_tup_upd + n_tup_del"


def flood(receiver: Sink, accounts: list[str], events: int) -> Outcome:
    """Publishes all at once and waits for what comes of it."""
    everyone = [pid for pids in parts().values() for pid in pids]
    processes.wait_quiet(everyone)
    many_rows.psql(os.environ["TEMPINBOX_DATABASE"], "CHECKPOINT")
    receiver.reset()
    attempts, dead, written, before = query(ATTEMPTS), rows(DEAD), wal(), used()
    publisher = Publisher(os.environ["TEMPINBOX_KAFKA"], accounts, events)
    wait_count(receiver, events, 20 + events / 500)
    published = publisher.published()
    processes.wait_quiet(everyone)
    after, wal_bytes = used(), wal() - written
    wait_counted(attempts, events)
    receipts = [
        one for one in receiver.receipts() if one.event in published
    ]  # an event of before may be tried again meanwhile
    seconds = (max(one.at for one in receipts) - min(published.values())) / 1e9
    distinct = len({one.event for one in receipts})
    return Outcome(
        rate=distinct / seconds,
        cpu_ms={name: 1000 * (after[name] - before[name]) / events for name in after},
        wal_bytes=wal_bytes / events,
        dead_rows=(rows(DEAD) - dead) / events,
        repeats=len(receipts) - distinct,
        missing=len(published.keys() - {one.event for one in receipts}),
    )


def median(turns: list[Outcome]) -> Outcome:
    """The turn in the middle by its cost."""
    return sorted(turns, key=lambda outcome: outcome.own_cpu_ms)[len(turns) // 2]


def show(name: str, outcome: Outcome) -> None:
    shares = ", ".join(f"{part} {ms:.3f}" for part, ms in outcome.cpu_ms.items())
    print(
        f"{name:<26} {outcome.rate:>7,.0f} deliveries/s; CPU an event: {shares} ms; "
        f"{outcome.wal_bytes:,.0f} bytes of WAL and "
        f"{outcome.dead_rows:.2f} dead rows each; {outcome.repeats} repeated, {outcome.missing} "
        "missing",
        flush=True,
    )
    figures.note("Webhooks", "deliveries a second", name, outcome.rate)
    for part, millis in outcome.cpu_ms.items():
        figures.note("CPU of an event", "ms", name, millis, part)


def flow(receiver: Sink, account: str, seconds: float) -> list[float]:
    """Publishes at a steady rate; the milliseconds each took to the healthy endpoint, sorted."""
    receiver.reset()
    published = Publisher(
        os.environ["TEMPINBOX_KAFKA"], [account], round(RATE * seconds), RATE
    ).published()
    arrived: dict[str, int] = {}

    def have_all_arrived() -> bool:
        for one in receiver.receipts():
            if one.kind == "o":
                arrived.setdefault(one.event, one.at)
        return not published.keys() - arrived.keys()

    with contextlib.suppress(TimeoutError):
        wait_until(have_all_arrived, time.monotonic() + 10, "every event")
    lost = len(published.keys() - arrived.keys())
    if lost:
        raise SystemExit(
            f"{lost} of {len(published)} events did not arrive at the healthy endpoint"
        )
    return sorted((arrived[event] - at) / 1e6 for event, at in published.items())


def kafka_alone(seconds: float) -> list[float]:
    """The milliseconds from a producer to a consumer at the same rate, sorted."""
    program = Path(__file__).parent / "measuring" / "kafka_floor.py"
    command = [
        str(python_packages.python()),
        "-B",
        str(program),
        os.environ["TEMPINBOX_KAFKA"],
        str(round(RATE * seconds)),
        str(RATE),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"the floor of Kafka could not be measured: {done.stderr}")
    return [float(late) for late in done.stdout.split()]


def commit_alone(seconds: float) -> list[float]:
    """The milliseconds PostgreSQL takes to commit one row at the same rate, sorted."""
    database = os.environ["TEMPINBOX_DATABASE"]
    many_rows.psql(database, "CREATE TABLE IF NOT EXISTS public.bench_floor (at timestamptz)")
    try:
        return floors.pgbench_paced(
            database, "INSERT INTO public.bench_floor VALUES (now())", RATE, seconds
        )
    finally:
        many_rows.psql(database, "DROP TABLE public.bench_floor")


def percentiles(late: list[float]) -> tuple[float, float]:
    """p50 and p99."""
    return percentile(late, 50), percentile(late, 99)


def measure_latency(
    seconds: float, receiver: Sink, made: Accounts
) -> tuple[tuple[float, float], ...]:
    """p50 and p99 of Kafka alone, of an endpoint alone, and of one beside two that are down;
    medians of turns, since this machine's speed drifts.
    """
    commit = percentiles(commit_alone(seconds))
    print(
        f"floor: PostgreSQL alone, a row committed at {RATE:g}/s: p50 {commit[0]:.2f}, p99 "
        f"{commit[1]:.2f} ms",
        flush=True,
    )
    single = made.make([receiver.url + "/ok"])
    crowd = made.make([receiver.url + path for path in ("/ok", "/hang", "/fail")])
    turns = [
        (
            percentiles(kafka_alone(seconds)),
            percentiles(flow(receiver, single, seconds)),
            percentiles(flow(receiver, crowd, seconds)),
        )
        for _ in range(TURNS)
    ]
    floor, alone, beside = (
        (
            statistics.median(turn[which][0] for turn in turns),
            statistics.median(turn[which][1] for turn in turns),
        )
        for which in range(3)
    )
    print(
        f"floor: Kafka alone, produce to consume at {RATE:g}/s: p50 {floor[0]:.2f}, p99 "
        f"{floor[1]:.2f} ms",
        flush=True,
    )
    print(
        f"produce to receive at {RATE:g}/s: p50 {alone[0]:.2f}, p99 {alone[1]:.2f} ms, "
        f"{alone[0] / floor[0]:.1f} and {alone[1] / floor[1]:.1f} times Kafka alone",
        flush=True,
    )
    print(
        f"beside one that hangs and one that answers 500: p50 {beside[0]:.2f}, p99 "
        f"{beside[1]:.2f} ms",
        flush=True,
    )
    chart = f"Produce to receive, {RATE:g} events a second"
    for name, times in (("Kafka alone", floor), ("a webhook", alone), ("beside two down", beside)):
        for which, late in zip(("p50", "p99"), times, strict=True):
            figures.note(chart, "ms", f"{name}, {which}", late)
    return floor, alone, beside


class Sampler:
    """Asks for a number ten times a second as long as it is entered."""

    def __init__(self, ask: Callable[[], int]) -> None:
        self.samples = [ask()]
        self._ask = ask
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._is_over.wait(0.1):
            self.samples.append(self._ask())


def measure_beside_slow(seconds: float, count: int, receiver: Sink, made: Accounts) -> bool:
    """Returns whether a healthy endpoint goes on as if alone while those of so many other accounts
    answer in time but late, and always have more to be sent.
    """
    healthy = made.make([receiver.url + "/ok"])
    slow = made.make_many(count, receiver.url + "/slow")
    alone = [percentiles(flow(receiver, healthy, seconds)) for _ in range(TURNS)]

    # Each has something to send until the last turn is over.
    rounds = 4 + round(TURNS * (seconds + 2) / SLOW_SECONDS)
    receiver.reset()
    load = Publisher(os.environ["TEMPINBOX_KAFKA"], slow, len(slow) * WINDOW * (rounds + 1))
    wait_count(receiver, min(MAX_IN_FLIGHT, count * WINDOW), 3 * SLOW_SECONDS)
    with Sampler(receiver.unanswered) as under_way:
        beside = [percentiles(flow(receiver, healthy, seconds)) for _ in range(TURNS)]
    left = query("SELECT count(*) FROM webhooks.due_deliveries")
    load.published()

    p50, p99 = (statistics.median(turn[part] for turn in alone) for part in (0, 1))
    slow_p50, slow_p99 = (statistics.median(turn[part] for turn in beside) for part in (0, 1))
    print(
        f"produce to receive at {RATE:g}/s, alone: p50 {p50:.2f}, p99 {p99:.2f} ms; beside "
        f"{count} endpoints that answer after {SLOW_SECONDS:g} s: p50 {slow_p50:.2f}, "
        f"p99 {slow_p99:.2f} ms, {slow_p99 / p99:.2f} times as long",
        flush=True,
    )
    samples = sorted(under_way.samples)
    print(
        f"requests to the slow ones under way meanwhile: {samples[0]:,} to {samples[-1]:,}, "
        f"median {statistics.median(samples):,.0f}; {left:,.0f} deliveries waiting at the end",
        flush=True,
    )
    if not left:
        print("the slow endpoints had nothing left to send: nothing is shown", flush=True)
        return False
    return targets.at_most(
        f"a healthy endpoint's p99 beside {count} slow ones, of what it is alone",
        slow_p99 / p99,
        MAX_BESIDE,
    )


def measure(options: argparse.Namespace, receiver: Sink, made: Accounts) -> bool:
    """Returns whether nothing was lost and every target is met."""
    floor = wrk.run(wrk.Target("", receiver.url + "/ok", {"webhook-id": "0" * 36}, BODY), 64, 3)
    print(f"{'floor: wrk on the receiver':<26} {floor.per_second:>7,.0f} requests/s", flush=True)

    flood(
        receiver, made.make_many(20, receiver.url + "/ok"), options.events // 4
    )  # warms everything up
    kafka, alone, beside = measure_latency(options.seconds, receiver, made)
    cases = {
        (endpoints, rules): made.make_many(endpoints, receiver.url + "/ok", rules)
        for endpoints, rules in ((1, 0), (100, 0), (100, 20), (options.many, 0))
    }
    outcomes: dict[tuple[int, int], list[Outcome]] = {case: [] for case in cases}
    for endpoints, rules in [*[(1, 0), (100, 0), (100, 20)] * TURNS, (options.many, 0)]:
        outcome = flood(receiver, cases[endpoints, rules], max(options.events, endpoints))
        show(
            f"{endpoints:,} endpoints, {rules} rules"
            if endpoints > 1
            else f"1 endpoint, {rules} rules",
            outcome,
        )
        outcomes[endpoints, rules].append(outcome)

    main_case = median(outcomes[100, 0])
    print(
        f"against the targets (100 endpoints; {main_case.rate / floor.per_second:.2f} of the "
        "floor):"
    )
    met = [
        targets.at_least("deliveries a second", main_case.rate, MIN_RATE),
        targets.at_most("CPU an event with PostgreSQL in ms", main_case.own_cpu_ms, MAX_CPU_MS),
        targets.at_most(f"p50 at {RATE:g}/s, times Kafka alone", alone[0] / kafka[0], MAX_OF_KAFKA),
        targets.at_most(f"p99 at {RATE:g}/s in ms", alone[1], MAX_P99),
        targets.at_most(
            "a healthy endpoint's p99 beside a dead one, of what it is alone",
            beside[1] / alone[1],
            MAX_BESIDE,
        ),
        targets.at_most(
            "CPU with 20 rules, of what it is with none",
            median(outcomes[100, 20]).own_cpu_ms / main_case.own_cpu_ms,
            MAX_WITH_RULES,
        ),
        targets.at_least(
            "one endpoint, of the rate of 100",
            median(outcomes[1, 0]).rate / main_case.rate,
            MIN_OF_ONE,
        ),
    ]
    return all(met) and not any(outcome.missing for turns in outcomes.values() for outcome in turns)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="4,000 events a case, 5 seconds of latency, 1,000 endpoints at most",
    )
    parser.add_argument(
        "--slow-only", action="store_true", help="only what slow endpoints do to a healthy one"
    )
    parser.add_argument(
        "--slow-endpoints",
        type=int,
        default=250,
        help="how many of them (default 250); from 334 on they want every place there is",
    )
    parser.add_argument("--events", type=int, default=20_000, help="in each flood (default 20000)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=10,
        help="of each of the twelve measurements of latency (default 10)",
    )
    parser.add_argument(
        "--preset",
        default="release",
        help="of the receiver, and what the suite should run (default: release)",
    )
    parser.add_argument(
        "--no-build", action="store_true", help="run the receiver that is built already"
    )
    options = parser.parse_args()
    options.many = 1_000 if options.quick else 10_000
    if options.quick:
        options.events, options.seconds = 4_000, 5.0
    if not options.no_build:
        subprocess.run(
            [ROOT / "dev", "build", "--preset", options.preset, "bench-webhook-sink"], check=True
        )
    made = Accounts()
    with sink(options.preset) as receiver:
        try:
            is_good = options.slow_only or measure(options, receiver, made)
            is_good = (
                measure_beside_slow(options.seconds, options.slow_endpoints, receiver, made)
                and is_good
            )
        finally:
            made.delete_all()
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
