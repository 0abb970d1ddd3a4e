#!/usr/bin/env python3
"""Measures what the daily quota costs: decisions of one rate-limit replica in coalesced calls, the
gateway with the service on and off, and SQL statements per 1,000 requests of one hot account and of
10,000 accounts.

Usage: ./dev bench quota [--seconds 4] [--rounds 6] [--accounts 10000]

Needs wrk. Raises the demo plan's daily limit for its run.
"""

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
import uuid

from measuring import plans, targets
from measuring.running_suite import dev, running

LIMIT = 1_000_000_000
MIN_DECISIONS = 50_000  # design target: a second, of one replica in coalesced calls
MAX_CPU = 1.1  # design target: of a gateway request without the quota
METHOD = "/tempinbox.ratelimit.v1.RateLimitService/TakeQuota"


def varint(number: int) -> bytes:
    """Protobuf's base-128 integer."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def call_body(accounts: list[str], units: int) -> bytes:
    """TakeQuotaRequest: `units` for each account."""
    body = b""
    for account in accounts:
        item = (
            b"\x0a\x24"
            + account.encode()
            + b"\x10"
            + varint(units)
            + b"\x18"
            + varint(LIMIT)
            + b"\x20\x01"
        )
        body += b"\x0a" + varint(len(item)) + item
    return body


def metric(admins: list[str], name: str) -> float:
    """A counter of rate-limit, over its replicas."""
    total = 0.0
    for admin in admins:
        connection = http.client.HTTPConnection(admin, timeout=5)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        total += sum(
            float(line.split()[-1])
            for line in text.splitlines()
            if line.startswith("tempinbox_rate_limit_" + name)
        )
    return total


def statements(admins: list[str]) -> float:
    """SQL statements on blocks: each is a transaction of its own."""
    return metric(admins, "block_syncs_total")


def commits() -> int:
    """Transactions of the whole database."""
    command = [
        "psql",
        "-XAtq",
        "-d",
        os.environ["TEMPINBOX_DATABASE"],
        "-c",
        "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
    ]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def hammer(
    rpc: str, bodies: list[bytes], decisions_a_call: int, seconds: float, connections: int
) -> float:
    """Calls in a closed loop; answers decisions a second."""
    counts = [0] * connections
    end = time.monotonic() + seconds
    headers = {
        "Content-Type": "application/proto",
        "Authorization": "Bearer " + os.environ["TEMPINBOX_RPC_TOKEN"],
    }

    def work(number: int) -> None:
        connection = http.client.HTTPConnection(rpc, timeout=10)
        turn = number
        while time.monotonic() < end:
            connection.request("POST", METHOD, bodies[turn % len(bodies)], headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"TakeQuota answered {answer.status}")
            counts[number] += decisions_a_call
            turn += connections

    threads = [threading.Thread(target=work, args=(number,)) for number in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def cpu_seconds(pid: str) -> float:
    """User and system time of a process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_decisions(seconds: float, accounts: int) -> bool:
    """Measures how many a replica makes in coalesced calls, and returns whether that is enough."""
    known = running()
    rpc, pid, admin = (known[f"TEMPINBOX_RATE_LIMIT_1_{kind}"] for kind in ("RPC", "PID", "ADMIN"))
    hot = [str(uuid.uuid4())]
    many = [str(uuid.uuid4()) for _ in range(accounts)]
    cases = [
        ("one hot account, calls of 64 units", [call_body(hot, 64)], 64),
        (
            f"{accounts} accounts, calls of 64 accounts, a unit each",
            [call_body(many[at : at + 64], 1) for at in range(0, accounts, 64)],
            64,
        ),
        (
            f"{accounts} accounts, calls of 500 accounts, a unit each",
            [call_body(many[at : at + 500], 1) for at in range(0, accounts, 500)],
            500,
        ),
    ]
    outcomes = []
    for name, bodies, decisions in cases:
        hammer(rpc, bodies, decisions, 1, 2)  # to have the accounts' first blocks
        before, open_before, cpu = (
            statements([admin]),
            metric([admin], "units_undecided_total"),
            cpu_seconds(pid),
        )
        rate = hammer(rpc, bodies, decisions, seconds, 2)
        queries, spent, undecided = (
            statements([admin]) - before,
            cpu_seconds(pid) - cpu,
            metric([admin], "units_undecided_total") - open_before,
        )
        total = rate * seconds
        outcomes.append(
            targets.at_least(f"{name}, decisions/s", (total - undecided) / seconds, MIN_DECISIONS)
        )
        print(
            f"    {1000 * queries / total:.3f} statements per 1,000, "
            f"{1e6 * spent / total:.2f} us of the replica's CPU each, {undecided:.0f} undecided",
            flush=True,
        )
    return all(outcomes)


def wrk(api: str, key: str, path: str, seconds: float) -> dict[str, float]:
    """`wrk -t1 -c64`: requests a second and p99 in milliseconds."""
    command = [
        "wrk",
        "-t1",
        "-c64",
        f"-d{int(seconds)}s",
        "--latency",
        "-H",
        f"X-API-Key: {key}",
        api + path,
    ]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
    late = re.search(r"99%\s+([\d.]+)(us|ms|s)", text)
    assert rate, text
    assert late, text
    return {
        "rate": float(rate[1]),
        "p99": float(late[1]) * {"us": 0.001, "ms": 1, "s": 1000}[late[2]],
    }


