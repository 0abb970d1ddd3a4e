#!/usr/bin/env python3
"""Measures what idle SMTP sessions cost: opens many, each past its EHLO, and compares the memory of
mail-ingest with and without them.

They come from several addresses of 127.0.0.0/8, so that no limit of the kernel on one address
counts.

Usage: ./dev bench smtp-idle [--sessions 8000] [--target-megabytes 300]
"""

import argparse
import asyncio
import os
import resource
import sys

from measuring import processes, targets

_ADDRESSES = 8
_AT_ONCE = 100
_SPARE_FILES = 256


async def _open(server: str, number: int, gate: asyncio.Semaphore) -> asyncio.StreamWriter:
    host, _, port = server.rpartition(":")
    async with gate:
        reader, writer = await asyncio.open_connection(
            host, int(port), local_addr=(f"127.0.0.{2 + number % _ADDRESSES}", 0), limit=4096
        )
        await _expect(reader, b"220")
        writer.write(b"EHLO idle.example\r\n")
        await _expect(reader, b"250")
    return writer


async def _expect(reader: asyncio.StreamReader, code: bytes) -> None:
    while True:
        line = await asyncio.wait_for(reader.readline(), 30)
        if not line.startswith(code):
            raise SystemExit(f"the mail server answered {line.decode(errors='replace').strip()!r}")
        if line[3:4] == b" ":
            return


async def _measure(server: str, pid: int, count: int) -> tuple[float, float]:
    """Megabytes of the mail server before, and with all sessions open."""
    before = processes.resident_megabytes(pid)
    gate = asyncio.Semaphore(_AT_ONCE)
    sessions = await asyncio.gather(*(_open(server, number, gate) for number in range(count)))
    with_them = processes.resident_megabytes(pid)
    for session in sessions:
        session.write(b"QUIT\r\n")
        session.close()
    return before, with_them


def _raise_file_limit(needed: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < needed and os.geteuid() == 0:
        hard = needed
    if hard < needed:
        raise SystemExit(f"this needs {needed} open files, the limit is {hard}: ulimit -n {needed}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, max(hard, needed)))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./dev bench smtp-idle",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--sessions",
        type=int,
        default=8000,
        help="1 to 100000 (default 8000; the server takes so many unless set otherwise)",
    )
    parser.add_argument(
        "--target-megabytes",
        type=float,
        default=300.0,
        help="more than this in all is a failure (default 300)",
    )
    options = parser.parse_args()
    if not 1 <= options.sessions <= 100_000:
        parser.error("--sessions must be 1 to 100000")

    _raise_file_limit(options.sessions + _SPARE_FILES)
    pid = int(os.environ["TEMPINBOX_MAIL_INGEST_1_PID"])
    before, with_them = asyncio.run(_measure(os.environ["TEMPINBOX_SMTP"], pid, options.sessions))
    each = 1000 * (with_them - before) / options.sessions
    print(
        f"RSS of mail-ingest: {before:.0f} MB before, {with_them:.0f} MB with {options.sessions} "
        f"idle sessions: {each:.1f} KB each"
    )
    return (
        0 if targets.at_most("RSS of mail-ingest in MB", with_them, options.target_megabytes) else 1
    )


if __name__ == "__main__":
    sys.exit(main())
