"""Checks what a release's migrations do while the release before it still runs: they add, and never
take away.

What takes something away (DROP, RENAME, another type) is the contract of a change whose expansion
was released before. Such a file says of which: a line `-- contract of v1.2` names the first release
that no longer uses what goes. Functions have one current text each, in files that are applied again
whenever they change.
"""

import re
from collections.abc import Iterator

from source import Problem, Source

_CONTRACT = re.compile(r"^-- contract of v?\d+(?:\.\d+)*$", re.MULTILINE)
_MAKES_FUNCTION = re.compile(
    r"\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE)\b", re.IGNORECASE
)
_REPLACES_FUNCTION = re.compile(
    r"\s*CREATE\s+OR\s+REPLACE\s+(?:FUNCTION|PROCEDURE)\b", re.IGNORECASE
)
_OUTSIDE = "-- outside a transaction\n"
_COMMENT = r"--[^\n]*|/\*.*?\*/"
# A function's body runs when it is called; that of DO at once.
_NOT_CODE = re.compile(
    _COMMENT
    + r"|'(?:[^']|'')*'"
    + r"|(?P<do>\bDO\s+(?:LANGUAGE\s+\w+\s+)?)?(?P<tag>\$\w*\$).*?(?P=tag)",
    re.DOTALL | re.IGNORECASE,
)
_TAKES_AWAY = re.compile(
    r"\bDROP\b(?!\s+NOT\s+NULL)|\bRENAME\b|\bALTER\s+(?:COLUMN\s+)?[\w.\"]+\s+(?:SET\s+DATA\s+)?TYPE\b",
    re.IGNORECASE,
)
# A file outside a transaction is right to repeat if it drops an index that an attempt left invalid.
_MAKES_AGAIN = re.compile(
    r"\bDROP\s+INDEX\s+CONCURRENTLY\s+IF\s+EXISTS\s+([\w.]+)\s*;", re.IGNORECASE
)


def check(sources: list[Source]) -> Iterator[Problem]:
    """Every file of a folder schema/ or functions/."""
    for source in sources:
        if source.path.suffix != ".sql":
            continue
        if source.path.parent.name == "schema":
            yield from _check_numbered(source)
        elif source.path.parent.name == "functions":
            yield from _check_functions(source)


def _check_numbered(source: Source) -> Iterator[Problem]:
    code = _statements(source.text)
    yield from _check_concurrent(source, code)
    for found in _MAKES_FUNCTION.finditer(code):
        yield source.problem(found.start(), "a function has its one text in functions/")
    if _CONTRACT.search(source.text):
        return
    for found in _TAKES_AWAY.finditer(_without_repeats(code)):
        what = " ".join(found[0].split()).upper()
        yield source.problem(
            found.start(),
            f"{what} breaks the release before this one, which still runs: leave it to a file "
            "of a later release, marked `-- contract of <version>`",
        )


def _check_functions(source: Source) -> Iterator[Problem]:
    start = 0
    for statement in _statements(source.text).split(";"):
        if statement.strip() and not _REPLACES_FUNCTION.match(statement):
            yield source.problem(
                start + len(statement) - len(statement.lstrip()),
                "runs again with every change: CREATE OR REPLACE FUNCTION or PROCEDURE alone",
            )
        start += len(statement) + 1


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _statements(text: str) -> str:
    """Returns the statements that run at once, each character at its old offset."""

    def blank(found: re.Match[str]) -> str:
        if not found["do"]:
            return _blank(found[0])
        return re.sub(_COMMENT, lambda comment: _blank(comment[0]), found[0], flags=re.DOTALL)

    return _NOT_CODE.sub(blank, text)


def _without_repeats(code: str) -> str:
    def blank(found: re.Match[str]) -> str:
        name = found[1].rpartition(".")[2]
        again = re.compile(
            rf"\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+{re.escape(name)}\b", re.IGNORECASE
        )
        return _blank(found[0]) if again.search(code, found.end()) else found[0]

    return _MAKES_AGAIN.sub(blank, code)


def _check_concurrent(source: Source, code: str) -> Iterator[Problem]:
    found = re.search(r"\bCONCURRENTLY\b", code, re.IGNORECASE)
    if found and not source.text.startswith(_OUTSIDE):
        yield source.problem(
            found.start(),
            f"CONCURRENTLY cannot run in a transaction: begin the file with `{_OUTSIDE.strip()}`",
        )
