"""Tests that contradictory values are refused before anything is installed, with what to do."""

from typing import Any

import pytest
from chart import SERVICES, Values, refusal, render

_INLINE = {"existingSecret": "", "value": "postgresql://a:b@c/d"}


def _service(name: str, **values: Any) -> Values:
    return {"services": {name: values}}


def _consumer(name: str = "c", **values: Any) -> Values:
    one = {"reads": ["email.received"], "namePrefix": "c-", **values}
    return {"strimzi": {"users": {"consumers": {name: one}}}}


# A name, the values over an example, and what is said.
_CONTRADICTIONS: list[tuple[str, str, Values, str]] = [
    (
        "images of nobody",
        "minimal",
        {"image": {"registry": ""}},
        "image.registry is empty: name the host that has the images",
    ),
    (
        "a greeting by localhost",
        "minimal",
        _service("mail-ingest", settings={"hostname": ""}),
        "services.mail-ingest.settings.hostname is not set: name the host of the MX record",
    ),
    (
        "an owner of nothing",
        "minimal",
        _service("inbox", database={"existingOwnerSecret": "owner"}),
        "services.inbox.database.existingOwnerSecret is set without existingSecret",
    ),
    ("no networks", "minimal", {"cluster": {"networks": []}}, "cluster.networks is empty"),
    ("no brokers", "minimal", {"kafka": {"brokers": []}}, "kafka.brokers is empty"),
    (
        "no database",
        "minimal",
        {"database": {"existingSecret": ""}},
        "database.existingSecret is empty: name a Secret with the DSN",
    ),
    (
        "no token",
        "minimal",
        {"rpc": {"token": {"existingSecret": ""}}},
        "rpc.token.existingSecret is empty: kubectl create secret",
    ),
    (
        "no master keys",
        "minimal",
        {"masterKeys": {"existingSecret": ""}},
        "masterKeys.existingSecret is empty: kubectl create secret",
    ),
    (
        "inline database",
        "minimal",
        {"database": _INLINE},
        "database.value puts a secret into Helm's release",
    ),
    ("inline everything", "proxy", {"dev": False}, "masterKeys.value puts a secret into Helm's"),
    (
        "inline beside a Secret",
        "proxy",
        {"database": {"existingSecret": "db"}},
        "database.value and database.existingSecret are both set: keep one",
    ),
    (
        "SASL without a password",
        "minimal",
        {"kafka": {"securityProtocol": "SASL_SSL"}},
        "there is no password: set kafka.sasl.username and kafka.sasl.existingSecret",
    ),
    (
        "a token without an issuer or a secret",
        "minimal",
        {"kafka": {"securityProtocol": "SASL_SSL", "sasl": {"mechanism": "OAUTHBEARER"}}},
        "Secret\n  - kafka.sasl.mechanism is OAUTHBEARER, but no issuer is named",
    ),
    (
        "an issuer in the clear",
        "oauth",
        {"kafka": {"sasl": {"oauth": {"tokenEndpointUrl": "http://issuer.example/token"}}}},
        "tokenEndpointUrl is http://, so the client's secret would go in the clear",
    ),
    (
        "an issuer of another mechanism",
        "ha",
        {"kafka": {"sasl": {"oauth": {"scope": "events"}}}},
        "kafka.sasl.oauth is set, but the mechanism is another",
    ),
    (
        "autoscaling without a token",
        "oauth",
        _service("webhook-dispatcher", keda={"authenticationRef": ""}),
        "services.webhook-dispatcher.keda has no token for Kafka",
    ),
    (
        "a password without SASL",
        "minimal",
        {"kafka": {"sasl": {"existingSecret": "p"}}},
        "kafka.sasl has a password, but kafka.securityProtocol is PLAINTEXT: set SASL_SSL",
    ),
    (
        "authorities without TLS",
        "minimal",
        {"kafka": {"tls": {"existingSecret": "ca"}}},
        "kafka.securityProtocol is PLAINTEXT: set SSL or SASL_SSL",
    ),
    (
        "a certificate beside SASL",
        "ha",
        {"kafka": {"clientCertificate": {"existingSecret": "c"}}},
        "kafka.clientCertificate and SASL are both chosen",
    ),
    (
        "verified without authorities",
        "minimal",
        {"database": {"tls": {"mode": "verify-full"}}},
        "no authority is trusted: set database.tls.existingSecret",
    ),
    (
        "hook with plain Job",
        "minimal",
        {"setup": {"job": True}},
        "setup.hook and setup.job are both true: keep the hook with Helm",
    ),
    (
        "hook before the database is made",
        "strimzi-cnpg",
        {"setup": {"hook": True, "job": False}},
        "setup.hook runs before the database of cnpg.enabled exists: set setup.hook: false",
    ),
    (
        "hook before the users are made",
        "strimzi-cnpg",
        {"setup": {"hook": True, "job": False}},
        "setup.hook runs before the users of strimzi.users.enabled exist",
    ),
    (
        "bootstrap of nobody",
        "minimal",
        {"setup": {"bootstrap": {"enabled": True}}},
        "setup.bootstrap needs domain and email",
    ),
    (
        "HPA with KEDA",
        "keda",
        _service("webhook-dispatcher", hpa={"enabled": True}),
        "services.webhook-dispatcher.hpa and services.webhook-dispatcher.keda are both enabled",
    ),
    (
        "HPA upside down",
        "ha",
        _service("inbox", hpa={"minReplicas": 9}),
        "services.inbox.hpa.minReplicas is above maxReplicas",
    ),
    (
        "HPA by nothing",
        "ha",
        _service("inbox", hpa={"cpuUtilization": 0}),
        "services.inbox.hpa has no metric",
    ),
    (
        "HPA that never scales",
        "ha",
        _service("inbox", resources={"requests": {"cpu": 2}}),
        "the service is one event loop and never uses 65% of more than a core",
    ),
    (
        "a limit below the request",
        "minimal",
        _service("inbox", resources={"limits": {"memory": "64Mi"}}),
        "services.inbox.resources.limits.memory is 64Mi, below the request of 128Mi",
    ),
    (
        "KEDA upside down",
        "keda",
        _service("webhook-dispatcher", keda={"minReplicas": 8, "maxReplicas": 4}),
        "services.webhook-dispatcher.keda.minReplicas is above maxReplicas",
    ),
    (
        "KEDA above the partitions",
        "keda",
        _service("webhook-dispatcher", keda={"maxReplicas": 49}),
        "keda.maxReplicas is 49, but the topics have 48 partitions (topics.partitions)",
    ),
    (
        "killed while it drains",
        "minimal",
        _service("mail-ingest", terminationGracePeriodSeconds=45),
        "terminationGracePeriodSeconds is 45, not above preStopSeconds + drain-timeout (5 + 40s)",
    ),
    (
        "killed while it drains longer",
        "minimal",
        _service("inbox", terminationGracePeriodSeconds=120, settings={"drain-timeout": "2m"}),
        "terminationGracePeriodSeconds is 120, not above preStopSeconds + drain-timeout (5 + 2m)",
    ),
    (
        "no rollout",
        "minimal",
        _service("inbox", strategy={"maxSurge": 0}),
        "services.inbox.strategy.maxSurge and maxUnavailable are both 0",
    ),
    (
        "a setting of the chart",
        "minimal",
        _service("inbox", settings={"database-file": "/db"}),
        "services.inbox.settings.database-file is not set there; use database.existingSecret",
    ),
    (
        "a secret in a setting",
        "minimal",
        {"defaults": {"settings": {"otel-exporter-otlp-headers": "a=b"}}},
        "defaults.settings.otel-exporter-otlp-headers is not set there; use extraEnv",
    ),
    (
        "a choice that is none",
        "minimal",
        {"defaults": {"settings": {"log-level": "loud"}}},
        "services.inbox.settings.log-level is loud, not one of debug, info, warning, error",
    ),
    (
        "a number that is none",
        "minimal",
        _service("inbox", settings={"mail-readers": "two"}),
        "services.inbox.settings.mail-readers is two, not 1 to 64",
    ),
    (
        "a time that is none",
        "minimal",
        _service("inbox", settings={"quarantine": "a month"}),
        "services.inbox.settings.quarantine is a month, not 1s to 3650d",
    ),
    (
        "a size that is none",
        "minimal",
        _service("inbox", settings={"reading-memory": "64MB"}),
        "services.inbox.settings.reading-memory is 64MB, not 1MiB to 64GiB",
    ),
    (
        "a number below its range",
        "minimal",
        _service("inbox", settings={"database-connections": 0}),
        "services.inbox.settings.database-connections is 0, not 1 to 200",
    ),
    (
        "a number above its range",
        "minimal",
        _service("inbox", settings={"mail-readers": 65}),
        "services.inbox.settings.mail-readers is 65, not 1 to 64",
    ),
    (
        "a time above its range",
        "minimal",
        _service("inbox", settings={"quarantine": "87601h"}),
        "services.inbox.settings.quarantine is 87601h, not 1s to 3650d",
    ),
    (
        "a size below its range",
        "minimal",
        _service("inbox", settings={"reading-memory": "1023KiB"}),
        "services.inbox.settings.reading-memory is 1023KiB, not 1MiB to 64GiB",
    ),
    (
        "no pods of what the gateway calls",
        "minimal",
        _service("webhook-dispatcher", replicas=0),
        "services.webhook-dispatcher has 0 replicas, but gateway calls it",
    ),
    (
        "a service off that the gateway calls",
        "minimal",
        _service("inbox", enabled=False),
        "services.inbox.enabled is false, but gateway calls it",
    ),
    (
        "a relay without a sender",
        "minimal",
        _service("gateway", settings={"mail-relay": "relay.example.com:587"}),
        "services.gateway.settings.mail-relay is set, but mail-relay-from is not",
    ),
    (
        "TLS behind an Ingress that speaks HTTP",
        "proxy",
        _service("gateway", tls={"existingSecret": "api-certificate"}),
        "services.gateway.tls.existingSecret makes the gateway speak TLS, but nothing tells",
    ),
    (
        "TLS behind an Ingress with other words of HTTPS",
        "proxy",
        {
            **_service("gateway", tls={"existingSecret": "api-certificate"}),
            "ingress": {
                "annotations": {
                    "nginx.ingress.kubernetes.io/auth-url": "https://sign-in.example.com/check",
                    "alb.ingress.kubernetes.io/listen-ports": '[{"HTTPS": 443}]',
                }
            },
        },
        "services.gateway.tls.existingSecret makes the gateway speak TLS, but nothing tells",
    ),
    (
        "balancers from everywhere",
        "proxy",
        _service("mail-ingest", proxy={"networks": ["0.0.0.0/0"]}),
        "services.mail-ingest.proxy.networks: 0.0.0.0/0 is every address",
    ),
    (
        "logins without a certificate",
        "minimal",
        _service("mail-ingest", submission={"enabled": True}, tls={"existingSecret": ""}),
        "services.mail-ingest.submission needs a certificate that clients can verify",
    ),
    (
        "a Cluster that nobody uses",
        "strimzi-cnpg",
        {"database": {"existingSecret": "db"}, "cnpg": {"pooler": {"enabled": False}}},
        "cnpg.enabled makes a Cluster, but database.existingSecret or database.value names",
    ),
    (
        "a Cluster beside databases of all",
        "strimzi-cnpg",
        {
            "defaults": {"database": {"existingSecret": "db"}},
            "tools": {"database": {"existingSecret": "db"}},
            "cnpg": {"pooler": {"enabled": False}},
        },
        "cnpg.enabled makes a Cluster, but all services and tools have a database.existingSecret",
    ),
    (
        "mail where no inbox reads it",
        "minimal",
        _service("inbox", database={"existingSecret": "mail"}),
        "services.inbox.database leads to mail and services.mail-ingest.database to the database",
    ),
    (
        "mail in one database and inboxes in another",
        "minimal",
        {
            "services": {
                "inbox": {"database": {"existingSecret": "a", "existingOwnerSecret": "owner"}},
                "mail-ingest": {"database": {"existingSecret": "b"}},
            }
        },
        "services.inbox.database leads to owner and services.mail-ingest.database to b, but",
    ),
    (
        "accounts where the tools look elsewhere",
        "minimal",
        _service("gateway", database={"existingSecret": "accounts"}),
        "name accounts in tools.database.existingSecret too",
    ),
    (
        "two services that must agree",
        "minimal",
        _service("inbox", settings={"inbox-max-emails": 5}),
        "the setting inbox-max-emails is 5 for inbox and 10000 for mail-ingest",
    ),
    (
        "PROXY from nowhere",
        "minimal",
        _service("mail-ingest", proxy={"enabled": True}),
        "services.mail-ingest.proxy needs networks",
    ),
    (
        "an endless spool",
        "minimal",
        _service("mail-ingest", settings={"spool-limit": 0}),
        "services.mail-ingest.settings.spool-limit is 0",
    ),
    (
        "a spool without room",
        "minimal",
        _service("mail-ingest", spool={"sizeLimit": "2Gi"}),
        "services.mail-ingest.spool.sizeLimit is 2Gi, not above the setting spool-limit (2GiB)",
    ),
    (
        "endless memory",
        "minimal",
        _service("mail-ingest", settings={"memory-limit": 0}),
        "services.mail-ingest.settings.memory-limit is 0 (unlimited), so no memory limit",
    ),
    (
        "webhooks into the cluster",
        "minimal",
        _service("webhook-dispatcher", settings={"webhook-allow-networks": "10.244.0.0/16"}),
        "10.244.0.0/16 is in the setting webhook-allow-networks and in cluster.networks",
    ),
    (
        "Strimzi without a cluster",
        "minimal",
        {"strimzi": {"topics": {"enabled": True}}},
        "strimzi.cluster is empty: name the Kafka resource",
    ),
    (
        "users of another protocol",
        "strimzi-cnpg",
        {"kafka": {"securityProtocol": "PLAINTEXT"}},
        "strimzi.users.authentication tls needs kafka.securityProtocol: SSL",
    ),
    (
        "SCRAM users without SCRAM",
        "strimzi-cnpg",
        {
            "kafka": {"securityProtocol": "SASL_SSL"},
            "strimzi": {"users": {"authentication": "scram-sha-512"}},
        },
        "strimzi.users.authentication scram-sha-512 needs kafka.sasl.mechanism: SCRAM-SHA-512",
    ),
    (
        "users of an issuer without a token",
        "oauth",
        {"kafka": {"sasl": {"mechanism": "PLAIN", "oauth": {"tokenEndpointUrl": "", "scope": ""}}}},
        "strimzi.users.authentication oauth needs kafka.sasl.mechanism: OAUTHBEARER",
    ),
    (
        "secrets of users that an issuer has",
        "oauth",
        {"kafka": {"sasl": {"existingSecret": ""}}},
        "there is no secret of the client",
    ),
    (
        "users of another namespace",
        "strimzi-cnpg",
        {"strimzi": {"namespace": "kafka"}},
        "strimzi.users makes Secrets in strimzi.namespace, where the pods cannot mount them",
    ),
    (
        "consumers without users",
        "minimal",
        _consumer(),
        "strimzi.users.consumers needs strimzi.users.enabled",
    ),
    (
        "a consumer within another one's names",
        "strimzi-cnpg",
        _consumer("other", namePrefix="example-other."),
        "names of other begin with the namePrefix of example-consumer",
    ),
    (
        "a commit that waits for ever",
        "strimzi-cnpg",
        {"cnpg": {"instances": 1}},
        "cnpg.synchronousReplicas must be below cnpg.instances",
    ),
    (
        "backups to nowhere",
        "strimzi-cnpg",
        {"cnpg": {"backup": None}},
        "cnpg.scheduledBackup needs cnpg.backup or cnpg.plugins",
    ),
    (
        "a pooler of no database",
        "minimal",
        {"cnpg": {"pooler": {"enabled": True}}},
        "cnpg.scheduledBackup and cnpg.pooler need cnpg.enabled",
    ),
    (
        "a route to no gateway",
        "ha",
        _service("gateway", enabled=False),
        "ingress and httpRoute need services.gateway.enabled",
    ),
    ("an Ingress of no host", "minimal", {"ingress": {"enabled": True}}, "ingress.hosts is empty"),
    (
        "a route of no Gateway",
        "minimal",
        {"httpRoute": {"enabled": True}},
        "httpRoute.parentRefs is empty: name the Gateway",
    ),
    (
        "an unknown number of connections",
        "minimal",
        {"database": {"maxConnections": 0}},
        "database.maxConnections is not set: SHOW max_connections tells it; this release needs 78",
    ),
]


