"""A whole suite on this machine, in one data folder: bringing it up, changing it, taking it
down.
"""

import contextlib
import functools
import json
import secrets
import shutil
import subprocess
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dev import kafka, keys, paths, postgres, readiness, record, releases, services
from dev.ports import Ports
from dev.releases import Release
from dev.services import Replica, ServiceContext
from dev.supervision import Supervision
from dev.terminal import Failure, fail, item

PARTITIONS = 12
DEFAULT_DOMAIN = "inbox.localhost"
DEMO_EMAIL = "demo@example.com"
DEMO_PLAN = "premium"
_LOG_BYTES_KEPT = 64 * 1024 * 1024


@dataclass(frozen=True)
class SuiteOptions:
    """The options that the user gave for the suite; None leaves it as it is."""

    replicas: str | None = None
    brokers: int | None = None
    preset: str | None = None
    domain: str | None = None
    api_port: int | None = None
    smtp_port: int | None = None
    starttls: bool | None = None
    is_scratch: bool = False  # its database is for tests alone
    postgres_programs: Path = postgres.PROGRAMS  # which are not remembered


class Suite:
    """A data folder and the processes that run from it.

    Owns nothing itself: the supervisor does, so that any ./dev can work on it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.logs = self.folder / "logs"
        self.supervision = Supervision(self.folder)
        self._is_scratch = False
        self._postgres_programs = postgres.PROGRAMS
        self._record: record.Record | None = None
        self._release: Release | None = None

    @property
    def record(self) -> record.Record:
        """Returns what the folder remembers."""
        if self._record is None:
            self._record = record.find(self.folder) or fail(
                f"there is no suite in {self.folder}: ./dev up"
            )
        return self._record

    @property
    def release(self) -> Release:
        """Returns the release whose programs it runs."""
        return self._release or releases.this(self.record.preset)

    def use(self, release: Release) -> None:
        """Programs of another release from here on; what runs already goes on."""
        self._release = release

    def preset(self) -> str:
        """Returns the preset of its programs; release in a new suite."""
        known = record.find(self.folder)
        return known.preset if known else record.Record.preset

    def is_running(self) -> bool:
        """Returns whether its supervisor answers."""
        return self.supervision.is_running()

    # Bringing up.

    def start_infrastructure(self, options: SuiteOptions, outlives_caller: bool) -> None:
        """Supervisor, PostgreSQL with its database, Kafka. What runs already stays as it is."""
        self._prepare(options)
        running = self._start_supervisor(outlives_caller)
        self._choose_infrastructure_ports(running)
        if "postgres" not in running:
            postgres.initialize(self.server.data, self.server.password, self.server.programs)
            self.supervision.put(self.server.spec(self.logs))
        if "kafka-1" not in running:
            for spec in self.cluster.specs(self.logs):
                self.supervision.put(spec)
        started = time.monotonic()
        self.server.wait_ready()
        self.server.ensure_database()
        item("PostgreSQL", f"127.0.0.1:{self.server.port}")
        self.cluster.wait_ready()
        item(
            "Apache Kafka", f"{self.cluster.brokers} (ready in {time.monotonic() - started:.1f} s)"
        )

    def start_services(self, options: SuiteOptions) -> None:
        """Topics, schemas, the five services, and what the suite holds from the start: mail domain
        and demo account.
        """
        self.record.preset = options.preset or self.record.preset
        if options.starttls is not None:
            self.record.starttls = options.starttls
        self.apply_topics()
        self.migrate()
        self._run_replicas(options)
        self.operate("plan", "set", DEMO_PLAN, "--burst-per-second", "0")
        self._ensure_domain()
        self._ensure_account()
        self.record.save(self.folder)

    def _prepare(self, options: SuiteOptions) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(exist_ok=True)
        for log in self.logs.glob("*.log"):
            if log.stat().st_size > _LOG_BYTES_KEPT:
                log.rename(log.with_suffix(".log.1"))
        known = record.find(self.folder)
        chosen = known or record.Record(
            domain=options.domain or DEFAULT_DOMAIN, brokers=options.brokers or 1
        )
        if options.brokers not in (None, chosen.brokers):
            fail(
                f"this suite's data is spread over {chosen.brokers} broker(s); ./dev down --wipe "
                f"first to have {options.brokers}"
            )
        chosen.domain = options.domain or chosen.domain
        chosen.postgres_data = chosen.postgres_data or str(postgres.choose_folder(self.folder))
        self._is_scratch = options.is_scratch
        self._postgres_programs = options.postgres_programs
        self._record = chosen
        chosen.save(self.folder)
        kafka.ensure_jars()

    def _start_supervisor(self, outlives_caller: bool) -> set[str]:
        """Starts it where it does not run; answers the names of what runs."""
        if not self.is_running():
            self.supervision.shutdown()  # ends what a supervisor that was killed left behind
            self.supervision.start(outlives_caller)
        return set(self.supervision.status())

    def _choose_infrastructure_ports(self, running: set[str]) -> None:
        self._ports.take("postgres", in_use_by_suite="postgres" in running)
        for number in range(1, self.record.brokers + 1):
            for name in (f"kafka-{number}", f"kafka-{number}-controller"):
                self._ports.take(name, in_use_by_suite="kafka-1" in running)
        self.record.save(self.folder)

    def apply_topics(self, listed: Path | None = None) -> None:
        """Makes what the list (the release's where none is given) has and Kafka has not."""
        topics = listed or self.release.topics
        self.operate(
            "topics",
            "apply",
            str(topics),
            "--partitions",
            str(PARTITIONS),
            "--replication",
            str(self.cluster.replication),
        )
        item(
            "topics",
            f"{len(json.loads(topics.read_text(encoding='utf-8'))['topics'])}, of {PARTITIONS} "
            "partitions where the number is not fixed",
        )

    def migrate(self) -> None:
        """Brings the schemas to the release's."""
        program = str(self.release.program("tempinbox-migrate"))
        done = subprocess.run(
            [program, "--database", self.server.dsn()],
            env=paths.clean_environment(),
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            fail(f"tempinbox-migrate failed ({done.returncode}):\n{done.stdout}{done.stderr}")
        item("schemas", "up to date")

    def _run_replicas(self, options: SuiteOptions) -> None:
        running = set(self.supervision.status())
        self.record.replicas = services.parse_replicas(options.replicas, self.record.replicas)
        requested_ports = {"gateway": options.api_port, "mail-ingest": options.smtp_port}
        replicas = services.choose_replicas(
            self.record.replicas, self._ports, running, requested_ports
        )
        self.record.save(self.folder)
        started = time.monotonic()
        for replica in replicas:
            changed = self.supervision.put(services.spec(replica, replicas, self.context))
            if changed and replica.name in running:
                item(replica.name, "started anew")
                readiness.wait_all(
                    [replica], self.supervision, seconds=60
                )  # the others serve meanwhile
        surplus = (
            running
            - {replica.name for replica in replicas}
            - {name for name in running if name.startswith(("postgres", "kafka"))}
        )
        if surplus:
            self.supervision.remove(sorted(surplus))
            item("stopped", ", ".join(sorted(surplus)))
        readiness.wait_all(replicas, self.supervision, seconds=60)
        item("services", f"{len(replicas)} ready in {time.monotonic() - started:.1f} s")

    def _ensure_domain(self) -> None:
        known = {entry["domain"] for entry in self.operate_json("domain", "list")["domains"]}
        if self.record.domain not in known:
            self.operate("domain", "add", self.record.domain)
            self.operate("domain", "set", self.record.domain, "--subdomains", "on")

    def _ensure_account(self) -> None:
        if self.record.account:
            return
        password = secrets.token_urlsafe(12)
        made = self.operate_json(
            "account", "create", "--email", DEMO_EMAIL, "--plan", DEMO_PLAN, "--password", password
        )
        key = self.operate_json("key", "create", made["accountId"], "--label", "demo")
        self.record.account = record.Account(made["accountId"], DEMO_EMAIL, key["key"], password)

    def wait_ready(self, name: str) -> None:
        """Returns when the named process does its work again."""
        if name == "postgres":
            self.server.wait_ready()
        elif name.startswith("kafka"):
            self.cluster.wait_ready()
        else:
            readiness.wait_all(
                [it for it in self.replicas if it.name == name], self.supervision, seconds=60
            )

    # Taking down.

    def down(self, wipe: bool, keep_logs_in: Path | None = None) -> None:
        """Stops services, Kafka and PostgreSQL in this order; with `wipe` deletes the data too, and
        the logs but for a copy.
        """
        must_end_cleanly = not wipe or not kafka.has_class_archive()
        self.supervision.shutdown(quick_layers=0 if must_end_cleanly else 2)
        known = self._record = record.find(self.folder)
        if known:
            self.cluster.keep_class_archive()
        if keep_logs_in and self.logs.is_dir():
            shutil.copytree(self.logs, keep_logs_in)
        if wipe:
            if known and known.postgres_data:
                shutil.rmtree(known.postgres_data, ignore_errors=True)
            for name in (
                "postgres",
                "kafka",
                "keys",
                "logs",
                "suite.json",
                "state.json",
                "up.lock",
            ):
                _delete(self.folder / name)
            with contextlib.suppress(OSError):  # holds something of somebody else's
                self.folder.rmdir()

    # Its parts.

    @cached_property
    def _ports(self) -> Ports:
        return Ports(self.folder, self.record.ports)

    @property
    def server(self) -> postgres.Server:
        """Its PostgreSQL."""
        known = self.record
        return postgres.Server(
            Path(known.postgres_data),
            known.ports.get("postgres", 0),
            known.postgres_password,
            self._is_scratch,
            self._postgres_programs,
        )

    @property
    def cluster(self) -> kafka.Cluster:
        """Its Kafka."""
        ports = self.record.ports
        numbers = range(1, self.record.brokers + 1)
        return kafka.Cluster(
            self.folder / "kafka",
            [(ports.get(f"kafka-{n}", 0), ports.get(f"kafka-{n}-controller", 0)) for n in numbers],
        )

    @property
    def replicas(self) -> list[Replica]:
        """Every replica it should have."""
        ports = self.record.ports
        return [
            Replica(
                service,
                number,
                ports[f"{service}-{number}"],
                ports[f"{service}-{number}-admin"],
                # A suite that an older release made has none yet.
                services.submission_ports(
                    service, functools.partial(_port_of, ports, f"{service}-{number}")
                ),
            )
            for service in services.SERVICES
            for number in range(1, self.record.replicas.get(service, 0) + 1)
        ]

    @property
    def context(self) -> ServiceContext:
        """Returns the facts that its services get."""
        known = self.record
        made = keys.prepare(self.folder / "keys", f"mx.{known.domain}")
        return ServiceContext(
            self.release,
            self.server.dsn(),
            self.cluster.brokers,
            known.domain,
            made,
            str(self.logs),
            str(self.folder),
            known.starttls,
        )

    # The operator's command line.

    def operator_command(self, arguments: list[str]) -> tuple[list[str], dict[str, str]]:
        """Command and environment of tempinboxctl against this suite."""
        account = self.record.account
        settings = services.operator_environment(
            self.replicas, self.context, account.api_key if account else ""
        )
        return [str(self.release.program("tempinboxctl")), *arguments], {
            **paths.clean_environment(),
            **settings,
        }

    def operate(self, *arguments: str) -> str:
        """Runs tempinboxctl and answers what it printed; a failure of it is ours."""
        command, environment = self.operator_command(list(arguments))
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(
                (
                    f"tempinboxctl {' '.join(arguments[:2])} failed ({done.returncode}): "
                    f"{done.stdout}{done.stderr}"
                ).rstrip()
            )
        return done.stdout

    def operate_json(self, *arguments: str) -> Any:
        """The same, read as JSON."""
        return json.loads(self.operate(*arguments, "--output", "json"))


def _port_of(ports: dict[str, int], replica: str, kind: str) -> int:
    return ports.get(f"{replica}-{kind}", 0)


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
