"""clang-tidy with the checks of .clang-tidy, on changed files or on all, on every core.

What was clean before and has not changed is not looked at again.
"""

import hashlib
import json
import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dev import build, paths
from dev.includes import digest, included_by
from dev.terminal import fail, item, say

_PROGRAM = "clang-tidy-19"
_PRESET = build.EACH_SOURCE
# Its compile commands name these: precompiled headers, and headers made of proto-schemas.
_TARGETS = ["tempinbox_pch", "tempinbox_fuzzed_pch", "tempinbox_test_pch", "tempinbox_proto"]
_ONE_FILE_SECONDS = 300
_CHANGED_WITHIN = 12 * 3600  # seconds before the newest commit, in a clone without work of its own


@dataclass(frozen=True)
class Unit:
    """A file that is compiled, and everything that decides what clang-tidy says of it."""

    name: str
    key: str


def check(files: list[str], everything: bool) -> bool:
    """Returns whether clang-tidy has nothing to say.

    A file it could not look at within its time is a failure.
    """
    build.build(_PRESET, _TARGETS)
    commands = _commands()
    names = [name for name in files if name in commands]
    names = names if everything else _changed(files, names)
    units = [Unit(name, _key(name, commands[name])) for name in names]
    clean = paths.cache("clang-tidy")
    new = [unit for unit in units if not (clean / unit.key).exists()]
    item("clang-tidy", f"{len(units)} files, of which {len(units) - len(new)} were clean before")
    guard = threading.Lock()
    seen = 0

    def look(unit: Unit) -> bool:
        nonlocal seen
        output = _run(unit.name)
        if not output:
            (clean / unit.key).touch()
        with guard:
            seen += 1
            if output:
                say(output)
            if seen % 50 == 0:
                item("clang-tidy", f"{seen} of {len(new)}")
        return not output

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return all(list(pool.map(look, new)))


def _run(name: str) -> str:
    """Returns clang-tidy's findings in one file; empty when there are none."""
    command = [_PROGRAM, "--quiet", "-p", str(paths.build_folder(_PRESET)), name]
    try:
        done = subprocess.run(
            command, cwd=paths.ROOT, capture_output=True, text=True, timeout=_ONE_FILE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"{name}: not looked at, clang-tidy took more than {_ONE_FILE_SECONDS} s"
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip()


def _commands() -> dict[str, str]:
    """Compile commands by file."""
    path = paths.build_folder(_PRESET) / "compile_commands.json"
    return {
        str(source.relative_to(paths.ROOT)): entry["command"]
        for entry in json.loads(path.read_text(encoding="utf-8"))
        if (source := Path(entry["file"])).is_relative_to(paths.ROOT)
    }


def _changed(files: list[str], units: list[str]) -> list[str]:
    """Units that differ from what was pushed, in a clone without work of its own those of the last
    commits; for a header its own source or else a unit that includes it.
    """
    upstream = _git("rev-parse", "--verify", "-q", "@{upstream}", may_fail=True)
    if upstream in ("", _git("rev-parse", "HEAD")):
        newest = int(_git("log", "-1", "--format=%ct"))
        before = _git("rev-list", "-1", f"--before={newest - _CHANGED_WITHIN}", "HEAD")
        upstream = before or _git("rev-list", "--max-parents=0", "HEAD").splitlines()[-1]
    names = set(_git("diff", "--name-only", upstream).split())
    names |= set(_git("ls-files", "--others", "--exclude-standard").split())
    chosen = {name for name in units if name in names}
    for header in (name for name in files if name in names and name.endswith(".hpp")):
        source = str(Path(header).with_suffix(".cpp"))
        if source in units:
            chosen.add(source)
        elif including := next((unit for unit in units if header in included_by(unit)), None):
            chosen.add(including)
    return sorted(chosen)


def _git(*arguments: str, may_fail: bool = False) -> str:
    done = subprocess.run(["git", *arguments], cwd=paths.ROOT, capture_output=True, text=True)
    if done.returncode != 0 and not may_fail:
        fail("what changed is asked of git: " + done.stderr.strip())
    return done.stdout.strip()


def _key(name: str, command: str) -> str:
    """A digest of the program, its configuration, the command and every file of ours that the unit
    reads.
    """
    total = hashlib.sha256(f"{_version()}\n{command.replace(str(paths.ROOT), '')}\n".encode())
    configurations = [
        parent / ".clang-tidy"
        for parent in Path(name).parents
        if (paths.ROOT / parent / ".clang-tidy").exists()
    ]
    for path in sorted([*map(str, configurations), *included_by(name)]):
        total.update(f"{path}\n{digest(path)}\n".encode())
    return total.hexdigest()


@cache
def _version() -> str:
    return subprocess.run([_PROGRAM, "--version"], capture_output=True, text=True).stdout
