"""The clients against the real suite."""

import hashlib
import json
import os
import subprocess
import threading
import time
from datetime import datetime
from typing import Any, cast

import anyio
import pytest
from suite_tools import ROOT, make_account, operate, send, send_raw

from tempinbox import (
    AsyncTempinbox,
    BadRequest,
    Conflict,
    ConnectionFailed,
    EmailConditions,
    Forbidden,
    Inbox,
    InvalidArgument,
    NotFound,
    RateLimited,
    Tempinbox,
    Unauthorized,
    UnexpectedEmail,
    WaitTimeout,
    error_codes,
    types,
)
from tempinbox._answers import snake_case

MAIL = "Your verification code is 482913.\n\nhttps://shop.example/verify?t=ab12\n"
HTML = '<p>Code <b>482913</b></p><a href="https://shop.example/verify?t=ab12">Verify</a>'


def test_an_inbox_from_its_making_to_its_end(client: Tempinbox) -> None:
    tag = f"py-{os.getpid()}-life"
    with client.with_inbox(name="Life", tags=[tag], metadata={"a": "b"}) as inbox:
        assert inbox.created_at.tzinfo
        assert [one.inbox_id for one in client.list_inboxes(tag=tag)] == [inbox.inbox_id]
        changed = client.update_inbox(inbox, name=None, metadata={"a": None, "c": "d"})
        assert (changed.name, changed.metadata) == (None, {"c": "d"})
        assert client.list_domains()[0].is_default
        assert client.list_rejections(inbox) == []

    with pytest.raises(NotFound):
        client.delete_inbox(inbox)
    assert inbox.refresh().status == "expired"


def test_inboxes_are_made_together(client: Tempinbox) -> None:
    tag = f"py-{os.getpid()}-batch"
    taken = client.create_inbox(tags=[tag]).email_address.partition("@")[0]

    first, second, third = client.create_inboxes(
        [{"name": "a", "tags": [tag], "ttl_seconds": 600}, {"local_part": taken}, {"tags": (tag,)}]
    )

    assert isinstance(first, Inbox)
    assert isinstance(third, Inbox)
    assert isinstance(second, types.CreationError)
    assert (first.name, third.refresh().status) == ("a", "active")
    assert (second.status_code, second.code) == (409, error_codes.ADDRESS_TAKEN)
    assert client.delete_inboxes_by_tag(tag) == 3


def test_a_block_that_fails_ends_its_inbox_all_the_same(client: Tempinbox) -> None:
    with pytest.raises(RuntimeError, match="of the test"), client.with_inbox() as inbox:
        raise RuntimeError("of the test")

    assert client.get_inbox(inbox).expired_at


def test_a_wait_ends_with_its_inbox_and_says_so(client: Tempinbox) -> None:
    inbox = client.create_inbox()
    ending = threading.Timer(1, client.delete_inbox, [inbox])
    ending.start()
    began = time.monotonic()

    with pytest.raises(NotFound) as refused:
        inbox.wait_for_email(timeout=40)

    ending.join()
    assert refused.value.code == error_codes.INBOX_ENDED
    assert time.monotonic() - began < 20


def test_lists_go_on_over_their_pages(client: Tempinbox) -> None:
    tag = f"py-{os.getpid()}-pages"
    made = [client.create_inbox(tags=[tag]).inbox_id for _ in range(5)]

    found = [one.inbox_id for one in client.list_inboxes(tag=tag, page_size=2)]

    assert found == made[::-1]
    oldest = client.list_inboxes(tag=tag, order="asc", page_size=2)
    assert [one.inbox_id for one in oldest] == made
    assert client.delete_inboxes_by_tag(tag) == 5


def test_a_mail_with_all_that_is_in_it(client: Tempinbox) -> None:
    with client.with_inbox() as inbox:
        send(inbox.email_address, "Your code", MAIL, HTML, b"%PDF")

        email = inbox.wait_for_email(subject="YOUR", from_="robot")

        assert email.from_ == "robot@shop.example"
        assert inbox.wait_for_code() == email.codes[0].value == "482913"
        assert inbox.wait_for_link() == "https://shop.example/verify?t=ab12"
        assert inbox.wait_for_link(kind="verify", url="shop.example")
        assert b"Received:" in client.get_raw_email(email.email_id)
        [attached] = email.attachments
        file = client.get_attachment(email.email_id, attached.attachment_id)
        assert (file.filename, file.content) == ("invoice.pdf", b"%PDF")
        assert hashlib.sha256(file.content).hexdigest() == attached.sha256
        steps = client.get_email_timeline(email.email_id).steps
        assert [getattr(step, "step", "") for step in steps][:2] == ["connected", "accepted"]
        assert client.update_email(email.email_id, is_read=True).is_read
        [listed] = client.list_inbox_emails(
            inbox, include=["codes", "links"], to=inbox.email_address
        )
        assert (listed.to[0].address, listed.to[0].name) == (inbox.email_address, "")
        assert listed.recipients == email.recipients == [inbox.email_address]
        assert listed.codes
        assert listed.codes[0].value == "482913"
        assert listed.links == email.links
        assert any(one.email_id == email.email_id for one in client.list_emails(subject="code"))
        client.delete_email(email.email_id)
        assert client.empty_inbox(inbox) == 0


