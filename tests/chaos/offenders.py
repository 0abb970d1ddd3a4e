"""Senders that try what they must not, from addresses of their own: they note each last reply.

They run in a process of their own, so that they take no time from who is measured here.
"""

import asyncio
import base64
import contextlib
import itertools
import multiprocessing
import string
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass

_REPLY_SECONDS = 60.0
_MESSAGE = b"From: a@sender.example\r\nSubject: hi\r\n\r\nhi\r\n.\r\n"
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
CUT = "(closed without a reply)"


@dataclass(frozen=True)
class Target:
    """Where mail is sent, to the recipients in turn; by a login (user and password) if there is
    one.
    """

    servers: Sequence[str]
    recipients: Sequence[str]
    login: tuple[str, str] | None = None


class _Conversation:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, server: str, source: str) -> "_Conversation":
        host, _, port = server.rpartition(":")
        return cls(*await asyncio.open_connection(host, int(port), local_addr=(source, 0)))

    async def reply(self) -> str:
        while line := await asyncio.wait_for(self._reader.readline(), _REPLY_SECONDS):
            if line[3:4] != b"-":
                return line.decode().rstrip()
        raise EOFError

    async def say(self, octets: bytes) -> str:
        self._writer.write(octets)
        return await self.reply()

    def close(self) -> None:
        self._writer.close()


async def _converse(server: str, source: str, lines: Sequence[bytes]) -> list[str]:
    """The replies to these lines, up to the first that is no 2xx or 3xx."""
    replies: list[str] = []
    try:
        session = await _Conversation.open(server, source)
    except OSError as problem:
        return [str(problem)]
    try:
        replies.append(await session.reply())
        for line in lines:
            if replies[-1][:1] not in "23":
                break
            replies.append(await session.say(line))
    except (OSError, EOFError):
        replies.append(CUT)
    finally:
        session.close()
    return replies


def invented_password(number: int) -> str:
    """One that nobody has, with a checksum that is right: others are refused unread."""
    text = f"tic_{number:032}"
    rest = zlib.crc32(text.encode())
    digits = ""
    for _ in range(6):
        rest, digit = divmod(rest, len(_BASE62))
        digits = _BASE62[digit] + digits
    return text + digits


def auth_line(user: str, password: str) -> bytes:
    """`AUTH PLAIN` with its response."""
    response = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
    return f"AUTH PLAIN {response}\r\n".encode()


def _lines(target: Target, number: int) -> list[bytes]:
    recipient = target.recipients[number % len(target.recipients)]
    return [
        b"EHLO sender.example\r\n",
        *([auth_line(*target.login)] if target.login else []),
        b"MAIL FROM:<a@sender.example>\r\n",
        f"RCPT TO:<{recipient}>\r\n".encode(),
        b"DATA\r\n",
        _MESSAGE,
    ]


async def _send(target: Target, rate: float, seconds: float, network: str) -> Counter[str]:
    began = time.monotonic()
    seen: Counter[str] = Counter()

    async def send_one(number: int) -> None:
        server = target.servers[number % len(target.servers)]
        replies = await _converse(server, f"{network}.{1 + number % 100}", _lines(target, number))
        seen[_without_ids(replies[-1])] += 1

    async with asyncio.TaskGroup() as all_of_them:
        for number in itertools.count():
            due = began + number / rate
            if due >= began + seconds:
                break
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            all_of_them.create_task(send_one(number))
    return seen


def _without_ids(reply: str) -> str:
    return reply.partition(" queued as ")[0]


def send(target: Target, rate: float, seconds: float, network: str) -> Counter[str]:
    """Begins so many mails a second, each in a session of its own, from 100 addresses of the
    network (`127.9.0`); the last replies.
    """
    return asyncio.run(_send(target, rate, seconds, network))


def guess(
    server: str, user: str, passwords: Sequence[str], network: str, sessions: int, a_session: int
) -> Counter[str]:
    """Tries the passwords from 100 addresses of the network, so many sessions of each at once; all
    replies to AUTH.
    """
    return asyncio.run(_guess(server, user, passwords, network, sessions, a_session))


async def _guess(
    server: str, user: str, passwords: Sequence[str], network: str, sessions: int, a_session: int
) -> Counter[str]:
    chunks = (passwords[first : first + a_session] for first in range(0, len(passwords), a_session))
    seen: Counter[str] = Counter()

    async def guess_on(source: str) -> None:
        for chunk in chunks:
            for reply in await _try_all(server, source, [auth_line(user, it) for it in chunk]):
                seen[reply] += 1

    await asyncio.gather(
        *(guess_on(f"{network}.{number}") for number in range(1, 101) for _ in range(sessions))
    )
    return seen


async def _try_all(server: str, source: str, lines: Sequence[bytes]) -> list[str]:
    """The replies to each, whatever they are, until the server closes."""
    replies: list[str] = []
    session = await _Conversation.open(server, source)
    try:
        greeting = await session.reply()
        if not greeting.startswith("220 "):
            return [greeting]
        await session.say(b"EHLO sender.example\r\n")
        for line in lines:
            reply = await session.say(line)
            replies.append(reply)
    except (OSError, EOFError):
        replies.append(CUT)
    finally:
        session.close()
    return replies


def log_in(server: str, source: str, user: str, password: str) -> tuple[str, float]:
    """The reply to a login, and how long it took from the connection on."""
    began = time.monotonic()
    lines = [b"EHLO sender.example\r\n", auth_line(user, password)]
    reply = asyncio.run(_converse(server, source, lines))[-1]
    return reply, time.monotonic() - began


@contextlib.contextmanager
def in_another_process() -> Iterator[Callable[..., Future[Counter[str]]]]:
    """Gives `submit`, which runs a function of this module there."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool.submit
