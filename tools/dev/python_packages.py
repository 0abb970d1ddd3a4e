"""Virtual environments of packages pinned by hash, kept in the cache: one of the end-to-end tests
and the demo, one of the clients' tests, one of what checks Python, one of what packs it, one of
Node.js.
"""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

from dev import packages, paths
from dev.locks import in_turn
from dev.terminal import fail, say

TESTS = paths.ROOT / "tests" / "e2e" / "requirements.txt"
# Beside those of the tests: what the Python client needs, and its tests.
CLIENTS = paths.ROOT / "clients" / "python" / "requirements-test.txt"
# Beside those of both, for mypy reads the types of what these import.
CHECKS = paths.ROOT / "tools" / "dev" / "requirements-check.txt"
# Of its own, and small: `./dev up` packs the Python client.
BUILD = paths.ROOT / "tools" / "dev" / "requirements-build.txt"
# Of its own: node_packages runs what is in it.
NODE = paths.ROOT / "tools" / "dev" / "requirements-node.txt"


def python(*more: Path) -> Path:
    """The interpreter that has the packages of the tests, and of more lists; makes its environment
    when a list is new.
    """
    return environment(TESTS, *more)


def environment(*locks: Path) -> Path:
    """The interpreter that has the packages of these lists, and no others."""
    content = b"".join(lock.read_bytes() for lock in locks) + sys.version.encode()
    folder = paths.cache("python") / hashlib.sha256(content).hexdigest()[:16]
    with in_turn(folder.with_suffix(".lock")):  # two that make it at a time would spoil it
        if not (folder / "ready").exists():
            _make(folder, locks)
    return folder / "bin" / "python"


def _make(folder: Path, locks: tuple[Path, ...]) -> None:
    if importlib.util.find_spec("ensurepip") is None:  # Debian has it in a package of its own
        packages.ensure("python")
    names = ", ".join(str(lock.relative_to(paths.ROOT)) for lock in locks)
    say(f"  bringing the Python packages of {names} into {folder} ...")
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder)])
    # Wheels alone: nothing of a package is run while it is installed. A package that is needed but
    # not in a list has no hash, and is refused.
    install = ["install", "-q", "--disable-pip-version-check", "--require-hashes"]
    lists = [argument for lock in locks for argument in ("-r", str(lock))]
    _run([str(folder / "bin" / "python"), "-m", "pip", *install, "--only-binary=:all:", *lists])
    (folder / "ready").touch()


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        fail(f"failed: {' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
