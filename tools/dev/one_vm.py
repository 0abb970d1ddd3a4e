"""deploy/compose/production.yaml on a Docker daemon: installed as docs/operations/one-vm.md says,
in a folder and under a name of its own, for `./dev image --check` and `./dev bench one-vm`.
"""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from dev import image, one_vm_load, one_vm_logins, pages, paths, version
from dev.docker import Docker
from dev.one_vm_load import Plan
from dev.ports import free_port
from dev.terminal import Missing, fail
from dev.waiting import wait_until

PAGE = paths.ROOT / "docs" / "operations" / "one-vm.md"
KEPT = ["mail-ingest", "gateway", "inbox", "rate-limit", "webhook-dispatcher", "kafka", "postgres"]
_READY_SECONDS = 300
_PAGE_SECONDS = 900
_LOAD_SECONDS = 150  # about what the kills take on two cores
_PROJECT = "tempinbox-one-vm"


@dataclass(frozen=True)
class OneVm:
    """An installation that runs. Its folders are below `folder`; project names the containers."""

    docker: Docker
    folder: Path
    environment: dict[str, str]
    api: int
    smtp: int
    submission: int
    submissions: int
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The folder that the page calls /srv/tempinbox."""
        return self.folder / "srv"

    def compose(self, *arguments: str) -> str:
        """Returns what docker-compose printed; fails where it does."""
        done = subprocess.run(
            ["docker-compose", *arguments],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_READY_SECONDS,
        )
        if done.returncode != 0:
            fail(
                f"docker-compose {' '.join(arguments)}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
            )
        return done.stdout

    def container(self, service: str) -> str:
        """Returns the id of a service's container, which stays while that is started again."""
        if service not in self.ids:
            self.ids[service] = self.compose("ps", "--quiet", service).strip()
        return self.ids[service]

    def query(self, sql: str) -> str:
        """Returns what PostgreSQL answers."""
        psql = ["psql", "--username", "tempinbox", "--no-align", "--tuples-only", "--command", sql]
        return self.compose("exec", "-T", "postgres", *psql).strip()

    def is_healthy(self, service: str) -> bool:
        """Returns whether the health check of a service's container passes."""
        form = "{{.State.Status}} {{.State.Health.Status}}"
        said = self.docker.attempt("inspect", "--format", form, self.container(service))
        return said.stdout.split() == ["running", "healthy"]

    def wait_healthy(self) -> None:
        """Waits for all that keeps running."""
        end = time.monotonic() + _READY_SECONDS
        for service in KEPT:
            wait_until(partial(self.is_healthy, service), end, f"{service} healthy", 0.5)

    def kill(self, service: str) -> None:
        """Kills the first process of a service's container, as the kernel would when memory is
        short: Docker then starts it again, which it does not after `docker kill`.
        """
        form = "{{.State.Pid}} {{.RestartCount}}"

        def state() -> tuple[int, int]:
            said = self.docker.run("inspect", "--format", form, self.container(service)).split()
            return int(said[0]), int(said[1])

        pid, restarts = state()
        if pid <= 1:
            fail(f"{service} does not run")
        os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + _READY_SECONDS
        wait_until(lambda: state()[1] > restarts and state()[0] > 1, end, f"{service} again", 0.2)

    # Mail.

    def plan(self, rate: float = 0.0, seconds: float = 0.0) -> Plan:
        """Returns what the load needs to know; without a rate it looks for what was sent."""
        key = self.folder / "api-key"
        if not key.exists():
            read = ["run", "--rm", "-T", "--entrypoint", "/bin/cat", "keys", "/account/api-key"]
            key.write_text(self.compose(*read), encoding="ascii")
        return Plan(
            api=self.api,
            smtp=self.smtp,
            api_key=key.read_text(encoding="ascii").strip(),
            authority=str(self.folder / "certificates" / "fullchain.pem"),
            ledger=str(self.folder / "ledger.json"),
            rate=rate,
            seconds=seconds,
        )

    def start_load(self, plan: Plan) -> subprocess.Popen[str]:
        """Starts it; `answer` has what it says."""
        return self._start(one_vm_load.arguments(plan))

    def try_logins(self) -> dict[str, Any]:
        """Sends mail by login over both ports, and returns what its reader saw."""
        arguments = one_vm_logins.arguments(self.plan(), self.submission, self.submissions)
        return answer(self._start(arguments))

    def _start(self, arguments: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.docker.inside(sys.executable, *arguments),
            env=self.environment | {"PYTHONPATH": str(paths.ROOT / "tools")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def look_for_mail(self) -> dict[str, float]:
        """Returns how many mails were acknowledged, and how many of them are missing."""
        return answer(self.start_load(self.plan()))

    # What it takes.

    def usage(self, service: str) -> dict[str, Any]:
        """Returns what Docker counts of a service's container."""
        path = f"/containers/{self.container(service)}/stats?stream=false&one-shot=true"
        found: dict[str, Any] = json.loads(_ask_daemon(self.docker, path))
        return found


def answer(load: subprocess.Popen[str], seconds: float = 600) -> dict[str, Any]:
    """Waits for a load, and returns what it says."""
    try:
        said, problem = load.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        load.kill()
        load.communicate()
        fail(f"the load did not end in {seconds:.0f} s")
    if load.returncode != 0:
        fail(f"the load failed:\n{said[-2000:]}{problem[-2000:]}")
    found: dict[str, Any] = json.loads(said)
    return found


class _DaemonConnection(http.client.HTTPConnection):
    """HTTP over the daemon's socket."""

    def __init__(self, path: str) -> None:
        super().__init__("docker", timeout=60)
        self._path = path

    def connect(self) -> None:
        """Connects to the socket."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _ask_daemon(docker: Docker, path: str) -> bytes:
    host = docker.host or os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    if not host.startswith("unix://"):
        raise Missing(f"{host}: what containers take is asked of a daemon on this machine")
    connection = _DaemonConnection(host.removeprefix("unix://"))
    try:
        connection.request("GET", path)
        return connection.getresponse().read()
    finally:
        connection.close()


@contextlib.contextmanager
def installed(docker: Docker) -> Iterator[OneVm]:
    """Runs the page, which installs, backs up and restores; then it is there to be used, and gone
    afterwards.
    """
    own = {"postgres": image.tag("postgres"), "kafka": image.tag("kafka")}
    for name in (*own.values(), image.tag("tools")):
        if not docker.has_image(name):
            raise Missing(f"{name} is not built: ./dev image postgres kafka tools")
    # Short and outside of the checkout: containers of user 10001 read files in it.
    with tempfile.TemporaryDirectory(prefix="tempinbox-one-vm-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        vm = OneVm(
            docker,
            folder,
            docker.environment
            | {
                "COMPOSE": str(paths.ROOT / "deploy" / "compose"),
                "COMPOSE_PROJECT_NAME": _PROJECT,
                "POSTGRES_IMAGE": own["postgres"],
                "KAFKA_IMAGE": own["kafka"],
                "TEMPINBOX_VERSION": version.current(),
                "CERTIFICATES": str(folder / "certificates"),
                "CERTIFICATE_AUTHORITIES": "/certificates/fullchain.pem",
                "BACKUPS": str(folder / "backups"),
                "BIND_ADDRESS": "127.0.0.1",
                "API_PORT": str(api := free_port()),
                "SMTP_PORT": str(smtp := free_port()),
                "SUBMISSION_PORT": str(submission := free_port()),
                "SUBMISSIONS_PORT": str(submissions := free_port()),
            },
            api,
            smtp,
            submission,
            submissions,
        )
        try:
            pages.run(
                PAGE,
                folder=folder,
                environment=vm.environment,
                swaps={
                    "/srv/tempinbox": str(vm.home),
                    "/etc/tempinbox/certificates": str(folder / "certificates"),
                    "/var/backups/tempinbox": str(folder / "backups"),
                    "tempinbox_keys": f"{_PROJECT}_keys",
                    "tempinbox_rpc": f"{_PROJECT}_rpc",
                    "\"$(sed -n 's/^POSTGRES_IMAGE=//p' .env)\"": own["postgres"],
                },
                seconds=_PAGE_SECONDS,
            )
            vm.wait_healthy()
            yield vm
        finally:
            if (vm.home / "compose.yaml").exists():
                vm.compose("down", "--volumes", "--timeout", "60")


def try_kills(docker: Docker, *, rate: float = 20.0) -> str:
    """Kills each container under a steady load of mail, and looks for every mail that was answered
    250.
    """
    with installed(docker) as vm:
        vm.try_logins()
        began = time.monotonic()
        load = vm.start_load(vm.plan(rate=rate, seconds=_LOAD_SECONDS))
        under_load = 0
        try:
            for service in KEPT:
                vm.kill(service)
                vm.wait_healthy()
                under_load += load.poll() is None
            seconds = time.monotonic() - began
            sent = answer(load)
        finally:
            load.kill()
        found = vm.look_for_mail()
    if found["missing"]:
        fail(f"{found['missing']:.0f} of {found['acknowledged']:.0f} acknowledged mails are lost")
    return (
        "the page's commands, backup and restore; mail by login on both ports; "
        f"{len(KEPT)} containers killed in {seconds:.0f} s, {under_load} of them under load; "
        f"{sent['acknowledged']:.0f} mails acknowledged, none lost"
    )
