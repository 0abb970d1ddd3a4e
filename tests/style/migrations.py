"""What a release's migrations may do while the release before it still runs: add, never take away.

What takes something away (DROP, RENAME, another type) is the contract of a change whose expansion
was released before. Such a file says of which: a line `-- contract of v1.2` names the first release
that no longer uses what goes.
"""

import re
from collections.abc import Iterator

from source import Problem, Source

# Made before there was a release to keep running.
_EXEMPT = {
    "services/inbox/migrations/0005_store_mail_once.sql",
    "services/inbox/migrations/0008_versions_of_lists.sql",
    "services/rate-limit/migrations/0004_days_of_debts.sql",
    "services/rate-limit/migrations/0005_without_let_through.sql",
    "services/webhook-dispatcher/migrations/0002_replay.sql",
    "services/webhook-dispatcher/migrations/0003_secret_rotation.sql",
}
_CONTRACT = re.compile(r"^-- contract of v?\d+(?:\.\d+)*$", re.MULTILINE)
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
# What makes a file outside a transaction right to repeat: an index that an attempt left invalid.
_MAKES_AGAIN = re.compile(
    r"\bDROP\s+INDEX\s+CONCURRENTLY\s+IF\s+EXISTS\s+([\w.]+)\s*;", re.IGNORECASE
)


def check(sources: list[Source]) -> Iterator[Problem]:
    """Every migration that is not exempt by name."""
    for source in sources:
        path = source.path
        if path.suffix != ".sql" or path.parent.name != "migrations" or str(path) in _EXEMPT:
            continue
        code = _statements(source.text)
        yield from _check_concurrent(source, code)
        if _CONTRACT.search(source.text):
            continue
        for found in _TAKES_AWAY.finditer(_without_repeats(code)):
            what = " ".join(found[0].split()).upper()
            yield source.problem(
                found.start(),
                f"{what} breaks the release before this one, which still runs: leave it to a file "
                "of a later release, marked `-- contract of <version>`",
            )


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _statements(text: str) -> str:
    """What runs at once, each character at its old offset."""

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
