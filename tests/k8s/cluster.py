"""The cluster as a whole: up, down, and what this machine lacks for it."""

import os
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dev import packages
from dev.terminal import fail, heading, item
from dev.waiting import wait_until

from k8s import binaries, images, layout, namespaces, pki
from k8s.layout import DNS_ADDRESS, STATE

_MANIFESTS = layout.HERE / "manifests"
_OLDEST_GO = (1, 24)


def missing() -> list[str]:
    """Lists what this machine lacks and ./dev cannot bring, each with what to do."""
    found = []
    if os.geteuid() != 0:
        found.append("root: the cluster makes namespaces and groups of processes; run it as root")
    if os.uname().machine != "x86_64":
        found.append("an x86-64 machine: helm and kubectl come as programs for it")
    if binaries.needs_go() and _go_version() < _OLDEST_GO:
        minimum = ".".join(map(str, _OLDEST_GO))
        lacking = ", ".join(binaries.lacking())
        found.append(f"Go {minimum} or later in PATH, to build {lacking} (once, 20 minutes)")
    if not found and not _has_nftables():
        found.append("nftables in the kernel (CONFIG_NF_TABLES, CONFIG_NFT_CT, CONFIG_NFT_MASQ)")
    if not any(Path("/sys/fs/cgroup", name).exists() for name in ("memory", "cgroup.controllers")):
        found.append("groups of processes: neither version of cgroups is mounted")
    return found


def _go_version() -> tuple[int, ...]:
    go = shutil.which("go", path=f"{os.environ.get('PATH', '')}:/usr/local/go/bin")
    if not go:
        return (0,)
    version = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True).stdout
    parts = version.strip().removeprefix("go").split(".")[:2]
    return tuple(int(part) for part in parts if part.isdigit())


def _has_nftables() -> bool:
    """Tried in a network namespace of its own."""
    rules = "add table ip t; add chain ip t c { type nat hook postrouting priority 100; }; "
    rules += "add rule ip t c ct state established masquerade"
    tried = ["unshare", "--net", "nft", rules]
    return shutil.which("nft") is None or subprocess.run(tried, capture_output=True).returncode == 0


def up() -> None:
    """Starts the cluster, or completes it; returns when nodes are ready and names resolve."""
    packages.ensure("k8s", "run")
    binaries.ensure()
    started = time.monotonic()
    heading(f"Kubernetes {layout.KUBERNETES}")
    for folder in (layout.LOGS, layout.RUN):
        folder.mkdir(parents=True, exist_ok=True)
    STATE.chmod(0o711)  # PostgreSQL's OS user passes
    namespaces.make()
    pki.prepare()
    if namespaces.run_python("k8s.control_plane") != 0:
        fail(f"the control plane did not start; its logs are in {layout.LOGS}")
    item("control plane", f"ready after {time.monotonic() - started:.1f} s")
    for node in layout.node_names():
        namespaces.make_cgroup(node)
    if namespaces.run_python("k8s.cluster_nodes") != 0:
        fail("the nodes' namespaces could not be made")
    _start_nodes()
    _load_own_images()
    nodes = [f"node/{node}" for node in layout.node_names()]
    wait_until(
        lambda: _succeeds("get", *nodes), time.monotonic() + 90, "the nodes are known", every=0.3
    )
    kubectl("wait", "--for=condition=Ready", "--timeout=120s", *nodes)
    item("nodes", f"{layout.NODES} ready after {time.monotonic() - started:.1f} s")
    _apply("dns.yaml", binaries.COREDNS_IMAGE)
    _apply("metrics_server.yaml", binaries.METRICS_SERVER_IMAGE)
    kubectl("-n", "kube-system", "rollout", "status", "deploy/coredns", "--timeout=120s")
    # A ready pod is no proof that its Service leads to it.
    ask = [sys.executable, "-B", "-c", "import k8s.cluster as c, sys; sys.exit(not c.answers())"]
    wait_until(
        lambda: _is_good([*namespaces.entrance(), *ask]),
        time.monotonic() + 60,
        "names of the cluster resolve",
        every=0.3,
    )
    item("names", f"resolve after {time.monotonic() - started:.1f} s")


def _start_nodes() -> None:
    def start(number: int) -> int:
        node = layout.node_name(number)
        return namespaces.run_python("k8s.node", str(number), node=node)

    with ThreadPoolExecutor(layout.NODES) as pool:
        if any(pool.map(start, range(1, layout.NODES + 1))):
            fail(f"a node did not start; the logs are in {layout.LOGS}")


def _load_own_images() -> None:
    own = sorted(layout.IMAGES.glob("*.tar"))
    needed = {name for archive in own for name in images.named_in(archive)}
    if any(not needed <= images.loaded(node) for node in layout.node_names()):
        images.load(own)


def _apply(manifest: str, image: str) -> None:
    text = (_MANIFESTS / manifest).read_text(encoding="utf-8")
    filled = {"IMAGE": image, "HOST_ADDRESS": layout.HOST_ADDRESS, "DNS_ADDRESS": DNS_ADDRESS}
    lines = text.split("\n", 1)  # the first line says what is filled in
    for name, value in filled.items():
        lines[1] = lines[1].replace(name, value)
    kubectl("apply", "-f", "-", data=lines[1])


def kubectl(*arguments: str, data: str | None = None) -> str:
    """Runs it inside and answers what it printed."""
    return namespaces.check(["kubectl", *arguments], data=data)


def _succeeds(*arguments: str) -> bool:
    return _is_good([*namespaces.entrance(), "kubectl", *arguments])


def _is_good(command: list[str]) -> bool:
    done = subprocess.run(command, env=layout.environment(), capture_output=True)
    return done.returncode == 0


def answers(name: str = "kubernetes.default.svc.cluster.local") -> bool:
    """Returns whether the cluster's name server, by its Service's address, knows the name."""
    encoded = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    question = b"\0\1\1\0\0\1\0\0\0\0\0\0" + encoded + b"\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(1)
        try:
            asking.sendto(question, (DNS_ADDRESS, 53))
            answer = asking.recv(512)
        except OSError:
            return False
    return answer[3] & 15 == 0 and answer[7] > 0


def down() -> None:
    """Ends everything and leaves nothing."""
    namespaces.remove()


def left_behind() -> list[str]:
    """Lists what is still there after `down` and should not be."""
    found = [f"a group of processes: {it}" for it in namespaces.leftover_cgroups()]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if f"\0{layout.INSIDE}=1\0".encode() in b"\0" + environment + b"\0":
            found.append(f"a process: {pid}")
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    found += [f"a mount: {line}" for line in mounts.splitlines() if str(STATE) in line]
    if STATE.exists():
        found.append(f"a folder: {STATE}")
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout
    if "kbr0" in links:
        found.append("a network interface: kbr0")
    named = subprocess.run(["ip", "netns"], capture_output=True, text=True).stdout.split()
    found += [f"a network namespace: {it}" for it in named if it.startswith("cni-")]
    return found
