"""Waiting for mail, codes and links, and reading what came."""

import base64
import json
import os
import pty
import re
import subprocess
from pathlib import Path

from cli import Cli, Inbox, send_mail
from service import CUT, Call, Reply, Service

_HTML = (
    "<p>Hello <b>you</b></p>"
    '<a href="https://app.example.com/unsubscribe?u=1">Unsubscribe</a>'
    '<a href="https://app.example.com/verify?t=ab12">Confirm your address</a>'
)


def test_code_prints_the_code_alone(cli: Cli, inbox: Inbox) -> None:
    with cli.start("code", inbox.address, "--subject", "code") as waiting:
        send_mail(inbox.address, subject="Welcome", text="Hello\n")
        send_mail(inbox.address)

        assert waiting.line() == "482913"
        assert waiting.exit_code() == 0
    found = cli.json("code", inbox.inbox_id)
    assert found["code"] == "482913"
    assert found["sequence"] == 2


def test_wait_begins_behind_a_position(cli: Cli, inbox: Inbox) -> None:
    send_mail(inbox.address, subject="First")
    first = cli.json("wait", inbox.address)
    send_mail(inbox.address, subject="Second")

    second = cli.json("wait", inbox.address, "--after", str(first["email"]["sequence"]))

    assert first["email"]["subject"] == "First"
    assert second["email"]["subject"] == "Second"
    said = cli.fails(1, "wait", inbox.address, "--after", "latest", "--timeout", "1s")
    assert "no email came within 1s" in said


def test_link_is_the_one_to_follow(cli: Cli, inbox: Inbox) -> None:
    send_mail(inbox.address, subject="No link here", text="Hello\n")
    send_mail(inbox.address, subject="Confirm", text="See the HTML\n", html=_HTML)

    assert cli.text("link", inbox.address) == "https://app.example.com/verify?t=ab12\n"
    found = cli.json("link", inbox.address, "--kind", "unsubscribe")
    assert found["url"] == "https://app.example.com/unsubscribe?u=1"
    assert found["sequence"] == 2
    said = cli.fails(1, "link", inbox.address, "--kind", "reset", "--timeout", "1s")
    assert "no email (with a reset link) came within 1s" in said
    assert 'near miss: linkKind: wanted "reset", is "verify 1, unsubscribe 1"' in said
    assert 'near miss: linkKind: wanted "reset", is "none"' in said


def test_a_near_miss_of_a_text_shows_how_the_email_begins(cli: Cli, inbox: Inbox) -> None:
    send_mail(inbox.address, text="Order 4711\nis on its way.\n")
    cli.text("wait", inbox.address)

    said = cli.fails(1, "wait", inbox.address, "--text", "invoice", "--timeout", "1s")

    assert 'no email (text contains "invoice") came within 1s' in said
    assert 'near miss: text: wanted "invoice", is "Order 4711 is on its way."' in said


def test_several_emails_are_waited_for(cli: Cli, inbox: Inbox) -> None:
    with cli.start("wait", inbox.address, "--count", "2", "--from", "robot", "--quiet") as waiting:
        send_mail(inbox.address, subject="First")
        send_mail(inbox.address, subject="Other", sender="ann@sender.example")
        send_mail(inbox.address, subject="Second")

        ids = [waiting.line(), waiting.line()]
        assert waiting.exit_code() == 0
    listed = cli.json("wait", inbox.address, "--count", "2", "--from", "robot")["emails"]
    assert [email["emailId"] for email in listed] == ids
    table = cli.text("wait", inbox.address, "--count", "3").splitlines()
    assert [line.split()[0] for line in table] == ["SEQUENCE", "1", "2", "3"]
    said = cli.fails(1, "wait", inbox.address, "--count", "3", "--from", "robot", "--timeout", "1s")
    assert '2 of 3 emails (sender contains "robot") came within 1s' in said
    assert f'came: "Second" (tempinbox read {ids[1]})' in said
    assert "give one of --count and --none" in cli.fails(
        2, "wait", inbox.address, "--count", "2", "--none"
    )


def test_link_ends_at_its_time_however_many_emails_have_none(cli: Cli, inbox: Inbox) -> None:
    def script(number: int, _: Call) -> Reply:
        email = {"emailId": str(number), "sequence": number, "subject": f"n{number}", "links": []}
        return Reply(body={"outcome": "matched", "email": email, "nearMisses": []})

    with Service(script) as service:
        said = cli.with_(TEMPINBOX_BASE_URL=service.url).fails(
            1, "link", inbox.inbox_id, "--timeout", "3s"
        )

    assert said.count("near miss: no link to follow") == 10
    assert f'"n{len(service.calls) - 1}"' in said, "the newest are shown"