@pytest.mark.parametrize(
    ("case", "values", "said"),
    [each[1:] for each in _CONTRADICTIONS],
    ids=[each[0].replace(" ", "-") for each in _CONTRADICTIONS],
)
def test_a_contradiction_is_refused_with_what_to_do(case: str, values: Values, said: str) -> None:
    assert said in refusal(case, values)


def test_all_problems_are_told_at_once() -> None:
    said = refusal("minimal", {"kafka": {"brokers": []}, "cluster": {"networks": []}})

    assert "2 problems of these values" in said


# 9 connections of a gateway, 10 of mail-ingest, 8 of inbox and dispatcher, 4 of rate-limit: 39.
@pytest.mark.parametrize(
    ("values", "sum_of_all"),
    [
        ({"defaults": {"replicas": 1}}, 2 * 39),
        ({"defaults": {"replicas": 3}}, 4 * 39),
        ({"defaults": {"replicas": 3, "strategy": {"maxSurge": 3}}}, 6 * 39),
        ({"defaults": {"strategy": {"maxSurge": 0, "maxUnavailable": 1}}}, 39),
        (_service("gateway", replicas=10), 2 * 30 + 11 * 9),
        (_service("gateway", hpa={"enabled": True, "maxReplicas": 6}), 2 * 30 + 7 * 9),
        (_service("mail-ingest", settings={"look-up-connections": 5}), 2 * 39 + 2 * 3),
        (_service("inbox", settings={"database-connections": 20}), 2 * 39 + 2 * 12),
        (_service("mail-ingest", enabled=False), 2 * 29),
        (
            _service("webhook-dispatcher", keda={"enabled": True, "maxReplicas": 12}),
            2 * 31 + 13 * 8,
        ),
    ],
)
def test_connections_beyond_those_of_the_server_are_refused(
    values: dict[str, Any], sum_of_all: int
) -> None:
    exact = {"database": {"maxConnections": sum_of_all + 10, "reservedConnections": 10}}
    one_less = {"database": {"maxConnections": sum_of_all + 9, "reservedConnections": 10}}

    assert render("minimal", values | exact)
    assert (
        f"all replicas may open {sum_of_all} connections to PostgreSQL, and {sum_of_all - 1} are "
        "there"
    ) in refusal("minimal", values | one_less)


