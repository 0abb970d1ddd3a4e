"""Which files of the project a source reads: what decides whether a check of it is still true."""

import hashlib
import re
from functools import cache

from dev import build, paths

FOLDERS = ["libs", "services", "programs", "tests"]
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_GENERATED_IN = build.EACH_SOURCE


@cache
def digest(name: str) -> str:
    """A digest of what a file of the project holds."""
    return hashlib.sha256((paths.ROOT / name).read_bytes()).hexdigest()


@cache
def included_by(name: str) -> frozenset[str]:
    """The file and every file of the project that it includes, directly or not."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        if (path := waiting.pop()) not in found:
            found.add(path)
            waiting += _includes(path)
    return frozenset(found)


@cache
def _includes(name: str) -> list[str]:
    path = paths.ROOT / name
    generated = paths.build_folder(_GENERATED_IN) / "proto-schemas"
    folders = [path.parent, *(paths.ROOT / folder for folder in FOLDERS), generated]
    found = []
    for included in _INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace")):
        file = next((folder / included for folder in folders if (folder / included).exists()), None)
        if file:
            found.append(str(file.resolve().relative_to(paths.ROOT)))
    return found
