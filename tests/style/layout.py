"""Names and sizes of files."""

import re
from collections.abc import Iterator
from pathlib import Path

from source import Problem, Source

MAX_LINES = 700
_EMPTY_NAMES = re.compile(r"^(?:.*[_-])?(?:utils?|helpers?|manager|base|impl|data)$", re.IGNORECASE)
# A program writes it from the contract.
_GENERATED = {Path("clients/python/src/tempinbox/types.py")}
_SOURCE = {".cpp", ".hpp", ".py", ".ts", ".tsx", ".sh", ".cmake"}


def check(sources: list[Source]) -> Iterator[Problem]:
    """A file past 700 lines has a second noun inside; a name that fits everything says nothing."""
    for source in sources:
        if source.path.suffix not in _SOURCE:
            continue
        lines = source.text.count("\n")
        if lines > MAX_LINES and not source.is_test and source.path not in _GENERATED:
            yield Problem(
                str(source.path), MAX_LINES, f"{lines} lines: is there a second noun inside?"
            )
        for part in (*source.path.parts[:-1], source.path.stem):
            if _EMPTY_NAMES.match(part):
                yield Problem(str(source.path), 1, f"`{part}` says nothing: name the thing")
