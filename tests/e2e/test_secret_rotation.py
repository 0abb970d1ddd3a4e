"""Every secret is replaced under load: no restart, no failed request, no lost webhook."""

import base64
import concurrent.futures
import contextlib
import secrets
import smtplib
import socket
import ssl
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import requests
from harness import (
    SENDER,
    Api,
    Authority,
    Cluster,
    Dashboard,
    Gateway,
    MountedSecret,
    Postbox,
    Receiver,
    SecureKafka,
    SecureSuite,
    Suite,
    WebhookDispatcher,
    client_context,
    eventually,
    make_certificate,
    queued_id,
)
from harness.secure_suite import HOST, Settings

_WORKERS = 2
_INTERVAL_SECONDS = 0.02
_MORE = 6
_NAMES = f"DNS:{HOST},IP:127.0.0.1"  # of a certificate
_TTL = "5s"
_RELAY_USER, _RELAY_FIRST, _RELAY_SECOND = "tempinbox", "a first phrase", "a second phrase"
_WITH_KEYS = ("gateway", "webhook-dispatcher")
_WITH_CALLS = ("gateway", "inbox", "rate-limit", "webhook-dispatcher")
_WITH_KAFKA = ("gateway", "inbox", "mail-ingest", "webhook-dispatcher")
_CLIENTS_OF_INGEST = 3  # of Kafka: producer, consumer and reader of whole topics


class _Role:
    """A role of PostgreSQL that the services may sign in as."""

    def __init__(self, database: Cluster, name: str) -> None:
        self._database = database
        self._name = name
        database.query(f"CREATE ROLE {name} LOGIN SUPERUSER")
        self.change_password()

    def change_password(self) -> None:
        """Connections that are open stay open."""
        self._password = secrets.token_urlsafe(12) + "@/:"
        self._database.query(f"ALTER ROLE {self._name} PASSWORD '{self._password}'")

    @property
    def dsn(self) -> str:
        """Returns the DSN of this role."""
        at = urlsplit(self._database.dsn)
        password = quote(self._password, safe="")
        return f"postgresql://{self._name}:{password}@{at.hostname}:{at.port}{at.path}?{at.query}\n"

    def connections(self) -> int:
        """Returns the number of connections of all services."""
        count = f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{self._name}'"
        return int(self._database.query(count))


class _Load:
    """Clients that make an inbox, repeat the request, send the inbox a mail over TLS and list it,
    again and again. Whatever does not succeed at once is a failure.
    """

    def __init__(self, services: SecureSuite, key: str, ca_file: Path) -> None:
        self._base = _base(services.gateway)
        self._server = services.ingest.address
        self._key = key
        self._ca_file = ca_file
        self._is_over = threading.Event()
        self.failures: list[str] = []
        self.mails: list[str] = []

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Ends with what is under way."""
        with concurrent.futures.ThreadPoolExecutor(_WORKERS) as pool:
            working = [pool.submit(self._work) for _ in range(_WORKERS)]
            try:
                yield
            finally:
                self._is_over.set()
            for each in working:
                each.result(timeout=120)

    def goes_on(self) -> None:
        """Returns when some more went well; nothing must have failed until then."""
        expected = len(self.mails) + _MORE
        eventually(
            lambda: self.failures or len(self.mails) >= expected, "the load goes on", seconds=30
        )
        assert self.failures == []

    def _work(self) -> None:
        while not self._is_over.wait(_INTERVAL_SECONDS):
            try:
                self._once()
            except (AssertionError, OSError) as problem:  # those of smtplib and requests, too
                self.failures.append(repr(problem))

    def _once(self) -> None:
        api = Api(self._base, self._key, self._ca_file)  # with a connection of its own
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        first = api.call("POST", "/v1/inboxes", headers=headers)
        assert first.status_code == 201, first.text
        again = api.call("POST", "/v1/inboxes", headers=headers)
        assert (again.status_code, again.json()) == (201, first.json()), again.text
        inbox = first.json()
        email_id = self._send(inbox["emailAddress"])
        listed = api.get(f"/v1/inboxes/{inbox['inboxId']}/emails")
        assert [email["emailId"] for email in listed["emails"]] == [email_id]
        self.mails.append(email_id)

    def _send(self, to: str) -> str:
        host, _, port = self._server.rpartition(":")
        with smtplib.SMTP(
            host, int(port), local_hostname="sender.example", timeout=30
        ) as connection:
            connection.starttls(context=client_context(self._ca_file))
            connection.ehlo()
            connection.mail(SENDER)
            connection.rcpt(to)
            code, text = connection.data(b"Subject: Hello\r\n\r\nHello\r\n")
            assert code == 250, text
            return queued_id(f"250 {text.decode()}")


def _base(gateway: Gateway) -> str:
    return f"https://{gateway.address}"


def _values(admin: str, series: str) -> list[float]:
    lines = requests.get(f"http://{admin}/metrics", timeout=5).text.splitlines()
    return [float(line.split()[-1]) for line in lines if line.startswith(series)]


def _all_have(admins: list[str], series: str, value: float) -> None:
    eventually(
        lambda: all(
            (values := _values(admin, series)) and set(values) == {value} for admin in admins
        ),
        f"{series} is {value} everywhere",
        seconds=60,
    )


@contextlib.contextmanager
def _reload(admins: list[str], setting: str) -> Iterator[None]:
    """Within it the setting's file changes; afterwards all have read it."""
    series = f'tempinbox_file_reloads_total{{setting="{setting}"}}'
    before = {admin: sum(_values(admin, series)) for admin in admins}
    yield
    eventually(
        lambda: all(sum(_values(admin, series)) > before[admin] for admin in admins),
        f"{setting} was read again",
        seconds=60,
    )
    _all_have(admins, f'tempinbox_files_current{{setting="{setting}"}}', 1)


