"""A Docker daemon to build and try images with: the user's, or a private one that ends with its
use.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dev import paths
from dev.terminal import Missing, fail
from dev.waiting import wait_until

_START_SECONDS = 60
_STOP_SECONDS = 60


@dataclass(frozen=True)
class Docker:
    """A daemon that answers. `namespace` is that of a private daemon's networks."""

    host: str | None = None
    is_private: bool = False
    namespace: int | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Returns the environment for docker and docker-compose."""
        chosen = {"DOCKER_HOST": self.host} if self.host else {}
        # Without its buildx plugin a new client has the classic builder alone.
        return paths.clean_environment() | chosen | ({} if _has_buildx() else _CLASSIC)

    def run(self, *arguments: str, seconds: float | None = None) -> str:
        """Returns docker's output; on a failure the output is shown."""
        done = self.attempt(*arguments, seconds=seconds)
        if done.returncode != 0:
            fail(
                f"docker {' '.join(arguments[:3])} ...\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
            )
        return done.stdout

    def attempt(
        self, *arguments: str, seconds: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The same, with its exit code for the caller."""
        return subprocess.run(
            ["docker", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=seconds,
        )

    def inside(self, *command: str) -> list[str]:
        """The command where published ports of containers are reached."""
        if self.namespace is None:
            return [*command]
        return ["nsenter", "--net", "--target", str(self.namespace), *command]

    def has_image(self, name: str) -> bool:
        """Returns whether the daemon has it already."""
        return self.attempt("image", "inspect", name).returncode == 0


_CLASSIC = {"DOCKER_BUILDKIT": "0"}


def _has_buildx() -> bool:
    buildx = subprocess.run(["docker", "buildx", "version"], capture_output=True)
    return buildx.returncode == 0


def _answers(docker: Docker) -> bool:
    # Not `info`: Debian 13's docker ends it well where no daemon answers.
    return docker.attempt("version", "--format", "{{.Server.Version}}").returncode == 0


@contextlib.contextmanager
def engine(folder: Path, *, with_networks: bool) -> Iterator[Docker]:
    """The user's daemon where one answers; else a private one with its data in the folder.

    A private daemon either reaches the network of this machine, for builds, or `with_networks`
    has a network namespace of its own, for containers that talk to each other: nothing of this
    machine's networks is changed.
    """
    check_docker()
    if _answers(Docker()):
        yield Docker()
        return
    with _private(folder, with_networks=with_networks) as docker:
        yield docker


def check_docker() -> None:
    """Refuses to go on where `engine` would fail: before long work that ends with it."""
    _need("docker", "Debian's package docker-cli has it, docker.io before Debian 13")
    if _answers(Docker()):
        return
    if os.geteuid() != 0:
        raise Missing(
            "No Docker daemon answers, and a private one needs root: start Docker, or run ./dev "
            "image as root."
        )
    _need("dockerd", "no Docker daemon answers: start Docker, or install Debian's docker.io")


def _need(program: str, why: str) -> None:
    if not shutil.which(program):
        raise Missing(f"{program} is missing: {why}.")


@contextlib.contextmanager
def _private(folder: Path, *, with_networks: bool) -> Iterator[Docker]:
    """Starts a daemon whose data lie in the folder; sockets lie elsewhere, since their paths must
    be short.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "dockerd.log"
    with (
        tempfile.TemporaryDirectory(prefix="tempinbox-docker-", ignore_cleanup_errors=True) as made,
        log.open("w") as output,
    ):
        run = Path(made)
        host = f"unix://{run / 'docker.sock'}"
        command = ["dockerd", "--data-root", str(folder / "data"), "--exec-root", str(run / "exec")]
        command += ["--pidfile", str(run / "pid"), "--host", host]
        # Its mounts are its own, so that none is left when it has ended.
        apart = ["unshare", "--mount"]
        if with_networks:
            _need("iptables", "Docker's networks need Debian's package iptables")
            with_loopback = 'ip link set lo up && exec "$@"'
            command = [*apart, "--net", "sh", "-c", with_loopback, "sh", *command]
        else:
            command = [*apart, *command, "--iptables=false", "--ip6tables=false", "--bridge=none"]
        # It ends with this process, also when that is killed.
        command = ["setpriv", "--pdeathsig", "TERM", *command]
        daemon = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        docker = Docker(host, is_private=True, namespace=daemon.pid if with_networks else None)
        try:
            _wait_for(docker, daemon, log)
            yield docker
        finally:
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _wait_for(docker: Docker, daemon: subprocess.Popen[bytes], log: Path) -> None:
    def answers() -> bool:
        if daemon.poll() is not None:
            fail(f"dockerd did not start; the end of {log}:\n{log.read_text()[-2000:]}")
        return _answers(docker)

    try:
        wait_until(answers, time.monotonic() + _START_SECONDS, "dockerd answers", every=0.2)
    except TimeoutError:
        fail(f"dockerd did not answer in {_START_SECONDS} s; see {log}")
