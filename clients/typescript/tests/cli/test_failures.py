"""Tests failures: each has its exit code and a message that says what to do."""

import json
import os
import time

import pytest
from cli import Account, Cli, Inbox, control
from service import CUT, Call, Reply, Service, free_port

_INBOX = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f"


def test_missing_settings_name_each_way_to_give_them(cli: Cli) -> None:
    url = cli.without("TEMPINBOX_BASE_URL").fails(2, "list")
    key = cli.without("TEMPINBOX_API_KEY").fails(2, "list")

    assert "TEMPINBOX_BASE_URL" in url
    assert "--base-url" in url
    assert "TEMPINBOX_API_KEY" in key
    assert "chmod 600" in key
    assert str(cli.home / ".config" / "tempinbox" / "key") in key
    assert "/dashboard/settings/keys" in key


def test_the_key_may_come_from_a_file_of_the_user_s_alone(cli: Cli) -> None:
    user = cli.without("TEMPINBOX_API_KEY")
    file = cli.home / ".config" / "tempinbox" / "key"
    file.parent.mkdir(parents=True)
    file.write_text(cli.variables["TEMPINBOX_API_KEY"] + "\n", encoding="utf-8")

    file.chmod(0o644)
    assert f"type: chmod 600 '{file}'" in user.fails(2, "list")
    file.chmod(0o600)
    assert "inboxes" in user.json("list")


def test_a_wrong_key_says_where_to_make_one(cli: Cli) -> None:
    said = cli.with_(TEMPINBOX_API_KEY="ti_live_wrong").fails(3, "list")

    assert "refuses the API key of TEMPINBOX_API_KEY" in said
    assert "/dashboard/settings/keys" in said


def _ends_by(user: Cli, code: int) -> str:
    """Waits about a second until a change of the plan is in force; returns what `list` says."""
    end = time.monotonic() + 20
    done = user.run("list")
    while done.returncode != code and time.monotonic() < end:
        done = user.run("list")
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done.stderr


def test_an_ended_plan_says_where_plans_are(cli: Cli) -> None:
    account = Account.make()
    user = cli.with_(TEMPINBOX_API_KEY=account.key)
    user.text("list")
    control("account", "set-plan", account.account_id, "--plan", "free")

    said = _ends_by(user, 3)

    assert "What the plan allows: " in said
    assert "/dashboard/account" in said


def test_a_used_up_day_says_until_when(cli: Cli) -> None:
    account = Account.make("pass7")
    user = cli.with_(TEMPINBOX_API_KEY=account.key)
    before = control("plan", "list")
    pass7 = next(plan for plan in before["plans"] if plan["plan"] == "pass7")
    control("plan", "set", "pass7", "--requests-per-day", "2")
    try:
        said = _ends_by(user, 5)
    finally:
        control("plan", "set", "pass7", "--requests-per-day", str(pass7["requestsPerDay"]))

    assert "try again in" in said
    assert "/dashboard/account" in said


def test_a_vanished_service_says_what_to_check(cli: Cli) -> None:
    port = free_port()
    said = cli.with_(TEMPINBOX_BASE_URL=f"http://127.0.0.1:{port}").fails(6, "list")

    assert f"cannot reach http://127.0.0.1:{port}: the connection was not made" in said
    assert "TEMPINBOX_BASE_URL" in said


def test_a_host_that_does_not_exist_is_named(cli: Cli) -> None:
    said = cli.with_(TEMPINBOX_BASE_URL="http://nowhere.invalid").fails(6, "list")

    assert "cannot reach http://nowhere.invalid" in said
    assert "TEMPINBOX_BASE_URL" in said


