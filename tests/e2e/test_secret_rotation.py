"""Every secret is replaced under load: no restart, no failed request, no lost webhook."""

import base64
import concurrent.futures
import contextlib
import os
import secrets
import smtplib
import ssl
import subprocess
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import requests
from harness import (
    SENDER,
    Account,
    Api,
    Dashboard,
    Gateway,
    Inbox,
    MailIngest,
    MountedSecret,
    Postbox,
    RateLimit,
    Receiver,
    Replica,
    Suite,
    WebhookDispatcher,
    eventually,
    make_certificate,
    queued_id,
)

_WORKERS = 2
_PAUSE_SECONDS = 0.02
_MORE = 6
_TTL = "5s"
_RELAY_USER, _RELAY_FIRST, _RELAY_SECOND = "tempinbox", "a first phrase", "a second phrase"
_WITH_KEYS = ("gateway", "webhook-dispatcher")
_WITH_TOKENS = ("gateway", "inbox", "rate-limit", "webhook-dispatcher")


def _sql(suite: Suite, statement: str) -> str:
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", suite["DATABASE"], "-c", statement]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


class _Role:
    """A role of PostgreSQL that the services may sign in as; gone at the end."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self.name = f"rotated_{uuid.uuid4().hex[:12]}"
        self._password = ""

    def __enter__(self) -> "_Role":
        _sql(self._suite, f"CREATE ROLE {self.name} LOGIN SUPERUSER")
        self.change_password()
        return self

    def __exit__(self, *_: object) -> None:
        _sql(
            self._suite,
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{self.name}'",
        )
        _sql(self._suite, f"REASSIGN OWNED BY {self.name} TO current_user")
        _sql(self._suite, f"DROP OWNED BY {self.name}")
        _sql(self._suite, f"DROP ROLE {self.name}")

    def change_password(self) -> None:
        """Connections that are open stay open."""
        self._password = secrets.token_urlsafe(12) + "@/:"
        _sql(self._suite, f"ALTER ROLE {self.name} PASSWORD '{self._password}'")

    @property
    def dsn(self) -> str:
        """The suite's database as this role."""
        at = urlsplit(self._suite["DATABASE"])
        return (
            f"postgresql://{self.name}:{quote(self._password, safe='')}"
            f"@{at.hostname}:{at.port}{at.path}\n"
        )

    def connections(self) -> int:
        """Of all replicas."""
        return int(
            _sql(
                self._suite,
                f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{self.name}'",
            )
        )


class _Load:
    """Clients that make an inbox, repeat the request, send the inbox a mail over TLS and list it,
    again and again. Whatever does not succeed at once is a failure.
    """

    def __init__(self, gateway: Gateway, ingest: MailIngest, account: Account) -> None:
        self._base = f"http://{gateway.address}"
        self._server = ingest.address
        self._key = account.key
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
        wanted = len(self.mails) + _MORE
        eventually(
            lambda: self.failures or len(self.mails) >= wanted, "the load goes on", seconds=30
        )
        assert self.failures == []

    def _work(self) -> None:
        api = Api(self._base, self._key)
        while not self._is_over.wait(_PAUSE_SECONDS):
            try:
                self._once(api)
            except (AssertionError, OSError) as problem:  # those of smtplib and requests, too
                self.failures.append(repr(problem))

    def _once(self, api: Api) -> None:
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
        unverified = ssl.create_default_context()
        unverified.check_hostname = False
        unverified.verify_mode = ssl.CERT_NONE
        with smtplib.SMTP(
            host, int(port), local_hostname="sender.example", timeout=30
        ) as connection:
            connection.starttls(context=unverified)
            connection.ehlo()
            connection.mail(SENDER)
            connection.rcpt(to)
            code, text = connection.data(b"Subject: Hello\r\n\r\nHello\r\n")
            assert code == 250, text
            return queued_id(f"250 {text.decode()}")


def _values(admin: str, series: str) -> list[float]:
    lines = requests.get(f"http://{admin}/metrics", timeout=5).text.splitlines()
    return [float(line.split()[-1]) for line in lines if line.startswith(series)]