def create_inbox(api: str, key: str) -> str:
    """An inbox to be read over and over."""
    connection = http.client.HTTPConnection(api.split("//")[1], timeout=10)
    connection.request(
        "POST", "/v1/inboxes", "{}", {"X-API-Key": key, "Content-Type": "application/json"}
    )
    inbox: str = json.loads(connection.getresponse().read())["inboxId"]
    return inbox


def load_gateway(path: str, seconds: float) -> dict[str, float]:
    """wrk on one path of the first gateway, with the CPU of a request there and of the suite's
    services and PostgreSQL together.
    """
    api, key = os.environ["TEMPINBOX_API"], os.environ["TEMPINBOX_API_KEY"]
    known = running()
    gateway = known["TEMPINBOX_GATEWAY_1_PID"]
    wrk(api, key, path, 1)
    before = cpu_seconds(gateway)
    found = wrk(api, key, path, seconds)
    found["cpu"] = 1e6 * (cpu_seconds(gateway) - before) / (found["rate"] * seconds)
    return found


def measure_statements(seconds: float) -> None:
    """Measures what 1,000 requests of one account cost the database: a path that does not exist
    reads nothing else.
    """
    admins = [
        value
        for name, value in os.environ.items()
        if re.fullmatch(r"TEMPINBOX_RATE_LIMIT_\d+_ADMIN", name)
    ]
    load_gateway("/v1/nothing", 1)
    queries, committed = statements(admins), commits()
    total = load_gateway("/v1/nothing", seconds)["rate"] * (seconds + 1)
    queries, committed = statements(admins) - queries, commits() - committed
    print(
        f"{1000 * queries / total:.3f} quota statements and {1000 * committed / total:.2f} "
        "transactions in all per 1,000 requests",
        flush=True,
    )


def measure_gateway(seconds: float, rounds: int) -> bool:
    """Reading an inbox, its emails, and the cheapest request there is (a path that does not exist),
    where the quota's part shows most. With the service and without it by turns, since this
    machine's speed drifts; medians over the rounds. Whether the quota adds little enough to the
    first two.
    """
    replicas = sum(
        1 for name in os.environ if re.fullmatch(r"TEMPINBOX_RATE_LIMIT_\d+_ADMIN", name)
    )
    inbox = create_inbox(os.environ["TEMPINBOX_API"], os.environ["TEMPINBOX_API_KEY"])
    paths = {
        "GET an inbox": f"/v1/inboxes/{inbox}",
        "list emails": f"/v1/inboxes/{inbox}/emails",
        "404": "/v1/nothing",
    }
    found: dict[tuple[str, bool], list[dict[str, float]]] = {
        (name, is_on): [] for name in paths for is_on in (True, False)
    }
    is_on = True
    try:
        for number in range(2 * rounds):
            if number % 2 == 1:  # on off, off on, on off ...: what drifts falls on both alike
                is_on = not is_on
                # Off: nobody is there to be asked, and each request is let through.
                dev(
                    "up", "-d", "--no-build", "--replicas", f"rate-limit={replicas if is_on else 0}"
                )
            for name, path in paths.items():
                found[name, is_on].append(load_gateway(path, seconds))
    finally:
        dev("up", "-d", "--no-build", "--replicas", f"rate-limit={replicas}")
    outcomes = []
    for name in paths:
        on, off = found[name, True], found[name, False]
        ratios = sorted(
            100 * one["rate"] / other["rate"] for one, other in zip(on, off, strict=True)
        )
        rate, p99, cpu = (
            [statistics.median(each[kind] for each in some) for some in (on, off)]
            for kind in ("rate", "p99", "cpu")
        )
        print(
            f"{name}, medians of {rounds} rounds: with rate-limit {rate[0]:,.0f} requests/s, p99 "
            f"{p99[0]:.1f} ms, {cpu[0]:.1f} us of gateway CPU each; without "
            f"{rate[1]:,.0f}, {p99[1]:.1f} ms, {cpu[1]:.1f} us: {100 * rate[0] / rate[1]:.0f} % "
            f"of the rate (rounds {ratios[0]:.0f} to {ratios[-1]:.0f} %), "
            f"{100 * p99[0] / p99[1] - 100:+.0f} % p99, {100 * cpu[0] / cpu[1] - 100:+.0f} % CPU",
            flush=True,
        )
        if name != "404":
            outcomes.append(
                targets.at_most(
                    f"{name}: gateway CPU a request, of that without", cpu[0] / cpu[1], MAX_CPU
                )
            )
    return all(outcomes)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=4, help="for each figure (default 4)")
    parser.add_argument(
        "--rounds", type=int, default=6, help="with the service and without it (default 6)"
    )
    parser.add_argument(
        "--accounts", type=int, default=10_000, help="in the case of many (default 10000)"
    )
    options = parser.parse_args()
    plans.set_numbers("premium", requests_per_day=LIMIT, burst_per_second=0)
    measure_statements(options.seconds)
    is_cheap = measure_gateway(options.seconds, options.rounds)
    is_fast = measure_decisions(options.seconds, options.accounts)
    return 0 if is_cheap and is_fast else 1


if __name__ == "__main__":
    sys.exit(main())