def _conditions(query: dict[str, Any], received: list[datetime]) -> EmailConditions:
    """Returns a query of the table as this client writes it."""

    def value(name: str, given: Any) -> Any:
        is_sequence = name in ("since", "until") and isinstance(given, int)
        return received[given - 1] if is_sequence else given

    found: Any = {snake_case(name): value(name, given) for name, given in query.items()}
    return cast(EmailConditions, found)


def test_mail_is_found_as_by_every_door(client: Tempinbox) -> None:
    table = json.loads((ROOT / "tests" / "email_filters.json").read_text(encoding="utf-8"))
    tag = f"py-{os.getpid()}-find"
    with client.with_inbox(tags=[tag]) as inbox:
        local, _, domain = inbox.email_address.partition("@")
        for mail in table["mails"]:
            plus = f"+{mail['plusTag']}" if "plusTag" in mail else ""
            message = "".join(f"{line}\r\n" for line in mail["lines"]).encode()
            send_raw(f"{local}{plus}@{domain}", message)
        emails = inbox.wait_for_emails(len(table["mails"]))
        for email, mail in zip(emails, table["mails"], strict=True):
            client.update_email(email.email_id, is_read=mail.get("isRead", False))
        received = [email.received_at for email in emails]

        for row in table["found"]:
            conditions, sequences = _conditions(row["query"], received), row["sequences"]
            for listed in (
                client.list_inbox_emails(inbox, order="asc", page_size=2, **conditions),
                client.list_emails(tag=tag, order="asc", page_size=2, **conditions),
                reversed(list(client.list_inbox_emails(inbox, page_size=2, **conditions))),
                reversed(list(client.list_emails(tag=tag, page_size=2, **conditions))),
            ):
                assert [email.sequence for email in listed] == sequences, row
            if sequences:
                found = inbox.wait_for_emails(len(sequences), **conditions)
                assert [email.sequence for email in found] == sequences, row
            else:
                inbox.expect_no_email(timeout=1, **conditions)
        for query in table["refused"]:
            conditions = _conditions(query, received)
            with pytest.raises((BadRequest, InvalidArgument)):
                next(client.list_inbox_emails(inbox, **conditions))
            with pytest.raises((BadRequest, InvalidArgument)):
                inbox.wait_for_email(**conditions)
        behind = client.list_inbox_emails(inbox, after=1, order="asc", page_size=2)
        assert [email.sequence for email in behind] == [2, 3, 4]


def test_a_wait_for_several_emails_that_ends_too_soon_has_those_that_came(
    client: Tempinbox,
) -> None:
    with client.with_inbox() as inbox:
        send(inbox.email_address, "First", MAIL)
        send(inbox.email_address, "Second", MAIL)
        first, second = inbox.wait_for_emails(2, from_="robot@")

        with pytest.raises(WaitTimeout, match="2 of 3 emails matched within 1 s") as caught:
            inbox.wait_for_emails(3, timeout=1)

        assert [one.email_id for one in caught.value.emails] == [first.email_id, second.email_id]


def test_a_wait_is_for_mail_behind_the_position_fixed_before(client: Tempinbox) -> None:
    with client.with_inbox() as inbox:
        send(inbox.email_address, "First", "code 111111 is your verification code")
        first = inbox.wait_for_email()
        mark = inbox.mark()
        later = inbox.refresh()
        send(inbox.email_address, "Second", "code 222222 is your verification code")

        for second in (
            inbox.wait_for_email(after=first),
            inbox.wait_for_email(after=mark),
            later.wait_for_email(),
            client.wait_for_email(inbox.inbox_id, after=first.sequence),
        ):
            assert second.subject == "Second"
        assert client.wait_for_email(inbox.inbox_id).subject == "First"


