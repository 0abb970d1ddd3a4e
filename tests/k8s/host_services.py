"""Runs what a cluster finds outside itself: PostgreSQL, three Kafka brokers, Prometheus, the lag.

All of it runs in the cluster's network, is `host.cluster` to pods, and speaks TLS with certificates
of one authority. Runs inside.
"""

import json
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dev import kafka, postgres
from dev.children import ChildSpec
from dev.terminal import fail
from dev.waiting import wait_until
from harness import Authority

from k8s import daemons
from k8s.layout import HOST, HOST_ADDRESS, LOGS, STATE

FOLDER = STATE / "host-services"
POSTGRES_PORT = 5432
MAX_CONNECTIONS = 200
BROKERS = 3
_BROKER_PORTS = [(9092 + number, 19092 + number) for number in range(BROKERS)]
KAFKA_USER = "tempinbox"
MECHANISM = "SCRAM-SHA-512"
PROMETHEUS_PORT = 9090
LAG_PORT = 7443


@dataclass
class Secrets:
    """Passwords as they are now; a rotation changes them."""

    postgres: str
    kafka: str

    def save(self) -> None:
        """Writes them for the next start, readable by root alone."""
        path = FOLDER / "secrets.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


def known_secrets() -> Secrets:
    """Made at the first start."""
    path = FOLDER / "secrets.json"
    if path.exists():
        return Secrets(**json.loads(path.read_text(encoding="utf-8")))
    made = Secrets(secrets.token_hex(16), secrets.token_hex(16))
    made.save()
    return made


def authority() -> Authority:
    """Returns the authority of every certificate beside the cluster and in the pods."""
    return Authority(FOLDER / "authority")


class Database(postgres.Server):
    """Reached by name, with TLS only."""

    def spec(self, logs: Path) -> ChildSpec:
        made = super().spec(logs)
        for setting in (
            "listen_addresses=*",
            f"max_connections={MAX_CONNECTIONS}",
            "ssl=on",
            "shared_buffers=128MB",
            "log_connections=off",
        ):
            made.argv.extend(["-c", setting])
        return made


