"""Mail to anybody by the login of a capture inbox: AUTH, where it lands, revocation, limits."""

import asyncio
import functools
import itertools
import json
import smtplib
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from dev.ports import free_port
from harness import (
    SENDER,
    Account,
    Capture,
    MailIngest,
    SmtpSession,
    Suite,
    base64_of,
    eventually,
    plain_response,
)

_NEEDS_LOGIN = "530 5.7.0 Authentication required"
_NEEDS_TLS = "530 5.7.0 Must issue a STARTTLS command first"
_GOOD = "235 2.7.0 Authentication successful"
_BAD = "535 5.7.8 Authentication credentials invalid"
_ENDED = "421 4.7.0 Login is no longer valid"
_TOO_MANY_FAILURES = "421 4.7.0 Too many failed logins"

_hosts = itertools.count(1)


def _stranger() -> str:
    """Returns an address without failed logins."""
    net, host = divmod(next(_hosts), 250)
    return f"127.7.{net}.{host + 1}"


@pytest.fixture
def stranger(capture: Capture) -> Iterator[SmtpSession]:
    """The same from an address of its own, for those who fail."""
    with SmtpSession(capture.server(), _stranger()) as running:
        yield running


@pytest.fixture
def session(capture: Capture) -> Iterator[SmtpSession]:
    """On the listener in the clear, after EHLO."""
    with SmtpSession(capture.server()) as running:
        yield running


# Where it lands.


def test_no_recipient_chooses_an_inbox(
    capture: Capture, session: SmtpSession, other_account: Account
) -> None:
    theirs = other_account.api.new_inbox()
    own = capture.api.new_inbox()
    recipients = [theirs["emailAddress"], own["emailAddress"], f"admin@{capture.suite['DOMAIN']}"]
    assert session.say(capture.auth()) == _GOOD

    assert session.address(*recipients) == ["250 2.1.5 Recipient ok"] * 3
    session.data(b"Subject: for all\r\n\r\nhi\r\n")

    (email,) = capture.emails()
    assert email["recipients"] == recipients
    assert other_account.api.get(f"/v1/inboxes/{theirs['inboxId']}")["lastSequence"] == 0
    assert capture.api.get(f"/v1/inboxes/{own['inboxId']}")["lastSequence"] == 0


_COUNTERS = ("tempinbox_mail_ingest_lookups_total", "tempinbox_mail_ingest_recipients_total")
_OF_ONE_MAIL = ("ts", "email_id", "sequence", "trace_id", "span_id")
_BACKGROUND = ("account changed", "outbox sweep claimed events", "partitions assigned")


def _counters(replica: MailIngest) -> dict[str, float]:
    lines = requests.get(f"http://{replica.admin}/metrics", timeout=5).text.splitlines()
    rows = (line.rsplit(maxsplit=1) for line in lines if line.startswith(_COUNTERS))
    return {series: float(value) for series, value in rows}


def _lines_of_mail(log: str) -> list[dict[str, Any]]:
    """Returns the lines without what differs from one mail to the next."""
    lines = [json.loads(line) for line in log.splitlines()]
    return [
        {name: value for name, value in line.items() if name not in _OF_ONE_MAIL}
        for line in lines
        if line["msg"] not in _BACKGROUND
    ]


def test_no_counter_and_no_line_tells_whether_a_recipient_exists(
    capture: Capture, other_account: Account, tmp_path: Path
) -> None:
    live = other_account.api.new_inbox()["emailAddress"]
    local, _, domain = live.partition("@")
    unknown = f"{'x' * len(local)}@{domain}"
    log = tmp_path / "log"
    address = f"127.0.0.1:{free_port()}"
    replica = MailIngest(
        capture.suite,
        log=log,
        log_level="debug",
        audit_log="all",
        submission_clear_listen=address,
    )

    def left_by(session: SmtpSession, recipient: str) -> tuple[Any, list[dict[str, Any]]]:
        """How one mail changes the counters, and its lines."""
        counters, size = _counters(replica), len(log.read_text(encoding="utf-8"))
        assert session.address(recipient) == ["250 2.1.5 Recipient ok"]
        assert session.data(b"Subject: hi\r\n\r\nhi\r\n").startswith("250 ")
        counted = {
            series: value - counters.get(series, 0) for series, value in _counters(replica).items()
        }
        # Lines are written behind the reply.
        lines = eventually(
            lambda: _lines_of_mail(log.read_text(encoding="utf-8")[size:]), "the mail's line"
        )
        return counted, lines

    with replica, SmtpSession(address) as session:
        assert session.say(capture.auth()) == _GOOD
        # The first mail makes series and connections that later ones find.
        left_by(session, "alice@shop.example")
        of_live, of_unknown = left_by(session, live), left_by(session, unknown)

    assert of_live == of_unknown
    counted, lines = of_live
    assert counted
    assert not any(counted.values()), "no look-up, and no recipient to count"
    assert [line["msg"] for line in lines] == ["email stored"]


