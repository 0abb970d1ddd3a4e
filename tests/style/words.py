"""The glossary, docs/glossary.md: old words are no names in C++, and a type's name is used once in
a library or service. What other programs see (Protobuf, metrics, settings, JSON, SQL) is in strings
or generated code and free.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from old_words import AFFIXES, EXEMPT, IDENTIFIERS, SCOPED
from source import Problem, Source

_NAME = re.compile(r"[A-Za-z_]\w*")
# A definition at namespace level: a declaration ends in a semicolon without a brace.
_TYPE = re.compile(
    r"^(?:class|struct|enum(?: class)?) (\w+)\b(?!::)(?:[^;{\n]*$|[^;\n]*\{)", re.MULTILINE
)
# Each library or service may have one of these.
_COMMON_TYPES = {"settings", "service", "listener"}


def check(sources: list[Source]) -> Iterator[Problem]:
    """Both rules."""
    for source in sources:
        if source.is_cpp:
            yield from _old_words(source)
    yield from _types_twice([source for source in sources if source.path.suffix == ".hpp"])


def _old_words(source: Source) -> Iterator[Problem]:
    scoped = {
        old: new
        for pattern, words in SCOPED.items()
        if fnmatchcase(str(source.path), pattern)
        for old, new in words.items()
    }
    for found in _NAME.finditer(source.code):
        name = found[0]
        new = IDENTIFIERS.get(name) or scoped.get(name) or _by_affix(name)
        if new and not _is_exempt(name, source.path):
            yield source.problem(found.start(), f"`{name}` is an old word: {new}")


def _by_affix(name: str) -> str | None:
    word = name.strip("_").lower()
    for affix, new in AFFIXES.items():
        if affix.endswith("_") and word.startswith(affix):
            return new
        if affix.startswith("_") and word.endswith(affix):
            return new
        if affix == word:
            return new
    return None


def _is_exempt(name: str, path: Path) -> bool:
    return any(
        fnmatchcase(name, pattern) and fnmatchcase(str(path), where) for pattern, where, _ in EXEMPT
    )


def _types_twice(headers: list[Source]) -> Iterator[Problem]:
    first: dict[tuple[str, str], Path] = {}
    for header in headers:
        if header.is_test:
            continue
        depth = 3 if header.path.parts[:2] == ("libs", "common") else 2
        home = "/".join(header.path.parts[:depth])
        for found in _TYPE.finditer(header.code):
            name = found[1]
            if name in _COMMON_TYPES:
                continue
            earlier = first.setdefault((home, name), header.path)
            if earlier != header.path:
                yield header.problem(found.start(), f"`{name}` is a type of {earlier} as well")
