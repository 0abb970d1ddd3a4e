"""A Kafka broker of a test's own that allows nothing but what its ACLs say."""

import secrets
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dev import kafka
from dev.ports import free_port

from harness.own_kafka import OwnKafka

_ADMIN = "admin"
_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
# PLAIN, since brokers of this version refuse the SCRAM of Debian 12's librdkafka.
_CLIENT = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"


def _login(name: str, password: str) -> str:
    return f'{_LOGIN} username="{name}" password="{password}"'


@dataclass(frozen=True)
class _Node(kafka.Cluster):
    """A cluster of one, which is `admin` itself: even its controller knows no other super user."""

    passwords: dict[str, str]
    kcat_properties: Path

    def _properties(self, number: int, folder: Path) -> dict[str, object]:
        listener, controller = self.ports[number - 1]
        known = "".join(f' user_{name}="{each}"' for name, each in self.passwords.items())
        login = _login(_ADMIN, self.passwords[_ADMIN]) + known + ";"
        return super()._properties(number, folder) | {
            "listeners": f"CLIENTS://127.0.0.1:{listener},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"CLIENTS://127.0.0.1:{listener}",
            "listener.security.protocol.map": "CLIENTS:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
            "inter.broker.listener.name": "CLIENTS",
            "sasl.enabled.mechanisms": "PLAIN",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "sasl.mechanism.controller.protocol": "PLAIN",
            "listener.name.clients.plain.sasl.jaas.config": login,
            "listener.name.controller.plain.sasl.jaas.config": login,
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found": "false",
            "super.users": f"User:{_ADMIN}",
        }

    def _client_options(self) -> list[str]:
        return ["-F", str(self.kcat_properties)]


class AuthorizingKafka(OwnKafka):
    """Knows these users, each with a password, and lets `admin` alone do everything."""

    admin = _ADMIN

    def __init__(self, users: Iterable[str]) -> None:
        folder = Path(tempfile.mkdtemp(prefix="tempinbox-e2e-kafka-"))
        self._passwords = {name: secrets.token_urlsafe(16) for name in [_ADMIN, *users]}
        for name, password in self._passwords.items():
            properties = _CLIENT + f"sasl.username={name}\nsasl.password={password}\n"
            (folder / f"{name}.properties").write_text(properties, encoding="ascii")
        # The settings of Kafka's own tools.
        self.admin_config = folder / "admin.java.properties"
        login = _login(_ADMIN, self._passwords[_ADMIN])
        self.admin_config.write_text(f"{_CLIENT}sasl.jaas.config={login};\n", encoding="ascii")
        node = _Node(
            folder,
            [(free_port(), free_port())],
            self._passwords,
            folder / f"{_ADMIN}.properties",
        )
        super().__init__(folder, node)
        self.brokers = node.brokers

    def settings_of(self, user: str) -> dict[str, str]:
        """Returns the settings by which a service is this user, by name."""
        properties = self._folder / f"{user}.properties"
        return {"kafka_brokers": self.brokers, "kafka_properties_file": str(properties)}

    def client_of(self, user: str) -> dict[str, str | int | float | bool]:
        """The same for a client of confluent_kafka."""
        return {
            "bootstrap.servers": self.brokers,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": self._passwords[user],
        }
