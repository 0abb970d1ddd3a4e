#!/usr/bin/env python3
"""Measures whether each further replica of a service carries as much as the first: nothing that
replicas share may serialize them.

Runs the services in turn with 1, 2 and 3 replicas on the running suite, each replica held to a
share of a core by a cgroup, so that replicas are the narrow place even where everything shares a
few cores. The other services run as they are, with one replica. Prints the throughput a replica
and how much it is of that of one alone: it may lose 15 %. Where it loses more, the bench says
whether the machine was full, a request cost the replicas more, or something shared held them up.
The suite gets its replicas back and every cgroup is removed. Exit code 3: this machine cannot give
shares; what it lacks is named.

Usage: ./dev bench scale [--quick] [--share 0.1] [--seconds 6] [--service NAME,...]
"""

import argparse
import contextlib
import math
import os
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import urlsplit

import api
import quota
from chaos.publishing import Publisher
from dev.running import stop_on_signals
from dev.terminal import Missing
from measuring import cgroups, figures, plans, processes, running_suite, shares, smtp_source, wrk
from measuring.shares import Carried
from measuring.webhook_load import Accounts, Sink, sink, wait_count

SERVICES = ("gateway", "inbox", "mail-ingest", "rate-limit", "webhook-dispatcher")
COUNTS = (1, 2, 3)
CONNECTIONS = 8  # a replica
MAX_FAILED = 0.01
MAILS = smtp_source.Load(16, 4096, True)
INBOXES = 16
ACCOUNTS, ACCOUNTS_A_CALL, CALLERS = 5_000, 500, 2
WEBHOOKS, PILOT_EVENTS = 20, 300
TIMEOUT_SECONDS = 60.0
WARM_UP_SECONDS = 2.0


class Meter:
    """Entered while a load runs at its full rate: CPU of each part, and what the machine had
    left.
    """

    def __init__(self, service: str, share: float) -> None:
        self._service = service
        self._share = share
        self._seconds = 0.0
        self._used: dict[str, float] = {}
        self._idle = 0.0

    def __enter__(self) -> None:
        self._seconds = -time.monotonic()
        self._idle = -processes.idle_seconds()
        self._used = {name: -used for name, used in self._cpu().items()}

    def __exit__(self, *_: object) -> None:
        self._seconds += time.monotonic()
        self._idle += processes.idle_seconds()
        self._used = {name: used + self._used[name] for name, used in self._cpu().items()}

    def _cpu(self) -> dict[str, float]:
        found = {name: sum(map(processes.cpu_seconds, pids)) for name, pids in api.parts().items()}
        return found | {"load": processes.cpu_seconds(os.getpid())}

    def carried(self, replicas: int, rate: float) -> Carried:
        """Returns the result."""
        busy = {name: used / self._seconds for name, used in self._used.items()}
        given = self._share * replicas
        idle = self._idle / self._seconds
        return Carried(replicas, rate, busy[self._service] / given, idle, busy)


# Loads: for so many seconds; how much a second.
Load = Callable[[float, Meter], float]


def beside_each_other(runs: Sequence[Callable[[], float]]) -> float:
    """Returns what all carry together."""
    with ThreadPoolExecutor(len(runs)) as pool:
        return sum(task.result() for task in [pool.submit(run) for run in runs])


def answered(target: wrk.Target, replicas: int, seconds: float) -> float:
    """Requests answered well in a second; a few may fail, as who has so little CPU is late."""
    rate = wrk.run(target, CONNECTIONS * replicas, seconds)
    if rate.failed > MAX_FAILED * rate.requests:
        raise SystemExit(f"{rate.failed} of {rate.requests} requests of {target.url} failed")
    return rate.per_second - rate.failed / rate.seconds


