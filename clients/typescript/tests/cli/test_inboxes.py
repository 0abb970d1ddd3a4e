"""Inboxes: made, listed, opened, ended."""

import json
from pathlib import Path

from cli import Cli, Inbox, send_mail


def test_create_makes_an_inbox_with_everything_it_was_given(cli: Cli, tag: str) -> None:
    made = cli.json(
        *("create", "--local-part", f"signup-{tag}", "--ttl", "15m", "--name", "Sign-up"),
        *("--tag", tag, "--tag", "other", "--metadata", "branch=main", "--metadata", "empty="),
    )

    assert made["emailAddress"].startswith(f"signup-{tag}@")
    assert made["name"] == "Sign-up"
    assert made["tags"] == [tag, "other"]
    assert made["metadata"] == {"branch": "main", "empty": ""}
    assert cli.json("rm", made["emailAddress"]) == {"deletedCount": 1}


def test_create_prints_address_and_id(cli: Cli) -> None:
    shown = dict(line.split(":", 1) for line in cli.text("create").splitlines())

    assert set(shown) == {"Address", "Inbox", "Ends"}
    cli.text("rm", shown["Inbox"].strip())


def test_an_address_that_is_taken_is_a_conflict(cli: Cli, inbox: Inbox) -> None:
    said = cli.fails(8, "create", "--local-part", inbox.address.split("@")[0])

    assert f"The address {inbox.address} is not available" in said


def test_list_shows_inboxes_by_tag_and_past_one_page(cli: Cli, tag: str) -> None:
    for _ in range(3):
        cli.text("create", "--tag", tag, "--quiet")

    ids = cli.text("list", "--tag", tag, "--quiet").split()
    part = cli.run("list", "--tag", tag, "--limit", "2", "--json")
    table = cli.text("list", "--tag", tag)

    assert len(set(ids)) == 3
    page = json.loads(part.stdout)
    assert [inbox["inboxId"] for inbox in page["inboxes"]] == ids[:2]
    assert page["nextCursor"]
    assert cli.text("list", "--tag", tag, "--order", "asc", "--quiet").split() == ids[::-1]
    assert table.splitlines()[0].split() == ["ADDRESS", "INBOX", "STATUS", "EMAILS", "ENDS", "NAME"]
    assert all(each in table for each in ids)
    assert cli.json("rm", "--tag", tag) == {"deletedCount": 3}
    assert cli.text("list", "--tag", tag) == ""
    assert len(cli.json("list", "--tag", tag, "--status", "expired")["inboxes"]) == 3


def test_list_shows_the_emails_of_an_inbox(cli: Cli, inbox: Inbox) -> None:
    send_mail(inbox.address, subject="Welcome")
    send_mail(inbox.address, subject="Your code")
    cli.text("wait", inbox.inbox_id, "--subject", "code")

    table = cli.text("list", inbox.address)
    found = cli.json("list", inbox.inbox_id, "--subject", "WELCOME")

    assert [line.split()[0] for line in table.splitlines()] == ["SEQUENCE", "2", "1"]
    assert [email["subject"] for email in found["emails"]] == ["Welcome"]
    oldest = cli.json("list", inbox.inbox_id, "--order", "asc")["emails"]
    assert [email["sequence"] for email in oldest] == [1, 2]
    assert cli.json("list", inbox.inbox_id, "--after", "1")["emails"][0]["sequence"] == 2


def test_only_the_emails_of_an_inbox_have_conditions(cli: Cli) -> None:
    said = cli.fails(2, "list", "--text", "x")

    assert "--text is for the emails of an inbox: tempinbox list INBOX" in said


def test_rm_goes_on_past_what_is_not_there(cli: Cli) -> None:
    first, second = (cli.text("create", "--quiet").strip() for _ in range(2))
    cli.text("rm", first)

    done = cli.run("rm", first, second)

    assert done.returncode == 4
    assert done.stdout == f"deleted inbox {second}\n"
    assert first in done.stderr
    assert "`tempinbox list` shows what there is" in done.stderr


def test_rm_deletes_an_email(cli: Cli, inbox: Inbox) -> None:
    send_mail(inbox.address)
    email = cli.text("wait", inbox.address, "--quiet").strip()

    cli.text("rm", "--email", email)

    assert cli.json("list", inbox.inbox_id)["emails"] == []
    cli.fails(4, "read", email)


def test_rm_without_a_word_deletes_nothing(cli: Cli) -> None:
    said = cli.fails(2, "rm")

    assert "what to delete is missing" in said


def test_open_starts_the_desktop_s_program_with_the_page(
    cli: Cli, inbox: Inbox, tmp_path: Path
) -> None:
    send_mail(inbox.address)
    email = cli.text("wait", inbox.address, "--quiet").strip()
    opened = tmp_path / "opened"
    browser = tmp_path / "bin" / "xdg-open"
    browser.parent.mkdir()
    browser.write_text(f'#!/bin/sh\necho "$1" >>"{opened}"\n', encoding="utf-8")
    browser.chmod(0o755)
    user = cli.with_(PATH=f"{browser.parent}:/usr/bin:/bin")
    base = cli.variables["TEMPINBOX_BASE_URL"].rstrip("/")

    user.text("open")
    user.text("open", inbox.address)
    user.text("open", "--email", email)

    assert opened.read_text(encoding="utf-8").splitlines() == [
        f"{base}/dashboard",
        f"{base}/dashboard/inboxes/{inbox.inbox_id}",
        f"{base}/dashboard/inboxes/{inbox.inbox_id}/{email}",
    ]


def test_open_without_a_browser_says_the_address(cli: Cli, tmp_path: Path) -> None:
    said = cli.with_(PATH=str(tmp_path)).fails(7, "open")

    assert "no browser can be started" in said
    assert said.rstrip().endswith("/dashboard")
    assert cli.text("open", "--print").rstrip().endswith("/dashboard")