def test_a_cut_connection_is_tried_again_under_one_idempotency_key(cli: Cli) -> None:
    made = {"inboxId": _INBOX, "emailAddress": "a@b", "expiresAt": "2026-11-21T10:00:00.000Z"}

    with Service(lambda number, _: CUT if number < 3 else Reply(201, made)) as service:
        shown = cli.with_(TEMPINBOX_BASE_URL=service.url).json("create", "--name", "x")

    assert shown["inboxId"] == _INBOX
    assert [json.loads(call.body) for call in service.calls] == [{"name": "x"}] * 3
    assert len({call.headers["idempotency-key"] for call in service.calls}) == 1


def test_a_creation_that_is_still_under_way_after_a_cut_is_waited_for(cli: Cli) -> None:
    made = {"inboxId": _INBOX, "emailAddress": "a@b", "expiresAt": "2026-11-21T10:00:00.000Z"}
    headers = {"Retry-After": "1", "X-Error-Code": "idempotency_in_progress"}
    under_way = Reply(409, {"statusCode": 409, "message": "under way"}, headers)
    for lost in (CUT, Reply(502), Reply(503)):
        replies = [lost, under_way, Reply(201, made)]
        with Service(lambda number, _, replies=replies: replies[number - 1]) as service:
            shown = cli.with_(TEMPINBOX_BASE_URL=service.url).json("create")
        assert shown["inboxId"] == _INBOX
        assert len(service.calls) == 3

    with Service(lambda *_: under_way) as taken:
        cli.with_(TEMPINBOX_BASE_URL=taken.url).fails(8, "create")
    assert len(taken.calls) == 1


def test_a_wrong_email_id_is_said_before_anything_is_deleted(cli: Cli) -> None:
    with Service(lambda *_: Reply(204)) as service:
        said = cli.with_(TEMPINBOX_BASE_URL=service.url).fails(2, "rm", _INBOX, "--email", "typo")

    assert "typo" in said
    assert service.calls == []


def test_a_connection_cut_for_good_says_so_at_the_deadline(cli: Cli) -> None:
    with Service(lambda *_: CUT) as service:
        said = cli.with_(TEMPINBOX_BASE_URL=service.url).fails(6, "wait", _INBOX, "--timeout", "4s")

    assert "was cut" in said
    assert "--hold" in said
    assert len(service.calls) > 1


def test_a_deletion_whose_answer_was_cut_is_done(cli: Cli) -> None:
    gone = Reply(404, {"statusCode": 404, "error": "Not Found", "message": "gone"})

    with Service(lambda number, _: CUT if number == 1 else gone) as service:
        user = cli.with_(TEMPINBOX_BASE_URL=service.url)
        assert user.json("rm", _INBOX) == {"deletedCount": 1}
    with Service(lambda number, _: Reply(503) if number == 1 else gone) as service:
        user = cli.with_(TEMPINBOX_BASE_URL=service.url)
        assert user.json("rm", _INBOX) == {"deletedCount": 1}
    with Service(lambda *_: gone) as service:
        cli.with_(TEMPINBOX_BASE_URL=service.url).fails(4, "rm", _INBOX)


def test_a_busy_service_is_asked_again_when_it_says(cli: Cli) -> None:
    busy = Reply(503, {"message": "Busy"}, {"Retry-After": "1"})
    done = Reply(200, {"inboxes": [], "nextCursor": None})

    with Service(lambda number, _: busy if number == 1 else done) as service:
        cli.with_(TEMPINBOX_BASE_URL=service.url).text("list")

    assert len(service.calls) == 2


def test_a_proxy_whose_service_went_away_is_asked_again(cli: Cli) -> None:
    replies = [Reply(502), Reply(504), Reply(200, {"inboxes": [], "nextCursor": None})]

    with Service(lambda number, _: replies[number - 1]) as service:
        cli.with_(TEMPINBOX_BASE_URL=service.url).text("list")

    assert len(service.calls) == 3


def test_a_delay_past_the_deadline_is_not_waited_for(cli: Cli) -> None:
    reply = Reply(429, {"message": "Used up"}, {"Retry-After": "7200"})

    with Service(lambda *_: reply) as service:
        said = cli.with_(TEMPINBOX_BASE_URL=service.url).fails(5, "list")

    assert said == "tempinbox: Used up; try again in 2h\n"
    assert len(service.calls) == 1