def test_one_mail_to_forty_is_one_email_that_names_each(
    capture: Capture, session: SmtpSession
) -> None:
    recipients = [f"user{n}@list{n % 4}.example" for n in range(40)]
    to, cc, hidden = recipients[:20], recipients[20:37], recipients[37:]
    message = f"To: {', '.join(to).upper()}\r\nCc: {', '.join(cc)}\r\n\r\nhi\r\n".encode()
    assert session.say(capture.auth()) == _GOOD

    assert session.address(*recipients) == ["250 2.1.5 Recipient ok"] * 40
    session.data(message)

    (email,) = capture.emails()
    assert email["recipients"] == recipients
    assert email["bcc"] == [{"address": address, "name": ""} for address in hidden]
    path = f"/v1/emails/{email['emailId']}/raw"
    raw = capture.api.call("GET", path, headers={"Accept": "message/rfc822"}).content
    assert raw.endswith(message)
    waited = capture.api.get(
        f"/v1/inboxes/{capture.inbox['inboxId']}/emails/wait", to=hidden[-1], timeoutSeconds=5
    )
    assert waited["email"]["emailId"] == email["emailId"]


def test_the_capture_keeps_its_own_address(capture: Capture) -> None:
    with SmtpSession(capture.suite["SMTP"]) as outside:
        outside.address(capture.inbox["emailAddress"])
        outside.data(b"Subject: from outside\r\n\r\nhi\r\n")

    (email,) = capture.emails()
    assert email["envelope"]["login"] is None


def test_one_recipient_is_named_in_the_trace(capture: Capture, session: SmtpSession) -> None:
    session.say(capture.auth())
    session.address("alice@shop.example")
    session.data(b"Subject: one\r\n\r\nhi\r\n")

    (email,) = capture.emails()
    assert email["recipients"] == ["alice@shop.example"]
    capture.check_trace(email, tls=False)


def test_addresses_and_sizes(capture: Capture, session: SmtpSession) -> None:
    session.say(capture.auth())
    limit = capture.api.get("/v1/account")["limits"]["maxMessageBytes"]
    too_large = session.say(f"MAIL FROM:<{SENDER}> SIZE={limit + 1}")
    assert too_large == "552 5.3.4 Message is too large"
    japanese = "用户@例え.jp"
    assert session.address(japanese) == ["553 5.6.7 Address needs SMTPUTF8"]
    session.say("RSET")
    assert session.address(japanese, parameters=" SMTPUTF8 AUTH=<>") == ["250 2.1.5 Recipient ok"]
    session.data(b"Subject: eai\r\n\r\nhi\r\n")
    assert capture.emails()[0]["recipients"] == [japanese]

    answers = session.address(*(f"r{number}@shop.example" for number in range(101)))

    assert answers == ["250 2.1.5 Recipient ok"] * 100 + ["452 4.5.3 Too many recipients"]


def test_bare_newlines_are_taken(capture: Capture, session: SmtpSession) -> None:
    session.say(capture.auth())
    session.address("alice@shop.example")

    assert session.data(b"Subject: bare\r\n\r\none\ntwo\r\n").startswith("250 ")


# AUTH.


