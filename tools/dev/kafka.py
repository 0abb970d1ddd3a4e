"""Apache Kafka in KRaft mode: jars in the cache, one or more combined nodes on loopback."""

import base64
import re
import shutil
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from dev import librdkafka, maven, paths
from dev.children import ChildSpec
from dev.terminal import fail
from dev.waiting import wait_until

VERSION = "4.3.1"
# Brokers that take the SCRAM of librdkafka before 2.6.1, which Debian 12 has: those from 4.0 on
# refuse its nonce.
OLDER_VERSION = "3.9.2"
_SLF4J = "1.7.36"
_JAVA_OPTIONS = [
    "-Xms256m",
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.storage.internals.log.UnifiedLog=error",
]


@dataclass(frozen=True)
class Cluster:
    """All nodes of one suite. `ports` holds a listener and a controller port for each."""

    folder: Path
    ports: list[tuple[int, int]]

    @property
    def brokers(self) -> str:
        """The bootstrap list."""
        return ",".join(f"127.0.0.1:{listener}" for listener, _ in self.ports)

    @property
    def version(self) -> str:
        """Returns the version of the brokers."""
        return VERSION

    @property
    def replication(self) -> int:
        """Copies of each partition."""
        return min(3, len(self.ports))

    def specs(self, logs: Path) -> list[ChildSpec]:
        """Returns how the supervisor runs the nodes; formats the storage of new ones."""
        return [self._node(number, logs) for number in range(1, len(self.ports) + 1)]

    def _node(self, number: int, logs: Path) -> ChildSpec:
        folder = self.folder / f"node{number}"
        folder.mkdir(parents=True, exist_ok=True)
        properties = folder / "server.properties"
        text = "".join(
            f"{name}={value}\n" for name, value in self._properties(number, folder).items()
        )
        properties.write_text(text, encoding="utf-8")
        if not (folder / "log" / "meta.properties").exists():
            self._format(properties)
        argv = [
            "java",
            *_JAVA_OPTIONS,
            *self._class_archive_options(number),
            *self._system_properties(),
            "-cp",
            class_path(self.version),
            "kafka.Kafka",
            str(properties),
        ]
        return ChildSpec(
            f"kafka-{number}",
            argv,
            folder=str(folder),
            log=str(logs / f"kafka-{number}.log"),
            grace_seconds=20.0,
        )

    def _properties(self, number: int, folder: Path) -> dict[str, object]:
        listener, controller = self.ports[number - 1]
        in_sync = max(1, self.replication - 1)
        return {
            "process.roles": "broker,controller",
            "node.id": number,
            "controller.quorum.voters": ",".join(
                f"{i}@127.0.0.1:{port}" for i, (_, port) in enumerate(self.ports, start=1)
            ),
            "listeners": f"PLAINTEXT://127.0.0.1:{listener},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{listener}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": folder / "log",
            "auto.create.topics.enable": "false",
            "default.replication.factor": self.replication,
            "min.insync.replicas": in_sync,
            "offsets.topic.num.partitions": 4,
            "offsets.topic.replication.factor": self.replication,
            "transaction.state.log.num.partitions": 4,
            "transaction.state.log.replication.factor": self.replication,
            "transaction.state.log.min.isr": in_sync,
            "share.coordinator.state.topic.replication.factor": self.replication,
            "share.coordinator.state.topic.min.isr": in_sync,
            "group.initial.rebalance.delay.ms": 0,
            "group.min.session.timeout.ms": 1000,
            "broker.session.timeout.ms": 3000,
            "broker.heartbeat.interval.ms": 500,
            "num.network.threads": 2,
            "num.io.threads": 2,
            "num.replica.fetchers": 1,
            "log.cleaner.threads": 1,
            "log.cleaner.dedupe.buffer.size": 2 * 1024 * 1024,
        }

    def _format(self, properties: Path) -> None:
        identity = self.folder / "cluster.id"
        if not identity.exists():
            identity.write_text(_cluster_id() + "\n", encoding="ascii")
        command = [
            "java",
            *_JAVA_OPTIONS,
            *(_use_class_archive() if self.version == VERSION else []),
            "-cp",
            class_path(self.version),
            "kafka.tools.StorageTool",
            "format",
        ]
        command += ["-t", identity.read_text(encoding="ascii").strip(), "-c", str(properties)]
        command += self._format_options()
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            fail("Kafka could not format its storage:\n" + done.stdout + done.stderr)

    def _format_options(self) -> list[str]:
        """Returns further options of the storage tool, such as users."""
        return []

    def _system_properties(self) -> list[str]:
        """Returns further options of a node's JVM."""
        return []

    def _client_options(self) -> list[str]:
        """Returns the options by which kcat is let in."""
        return []

    def _class_archive_options(self, number: int) -> list[str]:
        if self.version != VERSION:
            return []
        if has_class_archive() or number != 1:
            return _use_class_archive()
        return [f"-XX:ArchiveClassesAtExit={self._written_archive()}"]

    def _written_archive(self) -> Path:
        return self.folder / "classes.jsa"

    def keep_class_archive(self) -> None:
        """Keeps the archive that the first node wrote at a clean stop: it serves later starts."""
        if self._written_archive().exists() and not has_class_archive():
            partial = _class_archive().with_suffix(f".{uuid.uuid4().hex[:8]}")
            shutil.copyfile(self._written_archive(), partial)
            partial.rename(_class_archive())
        self._written_archive().unlink(missing_ok=True)

    def wait_ready(self, seconds: float = 60.0) -> None:
        """Returns when every broker is listed; an open port alone is too early."""
        try:
            wait_until(
                lambda: self._listed() == len(self.ports),
                time.monotonic() + seconds,
                "every broker is listed",
            )
        except TimeoutError:
            fail(f"Kafka did not get ready in {seconds:.0f} s; see ./dev logs kafka")

    def _watched_brokers(self) -> str:
        """Returns the listeners by which `wait_ready` asks."""
        return self.brokers

    def _listed(self) -> int:
        described = subprocess.run(
            ["kcat", *self._client_options(), "-L", "-m", "1", "-b", self._watched_brokers()],
            capture_output=True,
            text=True,
        )
        return len(re.findall(r"^  broker ", described.stdout, re.MULTILINE))


