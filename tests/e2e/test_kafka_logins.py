"""Logins at Kafka as companies run it: SCRAM-SHA-512 and OAUTHBEARER over TLS, at brokers of this
release's version.

Debian 12's librdkafka can neither; there the programs say which one they need.
"""

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from dev import kafka, librdkafka, paths
from harness import (
    Api,
    Authority,
    Cluster,
    Inbox,
    MountedSecret,
    Receiver,
    SecureKafka,
    SecureSuite,
    Suite,
    TokenIssuer,
    TrustingSuite,
    eventually,
    send,
)
from harness.secure_suite import HOST, Settings, rpc_tls_settings

_SCRAM, _OAUTH = "SCRAM-SHA-512", "OAUTHBEARER"
_MECHANISMS = [_SCRAM, _OAUTH]
_FAILED = "kafka does not let this process in"


@dataclass(frozen=True)
class _Brokers:
    """A broker that takes both mechanisms, its issuer, and what certificates come from."""

    suite: Suite
    folder: Path
    authority: Authority
    issuer: TokenIssuer
    broker: SecureKafka

    def properties(self, mechanism: str) -> dict[str, str]:
        """Returns librdkafka's properties for it, without the secret."""
        common = {
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(self.authority.ca_file),
            "broker.address.family": "v4",
            "sasl.mechanism": mechanism,
        }
        if mechanism == _SCRAM:
            return common | {"sasl.username": SecureKafka.user}
        return common | {
            "sasl.oauthbearer.client.id": TokenIssuer.client_id,
            "sasl.oauthbearer.token.endpoint.url": self.issuer.token_url,
            "sasl.oauthbearer.scope": TokenIssuer.scope,
        }

    def secret(self, mechanism: str) -> str:
        """Returns the secret that counts."""
        return self.broker.password if mechanism == _SCRAM else self.issuer.client_secret

    def change_secret(self, mechanism: str) -> None:
        """Another secret counts from now on."""
        if mechanism == _SCRAM:
            self.broker.change_password()
        else:
            self.issuer.change_secret()


class _Login:
    """The files of a login, as Kubernetes mounts them."""

    def __init__(self, brokers: _Brokers, mechanism: str, folder: Path) -> None:
        self.brokers = brokers
        self.mechanism = mechanism
        self.setting = (
            "kafka-sasl-password-file" if mechanism == _SCRAM else "kafka-sasl-client-secret-file"
        )
        self._more = ""
        self._files = MountedSecret(
            folder, properties=self._properties(), secret=brokers.secret(mechanism)
        )
        self.settings: Settings = {
            "kafka_brokers": brokers.broker.settings["kafka_brokers"],
            "kafka_properties_file": self._files.file("properties"),
            self.setting.replace("-", "_"): self._files.file("secret"),
        }

    def put(self, secret: str) -> None:
        """Replaces the file of the secret."""
        self._files.put(secret=secret)

    def replace_clients(self) -> None:
        """Has each program make new clients, which log in anew."""
        self._more += "linger.ms=1\n"
        self._files.put(properties=self._properties() + self._more)

    def _properties(self) -> str:
        properties = self.brokers.properties(self.mechanism)
        if self.mechanism == _OAUTH and librdkafka.has_https_ca():
            properties["https.ca.location"] = str(self.brokers.issuer.ca_file)
        return "".join(f"{name}={value}\n" for name, value in properties.items())


@pytest.fixture(scope="module")
def brokers(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Brokers]:
    """Ready for clients."""
    folder = tmp_path_factory.mktemp("kafka-logins")
    authority = Authority(folder / "authority")
    names = f"DNS:{HOST},IP:127.0.0.1"
    # An issuer that only the brokers and its clients know: an authority of its own.
    of_issuer = Authority(folder / "issuer-authority").issue("issuer", names)
    with contextlib.ExitStack() as running:
        issuer = running.enter_context(TokenIssuer(of_issuer, folder))
        broker = running.enter_context(
            SecureKafka(authority.issue("kafka", names), issuer=issuer, release=kafka.VERSION)
        )
        if librdkafka.has_oidc() and not librdkafka.has_https_ca():
            (folder / "programs").mkdir()
            suite = TrustingSuite(folder / "programs", issuer.ca_file)
        yield _Brokers(suite, folder, authority, issuer, broker)