class _Processes:
    """Replicas of a test's own and those of the suite, by their operator's ports."""

    def __init__(self, suite: Suite, own: list[Replica]) -> None:
        self._suite = suite
        self._own = own

    def of(self, *services: str) -> list[str]:
        """The addresses of both."""
        found = [replica.admin for replica in self._own if replica.service in services]
        for service in services:
            found += self._suite.of_each(service, "ADMIN")
        return found

    @property
    def own(self) -> list[str]:
        """Those of the test only."""
        return [replica.admin for replica in self._own]


def _all_have(admins: list[str], series: str, value: float) -> None:
    eventually(
        lambda: all(
            (values := _values(admin, series)) and set(values) == {value} for admin in admins
        ),
        f"{series} is {value} everywhere",
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
    )
    _all_have(admins, f'tempinbox_files_current{{setting="{setting}"}}', 1)


def _replace(file: Path, content: str) -> None:
    fresh = file.with_name(file.name + ".new")
    fresh.write_text(content)
    fresh.chmod(0o440)
    os.replace(fresh, file)


@contextlib.contextmanager
def _original_token(file: Path, processes: _Processes) -> Iterator[str]:
    """The token of the suite, which it has again afterwards."""
    original = file.read_text()
    try:
        yield original
    finally:
        accepted = file.read_text().splitlines()[0] + "\n"
        admins = processes.of(*_WITH_TOKENS)
        for content in (accepted + original, original + accepted, original):
            with _reload(admins, "rpc-token-file"):
                _replace(file, content)


def _position(key_line: str) -> str:
    return f'tempinbox_master_key_position{{key="{key_line.partition(":")[0]}"}}'


def _rotate_master_key(
    file: Path, old: str, new: str, admins: list[str], load: _Load | None
) -> None:
    """The new key comes into the file, and then to its first line."""
    for content, position in ((old + new, 2), (new + old, 1)):
        _replace(file, content)
        _all_have(admins, _position(new), position)
        if load:
            load.goes_on()


def _new_master_key() -> str:
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    return f"rotated-{uuid.uuid4().hex[:8]}:{key}\n"


def _reseal(suite: Suite, own: WebhookDispatcher, *others: WebhookDispatcher) -> dict[str, Any]:
    replicas = suite.of_each("webhook-dispatcher", "RPC")
    replicas += [replica.address for replica in (own, *others)]
    done: dict[str, Any] = suite.operate(
        *("secrets", "reseal", "--idempotency-ttl", _TTL),
        *("--webhook-dispatcher-rpc", ",".join(replicas)),
    )
    return done


@contextlib.contextmanager
def _ends_cleanly(replica: WebhookDispatcher) -> Iterator[WebhookDispatcher]:
    """Leaves its consumer group, so that the others need not miss it first."""
    with replica:
        yield replica
        replica.terminate()
        replica.wait()


def _letter(gateway: Gateway, postbox: Postbox) -> None:
    visitor = Dashboard(f"http://{gateway.address}")
    address = f"{uuid.uuid4().hex[:12]}@example.com"
    asked = visitor.call(
        "POST", "/accounts", json={"email": address, "password": "a good password"}
    )
    assert asked.status_code == 202, asked.text
    assert postbox.next(seconds=4.0)["To"] == address, "sent at once, not at a second try"


def _certificate(folder: Path) -> tuple[str, str]:
    folder.mkdir(exist_ok=True)
    make_certificate(folder, f"{uuid.uuid4().hex[:8]}.test")
    return (folder / "certificate.pem").read_text(), (folder / "key.pem").read_text()


