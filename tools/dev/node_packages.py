"""npm packages: what a folder's lock file pins, beside it in node_modules; brought when the lock
file is new. And a Node.js new enough for them.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from dev import places
from dev.terminal import fail, say

_STAMP = Path("node_modules") / ".tempinbox-packages"
_NODE_VERSION = (
    "22.17.0"  # brought where the machine's own is older than what Vite runs on, as Debian 12's is
)


def ensure(folder: Path) -> dict[str, str]:
    """Brings the packages of a folder's lock file when it is new; the environment npm and its
    programs are to be run in.
    """
    environment = _with_node()
    stamp = folder / _STAMP
    wanted = digest(
        folder, [folder / "package.json", folder / "package-lock.json", folder / ".npmrc"]
    )
    if read_stamp(stamp) != wanted:
        say(
            f"  bringing the npm packages of {folder.relative_to(places.ROOT)}/package-lock.json "
            "..."
        )
        run(
            ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
            folder,
            environment,
            f"npm could not bring the packages of {folder.relative_to(places.ROOT)}",
        )
        stamp.write_text(wanted, encoding="ascii")
    return environment


def digest(root: Path, files: Iterable[Path]) -> str:
    """One name for what is in these files and how they are called."""
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(f"{os.path.relpath(path, root)}\0{path.stat().st_size}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def runs_vite(version: str) -> bool:
    """Whether a Node.js that calls itself so is new enough: 20.19, or 22.12 and later."""
    found = re.fullmatch(r"v(\d+)\.(\d+)\..*", version.strip())
    if not found:
        return False
    major, minor = int(found[1]), int(found[2])
    return (major == 20 and minor >= 19) or (major == 22 and minor >= 12) or major > 22


def _with_node() -> dict[str, str]:
    """The environment with a Node.js that runs Vite: the machine's, or one from npm in the
    cache.
    """
    if not shutil.which("npm"):
        fail("the dashboard is built with npm, which is not here (--no-dashboard goes without)")
    own = (
        subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
        if shutil.which("node")
        else ""
    )
    if runs_vite(own):
        return places.clean_environment()
    folder = places.cache(f"node-{_NODE_VERSION}")
    programs = folder / "node_modules" / ".bin"
    if not (programs / "node").exists():
        say(f"  Node.js {own.strip() or 'is missing'}: bringing {_NODE_VERSION} into {folder} ...")
        run(
            [
                "npm",
                "install",
                "--prefix",
                str(folder),
                "--no-audit",
                "--no-fund",
                f"node@{_NODE_VERSION}",
            ],
            folder,
            dict(os.environ),
            "npm could not bring Node.js",
        )
    environment = places.clean_environment()
    return environment | {"PATH": f"{programs}{os.pathsep}{environment['PATH']}"}


def read_stamp(stamp: Path) -> str:
    """What a stamp file says; nothing where there is none."""
    return stamp.read_text(encoding="ascii") if stamp.exists() else ""


def run(command: list[str], folder: Path, environment: dict[str, str], otherwise: str) -> None:
    """Runs it there in silence; says what it said where it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        fail(f"{otherwise}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