def _speaks(mechanism: str) -> bool:
    """Returns whether the programs' librdkafka can log in by it at the brokers of this release."""
    return librdkafka.has_scram_of_4_0() if mechanism == _SCRAM else librdkafka.has_oidc()


def _run(brokers: _Brokers, program: str, settings: Settings, *arguments: str) -> tuple[int, str]:
    """Returns the exit code and all that was printed."""
    given = {f"TEMPINBOX_{name.upper()}": value for name, value in settings.items()}
    done = subprocess.run(
        [brokers.suite.program(program), *arguments],
        env=paths.clean_environment() | given,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("mechanism", _MECHANISMS)
def test_the_broker_takes_the_login_of_a_current_client(brokers: _Brokers, mechanism: str) -> None:
    """By the librdkafka that confluent_kafka brings, whatever the programs have."""
    login: dict[str, str | int | float | bool] = dict(brokers.properties(mechanism))
    if mechanism == _SCRAM:
        login["sasl.password"] = brokers.secret(_SCRAM)
    else:
        login |= {
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.secret": brokers.secret(_OAUTH),
            "https.ca.location": str(brokers.issuer.ca_file),
        }
    client = AdminClient(login | {"bootstrap.servers": brokers.broker.settings["kafka_brokers"]})

    assert len(client.list_topics(timeout=30).brokers) == 1


@pytest.fixture(scope="module", params=_MECHANISMS)
def login(brokers: _Brokers, request: pytest.FixtureRequest) -> _Login:
    """Files with the secret that counts."""
    mechanism: str = request.param
    return _Login(brokers, mechanism, brokers.folder / mechanism)


@dataclass(frozen=True)
class _Running:
    """A suite that logs in so, and the settings that a further inbox service needs for it."""

    services: SecureSuite
    of_inbox: Settings
    key: str


@pytest.fixture(scope="module")
def running(brokers: _Brokers, login: _Login) -> Iterator[_Running]:
    """With a database and topics of its own."""
    if not _speaks(login.mechanism):
        pytest.skip(f"librdkafka {librdkafka.version()} cannot {login.mechanism} at this broker")
    folder = brokers.folder / f"suite-{login.mechanism}"
    folder.mkdir()
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(Cluster(brokers.suite))
        common = {"database": database.dsn, "kafka_prefix": login.mechanism[:5].lower() + "."}

        def settings_of(service: str) -> Settings:
            spool = {"spool_directory": str(folder / "spool")}
            tls = rpc_tls_settings(brokers.authority.issue(service, f"DNS:{HOST}"))
            return common | login.settings | (spool if service == "mail-ingest" else tls)

        services = stack.enter_context(SecureSuite(brokers.suite, settings_of))
        yield _Running(services, settings_of("inbox"), services.make_key("premium", 1_000_000))


def _mail_becomes_a_webhook(brokers: _Brokers, running: _Running, subject: str) -> None:
    """The event of a mail goes out by mail-ingest's producer and comes in by the dispatcher's
    consumer.
    """
    services = running.services
    api = Api(f"http://{services.gateway.address}", running.key)
    with Receiver() as receiver:
        api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})
        to = api.new_inbox()["emailAddress"]
        sent = send(brokers.suite, to, subject=subject, server=services.ingest.address)
        assert sent.is_accepted, sent.transcript
        receiver.wait_for(lambda it: it.webhook_id == sent.email_id, subject, seconds=60)


def test_mail_comes_in_and_its_event_goes_out(
    brokers: _Brokers, login: _Login, running: _Running
) -> None:
    _mail_becomes_a_webhook(brokers, running, f"By {login.mechanism}")


