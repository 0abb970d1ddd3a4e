"""What g++ 12.2 compiles wrongly around co_await, as far as it shows in the text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from source import Problem, Source, matching

_AWAIT = re.compile(r"\bco_await\b")
_CONTROL = re.compile(r"\b(?:if(?:\s+constexpr)?|while|switch|for)\s*\(")
_BARE_CONDITION = re.compile(r"\b(?:if(?:\s+constexpr)?|while|switch)\s*\([^=;]*\bco_await\b")
_CATCH_MACRO = re.compile(r"\b(?:REQUIRE|CHECK)(?:_\w+)?\s*\(")
_CATCH_BLOCK = re.compile(r"\bcatch\s*\([^)]*\)\s*\{")
_LAMBDA = re.compile(r"(?<![\w)\]])\s*\[([^\[\]]+)\]\s*(?=[({]|mutable\b|$)")


@dataclass(frozen=True)
class Statement:
    """One statement, or the head of one that opens a block."""

    start: int
    text: str


def statements(code: str) -> Iterator[Statement]:
    """Cuts code at semicolons, at blocks and behind the parentheses of if, while, switch and for.

    Braces without a semicolon inside are initializers.
    """
    cuts = {matching(code, found.end() - 1) + 1 for found in _CONTROL.finditer(code)}
    inside_control = [
        (found.end() - 1, matching(code, found.end() - 1)) for found in _CONTROL.finditer(code)
    ]
    start = 0
    initializer_ends: set[int] = set()
    for offset, letter in enumerate(code):
        if letter == "{" and _is_initializer(code, offset):
            initializer_ends.add(matching(code, offset))
            continue
        ends = letter in "{}" and offset not in initializer_ends
        ends |= letter == ";" and not any(a < offset < b for a, b in inside_control if a >= start)
        if ends or offset in cuts:
            yield Statement(start, code[start:offset])
            start = offset + 1 if ends else offset
    yield Statement(start, code[start:])


def _is_initializer(code: str, start: int) -> bool:
    return ";" not in code[start : matching(code, start)]


def check(sources: list[Source]) -> Iterator[Problem]:
    """All of these rules, on every C++ file."""
    for source in sources:
        if source.is_cpp and "co_await" in source.code:
            yield from _check_macros(source)
            yield from _check_catch_blocks(source)
            for statement in statements(source.code):
                yield from _check_statement(source, statement)


def _check_statement(source: Source, statement: Statement) -> Iterator[Problem]:
    awaits = [found.start() for found in _AWAIT.finditer(statement.text)]
    if not awaits:
        return
    place = statement.start + awaits[0]
    if len(awaits) > 1:
        yield source.problem(
            place, "two co_await in one statement: name the first answer on the line above"
        )
    if "?" in statement.text:
        yield source.problem(place, "co_await in one statement with ?: - decide on the line above")
    if _BARE_CONDITION.search(statement.text):
        yield source.problem(place, "co_await as a condition: name the answer on the line above")
    for found in re.finditer(r"\{", statement.text):
        if any(found.start() < at < matching(statement.text, found.start()) for at in awaits):
            yield source.problem(place, "co_await inside braces: name the answer on the line above")
            break
    for found in _LAMBDA.finditer(statement.text, awaits[0]):
        if any(not re.match(r"\s*(?:&|\*?this\b)", capture) for capture in found[1].split(",")):
            yield source.problem(
                place,
                "a lambda that owns captures inside a co_await expression: hand it over in a "
                "plain function",
            )


def _check_macros(source: Source) -> Iterator[Problem]:
    for found in _CATCH_MACRO.finditer(source.code):
        inside = source.code[found.end() : matching(source.code, found.end() - 1)]
        if _AWAIT.search(inside):
            yield source.problem(found.start(), "co_await inside a Catch2 macro runs twice")


def _check_catch_blocks(source: Source) -> Iterator[Problem]:
    for found in _CATCH_BLOCK.finditer(source.code):
        inside = source.code[found.end() : matching(source.code, found.end() - 1)]
        if _AWAIT.search(inside):
            yield source.problem(found.start(), "co_await inside a catch block")