def _position(key_line: str) -> str:
    return f'tempinbox_master_key_position{{key="{key_line.partition(":")[0]}"}}'


def _new_master_key() -> str:
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    return f"rotated-{uuid.uuid4().hex[:8]}:{key}\n"


def _new_token() -> str:
    return secrets.token_urlsafe(32) + "\n"


@contextlib.contextmanager
def _ends_cleanly(replica: WebhookDispatcher) -> Iterator[WebhookDispatcher]:
    """Leaves its consumer group, so that the others need not miss it first."""
    with replica:
        yield replica
        replica.terminate()
        replica.wait()


def _self_signed(folder: Path) -> tuple[str, str]:
    folder.mkdir(exist_ok=True)
    make_certificate(folder, f"{uuid.uuid4().hex[:8]}.test")
    return (folder / "certificate.pem").read_text(), (folder / "key.pem").read_text()


def _files_of(identity: Path) -> dict[str, str]:
    """Certificate, key and authority that Authority.issue made."""
    return {name: (identity / f"{name}.pem").read_text() for name in ("certificate", "key", "ca")}


class _World:
    """A suite whose secrets are all files, each mounted apart from the others."""

    def __init__(self, suite: Suite, folder: Path, running: contextlib.ExitStack) -> None:
        self.suite = suite
        self.folder = folder
        # The certificates of the calls between services, of Kafka and its clients: the first and
        # the next.
        self.inner, self.next_inner, self.of_kafka, self.next_of_kafka, self.public = (
            Authority(folder / name)
            for name in ("inner", "next-inner", "kafka", "next-kafka", "public")
        )
        self.renew_public: Callable[[], Path] = lambda: self.public.issue("public", _NAMES)
        both = folder / "both.pem"
        both.write_text(_text(self.of_kafka.ca_file) + _text(self.next_of_kafka.ca_file))
        self.broker = running.enter_context(
            SecureKafka(self.of_kafka.issue("broker", _NAMES), client_authorities=both)
        )
        self.database = running.enter_context(
            Cluster(suite, identity=self.inner.issue("postgres", _NAMES))
        )
        self.renew_postgres: Callable[[], Path] = lambda: self.inner.issue("postgres", _NAMES)
        self.role, self.next_role = (_Role(self.database, name) for name in ("first", "second"))
        self.trusted, _ = _self_signed(folder / "trusted")
        self._mount()
        self.postbox = running.enter_context(
            Postbox(folder / "trusted", _RELAY_USER, _RELAY_FIRST, "starttls")
        )
        self.receiver = running.enter_context(Receiver(folder=folder / "trusted"))
        self.services = running.enter_context(SecureSuite(suite, self.settings_of))
        self.key = self.services.make_key("premium", 1_000_000)
        self.hooks = running.enter_context(Receiver())
        self.hook = self.api.post(
            "/v1/webhooks", {"url": self.hooks.url, "events": ["email.received"]}
        )
        self.load = _Load(self.services, self.key, self.public.ca_file)

    def _mount(self) -> None:
        def mounted(name: str, **contents: str) -> MountedSecret:
            return MountedSecret(self.folder / "mount" / name, **contents)

        self.dsn = mounted("database", dsn=self.role.dsn)
        self.keys = mounted("keys", keys=_new_master_key())
        self.token = mounted("token", token=_new_token())
        self.admin_token = mounted("admin", token=_new_token())
        self.calls = mounted("calls", **_files_of(self.inner.issue("calls", _NAMES)))
        self.certificate = mounted("certificate", **_files_of(self.renew_public()))
        self.webhook_authorities = mounted("webhooks", ca=self.trusted)
        self.relay = mounted("relay", ca=self.trusted, password=_RELAY_FIRST)
        self.password = mounted("kafka", password=self.broker.password)
        self.kafka_tls = mounted(
            "kafka-tls", **_files_of(self.of_kafka.issue("client", "DNS:client"))
        )
        self.properties = mounted("kafka-properties", properties=self.properties_with(""))

    def properties_with(self, more: str) -> str:
        """Kafka's, and some more lines."""
        tls = self.kafka_tls
        return (
            "security.protocol=SASL_SSL\n"
            f"sasl.mechanism={SecureKafka.mechanism}\n"
            f"sasl.username={SecureKafka.user}\n"
            f"ssl.ca.location={tls.file('ca')}\n"
            f"ssl.certificate.location={tls.file('certificate')}\n"
            f"ssl.key.location={tls.file('key')}\n"
            f"broker.address.family=v4\n{more}"
        )

    def settings_of(self, service: str) -> Settings:
        """Returns the settings by name; of tempinboxctl, too."""
        settings = {
            "database": "",
            "database_file": self.dsn.file("dsn"),
            "kafka_brokers": self.broker.settings["kafka_brokers"],
            "kafka_properties_file": self.properties.file("properties"),
            "kafka_sasl_password_file": self.password.file("password"),
            "admin_token_file": self.admin_token.file("token"),
            "rpc_token_file": self.token.file("token"),
            "rpc_tls_certificate_file": self.calls.file("certificate"),
            "rpc_tls_key_file": self.calls.file("key"),
            "rpc_tls_ca_file": self.calls.file("ca"),
        }
        shown = {
            "tls_certificate_file": self.certificate.file("certificate"),
            "tls_key_file": self.certificate.file("key"),
        }
        keys = {"master_key_file": self.keys.file("keys")}
        own: dict[str, Settings] = {
            "webhook-dispatcher": keys | {"webhook_ca_file": self.webhook_authorities.file("ca")},
            "mail-ingest": shown | {"spool_directory": str(self.folder / "spool")},
            "gateway": shown | keys | self._settings_of_gateway(),
        }
        return settings | own.get(service, {})

    def _settings_of_gateway(self) -> Settings:
        return {
            "idempotency_ttl": _TTL,
            "mail_relay": self.postbox.address,
            "mail_relay_tls": "starttls",
            "mail_relay_from": "noreply@mail.example",
            "mail_relay_user": _RELAY_USER,
            "mail_relay_ca_file": self.relay.file("ca"),
            "mail_relay_password_file": self.relay.file("password"),
            "dashboard_url": "https://mail.example/dashboard",
        }

    @property
    def api(self) -> Api:
        """Returns the API of the account that the load uses."""
        return Api(_base(self.services.gateway), self.key, self.public.ca_file)

    def admins(self, *services: str) -> list[str]:
        """The operator's ports of these, or of all."""
        return [
            replica.admin
            for replica in self.services.replicas
            if not services or replica.service in services
        ]

    def events_arrive(self) -> None:
        """Returns when the load went on and each of its mails has its webhook."""
        self.load.goes_on()
        expected = set(self.load.mails)
        eventually(
            lambda: expected <= {it.webhook_id for it in self.hooks.requests},
            "each mail's webhook",
            seconds=60,
        )

    def reseal(self, *others: WebhookDispatcher) -> dict[str, Any]:
        """The webhooks' secrets, when all replicas have the same first key."""
        # By address: every address of a name is a replica, and localhost may be ::1 as well.
        replicas = ",".join(it.address for it in (self.services.dispatcher, *others))
        done: dict[str, Any] = self.services.operate(
            *("secrets", "reseal", "--idempotency-ttl", _TTL),
            *("--webhook-dispatcher-rpc", replicas),
        )
        return done