def test_a_timeout_says_what_came_instead_and_where_to_look(cli: Cli, inbox: Inbox) -> None:
    send_mail(inbox.address, subject="Welcome")
    email = cli.text("wait", inbox.address, "--quiet").strip()

    done = cli.run("wait", inbox.address, "--subject", "invoice", "--timeout", "1s", "--json")

    assert done.returncode == 1
    assert json.loads(done.stdout)["nearMisses"][0]["emailId"] == email
    page = f"{cli.variables['TEMPINBOX_BASE_URL'].rstrip('/')}/dashboard/inboxes/{inbox.inbox_id}"
    assert done.stderr.splitlines() == [
        'tempinbox: no email (subject contains "invoice") came within 1s',
        f'  near miss: subject: wanted "invoice", is "Welcome" (tempinbox read {email})',
        f"  Look at the inbox: {page}",
    ]


def test_none_is_done_when_nothing_came(cli: Cli, inbox: Inbox) -> None:
    assert cli.text("wait", inbox.address, "--none", "--timeout", "1s") == (
        "no email came within 1s\n"
    )
    send_mail(inbox.address)
    done = cli.run("wait", inbox.address, "--none", "--timeout", "30s")
    assert done.returncode == 1
    assert "Your code" in done.stdout
    assert "an email came though none was to come" in done.stderr


def test_a_wait_through_three_requests_of_which_one_is_cut_sees_the_mail_once(
    cli: Cli, inbox: Inbox
) -> None:
    """Scaled down: holds of a second in place of sixty."""

    def script(number: int, _: Call) -> Reply | str:
        nothing = {"outcome": "timeout", "email": None, "lastSequence": 0, "nearMisses": []}
        if number == 2:
            return CUT
        if number < 4:
            return Reply(body=nothing)
        email = {"emailId": "e", "sequence": 1, "codes": [{"value": "1"}], "brandNew": {"a": []}}
        return Reply(body={"outcome": "matched", "email": email, "nearMisses": [], "new": 1})

    with Service(script) as service:
        found = cli.with_(TEMPINBOX_BASE_URL=service.url).json(
            "wait", inbox.inbox_id, "--timeout", "60s", "--hold", "1", "--after", "7"
        )

    assert found["email"]["emailId"] == "e"
    assert found["email"]["brandNew"] == {"a": []}
    assert [call.query["after"] for call in service.calls] == ["7"] * 4
    assert {call.query["timeoutSeconds"] for call in service.calls} == {"1"}


def test_read_shows_the_parts_of_an_email(cli: Cli, inbox: Inbox, tmp_path: Path) -> None:
    content = bytes(range(256))
    html = _HTML + "<p>Your code is 482913.</p>"
    send_mail(inbox.address, html=html, attachment=content)
    email = cli.json("wait", inbox.address)["email"]
    email_id = email["emailId"]

    shown = cli.text("read", inbox.address)

    assert "From:        Robot <robot@sender.example>\n" in shown
    assert "Code:        482913\n" in shown
    assert "https://app.example.com/verify?t=ab12 (verify)" in shown
    assert "report.bin" in shown
    assert shown.endswith("\n\nYour code is 482913.\n")
    assert cli.text("read", email_id, "--html").strip() == html
    assert "Subject: Your code\n" in cli.text("read", email_id, "--headers")
    assert "\nSubject: Your code" in cli.text("read", email_id, "--raw")
    assert cli.json("read", email_id)["emailId"] == email_id
    file = tmp_path / "report.bin"
    attachment = email["attachments"][0]["attachmentId"]
    cli.text("read", email_id, "--attachment", attachment, "--output", str(file))
    assert file.read_bytes() == content
    assert "give one of" in cli.fails(2, "read", email_id, "--raw", "--html")


def test_mail_cannot_command_the_terminal(cli: Cli, inbox: Inbox) -> None:
    body = base64.b64decode("SGVsbG8bWzJKIHdvcmxkBwo=").decode()  # with ESC [2J and BEL
    send_mail(inbox.address, subject="=?utf-8?q?Hi=1B=5B2J?=", text=body)
    cli.text("wait", inbox.address)

    shown = cli.text("read", inbox.address) + cli.text("list", inbox.address)

    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "Hello[2J world" in shown


def test_progress_is_shown_on_a_terminal_only(cli: Cli, inbox: Inbox) -> None:
    words = [str(cli.program), "wait", inbox.inbox_id, "--timeout", "4s"]
    reader, terminal = pty.openpty()
    with subprocess.Popen(
        words, env=cli.environment(), stdout=subprocess.DEVNULL, stderr=terminal
    ) as running:
        os.close(terminal)
        shown = b""
        try:
            while piece := os.read(reader, 4096):
                shown += piece
        except OSError:  # Linux says so when the other end is closed
            pass
        assert running.wait(timeout=60) == 1
    os.close(reader)

    # A busy machine may leave some out.
    assert len(set(re.findall(rb"waiting for mail: \d s of 4 s", shown))) >= 2
    assert "waiting for mail" not in cli.fails(1, "wait", inbox.inbox_id, "--timeout", "1s")
