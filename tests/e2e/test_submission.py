"""Mail to anybody by the login of a capture inbox, sent by other people's clients."""

import base64
import itertools
import json
import os
import smtplib
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from dev import paths
from dev.ports import free_port
from harness import SENDER, Account, Api, MailIngest, SmtpSession, Suite, eventually, queued_id

_NODE = paths.ROOT / "tests" / "e2e" / "node"
_GO = paths.ROOT / "tests" / "e2e" / "go" / "send.go"
_FOREIGN = [f"user{number}@shop{number}.example" for number in range(5)]
_NEEDS_LOGIN = "530 5.7.0 Authentication required"
_NEEDS_TLS = "530 5.7.0 Must issue a STARTTLS command first"
_GOOD = "235 2.7.0 Authentication successful"
_BAD = "535 5.7.8 Authentication credentials invalid"
_ENDED = "421 4.7.0 Login is no longer valid"


@dataclass(frozen=True)
class _Capture:
    """A capture inbox and where it is sent to."""

    api: Api
    inbox: dict[str, Any]
    suite: Suite

    @property
    def user(self) -> str:
        return str(self.inbox["capture"]["user"])

    @property
    def password(self) -> str:
        return str(self.inbox["capture"]["password"])

    def server(self, port: str = "PORT") -> str:
        """Where it is sent to: host:port of the listener in the clear unless another is named."""
        return f"{self.suite['SUBMISSION_HOST']}:{self.suite['SUBMISSION_' + port]}"

    def auth(self, password: str | None = None, user: str | None = None) -> str:
        """`AUTH PLAIN` with its response."""
        return "AUTH PLAIN " + _plain(user or self.user, password or self.password)

    def emails(self) -> list[dict[str, Any]]:
        """Everything in the inbox, the oldest first."""
        path = f"/v1/inboxes/{self.inbox['inboxId']}"
        listed = self.api.get(path + "/emails", limit=100)["emails"]
        return [self.api.get("/v1/emails/" + entry["emailId"]) for entry in reversed(listed)]


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _plain(user: str, password: str, acts_as: str = "") -> str:
    return _encode(f"{acts_as}\0{user}\0{password}")


@pytest.fixture
def capture(suite: Suite, account: Account) -> _Capture:
    return _Capture(account.api, account.api.new_inbox(capture=True), suite)


_hosts = itertools.count(1)


def _stranger() -> str:
    """Returns an address without failed logins."""
    return f"127.7.0.{next(_hosts)}"


@pytest.fixture
def stranger(capture: _Capture) -> Iterator[SmtpSession]:
    """The same from an address of its own, for those who fail."""
    with SmtpSession(capture.server(), _stranger()) as running:
        yield running


@pytest.fixture
def session(capture: _Capture) -> Iterator[SmtpSession]:
    """On the listener in the clear, after EHLO."""
    with SmtpSession(capture.server()) as running:
        yield running


def _check_arrived(capture: _Capture, recipients: list[str], tls: bool) -> None:
    (email,) = eventually(capture.emails, "the mail arrives")
    assert email["recipients"] == recipients
    assert email["envelope"]["login"] == capture.user
    assert bool(email["envelope"]["tls"]) == tls
    path = f"/v1/emails/{email['emailId']}/raw"
    raw = capture.api.call("GET", path, headers={"Accept": "message/rfc822"}).text
    trace = raw.partition("Subject")[0]
    assert f" with ESMTP{'S' if tls else ''}A id {email['emailId']}" in trace
    assert (" for <" in trace.replace("\t", " ")) == (len(recipients) == 1)
    assert capture.user not in trace


# Other people's clients.

_PORTS = ["PORT", "STARTTLS_PORT", "TLS_PORT"]


def _trusting(suite: Suite) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=suite["SUBMISSION_CA"])


def _by_smtplib(capture: _Capture, port: str) -> None:
    host, number = capture.suite["SUBMISSION_HOST"], int(capture.suite["SUBMISSION_" + port])
    client: smtplib.SMTP
    if port == "TLS_PORT":
        client = smtplib.SMTP_SSL(host, number, timeout=30, context=_trusting(capture.suite))
    else:
        client = smtplib.SMTP(host, number, timeout=30)
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = SENDER, ", ".join(_FOREIGN), "smtplib"
    message.set_content("hi\n")
    with client:
        if port == "STARTTLS_PORT":
            client.starttls(context=_trusting(capture.suite))
        client.login(capture.user, capture.password)
        assert client.send_message(message, SENDER, _FOREIGN) == {}


