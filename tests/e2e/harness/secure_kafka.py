"""A Kafka broker of a test's own whose clients need TLS and a password."""

import secrets
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from dev import kafka, places
from dev.ports import free_port

_USER = "suite"
_MECHANISM = "SCRAM-SHA-512"


@dataclass(frozen=True)
class _Node(kafka.Cluster):
    """A cluster of one, whose only listener for clients is SASL_SSL."""

    identity: Path
    password: str
    client_properties: Path

    @property
    def version(self) -> str:
        """Whose SCRAM the librdkafka of the suite speaks."""
        return kafka.OLDER_VERSION

    @property
    def brokers(self) -> str:
        """By the name that its certificate is for."""
        return f"localhost:{self.ports[0][0]}"

    def _properties(self, number: int, folder: Path) -> dict[str, object]:
        listener, controller = self.ports[number - 1]
        login = (
            "org.apache.kafka.common.security.scram.ScramLoginModule required "
            f'username="{_USER}" password="{self.password}";'
        )
        return super()._properties(number, folder) | {
            "listeners": f"SASL_SSL://127.0.0.1:{listener},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"SASL_SSL://{self.brokers}",
            "listener.security.protocol.map": "SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "SASL_SSL",
            "sasl.enabled.mechanisms": _MECHANISM,
            "sasl.mechanism.inter.broker.protocol": _MECHANISM,
            f"listener.name.sasl_ssl.{_MECHANISM.lower()}.sasl.jaas.config": login,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": self._pem("certificate.pem"),
            "ssl.keystore.key": self._pem("key.pem"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": self._pem("ca.pem"),
        }

    def _pem(self, name: str) -> str:
        """As a value of a properties file, which is one line."""
        return (self.identity / name).read_text(encoding="ascii").replace("\n", "\\n")

    def _format_options(self) -> list[str]:
        return ["--add-scram", f'{_MECHANISM}=[name="{_USER}",password="{self.password}"]']

    def _client_options(self) -> list[str]:
        return ["-F", str(self.client_properties)]


class SecureKafka:
    """Its certificate is that of a folder, as Authority.issue makes it for localhost.

    `settings` are what a service needs for it, by name. Use as a context manager; nothing of it
    stays.
    """

    def __init__(self, identity: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="tempinbox-e2e-kafka-"))
        password = secrets.token_urlsafe(16)
        properties = self._folder / "client.properties"
        properties.touch(mode=0o600)
        properties.write_text(
            "security.protocol=SASL_SSL\n"
            f"sasl.mechanism={_MECHANISM}\n"
            f"sasl.username={_USER}\n"
            f"sasl.password={password}\n"
            f"ssl.ca.location={identity}/ca.pem\n"
            "broker.address.family=v4\n",
            encoding="ascii",
        )
        self._node = _Node(
            self._folder, [(free_port(), free_port())], identity, password, properties
        )
        self._process: subprocess.Popen[bytes] | None = None
        self.settings = {
            "kafka_brokers": self._node.brokers,
            "kafka_properties_file": str(properties),
        }

    def __enter__(self) -> Self:
        kafka.ensure_jars(self._node.version)
        try:
            (spec,) = self._node.specs(self._folder)
            with open(spec.log, "ab") as log:
                self._process = subprocess.Popen(
                    spec.argv,
                    cwd=spec.folder,
                    env=places.clean_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            self._node.wait_ready()
        except BaseException:
            self._print_log()
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _print_log(self) -> None:
        for log in self._folder.glob("*.log"):
            print(log.read_text(encoding="utf-8", errors="replace")[-4000:])