def _text(file: Path) -> str:
    return file.read_text(encoding="ascii")


@pytest.fixture
def world(suite: Suite, tmp_path: Path) -> Iterator[_World]:
    """Everything that has a secret."""
    with contextlib.ExitStack() as running:
        yield _World(suite, tmp_path, running)


def _rotate_database(world: _World) -> None:
    own = world.admins()
    world.role.change_password()
    with _reload(own, "database-file"):
        world.dsn.put(dsn=world.role.dsn)
    _all_have(own, "tempinbox_db_pool_dsn_current", 1)
    world.load.goes_on()

    # A wrong DSN harms nothing; rubbish is not even tried.
    for wrong, series in (
        (world.next_role.dsn.replace("%40", "x"), "tempinbox_db_pool_dsn_current"),
        ("rubbish\n", 'tempinbox_files_current{setting="database-file"}'),
    ):
        world.dsn.put(dsn=wrong)
        _all_have(own, series, 0)
        world.load.goes_on()

    # The new connections check the server's new certificate.
    world.renew_postgres()
    world.database.renew_certificate()
    with _reload(own, "database-file"):
        world.dsn.put(dsn=world.next_role.dsn)
    eventually(lambda: world.role.connections() == 0, "no connection of the old role")
    _all_have(own, "tempinbox_db_pool_dsn_current", 1)
    world.load.goes_on()


