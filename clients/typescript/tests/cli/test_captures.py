"""Logins of inboxes: made, printed as an environment, rotated, ended."""

import os
import smtplib
import ssl
import subprocess
from email.message import EmailMessage

from cli import Cli, Inbox
from service import Reply, Service

_SECONDS = 60
_INBOX = "0197a1b2-0000-7000-8000-000000000001"


def _sourced(cli: Cli, lines: str) -> dict[str, str]:
    """Returns what a shell knows after it has read the lines."""
    script = f"set -eu\n{lines}\nset\n"
    done = subprocess.run(
        ["bash", "--posix", "-c", script],
        env=cli.environment(),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    pairs = (line.partition("=") for line in done.stdout.splitlines())
    return {name: value for name, _, value in pairs if name.startswith("SMTP_")}


def _send(login: dict[str, str], to: str, subject: str) -> None:
    message = EmailMessage()
    message["From"] = "shop@shop.example"
    message["To"] = to
    message["Subject"] = subject
    message.set_content("Hello.\n")
    context = ssl.create_default_context(cafile=os.environ["TEMPINBOX_TEST_SUBMISSION_CA"])
    port = int(login["SMTP_PORT"])
    with smtplib.SMTP(login["SMTP_HOST"], port, timeout=_SECONDS) as server:
        server.starttls(context=context)
        server.login(login["SMTP_USER"], login["SMTP_PASSWORD"])
        server.send_message(message)


def test_create_prints_a_login_that_a_shell_reads_and_mail_is_sent_with(cli: Cli, tag: str) -> None:
    printed = cli.text("create", "--capture", "--tag", tag)
    inbox = cli.text("list", "--tag", tag, "--quiet").strip()

    login = _sourced(cli, printed)
    _send(login, "anybody@elsewhere.example", "Welcome")

    assert set(login) == {"SMTP_HOST", "SMTP_PORT", "SMTP_USER", "SMTP_PASSWORD", "SMTP_URL"}
    assert inbox in printed.splitlines()[0]
    found = cli.json("wait", inbox, "--recipient", "anybody@elsewhere.example")["email"]
    assert found["subject"] == "Welcome"
    assert found["envelope"]["login"] == login["SMTP_USER"]
    cli.text("rm", "--tag", tag)


def test_create_with_json_prints_what_the_api_answers(cli: Cli) -> None:
    made = cli.json("create", "--capture")

    assert made["capture"]["user"].startswith("cap_")
    assert made["capture"]["password"].startswith("tic_")
    cli.text("rm", made["inboxId"])


def test_capture_makes_an_inbox_where_none_is_given(cli: Cli) -> None:
    made = cli.json("capture")

    assert made["capture"]["password"] in made["capture"]["url"]
    cli.text("rm", made["inboxId"])


def test_capture_gives_rotates_and_ends_the_login_of_an_inbox(cli: Cli, inbox: Inbox) -> None:
    first = _sourced(cli, cli.text("capture", inbox.address))
    taken = cli.fails(8, "capture", inbox.inbox_id)
    rotated = cli.json("capture", inbox.inbox_id, "--rotate", "--grace", "1h")
    ended = cli.text("capture", inbox.inbox_id, "--end")

    assert first["SMTP_USER"] == rotated["user"]
    assert first["SMTP_PASSWORD"] != rotated["password"]
    assert rotated["previousValidUntil"] is not None
    assert "login" in taken
    assert ended == f"ended the login of inbox {inbox.inbox_id}\n"
    cli.fails(4, "capture", inbox.inbox_id, "--rotate")


def test_options_that_do_not_fit_make_no_request(cli: Cli) -> None:
    wrong = {
        ("create", "--env", "laravel"): "--env is for an inbox with a login: --capture",
        ("create", "--capture", "--quiet"): "--quiet would lose the password of --capture",
        ("create", "--capture", "--env", "cobol"): "--env must be one of smtp, laravel",
        ("capture", "--rotate"): "INBOX is missing: whose login",
        ("capture", "--end"): "INBOX is missing: whose login",
        ("capture", _INBOX, "--grace", "1h"): "--grace is for --rotate",
        ("capture", _INBOX, "--rotate", "--grace", "2d"): "--grace must be a time from 0s to 1d",
        ("capture", _INBOX, "--rotate", "--end"): "give --rotate or --end, not both",
        ("capture", _INBOX, "--end", "--env", "smtp"): "--env is for a login that is made",
    }
    with Service(lambda *_: Reply(500)) as service:
        user = cli.with_(TEMPINBOX_BASE_URL=service.url)
        for words, reason in wrong.items():
            assert reason in user.fails(2, *words)

    assert service.calls == []


def test_a_service_that_takes_no_such_mail_is_explained(cli: Cli) -> None:
    message = "capture is not offered here: the operator has set no capture-host"
    refusal = Reply(400, {"statusCode": 400, "error": "Bad Request", "message": message})

    with Service(lambda *_: refusal) as service:
        said = cli.with_(TEMPINBOX_BASE_URL=service.url).fails(2, "create", "--capture")

    assert message in said
