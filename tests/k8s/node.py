"""Runs one node: containerd, kubelet, kube-proxy and the agent for network policies.

Runs in the node's namespaces: `python3 -m k8s.node NUMBER`.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

from dev.terminal import fail
from dev.waiting import wait_until

from k8s import daemons, layout
from k8s.layout import PKI, STATE


def start(number: int) -> None:
    """Starts what does not run; returns when images can be loaded."""
    name, address = layout.node_name(number), layout.node_address(number)
    folder = STATE / name
    routes = [
        f"{layout.POD_NETWORK}.{other}.0/24={layout.node_address(other)}"
        for other in range(1, layout.NODES + 1)
        if other != number
    ]
    furnish = ["bash", str(layout.HERE / "node.sh"), str(STATE), name, address]
    subprocess.run([*furnish, layout.HOST_ADDRESS, *routes], check=True)
    (folder / "net.d").mkdir(exist_ok=True)
    daemons.write(folder / "net.d" / "10-pods.conflist", json.dumps(_pod_network(number)))
    daemons.write(folder / "containerd.toml", _containerd(folder))
    daemons.start(f"{name}-containerd", ["containerd", "--config", f"{folder}/containerd.toml"])
    _wait_containerd(name)
    # JSON is YAML, and needs no package to be written.
    daemons.write(folder / "kubelet.yaml", json.dumps(_kubelet(name, address), indent=1))
    kubelet = {
        "config": folder / "kubelet.yaml",
        "kubeconfig": STATE / f"{name}.kubeconfig",
        "hostname-override": name,
        "node-ip": address,
        "root-dir": "/var/lib/kubelet",
        "cert-dir": "/var/lib/kubelet/pki",
        "node-labels": f"topology.kubernetes.io/zone=z{number}",
    }
    flags = [f"--{flag}={value}" for flag, value in kubelet.items()]
    daemons.start(f"{name}-kubelet", ["kubelet", *flags])
    daemons.write(folder / "proxy.yaml", json.dumps(_proxy(name), indent=1))
    daemons.start(f"{name}-proxy", ["kube-proxy", f"--config={folder}/proxy.yaml"])
    agent = [sys.executable, "-B", "-m", "k8s.network_policy", name]
    daemons.start(f"{name}-network-policy", agent)


def _wait_containerd(name: str) -> None:
    ask = ["ctr", "version"]
    try:
        wait_until(
            lambda: subprocess.run(ask, capture_output=True).returncode == 0,
            time.monotonic() + 30,
            "containerd answers",
        )
    except TimeoutError:
        fail(f"containerd of {name} does not answer:\n" + daemons.last_lines(f"{name}-containerd"))


def _pod_network(number: int) -> dict[str, object]:
    """Each pod has a routed cable of its own, so that all traffic passes the hook of policies."""
    pods = {
        "type": "host-local",
        "dataDir": "/run/cni-ipam",
        "ranges": [[{"subnet": f"{layout.POD_NETWORK}.{number}.0/24"}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    return {
        "cniVersion": "0.4.0",
        "name": "pods",
        "plugins": [
            {"type": "ptp", "ipMasq": False, "ipam": pods},
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def _containerd(folder: Path) -> str:
    unused = [f"io.containerd.snapshotter.v1.{it}" for it in ("aufs", "btrfs", "zfs", "devmapper")]
    cri = 'plugins."io.containerd.grpc.v1.cri"'
    return f"""version = 2
disabled_plugins = {json.dumps([*unused, "io.containerd.internal.v1.opt"])}
[{cri}]
  sandbox_image = "localhost/pause:1"
  # A machine without CAP_SYS_RESOURCE refuses a score below one's own.
  restrict_oom_score_adj = true
  [{cri}.cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{folder}/net.d"
  [{cri}.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [{cri}.containerd.runtimes.runc.options]
      SystemdCgroup = false
"""


def _memory_mib() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) // 1024
    return 0


def _kubelet(name: str, address: str) -> dict[str, object]:
    reserved = max(0, _memory_mib() - layout.NODE_MEMORY_MIB)
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": address,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{PKI}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": f"{PKI}/{name}.crt",
        "tlsPrivateKeyFile": f"{PKI}/{name}.key",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{layout.CGROUP}/{name}",
        "failCgroupV1": False,
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "clusterDNS": [layout.DNS_ADDRESS],
        "clusterDomain": "cluster.local",
        "resolvConf": "",
        "failSwapOn": False,
        "oomScoreAdj": 0,
        # The delay until a changed Secret reaches a pod; a minute by default.
        "syncFrequency": "10s",
        "nodeStatusUpdateFrequency": "5s",
        "systemReserved": {"memory": f"{reserved}Mi"},
        "evictionHard": {
            "memory.available": "50Mi",
            "nodefs.available": "1%",
            "imagefs.available": "1%",
            "nodefs.inodesFree": "1%",
        },
        # An image that was thrown away could not be fetched again.
        "imageGCHighThresholdPercent": 100,
        "serializeImagePulls": True,
    }


def _proxy(name: str) -> dict[str, object]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": f"{STATE}/proxy.kubeconfig"},
        "mode": "nftables",
        "hostnameOverride": name,
        "clusterCIDR": f"{layout.POD_NETWORK}.0.0/16",
        "detectLocalMode": "ClusterCIDR",
        "oomScoreAdj": 0,
        # The table's size is the machine's.
        "conntrack": {
            "maxPerCore": 0,
            "min": 0,
            "tcpEstablishedTimeout": "0s",
            "tcpCloseWaitTimeout": "0s",
        },
    }


if __name__ == "__main__":
    start(int(sys.argv[1]))
