"""The paths of the cluster's files, and the addresses in its network."""

import os
from pathlib import Path

from dev import paths

# The newest minor release whose kubelet takes cgroup v1 unasked.
KUBERNETES = "1.34.4"
CACHE = paths.cache("k8s")
BIN = CACHE / "bin"
IMAGES = CACHE / "images"
HERE = Path(__file__).parent

# Below /var/tmp: PostgreSQL's OS user must reach its data, containerd wants a disk with overlays.
STATE = Path(os.environ.get("TEMPINBOX_K8S_STATE", "/var/tmp/tempinbox-k8s"))  # noqa: S108 - root's
LOGS = STATE / "log"
RUN = STATE / "run"
PKI = STATE / "pki"
ADMIN = STATE / "admin.kubeconfig"
CGROUP = "tempinbox-k8s"  # one below the root of each controller

NODES = 3
NODE_MEMORY_MIB = 6144
NETWORK = "10.250.0"  # of the nodes; .1 is where everything beside them listens
HOST_ADDRESS = f"{NETWORK}.1"
HOST = "host.cluster"  # its name, in pods and beside them
POD_NETWORK = "10.244"
SERVICE_NETWORK = "10.96.0.0/16"
DNS_ADDRESS = "10.96.0.10"
API_SERVER = f"https://{HOST_ADDRESS}:6443"

# Set for programs that run in the cluster's namespaces.
INSIDE = "TEMPINBOX_K8S_INSIDE"


def node_name(number: int) -> str:
    """n1, n2, ..."""
    return f"n{number}"


def node_address(number: int) -> str:
    """Returns the node's address on the bridge."""
    return f"{NETWORK}.{10 + number}"


def node_names() -> list[str]:
    """Returns the names of all nodes."""
    return [node_name(number) for number in range(1, NODES + 1)]


def environment() -> dict[str, str]:
    """Returns the environment of every program of the cluster: its own binaries first, and what
    kubectl and helm need.
    """
    own = {
        "PATH": f"{BIN}:/usr/sbin:/usr/bin:/sbin:/bin",
        "KUBECONFIG": str(ADMIN),
        "HELM_CACHE_HOME": str(STATE / "helm"),
        "HELM_CONFIG_HOME": str(STATE / "helm"),
        "HELM_DATA_HOME": str(STATE / "helm"),
        "PYTHONPATH": paths.HARNESS_PYTHON_PATH,
    }
    if INSIDE in os.environ:
        own[INSIDE] = os.environ[INSIDE]
    return paths.clean_environment() | own
