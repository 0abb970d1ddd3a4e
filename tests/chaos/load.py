"""The load of a chaos run: SMTP clients at a steady rate that note what was answered to every
mail.
"""

import asyncio
import base64
import itertools
import re
import ssl
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_REPLY_SECONDS = 60.0  # past the server's own timeout for a commit
_RECONNECT_DELAY_SECONDS = 0.1
_LARGE_EVERY, _SHARED_EVERY = 50, 10
_SMALL_LINES, _LARGE_LINES = 40, 6000  # about 3 and 450 KB: the larger ones are spooled
_BUSY_RATE, _BUSY_CONNECTIONS = 300, 16
_MAILS_A_LOGIN = 20  # then the sender logs in anew
_FOREIGN_RECIPIENTS = 5  # of every tenth mail by login; the others have one


@dataclass(frozen=True)
class Inbox:
    """An inbox the load writes to."""

    inbox_id: str
    address: str


@dataclass(frozen=True)
class Capture(Inbox):
    """An inbox with a login: whatever is sent with it, to whomever, lands there."""

    user: str
    password: str


@dataclass(frozen=True)
class SubmissionListener:
    """Where a mail server takes mail from logins alone: TLS begins with the first byte, or by
    STARTTLS. Its certificate is verified.
    """

    server: str
    is_tls_at_once: bool
    trusted: ssl.SSLContext


@dataclass
class Mail:
    """An attempt to send one mail; never repeated.

    `email_id` is what a 250 named, in the first inbox. `recipients` are whom it is sent to.
    """

    chaos_id: str
    inboxes: list[Inbox]
    octets: bytes
    email_id: str | None = None
    dot_was_sent: bool = False
    seconds: float = 0.0
    refused: str = ""  # the reply that ended it
    recipients: list[str] = field(default_factory=list)  # none: those of the inboxes

    def __post_init__(self) -> None:
        self.recipients = self.recipients or [inbox.address for inbox in self.inboxes]

    @property
    def may_be_stored(self) -> bool:
        """Sent whole, but nobody said that it was stored."""
        return self.dot_was_sent and self.email_id is None


class TurnedAway(Exception):
    """A reply other than the one that lets the session go on."""


