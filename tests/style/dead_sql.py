"""Finds what a schema makes and nobody uses: tables, columns, types and functions that no statement
of the schema's own code names. Statements stand in .sql files and in the literals of C++.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from source import Source, matching

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_MAKES = re.compile(
    r"\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:UNLOGGED\s+)?(?P<kind>TABLE|TYPE|FUNCTION|PROCEDURE|VIEW)"
    r"\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:[^\s.(]+\.)?(?P<name>\w+)(?![\w.]|\s+PARTITION\s+OF)(?P<listed>\s*(?:AS\s*)?\()?",
    re.IGNORECASE,
)
_ADDS = re.compile(r"\bADD\s+COLUMN\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)", re.IGNORECASE)
# Made for later, so that no release has to rewrite a large table.
_KEPT = {"emails.location"}  # where the body lies: an object store may follow
_NO_COLUMNS = {"primary", "unique", "check", "constraint", "foreign", "exclude", "like"}
# The homes of SQL that every schema has.
_EVERYWHERE = Path("libs/common")


@dataclass(frozen=True)
class Name:
    """A thing made by a schema; a column has its table before it."""

    home: Path
    shown: str

    @property
    def word(self) -> str:
        """Returns the name by which statements call it."""
        return self.shown.rpartition(".")[2]


def names(sources: list[Source]) -> list[Name]:
    """All that is made in folders schema/ and functions/."""
    return [name for source in sources if _is_schema(source) for name in _made(source)]


def dead(sources: list[Source]) -> list[str]:
    """Returns the names that the home's own C++ and SQL, and the rooms of libs/common, name nowhere
    but where they are made. A word that two things of a home share counts as used if either is.
    """
    all_names = names(sources)
    found = []
    for home in sorted({name.home for name in all_names}):
        here = [name for name in all_names if name.home == home]
        made = Counter(name.word for name in here)
        used = Counter(
            word
            for source in sources
            if _is_near(source, home)
            for word in re.findall(r"\w+", _statements(source))
        )
        found += [
            name.shown
            for name in here
            if used[name.word] <= made[name.word] and name.shown not in _KEPT
        ]
    return found


def _is_schema(source: Source) -> bool:
    return source.path.suffix == ".sql" and source.path.parent.name in {"schema", "functions"}


def _is_near(source: Source, home: Path) -> bool:
    if source.is_test or not (source.is_cpp or source.path.suffix == ".sql"):
        return False
    if home.is_relative_to(_EVERYWHERE):
        return True
    return source.path.is_relative_to(home) or source.path.is_relative_to(_EVERYWHERE)


def _statements(source: Source) -> str:
    return " ".join(source.literals) if source.is_cpp else _COMMENT.sub(" ", source.text)


def _made(source: Source) -> Iterator[Name]:
    home = source.path.parent.parent
    text = _statements(source)
    for found in _MAKES.finditer(text):
        yield Name(home, found["name"])
        if found["listed"] and found["kind"].upper() in {"TABLE", "TYPE"}:
            for column in _columns(text, found.end() - 1):
                yield Name(home, f"{found['name']}.{column}")
    for added in _ADDS.finditer(text):
        yield Name(home, added[1])


def _columns(text: str, opened: int) -> Iterator[str]:
    """The first words of the parts between the bracket at `opened` and its other half."""
    inside = text[opened + 1 : matching(text, opened)]
    while (nested := re.sub(r"\([^()]*\)", " ", inside)) != inside:
        inside = nested
    for part in inside.split(","):
        first = re.match(r"\s*(\w+)\s+\w", part)
        if first and first[1].lower() not in _NO_COLUMNS:
            yield first[1]