def _rotate_master_keys(world: _World) -> None:
    admins = world.admins(*_WITH_KEYS)
    old, new = Path(world.keys.file("keys")).read_text(), _new_master_key()
    _rotate_while_one_lags(world, old, new)
    done = eventually(
        lambda: found if (found := world.reseal())["keptAnswers"] == 0 else None,
        "no stored response needs the old key",
    )
    assert (done["remaining"], done["unopened"]) == ([], 0)
    world.keys.put(keys=new)
    _all_have(admins, _position(old), 0)
    world.events_arrive()


def _rotate_while_one_lags(world: _World, old: str, new: str) -> None:
    """Rotates while one replica's file has the old key first still: it opens everything, and
    nothing is resealed until it has caught up.
    """
    late = MountedSecret(world.folder / "late", keys=old + new)
    settings = world.settings_of("webhook-dispatcher") | {"master_key_file": late.file("keys")}
    with _ends_cleanly(WebhookDispatcher(world.suite, **settings)) as lagging:
        for content, position in ((old + new, 2), (new + old, 1)):
            world.keys.put(keys=content)
            _all_have(world.admins(*_WITH_KEYS), _position(new), position)
            world.load.goes_on()
        with pytest.raises(AssertionError, match="seals with the master key"):
            world.reseal(lagging)

        late.put(keys=new + old)
        _all_have([lagging.admin], _position(new), 1)
        assert world.reseal(lagging)["resealed"] > 0


def _rotate_token(world: _World) -> None:
    old, new = Path(world.token.file("token")).read_text(), _new_token()
    for content in (old + new, new + old, new):
        with _reload(world.admins(*_WITH_CALLS), "rpc-token-file"):
            world.token.put(token=content)
        _calls_go_on(world)


def _calls_go_on(world: _World) -> None:
    world.load.goes_on()
    # Requests alone do not show it: the gateway passes them uncounted where rate-limit is away.
    _all_have(world.admins("gateway"), "tempinbox_gateway_quota_fail_open ", 0)


