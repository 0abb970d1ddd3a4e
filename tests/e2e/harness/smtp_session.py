"""An SMTP session by hand, for what no client offers: each command and each byte as the test wants
it.
"""

import re
import socket
import ssl
from typing import Self

from harness.mail import SENDER

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"


class SmtpSession:
    """A connection to a mail server (host:port), from an address of this machine's.

    Use as a context manager: it reads the greeting and says EHLO. With `tls` it speaks TLS from the
    first byte.
    """

    def __init__(self, server: str, source: str = "", *, tls: ssl.SSLContext | None = None) -> None:
        self._host, _, port = server.rpartition(":")
        self._socket = socket.create_connection(
            (self._host, int(port)), timeout=30, source_address=(source, 0) if source else None
        )
        if tls:
            self._socket = tls.wrap_socket(self._socket, server_hostname=self._host)
        self._replies = self._socket.makefile("rb")
        self.extensions: list[str] = []

    def __enter__(self) -> Self:
        greeting = self.reply()
        assert greeting.startswith("220 "), greeting
        self._say_hello()
        return self

    def __exit__(self, *_: object) -> None:
        self._replies.close()
        self._socket.close()

    def _say_hello(self) -> None:
        self.extensions = [line[4:] for line in self.say("EHLO sender.example").splitlines()[1:]]

    def start_tls(self, tls: ssl.SSLContext) -> None:
        """STARTTLS, then EHLO again."""
        ready = self.say("STARTTLS")
        assert ready.startswith("220 "), ready
        self._replies.close()
        self._socket = tls.wrap_socket(self._socket, server_hostname=self._host)
        self._replies = self._socket.makefile("rb")
        self._say_hello()

    def write(self, octets: bytes) -> None:
        """Bytes as they are."""
        self._socket.sendall(octets)

    def reply(self) -> str:
        """The next reply; the lines of a long one joined by LF.

        Empty when the server has closed the connection.
        """
        lines = []
        while line := self._replies.readline().decode().rstrip("\r\n"):
            lines.append(line)
            if line[3:4] != "-":
                break
        return "\n".join(lines)

    def say(self, command: str) -> str:
        """Sends one command and answers its reply."""
        self.write(command.encode() + b"\r\n")
        return self.reply()

    def address(self, *recipients: str, sender: str = SENDER, parameters: str = "") -> list[str]:
        """MAIL, then a RCPT each; the replies to the RCPTs."""
        taken = self.say(f"MAIL FROM:<{sender}>{parameters}")
        assert taken.startswith("250 "), taken
        return [self.say(f"RCPT TO:<{recipient}>") for recipient in recipients]

    def data(self, octets: bytes) -> str:
        """The message by DATA, as it is, with the final dot; the reply to the dot."""
        ready = self.say("DATA")
        assert ready.startswith("354 "), ready
        self.write(octets + b".\r\n")
        return self.reply()


def queued_id(reply: str) -> str:
    """The id a 250 named."""
    found = re.search(_UUID, reply)
    assert reply.startswith("250 "), reply
    assert found, reply
    return found[0]
