"""The suite under test: mail into it, and the operator's command line."""

import json
import os
import shlex
import smtplib
import subprocess
import uuid
from email.message import EmailMessage
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def operate(*arguments: str) -> Any:
    """Runs tempinboxctl; its JSON."""
    command = [*shlex.split(os.environ["TEMPINBOX_TEST_CTL"]), *arguments, "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def make_account(plan: str) -> tuple[str, str]:
    """The id and the key of a new account."""
    email = f"{uuid.uuid4().hex[:12]}@example.com"
    account = operate("account", "create", "--email", email, "--plan", plan)["accountId"]
    return account, operate("key", "create", account, "--label", "test")["key"]


def send(
    address: str,
    subject: str,
    text: str,
    html: str = "",
    attached: bytes = b"",
) -> None:
    """A mail over SMTP."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Robot <robot@shop.example>", address, subject
    mail.set_content(text)
    if html:
        mail.add_alternative(html, subtype="html")
    if attached:
        mail.add_attachment(attached, "application", "pdf", filename="invoice.pdf")
    with _mail_server() as connection:
        connection.send_message(mail)


def send_raw(address: str, message: bytes) -> None:
    """A mail over SMTP, as it is."""
    with _mail_server() as connection:
        connection.sendmail("robot@shop.example", [address], message)


def _mail_server() -> smtplib.SMTP:
    host, _, port = os.environ["TEMPINBOX_TEST_SMTP"].rpartition(":")
    return smtplib.SMTP(host, int(port), timeout=30)