def test_what_is_offered_when(capture: Capture) -> None:
    with SmtpSession(capture.server("STARTTLS_PORT")) as before:
        assert "STARTTLS" in before.extensions
        assert "AUTH PLAIN LOGIN" not in before.extensions
        for command in (capture.auth(), "AUTH LOGIN", f"MAIL FROM:<{SENDER}>", "VRFY x"):
            assert before.say(command) == _NEEDS_TLS
    with smtplib.SMTP(capture.host, capture.ports["STARTTLS_PORT"], timeout=30) as client:
        client.starttls(context=capture.trusting())
        client.ehlo()
        assert client.has_extn("auth")
        assert not client.has_extn("starttls")
        assert client.docmd("MAIL", f"FROM:<{SENDER}>")[0] == 530
        client.login(capture.user, capture.password)
        client.ehlo()
        assert not client.has_extn("auth")
        assert not client.has_extn("starttls")
    with smtplib.SMTP_SSL(
        capture.host, capture.ports["TLS_PORT"], context=capture.trusting()
    ) as client:
        client.ehlo()
        assert client.has_extn("auth")
        code, text = client.docmd("MAIL", f"FROM:<{SENDER}>")
        assert f"{code} {text.decode()}" == _NEEDS_LOGIN


def test_plain_text_on_the_port_with_tls_is_not_served(capture: Capture) -> None:
    """As behind a balancer that has ended TLS."""
    server = (capture.host, capture.ports["TLS_PORT"])
    with socket.create_connection(server, timeout=30) as plain:
        plain.sendall(f"EHLO sender.example\r\n{capture.auth()}\r\n".encode())
        said = plain.makefile("rb").read()

    assert not said.startswith(b"220"), said
    assert b"250" not in said
    assert (
        capture.api.get(f"/v1/inboxes/{capture.inbox['inboxId']}")["capture"]["lastUsedAt"] is None
    )


def test_mechanisms_and_mistakes(capture: Capture, session: SmtpSession) -> None:
    for mechanism in ("CRAM-MD5", "XOAUTH2", "SCRAM-SHA-256"):
        assert session.say(f"AUTH {mechanism}").startswith("504 5.5.4 ")
    for line, reply in (
        ("*", "501 5.7.0 "),
        ("!!!", "501 5.5.2 "),
        ("", "501 5.5.2 "),
        ("A" * 3000, "500 5.5.6 "),
    ):
        assert session.say("AUTH PLAIN") == "334 "
        assert session.say(line).startswith(reply)
    assert session.say("AUTH PLAIN") == "334 "
    assert session.say(plain_response(capture.user, capture.password, capture.user)) == _GOOD


def test_wrong_logins_look_alike(capture: Capture) -> None:
    other = capture.api.new_inbox(capture=True)["capture"]
    for user, password, reply in (
        (capture.user, other["password"], _BAD),
        ("' OR 1=1; --", "x", _BAD),
        ("cap_aaaaaaaaaaaa", capture.password, _BAD),
        (capture.user + "\0", capture.password, "501 5.5.2 Cannot decode response"),
    ):
        with SmtpSession(capture.server(), _stranger()) as one:
            assert one.say("AUTH PLAIN " + plain_response(user, password)) == reply
    with SmtpSession(capture.server()) as one:
        assert one.say("AUTH PLAIN " + "A" * 4096).startswith("500 ")


def test_smtplib_wrong_then_right(capture: Capture) -> None:
    with smtplib.SMTP(capture.host, capture.ports["PORT"], timeout=30) as client:
        with pytest.raises(smtplib.SMTPAuthenticationError) as refused:
            client.login(capture.user, "wrong")
        assert refused.value.smtp_code == 535
        assert client.login(capture.user, capture.password)[0] == 235


def test_the_fourth_failure_closes(capture: Capture, stranger: SmtpSession) -> None:
    wrong = capture.auth("tic_wrong")
    began = time.monotonic()

    assert [stranger.say(wrong) for _ in range(4)] == [
        *[_BAD] * 3,
        _TOO_MANY_FAILURES,
    ]
    assert time.monotonic() - began >= 2
    assert stranger.reply() == ""


