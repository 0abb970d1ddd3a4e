"""The glossary, docs/glossary.md: old words are no names, in any language of the tree, and a type's
name is used once in a library or service. Texts, and the names of other programs, are free.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from identifiers import identifiers, words_of
from source import Problem, Source

# Words that are refused wherever they stand in a name, in snake, camel or Pascal case.
_ANYWHERE = {
    "wish": "request, params or options",
    "wishes": "requests, params or options",
    "wanted": "requested or expected",
    "told": "reported",
    "asked": "requested, or what was sent: request",
    "news": "update or event",
    "patience": "timeout",
    "pause": "interval or delay",
    "pauses": "intervals or delays",
    "longest": "max",
    "widest": "max",
    "fewest": "min",
    "breath": "interval",
    "surroundings": "context",
    "upkeep": "maintenance",
    "debtor": "reporter of unreported usage",
    "owed": "unreported",
    "verdict": "status, outcome or decision",
    "verdicts": "statuses, outcomes or decisions",
    "announcement": "event",
    "announcements": "events",
    "dialogue": "session",
    "trouble": "error",
}
# C++ has most of these still, and a pause of Kafka's.
_NOT_IN_CPP = {"asked", "fewest", "longest", "news", "pause", "pauses", "wanted", "widest"}
# Beginnings (`most_`), ends (`_desk`) and whole names.
_AFFIXES = {
    "most_": "max",
    "least_": "min",
    "longest_": "max",
    "widest_": "max",
    "fewest_": "min",
    "asked_": "requested",
    "_desk": "handlers",
    "_lane": "batcher, or queue",
    "_book": "pool, cache or ledger: what it holds",
    "place": "offset, index, slot, position or location: which one it is",
    "_place": "offset, index, slot, position or location: which one it is",
    "places": "offsets, slots, positions: which they are",
    "tell": "notify or report",
    "hear": "receive",
    "heard": "received",
    "forget": "purge (rows), evict (cache)",
    "forget_": "purge (rows), evict (cache)",
    "tidy": "purge",
    "announce": "publish",
    "scout": "find_due",
    "scout_": "find_due",
    "hand_over": "publish",
    "by_hand": "manual",
}
# Words that are refused below a path, and good elsewhere.
_SCOPED = {
    "services/rate-limit/*": {"lease": "block", "recall": "reclaim", "elsewhere": "held_by_others"},
}
# Name, path, reason.
_EXEMPT = [
    ("most_bytes", "*", "a field of Protobuf: other programs read it"),
    ("set_most_bytes", "*", "a field of Protobuf: other programs read it"),
    ("in_place", "*", "std::in_place"),
    ("places", "tests/tools/charts_test.py", "an argument of unittest"),
    ("tidy", "tools/dev/check.py", "clang-tidy"),
    ("PAUSE_IMAGE", "tests/k8s/*", "the container that Kubernetes calls pause"),
    ("announce", "web/dashboard/*", "what a screen reader does"),
]
# Python's tests are sentences, as those of C++ are; the other is written by openapi-typescript.
_SENTENCE = re.compile(r"test_\w+")
_GENERATED = "clients/typescript/src/openapi.ts"

# A definition at namespace level: a declaration ends in a semicolon without a brace.
_TYPE = re.compile(
    r"^(?:class|struct|enum(?: class)?) (\w+)\b(?!::)(?:[^;{\n]*$|[^;\n]*\{)", re.MULTILINE
)
# Each library or service may have one of these.
_COMMON_TYPES = {"settings", "service", "listener"}


def check(sources: list[Source]) -> Iterator[Problem]:
    """Both rules."""
    for source in sources:
        if str(source.path) != _GENERATED:
            yield from _old_words(source)
    yield from _types_twice([source for source in sources if source.path.suffix == ".hpp"])


def _old_words(source: Source) -> Iterator[Problem]:
    scoped = {
        old: new
        for pattern, words in _SCOPED.items()
        if fnmatchcase(str(source.path), pattern)
        for old, new in words.items()
    }
    is_python = source.path.suffix == ".py"
    for offset, name in identifiers(source):
        if is_python and _SENTENCE.fullmatch(name):
            continue
        new = scoped.get(name) or _replacement(words_of(name), source.is_cpp)
        if new and not _is_exempt(name, source.path):
            yield source.problem(offset, f"`{name}` is an old word: {new}")


def _replacement(words: list[str], is_cpp: bool) -> str | None:
    for word in words:
        if word in _ANYWHERE and not (is_cpp and word in _NOT_IN_CPP):
            return _ANYWHERE[word]
    if len(words) == 1:
        return _AFFIXES.get(words[0])
    if not words:
        return None
    return (
        _AFFIXES.get("_".join(words))
        or _AFFIXES.get(words[0] + "_")
        or _AFFIXES.get("_" + words[-1])
    )


def _is_exempt(name: str, path: Path) -> bool:
    return any(
        fnmatchcase(name, pattern) and fnmatchcase(str(path), where)
        for pattern, where, _ in _EXEMPT
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