def _run(*command: str, given: str | None = None, **environment: str) -> str:
    done = subprocess.run(
        command,
        input=given,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _by_swaks(capture: _Capture, port: str) -> None:
    security = {
        "PORT": (),
        "STARTTLS_PORT": ("--tls", "--tls-verify", "--tls-ca-path", capture.suite["SUBMISSION_CA"]),
        "TLS_PORT": ("--tls-on-connect",),
    }[port]
    _run(
        "swaks",
        *("--server", capture.server(port), "--from", SENDER, "--to", ",".join(_FOREIGN)),
        *("--auth-user", capture.user, "--auth-password", capture.password),
        *("--auth", "LOGIN", "--header", "Subject: swaks", *security),
    )


def _by_msmtp(capture: _Capture, port: str) -> None:
    host, _, number = capture.server(port).rpartition(":")
    security = {
        "PORT": ("--tls=off",),
        "STARTTLS_PORT": ("--tls=on", f"--tls-trust-file={capture.suite['SUBMISSION_CA']}"),
        "TLS_PORT": (
            "--tls=on",
            "--tls-starttls=off",
            f"--tls-trust-file={capture.suite['SUBMISSION_CA']}",
        ),
    }[port]
    _run(
        "msmtp",
        *(f"--host={host}", f"--port={number}", f"--from={SENDER}", f"--user={capture.user}"),
        # msmtp sends no password in the clear unless told to by the mechanism.
        *(f"--auth={'plain' if port != 'PORT' else 'login'}",),
        f"--passwordeval=printf %s {capture.password}",
        *security,
        *_FOREIGN,
        given=f"From: {SENDER}\nSubject: msmtp\n\nhi\n",
    )


def _by_nodemailer(capture: _Capture, port: str) -> None:
    host, _, number = capture.server(port).rpartition(":")
    options = {
        "host": host,
        "port": int(number),
        "secure": port == "TLS_PORT",
        "auth": {"user": capture.user, "pass": capture.password},
    }
    message = {"from": SENDER, "to": _FOREIGN, "subject": "Nodemailer", "text": "hi"}
    _run(
        "node",
        str(_NODE / "nodemailer.cjs"),
        json.dumps({"options": options, "message": message}),
        NODE_EXTRA_CA_CERTS=capture.suite["SUBMISSION_CA"],
    )


@pytest.fixture(scope="session")
def go_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The standard library's client, built."""
    program = tmp_path_factory.mktemp("go-client") / "send"
    _run("go", "build", "-o", str(program), str(_GO), GO111MODULE="off")
    return program


@pytest.mark.parametrize("port", _PORTS)
@pytest.mark.parametrize(
    "client", [_by_smtplib, _by_swaks, _by_msmtp, _by_nodemailer], ids=lambda it: it.__name__[4:]
)
def test_a_client_sends_to_five_foreign_domains(capture: _Capture, client: Any, port: str) -> None:
    client(capture, port)

    _check_arrived(capture, _FOREIGN, tls=port != "PORT")


@pytest.mark.parametrize("port", _PORTS)
def test_go_sends_to_five_foreign_domains(capture: _Capture, go_client: Path, port: str) -> None:
    host, _, number = capture.server(port).rpartition(":")

    _run(
        str(go_client),
        *(host, number, capture.user, capture.password, SENDER),
        "yes" if port == "TLS_PORT" else "no",
        *_FOREIGN,
        SSL_CERT_FILE=capture.suite["SUBMISSION_CA"],
    )

    _check_arrived(capture, _FOREIGN, tls=port != "PORT")


def test_the_bytes_of_system_net_mail(capture: _Capture, session: SmtpSession) -> None:
    """.NET has LOGIN alone, with the user in the command."""
    assert "AUTH PLAIN LOGIN" in session.extensions
    assert session.say(f"AUTH login {_encode(capture.user)}") == "334 UGFzc3dvcmQ6"
    assert session.say(_encode(capture.password)) == _GOOD
    assert session.say(f"MAIL FROM:<{SENDER}>").startswith("250 ")
    for recipient in _FOREIGN:
        assert session.say(f"RCPT TO:<{recipient}>").startswith("250 ")
    assert queued_id(session.data(b"Subject: .NET\r\n\r\nhi\r\n"))

    _check_arrived(capture, _FOREIGN, tls=False)


# Where it lands.


def test_no_recipient_chooses_an_inbox(
    capture: _Capture, session: SmtpSession, other_account: Account
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


def test_one_mail_to_forty_is_one_email_that_names_each(
    capture: _Capture, session: SmtpSession
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


def test_the_capture_keeps_its_own_address(capture: _Capture) -> None:
    with SmtpSession(capture.suite["SMTP"]) as outside:
        outside.address(capture.inbox["emailAddress"])
        outside.data(b"Subject: from outside\r\n\r\nhi\r\n")

    (email,) = capture.emails()
    assert email["envelope"]["login"] is None


def test_one_recipient_is_named_in_the_trace(capture: _Capture, session: SmtpSession) -> None:
    session.say(capture.auth())
    session.address("alice@shop.example")
    session.data(b"Subject: one\r\n\r\nhi\r\n")

    _check_arrived(capture, ["alice@shop.example"], tls=False)


def test_addresses_and_sizes(capture: _Capture, session: SmtpSession) -> None:
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


def test_bare_newlines_are_taken(capture: _Capture, session: SmtpSession) -> None:
    session.say(capture.auth())
    session.address("alice@shop.example")

    assert session.data(b"Subject: bare\r\n\r\none\ntwo\r\n").startswith("250 ")


# AUTH.


def test_what_is_offered_when(capture: _Capture) -> None:
    with SmtpSession(capture.server("STARTTLS_PORT")) as before:
        assert "STARTTLS" in before.extensions
        assert "AUTH PLAIN LOGIN" not in before.extensions
        for command in (capture.auth(), "AUTH LOGIN", f"MAIL FROM:<{SENDER}>", "VRFY x"):
            assert before.say(command) == _NEEDS_TLS
    host, port = capture.suite["SUBMISSION_HOST"], int(capture.suite["SUBMISSION_STARTTLS_PORT"])
    with smtplib.SMTP(host, port, timeout=30) as client:
        client.starttls(context=_trusting(capture.suite))
        client.ehlo()
        assert client.has_extn("auth")
        assert not client.has_extn("starttls")
        assert client.docmd("MAIL", f"FROM:<{SENDER}>")[0] == 530
        client.login(capture.user, capture.password)
        client.ehlo()
        assert not client.has_extn("auth")
        assert not client.has_extn("starttls")
    with smtplib.SMTP_SSL(
        host, int(capture.suite["SUBMISSION_TLS_PORT"]), context=_trusting(capture.suite)
    ) as client:
        client.ehlo()
        assert client.has_extn("auth")
        code, text = client.docmd("MAIL", f"FROM:<{SENDER}>")
        assert f"{code} {text.decode()}" == _NEEDS_LOGIN


def test_mechanisms_and_mistakes(capture: _Capture, session: SmtpSession) -> None:
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
    assert session.say(_plain(capture.user, capture.password, capture.user)) == _GOOD


def test_wrong_logins_look_alike(capture: _Capture) -> None:
    other = capture.api.new_inbox(capture=True)["capture"]
    for user, password, reply in (
        (capture.user, other["password"], _BAD),
        ("' OR 1=1; --", "x", _BAD),
        ("cap_aaaaaaaaaaaa", capture.password, _BAD),
        (capture.user + "\0", capture.password, "501 5.5.2 Cannot decode response"),
    ):
        with SmtpSession(capture.server(), _stranger()) as one:
            assert one.say("AUTH PLAIN " + _plain(user, password)) == reply
    with SmtpSession(capture.server()) as one:
        assert one.say("AUTH PLAIN " + "A" * 4096).startswith("500 ")


def test_smtplib_wrong_then_right(capture: _Capture) -> None:
    host, port = capture.suite["SUBMISSION_HOST"], int(capture.suite["SUBMISSION_PORT"])
    with smtplib.SMTP(host, port, timeout=30) as client:
        with pytest.raises(smtplib.SMTPAuthenticationError) as refused:
            client.login(capture.user, "wrong")
        assert refused.value.smtp_code == 535
        assert client.login(capture.user, capture.password)[0] == 235


def test_the_fourth_failure_closes(capture: _Capture, stranger: SmtpSession) -> None:
    wrong = capture.auth("tic_wrong")
    began = time.monotonic()

    assert [stranger.say(wrong) for _ in range(4)] == [
        *[_BAD] * 3,
        "421 4.7.0 Too many failed logins",
    ]
    assert time.monotonic() - began >= 2
    assert stranger.reply() == ""


def test_a_client_that_goes_on_after_535_reaches_nobody(
    capture: _Capture, stranger: SmtpSession, other_account: Account
) -> None:
    """As System.Net.Mail does."""
    theirs = other_account.api.new_inbox()
    stranger.say(f"AUTH login {_encode(capture.user)}")
    assert stranger.say(_encode("wrong")) == _BAD

    for command in (f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{theirs['emailAddress']}>", "DATA"):
        assert stranger.say(command) == _NEEDS_LOGIN

    assert other_account.api.get(f"/v1/inboxes/{theirs['inboxId']}")["lastSequence"] == 0


def test_auth_behind_starttls_in_one_packet(capture: _Capture) -> None:
    with SmtpSession(capture.server("STARTTLS_PORT")) as one:
        one.write(f"STARTTLS\r\n{capture.auth()}\r\n".encode())
        assert one.reply().startswith("554 5.5.0 ")
        assert one.reply() == ""


def test_the_port_for_mail_has_no_logins(capture: _Capture) -> None:
    with SmtpSession(capture.suite["SMTP"]) as one:
        assert "AUTH PLAIN LOGIN" not in one.extensions
        assert one.say(capture.auth()) == "502 5.5.1 Command not implemented"


# Revocation.


def _mail_until(session: SmtpSession, expected: str) -> float:
    """Says MAIL and RSET until the reply comes; the seconds that it took."""
    began = time.monotonic()

    def has_come() -> bool:
        reply = session.say(f"MAIL FROM:<{SENDER}>")
        if reply == expected:
            return True
        assert reply.startswith("250 "), reply
        session.say("RSET")
        return False

    eventually(has_come, expected, seconds=10)
    return time.monotonic() - began


def test_rotation(capture: _Capture, session: SmtpSession) -> None:
    path = f"/v1/inboxes/{capture.inbox['inboxId']}/capture/rotate"
    assert session.say(capture.auth()) == _GOOD

    second = capture.api.post(path, {"graceSeconds": 60})["password"]
    with SmtpSession(capture.server()) as old, SmtpSession(capture.server()) as new:
        eventually(lambda: new.say(capture.auth(second)) == _GOOD, "the new password is good")
        assert old.say(capture.auth()) == _GOOD
    third = capture.api.post(path)["password"]

    assert _mail_until(session, _ENDED) < 1.5
    assert session.reply() == ""
    with SmtpSession(capture.server()) as one:
        assert one.say(capture.auth()) == _BAD
        assert one.say(capture.auth(third)) == _GOOD


def test_the_end_of_a_login_on_another_replica(capture: _Capture, session: SmtpSession) -> None:
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

            assert _mail_until(session, _ENDED) < 1.5
            time_of_commit = under_way.data(b"Subject: under way\r\n\r\nhi\r\n")
            assert time_of_commit.startswith("250 ")
            assert under_way.say(f"MAIL FROM:<{SENDER}>") == _ENDED
        with SmtpSession(f"127.0.0.1:{other_port}") as late:
            assert late.say(capture.auth()) == _BAD
    assert len(capture.emails()) == 1


def test_the_end_of_the_inbox(capture: _Capture, session: SmtpSession) -> None:
    assert session.say(capture.auth()) == _GOOD

    capture.api.delete(f"/v1/inboxes/{capture.inbox['inboxId']}")

    assert _mail_until(session, _ENDED) < 1.5


# Limits and settings.


def test_rate_and_sessions_of_a_login(capture: _Capture) -> None:
    """100 at once and 10 a second: MAIL waits, and no library meets a refusal."""
    with SmtpSession(capture.server()) as one:
        assert one.say(capture.auth()) == _GOOD
        began = time.monotonic()
        for number in range(130):
            assert one.say(f"MAIL FROM:<{SENDER}>").startswith("250 "), number
            one.say("RSET")
        assert 2 < time.monotonic() - began < 20
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
    capture: _Capture, session: SmtpSession, other_account: Account
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


def test_no_password_is_in_a_log(capture: _Capture, tmp_path: Path) -> None:
    log = tmp_path / "log"
    port = free_port()
    wrong = "tic_thispasswordiswrong"
    with MailIngest(
        capture.suite,
        log=log,
        log_level="debug",
        audit_log="all",
        submission_clear_listen=f"127.0.0.1:{port}",
    ):
        for auth in (capture.auth(), capture.auth(wrong), capture.auth(user="nobody-at-all")):
            with SmtpSession(f"127.0.0.1:{port}", _stranger()) as one:
                one.say(auth)
    lines = log.read_text(encoding="utf-8")
    assert "login accepted" in lines
    assert lines.count("login refused") == 2
    assert capture.user in lines
    for hidden in (
        capture.password,
        wrong,
        "nobody-at-all",
        _plain(capture.user, capture.password),
        _plain(capture.user, wrong),
    ):
        assert hidden not in lines
