"""The figures by which the shape of the code is judged: `./dev check house` prints them, and fails
where one is past its bound.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import dead_sql
import words
from source import Source, matching

_PRODUCT = {"libs", "services", "programs", "clients"}
_MAX_COLUMNS = 100
_MEMBER = re.compile(
    r"^    (?!using |return |friend |static )[\w:<>,&* ]+[ &*](\w+)(?:\{[^;]*\})?;", re.MULTILINE
)
_ROOTS = {"service.hpp", "core.hpp", "api.hpp", "dashboard.hpp"}
_FUNCTION = re.compile(
    r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE)\s+([\w.]+)", re.IGNORECASE
)
# What starts a loop unless one is under way: items that come meanwhile wait for its next turn.
_STARTS = re.compile(r"\b(is_\w+) = true;\s*(?:boost::asio::)?co_spawn\([^,]+,\s*(?:\w+::)*(\w+)\(")
_KEPT_LOOPS = {
    "inbox_poller": "one poll serves all its waiters: there are no items",
    "quota_batcher": "an item that is late is answered, but stays in its call and is counted",
}
_BY_THE_BUILD = {Path("libs/pch.hpp")}
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Figure:
    """One measured number. Without a bound it is only reported."""

    name: str
    value: float
    at_most: float | None = None
    note: str = ""

    @property
    def is_good(self) -> bool:
        """Whether it keeps its bound."""
        return self.at_most is None or self.value <= self.at_most

    def __str__(self) -> str:
        bound = "" if self.at_most is None else f"at most {self.at_most:g}"
        mark = "" if self.is_good else "  <- past its bound"
        note = f"  {self.note}" if self.note else ""
        return f"  {self.name:44} {self.value:>8g}  {bound:14}{mark}{note}"


def figures(sources: list[Source]) -> list[Figure]:
    """All of them, of the tree's files."""
    cpp = [source for source in sources if source.is_cpp]
    product = [source for source in cpp if source.path.parts[0] in _PRODUCT and not source.is_test]
    sql = [source for source in sources if source.path.suffix == ".sql"]
    return [
        Figure("C++ units (a header and its .cpp are one)", _units(product)),
        Figure("C++ lines", sum(_lines(source) for source in product)),
        _dead_units(product),
        _own_loops(product),
        *_sql(sources, sql),
        *_roots(product),
        *_wide(cpp, sql),
        Figure("findings of words.py", len(list(words.check(sources))), at_most=0),
    ]


def _lines(source: Source) -> int:
    return source.text.count("\n")


def _units(product: list[Source]) -> int:
    return len({source.path.with_suffix("") for source in product})


def _dead_units(product: list[Source]) -> Figure:
    """Headers that only their own .cpp and their tests include."""
    users: dict[Path, set[Path]] = {}
    for source in product:
        for name in _INCLUDE.findall(source.text):
            users.setdefault(Path(name), set()).add(source.path.with_suffix(""))
    dead = [
        str(source.path)
        for source in product
        if source.path.suffix == ".hpp"
        and source.path not in _BY_THE_BUILD
        and not users.get(source.path.relative_to(source.path.parts[0]), set())
        - {source.path.with_suffix("")}
    ]
    return Figure("C++ units that nothing uses", len(dead), at_most=0, note=" ".join(dead))


def _own_loops(product: list[Source]) -> Figure:
    """The toolbox has `batcher` and `single_flight` for it."""
    own = sorted(
        source.path.stem
        for source in product
        if source.path.stem not in _KEPT_LOOPS
        and source.path.parts[:3] != ("libs", "common", "async")
        and any(
            _is_guard(source.code, flag) and _loops(source.code, name)
            for flag, name in _STARTS.findall(source.code)
        )
    )
    return Figure("hand-written batch loops", len(own), at_most=0, note=" ".join(own))


def _is_guard(code: str, flag: str) -> bool:
    return bool(re.search(rf"\bif \([^;{{]*\b{flag}\b", code))


def _loops(code: str, name: str) -> bool:
    """Whether the coroutine of this name, defined here, goes round."""
    found = re.search(rf"^awaitable<[^;{{]*\b{name}\([^;{{]*(\{{)", code, re.MULTILINE)
    if found is None:
        return False
    return "while (" in code[found.start(1) : matching(code, found.start(1))]


def _sql(sources: list[Source], sql: list[Source]) -> list[Figure]:
    dead = dead_sql.dead(sources)
    functions = Counter(name for source in sql for name in _FUNCTION.findall(source.text))
    return [
        Figure("SQL lines", sum(_lines(source) for source in sql)),
        Figure("SQL names that nothing uses", len(dead), at_most=0, note=" ".join(dead)),
        Figure("texts of one SQL function", max(functions.values(), default=0), at_most=1),
    ]


def _class_of(code: str) -> str:
    """The root itself, without the structs that stand before it."""
    return code[code.find("\nclass ") :]


def _roots(product: list[Source]) -> list[Figure]:
    """The members of each service's roots."""
    roots = {
        "/".join(source.path.parts[1:]): len(set(_MEMBER.findall(_class_of(source.code))))
        for source in product
        if source.path.parts[0] == "services"
        and len(source.path.parts) == 3
        and source.path.name in _ROOTS
    }
    largest = max(roots.values(), default=0)
    listed = ", ".join(f"{name} {count}" for name, count in sorted(roots.items()))
    return [Figure("members of the largest root", largest, at_most=17, note=listed)]


def _wide(cpp: list[Source], sql: list[Source]) -> list[Figure]:
    found = []
    for name, those in (("C++", cpp), ("SQL", sql)):
        lines = [line for source in those for line in source.text.splitlines()]
        wide = sum(len(line) > _MAX_COLUMNS for line in lines)
        share = round(100 * wide / max(len(lines), 1), 2)
        found.append(Figure(f"% of {name} lines over {_MAX_COLUMNS} columns", share, at_most=0.5))
    return found
