"""docs/settings.md, which is made from the programs, as data."""

import re
from functools import cache
from pathlib import Path

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"


@cache
def settings() -> dict[str, set[str]]:
    """The settings of each program by its name."""
    found: dict[str, set[str]] = {}
    program = ""
    for line in _PAGE.read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"## (\S+)", line):
            program = heading[1]
            found[program] = set()
        elif row := re.match(r"\| `([a-z0-9-]+)` \|", line):
            found[program].add(row[1])
    return found
