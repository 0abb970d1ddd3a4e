"""The chart as it is installed in the rehearsal: its Secrets, its values, and what helm and kubectl
say of it. Runs inside.
"""

import base64
import json
import math
import re
import secrets
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dev import paths
from dev.terminal import fail
from dev.waiting import wait_until

from k8s import host_services, layout

CHART = paths.ROOT / "deploy" / "helm" / "tempinbox"
NAMESPACE = "tempinbox"
RELEASE = "tempinbox"
SERVICES = ["gateway", "inbox", "mail-ingest", "rate-limit", "webhook-dispatcher"]
DOMAIN = "inbox.example.com"
EMAIL = "ops@example.com"
PARTITIONS = 12
_DRAINING_SECONDS = 45.0  # more than the chart's terminationGracePeriodSeconds
OTLP_PORT = 4318
WEBHOOK_PORT = 8600
# Settings of the chart that releases before it did not have.
DATABASE_FILE = "TEMPINBOX_DATABASE_FILE"
KAFKA_PASSWORD_FILE = "TEMPINBOX_KAFKA_SASL_PASSWORD_FILE"  # noqa: S105 - a name
RPC_TLS = "TEMPINBOX_RPC_TLS_CERTIFICATE_FILE"
NEWER_SETTINGS = [DATABASE_FILE, KAFKA_PASSWORD_FILE, RPC_TLS]
Object = dict[str, Any]
# The part of the API that the restricted profile is asked of.
_PROFILE = {
    "pod-security.kubernetes.io/enforce": "restricted",
    "pod-security.kubernetes.io/warn": "restricted",
}


def version() -> str:
    """Returns the version of this checkout's images."""
    return (paths.ROOT / "VERSION").read_text(encoding="ascii").strip()


def kubectl(*arguments: str, data: str | None = None, namespace: str = NAMESPACE) -> str:
    """Runs it and answers what it printed; its failure is ours."""
    return _run(["kubectl", "-n", namespace, *arguments], data)


def helm(*arguments: str, data: str | None = None) -> str:
    """The same with helm."""
    return _run(["helm", "-n", NAMESPACE, *arguments], data)