_MISTYPED: list[tuple[Values, str]] = [
    ({"defaults": {"replicas": -1}}, "minimum: got -1, want 0"),
    ({"database": {"maxConnections": "100"}}, "at '/database/maxConnections': got string"),
    ({"kafka": {"brokers": ["kafka"]}}, "at '/kafka/brokers/0': 'kafka' does not match"),
    ({"kafka": {"properties": {"sasl.password": "x"}}}, "invalid propertyName 'sasl.password'"),
    ({"kafka": {"prefix": "no-end"}}, "at '/kafka/prefix'"),
    ({"cluster": {"networks": ["10.0.0.0"]}}, "at '/cluster/networks/0'"),
    ({"image": {"pullPolicy": "Sometimes"}}, "at '/image/pullPolicy'"),
    (_service("inbox", image={"digest": "sha256:12"}), "digest'"),
    (_service("inbox", resources={"requests": {"memory": "much"}}), "memory'"),
    (_service("inbox", keda={"enabled": True}), "additional properties 'keda' not allowed"),
    (_service("webhook-dispatcher", keda={"minReplicas": 1}), "minimum: got 1, want 2"),
    (_service("inbox", settings={"quarantin": "3d"}), "additional properties 'quarantin' not"),
    (_service("rate-limit", settings={"quarantine": "3d"}), "additional properties 'quarantine'"),
    ({"services": {"billing": {}}}, "additional properties 'billing' not allowed"),
    ({"setup": {"mode": "hook"}}, "additional properties 'mode' not allowed"),
    (_consumer("tools"), "invalid propertyName 'tools'"),
    (_consumer(reads=["account.state"]), "at '/strimzi/users/consumers/c/reads/0'"),
    (_consumer(namePrefix=""), "at '/strimzi/users/consumers/c/namePrefix'"),
    (_consumer(namePrefix="inbox."), "at '/strimzi/users/consumers/c/namePrefix'"),
    (_consumer(namePrefix="tempinbox-x-"), "at '/strimzi/users/consumers/c/namePrefix'"),
]


