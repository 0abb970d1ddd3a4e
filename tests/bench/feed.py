#!/usr/bin/env python3
"""Following events: how late a stream has them, what recording them costs, and what readers cost
that wait.

Usage: ./dev bench feed [--parts stream,busy,idle,recording,held,rate,hot,webhooks,
       pages]

  stream     from SMTP's 250 to the frame of a stream, at 20 mails a second
  busy       the age of an event in the frame of one of 100 accounts, at 2,000 mails a second
  idle       5,000 readers of 1,000 accounts that wait while nothing comes: memory and CPU of the
             gateway (its accounts take minutes to make)
  recording  CPU and WAL of an event of accounts that are recorded, beside those that are not, and
             of these beside a suite in which nobody follows
  held       how late events are recorded beside a transaction that stays open, by turns with alone
  rate       how late events are recorded when all of 3,000 a second are
  hot        the same for 1,000 a second of one account, and another account's webhooks beside it
             (meant for a suite of four dispatchers: ./dev up --replicas webhook-dispatcher=4)
  webhooks   their rate and their latency with the feed on, beside off, by turns
  pages      a page of 100 events beside a million rows (--rows: 100000000 takes 45 GB)

A rate that the machine does not reach is said, and its figure counts for nothing.
"""

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import wait
import webhooks
from chaos.publishing import Publisher
from dev.waiting import wait_until
from measuring import mail_stream, many_rows, plans, processes, targets, webhook_load
from measuring.percentiles import percentile

_ROOT = Path(__file__).resolve().parents[2]
_STREAM_RATE, _BUSY_RATE, _RECORDED_RATE, _HOT_RATE = 20.0, 2_000.0, 3_000.0, 1_000.0
_HELD_RATE = 200.0
_REACHED = 0.95  # of the requested rate
_BUSY_ACCOUNTS = 100
_RECORDED_ACCOUNTS = 100
_READERS, _READER_ACCOUNTS = 5_000, 1_000  # five waits an account, far below its bounds
_WAIT_SECONDS = 60
_PAGES, _PAGE = 300, 100
_SETTLING_SECONDS = 60.0
_CONNECTIONS = 32


def _address() -> tuple[str, int]:
    gateway = urlsplit(os.environ["TEMPINBOX_GATEWAY_1_URL"])
    return str(gateway.hostname), int(gateway.port or 80)


def _get(key: str, query: str = "") -> dict[str, Any]:
    connection = http.client.HTTPConnection(*_address(), timeout=30)
    connection.request("GET", f"/v1/events{query}", headers={"X-API-Key": key})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"GET /v1/events was answered {answer.status}: {content.decode()}")
    page: dict[str, Any] = json.loads(content)
    return page


# Streams.


@dataclass
class _Stream:
    """A stream of `email.received`: when each event came, and how old it was then."""

    key: str
    at: dict[str, float] = field(default_factory=dict)
    age_ms: list[float] = field(default_factory=list)

    async def read(self) -> None:
        """Until it is cancelled."""
        reader, writer = await asyncio.open_connection(*_address())
        writer.write(
            b"GET /v1/events?types=email.received HTTP/1.1\r\nHost: api\r\n"
            b"Accept: text/event-stream\r\nX-API-Key: " + self.key.encode() + b"\r\n\r\n"
        )
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit("no stream: " + head.split(b"\r\n")[0].decode())
        text = b""
        # RFC 9112 7.1: each chunk behind its size.
        while size := int((await reader.readline()).split(b";")[0], 16):
            text += (await reader.readexactly(size + 2))[:size]
            *frames, text = text.split(b"\n\n")
            for frame in frames:
                self._take(frame)

    def _take(self, frame: bytes) -> None:
        now, clock = time.monotonic(), time.time()
        for line in frame.split(b"\n"):
            if line.startswith(b"data: "):
                event = json.loads(line.removeprefix(b"data: "))
                stored = datetime.fromisoformat(event["payload"]["timestamp"]).timestamp()
                self.at[event["eventId"]] = now
                self.age_ms.append(1000 * (clock - stored))


