"""Checks which folder includes which: libraries stay in their room, arrows between rooms point
down, no service knows another, and inside a service arrows between folders point down, too. No id
passes as one of another kind, and no prepared statement is run past the room that prepares it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from source import Problem, Source

# A room includes rooms of its own or a lower line only.
LAYERS = [
    {"core"},
    {"command_line", "html"},
    {"config", "log", "metrics", "json", "crypto", "trace", "extract", "mail", "mime", "rules"},
    {"async"},
    {"runtime", "tls"},
    {"http", "kafka", "postgres", "credentials"},
    {"admin", "otlp", "rpc", "outbox", "plans", "events", "migrations", "faults"},
    {"mailbox", "accounts", "feeds", "testing"},
]
# The folders inside a service, lowest first: a folder includes itself and lower ones only. "." are
# the files beside the folders; where it is not in the list, they lie above all folders.
FOLDERS = {
    "gateway": [
        "clients",
        "json",
        "quota",
        "access",
        "routes",
        "idempotency",
        "pipeline",
        "site",
        "long_poll",
        "resources",
        "mcp",
        "dashboard",
        ".",
        "surfaces",
    ],
    "inbox": ["reading", "lifecycle", "senders", "api"],
    "mail-ingest": [
        "envelope",
        "rejections",
        "faults",
        "attempts",
        "recipients",
        "logins",
        "ingest",
        "smtp",
    ],
    "webhook-dispatcher": [
        "storage",
        "endpoints",
        "routing",
        "delivery",
        "events",
        "manual_retry",
        "api",
    ],
}
_LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}

# A library's headers, and the only places that may see them.
_LIBRARIES = {
    r"boost/beast": r"^libs/common/http/|^libs/boost/",
    r"librdkafka/": r"^libs/common/kafka/",
    r"pqxx/": (
        r"^libs/(common/(postgres|outbox|testing)|mailbox|accounts|feeds)/"
        r"|_(?:store|repository)\.[ch]pp$|/storage/[^/]+\.[ch]pp$|/outbox\.[ch]pp$"
    ),
    r"rapidjson/": r"^libs/common/json/",
    r"curl/": r"^libs/common/mail/",
    r"CLI/": r"^libs/common/config/|^programs/tempinboxctl/command_line\.cpp$",
}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
_GENERATED = "tempinbox"
# `key_id{account.value()}`, `key_id key(account.value())`
_RELABELED_ID = re.compile(r"\b\w+_id(?: +\w+)?\s*[({]\s*[*\w][\w.:>*()-]*\.value\(\)\s*[)}]")
# The members of a libpqxx transaction that run a prepared statement.
_PREPARED = re.compile(r"(?:\.|->)\s*(exec_prepared\w*)\s*\(")
_PREPARING_ROOM = "postgres"


def check(sources: list[Source]) -> Iterator[Problem]:
    """All of these rules."""
    edges: dict[str, dict[str, Problem]] = defaultdict(dict)
    services = {
        source.path.parts[1]
        for source in sources
        if source.path.parts[0] == "services" and len(source.path.parts) > 2
    }
    for source in sources:
        if not source.is_cpp:
            continue
        yield from (
            source.problem(
                found.start(), "makes an id of another one's value: key by what it identifies"
            )
            for found in _RELABELED_ID.finditer(source.text)
        )
        here = _room(source.path)
        if here != _PREPARING_ROOM:
            yield from _check_prepared(source)
        for found in _INCLUDE.finditer(source.text):
            name = found[2]
            yield from _check_library(source, found.start(), name)
            if found[1] == '"':
                yield from _check_service(source, found.start(), name, services)
                yield from _check_folder(source, found.start(), name)
            there = (
                _room(Path("libs", name))
                if found[1] == '"' and not name.startswith(_GENERATED)
                else None
            )
            if here and there in _LEVEL and there != here:
                edges[here].setdefault(
                    str(there),
                    source.problem(
                        found.start(), f"includes {name}: room {there} lies above {here}"
                    ),
                )
    yield from _check_layers(edges)
    yield from _check_cycles(edges)


def _room(path: Path) -> str | None:
    """The room of a file of libs/; None elsewhere."""
    parts = path.parts
    if parts[0] != "libs" or len(parts) < 3:
        return None
    return parts[2] if parts[1] == "common" and len(parts) > 3 else parts[1]


def _check_library(source: Source, offset: int, name: str) -> Iterator[Problem]:
    if source.path.parts[0] == "tests":
        return
    for header, allowed in _LIBRARIES.items():
        if re.match(header, name) and not re.search(allowed, str(source.path)):
            yield source.problem(
                offset, f"includes <{name}>, which belongs behind another room (allowed: {allowed})"
            )


def _check_prepared(source: Source) -> Iterator[Problem]:
    for found in _PREPARED.finditer(source.code):
        yield source.problem(
            found.start(),
            f"calls libpqxx's {found[1]}, which in version 7 fails for a statement that was only "
            f"defined: call postgres::{found[1]}(tx, name, ...)",
        )


def _check_service(source: Source, offset: int, name: str, services: set[str]) -> Iterator[Problem]:
    top, other = source.path.parts[0], name.split("/", 1)[0]
    # A room of libs/ may have a service's name within common/ only, so the first part of an include
    # tells a service.
    if (
        other not in services
        or (top == "services" and source.path.parts[1] == other)
        or top == "tests"
    ):
        return
    yield source.problem(offset, f"includes {name} of another service")


def _check_folder(source: Source, offset: int, name: str) -> Iterator[Problem]:
    parts = source.path.parts
    if parts[0] != "services" or parts[1] not in FOLDERS or len(parts) < 4:
        return
    order = FOLDERS[parts[1]]
    here, included = parts[2], name.split("/")
    if here not in order:
        yield source.problem(
            offset, f"folder {here} is unknown: give it its place in tests/style/boundaries.py"
        )
    elif included[0] == parts[1]:
        there = included[1] if len(included) > 2 else "."
        if there not in order[: order.index(here) + 1]:
            above = "the service" if there == "." else there
            yield source.problem(offset, f"includes {name}: {above} lies above {here}")


def _check_layers(edges: dict[str, dict[str, Problem]]) -> Iterator[Problem]:
    for here, others in edges.items():
        if here not in _LEVEL:
            yield from (
                Problem(
                    it.path,
                    it.line,
                    f"room {here} is unknown: give it a line in tests/style/boundaries.py",
                )
                for it in list(others.values())[:1]
            )
            continue
        yield from (problem for there, problem in others.items() if _LEVEL[there] > _LEVEL[here])


def _check_cycles(edges: dict[str, dict[str, Problem]]) -> Iterator[Problem]:
    done: set[str] = set()

    def walk(room: str, path: list[str]) -> Iterator[Problem]:
        for there, problem in edges.get(room, {}).items():
            if there in path:
                cycle = " -> ".join([*path[path.index(there) :], there])
                yield Problem(problem.path, problem.line, f"rooms include each other: {cycle}")
            elif there not in done:
                yield from walk(there, [*path, there])
        done.add(room)

    for room in sorted(edges):
        if room not in done:
            yield from walk(room, [room])