class Brokers(kafka.Cluster):
    """Three nodes whose only listener for clients is SASL_SSL."""

    @property
    def brokers(self) -> str:
        return ",".join(f"{HOST}:{listener}" for listener, _ in self.ports)

    def _properties(self, number: int, folder: Path) -> dict[str, object]:
        listener, controller = self.ports[number - 1]
        login = (
            "org.apache.kafka.common.security.scram.ScramLoginModule required "
            f'username="{KAFKA_USER}" password="{known_secrets().kafka}";'
        )
        return super()._properties(number, folder) | {
            # Brokers speak among themselves without a password, which a rotation changes.
            "listeners": (
                f"SASL_SSL://0.0.0.0:{listener},INTERNAL://127.0.0.1:{listener + 100},"
                f"CONTROLLER://127.0.0.1:{controller}"
            ),
            "advertised.listeners": (
                f"SASL_SSL://{HOST}:{listener},INTERNAL://127.0.0.1:{listener + 100}"
            ),
            "listener.security.protocol.map": (
                "SASL_SSL:SASL_SSL,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT"
            ),
            "inter.broker.listener.name": "INTERNAL",
            "broker.rack": f"z{number}",
            "sasl.enabled.mechanisms": MECHANISM,
            f"listener.name.sasl_ssl.{MECHANISM.lower()}.sasl.jaas.config": login,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": _pem("certificate.pem"),
            "ssl.keystore.key": _pem("key.pem"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": _pem("ca.pem"),
        }

    def _format_options(self) -> list[str]:
        user = f'[name="{KAFKA_USER}",password="{known_secrets().kafka}"]'
        return ["--add-scram", f"{MECHANISM}={user}"]

    def _watched_brokers(self) -> str:
        """The librdkafka of kcat may be one that clients' listener refuses."""
        return ",".join(f"127.0.0.1:{listener + 100}" for listener, _ in self.ports)


_IDENTITY = FOLDER / "authority" / HOST


def _pem(name: str) -> str:
    """Returns a file as a value of a properties file, which is one line."""
    return (_IDENTITY / name).read_text(encoding="ascii").replace("\n", "\\n")


def database() -> Database:
    """PostgreSQL."""
    return Database(FOLDER / "postgres", POSTGRES_PORT, known_secrets().postgres)


def brokers() -> Brokers:
    """Kafka."""
    return Brokers(FOLDER / "kafka", _BROKER_PORTS)


def dsn(password: str | None = None) -> str:
    """Returns the DSN for pods; authorities and mode come by other settings."""
    secret = password or known_secrets().postgres
    return f"postgresql://{postgres.ROLE}:{secret}@{HOST}:{POSTGRES_PORT}/{postgres.ROLE}"


def start() -> None:
    """Starts what does not run; returns when all answer."""
    FOLDER.mkdir(exist_ok=True)
    FOLDER.chmod(0o711)
    known_secrets()
    if not _IDENTITY.exists():
        authority().issue(HOST, f"DNS:{HOST},DNS:localhost,IP:{HOST_ADDRESS},IP:127.0.0.1")
    start_database()
    start_brokers()
    brokers().wait_ready(180)
    database().ensure_database()


# PostgreSQL.


def start_database() -> None:
    """Returns when it takes connections."""
    server = database()
    server.data.mkdir(exist_ok=True)
    postgres.make_folder(server.data)
    if not (server.data / "PG_VERSION").exists():
        postgres.initialize(server.data, server.password)
        for source, target in (("certificate.pem", "server.crt"), ("key.pem", "server.key")):
            shutil.copyfile(_IDENTITY / source, server.data / target)
            (server.data / target).chmod(0o600)
            shutil.chown(server.data / target, postgres.OS_USER, postgres.OS_USER)
        access = server.data / "pg_hba.conf"
        lines = re.sub(
            r"^host\b", "hostssl", access.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        access.write_text(lines + "hostssl all all 0.0.0.0/0 scram-sha-256\n", encoding="utf-8")
    spec = server.spec(LOGS)
    daemons.start("postgres", spec.argv, user=spec.user, folder=server.data)
    server.wait_ready()


def stop_database() -> None:
    """Connections break at once, as when its machine is lost."""
    daemons.stop("postgres", signal.SIGQUIT)


def in_background(statements: str) -> "subprocess.Popen[bytes]":
    """A session that runs them by itself."""
    program = postgres.PROGRAMS / "psql"
    return subprocess.Popen(
        [str(program), "-XAtq", "-d", database().dsn(postgres.ROLE), "-c", statements],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def end_statements(like: str) -> None:
    """Ends the sessions whose statement looks so."""
    database().query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "  # noqa: S608 - of this package
        f"WHERE query LIKE '{like}' AND pid <> pg_backend_pid()"
    )


def change_database_password(password: str) -> None:
    """Connections that are there stay; new ones need it."""
    database().query(f"ALTER ROLE {postgres.ROLE} PASSWORD '{password}'")
    changed = known_secrets()
    changed.postgres = password
    changed.save()


# Kafka.


def start_brokers(numbers: range = range(1, BROKERS + 1)) -> None:
    """Does not wait until they are ready. `./dev k8s run` has brought Kafka's jars."""
    (FOLDER / "kafka").mkdir(exist_ok=True)
    specs = brokers().specs(LOGS)
    for number in numbers:
        spec = specs[number - 1]
        daemons.start(f"kafka-{number}", spec.argv, folder=Path(spec.folder))


def stop_broker(number: int, sent: signal.Signals = signal.SIGTERM) -> None:
    """Returns when it has ended."""
    daemons.stop(f"kafka-{number}", sent)


def client_properties() -> dict[str, str]:
    """Returns librdkafka's properties for clients beside the cluster."""
    return {
        "bootstrap.servers": brokers().brokers,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": MECHANISM,
        "sasl.username": KAFKA_USER,
        "sasl.password": known_secrets().kafka,
        "ssl.ca.location": f"{_IDENTITY}/ca.pem",
        "broker.address.family": "v4",
    }


def change_kafka_password(password: str) -> None:
    """Connections that are there stay; new ones need it."""
    command = ["java", "-cp", kafka.class_path(kafka.VERSION), "kafka.admin.ConfigCommand"]
    command += ["--bootstrap-server", f"127.0.0.1:{_BROKER_PORTS[0][0] + 100}", "--alter"]
    command += ["--entity-type", "users", "--entity-name", KAFKA_USER]
    command += ["--add-config", f"{MECHANISM}=[password={password}]"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"Kafka did not take the password: {done.stdout}{done.stderr}")
    changed = known_secrets()
    changed.kafka = password
    changed.save()


# Prometheus and the metric of lag.


def start_prometheus(rules: list[Path], targets: list[dict[str, Any]]) -> None:
    """Scrapes these targets, each a group as of `file_sd_configs`, and evaluates these rules."""
    folder = FOLDER / "prometheus"
    folder.mkdir(exist_ok=True)
    found = folder / "targets.json"
    found.write_text(json.dumps(targets, indent=1), encoding="utf-8")
    settings = {
        "global": {"scrape_interval": "5s", "evaluation_interval": "5s"},
        "rule_files": [str(path) for path in rules],
        "scrape_configs": [
            {
                "job_name": "tempinbox",
                "file_sd_configs": [{"files": [str(found)]}],
            }
        ],
    }
    (folder / "prometheus.yml").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    daemons.start(
        "prometheus",
        [
            "prometheus",
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address={HOST_ADDRESS}:{PROMETHEUS_PORT}",
            "--log.level=warn",
        ],
    )


def start_lag_metric() -> None:
    """The server of external.metrics.k8s.io; returns when it answers."""
    certificate = _IDENTITY / "certificate.pem"
    program = [sys.executable, "-B", "-m", "k8s.lag_metric", str(LAG_PORT)]
    daemons.start("lag-metric", [*program, str(certificate), str(_IDENTITY / "key.pem")])
    ask = ["curl", "-sfk", "-o", "/dev/null", f"https://{HOST_ADDRESS}:{LAG_PORT}/"]
    wait_until(
        lambda: subprocess.run(ask).returncode == 0, time.monotonic() + 30, "the metric of lag"
    )
