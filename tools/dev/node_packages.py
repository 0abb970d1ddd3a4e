"""The npm packages of the end-to-end tests: pinned by their lock file, kept in the cache."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from dev import places
from dev.terminal import fail, say

_WANTED = places.ROOT / "tests" / "e2e" / "node"


def modules() -> Path:
    """The folder they are in, for NODE_PATH; brought when the lock file is new."""
    lock = (_WANTED / "package-lock.json").read_bytes()
    folder = places.cache("node") / hashlib.sha256(lock).hexdigest()[:16]
    if not (folder / "ready").exists():
        say(f"  bringing the npm packages of {_WANTED.relative_to(places.ROOT)} into {folder} ...")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_WANTED / name, folder)
        command = ["npm", "ci", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            fail(f"failed: {' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        (folder / "ready").touch()
    return folder / "node_modules"
