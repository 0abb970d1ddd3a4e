"""Ordinary mail whose replies are timed, and mails made to take long to read, each from a client
address of its own.
"""

import asyncio
import multiprocessing
import os
import time
from collections.abc import Sequence
from multiprocessing.sharedctypes import Synchronized
from types import TracebackType

from dev.waiting import wait_until

from measuring.mail_stream import reply

ORDINARY_ADDRESS = "127.0.0.2"
HOSTILE_ADDRESS = "127.0.0.3"
_CONNECTIONS = 4  # of ordinary mail
_LARGE, _SMALL = 500_000, 7_500  # bytes of a hostile mail's body
_NICE = 10  # of the load, so that what is measured is the server
_RETRY_SECONDS = 0.1
_BEGIN_SECONDS = 60.0


def _repeated(piece: str, size: int) -> str:
    return piece * (size // len(piece))


def _page_of_rules(size: int) -> str:
    names = "abcdefgh"
    selectors = ",".join(f".{a} .{b},.{a}>.{b}" for a in names for b in names)
    head = f"<style>{selectors}{{display:block;opacity:1;width:9px;top:1px}}</style>"
    elements = (f"<b class='a b c d e f g h' n={number}>x\r\n" for number in range(size // 40))
    return head + "".join(elements)


def _hostile_messages() -> list[bytes]:
    """One for each way in which reading takes long."""
    bodies = [
        ("html", _repeated("<b>" * 30 + "\r\n", _LARGE)),
        ("html", _repeated("<table><tr><td>" * 6 + "\r\n", _LARGE)),
        ("html", _repeated("&amp;" * 15 + "\r\n", _LARGE)),
        ("html", _page_of_rules(_LARGE)),
        ("html", _repeated("<p>code 482913\r\n", _LARGE)),
        ("plain", _repeated("\u78ba\u8a8d 482913 " * 6 + "\r\n", _LARGE // 2)),
        ("plain", _repeated("http://a.b " * 7 + "\r\n", _SMALL)),
        ("plain", _repeated("code 482913 " * 6 + "\r\n", _SMALL)),
    ]
    return [_message(kind, body) for kind, body in bodies]


def _ordinary_messages() -> list[bytes]:
    """A plain mail with a code, and a newsletter."""
    text = "Your verification code is 482913.\r\n" + _repeated("Thank you for it.\r\n", 3_000)
    row = "<tr><td style='color:#333'>News of today, <a href='https://shop.example/n'>more</a>"
    return [_message("plain", text), _message("html", _repeated(row + "</td></tr>\r\n", 40_000))]


def _message(kind: str, body: str) -> bytes:
    head = (
        f"From: robot@sender.example\r\nSubject: Hello\r\nContent-Type: text/{kind}; charset=utf-8"
    )
    return f"{head}\r\n\r\n{body}\r\n".encode()


class _Client:
    """A connection from one client address, which stays open."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connect(cls, smtp: str, source: str) -> "_Client":
        host, _, port = smtp.rpartition(":")
        client = cls(*await asyncio.open_connection(host, int(port), local_addr=(source, 0)))
        await reply(client._reader, "220")
        client._writer.write(b"EHLO bench.example\r\n")
        await reply(client._reader, "250")
        return client

    async def send(self, address: str, message: bytes) -> tuple[str, float]:
        """Sends a mail; the code of the reply to it, and the seconds until it came."""
        self._writer.write(f"MAIL FROM:<robot@sender.example>\r\nRCPT TO:<{address}>\r\n".encode())
        await reply(self._reader, "250")
        await reply(self._reader, "250")
        self._writer.write(b"BDAT %d LAST\r\n" % len(message) + message)
        await self._writer.drain()
        began = time.monotonic()
        line = await self._reader.readline()
        if not line:
            raise SystemExit("the server closed a connection")
        return line[:3].decode(), time.monotonic() - began


async def times(smtp: str, addresses: Sequence[str], rate: float, seconds: float) -> list[float]:
    """Sends ordinary mail at a rate; the milliseconds from the end of each to its 250, sorted."""
    messages = _ordinary_messages()
    began = time.monotonic()
    taken: list[float] = []

    async def send_share(first: int) -> None:
        client = await _Client.connect(smtp, ORDINARY_ADDRESS)
        for number in range(first, int(rate * seconds), _CONNECTIONS):
            await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
            code, waited = await client.send(
                addresses[number % len(addresses)], messages[number % len(messages)]
            )
            if code != "250":
                raise SystemExit(f"an ordinary mail was answered {code}")
            taken.append(1000 * waited)

    await asyncio.gather(*(send_share(first) for first in range(_CONNECTIONS)))
    return sorted(taken)


class Flood:
    """Keeps so many hostile mails under way from one address while it is entered, in a process of
    its own.
    """

    def __init__(self, smtp: str, address: str, mails: int) -> None:
        self.accepted: Synchronized[int] = multiprocessing.Value("q", 0)
        self.refused: Synchronized[int] = multiprocessing.Value("q", 0)
        self._mails = mails
        self._process = multiprocessing.Process(target=self._run, args=(smtp, address), daemon=True)

    def __enter__(self) -> "Flood":
        self._process.start()
        wait_until(
            lambda: self.accepted.value + self.refused.value >= self._mails,
            time.monotonic() + _BEGIN_SECONDS,
            "so many hostile mails are under way",
        )
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.join()

    def _run(self, smtp: str, address: str) -> None:
        os.nice(_NICE)
        asyncio.run(self._send_all(smtp, address))

    async def _send_all(self, smtp: str, address: str) -> None:
        messages = _hostile_messages()
        await asyncio.gather(
            *(self._send_often(smtp, address, messages, first) for first in range(self._mails))
        )

    async def _send_often(self, smtp: str, address: str, messages: list[bytes], first: int) -> None:
        client = await _Client.connect(smtp, HOSTILE_ADDRESS)
        number = first
        while True:
            code, _ = await client.send(address, messages[number % len(messages)])
            number += 1
            counted = self.accepted if code == "250" else self.refused
            counted.value += 1
            if code != "250":
                await asyncio.sleep(_RETRY_SECONDS)
