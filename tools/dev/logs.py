"""Showing the logs of a suite."""

import select
import sys
from pathlib import Path
from typing import TextIO

from dev.terminal import fail, paint

_POLL_SECONDS = 0.2


def show(folder: Path, requested: str | None, lines: int, follow: bool) -> None:
    """Prints the last lines of one log, of all replicas of a service, or of everything; with
    `follow` also each line that is written from then on.
    """
    paths = [path for path in sorted(folder.glob("*.log")) if _is_requested(path.stem, requested)]
    if not paths:
        known = ", ".join(path.stem for path in sorted(folder.glob("*.log"))) or "none yet"
        fail(f"no log of {requested or 'anything'} in {folder}; there are: {known}")
    width = max(len(path.stem) for path in paths) if len(paths) > 1 else 0
    opened = [(path.stem, path.open(encoding="utf-8", errors="replace")) for path in paths]
    for name, file in opened:
        for line in file.readlines()[-lines:]:
            _print(name, line, width)
    while follow:
        fresh = [_print_new(name, file, width) for name, file in opened]
        if not any(fresh):
            select.select([], [], [], _POLL_SECONDS)


def _is_requested(name: str, requested: str | None) -> bool:
    return requested is None or name == requested or name.rpartition("-")[0] == requested


def _print_new(name: str, file: TextIO, width: int) -> bool:
    fresh = file.readlines()
    for line in fresh:
        _print(name, line, width)
    return bool(fresh)


def _print(name: str, line: str, width: int) -> None:
    prefix = paint(f"{name:<{width}} ", "dim") if width else ""
    sys.stdout.write(prefix + line.rstrip("\n") + "\n")
    sys.stdout.flush()
