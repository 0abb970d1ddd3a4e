"""The trial of TempinboxContainer, for `./dev image --check`: the clients' packages and the real
Testcontainers, on the image all-in-one.
"""

import os
import subprocess
import tempfile
from pathlib import Path

from dev import client_packages, image, node_packages, paths, python_packages
from dev.docker import Docker
from dev.terminal import fail

_TESTS = paths.ROOT / "tests" / "containers"
_SECONDS = 1200
# No image of another project is pulled, and ports are where Docker publishes them, also where
# `./dev` runs in a container.
_SETTINGS = {
    "TESTCONTAINERS_RYUK_DISABLED": "true",
    "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
    "TESTCONTAINERS_CONNECTION_MODE": "docker_host",
}


def run(docker: Docker) -> str:
    """Runs the tests of both languages."""
    node = node_packages.ensure(_TESTS)
    python = python_packages.python(python_packages.CLIENTS)
    with tempfile.TemporaryDirectory(prefix="tempinbox-containers-") as made:
        folder = Path(made)
        _bring_modules(folder)
        environment = node | docker.environment | _SETTINGS | {"PATH": node["PATH"]}
        environment |= {
            "TEMPINBOX_IMAGE": image.tag("all-in-one"),
            "TEMPINBOX_TEST_NODE_MODULES": str(folder / "node_modules"),
            "PYTHONPATH": os.pathsep.join(
                str(paths.ROOT / path) for path in ("clients/python/src", "tools")
            ),
        }
        (folder / "container_test.mjs").write_bytes((_TESTS / "container_test.mjs").read_bytes())
        _run(docker, ["node", "--test", "container_test.mjs"], folder, environment)
        pytest = [str(python), "-B", "-m", "pytest", "-q", f"--rootdir={_TESTS}"]
        pytest += ["-p", "no:cacheprovider", str(_TESTS)]
        _run(docker, pytest, folder, environment)
    return "TempinboxContainer of both clients, ten containers at once, and their page"


def _bring_modules(folder: Path) -> None:
    """Makes node_modules with the client as its users get it, and links to all else."""
    modules = folder / "node_modules"
    (modules / "tempinbox").mkdir(parents=True)
    packed = client_packages.npm(folder)
    unpack = ["tar", "-xzf", str(packed), "-C", str(modules / "tempinbox"), "--strip-components=1"]
    subprocess.run(unpack, check=True)
    for entry in (_TESTS / "node_modules").iterdir():
        (modules / entry.name).symlink_to(entry.resolve())


def _run(docker: Docker, command: list[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        docker.inside(*command),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=_SECONDS,
    )
    if done.returncode != 0:
        fail(f"{Path(command[0]).name}:\n{done.stdout[-6000:]}{done.stderr[-3000:]}")
