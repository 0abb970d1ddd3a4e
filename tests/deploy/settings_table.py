"""docs/settings.md, which is made from the programs, as data."""

import re
from functools import cache

from generate import settings_page


@cache
def settings() -> dict[str, set[str]]:
    """The settings of each program by its name."""
    found: dict[str, set[str]] = {}
    program = ""
    for line in settings_page.PAGE.read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"## (\S+)", line):
            program = heading[1]
            found[program] = set()
        elif line == f"## {settings_page.SHARED}":
            program = ""
        elif row := re.match(r"\| `([a-z0-9-]+)` \|.* \| ([^|]*) \|$", line):
            of = settings_page.SERVICES if row[2] == settings_page.ALL else row[2].split(", ")
            for name in [program] if program else of:
                found[name].add(row[1])
    return found
