"""The shell lines of docs/operations do what the pages say: each block is run as it stands there,
with this machine's addresses and files in place of the examples'.
"""

import contextlib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from dev import librdkafka, pages, paths
from dev.pages import Block
from dev.ports import free_port
from harness import (
    Account,
    Api,
    Authority,
    Cluster,
    Gateway,
    Inbox,
    MailIngest,
    RateLimit,
    Receiver,
    Replica,
    SecureKafka,
    SecureSuite,
    Suite,
    WebhookDispatcher,
    eventually,
    send,
    write_acl_tool,
)
from harness.secure_suite import HOST, Settings, rpc_tls_settings

_PAGES = paths.ROOT / "docs" / "operations"
_SERVICES: list[type[Replica]] = [Gateway, Inbox, MailIngest, RateLimit, WebhookDispatcher]
_PREFIX = "staging."


def _found(page: str, start: str) -> Block:
    return next(it for it in pages.blocks(_PAGES / page) if it.text.startswith(start))


@dataclass
class _Shell:
    """A folder with the checkout's tools in it, and the programs of the suite."""

    suite: Suite
    folder: Path
    environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        for name in ("deploy", "tools", "dev"):
            (self.folder / name).symlink_to(paths.ROOT / name)
        tools = self.folder / "bin"
        tools.mkdir()
        # The suite's own, which knows where the suite is.
        self._write_tool(tools / "tempinboxctl", [str(paths.ROOT / "dev"), "ctl", "--"])
        write_acl_tool(tools)
        programs = self.suite.program("tempinbox-gateway").parent
        # PostgreSQL's tools refuse a server of a later version than their own.
        server = Path(f"/proc/{self.suite['POSTGRES_PID']}/exe").resolve().parent
        path = [str(tools), str(programs), str(server), os.environ["PATH"]]
        self.environment = dict(os.environ) | {"PATH": ":".join(path)}

    @staticmethod
    def _write_tool(file: Path, command: list[str]) -> None:
        file.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
        file.chmod(0o755)

    def _command(self, text: str, swaps: dict[str, str]) -> list[str]:
        for example, ours in swaps.items():
            assert example in text, f"{example} is not in {text}"
            text = text.replace(example, ours)
        return ["bash", "-euo", "pipefail", "-c", text]

    def run(self, text: str) -> str:
        """Runs it and returns what it printed; it has to succeed."""
        return self.run_with({}, text)

    def run_with(self, swaps: dict[str, str], text: str) -> str:
        """Runs it with other texts in place of those of the page."""
        done = subprocess.run(
            self._command(text, swaps),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"{text}\n{done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    @contextlib.contextmanager
    def running(self, swaps: dict[str, str], text: str) -> Iterator[Path]:
        """Keeps it running until the end of the block; yields the file with what is printed
        meanwhile.
        """
        printed = self.folder / "printed"
        with printed.open("wb") as output:
            process = subprocess.Popen(
                self._command(text, swaps),
                cwd=self.folder,
                env=self.environment | {"PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            yield printed
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def check_settings(self, text: str) -> None:
        """The lines are settings, and every service that knows them takes them."""
        shown = self.run(f"set -a\n{text}\nenv -0 > settings")
        assert not shown, shown
        lines = (self.folder / "settings").read_text(encoding="utf-8").split("\0")
        given = dict(line.split("=", 1) for line in lines if "=" in line)
        names = set(re.findall(r"^(?:export )?(\w+)=", text, re.MULTILINE))
        takers = [service for service in _SERVICES if _knows(self.suite, service, names)]
        assert takers, names
        for service in takers:
            environment = service.settings_of(self.suite) | {name: given[name] for name in names}
            done = subprocess.run(
                [self.suite.program(f"tempinbox-{service.service}"), "--check-config"],
                env=environment,
                capture_output=True,
                text=True,
                timeout=30,
            )
            assert done.returncode == 0, f"{service.service}: {done.stdout}{done.stderr}"


def _knows(suite: Suite, service: type[Replica], names: set[str]) -> bool:
    program = suite.program(f"tempinbox-{service.service}")
    printed = subprocess.run(
        [program, "--print-settings"], capture_output=True, check=True, timeout=30
    )
    settings = json.loads(printed.stdout)["settings"]
    known = {setting["environment"] for setting in settings}
    # OpenTelemetry's own names set ours.
    return {name if name in known else f"TEMPINBOX_{name}" for name in names} <= known


def _wait_for_listener(address: str) -> None:
    host, _, port = address.rpartition(":")

    def listens() -> bool:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
            return True
        return False

    eventually(listens, f"somebody listens at {address}", seconds=30)


# The function that runs each block.


def _settings(shell: _Shell, block: Block) -> None:
    shell.check_settings(block.text)


def _base_backup(shell: _Shell, block: Block) -> None:
    server = shell.suite["DATABASE"].rpartition("/")[0]
    swaps = {
        "postgresql://backup@db.example.com/postgres": f"{server}/postgres",
        "/backup/base-2026-11-21": "base",
    }
    shell.run_with(swaps, block.text)

    assert (shell.folder / "base" / "backup_label").exists()


def _activate_a_key(shell: _Shell, block: Block) -> None:
    account = Account.make(shell.suite)
    (key,) = shell.suite.operate("key", "list", account.email)["keys"]
    swaps = {
        "ops@example.com": account.email,
        "01934f2f-0a4e-7c11-8a36-93d02c5b7e10": key["keyId"],
    }
    shown = shell.run_with(swaps, block.text)

    assert key["keyId"] in shown


def _haproxy(shell: _Shell, block: Block) -> None:
    address, proxied = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    inbox = Account.make(shell.suite).api.new_inbox()
    with (
        MailIngest(
            shell.suite,
            proxy_listen=proxied,
            proxy_networks="127.0.0.0/8",
            spool_directory=str(shell.folder / "spool"),
        ),
        shell.running({":25 ": f"{address} ", "10.0.0.11:2526": proxied}, block.text),
    ):
        _wait_for_listener(address)
        assert send(shell.suite, inbox["emailAddress"], server=address).is_accepted


def _proxy_header(shell: _Shell, block: Block) -> None:
    proxied = f"127.0.0.1:{free_port()}"
    with MailIngest(
        shell.suite,
        proxy_listen=proxied,
        proxy_networks="127.0.0.0/8",
        spool_directory=str(shell.folder / "spool"),
    ) as ingest:
        said = shell.run_with({"10.0.0.11:2526": proxied}, block.text)

        assert "< 250" in said
        assert ingest.metric("tempinbox_mail_ingest_proxy_headers_total") == 1


def _prefixed_topics(shell: _Shell, block: Block) -> None:
    swaps = {
        "--partitions 48": "--partitions 1",
        "--replication 3": "--replication 1",
        # The database of the suite has events that the topics with this prefix lack, so the
        # program itself is asked, which knows none.
        "tempinboxctl doctor": f"env -u TEMPINBOX_DATABASE {shell.suite.program('tempinboxctl')}"
        f" doctor --kafka-brokers {shell.suite['KAFKA']} --partitions 1 --replication 1",
    }
    try:
        shown = shell.run_with(swaps, block.text)
    finally:
        operator = AdminClient({"bootstrap.servers": shell.suite["KAFKA"]})
        topics = [it for it in operator.list_topics(timeout=10).topics if it.startswith(_PREFIX)]
        for done in operator.delete_topics(topics).values() if topics else []:
            done.result(30)

    assert f"{_PREFIX}email.received" in topics
    assert f"{_PREFIX}email.received" in shown


def _swap_kafka_files(shell: _Shell, block: Block, properties_start: str, secret: str) -> str:
    """Returns the block with files of the folder: the properties of the page, and a secret."""
    secret_file, properties = shell.folder / "secret", shell.folder / "kafka.properties"
    secret_file.write_text("a phrase\n", encoding="ascii")
    properties.write_text(_found("kafka.md", properties_start).text, encoding="ascii")
    swapped = block.text.replace("/etc/tempinbox/kafka.properties", str(properties)).replace(
        secret, str(secret_file)
    )
    assert swapped.count(str(shell.folder)) == 2
    return swapped


def _kafka_files(shell: _Shell, block: Block) -> None:
    password = "/run/secrets/kafka/password"  # noqa: S105 - a file
    shell.check_settings(_swap_kafka_files(shell, block, "security.protocol", password))


def _token_files(shell: _Shell, block: Block) -> None:
    client_secret = "/run/secrets/kafka/client-secret"  # noqa: S105 - a file
    swapped = _swap_kafka_files(shell, block, "sasl.mechanism = OAUTHBEARER", client_secret)
    if librdkafka.has_oidc():
        shell.check_settings(swapped)
    else:
        with pytest.raises(AssertionError, match="needs a librdkafka built with libcurl"):
            shell.check_settings(swapped)


def _rights(shell: _Shell, block: Block) -> None:
    """They are all that the services need."""
    authority = Authority(shell.folder / "authority")
    with (
        SecureKafka(authority.issue("kafka", f"DNS:{HOST}"), asks_for_rights=True) as broker,
        Cluster(shell.suite) as database,
    ):
        (shell.folder / "admin.properties").touch()
        swaps = {
            "kafka:9093": broker.internal,
            "User:tempinbox-staging": f"User:{SecureKafka.user}",
        }
        shell.run_with(swaps, block.text)
        common = {"database": database.dsn, "kafka_prefix": _PREFIX}

        def settings_of(service: str) -> Settings:
            tls = rpc_tls_settings(authority.issue(service, f"DNS:{HOST}"))
            # The operator has rights of another kind.
            reached = {"kafka_brokers": broker.internal}
            spool = {"spool_directory": str(shell.folder / "spool")}
            return common | tls | spool | (reached if service == "operator" else broker.settings)

        with SecureSuite(shell.suite, settings_of) as services, Receiver() as receiver:
            api = Api(f"http://{services.gateway.address}", services.make_key("premium", 1_000))
            api.post("/v1/webhooks", {"url": receiver.url, "events": ["email.received"]})
            to = api.new_inbox()["emailAddress"]
            sent = send(shell.suite, to, server=services.ingest.address)
            assert sent.is_accepted
            receiver.wait_for(lambda it: it.webhook_id == sent.email_id, "its webhook")


def _files_in_use(shell: _Shell, block: Block) -> None:
    gateway = shell.suite.of_each("gateway", "ADMIN")[0]
    shown = shell.run_with({"127.0.0.1:9090": gateway}, block.text)

    assert 'tempinbox_files_current{setting="rpc-token-file"} 1' in shown
    assert "tempinbox_master_key_position{" in shown


def _dsn_file(shell: _Shell, block: Block) -> None:
    shell.run(f"PASSWORD=p%40ss\n{block.text}")

    (line,) = (shell.folder / "database").read_text(encoding="ascii").splitlines()
    assert ":p%40ss@" in line
    shell.check_settings(f"TEMPINBOX_DATABASE=\nTEMPINBOX_DATABASE_FILE={shell.folder}/database")


def _certificates(shell: _Shell, block: Block) -> None:
    assert shell.run(block.text).count("certificate.pem: OK") == 5


def _make_certificates(shell: _Shell) -> None:
    shell.run(_found("tls.md", "openssl req").text)


def _tls_files(shell: _Shell, block: Block) -> None:
    _make_certificates(shell)
    assert block.text.count("/etc/tempinbox/tls") == 3
    shell.check_settings(block.text.replace("/etc/tempinbox/tls", str(shell.folder / "gateway")))


def _handshake(shell: _Shell, block: Block) -> None:
    _make_certificates(shell)
    with Inbox(shell.suite, **rpc_tls_settings(shell.folder / "inbox")) as inbox:
        shown = shell.run_with({"inbox:9101": inbox.address}, block.text)

    assert "Verify return code: 0 (ok)" in shown


def _printed_traces(shell: _Shell, block: Block) -> None:
    ingest, admin = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    settings = MailIngest.settings_of(shell.suite) | {
        "TEMPINBOX_SMTP_LISTEN": ingest,
        "TEMPINBOX_ADMIN_LISTEN": admin,
        "TEMPINBOX_SPOOL_DIRECTORY": str(shell.folder / "spool"),
    }
    (shell.folder / "mail-ingest.conf").write_text(
        "".join(
            f"{name.removeprefix('TEMPINBOX_').lower().replace('_', '-')} = {value}\n"
            for name, value in settings.items()
            if name.startswith("TEMPINBOX_") and _knows(shell.suite, MailIngest, {name})
        ),
        encoding="utf-8",
    )
    inbox = Account.make(shell.suite).api.new_inbox()
    with shell.running({"4318": str(free_port())}, block.text) as printed:
        _wait_for_listener(ingest)
        assert send(shell.suite, inbox["emailAddress"], server=ingest).is_accepted
        eventually(
            lambda: "smtp transaction" in printed.read_text(encoding="utf-8"),
            "the trace is printed",
            seconds=30,
        )


_RUN: dict[tuple[str, str], Callable[[_Shell, Block], None]] = {
    ("backup.md", "pg_basebackup"): _base_backup,
    ("backup.md", "tempinboxctl key list"): _activate_a_key,
    ("balancers.md", "TEMPINBOX_PROXY_LISTEN"): _settings,
    ("balancers.md", "haproxy -c"): _haproxy,
    ("balancers.md", "curl"): _proxy_header,
    ("kafka.md", "TEMPINBOX_KAFKA_PREFIX"): _settings,
    ("kafka.md", "tempinboxctl topics apply"): _prefixed_topics,
    ("kafka.md", "TEMPINBOX_KAFKA_PROPERTIES_FILE"): _kafka_files,
    ("kafka.md", "TEMPINBOX_KAFKA_SASL_CLIENT_SECRET_FILE"): _token_files,
    ("kafka.md", "kafka-acls.sh"): _rights,
    ("secrets.md", "curl"): _files_in_use,
    ("secrets.md", "printf"): _dsn_file,
    ("tls.md", "openssl req"): _certificates,
    ("tls.md", "TEMPINBOX_RPC_TLS"): _tls_files,
    ("tls.md", "openssl s_client"): _handshake,
    ("tls.md", "TEMPINBOX_DATABASE"): _settings,
    ("tracing.md", "export OTEL"): _settings,
    ("tracing.md", "python3 tools/otlp_print.py"): _printed_traces,
}
# And what would not run here, with the reason.
_REHEARSED = "./dev chaos restore does these steps, and counts what is missing"
_ON_DEBIAN = "it changes a machine that runs systemd; tests/tools has its units verified"
_NOT_RUN = {
    ("backup.md", "psql"): _REHEARSED,
    ("backup.md", "cp -a"): _REHEARSED,
    ("backup.md", "export TEMPINBOX_DATABASE"): _REHEARSED,
    ("backup.md", "kafka-consumer-groups.sh"): "Kafka's tools are not among the jars of ./dev",
    ("linux.md", "version="): _ON_DEBIAN,
    ("linux.md", "install"): _ON_DEBIAN,
    ("linux.md", "systemctl enable"): _ON_DEBIAN,
    ("linux.md", "ln"): _ON_DEBIAN,
    ("upgrade.md", "helm upgrade"): "it needs a cluster: ./dev k8s does these steps",
    ("upgrade.md", "helm history"): "it needs a cluster: ./dev k8s does these steps",
    ("upgrade.md", "./dev chaos upgrade"): "it builds an older release, which takes minutes",
}
_PAGES_RUN = sorted({page for page, _ in [*_RUN, *_NOT_RUN]} | {"metrics.md"})


@pytest.fixture
def shell(suite: Suite, tmp_path: Path) -> _Shell:
    """Makes a shell in a folder of its own."""
    return _Shell(suite, tmp_path)


def _shell_blocks() -> list[Block]:
    found = [it for page in _PAGES_RUN for it in pages.blocks(_PAGES / page)]
    return [it for it in found if it.language == "sh"]


def _starts(block: Block, known: tuple[str, str]) -> bool:
    return block.page == known[0] and block.text.startswith(known[1])


@pytest.mark.parametrize(("page", "start"), _RUN)
def test_a_shell_block_does_what_its_page_says(shell: _Shell, page: str, start: str) -> None:
    _RUN[page, start](shell, _found(page, start))


def test_every_shell_block_is_run_or_has_a_reason() -> None:
    known = [*_RUN, *_NOT_RUN]

    for block in _shell_blocks():
        assert sum(_starts(block, it) for it in known) == 1, str(block)
    for it in known:
        assert any(_starts(block, it) for block in _shell_blocks()), it
