"""The five services: which ports and settings each replica gets in ./dev."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dev import paths
from dev.children import ChildSpec
from dev.keys import Keys
from dev.ports import Ports
from dev.releases import Release
from dev.terminal import fail

# In the order they are started and shown.
SERVICES = ["rate-limit", "inbox", "webhook-dispatcher", "mail-ingest", "gateway"]
PROGRAMS = [f"tempinbox-{service}" for service in SERVICES] + ["tempinboxctl", "tempinbox-migrate"]
PAGE = paths.ROOT / "web" / "dashboard" / "dist"
DOWNLOADS = paths.ROOT / "build" / "downloads"
LOOPBACK = "127.0.0.0/8,::1/128"
# A name of the certificate that keys.py makes; clients verify it.
SUBMISSION_HOST = "localhost"


@dataclass(frozen=True)
class SubmissionPorts:
    """Where a mail-ingest takes mail from logins: with STARTTLS, under TLS, and in the clear."""

    starttls: int
    tls: int
    clear: int


@dataclass(frozen=True)
class Replica:
    """One process of a service."""

    service: str
    number: int
    port: int
    admin_port: int
    submission: SubmissionPorts | None = None

    @property
    def name(self) -> str:
        """Returns the name as in `./dev status`."""
        return f"{self.service}-{self.number}"

    @property
    def listener(self) -> str:
        """host:port of what it serves."""
        return f"127.0.0.1:{self.port}"

    @property
    def admin(self) -> str:
        """host:port of its operator's port."""
        return f"127.0.0.1:{self.admin_port}"


@dataclass(frozen=True)
class ServiceContext:
    """The facts about its suite that every service gets."""

    release: Release
    database: str
    brokers: str
    domain: str
    keys: Keys
    logs: str
    folder: str
    starttls: bool


def parse_replicas(text: str | None, current: dict[str, int]) -> dict[str, int]:
    """`gateway=2,mail-ingest=3` laid over what there is; one of each where nothing is said."""
    counts = {service: current.get(service, 1) for service in SERVICES}
    for entry in filter(None, (text or "").split(",")):
        service, _, count = entry.partition("=")
        if service not in counts or not count.isdigit() or int(count) > 20:
            fail(
                f"--replicas {entry}: expected SERVICE=0..20 with SERVICE one of "
                f"{', '.join(SERVICES)}"
            )
        counts[service] = int(count)
    return counts


def choose_replicas(
    counts: dict[str, int], ports: Ports, running: set[str], requested_ports: dict[str, int | None]
) -> list[Replica]:
    """Every replica with its ports; running ones keep theirs.

    `requested_ports` are those the user set for first replicas.
    """

    def make(service: str, number: int) -> Replica:
        name = f"{service}-{number}"
        is_running = name in running
        requested = requested_ports.get(service) if number == 1 else None
        return Replica(
            service,
            number,
            ports.take(name, requested, is_running),
            ports.take(f"{name}-admin", None, is_running),
            submission_ports(service, lambda kind: ports.take(f"{name}-{kind}", None, is_running)),
        )

    return [
        make(service, number) for service in SERVICES for number in range(1, counts[service] + 1)
    ]


def submission_ports(service: str, port: Callable[[str], int]) -> SubmissionPorts | None:
    """Returns those of a replica of the service; `port` has the number for a name."""
    if service != "mail-ingest":
        return None
    return SubmissionPorts(port("submission"), port("submissions"), port("submission-clear"))


def of(service: str, replicas: list[Replica]) -> Iterator[Replica]:
    """The replicas of one service."""
    return (replica for replica in replicas if replica.service == service)


def _addresses(service: str, replicas: list[Replica]) -> str:
    return ",".join(replica.listener for replica in of(service, replicas))


