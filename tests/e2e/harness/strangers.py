"""Guesses API keys: well-formed ones that nobody has, from several addresses at once."""

import asyncio
import collections
import multiprocessing
import re
import secrets
import string
import time
import zlib
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Self

_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3})")
_TICK_SECONDS = 0.02


def random_key() -> str:
    """Its checksum is right."""
    text = "ti_live_" + "".join(secrets.choice(_BASE62) for _ in range(32))
    rest = zlib.crc32(text.encode())
    digits = ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        digits = _BASE62[digit] + digits
    return text + digits


@dataclass
class Guessed:
    """The result of guessing: how many answers of each status, in how many seconds."""

    statuses: dict[int, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def per_second(self) -> float:
        """Answers."""
        return sum(self.statuses.values()) / self.seconds


class Strangers:
    """A process that sends requests with random keys to a gateway behind a trusted proxy, so many a
    second over all addresses, each on a connection of its own without waiting for answers.

    Use as a context manager; `guessed` is there after it.
    """

    def __init__(self, gateway: str, a_second: int, addresses: int = 8) -> None:
        self.guessed = Guessed()
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(
            target=_run, args=(gateway, a_second, addresses, there), daemon=True
        )

    def __enter__(self) -> Self:
        self._process.start()
        assert self._here.poll(30), "the strangers do not begin"
        self._here.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._here.send("stop")
        if self._here.poll(60):
            self.guessed = self._here.recv()
        self._process.join(10)
        if self._process.is_alive():
            self._process.kill()


def _run(gateway: str, a_second: int, addresses: int, control: Connection) -> None:
    control.send(asyncio.run(_guess(gateway, a_second, addresses, control)))


async def _guess(gateway: str, a_second: int, addresses: int, control: Connection) -> Guessed:
    host, _, port = gateway.rpartition(":")
    streams = [await asyncio.open_connection(host, int(port)) for _ in range(addresses)]
    counted: collections.Counter[int] = collections.Counter()
    readers = [asyncio.create_task(_count(reader, counted)) for reader, _ in streams]
    control.send("begun")
    began = time.monotonic()
    sent = 0
    while not await asyncio.to_thread(control.poll, _TICK_SECONDS):
        due = int((time.monotonic() - began) * a_second) - sent
        share = max(0, due) // addresses
        for number, (_, writer) in enumerate(streams):
            writer.write(b"".join(_request(f"198.51.100.{number + 1}") for _ in range(share)))
            await writer.drain()  # a gateway that does not read sets the pace
        sent += share * addresses
    for _, writer in streams:
        writer.write_eof()  # what was sent is answered, then the gateway closes
    await asyncio.wait(readers, timeout=60)
    seconds = time.monotonic() - began
    for _, writer in streams:
        writer.close()
    control.recv()
    return Guessed(dict(counted), seconds)


def _request(address: str) -> bytes:
    return (
        f"GET /v1/domains HTTP/1.1\r\nHost: api\r\nX-Forwarded-For: {address}\r\n"
        f"X-API-Key: {random_key()}\r\n\r\n"
    ).encode()


async def _count(reader: asyncio.StreamReader, counted: "collections.Counter[int]") -> None:
    rest = b""
    while data := await reader.read(1 << 16):
        rest += data
        whole = rest.rfind(b"HTTP/1.1 ")
        if whole < 0:
            continue
        # The last status line may be cut; it is counted with what follows.
        end = whole if len(rest) < whole + 12 else len(rest)
        counted.update(int(status) for status in _STATUS.findall(rest[:end]))
        rest = rest[end:] if end == whole else b""
