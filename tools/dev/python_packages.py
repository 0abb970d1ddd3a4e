"""The virtual environment of the end-to-end tests and the demo: pinned packages, kept in the
cache.
"""

import hashlib
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

from dev import places
from dev.terminal import fail, say

REQUIREMENTS = places.ROOT / "tests" / "e2e" / "requirements.txt"


def python() -> Path:
    """The interpreter that has the packages; makes its environment when the list is new."""
    wanted = REQUIREMENTS.read_bytes() + sys.version.encode()
    folder = places.cache("python") / hashlib.sha256(wanted).hexdigest()[:16]
    if not (folder / "ready").exists():
        _make(folder)
    return folder / "bin" / "python"


def _make(folder: Path) -> None:
    say(
        f"  bringing the Python packages of {REQUIREMENTS.relative_to(places.ROOT)} into "
        f"{folder} ..."
    )
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder)])
    _run(
        [
            str(folder / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "-r",
            str(REQUIREMENTS),
        ]
    )
    partial = folder / f"ready.{uuid.uuid4().hex}"
    partial.touch()
    partial.rename(folder / "ready")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        fail(f"failed: {' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