@pytest.mark.parametrize("words", [("wait", _INBOX, "--timeout", "1d"), ("list",)])
def test_a_used_up_day_is_not_waited_for(cli: Cli, words: tuple[str, ...]) -> None:
    day = {
        "Retry-After": "1",
        "X-RateLimit-Limit": "2",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": "1800000000",
        "X-Error-Code": "daily_limit",
    }
    used_up = Reply(429, {"message": "The daily limit of 2 requests is used up"}, day)
    gone = Reply(404, {"message": "gone"})

    with Service(lambda number, _: used_up if number == 1 else gone) as service:
        said = cli.with_(TEMPINBOX_BASE_URL=service.url).fails(5, *words)

    assert "daily limit of 2 requests is used up; try again in 1s" in said
    assert len(service.calls) == 1


def test_another_server_than_the_service_is_told_apart(cli: Cli) -> None:
    def redirect(_: int, call: Call) -> Reply:
        return Reply(301, "", {"Location": "https://elsewhere.example/" + call.path})

    with Service(lambda *_: Reply(200, ["no", "object"])) as service:
        said = cli.with_(TEMPINBOX_BASE_URL=service.url).fails(6, "list")
    with Service(redirect) as service:
        moved = cli.with_(TEMPINBOX_BASE_URL=service.url).fails(6, "list")

    assert "does not answer as the service does" in said
    assert "https://elsewhere.example/" in moved


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("create", "--ttl", "5s"), "--ttl must be a time from 1m"),
        (("create", "--name", ""), "--name must be 1 to 100 characters"),
        (("create", "--metadata", "novalue"), "--metadata must be NAME=VALUE"),
        (("create", "--tag", "x" * 51), "--tag must be 1 to 50 characters"),
        (("create", "extra"), 'unexpected argument "extra"'),
        (("list", "--limit", "0"), "--limit must be an integer from 1"),
        (("wait", "nonsense"), "INBOX must be an inbox's id (36 characters) or its address"),
        (("wait", _INBOX, "--after", "-1"), "--after must be an integer from 0"),
        (("wait", _INBOX, "--hold", "61"), "--hold must be an integer from 1 to 60"),
        (("read", "nonsense"), "EMAIL must be an email's id"),
        (("listen", "--inbox", _INBOX, "--forward-to", "localhost"), "--forward-to: the URL"),
        (
            ("listen", "--inbox", _INBOX, "--forward-to", "http://a", "--secret", "abc"),
            "--secret must be a webhook's secret",
        ),
    ],
)
def test_a_bad_argument_is_refused_before_any_call(
    cli: Cli, words: tuple[str, ...], named: str
) -> None:
    unreachable = cli.with_(TEMPINBOX_BASE_URL=f"http://127.0.0.1:{free_port()}")

    assert named in unreachable.fails(2, *words)


def test_what_the_service_refuses_names_the_field(cli: Cli) -> None:
    assert "localPart" in cli.fails(2, "create", "--local-part", "a..b")
    assert "ttlSeconds" in cli.fails(2, "create", "--ttl", "3650d")


def test_what_is_not_there_is_not_found(cli: Cli, inbox: Inbox) -> None:
    assert "`tempinbox list` shows what there is" in cli.fails(4, "wait", _INBOX)
    assert "`tempinbox list` shows what there is" in cli.fails(4, "read", _INBOX)
    assert "has no email" in cli.fails(4, "read", inbox.address)
    assert "no inbox of yours" in cli.fails(4, "code", "nobody@nowhere.example")


def test_neither_version_nor_help_needs_a_setting(cli: Cli) -> None:
    assert cli.text("--version").startswith("tempinbox ")
    assert os.environ["TEMPINBOX_API_KEY"] not in cli.text("--help")
