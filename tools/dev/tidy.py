"""clang-tidy with the checks of .clang-tidy, on changed files or on all, on every core and within a
time.
"""

import json
import os
import shlex
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dev import build, places
from dev.terminal import fail, item, say, warn

_MOST_SECONDS = 300
_MOST_SECONDS_FOR_ALL = 3600
_ONE_FILE_SECONDS = 120
_COMMITS_LOOKED_AT = 5
_FOR_GCC_ALONE = {"-fpch-preprocess", "-Winvalid-pch", "-Werror"}


def check(files: list[str], everything: bool) -> bool:
    """Whether clang-tidy has nothing to say. What did not fit the time is named."""
    units = [name for name in (files if everything else _changed(files)) if name.endswith(".cpp")]
    commands = _commands(_preset())
    units = [name for name in units if name in commands]
    if not units:
        say("  no changed C++ file" if not everything else "  no C++ file")
        return True
    deadline = time.monotonic() + (_MOST_SECONDS_FOR_ALL if everything else _MOST_SECONDS)
    late: list[str] = []
    guard = threading.Lock()
    with tempfile.TemporaryDirectory() as folder:
        _write_database(Path(folder), commands)

        def look(name: str) -> bool:
            if time.monotonic() > deadline:
                with guard:
                    late.append(name)
                return True
            output = _run(folder, name)
            with guard:
                if output:
                    say(output)
            return not output

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            answers = list(pool.map(look, units))
    if late:
        warn(f"{len(late)} of {len(units)} files did not fit into the time: {' '.join(late)}")
    item("clang-tidy", f"{len(units) - len(late)} files")
    return all(answers)


def _run(database: str, name: str) -> str:
    """What clang-tidy complains of in one file; empty when nothing."""
    command = ["clang-tidy-14", "--quiet", "-p", database, name]
    try:
        done = subprocess.run(
            command, cwd=places.ROOT, capture_output=True, text=True, timeout=_ONE_FILE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"{name}: clang-tidy took more than {_ONE_FILE_SECONDS} s"
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip()


def _changed(files: list[str]) -> list[str]:
    """Files that differ from what was pushed, in a clone without work of its own those of the last
    commits; and sources beside a changed header.
    """
    upstream = _git("rev-parse", "--verify", "-q", "@{upstream}")
    if upstream in ("", _git("rev-parse", "HEAD")):
        upstream = _git("log", f"-{_COMMITS_LOOKED_AT}", "--format=%H").splitlines()[-1]
    names = set(_git("diff", "--name-only", upstream).split()) | set(
        _git("ls-files", "--others", "--exclude-standard").split()
    )
    names |= {str(Path(name).with_suffix(".cpp")) for name in names if name.endswith(".hpp")}
    return [name for name in files if name in names]


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=places.ROOT, capture_output=True, text=True
    ).stdout.strip()


def _preset() -> str:
    """A preset that is configured already, with the generated headers made."""
    known = [
        preset
        for preset in ("release", "dev", "asan")
        if (places.build_folder(preset) / "compile_commands.json").exists()
    ]
    preset = known[0] if known else "release"
    if not known or not list((places.build_folder(preset) / "proto-schemas").rglob("*.pb.h")):
        build.build(preset, ["tempinbox_proto"])
    return preset


def _commands(preset: str) -> dict[str, list[str]]:
    """Compiler arguments by file, for clang: without g++'s own flags, and with the text of the
    precompiled header.
    """
    path = places.build_folder(preset) / "compile_commands.json"
    if not path.exists():
        fail(f"{path} is missing: ./dev build --preset {preset}")
    found = {}
    for entry in json.loads(path.read_text(encoding="utf-8")):
        arguments = [
            part
            for part in shlex.split(entry["command"])[1:]
            if part not in _FOR_GCC_ALONE and not part.startswith("-Wno-")
        ]
        if "-include" in arguments:
            arguments[arguments.index("-include") + 1] = str(places.ROOT / "libs" / "pch.hpp")
        source = Path(entry["file"])
        if source.is_relative_to(places.ROOT):
            found[str(source.relative_to(places.ROOT))] = ["clang++", *arguments]
    return found


def _write_database(folder: Path, commands: dict[str, list[str]]) -> None:
    entries = [
        {"directory": str(places.ROOT), "file": str(places.ROOT / name), "arguments": parts}
        for name, parts in commands.items()
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