def test_a_wait_that_comes_to_nothing_says_what_came(client: Tempinbox) -> None:
    with client.with_inbox() as inbox:
        send(inbox.email_address, "Welcome", "No number in here")

        with pytest.raises(WaitTimeout) as caught:
            inbox.wait_for_code(subject="your code", timeout=1)

        text = str(caught.value)
        assert inbox.email_address in text
        assert 'subject: "your code"' in text
        assert 'is "Welcome"' in text
        assert client.dashboard_link(inbox) in text
        with pytest.raises(WaitTimeout, match='hasLink should be "true", is "none"'):
            inbox.wait_for_link(timeout=1)


def test_mail_that_should_not_come_is_shown(client: Tempinbox) -> None:
    with client.with_inbox() as inbox:
        inbox.expect_no_email(timeout=1)
        send(inbox.email_address, "Surprise", "Boo")

        with pytest.raises(UnexpectedEmail, match='"Surprise" from "robot@') as caught:
            inbox.expect_no_email(timeout=30)

        assert caught.value.email.subject == "Surprise"
        inbox.expect_no_email(subject="other", timeout=1)


def test_a_wait_lives_through_a_restart_and_sees_its_mail_once(
    client: Tempinbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three holds of 4 s in place of 55 s, one of them cut; whole with TEMPINBOX_TEST_LONG=1."""
    hold = 55 if os.environ.get("TEMPINBOX_TEST_LONG") == "1" else 4
    monkeypatch.setattr("tempinbox._waiting.MAX_HOLD", hold)
    with client.with_inbox() as inbox:
        command = [str(ROOT / "dev"), "restart", "gateway-1"]
        restarts: list[subprocess.CompletedProcess[str]] = []

        def restart() -> None:
            restarts.append(subprocess.run(command, capture_output=True, text=True))

        timers = [
            threading.Timer(hold * 1.3, restart),
            threading.Timer(hold * 2.5, lambda: send(inbox.email_address, "Late", MAIL)),
        ]
        began = time.monotonic()
        for timer in timers:
            timer.start()

        email = inbox.wait_for_email(timeout=hold * 2.5 + 120)

        assert time.monotonic() - began >= hold * 2.4
        assert email.subject == "Late"
        for timer in timers:
            timer.join()
        assert [one.returncode for one in restarts] == [0], restarts
        assert len(list(client.list_inbox_emails(inbox))) == 1


def test_captures(client: Tempinbox) -> None:
    with client.with_inbox(capture=True) as inbox:
        made = inbox.capture
        assert made is not None
        assert made.url == (f"smtps://{made.user}:{made.password}@{made.host}:{made.ports.tls[0]}")
        with pytest.raises(Conflict) as caught:
            client.create_capture(inbox)
        assert caught.value.code == error_codes.CAPTURE_EXISTS
        rotated = client.rotate_capture(inbox, grace_seconds=60)
        assert rotated.user == made.user
        assert rotated.password not in (None, made.password)
        assert rotated.previous_valid_until is not None
        shown = client.get_inbox(inbox).capture
        assert shown is not None
        assert (shown.user, shown.password, shown.url) == (made.user, None, None)
        [step] = client.set_faults(
            inbox, [{"stage": "mail", "reply": "421 4.7.0 Slower", "above_per_minute": 30}]
        )
        assert (step.stage, step.above_per_minute, step.used) == ("mail", 30, 0)
        assert [one.reply for one in client.get_faults(inbox)] == ["421 4.7.0 Slower"]
        report = client.get_sender_report(inbox)
        assert (report.messages, report.marks.quit.value) == ([], "not_seen")
        client.clear_faults(inbox)
        assert client.get_faults(inbox) == []
        client.end_capture(inbox)
        assert client.get_inbox(inbox).capture is None
        assert client.create_capture(inbox).user != made.user


def test_a_catch_all_gets_mail_to_any_name(client: Tempinbox) -> None:
    with client.with_inbox(local_part="*") as inbox:
        subdomain = inbox.email_address.removeprefix("*@")
        (held,) = [one for one in client.list_domains() if one.domain == subdomain]
        assert (held.is_subdomain, held.takes_subdomains) == (True, False)

        send(f"SignUp-4711@{subdomain}", "Any", MAIL)

        email = inbox.wait_for_email(recipient=f"signup-4711@{subdomain}")
        assert email.recipients == [f"SignUp-4711@{subdomain}"]


def test_webhooks(client: Tempinbox) -> None:
    hook = client.create_webhook("https://example.com/hook", events=["email.received"])
    try:
        assert hook.secret.startswith("whsec_")
        assert hook.webhook_id in [one.webhook_id for one in client.list_webhooks()]
        changed = client.update_webhook(hook.webhook_id, events=None, is_enabled=False)
        assert (len(changed.events), changed.is_enabled) == (3, False)
        assert client.get_webhook(hook.webhook_id).description == ""
        assert client.rotate_webhook_secret(hook.webhook_id).secret != hook.secret
        assert list(client.list_deliveries(hook.webhook_id, status="failed")) == []
        with pytest.raises(Conflict) as caught:
            client.replay_deliveries(hook.webhook_id, since="2026-11-21T10:00:00Z")
        assert caught.value.code == error_codes.WEBHOOK_DISABLED
        client.update_webhook(hook.webhook_id, is_enabled=True)
        with pytest.raises(NotFound):
            client.get_delivery(hook.webhook_id, hook.webhook_id)
        with pytest.raises(NotFound):
            client.retry_delivery(hook.webhook_id, hook.webhook_id)
        assert client.replay_deliveries(hook.webhook_id, since="2026-11-21T10:00:00Z") == 0
    finally:
        client.delete_webhook(hook.webhook_id)


def test_the_account(client: Tempinbox) -> None:
    account = client.get_account()

    assert account.plan == "premium"
    assert account.usage.requests_today > 0
    assert len(client.get_usage()) == 30


def test_a_wrong_key_is_told_where_to_make_one() -> None:
    wrong = "ti_live_" + "x" * 38
    with Tempinbox(api_key=wrong) as client, pytest.raises(Unauthorized) as caught:
        client.get_account()

    assert "wrong, revoked or expired" in str(caught.value)
    assert "make one in the dashboard under Settings, API Keys" in str(caught.value)
    assert "/dashboard/settings/keys" in str(caught.value)
    assert wrong not in str(caught.value)


def _call_until_refused(client: Tempinbox) -> None:
    """A plan is in force within a second."""
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        client.get_account()


def test_an_ended_plan_is_told_where_plans_are() -> None:
    account, key = make_account("pro")
    with Tempinbox(api_key=key) as client:
        assert client.get_account().plan == "pro"
        operate("account", "set-plan", account, "--plan", "free")

        with pytest.raises(Forbidden, match=r"/dashboard/account\)") as caught:
            _call_until_refused(client)

    assert caught.value.status == 403


def test_a_used_up_day_says_when_it_resets() -> None:
    operate("plan", "set", "business", "--requests-per-day", "3")
    try:
        _, key = make_account("business")
        began = time.monotonic()
        with Tempinbox(api_key=key) as client, pytest.raises(RateLimited) as caught:
            _call_until_refused(client)
    finally:
        operate("plan", "set", "business", "--requests-per-day", "10000")

    assert caught.value.is_day_used_up
    assert "used up until" in str(caught.value)
    assert "a larger plan has more" in str(caught.value)
    assert time.monotonic() - began < 25


def test_a_service_that_is_away_is_named() -> None:
    away = Tempinbox(base_url="http://127.0.0.1:1", api_key="x", timeout=1)
    with away, pytest.raises(ConnectionFailed) as caught:
        away.get_account()

    assert "GET http://127.0.0.1:1/v1/account failed" in str(caught.value)
    assert "Check that the service is running" in str(caught.value)


def test_a_refused_field_is_named(client: Tempinbox) -> None:
    with pytest.raises(BadRequest) as caught:
        client.create_inbox(ttl_seconds=10**9)

    assert caught.value.code == error_codes.INVALID_FIELD
    assert caught.value.field == "ttlSeconds"
    assert caught.value.request_id
    assert caught.value.rate_limit


@pytest.mark.anyio
async def test_the_client_that_awaits() -> None:
    async with AsyncTempinbox() as client, client.with_inbox() as inbox:
        found: list[str] = []

        async def wait() -> None:
            found.append(await inbox.wait_for_code())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.to_thread.run_sync(send, inbox.email_address, "Code", MAIL)

        assert found == ["482913"]
        assert [one.subject async for one in client.list_inbox_emails(inbox)] == ["Code"]
        assert await inbox.wait_for_link(kind="verify")
        with pytest.raises(UnexpectedEmail):
            await inbox.expect_no_email()
        with pytest.raises(WaitTimeout):
            await inbox.wait_for_email(subject="other", timeout=1)
    async with AsyncTempinbox() as client:
        assert (await client.get_inbox(inbox.inbox_id)).status == "expired"
