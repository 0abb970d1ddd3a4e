"""Sending mail: swaks for what a sender does, smtplib where bytes matter."""

import re
import smtplib
import subprocess
from dataclasses import dataclass

from harness.suite import Suite

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
_NOT_CONNECTED = 2  # swaks: cannot connect, or the address cannot be used
SENDER = "robot@sender.example"


@dataclass(frozen=True)
class Delivery:
    """The client of an SMTP session."""

    exit_code: int
    transcript: str

    @property
    def is_accepted(self) -> bool:
        """Returns whether the final dot was answered with 250."""
        return self.exit_code == 0

    @property
    def email_id(self) -> str:
        """The id the 250 named."""
        answers = [line for line in self.transcript.splitlines() if re.match(r"<[~-]\s+250", line)]
        ids = [found[0] for line in answers if (found := re.findall(_UUID, line))]
        assert ids, f"no email id in the answers:\n{self.transcript}"
        return str(ids[-1])


def send(
    suite: Suite,
    to: str,
    *,
    subject: str = "Hello",
    body: str = "Hello",
    sender: str = SENDER,
    server: str | None = None,
    more: tuple[str, ...] = (),
) -> Delivery:
    """Sends one mail by swaks, to the first mail server by default; `more` are further options of
    it.
    """
    command = [
        "swaks",
        "--server",
        server or suite["SMTP"],
        "--from",
        sender,
        "--to",
        to,
        "--header",
        f"Subject: {subject}",
        "--body",
        body,
    ]
    done = subprocess.run(
        [*command, "--timeout", "30", *more], capture_output=True, text=True, timeout=120
    )
    assert done.returncode != _NOT_CONNECTED, done.stdout + done.stderr
    return Delivery(done.returncode, done.stdout + done.stderr)


def send_raw(
    suite: Suite, recipients: list[str], message: bytes, sender: str = SENDER
) -> dict[str, tuple[int, bytes]]:
    """The bytes as they are, to several recipients; the refused ones with their replies."""
    host, _, port = suite["SMTP"].rpartition(":")
    with smtplib.SMTP(host, int(port), local_hostname="sender.example", timeout=30) as connection:
        return connection.sendmail(sender, recipients, message)