def lists(inbox: str) -> Load:
    """Loads each gateway, which has the list in memory: only rate-limit takes part beside it."""

    def load(seconds: float, meter: Meter) -> float:
        key = {"X-API-Key": os.environ["TEMPINBOX_API_KEY"]}
        urls = running_suite.of_replicas("gateway", "URL")
        targets = [wrk.Target("", f"{url}/v1/inboxes/{inbox}/emails", key) for url in urls]
        runs = [partial(answered, target, 1, seconds) for target in targets]
        with meter:
            return beside_each_other(runs)

    return load


def through_a_gateway(path: str, body: str = "", counts: bool = False) -> Load:
    """Requests that the inbox service works for."""

    def load(seconds: float, meter: Meter) -> float:
        key = {"X-API-Key": os.environ["TEMPINBOX_API_KEY"]}
        url = os.environ["TEMPINBOX_API"] + path
        replicas = len(running_suite.of_replicas("inbox", "PID"))
        with meter:
            return answered(wrk.Target("", url, key, body, counts=counts), replicas, seconds)

    return load


def mails(inboxes: int) -> Load:
    """Loads each mail-ingest over connections of its own."""
    made = [api.call("POST", "/v1/inboxes", {"ttlSeconds": 86_400}) for _ in range(inboxes)]
    addresses = [inbox["emailAddress"] for inbox in made]

    def load(seconds: float, meter: Meter) -> float:
        servers = [urlsplit(url).netloc for url in running_suite.of_replicas("mail-ingest", "URL")]
        rate = smtp_source.pilot(servers[0], MAILS, addresses)

        def send(server: str) -> float:
            sent, took = smtp_source.run(server, MAILS, addresses, math.ceil(rate * seconds))
            return sent / took

        with meter:
            return beside_each_other([partial(send, server) for server in servers])

    return load


def decisions() -> Load:
    """Loads each rate-limit replica, in calls for many accounts."""
    accounts = [str(uuid.uuid4()) for _ in range(ACCOUNTS)]
    bodies = [
        quota.call_body(accounts[at : at + ACCOUNTS_A_CALL], 1)
        for at in range(0, ACCOUNTS, ACCOUNTS_A_CALL)
    ]

    def load(seconds: float, meter: Meter) -> float:
        rpcs = running_suite.of_replicas("rate-limit", "RPC")
        ask = partial(quota.hammer, bodies=bodies, decisions_a_call=ACCOUNTS_A_CALL)
        runs = [partial(ask, rpc, seconds=seconds, connections=CALLERS) for rpc in rpcs]
        with meter:
            return beside_each_other(runs)

    return load


