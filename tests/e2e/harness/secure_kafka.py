"""A Kafka broker of a test's own whose clients need TLS and a password or a token."""

import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from dev import kafka
from dev.ports import free_port

from harness.own_kafka import OwnKafka
from harness.token_issuer import TokenIssuer

_USER = "suite"
_MECHANISM = "SCRAM-SHA-512"
_SECONDS = 20.0
_OAUTH = "org.apache.kafka.common.security.oauthbearer"


@dataclass(frozen=True)
class _Node(kafka.Cluster):
    """A cluster of one, whose only listener for clients is SASL_SSL; INTERNAL is its own, and for
    changes of it.
    """

    release: str
    issuer: TokenIssuer | None
    internal: int
    identity: Path
    client_authorities: Path | None
    asks_for_rights: bool
    password: str

    @property
    def version(self) -> str:
        return self.release

    @property
    def brokers(self) -> str:
        """Returns the address by the name that its certificate is for."""
        return f"localhost:{self.ports[0][0]}"

    def _properties(self, number: int, folder: Path) -> dict[str, object]:
        listener, controller = self.ports[number - 1]
        internal = f"INTERNAL://127.0.0.1:{self.internal}"
        login = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        properties: dict[str, object] = super()._properties(number, folder) | {
            "listeners": (
                f"SASL_SSL://127.0.0.1:{listener},{internal},CONTROLLER://127.0.0.1:{controller}"
            ),
            "advertised.listeners": f"SASL_SSL://{self.brokers},{internal}",
            "listener.security.protocol.map": (
                "SASL_SSL:SASL_SSL,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT"
            ),
            "inter.broker.listener.name": "INTERNAL",
            "sasl.enabled.mechanisms": _MECHANISM,
            f"listener.name.sasl_ssl.{_MECHANISM.lower()}.sasl.jaas.config": login,
        }
        properties |= certificate_properties(self.identity)
        if self.client_authorities:
            properties |= {
                "listener.name.sasl_ssl.ssl.client.auth": "required",
                "listener.name.sasl_ssl.ssl.truststore.type": "PEM",
                "listener.name.sasl_ssl.ssl.truststore.certificates": _pem(self.client_authorities),
            }
        if self.issuer:
            properties |= _token_properties(self.issuer)
        if self.asks_for_rights:
            properties |= {
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:ANONYMOUS",
            }
        return properties

    def _format_options(self) -> list[str]:
        return ["--add-scram", f'{_MECHANISM}=[name="{_USER}",password="{self.password}"]']

    def _system_properties(self) -> list[str]:
        # A broker fetches keys from nowhere else.
        allowed = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls"
        return [f"{allowed}={self.issuer.keys_url}"] if self.issuer else []

    def _watched_brokers(self) -> str:
        """The librdkafka of kcat may be one that clients' listener refuses."""
        return f"127.0.0.1:{self.internal}"


def _token_properties(issuer: TokenIssuer) -> dict[str, object]:
    """Returns the properties by which a broker judges the tokens of an issuer, too."""
    listener = "listener.name.sasl_ssl.oauthbearer."
    # The broker asks the issuer for its keys by the module's options of TLS. With options, the
    # module wants a token of the broker's own, which nothing uses.
    module = (
        f"{_OAUTH}.OAuthBearerLoginModule required "
        f'ssl.truststore.type="PEM" ssl.truststore.location="{issuer.ca_file}" '
        'unsecuredLoginStringClaim_sub="broker";'
    )
    return {
        "sasl.enabled.mechanisms": f"{_MECHANISM},OAUTHBEARER",
        f"{listener}sasl.jaas.config": module,
        f"{listener}sasl.server.callback.handler.class": (
            f"{_OAUTH}.OAuthBearerValidatorCallbackHandler"
        ),
        f"{listener}sasl.oauthbearer.jwks.endpoint.url": issuer.keys_url,
        f"{listener}sasl.oauthbearer.expected.issuer": issuer.url,
        f"{listener}sasl.oauthbearer.expected.audience": issuer.audience,
    }


def _pem(file: Path) -> str:
    """Returns a file as a value of a properties file, which is one line."""
    return file.read_text(encoding="ascii").replace("\n", "\\n")


def certificate_properties(identity: Path) -> dict[str, str]:
    """Returns the properties by which a broker shows a folder's certificate."""
    listener = "listener.name.sasl_ssl.ssl.keystore."
    return {
        f"{listener}type": "PEM",
        f"{listener}certificate.chain": _pem(identity / "certificate.pem"),
        f"{listener}key": _pem(identity / "key.pem"),
    }


class SecureKafka(OwnKafka):
    """Its certificate is that of a folder, as Authority.issue makes it for localhost. With a file
    of authorities, clients must show a certificate of them; with an issuer, its tokens let them in,
    too; if it asks for rights, they have none until an operator gives them some, at `internal`.
    `release` is the version of Kafka; by default one whose SCRAM the suite's librdkafka speaks.

    `settings` are what a service needs for it, by name.
    """

    user = _USER
    mechanism = _MECHANISM

    def __init__(
        self,
        identity: Path,
        client_authorities: Path | None = None,
        *,
        asks_for_rights: bool = False,
        issuer: TokenIssuer | None = None,
        release: str = "",
    ) -> None:
        folder = Path(tempfile.mkdtemp(prefix="tempinbox-e2e-kafka-"))
        self.password = secrets.token_urlsafe(16)
        properties = folder / "client.properties"
        properties.touch(mode=0o600)
        properties.write_text(
            "security.protocol=SASL_SSL\n"
            f"sasl.mechanism={_MECHANISM}\n"
            f"sasl.username={_USER}\n"
            f"sasl.password={self.password}\n"
            f"ssl.ca.location={identity}/ca.pem\n"
            f"ssl.certificate.location={identity}/certificate.pem\n"
            f"ssl.key.location={identity}/key.pem\n"
            "broker.address.family=v4\n",
            encoding="ascii",
        )
        node = _Node(
            folder,
            [(free_port(), free_port())],
            release or kafka.version_for_scram(),
            issuer,
            free_port(),
            identity,
            client_authorities,
            asks_for_rights,
            self.password,
        )
        super().__init__(folder, node)
        self.internal = f"127.0.0.1:{node.internal}"
        self.settings = {
            "kafka_brokers": node.brokers,
            "kafka_properties_file": str(properties),
        }

    def change_password(self) -> None:
        """`password` is the one that counts for new connections."""
        password = secrets.token_urlsafe(16)
        credential = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        change = UserScramCredentialUpsertion(_USER, credential, password.encode())
        operator = self._operator()  # which ends what it has begun when it ends
        for done in operator.alter_user_scram_credentials([change]).values():
            done.result(_SECONDS)
        self.password = password

    def use_certificate(self, identity: Path) -> None:
        """Shows the certificate of another folder, for the same names, from the next connections
        on.
        """
        changes = [
            ConfigEntry(
                name, value.replace("\\n", "\n"), incremental_operation=AlterConfigOpType.SET
            )
            for name, value in certificate_properties(identity).items()
        ]
        broker = ConfigResource(ResourceType.BROKER, "1", incremental_configs=changes)
        operator = self._operator()
        for done in operator.incremental_alter_configs([broker]).values():
            done.result(_SECONDS)

    def _operator(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.internal})
