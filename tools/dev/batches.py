"""Whether the batches of the release build compile (tools/generate/unity_batches.py).

The preset `sanitize` and clang-tidy compile each source by itself; nothing else builds the tests in
batches before a change lands. What compiled before and has not changed is not compiled again.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dev import build, paths
from dev.includes import FOLDERS, digest, included_by
from dev.terminal import item, say

# What the compile commands read beside the sources: precompiled headers, and generated ones.
_TARGETS = ["tempinbox_pch", "tempinbox_test_pch", "tempinbox_proto"]
_MEMBER = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)
_SCHEMAS = paths.ROOT / "proto-schemas"


def check() -> bool:
    """Returns whether every batch compiles."""
    build.build(build.RELEASE, _TARGETS)
    known = paths.cache("batches")
    commands = _commands()
    keys = {batch: _key(batch, command) for batch, command in commands.items()}
    new = [batch for batch, key in keys.items() if not (known / key).exists()]
    item("batches", f"{len(keys)}, of which {len(keys) - len(new)} compiled before")

    def compiles(batch: Path) -> bool:
        output = _compile(commands[batch])
        if output is None:
            (known / keys[batch]).touch()
        else:
            say(output)
        return output is None

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return all(list(pool.map(compiles, new)))


def _commands() -> dict[Path, list[str]]:
    """The compiler's command for each batch, without what it is wrapped in and what it writes."""
    folder = paths.build_folder(build.RELEASE)
    listed = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
    return {
        Path(entry["file"]): shlex.split(entry["command"])
        for entry in listed
        if Path(entry["file"]).parent.name in ("unity", "unity_apart")
    }


def _compile(command: list[str]) -> str | None:
    """Returns what the compiler refuses; None if nothing."""
    output = command.index("-o")
    done = subprocess.run(
        [*command[:output], *command[output + 2 :], "-fsyntax-only"],
        cwd=paths.build_folder(build.RELEASE),
        capture_output=True,
        text=True,
    )
    return None if done.returncode == 0 else done.stdout + done.stderr


def _key(batch: Path, command: list[str]) -> str:
    """A digest of the command and of every file of ours that the batch reads."""
    text = batch.read_text(encoding="utf-8")
    read = {str(path.relative_to(paths.ROOT)) for path in _SCHEMAS.rglob("*.proto")}
    for member in _MEMBER.findall(text):
        read |= included_by(_path_of(member))
    total = hashlib.sha256(f"{shlex.join(command)}\n{text}".replace(str(paths.ROOT), "").encode())
    for name in sorted(read):
        total.update(f"{name}\n{digest(name)}\n".encode())
    return total.hexdigest()


def _path_of(member: str) -> str:
    return next(f"{root}/{member}" for root in FOLDERS if (paths.ROOT / root / member).exists())