@pytest.mark.parametrize(("values", "said"), _MISTYPED)
def test_what_has_the_wrong_form_is_refused_with_its_path(values: Values, said: str) -> None:
    assert said in refusal("minimal", values)


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_has_the_checks_of_all(service: str) -> None:
    said = refusal("minimal", _service(service, terminationGracePeriodSeconds=1))

    assert f"services.{service}.terminationGracePeriodSeconds is 1" in said


@pytest.mark.parametrize(
    "network",
    ["999.1.1.1/64", "10.0.0.0/33", "10.0.0./8", "1:2/16", "1::2::3/8", "1:::2/8", "fd00::/129"],
)
def test_a_network_that_is_none_is_refused(network: str) -> None:
    said = refusal("minimal", {"cluster": {"networks": [network]}})

    assert f"cluster.networks: {network} is no network" in said


@pytest.mark.parametrize("network", ["0.0.0.0/0", "::/0", "10.0.0.0/00"])
def test_the_whole_world_is_refused_as_a_network(network: str) -> None:
    said = refusal("minimal", {"cluster": {"networks": [network]}})

    assert f"cluster.networks: {network} is every address" in said


# libs/common/core/network.cpp refuses these, so a pod would end at its start.
@pytest.mark.parametrize(
    "network",
    [
        *("192.168.1.10/24", "10.0.0.1/31", "172.16.0.0/11", "1:2:3:4:5:6:7:8/64", "fd00::1:2/64"),
        *("::1/127", "2001:db8:8000::/32", "1::8/124", "FD00::/7"),
    ],
)
def test_bits_past_the_prefix_of_a_network_are_refused(network: str) -> None:
    services = {
        "gateway": {"settings": {"exempt-networks": f"10.0.0.0/8, {network}"}},
        "mail-ingest": {"proxy": {"enabled": True, "networks": [network]}},
    }
    said = refusal("minimal", {"cluster": {"networks": [network]}, "services": services})

    for path in (
        "cluster.networks",
        "services.gateway.settings.exempt-networks",
        "services.mail-ingest.proxy.networks",
    ):
        assert f"{path}: {network} has bits set past its prefix" in said