class Load:
    """`rate` mails a second for `seconds`, over so many connections, spread over the servers and
    inboxes.
    """

    _mails_a_session: int | None = None

    def __init__(
        self, servers: list[str], inboxes: list[Inbox], rate: int, seconds: float, connections: int
    ) -> None:
        self._servers = servers
        self._inboxes = inboxes
        self._rate = rate
        self._seconds = self._planned_seconds = seconds
        self._connections = connections
        self._numbers = itertools.count()
        self._mails: list[Mail] = []
        self._began = 0.0
        # The error that ended a connection or an attempt to make one, and its time.
        self.failures: list[tuple[float, Exception]] = []

    def run(self) -> list[Mail]:
        """Returns when the last mail was answered or lost."""
        asyncio.run(self._run())
        return self._mails

    def end(self) -> None:
        """No further mail is begun; from another thread."""
        self._seconds = 0

    def another(self) -> "Load":
        """The same load once more, from its beginning."""
        return Load(
            self._servers, self._inboxes, self._rate, self._planned_seconds, self._connections
        )

    def confirmed(self) -> list[str]:
        """The emails that a 250 has named so far; while `run` goes on in another thread."""
        return [mail.email_id for mail in self._mails.copy() if mail.email_id]

    async def _run(self) -> None:
        self._began = time.monotonic()
        await asyncio.gather(*(self._client(number) for number in range(self._connections)))

    async def _client(self, number: int) -> None:
        """Keeps one connection at a time, to the servers in turn; a lost one is made anew."""
        for server in itertools.islice(itertools.cycle(self._servers), number, None):
            if time.monotonic() >= self._began + self._seconds:
                return
            try:
                session = await self._open(server, number)
            except (OSError, EOFError, TimeoutError, TurnedAway) as problem:
                self.failures.append((time.monotonic(), problem))
                await asyncio.sleep(_RECONNECT_DELAY_SECONDS)
                continue
            try:
                for mail in itertools.islice(self._mails_to_send(number), self._mails_a_session):
                    await asyncio.sleep(max(0.0, mail[0] - time.monotonic()))
                    started = time.monotonic()
                    await session.send(mail[1])
                    mail[1].seconds = time.monotonic() - started
            except (OSError, EOFError, TimeoutError, TurnedAway) as problem:
                self.failures.append((time.monotonic(), problem))
                await asyncio.sleep(_RECONNECT_DELAY_SECONDS)
            finally:
                session.close()

    async def _open(self, server: str, _sender: int) -> "_Session":
        return await _Session.open(server)

    def _mails_to_send(self, sender: int) -> Iterator[tuple[float, Mail]]:
        """The next mails with the time each is due, until the run is over."""
        while time.monotonic() < self._began + self._seconds:
            number = next(self._numbers)
            mail = self._make(number, sender)
            self._mails.append(mail)
            yield (
                self._began + number / self._rate,
                mail,
            )  # in the past after an outage: what it held up follows at once

    def _make(self, number: int, _sender: int) -> Mail:
        count = len(self._inboxes)
        inboxes = [self._inboxes[number % count]]
        if number % _SHARED_EVERY == 0:
            inboxes.append(self._inboxes[(number + 1 + number // count % (count - 1)) % count])
        return _make_mail(inboxes, _lines_of(number))


class LoginLoad(Load):
    """The same by senders that log in, each with a capture of its own and to the listeners in turn;
    they write to people at foreign domains, nobody of which exists.
    """

    _mails_a_session = _MAILS_A_LOGIN

    def __init__(
        self,
        listeners: Iterable[SubmissionListener],
        captures: list[Capture],
        rate: int,
        seconds: float,
    ) -> None:
        self._listeners = {listener.server: listener for listener in listeners}
        self._captures = captures
        super().__init__(list(self._listeners), [*captures], rate, seconds, len(captures))

    async def _open(self, server: str, sender: int) -> "_Session":
        listener = self._listeners[server]
        session = await _Session.open(server, listener.trusted if listener.is_tls_at_once else None)
        try:
            await session.log_in(listener, self._captures[sender])
        except BaseException:
            session.close()
            raise
        return session

    def _make(self, number: int, sender: int) -> Mail:
        count = _FOREIGN_RECIPIENTS if number % _SHARED_EVERY == 0 else 1
        recipients = [f"user-{number}@shop-{shop}.example" for shop in range(count)]
        return _make_mail([self._inboxes[sender]], _lines_of(number), recipients)


class BusyInbox(Load):
    """Small mails to one inbox, hundreds a second: the events of one partition."""

    def __init__(self, servers: list[str], inbox: Inbox, seconds: float) -> None:
        super().__init__(servers, [inbox], _BUSY_RATE, seconds, _BUSY_CONNECTIONS)

    def _make(self, _number: int, _sender: int) -> Mail:
        return _make_mail(self._inboxes, _SMALL_LINES)


def _lines_of(number: int) -> int:
    return _LARGE_LINES if number % _LARGE_EVERY == _LARGE_EVERY - 1 else _SMALL_LINES


def _make_mail(inboxes: list[Inbox], lines: int, recipients: Iterable[str] = ()) -> Mail:
    chaos_id = uuid.uuid4().hex
    body = "".join(
        f"{chaos_id} line {line} of {lines}: what was said is kept\r\n" for line in range(lines)
    )
    head = (
        f"X-Chaos-Id: {chaos_id}\r\nFrom: chaos@sender.example\r\n"
        f"To: {next(iter(recipients), inboxes[0].address)}\r\nSubject: chaos {chaos_id}\r\n"
    )
    octets = (head + "\r\n" + body).encode("ascii")
    return Mail(chaos_id, inboxes, octets, recipients=list(recipients))


def send_to_each(servers: list[str], inboxes: Iterable[Inbox]) -> list[Mail]:
    """Sends one small mail to each inbox, one try each, over a connection to each server."""
    mails = [_make_mail([inbox], _SMALL_LINES) for inbox in inboxes]
    asyncio.run(_send_all(servers, mails))
    return mails


async def _send_all(servers: list[str], mails: list[Mail]) -> None:
    unsent = iter(mails)
    await asyncio.gather(*(_send_in_turn(server, unsent) for server in servers))


async def _send_in_turn(server: str, unsent: Iterator[Mail]) -> None:
    session: _Session | None = None
    for mail in unsent:
        try:
            session = session or await _Session.open(server)
            await session.send(mail)
        except (OSError, EOFError, TimeoutError, TurnedAway):
            if session:
                session.close()
            session = None
    if session:
        session.close()


class _Session:
    """An SMTP connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, server: str, tls: ssl.SSLContext | None = None) -> "_Session":
        host, _, port = server.rpartition(":")
        reader, writer = await asyncio.wait_for(
            asyncio.open_connection(host, int(port), ssl=tls), _REPLY_SECONDS
        )
        session = cls(reader, writer)
        try:
            await session._expect("220")
            await session._say("EHLO sender.example", "250")
        except BaseException:
            session.close()
            raise
        return session

    async def log_in(self, listener: SubmissionListener, capture: Capture) -> None:
        """Under TLS, which begins here where the listener has STARTTLS."""
        if not listener.is_tls_at_once:
            await self._start_tls(listener.server.rpartition(":")[0], listener.trusted)
        response = base64.b64encode(f"\0{capture.user}\0{capture.password}".encode())
        await self._say(f"AUTH PLAIN {response.decode()}", "235")

    async def _start_tls(self, host: str, trusted: ssl.SSLContext) -> None:
        await self._say("STARTTLS", "220")
        handshake = self._writer.start_tls(trusted, server_hostname=host)
        await asyncio.wait_for(handshake, _REPLY_SECONDS)
        await self._say("EHLO sender.example", "250")

    def close(self) -> None:
        self._writer.close()

    async def send(self, mail: Mail) -> None:
        """Notes in the mail how far it came and what was answered."""
        try:
            await self._transact(mail)
        except TurnedAway as refusal:
            mail.refused = str(refusal)
            raise

    async def _transact(self, mail: Mail) -> None:
        await self._say("MAIL FROM:<chaos@sender.example>", "250")
        for recipient in mail.recipients:
            await self._say(f"RCPT TO:<{recipient}>", "250")
        await self._say("DATA", "354")
        self._writer.write(mail.octets)
        await self._writer.drain()
        mail.dot_was_sent = True  # from here on the server may have it, whatever is answered
        self._writer.write(b".\r\n")
        found = _UUID.search(await self._expect("250"))
        if found is None:
            raise TurnedAway("250 without an id")
        mail.email_id = found[0]

    async def _say(self, command: str, expected: str) -> str:
        self._writer.write(command.encode("ascii") + b"\r\n")
        return await self._expect(expected)

    async def _expect(self, code: str) -> str:
        while True:
            line = await asyncio.wait_for(self._reader.readline(), _REPLY_SECONDS)
            if not line:
                raise EOFError
            if line[3:4] != b"-":
                break
        reply = line.decode().rstrip()
        if not reply.startswith(code):
            raise TurnedAway(reply)
        return reply