async def _while_streaming(
    stream: _Stream, send: Callable[[], Awaitable[None]], count: int
) -> None:
    """Streams while mail is sent, and until so many events have come."""
    reading = asyncio.create_task(stream.read())
    await asyncio.sleep(1)  # it waits by then
    await send()

    def is_over() -> bool:
        if reading.done():
            reading.result()
        return len(stream.at) >= count

    await wait.until(is_over, f"{count} events came", seconds=_SETTLING_SECONDS)
    reading.cancel()


def _stream(options: argparse.Namespace) -> list[bool]:
    bench = wait.Bench()
    inboxes = asyncio.run(bench.make_inboxes(wait.ACCOUNTS))
    stream = _Stream(bench.keys[0])
    mails = round(_STREAM_RATE * options.seconds)

    async def send() -> None:
        await bench.send(inboxes[:1], mails, _STREAM_RATE)

    asyncio.run(_while_streaming(stream, send, mails))
    late = sorted(1000 * (stream.at[email] - at) for email, at in bench.stored_at.items())
    p50, p99 = percentile(late, 50), percentile(late, 99)
    print(f"SMTP 250 to the frame, {mails} mails at {_STREAM_RATE:g}/s: most {late[-1]:.1f} ms")
    return [
        targets.at_most("250 to the frame, p50 in ms", p50, 10),
        targets.at_most("250 to the frame, p99 in ms", p99, 25),
    ]


