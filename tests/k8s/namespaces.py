"""Keeps the cluster apart from the machine: one process whose end is the end of everything.

It owns a PID, a network and a mount namespace; each node has a further network and mount namespace
below. The machine's own network is neither touched nor reachable from inside.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from dev.terminal import fail, warn
from dev.waiting import wait_until

from k8s import layout
from k8s.layout import CGROUP, STATE

_INIT_PID = STATE / "namespace_init.pid"
_CONTROLLERS = [
    "cpu",
    "cpuacct",
    "cpuset",
    "memory",
    "devices",
    "freezer",
    "blkio",
    "pids",
    "hugetlb",
    "systemd",
    "unified",
]
# All pods together weigh as much as eight other processes of the machine: the control plane, Kafka,
# PostgreSQL and the load weigh 1024 each.
_CPU_SHARES = 8192
_NAMESPACES = ["--mount", "--net", "--pid", "--uts", "--ipc"]


def is_inside() -> bool:
    """Returns whether this process runs in the cluster's namespaces."""
    return bool(os.environ.get(layout.INSIDE))


def is_running() -> bool:
    """Returns whether a cluster is there (from outside)."""
    try:
        command = Path(f"/proc/{_INIT_PID.read_text().strip()}/cmdline").read_bytes()
    except OSError:
        return False
    return b"namespace_init.sh" in command


def entrance(node: str | None = None) -> list[str]:
    """Returns what to put before a command, so that it runs in the cluster's or a node's
    namespaces.
    """
    found = []
    if not is_inside():
        found += ["nsenter", "-t", _INIT_PID.read_text().strip(), *_NAMESPACES, "--"]
        found += ["env", f"--chdir={Path.cwd()}", f"{layout.INSIDE}=1"]
    if node:
        pid = (STATE / node / "pid").read_text().strip()
        found += ["nsenter", "-t", pid, "--mount", "--net", "--uts", "--"]
        found += ["env", f"--chdir={Path.cwd()}"]
    return found


def run_python(module: str, *arguments: str, node: str | None = None) -> int:
    """A module of ours inside; its exit code."""
    command = [*entrance(node), sys.executable, "-B", "-m", module, *arguments]
    return subprocess.run(command, env=layout.environment()).returncode


def check(command: list[str], node: str | None = None, data: str | None = None) -> str:
    """Runs a command inside and answers what it printed; its failure is ours."""
    done = subprocess.run(
        [*entrance(node), *command],
        env=layout.environment(),
        input=data,
        stdin=subprocess.DEVNULL if data is None else None,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        fail(f"{' '.join(command[:6])} ... failed ({done.returncode}): {done.stdout}{done.stderr}")
    return done.stdout


def make() -> None:
    """The process that holds everything, once."""
    if is_running():
        return
    for path in [
        _INIT_PID,
        STATE / "namespace_init.ready",
        *layout.RUN.glob("*.pid"),
        *STATE.glob("n*/pid"),
    ]:
        path.unlink(missing_ok=True)
    command = ["unshare", *_NAMESPACES, "--fork", "--mount-proc", "--propagation", "private", "--"]
    command += ["bash", str(layout.HERE / "namespace_init.sh"), str(STATE)]
    command += [layout.NETWORK, layout.SERVICE_NETWORK]
    with open(layout.LOGS / "namespace_init.log", "wb") as log:
        process = subprocess.Popen(
            command,
            env=layout.environment() | {layout.INSIDE: "1"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_until(
            (STATE / "namespace_init.ready").exists,
            time.monotonic() + 10,
            "the cluster's namespaces",
        )
    except TimeoutError:
        process.kill()
        fail(f"no namespaces could be made:\n{(layout.LOGS / 'namespace_init.log').read_text()}")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    _INIT_PID.write_text(children.strip())


def make_node(number: int) -> None:
    """A node's namespaces and its cable to the bridge (asked from inside)."""
    name = layout.node_name(number)
    known = STATE / name / "pid"
    if known.exists():
        return
    (STATE / name).mkdir(exist_ok=True)
    command = ["unshare", "--mount", "--net", "--uts", "--propagation", "private"]
    process = subprocess.Popen(
        [*command, "sleep", "infinity"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # unshare becomes sleep once the namespaces are there.
    title = Path(f"/proc/{process.pid}/comm")
    wait_until(
        lambda: title.read_text() == "sleep\n", time.monotonic() + 10, f"{name}'s namespaces"
    )
    cable = f"v{name}"
    check(["ip", "link", "add", cable, "type", "veth", "peer", "eth0", "netns", str(process.pid)])
    check(["ip", "link", "set", cable, "master", "kbr0", "up"])
    pods = f"{layout.POD_NETWORK}.{number}.0/24"
    check(["ip", "route", "replace", pods, "via", layout.node_address(number)])
    known.write_text(str(process.pid))


# Groups of processes are the one thing that is the whole machine's.


def _hierarchies() -> list[Path]:
    top = Path("/sys/fs/cgroup")
    if (top / "cgroup.controllers").exists():
        return [top]
    return [top / name for name in _CONTROLLERS if (top / name).is_dir()]


def make_cgroup(node: str) -> None:
    """The kubelet wants its group to be there; in version 1 a new cpuset is unusable until it is
    filled.
    """
    for top in _hierarchies():
        if top.name == "unified":
            continue
        groups = [top / CGROUP, top / CGROUP / node]
        groups[-1].mkdir(parents=True, exist_ok=True)
        if top.name == "cpuset":
            for group in groups:
                for name in ("cpuset.cpus", "cpuset.mems"):
                    if not (group / name).read_text().strip():
                        (group / name).write_text((top / name).read_text())
        elif top.name == "memory":
            for group in groups:
                if (group / "memory.use_hierarchy").read_text().strip() != "1":
                    (group / "memory.use_hierarchy").write_text("1")
        elif top.name == "cpu":
            (groups[0] / "cpu.shares").write_text(str(_CPU_SHARES))
        elif top.name == "cgroup":  # version 2, which no machine at hand had
            for group in (top, groups[0]):
                for name in (group / "cgroup.controllers").read_text().split():
                    with contextlib.suppress(OSError):
                        (group / "cgroup.subtree_control").write_text(f"+{name}")


def remove() -> None:
    """Ends the first process, and with it everything; then its groups and its folder."""
    if is_running():
        pid = int(_INIT_PID.read_text())
        os.kill(pid, signal.SIGKILL)
        gone = Path(f"/proc/{pid}")
        wait_until(lambda: not gone.exists(), time.monotonic() + 30, "the end of the cluster")
    for left in leftover_cgroups():
        warn(f"a group of processes is left: {left}")
    if layout.RUN.is_dir():  # a folder that was made here
        shutil.rmtree(STATE)
    for folder in ("kubelet", "cni", "containerd"):
        with contextlib.suppress(OSError):  # mount points; not empty where it is somebody else's
            Path("/var/lib", folder).rmdir()


def leftover_cgroups() -> list[Path]:
    """Returns what is left of the groups when they were removed."""
    for top in _hierarchies():
        with contextlib.suppress(TimeoutError):
            wait_until(
                lambda group=top / CGROUP: _remove_cgroup(group),  # type: ignore[misc] # bound
                time.monotonic() + 5,
                "an empty group",
            )
    return [top / CGROUP for top in _hierarchies() if (top / CGROUP).exists()]


def _remove_cgroup(group: Path) -> bool:
    for folder, _, _ in os.walk(group, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(folder)
    return not group.exists()