class _World:
    """A replica of every service whose secrets are files, beside those of the suite."""

    def __init__(self, suite: Suite, folder: Path, running: contextlib.ExitStack) -> None:
        self.suite = suite
        self.folder = folder
        self.role, self.next_role = (running.enter_context(_Role(suite)) for _ in range(2))
        self.authority, key = _certificate(folder)
        self.secret = MountedSecret(
            folder / "mount",
            database=self.role.dsn,
            certificate=self.authority,
            key=key,
            webhook_authorities=self.authority,
            relay_authorities=self.authority,
            relay_password=_RELAY_FIRST,
        )
        self.postbox = running.enter_context(Postbox(folder, _RELAY_USER, _RELAY_FIRST, "starttls"))
        self.receiver = running.enter_context(Receiver(folder=folder))
        by_file = {"database": "", "database_file": self.secret.file("database")}
        self.inbox = running.enter_context(Inbox(suite, **by_file))
        self.rate_limit = running.enter_context(RateLimit(suite, **by_file))
        self.dispatcher = running.enter_context(
            _ends_cleanly(
                WebhookDispatcher(
                    suite, webhook_ca_file=self.secret.file("webhook_authorities"), **by_file
                )
            )
        )
        self.ingest = running.enter_context(
            MailIngest(
                suite,
                tls_certificate_file=self.secret.file("certificate"),
                tls_key_file=self.secret.file("key"),
                **by_file,
            )
        )
        self.gateway = running.enter_context(Gateway(suite, **self._gateway_settings(), **by_file))
        own = [self.inbox, self.rate_limit, self.dispatcher, self.ingest, self.gateway]
        self.processes = _Processes(suite, own)

    def _gateway_settings(self) -> dict[str, str]:
        return {
            "inbox_rpc": self.inbox.address,
            "rate_limit_rpc": self.rate_limit.address,
            "webhook_dispatcher_rpc": self.dispatcher.address,
            "idempotency_ttl": _TTL,
            "mail_relay": self.postbox.address,
            "mail_relay_tls": "starttls",
            "mail_relay_from": "noreply@mail.example",
            "mail_relay_user": _RELAY_USER,
            "mail_relay_ca_file": self.secret.file("relay_authorities"),
            "mail_relay_password_file": self.secret.file("relay_password"),
            "dashboard_url": "https://mail.example/dashboard",
        }

    def suite_file(self, setting: str) -> Path:
        """A file that the suite's own processes have, too."""
        return Path(Gateway.settings_of(self.suite)[f"TEMPINBOX_{setting}"])


@pytest.fixture
def world(suite: Suite, tmp_path: Path) -> Iterator[_World]:
    """Everything that has a secret."""
    with contextlib.ExitStack() as running:
        yield _World(suite, tmp_path, running)


def _rotate_database(world: _World, load: _Load) -> None:
    own = world.processes.own
    world.role.change_password()
    with _reload(own, "database-file"):
        world.secret.put(database=world.role.dsn)
    _all_have(own, "tempinbox_db_pool_dsn_current", 1)
    load.goes_on()

    # A wrong DSN harms nothing; rubbish is not even tried.
    for wrong, series in (
        (world.next_role.dsn.replace("%40", "x"), "tempinbox_db_pool_dsn_current"),
        ("rubbish\n", 'tempinbox_files_current{setting="database-file"}'),
    ):
        world.secret.put(database=wrong)
        _all_have(own, series, 0)
        load.goes_on()

    with _reload(own, "database-file"):
        world.secret.put(database=world.next_role.dsn)
    eventually(lambda: world.role.connections() == 0, "no connection of the old role")
    _all_have(own, "tempinbox_db_pool_dsn_current", 1)
    load.goes_on()


def _rotate_master_keys(world: _World, load: _Load) -> None:
    file = world.suite_file("MASTER_KEY_FILE")
    admins = world.processes.of(*_WITH_KEYS)
    old, new = file.read_text(), _new_master_key()
    try:
        _rotate_while_one_lags(world, load, admins, (old, new))
        done = eventually(
            lambda: (
                found
                if (found := _reseal(world.suite, world.dispatcher))["keptAnswers"] == 0
                else None
            ),
            "no stored response needs the old key",
        )
        assert (done["remaining"], done["unopened"]) == ([], 0)
        _replace(file, new)
        _all_have(admins, _position(old), 0)
        load.goes_on()
    finally:
        # The suite goes on with its own key.
        _rotate_master_key(file, new, old, admins, None)
        _reseal(world.suite, world.dispatcher)
        _replace(file, old)
        _all_have(admins, _position(new), 0)