def _busy(options: argparse.Namespace) -> list[bool]:
    """One account in so many is read, and a hundredth of the mail is its."""
    bench = wait.Bench(_BUSY_ACCOUNTS)
    inboxes = asyncio.run(bench.make_inboxes(_BUSY_ACCOUNTS))
    addresses = [inbox["emailAddress"] for inbox in inboxes]
    mails = round(_BUSY_RATE * options.seconds) // _BUSY_ACCOUNTS * _BUSY_ACCOUNTS
    stream = _Stream(bench.keys[0])
    reached = 0.0

    async def send() -> None:
        nonlocal reached
        smtp = os.environ["TEMPINBOX_SMTP"]
        reached = await mail_stream.send(smtp, addresses, mails, _BUSY_RATE, _CONNECTIONS)

    asyncio.run(_while_streaming(stream, send, mails // _BUSY_ACCOUNTS))
    late = sorted(stream.age_ms)
    print(f"{_BUSY_RATE:g}/s ({reached:.0f} reached), one of {_BUSY_ACCOUNTS} accounts reads")
    is_met = targets.at_most("age in the frame, p99 in ms", percentile(late, 99), 150)
    return [is_met and _is_reached(reached, _BUSY_RATE)]


def _is_reached(reached: float, rate: float) -> bool:
    if reached < _REACHED * rate:
        print(f"  this machine did not reach {rate:g}/s")
    return reached >= _REACHED * rate


# Readers that wait.


def _idle(_: argparse.Namespace) -> list[bool]:
    keys = wait.make_keys(_READER_ACCOUNTS)
    cursors = [_get(key)["nextCursor"] for key in keys]
    pid = int(os.environ["TEMPINBOX_GATEWAY_1_PID"])
    before = processes.resident_megabytes(pid)

    async def one(number: int, slots: asyncio.Semaphore) -> asyncio.StreamWriter:
        source = (wait.SOURCES[number % len(wait.SOURCES)], 0)
        at = number % len(keys)
        async with slots:
            _, writer = await asyncio.open_connection(*_address(), local_addr=source)
            target = f"/v1/events?waitSeconds={_WAIT_SECONDS}&after={cursors[at]}"
            head = f"GET {target} HTTP/1.1\r\nHost: api\r\nX-API-Key: {keys[at]}\r\n\r\n"
            writer.write(head.encode())
            await writer.drain()
        return writer

    async def all_of_them() -> tuple[float, float]:
        slots = asyncio.Semaphore(wait.OPENED_AT_ONCE)
        writers = await asyncio.gather(*(one(number, slots) for number in range(_READERS)))
        await wait.until(
            lambda: wait.waiting_at_gateway() >= _READERS, "all readers wait", seconds=40
        )
        began, used = time.monotonic(), processes.cpu_seconds(pid)
        await asyncio.sleep(10)
        share = (processes.cpu_seconds(pid) - used) / (time.monotonic() - began)
        held = processes.resident_megabytes(pid)
        for writer in writers:
            writer.close()
        return held, 100 * share

    held, share = asyncio.run(all_of_them())
    each = (held - before) * 1e6 / 1024 / _READERS
    print(f"{_READERS} readers of {_READER_ACCOUNTS} accounts wait, {held:.0f} MB")
    return [
        targets.at_most("KiB a reader that waits", each, 16),
        targets.at_most("CPU while nothing comes, % of a core", share, 5),
    ]


# Recording.


def _recorded(accounts: list[str]) -> int:
    ids = "ARRAY['" + "','".join(accounts) + "']::uuid[]"
    return int(
        webhooks.query(f"SELECT count(*) FROM webhooks.feed_events WHERE account_id = ANY({ids})")
    )


def _cost(accounts: list[str], events: int, rows: int = 0) -> tuple[dict[str, float], float]:
    """Milliseconds of CPU by part, and bytes of WAL, of one event; so many rows come of them."""
    everyone = [pid for pids in webhooks.parts().values() for pid in pids]
    processes.wait_quiet(everyone)
    many_rows.psql(os.environ["TEMPINBOX_DATABASE"], "CHECKPOINT")
    written, before = webhooks.wal(), webhooks.used()
    Publisher(os.environ["TEMPINBOX_KAFKA"], accounts, events).published()
    end = time.monotonic() + _SETTLING_SECONDS
    processes.wait_quiet(everyone, seconds=_SETTLING_SECONDS)
    # On a busy machine they are quiet when others run, too.
    while _recorded(accounts) < rows and time.monotonic() < end:
        processes.wait_quiet(everyone, seconds=_SETTLING_SECONDS)
    after = webhooks.used()
    cpu = {name: 1000 * (after[name] - before[name]) / events for name in after}
    return cpu, (webhooks.wal() - written) / events


def _recording(options: argparse.Namespace) -> list[bool]:
    off = [str(uuid.uuid4()) for _ in range(_RECORDED_ACCOUNTS)]
    turns: list[tuple[tuple[dict[str, float], float], ...]] = []
    for _ in range(options.rounds):
        made = webhook_load.Accounts()
        none = _cost(off, options.events)
        on = [made.follow() for _ in range(_RECORDED_ACCOUNTS)]
        turns.append((none, _cost(off, options.events), _cost(on, options.events, options.events)))
        recorded = _recorded(on)
        made.delete_all()
        if recorded != options.events:
            print(f"  {recorded} of {options.events} events were recorded")
            return [False]

    micros = statistics.median(
        1000 * (sum(cpu.values()) - sum(base.values())) for _, (base, _), (cpu, _) in turns
    )
    wal = statistics.median(with_it - without for _, (_, without), (_, with_it) in turns)
    idle_micros = statistics.median(
        1000 * (sum(cpu.values()) - sum(base.values())) for (base, _), (cpu, _), _ in turns
    )
    idle_wal = statistics.median(off - none for (_, none), (_, off), _ in turns)
    # Of all rounds together, since the clock of a process ticks a hundred times a second.
    alone, beside = (sum(turn[at][0]["dispatcher"] for turn in turns) for at in (0, 1))
    (_, none_wal), (base, _), (cpu, _) = turns[-1]
    # Not judged but for the dispatcher: a microsecond is less than what the clocks of all these
    # processes tell, and what PostgreSQL writes by itself meanwhile is more than nothing.
    print(
        "CPU ms an event, not recorded and recorded: "
        + ", ".join(f"{part} {base[part]:.4f} and {cpu[part]:.4f}" for part in cpu)
        + f"; of one that is not recorded, beside nobody who follows: {idle_micros:.1f} µs "
        f"and {idle_wal:.1f} B of WAL more than {none_wal:.1f} B"
    )
    return [
        targets.at_most("CPU of recording an event in µs, all parts", micros, 45),
        targets.at_most("WAL of recording an event in bytes", wal, 700),
        targets.at_most("rows of accounts that are not followed", _recorded(off), 0),
        targets.at_most(
            "dispatcher's CPU of an event of theirs, of that beside nobody who follows",
            beside / alone,
            1.01,
        ),
    ]


def _recorded_at(accounts: list[str], events: int) -> dict[str, float]:
    """When each event was recorded (seconds of the Unix clock), once so many are or the time is
    over.
    """
    with contextlib.suppress(TimeoutError):
        wait_until(
            lambda: _recorded(accounts) >= events,
            time.monotonic() + _SETTLING_SECONDS,
            f"{events} events are recorded",
            every=0.5,
        )
    ids = "ARRAY['" + "','".join(accounts) + "']::uuid[]"
    lines = many_rows.psql(
        os.environ["TEMPINBOX_DATABASE"],
        "SELECT event_id, extract(epoch FROM recorded_at) FROM webhooks.feed_events "
        f"WHERE account_id = ANY({ids})",
    ).splitlines()
    return {event: float(moment) for event, moment in (line.split("|") for line in lines)}


def _late(accounts: list[str], published: dict[str, int]) -> list[float]:
    """How late each was recorded, in ms, sorted; nothing where some were not recorded in time."""
    at = _recorded_at(accounts, len(published))
    if missing := len(published.keys() - at.keys()):
        print(f"  {missing} of {len(published)} events were not recorded in time")
        return []
    return sorted(1000 * (at[event] - moment / 1e9) for event, moment in published.items())


def _lag_of_recording(
    accounts: list[str], published: dict[str, int], rate: float, most: float
) -> list[bool]:
    """Judges how late what was published is recorded, in ms at most."""
    late = _late(accounts, published)
    if not late:
        return [False]
    reached = len(late) / ((max(published.values()) - min(published.values())) / 1e9)
    print(f"{rate:g}/s ({reached:.0f} reached) are all recorded, p50 {percentile(late, 50):.0f} ms")
    is_met = targets.at_most("lag of recording, p99 in ms", percentile(late, 99), most)
    return [is_met and _is_reached(reached, rate)]


@contextlib.contextmanager
def _open_transaction() -> Iterator[None]:
    """One with an id, on a connection of its own: dead rows stay as long as it is open."""
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", os.environ["TEMPINBOX_DATABASE"]]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as session:
        assert session.stdin
        assert session.stdout
        session.stdin.write("BEGIN;\nSELECT txid_current();\n")
        session.stdin.flush()
        if not session.stdout.readline().strip():
            raise SystemExit("psql opened no transaction")
        yield
        if session.poll() is not None:
            raise SystemExit("the transaction did not stay open")


def _held(options: argparse.Namespace) -> list[bool]:
    made = webhook_load.Accounts()
    events = round(_HELD_RATE * options.seconds)
    medians: list[tuple[float, float]] = []

    def median() -> float:
        accounts = [made.follow() for _ in range(_RECORDED_ACCOUNTS)]
        kafka = os.environ["TEMPINBOX_KAFKA"]
        late = _late(accounts, Publisher(kafka, accounts, events, _HELD_RATE).published())
        return percentile(late, 50) if late else 0.0

    for _ in range(options.rounds):
        alone = median()
        with _open_transaction():
            held = median()
        medians.append((alone, held))
    made.delete_all()
    if not all(alone and held for alone, held in medians):
        return [False]
    print(
        f"{_HELD_RATE:g}/s, p50 of recording alone and beside an open transaction: "
        + ", ".join(f"{alone:.1f} and {held:.1f} ms" for alone, held in medians)
    )
    ratio = statistics.median(held / alone for alone, held in medians)
    return [targets.at_most("p50 beside an open transaction, of that alone", ratio, 1.5)]


def _rate(options: argparse.Namespace) -> list[bool]:
    made = webhook_load.Accounts()
    accounts = [made.follow() for _ in range(_RECORDED_ACCOUNTS)]
    events = round(_RECORDED_RATE * options.seconds)
    published = Publisher(
        os.environ["TEMPINBOX_KAFKA"], accounts, events, _RECORDED_RATE
    ).published()
    outcomes = _lag_of_recording(accounts, published, _RECORDED_RATE, 1_000)
    made.delete_all()
    return outcomes


def _holes(account: str) -> int:
    """How many positions between the account's first and last no event has."""
    return int(
        webhooks.query(
            "SELECT coalesce(max(position) - min(position) + 1 - count(*), 0) "
            f"FROM webhooks.feed_events WHERE account_id = '{account}'"
        )
    )


def _hot(options: argparse.Namespace) -> list[bool]:
    build = [_ROOT / "dev", "build", "--preset", options.preset, "bench-webhook-sink"]
    subprocess.run(build, check=True)
    made = webhook_load.Accounts()
    outcomes: list[bool] = []
    ratios: list[float] = []
    with webhook_load.sink(options.preset) as receiver:
        [neighbour] = made.make_many(1, receiver.url + "/ok")
        for _ in range(options.rounds):
            # Alone means: beside the same load of an account that is not followed, whose events
            # every dispatcher reads and passes over.
            late: list[float] = []
            for account in (str(uuid.uuid4()), made.follow()):
                events = round(_HOT_RATE * options.seconds)
                load = Publisher(os.environ["TEMPINBOX_KAFKA"], [account], events, _HOT_RATE)
                late.append(
                    percentile(webhooks.flow(receiver, neighbour, options.seconds * 0.8), 99)
                )
                published = load.published()
            ratios.append(late[1] / late[0])
            outcomes += _lag_of_recording([account], published, _HOT_RATE, 250)
            outcomes.append(targets.at_most("positions without an event", _holes(account), 0))
        made.delete_all()
    outcomes.append(
        targets.at_most(
            "p99 of another account's webhooks, of that beside events nobody follows",
            statistics.median(ratios),
            1.1,
        )
    )
    return outcomes


def _webhooks(options: argparse.Namespace) -> list[bool]:
    build = [_ROOT / "dev", "build", "--preset", options.preset, "bench-webhook-sink"]
    subprocess.run(build, check=True)
    made = webhook_load.Accounts()
    with webhook_load.sink(options.preset) as receiver:
        url = receiver.url + "/ok"
        plain, followed = (made.make_many(_RECORDED_ACCOUNTS, url) for _ in range(2))
        for account in followed:
            made.follow(account)
        rates: list[tuple[float, float]] = []
        late: list[tuple[list[float], list[float]]] = []
        for _ in range(options.rounds):
            off = webhooks.flood(receiver, plain, options.events)
            on = webhooks.flood(receiver, followed, options.events)
            rates.append((off.rate, on.rate))
            late.append(
                (
                    webhooks.flow(receiver, plain[0], options.seconds),
                    webhooks.flow(receiver, followed[0], options.seconds),
                )
            )
        made.delete_all()
    outcomes = [
        targets.at_least(
            "rate of webhooks with the feed, of that without",
            statistics.median(on / off for off, on in rates),
            0.9,
        )
    ]
    for percent in (50, 99):
        ratio = statistics.median(
            percentile(on, percent) / percentile(off, percent) for off, on in late
        )
        outcomes.append(
            targets.at_most(f"p{percent} of a webhook with the feed, of that without", ratio, 1.1)
        )
    return outcomes


# Pages.


def _fill(account: str, rows: int) -> None:
    """So many rows of the last days, a hundredth of them the account's."""
    body = '{"event":"email.received","data":{"subject":"' + 200 * "x" + '"}}'
    many_rows.psql(
        os.environ["TEMPINBOX_DATABASE"],
        f"""
        SELECT webhooks.ensure_feed_days(current_date - 3, current_date + 1);
        UPDATE webhooks.feeds SET position_at = now() - interval '61 hours'
            WHERE account_id = '{account}';
        INSERT INTO webhooks.feed_events
            (account_id, position, event_id, inbox_id, type, recorded_at, body)
        SELECT CASE WHEN n % 100 = 0 THEN '{account}'::uuid
                    ELSE ('00000000-0000-7000-8000-' || lpad((n % 100)::text, 12, '0'))::uuid END,
            1 + n / 100, gen_random_uuid(), gen_random_uuid(), 1,
            now() - interval '60 hours' * ({rows} - n) / {rows}, convert_to('{body}', 'UTF8')
        FROM generate_series(0, {rows - 1}) AS n;
        """,
    )
    # What filling leaves for later (hint bits, dirty pages) is no part of a page's cost.
    for statement in ("VACUUM ANALYZE webhooks.feed_events", "CHECKPOINT"):
        many_rows.psql(os.environ["TEMPINBOX_DATABASE"], statement)


def _pages(options: argparse.Namespace) -> list[bool]:
    [key] = wait.make_keys(1)
    _get(key)
    account = json.loads(_call(key, "/v1/account"))["accountId"]
    _fill(account, options.rows)
    cursor, took = "earliest", []
    postgres = int(os.environ["TEMPINBOX_POSTGRES_PID"])
    processes.wait_quiet([postgres], seconds=_SETTLING_SECONDS)
    before = processes.cpu_seconds(postgres)
    for _ in range(_PAGES):
        began = time.monotonic()
        page = _get(key, f"?limit={_PAGE}&after={cursor}")
        took.append(1000 * (time.monotonic() - began))
        cursor = page["nextCursor"] if page["hasMore"] else "earliest"
    cpu = 1000 * (processes.cpu_seconds(postgres) - before) / _PAGES
    many_rows.psql(
        os.environ["TEMPINBOX_DATABASE"],
        f"DELETE FROM webhooks.feed_events WHERE account_id = '{account}' "
        "OR account_id::text LIKE '00000000-0000-7000-8000-%'",
    )
    print(f"pages of {_PAGE} beside {options.rows} rows, each on a connection of its own")
    return [
        targets.at_most("PostgreSQL's CPU of a page in ms", cpu, 0.8),
        targets.at_most("a page, p50 in ms", percentile(sorted(took), 50), 4),
    ]


def _call(key: str, path: str) -> bytes:
    connection = http.client.HTTPConnection(*_address(), timeout=30)
    connection.request("GET", path, headers={"X-API-Key": key})
    content = connection.getresponse().read()
    connection.close()
    return content


_PARTS: dict[str, Callable[[argparse.Namespace], list[bool]]] = {
    "stream": _stream,
    "busy": _busy,
    "idle": _idle,
    "recording": _recording,
    "held": _held,
    "rate": _rate,
    "hot": _hot,
    "webhooks": _webhooks,
    "pages": _pages,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default=",".join(_PARTS), help="which (default: all)")
    parser.add_argument("--seconds", type=float, default=15, help="of each rate (default 15)")
    parser.add_argument("--events", type=int, default=50_000, help="to record (default 50000)")
    parser.add_argument("--rounds", type=int, default=3, help="by turns (default 3)")
    parser.add_argument("--preset", default="release", help="of the receiver (default release)")
    parser.add_argument("--rows", type=int, default=1_000_000, help="beside pages")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if unknown := [part for part in parts if part not in _PARTS]:
        parser.error(f"there is no part {unknown[0]}")
    plans.set_numbers("premium", requests_per_day=100_000_000, live_inboxes=100_000)
    outcomes: list[bool] = []
    for part in parts:
        print(f"{part}:", flush=True)
        outcomes += _PARTS[part](options)
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
