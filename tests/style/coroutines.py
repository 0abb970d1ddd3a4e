"""Finds what is wrong around co_await with every compiler and shows in the text; clang-tidy sees
captures and locks.
"""

import re
from collections.abc import Iterator

from source import Problem, Source, matching

_AWAIT = re.compile(r"\bco_await\b")
_CATCH_MACRO = re.compile(r"\b(?:REQUIRE|CHECK)(?:_\w+)?\s*\(")
_SPAWNED_LAMBDA = re.compile(r"\bco_spawn\s*\([^,;]*,\s*\[")


def check(sources: list[Source]) -> Iterator[Problem]:
    """All of these rules, on every C++ file."""
    for source in sources:
        if source.is_cpp:
            yield from _check_macros(source)
            for found in _SPAWNED_LAMBDA.finditer(source.code):
                yield source.problem(
                    found.start(),
                    "co_spawn takes a named coroutine: a lambda is gone at its first suspension",
                )


def _check_macros(source: Source) -> Iterator[Problem]:
    for found in _CATCH_MACRO.finditer(source.code):
        inside = source.code[found.end() : matching(source.code, found.end() - 1)]
        if _AWAIT.search(inside):
            yield source.problem(found.start(), "co_await inside a Catch2 macro runs twice")