def _settings(replica: Replica, replicas: list[Replica], context: ServiceContext) -> dict[str, str]:
    common = {
        "admin-listen": replica.admin,
        "database": context.database,
        "kafka-brokers": context.brokers,
        "rpc-token-file": str(context.keys.rpc_token),
    }
    own = {
        "rate-limit": {"rpc-listen": replica.listener},
        "inbox": {"rpc-listen": replica.listener, "inbox-max-emails": "0", "inbox-max-bytes": "0"},
        "webhook-dispatcher": {
            "rpc-listen": replica.listener,
            "master-key-file": str(context.keys.master_key),
            # Receivers on this machine are what a developer has; the defaults refuse them.
            "webhook-allow-networks": LOOPBACK,
            "webhook-allow-http": "true",
        },
        "mail-ingest": _submission(replica, context)
        | {
            "smtp-listen": replica.listener,
            "hostname": f"mx.{context.domain}",
            # Most clients use STARTTLS where it is offered, and refuse a certificate of no known
            # authority.
            "tls-certificate-file": str(context.keys.certificate) if context.starttls else "",
            "tls-key-file": str(context.keys.certificate_key) if context.starttls else "",
            "spool-directory": f"{context.folder}/{replica.name}.spool",
            # Every test and bench sends from loopback, into few inboxes.
            "exempt-networks": LOOPBACK,
            "inbox-rate-per-minute": "0",
            "capture-rate-per-minute": "0",
            "inbox-max-emails": "0",
            "inbox-max-bytes": "0",
        },
        "gateway": {
            "listen": replica.listener,
            # Benches open thousands of connections from loopback.
            "exempt-networks": LOOPBACK,
            "inbox-rpc": _addresses("inbox", replicas),
            "rate-limit-rpc": _addresses("rate-limit", replicas),
            "webhook-dispatcher-rpc": _addresses("webhook-dispatcher", replicas),
            "master-key-file": str(context.keys.master_key),
            "signup": "open",
            "dashboard-files": str(PAGE),
            "download-files": str(DOWNLOADS),
        }
        | _capture_server(replicas),
    }
    # A service without replicas leaves its callers with their default address, where nobody
    # answers.
    return {name: value for name, value in (common | own[replica.service]).items() if value}


def _submission(replica: Replica, context: ServiceContext) -> dict[str, str]:
    ports = replica.submission
    if not ports:
        return {}
    return {
        "submission-listen": f"127.0.0.1:{ports.starttls}",
        "submissions-listen": f"127.0.0.1:{ports.tls}",
        # Clients that cannot be given an authority; passwords stay on this machine.
        "submission-clear-listen": f"127.0.0.1:{ports.clear}",
        "submission-tls-certificate-file": str(context.keys.certificate),
        "submission-tls-key-file": str(context.keys.certificate_key),
        "submission-tls-ca-file": str(context.keys.certificate),
        "capture-host": SUBMISSION_HOST,
    }


def _capture_server(replicas: list[Replica]) -> dict[str, str]:
    ports = submission_of(replicas)
    if not ports:
        return {}
    return {
        "capture-host": SUBMISSION_HOST,
        "capture-starttls-ports": str(ports.starttls),
        "capture-tls-ports": str(ports.tls),
        "capture-clear-ports": str(ports.clear),
    }


def as_environment(settings: dict[str, str]) -> dict[str, str]:
    """`smtp-listen` is TEMPINBOX_SMTP_LISTEN."""
    return {
        "TEMPINBOX_" + name.upper().replace("-", "_"): value for name, value in settings.items()
    }


def spec(replica: Replica, replicas: list[Replica], context: ServiceContext) -> ChildSpec:
    """Returns how the supervisor runs a replica.

    A program built anew makes the description differ, so that it is started again.
    """
    name = f"tempinbox-{replica.service}"
    program = context.release.program(name)
    return ChildSpec(
        name=replica.name,
        argv=[str(program)],
        folder=context.folder,
        log=f"{context.logs}/{replica.name}.log",
        environment=context.release.environment(
            name, as_environment(_settings(replica, replicas, context))
        ),
        version=_version(replica.service, program),
    )


def _version(service: str, program: Path) -> str:
    """Changes with what the process reads once: its program, and the gateway's page."""
    version = str(os.stat(program).st_mtime_ns)
    index = PAGE / "index.html"
    return (
        f"{version} {os.stat(index).st_mtime_ns}"
        if service == "gateway" and index.exists()
        else version
    )


def api_url(replicas: list[Replica]) -> str:
    """Returns the address of the first gateway; empty if there is none."""
    return next((f"http://{replica.listener}" for replica in of("gateway", replicas)), "")


def smtp_address(replicas: list[Replica]) -> str:
    """Returns the address of the first mail-ingest; empty if there is none."""
    return next((replica.listener for replica in of("mail-ingest", replicas)), "")


def submission_of(replicas: list[Replica]) -> SubmissionPorts | None:
    """Returns the ports for logins of the first mail-ingest; None if there is none."""
    return next((replica.submission for replica in of("mail-ingest", replicas)), None)


def operator_environment(
    replicas: list[Replica], context: ServiceContext, api_key: str
) -> dict[str, str]:
    """Returns what tempinboxctl needs to reach the suite, as an operator and, for `smoke`, as a
    user.
    """
    settings = {
        "database": context.database,
        "inbox-rpc": _addresses("inbox", replicas),
        "rate-limit-rpc": _addresses("rate-limit", replicas),
        "webhook-dispatcher-rpc": _addresses("webhook-dispatcher", replicas),
        "rpc-token-file": str(context.keys.rpc_token),
        "kafka-brokers": context.brokers,
        "base-url": api_url(replicas),
        "smtp": smtp_address(replicas),
        "api-key": api_key,
    }
    return as_environment({name: value for name, value in settings.items() if value})