def _rotate_admin_token(world: _World) -> None:
    old, new = Path(world.admin_token.file("token")).read_text(), _new_token()

    def statuses(token: str) -> set[int]:
        headers = {"Authorization": f"Bearer {token.strip()}"}
        return {
            requests.post(
                f"http://{admin}/log-level?level=info", headers=headers, timeout=5
            ).status_code
            for admin in world.admins()
        }

    assert statuses(new) == {401}
    world.admin_token.put(token=old + new)
    eventually(lambda: statuses(new) == {200}, "the new token is accepted everywhere")
    assert statuses(old) == {200}
    world.admin_token.put(token=new)
    eventually(lambda: statuses(old) == {401}, "the old token is refused everywhere")
    assert statuses(new) == {200}


def _rotate_certificates_of_calls(world: _World) -> None:
    own = world.admins(*_WITH_CALLS)
    renewed = _files_of(world.next_inner.issue("calls", _NAMES))
    old_authority = _text(world.inner.ca_file)
    for changed in (
        {"ca": old_authority + renewed["ca"]},
        {"certificate": renewed["certificate"], "key": renewed["key"]},
        {"ca": renewed["ca"]},
    ):
        with _reload(own, "rpc-tls-certificate-file"):
            world.calls.put(**changed)
        _calls_go_on(world)

    # Its connections are new, and it trusts the new authority alone.
    doctor = world.services.run_operator("doctor", "--partitions", "2", "--replication", "1")
    for name, address in world.services.calls.items():
        service = name.removesuffix("_rpc").replace("_", "-")
        answers = f"{service} at 127.0.0.1:{address.rpartition(':')[2]} answers"
        assert answers in doctor.stdout, doctor.stdout + doctor.stderr


def _rotate_certificate(world: _World) -> None:
    """Rotates the certificate of the API, and of STARTTLS."""
    trusting = client_context(world.public.ca_file)

    def shown_by_ingest() -> str:
        host, _, port = world.services.ingest.address.rpartition(":")
        with smtplib.SMTP(host, int(port), timeout=30) as connection:
            connection.starttls(context=trusting)
            assert isinstance(connection.sock, ssl.SSLSocket)
            return ssl.DER_cert_to_PEM_cert(connection.sock.getpeercert(True) or b"")

    def shown_by_gateway() -> str:
        host, _, port = world.services.gateway.address.rpartition(":")
        with (
            socket.create_connection((host, int(port)), timeout=30) as plain,
            trusting.wrap_socket(plain, server_hostname=host) as secure,
        ):
            return ssl.DER_cert_to_PEM_cert(secure.getpeercert(True) or b"")

    renewed = _files_of(world.renew_public())
    world.certificate.put(**renewed)
    eventually(
        lambda: all(
            shown().split() == renewed["certificate"].split()
            for shown in (shown_by_ingest, shown_by_gateway)
        ),
        "the renewed certificate is shown",
    )
    world.load.goes_on()


def _rotate_kafka_password(world: _World) -> None:
    own = world.admins(*_WITH_KAFKA)
    world.broker.change_password()
    with _reload(own, "kafka-sasl-password-file"):
        world.password.put(password=world.broker.password)
    world.events_arrive()


def _rotate_kafka_properties(world: _World) -> None:
    """All clients are new then, so they have signed in with what counts now."""
    own = world.admins(*_WITH_KAFKA)
    reloads = 'tempinbox_file_reloads_total{setting="kafka-properties-file"}'
    before = world.services.ingest.metric(reloads)
    with _reload(own, "kafka-properties-file"):
        world.properties.put(properties=world.properties_with("linger.ms=1\n"))
    eventually(
        lambda: world.services.ingest.metric(reloads) >= before + _CLIENTS_OF_INGEST,
        "each client has the new properties",
        seconds=60,
    )
    world.events_arrive()

    world.properties.put(properties="rubbish\n")
    _all_have(own, 'tempinbox_files_current{setting="kafka-properties-file"}', 0)
    world.events_arrive()

    with _reload(own, "kafka-properties-file"):
        world.properties.put(properties=world.properties_with(""))
    world.events_arrive()


