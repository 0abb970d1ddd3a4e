"""etcd, the API server, the controllers and the scheduler. Runs inside."""

import subprocess
import time

from dev.terminal import fail
from dev.waiting import wait_until

from k8s import daemons, layout
from k8s.layout import PKI, STATE

_ETCD = "http://127.0.0.1:2379"
_ETCD_PEER = "http://127.0.0.1:2380"


def start() -> None:
    """Returns when the API server is ready."""
    etcd = {
        "data-dir": STATE / "etcd",
        "log-level": "error",
        "listen-client-urls": _ETCD,
        "advertise-client-urls": _ETCD,
        "listen-peer-urls": _ETCD_PEER,
        "initial-advertise-peer-urls": _ETCD_PEER,
        "initial-cluster": f"default={_ETCD_PEER}",
    }
    daemons.start("etcd", ["etcd", "--unsafe-no-fsync", *_flags(etcd)])
    daemons.start("kube-apiserver", ["kube-apiserver", *_flags(_api_server())])
    _wait_ready()
    manager = _client("controller-manager") | {
        "service-account-private-key-file": PKI / "sa.key",
        "root-ca-file": PKI / "ca.crt",
        "use-service-account-credentials": "true",
        # Shorter than a cluster's, so that scaling is seen in a rehearsal.
        "horizontal-pod-autoscaler-sync-period": "5s",
        "horizontal-pod-autoscaler-downscale-stabilization": "30s",
        "horizontal-pod-autoscaler-initial-readiness-delay": "5s",
        "horizontal-pod-autoscaler-cpu-initialization-period": "30s",
    }
    daemons.start("kube-controller-manager", ["kube-controller-manager", *_flags(manager)])
    daemons.start("kube-scheduler", ["kube-scheduler", *_flags(_client("scheduler"))])


def _client(user: str) -> dict[str, object]:
    kubeconfig = STATE / f"{user}.kubeconfig"
    return {
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        "leader-elect": "false",
        "bind-address": "127.0.0.1",
        "profiling": "false",
    }


def _api_server() -> dict[str, object]:
    issuer = "https://kubernetes.default.svc.cluster.local"
    return {
        "etcd-servers": _ETCD,
        "bind-address": "0.0.0.0",  # noqa: S104 - of a network of its own
        "advertise-address": layout.HOST_ADDRESS,
        "secure-port": 6443,
        "client-ca-file": PKI / "ca.crt",
        "tls-cert-file": PKI / "apiserver.crt",
        "tls-private-key-file": PKI / "apiserver.key",
        "kubelet-client-certificate": PKI / "kubelet-client.crt",
        "kubelet-client-key": PKI / "kubelet-client.key",
        "kubelet-preferred-address-types": "InternalIP",
        "requestheader-client-ca-file": PKI / "ca.crt",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "proxy-client-cert-file": PKI / "front-proxy.crt",
        "proxy-client-key-file": PKI / "front-proxy.key",
        "enable-aggregator-routing": "true",
        "service-cluster-ip-range": layout.SERVICE_NETWORK,
        "service-account-issuer": issuer,
        "service-account-key-file": PKI / "sa.key",
        "service-account-signing-key-file": PKI / "sa.key",
        "authorization-mode": "Node,RBAC",
        "enable-admission-plugins": "NodeRestriction",
        "allow-privileged": "true",
        "profiling": "false",
    }


def _flags(settings: dict[str, object]) -> list[str]:
    return [f"--{name}={value}" for name, value in settings.items()]


def _wait_ready() -> None:
    ask = ["kubectl", "get", "--raw", "/readyz"]

    def is_ready() -> bool:
        return subprocess.run(ask, env=layout.environment(), capture_output=True).returncode == 0

    try:
        wait_until(is_ready, time.monotonic() + 120, "the API server is ready", every=0.2)
    except TimeoutError:
        fail("the API server did not get ready:\n" + daemons.last_lines("kube-apiserver"))


if __name__ == "__main__":
    start()