def test_a_rotated_secret_is_used_for_the_next_login(
    brokers: _Brokers, login: _Login, running: _Running
) -> None:
    services = running.services
    with_kafka = [services.gateway, services.inbox, services.ingest, services.dispatcher]
    tokens = brokers.issuer.tokens

    def change(setting: str, put: Callable[[], None]) -> None:
        """Returns once each has read the files anew."""
        reloads = f'tempinbox_file_reloads_total{{setting="{setting}"}}'
        before = {replica: replica.metric(reloads) for replica in with_kafka}
        put()
        eventually(
            lambda: all(replica.metric(reloads) > before[replica] for replica in with_kafka),
            f"each has read {setting}",
            seconds=30,
        )

    brokers.change_secret(login.mechanism)
    change(login.setting, lambda: login.put(brokers.secret(login.mechanism)))
    change("kafka-properties-file", login.replace_clients)

    if login.mechanism == _OAUTH:
        eventually(
            lambda: brokers.issuer.tokens >= tokens + len(with_kafka),
            "each has a token by it",
            seconds=60,
        )
    _mail_becomes_a_webhook(brokers, running, f"Rotated, by {login.mechanism}")


def test_a_wrong_secret_is_named_until_it_is_right(
    brokers: _Brokers, login: _Login, running: _Running, tmp_path: Path
) -> None:
    wrong = _Login(brokers, login.mechanism, tmp_path / "login")
    wrong.put("not the secret")
    log = tmp_path / "inbox.log"
    replica = Inbox(brokers.suite, log=log, **(running.of_inbox | wrong.settings))
    replica.start()
    try:
        eventually(
            lambda: "login failed" in replica.readiness()[1].get("waiting", {}).get("kafka", ""),
            "/readyz says why",
            seconds=60,
        )
        assert replica.readiness()[0] == 503
        eventually(lambda: _FAILED in log.read_text(encoding="utf-8"), "its log says so, too")
        assert log.read_text(encoding="utf-8").count(_FAILED) <= 5, "one a client"

        code, shown = _run(brokers, "tempinboxctl", wrong.settings, "doctor", "--timeout", "10")
        assert code == 1
        assert "login failed" in shown

        wrong.put(brokers.secret(login.mechanism))
        eventually(replica.is_ready, "it is let in", seconds=60)
    finally:
        replica.kill()


def test_a_librdkafka_too_old_is_named_at_the_start(
    brokers: _Brokers, login: _Login, suite: Suite, tmp_path: Path
) -> None:
    if _speaks(login.mechanism):
        pytest.skip("the one of this machine is new enough")
    version = "librdkafka " + ".".join(str(part) for part in librdkafka.version())
    if login.mechanism == _OAUTH:
        refused = login.settings | {"kafka_prefix": "not a prefix"}
        for program, argument in (
            ("tempinbox-inbox", "--check-config"),
            ("tempinboxctl", "doctor"),
        ):
            code, shown = _run(brokers, program, refused, argument)
            assert code == 2
            assert "needs a librdkafka built with libcurl, such as 2.8.0 of Debian 13" in shown
            assert version in shown
            assert "kafka-prefix" in shown, "all problems are listed"
        return

    log = tmp_path / "inbox.log"
    # Without a database it takes no events that are the suite's.
    nowhere = {"database": "postgresql://127.0.0.1:1/none"}
    replica = Inbox(suite, log=log, **nowhere, **login.settings)
    replica.start()
    try:
        eventually(
            lambda: "login failed" in replica.readiness()[1].get("waiting", {}).get("kafka", ""),
            "/readyz says why",
            seconds=60,
        )
        eventually(lambda: _FAILED in log.read_text(encoding="utf-8"), "its log says so, too")
    finally:
        replica.kill()
    logged = log.read_text(encoding="utf-8")
    assert f"SCRAM of {version} works with brokers before 4.0 only" in logged
    assert "it takes librdkafka 2.6.1" in logged
    _, shown = _run(brokers, "tempinboxctl", login.settings, "doctor", "--timeout", "10")
    assert "it takes librdkafka 2.6.1" in shown
    assert "login failed" in shown