def test_networks_of_both_families_are_taken() -> None:
    networks = [
        *("10.0.0.1/32", "192.168.1.0/24", "172.16.0.0/12", "192.0.2.10/31", "::1/128"),
        *("2001:db8::/32", "2001:db8:8000::/33", "1:2:3:4::/64", "fd00::1:0/112", "FC00::/7"),
        *("1:2:3:4:5:6:7:8/128", "1:2:3:4:5:6:7:8/125", "::8/125"),
    ]

    assert render("minimal", {"cluster": {"networks": networks}})


def test_a_network_that_is_none_is_refused_in_a_setting() -> None:
    wrong = ["10.0.0", "10.0.0.0/", "10.0.0.0/8/8", "pods", "::ffff:192.0.2.1"]
    settings = {"webhook-allow-networks": ",".join(wrong)}
    said = refusal("minimal", _service("webhook-dispatcher", settings=settings))

    for network in wrong:
        assert f"settings.webhook-allow-networks: {network}" in said
    assert said.count("is no network") == len(wrong)


def test_only_trusted_proxies_may_not_be_every_address() -> None:
    everywhere = {"trusted-proxies": "::/0", "exempt-networks": "0.0.0.0/0"}
    said = refusal("minimal", _service("gateway", settings=everywhere))

    assert "services.gateway.settings.trusted-proxies: ::/0 is every address" in said
    assert "exempt-networks" not in said