def webhooks(receiver: Sink, accounts: list[str]) -> Load:
    """Publishes events at once; what counts is the time in which the middle eight tenths arrive."""

    def flood(events: int, meter: contextlib.AbstractContextManager[None]) -> float:
        receiver.reset()
        publisher = Publisher(os.environ["TEMPINBOX_KAFKA"], accounts, events)
        first = wait_count(receiver, events // 10, TIMEOUT_SECONDS)
        began = time.monotonic()
        with meter:
            last = wait_count(receiver, events - events // 10, TIMEOUT_SECONDS)
            rate = (last - first) / (time.monotonic() - began)
        if wait_count(receiver, events, TIMEOUT_SECONDS) < events:
            raise SystemExit(f"{events - receiver.count()} of {events} webhooks did not arrive")
        publisher.published()
        return rate

    def load(seconds: float, meter: Meter) -> float:
        replicas = len(running_suite.of_replicas("webhook-dispatcher", "PID"))
        pilot = flood(PILOT_EVENTS * replicas, contextlib.nullcontext())
        return flood(math.ceil(pilot * seconds / 0.8), meter)

    return load


def measure(
    service: str, name: str, load: Load, options: argparse.Namespace, given: cgroups.Shares
) -> bool:
    """Measures one load on 1, 2 and 3 replicas; returns whether nothing shared holds them up."""
    print(f"\n{service}, {name}: each replica has {options.share:g} of a core", flush=True)
    found: list[Carried] = []
    outcomes = []
    for count in COUNTS:
        given.release()  # who is stopped finishes what it has
        running_suite.set_replicas(dict.fromkeys(SERVICES, 1) | {service: count})
        given.give(map(int, running_suite.of_replicas(service, "PID")))
        load(WARM_UP_SECONDS, Meter(service, options.share))
        meter = Meter(service, options.share)
        carried = meter.carried(count, load(options.seconds, meter))
        found.append(carried)
        is_good, why = shares.explain(found[0], carried)
        outcomes.append(is_good)
        print(
            f"  {count} replica{'s' if count > 1 else ' '} {carried.rate:>9,.0f}/s, "
            f"{carried.each:>8,.0f} each, {carried.each / found[0].each:.2f} of one alone; "
            f"{100 * carried.used_share:.0f} % of the share used, {carried.idle_cores:.2f} cores "
            f"idle{': ' + why if count > 1 or not is_good else ''}",
            flush=True,
        )
        bar = f"{service}, {name}, {count}"
        figures.note("Throughput a replica", "of one alone", bar, carried.each / found[0].each)
    return all(outcomes)


def bench(options: argparse.Namespace, given: cgroups.Shares, receiver: Sink | None) -> bool:
    """Every service that was asked for."""
    inbox = api.call("POST", "/v1/inboxes", {"ttlSeconds": 86_400})
    api.send(os.environ["TEMPINBOX_SMTP"], inbox["emailAddress"], api.EMAILS)
    path = f"/v1/inboxes/{inbox['inboxId']}/emails"
    email = api.call("GET", path)["emails"][0]["emailId"]
    created = '{"ttlSeconds":3600,"tags":["bench scale"]}'
    loads = [
        ("gateway", "lists", lists(inbox["inboxId"])),
        ("inbox", "creations", through_a_gateway("/v1/inboxes", created)),
        ("inbox", "reads of an email", through_a_gateway(f"/v1/emails/{email}")),
        ("inbox", "lists never asked for", through_a_gateway(f"{path}?after=", counts=True)),
        ("mail-ingest", "mails", mails(INBOXES)),
        ("rate-limit", "decisions", decisions()),
    ]
    made = Accounts()
    outcomes = []
    try:
        if receiver:
            accounts = made.make_many(WEBHOOKS, receiver.url + "/ok")
            loads.append(("webhook-dispatcher", "webhooks", webhooks(receiver, accounts)))
        for service, name, load in loads:
            if service in options.service:
                outcomes.append(measure(service, name, load, options, given))
    finally:
        made.delete_all()
    return all(outcomes)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="3 seconds for each load")
    parser.add_argument(
        "--share", type=float, default=0.1, help="of a core, 0.05 to 1, for each replica (0.1)"
    )
    parser.add_argument("--seconds", type=float, default=6, help="for each load (default 6)")
    parser.add_argument(
        "--service",
        type=lambda text: text.split(","),
        default=SERVICES,
        metavar="NAME,...",
        help="measure these alone (default: all five)",
    )
    parser.add_argument(
        "--preset", default="release", help="of the webhooks' receiver (default: release)"
    )
    options = parser.parse_args()
    if not 0.05 <= options.share <= 1 or not set(options.service) <= set(SERVICES):
        parser.error(f"--share is 0.05 to 1, services are {', '.join(SERVICES)}")
    options.seconds = 3.0 if options.quick else options.seconds
    stop_on_signals()
    plans.set_numbers("premium", requests_per_day=quota.LIMIT, live_inboxes=10_000_000)
    before = {name: len(running_suite.of_replicas(name, "PID")) for name in SERVICES}
    try:
        with cgroups.shares(options.share) as given, contextlib.ExitStack() as opened:
            try:
                has_webhooks = "webhook-dispatcher" in options.service
                receiver = opened.enter_context(sink(options.preset)) if has_webhooks else None
                return 0 if bench(options, given, receiver) else 1
            finally:
                given.release()
                running_suite.set_replicas(before)
    except Missing as missing:
        print(f"cannot be measured here: {missing}", file=sys.stderr)
        return missing.exit_code


if __name__ == "__main__":
    sys.exit(main())
