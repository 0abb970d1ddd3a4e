"""Options that say what an email must be like: `list` and `wait` find what every door finds."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from cli import Cli, Inbox, send_mail, send_raw

_ROOT = Path(__file__).resolve().parents[4]
_TABLE = json.loads((_ROOT / "tests" / "email_filters.json").read_text(encoding="utf-8"))
# The command line asks for what is there and for what is unread; these have no option.
_UNSAYABLE = {"hasCode": False, "hasLink": False, "hasAttachment": False, "isRead": True}


def _can_be_said(query: dict[str, Any]) -> bool:
    return not any(query.get(name) is value for name, value in _UNSAYABLE.items())


def _options(query: dict[str, Any], times: list[str]) -> Iterator[str]:
    """Yields a query of the table as words of the command line; numbers are sequences."""
    for name, value in query.items():
        option = "--" + re.sub("([A-Z])", lambda found: "-" + found[1].lower(), name)
        if name == "headers":
            for header, part in value.items():
                yield from ("--header", f"{header}: {part}")
        elif name == "isRead":
            yield "--unread"
        elif value is True:
            yield option
        else:
            yield from (option, times[value - 1] if isinstance(value, int) else value)


def _send_all(cli: Cli, inbox: Inbox) -> list[str]:
    """Sends the mails of the table and marks those that are read; when each was received."""
    local, _, domain = inbox.address.partition("@")
    for mail in _TABLE["mails"]:
        plus = f"+{mail['plusTag']}" if "plusTag" in mail else ""
        message = "".join(f"{line}\r\n" for line in mail["lines"]).encode()
        send_raw(f"{local}{plus}@{domain}", message)
    words = ("wait", inbox.inbox_id, "--count", str(len(_TABLE["mails"])))
    emails = cli.json(*words)["emails"]
    for email, mail in zip(emails, _TABLE["mails"], strict=True):
        if mail.get("isRead"):
            _mark_read(cli, email["emailId"])
    return [email["receivedAt"] for email in emails]


def _mark_read(cli: Cli, email_id: str) -> None:
    """By the API, since the command line cannot."""
    url = f"{cli.variables['TEMPINBOX_BASE_URL'].rstrip('/')}/v1/emails/{email_id}"
    key = {"X-API-Key": cli.variables["TEMPINBOX_API_KEY"]}
    httpx.patch(url, json={"isRead": True}, headers=key, timeout=30).raise_for_status()


def test_emails_are_found_as_by_every_door(cli: Cli, inbox: Inbox) -> None:
    times = _send_all(cli, inbox)
    sayable = [row for row in _TABLE["found"] if _can_be_said(row["query"])]
    refused = [query for query in _TABLE["refused"] if _can_be_said(query)]

    def listed(*words: str) -> list[int]:
        emails = cli.json("list", inbox.inbox_id, *words)["emails"]
        return [email["sequence"] for email in emails]

    def waited(count: int, *words: str) -> list[int]:
        result = cli.json("wait", inbox.inbox_id, "--count", str(count), *words)
        emails = result["emails"] if count > 1 else [result["email"]]
        return [email["sequence"] for email in emails]

    for query, sequences in ((row["query"], row["sequences"]) for row in sayable):
        words = list(_options(query, times))
        assert listed(*words, "--order", "asc") == sequences, query
        if sequences:
            assert waited(len(sequences), *words) == sequences, query
        else:
            cli.text("wait", inbox.inbox_id, "--none", "--timeout", "1s", *words)
    for query in refused:
        for command in ("list", "wait"):
            cli.fails(2, command, inbox.inbox_id, *_options(query, times))
    assert listed("--after", "1", "--order", "asc", "--limit", "2") == [2, 3]


def test_a_duration_is_so_long_ago(cli: Cli, inbox: Inbox) -> None:
    send_mail(inbox.address)
    cli.text("wait", inbox.address)

    assert len(cli.json("list", inbox.inbox_id, "--since", "1h")["emails"]) == 1
    assert cli.json("list", inbox.inbox_id, "--until", "1h")["emails"] == []


def test_a_code_is_that_of_an_email_like_this(cli: Cli, inbox: Inbox) -> None:
    send_mail(inbox.address, text="Your code is 111222.\n")
    send_mail(inbox.address, sender="Ann <ann@sender.example>")

    assert cli.text("code", inbox.address, "--from", "ann") == "482913\n"