def test_a_setting_takes_addresses_without_a_length() -> None:
    addresses = {"trusted-proxies": "192.0.2.7, 2001:db8::7,", "exempt-networks": ""}

    assert render("minimal", _service("gateway", settings=addresses))


def test_everything_may_be_stopped_at_once() -> None:
    assert render("minimal", {"defaults": {"replicas": 0}})


def test_a_tls_port_behind_an_ingress_that_knows_it_is_taken() -> None:
    of_ingress = {"nginx.ingress.kubernetes.io/backend-protocol": "HTTPS"}
    of_service = {"cloud.google.com/app-protocols": '{"http":"HTTPS"}'}
    tls = {"existingSecret": "api-certificate"}

    assert render("proxy", {**_service("gateway", tls=tls), "ingress": {"annotations": of_ingress}})
    assert render("proxy", _service("gateway", tls=tls, service={"annotations": of_service}))


def test_a_cluster_that_one_service_uses_is_taken() -> None:
    assert render(
        "strimzi-cnpg",
        {
            "database": {"maxConnections": 300},
            "cnpg": {"pooler": {"enabled": False}},
            "services": {"webhook-dispatcher": {"database": {"existingSecret": "webhooks"}}},
        },
    )


def test_a_cluster_behind_its_pooler_may_have_a_secret_of_the_operator() -> None:
    assert render("strimzi-cnpg", {"database": {"existingSecret": "pooler-dsn"}})


def test_a_trial_may_ask_an_issuer_in_the_clear() -> None:
    oauth = {"tokenEndpointUrl": "http://issuer.example/token"}

    assert render("oauth", {"dev": True, "kafka": {"sasl": {"oauth": oauth}}})


def test_a_trial_needs_neither_a_registry_nor_a_name_of_its_mail_server() -> None:
    assert render("proxy", {"image": {"registry": ""}})
