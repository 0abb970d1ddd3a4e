"""Mail to anybody by the login of a capture inbox, sent by other people's clients."""

import os
import re
import smtplib
import subprocess
import sys
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from dev import jakarta_mail, paths
from dev.ports import free_port
from harness import (
    SENDER,
    Capture,
    Island,
    MailIngest,
    SmtpSession,
    Suite,
    base64_of,
    eventually,
    plain_response,
    queued_id,
    run_nodemailer,
)

_E2E = paths.ROOT / "tests" / "e2e"
_SENDERS = _E2E / "senders"
_FOREIGN = [f"user{number}@shop{number}.example" for number in range(5)]
_GOOD = "235 2.7.0 Authentication successful"
_PORTS = ["PORT", "STARTTLS_PORT", "TLS_PORT"]
_STORE_PASSWORD = "changeit"  # noqa: S105 - Java's own
_TLS_PORTS = {"STARTTLS_PORT": "starttls", "TLS_PORT": "tls"}
# On the port in the clear, which offers no TLS, clients run as they come.
_SECURITY = {"PORT": "default", **_TLS_PORTS}


def _run(*command: str, given: str | None = None, **environment: str) -> None:
    done = subprocess.run(
        command,
        input=given,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _check_one_arrived(capture: Capture, *, tls: bool) -> None:
    (email,) = eventually(capture.emails, "the mail arrives")
    assert email["recipients"] == _FOREIGN
    capture.check_trace(email, tls=tls)


def _check_five_arrived(capture: Capture, *, tls: bool = True) -> None:
    emails = capture.emails()
    assert [email["recipients"] for email in emails] == [[recipient] for recipient in _FOREIGN]
    assert [email["subject"] for email in emails] == [f"mail {number}" for number in range(5)]
    for email in emails:
        capture.check_trace(email, tls=tls)


# One mail to all of them, on each listener.

_Send = Callable[[Capture, str], None]


def _by_smtplib(capture: Capture, port: str) -> None:
    client: smtplib.SMTP
    if port == "TLS_PORT":
        client = smtplib.SMTP_SSL(
            capture.host, capture.ports[port], timeout=30, context=capture.trusting()
        )
    else:
        client = smtplib.SMTP(capture.host, capture.ports[port], timeout=30)
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = SENDER, ", ".join(_FOREIGN), "smtplib"
    message.set_content("hi\n")
    with client:
        if port == "STARTTLS_PORT":
            client.starttls(context=capture.trusting())
        client.login(capture.user, capture.password)
        assert client.send_message(message, SENDER, _FOREIGN) == {}


def _by_swaks(capture: Capture, port: str) -> None:
    security = {
        "PORT": (),
        "STARTTLS_PORT": ("--tls", "--tls-verify", "--tls-ca-path", capture.ca_file),
        "TLS_PORT": ("--tls-on-connect",),
    }[port]
    _run(
        "swaks",
        *("--server", capture.server(port), "--from", SENDER, "--to", ",".join(_FOREIGN)),
        *("--auth-user", capture.user, "--auth-password", capture.password),
        *("--auth", "LOGIN", "--header", "Subject: swaks", *security),
    )


def _by_msmtp(capture: Capture, port: str) -> None:
    security = {
        "PORT": ("--tls=off",),
        "STARTTLS_PORT": ("--tls=on", f"--tls-trust-file={capture.ca_file}"),
        "TLS_PORT": (
            "--tls=on",
            "--tls-starttls=off",
            f"--tls-trust-file={capture.ca_file}",
        ),
    }[port]
    _run(
        "msmtp",
        *(f"--host={capture.host}", f"--port={capture.ports[port]}"),
        *(f"--from={SENDER}", f"--user={capture.user}"),
        # msmtp sends no password in the clear unless told to by the mechanism.
        *(f"--auth={'plain' if port != 'PORT' else 'login'}",),
        f"--passwordeval=printf %s {capture.password}",
        *security,
        *_FOREIGN,
        given=f"From: {SENDER}\nSubject: msmtp\n\nhi\n",
    )


def _by_nodemailer(capture: Capture, port: str) -> None:
    sent = run_nodemailer(capture, _FOREIGN, port)
    assert sent.returncode == 0, sent.stderr


@pytest.fixture(scope="session")
def go_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The standard library's client, built."""
    program = tmp_path_factory.mktemp("go-client") / "send"
    _run("go", "build", "-o", str(program), str(_E2E / "go" / "send.go"), GO111MODULE="off")
    return program


@pytest.mark.parametrize("port", _PORTS)
@pytest.mark.parametrize(
    "client", [_by_smtplib, _by_swaks, _by_msmtp, _by_nodemailer], ids=lambda it: it.__name__[4:]
)
def test_a_client_sends_to_five_foreign_domains(capture: Capture, client: _Send, port: str) -> None:
    client(capture, port)

    _check_one_arrived(capture, tls=port != "PORT")


@pytest.mark.parametrize("port", _PORTS)
def test_go_sends_to_five_foreign_domains(capture: Capture, go_client: Path, port: str) -> None:
    _run(
        str(go_client),
        *(capture.host, str(capture.ports[port]), capture.user, capture.password, SENDER),
        "yes" if port == "TLS_PORT" else "no",
        *_FOREIGN,
        SSL_CERT_FILE=capture.ca_file,
    )

    _check_one_arrived(capture, tls=port != "PORT")


# A mail to each of them, in order.


def _send_five(capture: Capture, port: str, *command: str, **environment: str) -> None:
    """Runs a program of senders/."""
    server = (capture.host, str(capture.ports[port]), capture.user, capture.password)
    _run(*command, *server, SENDER, _SECURITY[port], *_FOREIGN, **environment)


def _by_php(program: str) -> _Send:
    def send(capture: Capture, port: str) -> None:
        trust = ("-d", f"openssl.cafile={capture.ca_file}")
        _send_five(capture, port, "php", *trust, str(_SENDERS / program))

    return send


def _by_django(capture: Capture, port: str) -> None:
    program = str(_SENDERS / "django_backend.py")
    _send_five(capture, port, sys.executable, "-B", program, SSL_CERT_FILE=capture.ca_file)


def _by_net_smtp(capture: Capture, port: str) -> None:
    _send_five(capture, port, "ruby", str(_SENDERS / "net_smtp.rb"), SSL_CERT_FILE=capture.ca_file)


@pytest.mark.parametrize("port", _PORTS)
@pytest.mark.parametrize(
    "client",
    [
        pytest.param(_by_php("phpmailer.php"), id="phpmailer"),
        pytest.param(_by_php("symfony_mailer.php"), id="symfony_mailer"),
        pytest.param(_by_net_smtp, id="net_smtp"),
        pytest.param(_by_django, id="django"),
    ],
)
def test_a_client_sends_five_mails(capture: Capture, client: _Send, port: str) -> None:
    client(capture, port)

    _check_five_arrived(capture, tls=port != "PORT")


@pytest.fixture(scope="session")
def trust_store(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite's authority, as Java wants it: in a store with a password."""
    store = tmp_path_factory.mktemp("java") / "trusted.p12"
    _run(
        *("keytool", "-importcert", "-noprompt", "-file", suite["SUBMISSION_CA"]),
        *("-keystore", str(store), "-storepass", _STORE_PASSWORD),
    )
    return store


@pytest.mark.parametrize("port", _PORTS)
def test_jakarta_mail_sends_five_mails(capture: Capture, trust_store: Path, port: str) -> None:
    trust = (
        f"-Djavax.net.ssl.trustStore={trust_store}",
        f"-Djavax.net.ssl.trustStorePassword={_STORE_PASSWORD}",
    )
    jars = jakarta_mail.class_path()

    _send_five(capture, port, "java", *trust, "-cp", jars, str(_SENDERS / "JakartaMail.java"))

    _check_five_arrived(capture, tls=port != "PORT")


# .NET's clients, as the bytes that they send.


def _send_as_system_net_mail(capture: Capture, session: SmtpSession) -> None:
    """LOGIN alone, with the user in the command, and a step at a time."""
    assert session.say(f"AUTH login {base64_of(capture.user)}") == "334 UGFzc3dvcmQ6"
    assert session.say(base64_of(capture.password)) == _GOOD
    for number, recipient in enumerate(_FOREIGN):
        assert session.address(recipient) == ["250 2.1.5 Recipient ok"]
        assert queued_id(session.data(f"Subject: mail {number}\r\n\r\nhi\r\n".encode()))


def _send_as_mail_kit(capture: Capture, session: SmtpSession) -> None:
    """PLAIN with its response, and MAIL with RCPT in one packet."""
    assert session.say(f"AUTH PLAIN {plain_response(capture.user, capture.password)}") == _GOOD
    for number, recipient in enumerate(_FOREIGN):
        message = f"Subject: mail {number}\r\n\r\nhi\r\n".encode()
        session.write(
            f"MAIL FROM:<{SENDER}> SIZE={len(message)}\r\nRCPT TO:<{recipient}>\r\n".encode()
        )
        assert [session.reply()[:3], session.reply()[:3]] == ["250", "250"]
        assert queued_id(session.data(message))


_Talk = Callable[[Capture, SmtpSession], None]


@pytest.mark.parametrize("talk", [_send_as_system_net_mail, _send_as_mail_kit])
def test_the_bytes_of_net_over_starttls(capture: Capture, talk: _Talk) -> None:
    with SmtpSession(capture.server("STARTTLS_PORT")) as session:
        session.start_tls(capture.trusting())
        talk(capture, session)

    _check_five_arrived(capture)


def test_the_bytes_of_mail_kit_over_tls(capture: Capture) -> None:
    with SmtpSession(capture.server("TLS_PORT"), tls=capture.trusting()) as session:
        _send_as_mail_kit(capture, session)

    _check_five_arrived(capture)


# Nothing leaves.

_DESTINATION = re.compile(
    r"sin6?_port=htons\((\d+)\)[^\"]*\"([0-9a-f.:]+)\""  # as strace shows an address
)


def test_nothing_tries_to_leave(capture: Capture, tmp_path: Path) -> None:
    """A mail-ingest on an island takes all of it, after two faults on purpose, and connects to
    PostgreSQL and Kafka alone.
    """
    later = {"stage": "rcpt", "reply": "451 4.7.1 Try again later", "times": 2}
    faults = f"/v1/inboxes/{capture.inbox['inboxId']}/faults"
    capture.api.put(faults, {"steps": [later]})
    settings = MailIngest.settings_of(capture.suite)
    database = urlsplit(settings["TEMPINBOX_DATABASE"]).netloc.rpartition("@")[2]
    brokers = settings["TEMPINBOX_KAFKA_BROKERS"].split(",")
    trace = tmp_path / "trace"
    # -D: the service keeps the number of its process.
    strace = ["strace", "-D", "-f", "-qq", "-o", str(trace)]
    strace += ["-e", "signal=none", "-e", "trace=connect,sendto,sendmsg,sendmmsg"]
    capture.ports = {name: free_port() for name in _TLS_PORTS}
    with (
        Island({int(server.rpartition(":")[2]) for server in (database, *brokers)}) as island,
        MailIngest(
            capture.suite,
            there=island.there,
            within=strace,
            submission_listen=f"127.0.0.1:{capture.ports['STARTTLS_PORT']}",
            submissions_listen=f"127.0.0.1:{capture.ports['TLS_PORT']}",
        ),
    ):
        ruby = (*island.there, "ruby", str(_SENDERS / "net_smtp.rb"))
        for port in _TLS_PORTS:
            with pytest.raises(AssertionError, match=r"451 4\.7\.1 Try again later"):
                _send_five(capture, port, *ruby, SSL_CERT_FILE=capture.ca_file)
        for port in _TLS_PORTS:
            _send_five(capture, port, *ruby, SSL_CERT_FILE=capture.ca_file)

    assert [email["recipients"] for email in capture.emails()] == 2 * [[to] for to in _FOREIGN]
    assert [step["used"] for step in capture.api.get(faults)["steps"]] == [2]
    found = _DESTINATION.findall(trace.read_text(encoding="utf-8"))
    destinations = {f"{address}:{port}" for port, address in found}
    assert destinations <= {database, *brokers}
    assert database in destinations
    assert destinations & set(brokers)
