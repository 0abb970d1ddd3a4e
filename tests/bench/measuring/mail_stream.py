"""Mail at an even rate over several kept connections, by CHUNKING: a message is one write, which
costs the sender little (RFC 3030).
"""

import asyncio
import time
from collections.abc import Sequence

_REPLIES_A_MESSAGE = 3  # to MAIL, RCPT and BDAT


async def reply(reader: asyncio.StreamReader, code: str) -> None:
    """Reads a reply; ends the program where it has another code."""
    while (line := (await reader.readline()).decode())[3:4] == "-":
        pass
    if not line.startswith(code):
        raise SystemExit(f"SMTP answered {line.strip() or 'nothing'} where {code} was expected")


def _message(number: int, address: str) -> bytes:
    text = (
        f"From: robot@sender.example\r\nTo: {address}\r\nSubject: Your code {number}\r\n\r\n"
        f"Your verification code is {100_000 + number % 900_000}.\r\n"
    ).encode()
    head = (
        f"MAIL FROM:<robot@sender.example>\r\nRCPT TO:<{address}>\r\nBDAT {len(text)} LAST\r\n"
    ).encode()
    return head + text


async def open_session(
    smtp: str, login: str = ""
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Opens a session past EHLO, and past AUTH PLAIN where its response is given."""
    host, _, port = smtp.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    await reply(reader, "220")
    writer.write(b"EHLO bench.example\r\n")
    await reply(reader, "250")
    if login:
        writer.write(f"AUTH PLAIN {login}\r\n".encode())
        await reply(reader, "235")
    return reader, writer


async def close_session(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """QUIT."""
    writer.write(b"QUIT\r\n")
    await reply(reader, "221")
    writer.close()


async def _send_share(
    smtp: str, login: str, addresses: Sequence[str], numbers: range, began: float, rate: float
) -> float:
    """Sends the messages with these numbers, each when it is due; the most seconds one was late."""
    reader, writer = await open_session(smtp, login)
    late = 0.0
    for number in numbers:
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        late = max(late, time.monotonic() - due)
        writer.write(_message(number, addresses[number * 7919 % len(addresses)]))
        for _ in range(_REPLIES_A_MESSAGE):
            await reply(reader, "250")
    await close_session(reader, writer)
    return late


async def send(
    smtp: str,
    addresses: Sequence[str],
    messages: int,
    rate: float,
    connections: int,
    logins: Sequence[str] = ("",),
) -> float:
    """Sends so many messages at `rate` a second; returns what the rate really was. The connections
    log in with these responses of AUTH PLAIN by turns.

    Ends the program where a message is refused.
    """
    began = time.monotonic() + 0.1
    await asyncio.gather(
        *(
            _send_share(
                smtp,
                logins[first % len(logins)],
                addresses,
                range(first, messages, connections),
                began,
                rate,
            )
            for first in range(connections)
        )
    )
    return messages / (time.monotonic() - began)