def _rotate_while_one_lags(
    world: _World, load: _Load, admins: list[str], keys: tuple[str, str]
) -> None:
    """One replica's file has the old key first still: it opens everything, and nothing is resealed
    until it has caught up.
    """
    old, new = keys
    late = MountedSecret(world.folder / "late", keys=old + new)
    with _ends_cleanly(
        WebhookDispatcher(world.suite, master_key_file=late.file("keys"))
    ) as lagging:
        _rotate_master_key(world.suite_file("MASTER_KEY_FILE"), old, new, admins, load)
        with pytest.raises(AssertionError, match="seals with the master key"):
            _reseal(world.suite, world.dispatcher, lagging)

        late.put(keys=new + old)
        _all_have([lagging.admin], _position(new), 1)
        assert _reseal(world.suite, world.dispatcher, lagging)["resealed"] > 0


def _rotate_token(world: _World, load: _Load) -> None:
    file = world.suite_file("RPC_TOKEN_FILE")
    new = secrets.token_urlsafe(32) + "\n"
    admins = world.processes.of(*_WITH_TOKENS)
    with _original_token(file, world.processes) as old:
        for content in (old + new, new + old, new):
            with _reload(admins, "rpc-token-file"):
                _replace(file, content)
            load.goes_on()


def _rotate_certificate(world: _World, load: _Load) -> None:
    host, _, port = world.ingest.address.rpartition(":")

    def shown() -> str:
        with smtplib.SMTP(host, int(port), timeout=30) as connection:
            connection.starttls()
            assert isinstance(connection.sock, ssl.SSLSocket)
            return ssl.DER_cert_to_PEM_cert(connection.sock.getpeercert(True) or b"")

    certificate, key = _certificate(world.folder / "renewed")
    world.secret.put(certificate=certificate, key=key)
    eventually(lambda: shown().split() == certificate.split(), "the renewed certificate is shown")
    load.goes_on()


def _rotate_webhook_authorities(world: _World, load: _Load) -> None:
    api = Api(f"http://{world.gateway.address}", Account.make(world.suite).key)
    # Each has TLS sessions of its own, which may be resumed while its certificate is trusted.
    used, unused = (
        api.post("/v1/webhooks", {"url": world.receiver.url, "events": ["inbox.expired"]})
        for _ in range(2)
    )

    def succeeds(hook: dict[str, Any]) -> bool:
        sent = api.post(f"/v1/webhooks/{hook['webhookId']}/test")
        return bool(sent["status"] == "succeeded")

    assert succeeds(used)
    renewed, _ = _certificate(world.folder / "receiver")
    own = [world.dispatcher.admin]
    with _reload(own, "webhook-ca-file"):
        world.secret.put(webhook_authorities=world.authority + renewed)
    assert succeeds(used)
    world.receiver.use_certificate(world.folder / "receiver")
    with _reload(own, "webhook-ca-file"):
        world.secret.put(webhook_authorities=renewed)
    assert succeeds(used)
    world.receiver.use_certificate(world.folder)
    assert not succeeds(unused), "by what is not trusted any more"
    load.goes_on()


def _rotate_relay(world: _World, load: _Load) -> None:
    _letter(world.gateway, world.postbox)
    renewed, _ = _certificate(world.folder / "relay")
    own = [world.gateway.admin]
    with _reload(own, "mail-relay-ca-file"):
        world.secret.put(relay_authorities=world.authority + renewed)
    world.postbox.use_certificate(world.folder / "relay")
    world.postbox.use_password(_RELAY_USER, _RELAY_SECOND)
    with _reload(own, "mail-relay-password-file"):
        world.secret.put(relay_authorities=renewed, relay_password=_RELAY_SECOND)
    _letter(world.gateway, world.postbox)
    assert world.postbox.refused == []
    load.goes_on()


def test_every_secret_is_replaced_under_load(world: _World, account: Account) -> None:
    api = Api(f"http://{world.gateway.address}", account.key)
    load = _Load(world.gateway, world.ingest, account)
    with Receiver() as receiver:
        hook = api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})
        with load.running():
            load.goes_on()
            _rotate_database(world, load)
            _rotate_master_keys(world, load)
            _rotate_token(world, load)
            _rotate_certificate(world, load)
            _rotate_webhook_authorities(world, load)
            _rotate_relay(world, load)

        assert load.failures == []
        eventually(
            lambda: set(load.mails) <= {it.webhook_id for it in receiver.requests},
            "each mail's webhook",
            seconds=30,
        )
        for request in receiver.requests:
            request.verify(hook["secret"])
