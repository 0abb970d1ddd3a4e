"""The dashboard's page: its npm packages, its build by Vite, its checks. Nothing is done that was done for the same input before."""

import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from dev import places
from dev.locks import in_turn
from dev.terminal import fail, heading, item, say

FOLDER = places.ROOT / "services" / "gateway" / "dashboard"
BUILT = FOLDER / "dist"
_PACKAGES_STAMP = Path("node_modules") / ".tempinbox-packages"
_BUILD_STAMP = FOLDER / "node_modules" / ".tempinbox-build"
_LOCK = places.ROOT / "build" / "dashboard.lock"
_NODE_VERSION = "22.17.0"  # brought where the machine's own is older than what Vite runs on, as Debian 12's is


def build() -> None:
    """Makes `dist` what the sources say."""
    with in_turn(_LOCK):
        environment = ensure_packages(FOLDER)
        sources = digest(_sources())
        if (BUILT / "index.html").exists() and _read(_BUILD_STAMP) == sources:
            return
        heading("Building the dashboard")
        started = time.monotonic()
        _run(["npm", "run", "--silent", "build"], environment, "Vite could not build the dashboard")
        _BUILD_STAMP.write_text(sources, encoding="ascii")
        shown = sum(path.stat().st_size for path in BUILT.rglob("*.br"))
        item("dashboard", f"{shown / 1024:.0f} KB compressed, in {time.monotonic() - started:.1f} s")


def check() -> bool:
    """Types and unit tests."""
    with in_turn(_LOCK):
        environment = ensure_packages(FOLDER)
    commands = [["npm", "run", "--silent", "check"], ["npm", "run", "--silent", "test"]]
    return all([subprocess.run(command, cwd=FOLDER, env=environment, stdin=subprocess.DEVNULL).returncode == 0 for command in commands])


def digest(files: Iterable[Path]) -> str:
    """One name for what is in these files and how they are called."""
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(f"{os.path.relpath(path, FOLDER)}\0{path.stat().st_size}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def runs_vite(version: str) -> bool:
    """Whether a Node.js that calls itself so is new enough: 20.19, or 22.12 and later."""
    found = re.fullmatch(r"v(\d+)\.(\d+)\..*", version.strip())
    if not found:
        return False
    major, minor = int(found[1]), int(found[2])
    return (major == 20 and minor >= 19) or (major == 22 and minor >= 12) or major > 22


def _sources() -> list[Path]:
    outside = [FOLDER / name for name in ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")]
    return outside + [path for path in (FOLDER / "src").rglob("*") if path.is_file() and ".test." not in path.name]


def ensure_packages(folder: Path) -> dict[str, str]:
    """Brings the packages of a folder's lock file when it is new; the environment npm and its programs are to be run in."""
    environment = _with_node()
    stamp = folder / _PACKAGES_STAMP
    wanted = digest([folder / "package.json", folder / "package-lock.json", folder / ".npmrc"])
    if _read(stamp) != wanted:
        say(f"  bringing the npm packages of {folder.relative_to(places.ROOT)}/package-lock.json ...")
        _run(["npm", "ci", "--no-audit", "--no-fund"], environment, f"npm could not bring the packages of {folder.relative_to(places.ROOT)}", folder)
        stamp.write_text(wanted, encoding="ascii")
    return environment


def _with_node() -> dict[str, str]:
    """The environment with a Node.js that runs Vite: the machine's, or one from npm in the cache."""
    if not shutil.which("npm"):
        fail("the dashboard is built with npm, which is not here (--no-dashboard goes without)")
    own = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout if shutil.which("node") else ""
    if runs_vite(own):
        return places.clean_environment()
    folder = places.cache(f"node-{_NODE_VERSION}")
    programs = folder / "node_modules" / ".bin"
    if not (programs / "node").exists():
        say(f"  Node.js {own.strip() or 'is missing'}: bringing {_NODE_VERSION} into {folder} ...")
        _run(["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", f"node@{_NODE_VERSION}"], dict(os.environ), "npm could not bring Node.js")
    environment = places.clean_environment()
    return environment | {"PATH": f"{programs}{os.pathsep}{environment['PATH']}"}


def _read(stamp: Path) -> str:
    return stamp.read_text(encoding="ascii") if stamp.exists() else ""


def _run(command: list[str], environment: dict[str, str], otherwise: str, folder: Path = FOLDER) -> None:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        fail(f"{otherwise}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