def _rotate_kafka_certificates(world: _World) -> None:
    own = world.admins(*_WITH_KAFKA)
    renewed = _files_of(world.next_of_kafka.issue("client", "DNS:client"))
    with _reload(own, "kafka-properties-file"):
        world.kafka_tls.put(ca=_text(world.of_kafka.ca_file) + renewed["ca"])
    world.events_arrive()
    world.broker.use_certificate(world.next_of_kafka.issue("broker", _NAMES))
    for changed in (
        {"certificate": renewed["certificate"], "key": renewed["key"]},
        {"ca": renewed["ca"]},
    ):
        with _reload(own, "kafka-properties-file"):
            world.kafka_tls.put(**changed)
        world.events_arrive()
    # The readers of whole topics are current again, too.
    eventually(
        lambda: all(replica.is_ready() for replica in world.services.replicas), "all are ready"
    )


def _rotate_webhook_authorities(world: _World) -> None:
    api = world.api
    # Each has TLS sessions of its own, which may be resumed while its certificate is trusted.
    used, unused = (
        api.post("/v1/webhooks", {"url": world.receiver.url, "events": ["inbox.expired"]})
        for _ in range(2)
    )

    def succeeds(hook: dict[str, Any]) -> bool:
        sent = api.post(f"/v1/webhooks/{hook['webhookId']}/test")
        return bool(sent["status"] == "succeeded")

    assert succeeds(used)
    renewed, _ = _self_signed(world.folder / "receiver")
    own = world.admins("webhook-dispatcher")
    with _reload(own, "webhook-ca-file"):
        world.webhook_authorities.put(ca=world.trusted + renewed)
    assert succeeds(used)
    world.receiver.use_certificate(world.folder / "receiver")
    with _reload(own, "webhook-ca-file"):
        world.webhook_authorities.put(ca=renewed)
    assert succeeds(used)
    world.receiver.use_certificate(world.folder / "trusted")
    assert not succeeds(unused), "by what is not trusted any more"
    world.load.goes_on()


def _letter(world: _World) -> None:
    visitor = Dashboard(_base(world.services.gateway), ca_file=world.public.ca_file)
    address = f"{uuid.uuid4().hex[:12]}@example.com"
    greeted = world.postbox.greeted
    answer = visitor.call(
        "POST", "/accounts", json={"email": address, "password": "a good password"}
    )
    assert answer.status_code == 202, answer.text
    letter = world.postbox.next()
    assert letter["To"] == address
    # One before STARTTLS, one after it.
    assert world.postbox.greeted - greeted == 2, "sent at once, not at a second try"


def _rotate_relay(world: _World) -> None:
    _letter(world)
    renewed, _ = _self_signed(world.folder / "relay")
    own = world.admins("gateway")
    with _reload(own, "mail-relay-ca-file"):
        world.relay.put(ca=world.trusted + renewed)
    world.postbox.use_certificate(world.folder / "relay")
    world.postbox.use_password(_RELAY_USER, _RELAY_SECOND)
    with _reload(own, "mail-relay-password-file"):
        world.relay.put(ca=renewed, password=_RELAY_SECOND)
    _letter(world)
    assert world.postbox.refused == []
    world.load.goes_on()


def test_every_secret_is_replaced_under_load(world: _World) -> None:
    with world.load.running():
        world.load.goes_on()
        for rotate in (
            _rotate_database,
            _rotate_master_keys,
            _rotate_token,
            _rotate_admin_token,
            _rotate_certificates_of_calls,
            _rotate_certificate,
            _rotate_kafka_password,
            _rotate_kafka_properties,
            _rotate_kafka_certificates,
            _rotate_webhook_authorities,
            _rotate_relay,
        ):
            rotate(world)
        world.events_arrive()

    assert world.load.failures == []
    eventually(
        lambda: set(world.load.mails) <= {it.webhook_id for it in world.hooks.requests},
        "each mail's webhook",
        seconds=30,
    )
    for request in world.hooks.requests:
        request.verify(world.hook["secret"])
