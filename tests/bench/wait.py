#!/usr/bin/env python3
"""Waiting for mail: opens thousands of waits on one gateway, shows what they cost, then sends mail
and measures the time from SMTP's 250 to the answer.

Usage: ./dev bench wait [--waits 8000] [--inboxes 8000] [--mails 400] [--rate 20]

Every wait has a connection of its own, from several loopback addresses, and begins again when it
ends, so that their number stays the same. They are of ten accounts, since one may have a tenth of
a gateway's waits at most.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dev.waiting import wait_until_async
from measuring import plans, targets
from measuring.percentiles import percentile

_ROOT = Path(__file__).resolve().parents[2]
SOURCES = [f"127.0.0.{number}" for number in range(2, 10)]
OPENED_AT_ONCE = 64
_MADE_AT_ONCE = 4
_UNKNOWN_KEYS_AT_ONCE = 8  # a gateway refuses the look-ups of more
TIMEOUT_SECONDS = 60
ACCOUNTS = 10
MAX_MEGABYTES, MAX_P50, MAX_P99 = 300, 10.0, 30.0


class Wait(asyncio.Protocol):
    """A connection that always waits for the next mail of its inbox."""

    def __init__(self, inbox: dict[str, Any], key: str, bench: "Bench") -> None:
        self.inbox = inbox
        self.key = key
        self.bench = bench
        self.after = 0
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        target = (
            f"/v1/inboxes/{self.inbox['inboxId']}/emails/wait"
            f"?after={self.after}&timeoutSeconds={TIMEOUT_SECONDS}"
        )
        self.transport.write(
            f"GET {target} HTTP/1.1\r\nHost: api\r\nX-API-Key: {self.key}\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        self.received += data
        head, split, body = self.received.partition(b"\r\n\r\n")
        if not split:
            return
        length = int(
            next(
                line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
            ).split(b":")[1]
        )
        if len(body) < length:
            return
        self.received = b""
        if not head.startswith(b"HTTP/1.1 200"):
            self.bench.problems.append(head.split(b"\r\n")[0].decode() + " " + body.decode())
            return
        answer = json.loads(body)
        if answer["outcome"] == "matched":
            self.after = answer["email"]["sequence"]
            self.bench.answered_at.setdefault(answer["email"]["emailId"], now)
        self.ask()

    def connection_lost(self, problem: Exception | None) -> None:
        if not self.bench.is_over:
            self.bench.problems.append(f"a connection was closed: {problem}")


def operate(*arguments: str) -> Any:
    """Runs the operator's command line; its JSON answer."""
    command = [str(_ROOT / "dev"), "ctl", *arguments, "--output", "json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def make_keys(count: int) -> list[str]:
    """Makes keys of so many fresh accounts, one each."""

    def make(_: int) -> str:
        email = f"wait-{uuid.uuid4().hex[:12]}@bench.example"
        account = operate("account", "create", "--email", email, "--plan", "premium")["accountId"]
        key: str = operate("key", "create", account, "--label", "bench")["key"]
        return key

    with ThreadPoolExecutor(_MADE_AT_ONCE) as threads:
        return list(threads.map(make, range(count)))


class Bench:
    """The waits and what became of them."""

    def __init__(self, accounts: int = ACCOUNTS) -> None:
        self.keys = make_keys(accounts)
        address = urlsplit(os.environ["TEMPINBOX_GATEWAY_1_URL"])
        self.host, self.port = str(address.hostname), int(address.port or 80)
        self.answered_at: dict[str, float] = {}
        self.stored_at: dict[str, float] = {}
        self.problems: list[str] = []
        self.is_over = False

    async def make_inboxes(self, count: int) -> list[dict[str, Any]]:
        """Live ones that outlive the bench, of the accounts in turn."""
        made: list[list[dict[str, Any]]] = [[] for _ in self.keys]
        slots = asyncio.Semaphore(_UNKNOWN_KEYS_AT_ONCE)

        async def work(share: int, account: int) -> None:
            async with slots:
                await make(share, account)

        async def make(share: int, account: int) -> None:
            reader, writer = await asyncio.open_connection(self.host, self.port)
            body = b'{"ttlSeconds":86400,"tags":["bench wait"]}'
            head = (
                f"POST /v1/inboxes HTTP/1.1\r\nHost: api\r\nX-API-Key: {self.keys[account]}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            for _ in range(share):
                writer.write(head.encode() + body)
                answer = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(answer.partition(b"content-length:")[2].split(b"\r\n")[0])
                inbox = json.loads(await reader.readexactly(length))
                assert "inboxId" in inbox, inbox
                made[account].append(inbox)
            writer.close()

        accounts = len(self.keys)
        shares = [count // accounts + (number < count % accounts) for number in range(accounts)]
        await asyncio.gather(*(work(share, number) for number, share in enumerate(shares)))
        # In turn, so that the inbox at a place is of the account at that place.
        return [made[index % accounts][index // accounts] for index in range(count)]

    async def open_waits(
        self, inboxes: list[dict[str, Any]], count: int
    ) -> list[asyncio.BaseTransport]:
        """All of them, some at a time."""
        loop = asyncio.get_running_loop()
        slots = asyncio.Semaphore(OPENED_AT_ONCE)

        async def open_one(number: int) -> asyncio.BaseTransport:
            async with slots:
                source = (SOURCES[number % len(SOURCES)], 0)
                at = number % len(inboxes)
                transport, _ = await loop.create_connection(
                    lambda: Wait(inboxes[at], self.keys[at % len(self.keys)], self),
                    self.host,
                    self.port,
                    local_addr=source,
                )
                return transport

        return await asyncio.gather(*(open_one(number) for number in range(count)))

    async def send(self, inboxes: list[dict[str, Any]], mails: int, rate: float) -> None:
        """Sends one mail after the other over a kept SMTP connection, to inboxes in turn."""
        host, _, port = os.environ["TEMPINBOX_SMTP"].rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))

        async def say(line: str, code: str) -> str:
            if line:
                writer.write(line.encode() + b"\r\n")
            while (answer := (await reader.readline()).decode())[3:4] == "-":
                pass
            assert answer.startswith(code), f"{line}: {answer}"
            return answer

        await say("", "220")
        await say("EHLO bench.example", "250")
        began = time.monotonic()
        for number in range(mails):
            await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
            await say("MAIL FROM:<bench@sender.example>", "250")
            await say(f"RCPT TO:<{inboxes[number * 7919 % len(inboxes)]['emailAddress']}>", "250")
            await say("DATA", "354")
            text = (
                f"From: bench@sender.example\r\nSubject: Your code {number}\r\n\r\n"
                f"Your verification code is {100000 + number}.\r\n."
            )
            answer = await say(text, "250")
            self.stored_at[
                next(word.strip(".,;") for word in answer.split() if word.count("-") == 4)
            ] = time.monotonic()
        await say("QUIT", "221")
        writer.close()

    def milliseconds_late(self) -> list[float]:
        """Returns the delays from SMTP's 250 to the answer, in order of size."""
        return sorted(
            1000 * (self.answered_at[email] - self.stored_at[email]) for email in self.stored_at
        )


async def latencies(waits: int, mails: int, rate: float) -> list[float]:
    """Milliseconds from SMTP's 250 to the answer with so many requests waiting, each for an inbox
    of its own.
    """
    bench = Bench()
    inboxes = await bench.make_inboxes(waits)
    transports = await bench.open_waits(inboxes, waits)
    await until(lambda: waiting_at_gateway() >= waits, "all requests wait")
    await bench.send(inboxes, mails, rate)
    await until(
        lambda: bench.stored_at.keys() <= bench.answered_at.keys(), "all mail answered", seconds=10
    )
    bench.is_over = True
    for transport in transports:
        transport.close()
    await until(lambda: waiting_at_gateway() == 0, "nobody waits any more")
    return bench.milliseconds_late()


def memory(pid: int) -> float:
    """Resident megabytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return (
        int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1])
        / 1024
    )


def cpu_seconds() -> dict[str, float]:
    """Returns the CPU of each kind of process, so far."""
    used: dict[str, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = (
                stat.read_text(encoding="utf-8", errors="replace").partition("(")[2].rpartition(")")
            )
        except OSError:
            continue
        fields = rest.split()
        used[name] = used.get(name, 0.0) + (int(fields[11]) + int(fields[12])) / os.sysconf(
            "SC_CLK_TCK"
        )
    return used


def waiting_at_gateway() -> int:
    """Returns how many it counts itself."""
    url = f"http://{os.environ['TEMPINBOX_GATEWAY_1_ADMIN']}/metrics"
    text = subprocess.run(["curl", "-s", url], capture_output=True, text=True, check=True).stdout
    return int(
        float(
            next(
                line
                for line in text.splitlines()
                if line.startswith("tempinbox_gateway_waiting_requests ")
            ).split()[1]
        )
    )


async def until(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Looks again and again; gives up loudly."""
    await wait_until_async(condition, time.monotonic() + seconds, what, every=0.1)


async def measure(options: argparse.Namespace) -> int:
    bench = Bench()
    pid = int(os.environ["TEMPINBOX_GATEWAY_1_PID"])
    began = time.monotonic()
    inboxes = await bench.make_inboxes(options.inboxes)
    print(f"{options.inboxes} inboxes made in {time.monotonic() - began:.1f} s", flush=True)
    before = memory(pid)

    began = time.monotonic()
    transports = await bench.open_waits(inboxes, options.waits)
    await until(lambda: waiting_at_gateway() >= options.waits, "all requests wait")
    opened = time.monotonic() - began
    idle_from = cpu_seconds()
    await asyncio.sleep(options.idle)
    idle_to = cpu_seconds()
    with_waits = memory(pid)
    print(f"{waiting_at_gateway()} requests wait; opened in {opened:.1f} s")
    print(
        f"resident memory of the gateway: {before:.0f} MB before, {with_waits:.0f} MB with them, "
        f"{(with_waits - before) * 1024 / options.waits:.1f} KB each"
    )
    shares = {
        name: 100 * (idle_to[name] - idle_from.get(name, 0.0)) / options.idle for name in idle_to
    }
    busy = [
        f"{name} {share:.1f} %"
        for name, share in sorted(shares.items(), key=lambda it: -it[1])
        if share >= 0.5
    ]
    print(
        "CPU of one core while they wait and nothing comes: "
        + (", ".join(busy) or "none to speak of"),
        flush=True,
    )

    await bench.send(inboxes, options.mails, options.rate)
    await until(
        lambda: bench.stored_at.keys() <= bench.answered_at.keys(), "all mail answered", seconds=10
    )
    bench.is_over = True
    late = bench.milliseconds_late()
    p50, p99 = percentile(late, 50), percentile(late, 99)
    print(
        f"SMTP 250 to the waiting request's answer, {len(late)} mails at {options.rate:g}/s: p50 "
        f"{p50:.1f} ms, p99 {p99:.1f} ms, "
        f"most {late[-1]:.1f} ms"
    )
    for transport in transports:
        transport.close()
    await until(lambda: waiting_at_gateway() == 0, "nobody waits any more")
    print(f"all hung up: {waiting_at_gateway()} wait, {memory(pid):.0f} MB")
    for problem in bench.problems[:5]:
        print("problem: " + problem)
    print("against the targets:")
    outcomes = [
        targets.at_most("memory of the gateway in MB", with_waits, MAX_MEGABYTES),
        targets.at_most("p50 in ms", p50, MAX_P50),
        targets.at_most("p99 in ms", p99, MAX_P99),
    ]
    return 0 if all(outcomes) and not bench.problems else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--waits", type=int, default=8000, help="requests that wait (default 8000)")
    parser.add_argument(
        "--inboxes", type=int, default=8000, help="over how many inboxes (default 8000)"
    )
    parser.add_argument("--mails", type=int, default=400, help="mails sent (default 400)")
    parser.add_argument("--rate", type=float, default=20, help="mails a second (default 20)")
    parser.add_argument(
        "--idle", type=float, default=5, help="seconds of waiting before the first mail (default 5)"
    )
    options = parser.parse_args()
    plans.set_numbers(
        "premium", requests_per_day=100_000_000, live_inboxes=options.inboxes + 100_000
    )
    return asyncio.run(measure(options))


if __name__ == "__main__":
    sys.exit(main())