def version_for_scram() -> str:
    """Returns the version of brokers that take the SCRAM of this machine's librdkafka."""
    return VERSION if librdkafka.has_scram_of_4_0() else OLDER_VERSION


def _cluster_id() -> str:
    """A random one. A minus in front would be taken for an option."""
    made = "-"
    while made.startswith("-"):
        made = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    return made


def digests_of(version: str) -> Path:
    """The list of a version's jars."""
    return Path(__file__).with_name(f"kafka-jars-{version}.sha512")


def class_path(version: str = VERSION) -> str:
    """The jars in a fixed order, as a class archive wants it."""
    return ":".join(str(jar) for jar in sorted(maven.folder(f"kafka-{version}").glob("*.jar")))


def artifacts(version: str = VERSION) -> tuple[maven.Artifact, ...]:
    """What `./dev` runs of Kafka."""
    return (
        maven.Artifact("org.apache.kafka", "kafka_2.13", version),
        maven.Artifact("org.slf4j", "slf4j-simple", _SLF4J),
    )


def ensure_jars(version: str = VERSION) -> None:
    """Brings the jars into the cache, once."""
    maven.ensure(f"kafka-{version}", artifacts(version), digests_of(version))


# A class archive, written by the JVM when a node ends, makes the next start take a second instead
# of three.


def _class_archive() -> Path:
    return paths.cache(f"kafka-{VERSION}") / "classes.jsa"


def has_class_archive() -> bool:
    """Returns whether later starts are quick already."""
    return _class_archive().exists()


def _use_class_archive() -> list[str]:
    quiet = ["-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]
    return [f"-XX:SharedArchiveFile={_class_archive()}", *quiet] if has_class_archive() else []