def attempt(*command: str, data: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Runs a command that may fail."""
    return subprocess.run(
        list(command),
        env=layout.environment(),
        input=data,
        stdin=subprocess.DEVNULL if data is None else None,
        capture_output=True,
        text=True,
    )


def _run(command: list[str], data: str | None) -> str:
    done = attempt(*command, data=data)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip())[-1500:]
        fail(f"{' '.join(command[:9])}: {said}")
    return done.stdout


def get(kind: str, *more: str, namespace: str = NAMESPACE) -> Any:
    """Objects as JSON."""
    return json.loads(kubectl("get", kind, *more, "-o", "json", namespace=namespace))


def make_namespace(name: str, profile: str = "latest") -> None:
    """Makes a namespace with the restricted profile of that version enforced."""
    labels = _PROFILE | {"pod-security.kubernetes.io/enforce-version": profile}
    described = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": labels},
    }
    kubectl("apply", "-f", "-", data=json.dumps(described), namespace="default")


# Secrets, as an operator makes them.


def put_secret(name: str, data: dict[str, str], kind: str = "Opaque") -> None:
    """Made, or replaced as a rotation does."""
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    described = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "data": encoded,
    }
    kubectl("apply", "-f", "-", data=json.dumps(described))


def secret(name: str, key: str) -> str:
    """Returns one value of a Secret."""
    return base64.b64decode(get("secret", name)["data"][key]).decode()


def new_token() -> str:
    """Makes a token of internal calls, or a password."""
    return secrets.token_urlsafe(32)


def new_master_key(name: str) -> str:
    """Makes one line of the file."""
    return f"{name}:{base64.b64encode(secrets.token_bytes(32)).decode()}"


def issue(name: str, *hosts: str) -> dict[str, str]:
    """A certificate for these names, as a Secret of type kubernetes.io/tls has it, and who signed
    it.
    """
    folder = host_services.authority().issue(name, ",".join(f"DNS:{host}" for host in hosts))
    files = {"tls.crt": "certificate.pem", "tls.key": "key.pem", "ca.crt": "ca.pem"}
    return {key: (folder / file).read_text(encoding="ascii") for key, file in files.items()}


def rpc_names() -> list[str]:
    """Returns the names by which services call each other."""
    return [
        f"{RELEASE}-{service}.{NAMESPACE}.svc.cluster.local"
        for service in ("inbox", "rate-limit", "webhook-dispatcher")
    ]


def make_secrets() -> None:
    """All of them, once: what is sealed under a master key is lost with it."""
    if attempt("kubectl", "-n", NAMESPACE, "get", "secret", "bootstrap").returncode == 0:
        return
    authorities = host_services.authority().ca_file.read_text(encoding="ascii")
    put_secret("database", {"uri": host_services.dsn()})
    put_secret("authorities", {"ca.crt": authorities})
    put_secret("kafka-user", {"password": host_services.known_secrets().kafka})
    properties = {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": "/etc/tempinbox/kafka-ca/ca.pem",
        "sasl.mechanism": host_services.MECHANISM,
        "sasl.username": host_services.KAFKA_USER,
        "sasl.password": host_services.known_secrets().kafka,
    }
    lines = "".join(f"{name}={value}\n" for name, value in properties.items())
    put_secret("kafka-properties", {"kafka.properties": lines})
    put_secret("rpc-token", {"token": new_token() + "\n"})
    put_secret("rpc-tls", issue("rpc", *rpc_names()), "kubernetes.io/tls")
    put_secret("mail-tls", issue("mail", f"mx.{DOMAIN}"), "kubernetes.io/tls")
    put_secret("master-keys", {"master-keys": new_master_key("first") + "\n"})
    put_secret("admin-token", {"token": new_token() + "\n"})
    put_secret("bootstrap", {"password": new_token()})


# Values.


def values() -> Object:
    """Returns the values of the rehearsal: two pods of each service, TLS everywhere, small
    requests.
    """
    host = f"{layout.HOST_ADDRESS}/32"
    nodes = f"{layout.NETWORK}.0/24"
    pods = f"{layout.POD_NETWORK}.0.0/16"
    telemetry = {
        "otel-exporter-otlp-endpoint": f"http://{layout.HOST}:{OTLP_PORT}",
        "otel-traces-sampler-arg": "0.05",
    }
    return {
        "image": {"registry": "localhost", "tag": version(), "pullPolicy": "Never"},
        "cluster": {"networks": [pods, layout.SERVICE_NETWORK]},
        "database": {
            "existingSecret": "database",
            "maxConnections": host_services.MAX_CONNECTIONS,
            "tls": {"mode": "verify-full", "existingSecret": "authorities"},
        },
        "kafka": {
            "brokers": host_services.brokers().brokers.split(","),
            "rackLabel": "",
            "securityProtocol": "SASL_SSL",
            "tls": {"existingSecret": "authorities"},
            "sasl": {
                "mechanism": host_services.MECHANISM,
                "username": host_services.KAFKA_USER,
                "existingSecret": "kafka-user",
            },
        },
        "topics": {"partitions": PARTITIONS, "replicas": 3},
        "rpc": {
            "token": {"existingSecret": "rpc-token"},
            "tls": {"existingSecret": "rpc-tls"},
        },
        "masterKeys": {"existingSecret": "master-keys"},
        "adminToken": {"existingSecret": "admin-token"},
        "defaults": {
            "replicas": 2,
            "minReadySeconds": 3,
            "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
            "settings": telemetry,
        },
        "services": {
            # All load comes from one address and one account, a fifth of it with a key of its own.
            "gateway": {
                "settings": {"exempt-networks": f"{nodes},{pods}", "idempotency-keys-per-day": "0"}
            },
            "inbox": {"settings": {"inbox-max-emails": "0", "inbox-max-bytes": "0"}},
            "mail-ingest": {
                "loadBalancer": {"type": "ClusterIP"},
                "tls": {"existingSecret": "mail-tls"},
                "settings": {
                    "hostname": f"mx.{DOMAIN}",
                    "exempt-networks": f"{nodes},{pods}",
                    "inbox-rate-per-minute": "0",
                    "inbox-max-emails": "0",
                    "inbox-max-bytes": "0",
                },
            },
            "webhook-dispatcher": {
                "settings": {"webhook-allow-networks": host, "webhook-allow-http": "true"},
            },
        },
        "setup": {
            "backoffLimit": 2,
            "bootstrap": {
                "enabled": True,
                "domain": DOMAIN,
                "email": EMAIL,
                "existingSecret": "bootstrap",
            },
        },
    }


def without(unknown: list[str]) -> Object:
    """Values for a release that does not know these settings: the same by those that it has."""
    over: Object = {}
    if DATABASE_FILE in unknown:
        reference = {"secretKeyRef": {"name": "database", "key": "uri"}}
        variable = {"extraEnv": [{"name": "TEMPINBOX_DATABASE", "valueFrom": reference}]}
        over |= {"defaults": variable, "tools": variable}
    if KAFKA_PASSWORD_FILE in unknown:
        over["kafka"] = {"propertiesFile": {"existingSecret": "kafka-properties"}}
    if RPC_TLS in unknown:
        over["rpc"] = {"tls": {"existingSecret": ""}}
    return over


def with_all(unknown: list[str]) -> Object:
    """Returns the values that the upgrade from there changes. A port is plain or TLS, so calls stay
    plain.
    """
    over: Object = {}
    if DATABASE_FILE in unknown:
        over |= {"defaults": {"extraEnv": []}, "tools": {"extraEnv": []}}
    if KAFKA_PASSWORD_FILE in unknown:
        over["kafka"] = {"propertiesFile": {"existingSecret": ""}}
    return over


def laid_over(base: Object, over: Object) -> Object:
    """Lays one file of values over another, as helm does."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = laid_over(old, value) if both else value  # type: ignore[arg-type] # both are
    return merged


@dataclass(frozen=True)
class Budget:
    """The budget of connections to PostgreSQL, by an upgrade that took from here to there."""

    began: float
    ended: float
    connections: int


def _connection_budget() -> int:
    """Returns what the chart adds up for all pods and their surge, as it gives it to the doctor."""
    hooks = helm("get", "hooks", RELEASE)
    found = re.search(r"--connection-budget\"?\n\s*- \"?(\d+)", hooks)
    if not found:
        fail("the chart's test does not say the budget of connections")
    return int(found[1])


@dataclass
class Installation:
    """The release, with the values that it was last given."""

    given: Object = field(default_factory=values)
    chart: Path = CHART
    _budgets: list[Budget] = field(default_factory=list)

    def upgrade(
        self, over: Object | None = None, *options: str, seconds: int = 300, keeps: bool = True
    ) -> None:
        """`helm upgrade --install --wait` with values laid over those so far; with `keeps` they
        stay.
        """
        expected = laid_over(self.given, over or {})
        done = self.try_upgrade(expected, *options, seconds=seconds)
        if done.returncode != 0:
            fail(f"helm upgrade failed: {(done.stderr or done.stdout)[-1500:]}")
        if keeps:
            self.given = expected

    def try_upgrade(
        self, expected: Object, *options: str, seconds: int = 300
    ) -> "subprocess.CompletedProcess[str]":
        """Tries an upgrade with exactly these values; it may fail."""
        command = ["helm", "-n", NAMESPACE, "upgrade", "--install", RELEASE, str(self.chart)]
        command += ["--wait", f"--timeout={seconds}s", "--history-max=20", "-f", "-", *options]
        began = time.monotonic()
        done = attempt(*command, data=json.dumps(expected))
        if done.returncode == 0:
            self._budgets.append(Budget(began, time.monotonic(), _connection_budget()))
        return done

    def connection_budget(self, at: float) -> int:
        """Returns what the chart allowed at that moment: what was chosen last, and what was before
        it until the last pod of that has ended.
        """
        ends = [it.ended + _DRAINING_SECONDS for it in self._budgets[1:]] + [math.inf]
        allowed = [
            budget.connections
            for budget, ended in zip(self._budgets, ends, strict=True)
            if budget.began <= at <= ended
        ]
        return max(allowed, default=0)

    def revision(self) -> int:
        """The newest."""
        return int(json.loads(helm("history", RELEASE, "-o", "json"))[-1]["revision"])


# Pods.


def pods(service: str | None = None) -> list[Object]:
    """Returns the pods of the release, or of one service; none that ends."""
    labels = f"app.kubernetes.io/instance={RELEASE}"
    if service:
        labels += f",app.kubernetes.io/component={service}"
    found = get("pods", "-l", labels)["items"]
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def is_ready(pod: Object) -> bool:
    """Returns whether it is in its Service."""
    conditions = pod["status"].get("conditions") or []
    return any(it["type"] == "Ready" and it["status"] == "True" for it in conditions)


def ready(service: str) -> list[Object]:
    """The pods of a service that are."""
    return [pod for pod in pods(service) if is_ready(pod)]


def ready_all() -> list[Object]:
    """The pods of every service that are."""
    return [pod for service in SERVICES for pod in ready(service)]


def name_of(item: Object) -> str:
    """Returns the name of an object."""
    return str(item["metadata"]["name"])


def deployment(service: str) -> str:
    """Returns the deployment's name as kubectl takes it."""
    return f"deploy/{RELEASE}-{service}"


def wait_rolled_out(services: list[str] | None = None, seconds: int = 240) -> None:
    """Returns when every pod is of the newest template, and ready."""
    for service in services or SERVICES:
        kubectl("rollout", "status", deployment(service), f"--timeout={seconds}s")


def wait_for(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """`wait_until` with a look twice a second: each asks the API."""
    try:
        return wait_until(condition, time.monotonic() + seconds, what, every=0.5)
    except TimeoutError as late:
        fail(str(late))


def wait_whole(service: str, count: int = 2) -> None:
    """Returns when so many of its pods are ready."""
    wait_for(lambda: len(ready(service)) >= count, 120, f"{count} pods of {service} are ready")


def service_address(service: str) -> str:
    """The address of a Service with one, as its callers outside use it."""
    found = [
        it
        for it in get("services", "-l", f"app.kubernetes.io/component={service}")["items"]
        if it["spec"].get("clusterIP") not in (None, "None")
    ]
    if not found:
        fail(f"{service} has no Service with an address")
    return f"{found[0]['spec']['clusterIP']}:{found[0]['spec']['ports'][0]['port']}"


def restarts() -> dict[str, int]:
    """Returns how often each pod's container was started again."""
    return {
        name_of(pod): sum(it["restartCount"] for it in pod["status"].get("containerStatuses") or [])
        for pod in pods()
    }


# The operator's command line, in a Job made from the chart's pattern.


def operate(*arguments: str, seconds: int = 120) -> Any:
    """Its JSON answer."""
    pattern = get("cronjob", f"{RELEASE}-ctl")
    pod = pattern["spec"]["jobTemplate"]["spec"]
    pod["template"]["spec"]["containers"][0]["args"] = [*arguments, "--output", "json"]
    name = f"ctl-{secrets.token_hex(4)}"
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": pod,
    }
    kubectl("create", "-f", "-", data=json.dumps(job))

    def ended() -> str | None:
        conditions = get("job", name)["status"].get("conditions") or []
        kinds = [it["type"] for it in conditions if it["status"] == "True"]
        return next((it for it in kinds if it in ("Complete", "Failed")), None)

    outcome = wait_for(ended, seconds, f"tempinboxctl {arguments[0]} ends")
    said = kubectl("logs", f"job/{name}")
    kubectl("delete", "job", name, "--wait=false")
    if outcome != "Complete":
        fail(f"tempinboxctl {' '.join(arguments[:2])} failed: {said[-1500:]}")
    try:
        return json.loads(said)
    except ValueError:
        return said