def test_a_client_that_goes_on_after_535_reaches_nobody(
    capture: Capture, stranger: SmtpSession, other_account: Account
) -> None:
    """As System.Net.Mail does."""
    theirs = other_account.api.new_inbox()
    stranger.say(f"AUTH login {base64_of(capture.user)}")
    assert stranger.say(base64_of("wrong")) == _BAD

    for command in (f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{theirs['emailAddress']}>", "DATA"):
        assert stranger.say(command) == _NEEDS_LOGIN

    assert other_account.api.get(f"/v1/inboxes/{theirs['inboxId']}")["lastSequence"] == 0


def test_auth_behind_starttls_in_one_packet(capture: Capture) -> None:
    with SmtpSession(capture.server("STARTTLS_PORT")) as one:
        one.write(f"STARTTLS\r\n{capture.auth()}\r\n".encode())
        assert one.reply().startswith("554 5.5.0 ")
        assert one.reply() == ""


def test_the_port_for_mail_has_no_logins(capture: Capture) -> None:
    with SmtpSession(capture.suite["SMTP"]) as one:
        assert "AUTH PLAIN LOGIN" not in one.extensions
        assert one.say(capture.auth()) == "502 5.5.1 Command not implemented"


# Revocation.


def _mail_until(session: SmtpSession, expected: str) -> float:
    """Says MAIL and RSET until the reply comes; after how many seconds the last MAIL that was taken
    was sent, since on a busy machine a reply may take its time.
    """
    began = time.monotonic()
    last_taken = 0.0

    def has_come() -> bool:
        nonlocal last_taken
        sent = time.monotonic() - began
        reply = session.say(f"MAIL FROM:<{SENDER}>")
        if reply == expected:
            return True
        assert reply.startswith("250 "), reply
        last_taken = sent
        session.say("RSET")
        return False

    eventually(has_come, expected, seconds=10)
    return last_taken


def test_rotation(capture: Capture, session: SmtpSession) -> None:
    path = f"/v1/inboxes/{capture.inbox['inboxId']}/capture/rotate"
    other_port = free_port()
    servers = [capture.server(), f"127.0.0.1:{other_port}"]

    def replies_to(password: str) -> list[str]:
        replies = []
        for server in servers:
            with SmtpSession(server, _stranger()) as one:
                replies.append(one.say(capture.auth(password)))
        return replies

    with MailIngest(capture.suite, submission_clear_listen=servers[1]):
        assert session.say(capture.auth()) == _GOOD
        assert replies_to(capture.password) == [_GOOD] * 2

        second = capture.api.post(path, {"graceSeconds": 60})["password"]
        eventually(lambda: replies_to(second) == [_GOOD] * 2, "the new password is good", seconds=1)
        assert replies_to(capture.password) == [_GOOD] * 2
        third = capture.api.post(path)["password"]

        assert _mail_until(session, _ENDED) < 1
        assert session.reply() == ""
        eventually(lambda: replies_to(second) == [_BAD] * 2, "the second is refused", seconds=1)
        assert replies_to(capture.password) == [_BAD] * 2
        assert replies_to(third) == [_GOOD] * 2


def test_the_end_of_a_login_on_another_replica(capture: Capture, session: SmtpSession) -> None:
    other_port = free_port()
    with MailIngest(
        capture.suite,
        submission_clear_listen=f"127.0.0.1:{other_port}",
    ):
        with SmtpSession(f"127.0.0.1:{other_port}") as under_way:
            assert under_way.say(capture.auth()) == _GOOD
            assert session.say(capture.auth()) == _GOOD
            assert under_way.address("alice@shop.example") == ["250 2.1.5 Recipient ok"]

            capture.api.delete(f"/v1/inboxes/{capture.inbox['inboxId']}/capture")

            assert _mail_until(session, _ENDED) < 1
            time_of_commit = under_way.data(b"Subject: under way\r\n\r\nhi\r\n")
            assert time_of_commit.startswith("250 ")
            _mail_until(under_way, _ENDED)
        with SmtpSession(f"127.0.0.1:{other_port}") as late:
            assert late.say(capture.auth()) == _BAD
    assert len(capture.emails()) == 1


def test_the_end_of_the_inbox(capture: Capture, session: SmtpSession) -> None:
    assert session.say(capture.auth()) == _GOOD

    capture.api.delete(f"/v1/inboxes/{capture.inbox['inboxId']}")

    assert _mail_until(session, _ENDED) < 1


def _has_published_an_account(gateway: str) -> bool:
    """Whether the gateway with this admin address has written a state of an account to Kafka."""
    lines = requests.get(f"http://{gateway}/metrics", timeout=5).text.splitlines()
    return any(
        float(line.rsplit(maxsplit=1)[1]) > 0
        for line in lines
        if line.startswith("messaging_client_operation_duration_seconds_count{")
        and 'account.state"' in line
        and 'outcome="ok"' in line
    )


def test_a_smaller_plan_keeps_the_oldest_logins_and_a_larger_one_brings_the_others_back(
    suite: Suite,
) -> None:
    account = Account.make(suite, plan="business")
    captures = [Capture(suite, account) for _ in range(3)]
    address = f"127.0.0.1:{free_port()}"

    def replies_of(capture: Capture) -> list[str]:
        replies = []
        for server in (capture.server(), address):
            with SmtpSession(server, _stranger()) as one:
                replies.append(one.say(capture.auth()))
        return replies

    def take_effect(plan: str, reply: str) -> float:
        """Sets the plan; how many seconds after it the last login with another reply was sent."""
        suite.operate("account", "set-plan", account.account_id, "--plan", plan)
        changed = time.monotonic()
        last_wrong = 0.0

        def is_so() -> bool:
            nonlocal last_wrong
            sent = time.monotonic() - changed
            if replies_of(captures[2]) == [reply] * 2:
                return True
            last_wrong = sent
            return False

        eventually(is_so, f"the third login is answered {reply}")
        return last_wrong

    replica = MailIngest(suite, submission_clear_listen=address)
    with replica, SmtpSession(address) as under_way:
        assert [replies_of(capture) for capture in captures] == [[_GOOD] * 2] * 3
        assert under_way.say(captures[2].auth()) == _GOOD
        # Accounts' states stand still while the replicas share them out anew.
        eventually(lambda: replica.metric("tempinbox_consumer_assigned_partitions"), "its share")

        def have_all_published() -> bool:
            Account.make(suite)
            return all(map(_has_published_an_account, suite.of_each("gateway", "ADMIN")))

        # A gateway's first event waits for its producer to find the topic: up to 1 s.
        eventually(have_all_published, "each gateway has written to the topic")

        late = [take_effect("pass7", _BAD)]  # two captures
        assert under_way.say(f"MAIL FROM:<{SENDER}>") == _ENDED
        assert [replies_of(capture) for capture in captures[:2]] == [[_GOOD] * 2] * 2
        path = f"/v1/inboxes/{captures[2].inbox['inboxId']}"
        assert account.api.get(path)["status"] == "active", "its inbox lives on"

        late += [
            take_effect(plan, reply) for plan, reply in (("business", _GOOD), ("pass7", _BAD)) * 2
        ]
        assert max(late) < 1, late


# Limits and settings.


def test_rate_of_a_login(suite: Suite, capture: Capture) -> None:
    """100 at once and 10 a second: MAIL waits, and no library meets a refusal."""
    address = f"127.0.0.1:{free_port()}"
    limited = MailIngest(suite, submission_clear_listen=address, capture_rate_per_minute="600")
    with limited, SmtpSession(address) as one:
        assert one.say(capture.auth()) == _GOOD
        began = time.monotonic()
        for number in range(130):
            assert one.say(f"MAIL FROM:<{SENDER}>").startswith("250 "), number
            one.say("RSET")
        assert 2 < time.monotonic() - began < 20


def test_sessions_of_a_login(capture: Capture) -> None:
    sessions = [SmtpSession(capture.server()) for _ in range(21)]
    try:
        answers = []
        for opened in sessions:
            opened.__enter__()
            answers.append(opened.say(capture.auth()))
    finally:
        for opened in sessions:
            opened.__exit__()
    assert answers == [_GOOD] * 20 + ["421 4.7.0 Too many connections of this login"]


def test_networks_of_the_port_in_the_clear(suite: Suite, tmp_path: Path) -> None:
    log = tmp_path / "log"
    open_to_all = MailIngest(suite, log=log, submission_clear_networks="0.0.0.0/0")
    open_to_all.start()
    assert open_to_all.wait() == 2
    assert "submission-clear-networks" in log.read_text(encoding="utf-8")

    port = free_port()
    with (
        MailIngest(
            suite,
            submission_clear_listen=f"127.0.0.1:{port}",
            submission_clear_networks="127.0.0.2/32",
        ),
        socket.create_connection(("127.0.0.1", port), timeout=30) as elsewhere,
    ):
        reply = elsewhere.makefile("rb").read()
    assert reply == b"554 5.7.1 No service for your network\r\n"


def test_recipients_that_exist_are_answered_as_fast(
    capture: Capture, session: SmtpSession, other_account: Account
) -> None:
    live = other_account.api.new_inbox()["emailAddress"]
    domain = live.partition("@")[2]
    session.say(capture.auth())
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2000):
        if number % 100 == 0:
            session.say("RSET")
            session.say(f"MAIL FROM:<{SENDER}>")
        exists = number % 2 == 0
        local, _, _ = live.partition("@")
        recipient = f"{local}+{number}@{domain}" if exists else f"no{local}+{number}@{domain}"
        began = time.perf_counter()
        assert session.say(f"RCPT TO:<{recipient}>") == "250 2.1.5 Recipient ok"
        times[exists].append(time.perf_counter() - began)

    median = {exists: sorted(taken)[len(taken) // 2] for exists, taken in times.items()}
    assert abs(median[True] / median[False] - 1) < 0.25, median


def test_no_password_is_in_a_log(capture: Capture, tmp_path: Path) -> None:
    log = tmp_path / "log"
    port = free_port()
    malformed = "tic_thispasswordiswrong"
    of_another = str(capture.api.new_inbox(capture=True)["capture"]["password"])
    with MailIngest(
        capture.suite,
        log=log,
        log_level="debug",
        audit_log="all",
        submission_clear_listen=f"127.0.0.1:{port}",
    ) as replica:

        def answers(auth: str, reply: str) -> bool:
            with SmtpSession(f"127.0.0.1:{port}", _stranger()) as one:
                return one.say(auth) == reply

        # On a busy machine a lookup may take too long: 454, without a line.
        for auth, reply in (
            (capture.auth(), _GOOD),
            (capture.auth(malformed), _BAD),
            (capture.auth(of_another), _BAD),
            (capture.auth(user="nobody-at-all"), _BAD),
        ):
            eventually(functools.partial(answers, auth, reply), reply)
        lines = replica.end()
    assert "login accepted" in lines
    assert lines.count("login refused") == 3
    assert capture.user in lines
    for hidden in (
        capture.password,
        malformed,
        of_another,
        "nobody-at-all",
        plain_response(capture.user, capture.password),
        plain_response(capture.user, malformed),
        plain_response(capture.user, of_another),
    ):
        assert hidden not in lines


# Guessing.

_GUESSING_ADDRESSES = [f"127.8.0.{number}" for number in range(1, 101)]
_SESSIONS_OF_EACH = 10
_GUESSES_OF_EACH = 3  # in a session; the fourth closes it
# How long the replies to failures wait, from which failure on (docs/reference/limits.md).
_USER_FAILURES_WITHOUT_DELAY = 19
_USER_DELAY_SECONDS = 5
_ADDRESS_FAILURES_WITHOUT_DELAY = 9
_ADDRESS_DELAY_SECONDS = 2
_ADDRESS_FAILURES_BEFORE_REFUSAL = 100


async def _say_auths(port: int, source: str, auths: list[str]) -> list[str]:
    """The replies to these AUTHs, in a session of their own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    try:
        await reader.readline()
        writer.write(b"EHLO guesser.example\r\n")
        while (await reader.readline())[3:4] == b"-":
            pass
        replies = []
        for auth in auths:
            writer.write(f"{auth}\r\n".encode())
            replies.append((await reader.readline()).decode().rstrip("\r\n"))
        return replies
    finally:
        writer.close()


async def _time_auths(port: int, source: str, auths: list[str]) -> tuple[list[str], float]:
    """The same, and how many seconds the session took."""
    began = time.monotonic()
    return await _say_auths(port, source, auths), time.monotonic() - began


async def _log_in_during(
    guessing: asyncio.Future[list[tuple[list[str], float]]], port: int, source: str, auth: str
) -> list[float]:
    """Logs in over and over while others guess; how long each took."""
    times: list[float] = []
    while not (await asyncio.wait([guessing], timeout=0.1))[0]:
        began = time.monotonic()
        assert await _say_auths(port, source, [auth]) == [_GOOD]
        times.append(time.monotonic() - began)
    return times


def test_guessing_finds_nothing_and_keeps_no_owner_out(capture: Capture, tmp_path: Path) -> None:
    log = tmp_path / "log"
    port = free_port()
    wrong = [f"tic_guess{number:033}" for number in range(_SESSIONS_OF_EACH * _GUESSES_OF_EACH)]
    auths = [capture.auth(password) for password in wrong]

    async def guess_and_log_in() -> tuple[list[tuple[list[str], float]], list[float]]:
        guessing = asyncio.ensure_future(
            asyncio.gather(
                *(
                    _time_auths(port, source, auths[first : first + _GUESSES_OF_EACH])
                    for source in _GUESSING_ADDRESSES
                    for first in range(0, len(auths), _GUESSES_OF_EACH)
                )
            )
        )
        times = await _log_in_during(guessing, port, _stranger(), capture.auth())
        return await guessing, times

    with MailIngest(
        capture.suite,
        log=log,
        log_level="debug",
        audit_log="all",
        submission_clear_listen=f"127.0.0.1:{port}",
    ) as replica:
        sessions, times = asyncio.run(guess_and_log_in())
        lines = replica.end()

    assert len(sessions) == len(_GUESSING_ADDRESSES) * _SESSIONS_OF_EACH
    assert {reply for replies, _ in sessions for reply in replies} == {_BAD}
    quick = [took for _, took in sessions if took < _GUESSES_OF_EACH * _USER_DELAY_SECONDS]
    assert len(quick) <= _USER_FAILURES_WITHOUT_DELAY, sorted(quick)
    # Failures of this user wait for five seconds each, its owner for none.
    assert sorted(times)[len(times) // 2] < 1
    assert lines.count("login refused") > len(sessions)
    for hidden in (*wrong, *(plain_response(capture.user, password) for password in wrong)):
        assert hidden not in lines


def test_an_address_that_fails_a_hundred_times_is_refused_but_for_logins_good_there(
    capture: Capture, account: Account
) -> None:
    known = Capture(capture.suite, account)
    port = free_port()
    source = _stranger()
    # No login has such a user, so that no delay is a user's.
    guess = capture.auth(user="nobody")
    full, rest = divmod(_ADDRESS_FAILURES_BEFORE_REFUSAL, _GUESSES_OF_EACH)
    counts = [*[_GUESSES_OF_EACH] * full, rest]

    async def fail() -> list[tuple[list[str], float]]:
        return await asyncio.gather(
            *(_time_auths(port, source, [guess] * count) for count in counts)
        )

    def reply_to(auth: str) -> str:
        with SmtpSession(f"127.0.0.1:{port}", source) as session:
            return session.say(auth)

    exempt = MailIngest.settings_of(capture.suite)["TEMPINBOX_EXEMPT_NETWORKS"]
    assert "127.0.0.0/8" in exempt, "which excuses no login"
    with MailIngest(capture.suite, submission_clear_listen=f"127.0.0.1:{port}"):
        assert reply_to(known.auth()) == _GOOD
        sessions = asyncio.run(fail())
        never_good_there, good_before = reply_to(capture.auth()), reply_to(known.auth())

    assert {reply for replies, _ in sessions for reply in replies} == {_BAD}
    quick = [took for replies, took in sessions if took < len(replies) * _ADDRESS_DELAY_SECONDS]
    assert len(quick) <= _ADDRESS_FAILURES_WITHOUT_DELAY, sorted(quick)
    assert never_good_there == _TOO_MANY_FAILURES
    assert good_before == _GOOD
