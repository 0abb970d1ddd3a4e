"""Tables of docs/events that are made of the contract, and of deploy/kafka/access.json. A page
holds each between two marks: `<!-- table: topics -->` and `<!-- end -->`.
"""

import re
from collections.abc import Callable

from generate.kafka_acls import Access, Rights

from asyncapi.document import Contract, Node

_HOUR, _DAY = 3_600_000, 86_400_000
_MARKED = re.compile(r"(<!-- table: (?P<name>[^>]+?) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def fill(contract: Contract, access: Access, text: str) -> str:
    """The page with its tables as these two have them; an unknown table is a ValueError."""

    def made(found: re.Match[str]) -> str:
        kind, _, of = found["name"].partition(" ")
        if kind in _OF_ACCESS:
            table = _OF_ACCESS[kind](access)
        elif kind in _OF_CONTRACT:
            table = _OF_CONTRACT[kind](contract, of)
        else:
            known = ", ".join([*_OF_CONTRACT, *_OF_ACCESS])
            raise ValueError(f"no table is called {kind}; there are: {known}")
        return f"{found[1]}\n{table}\n"

    return _MARKED.sub(made, text)


def retention(channel: Node) -> str:
    """Returns how long a topic keeps a record, in words."""
    settings = channel["bindings"]["kafka"]["topicConfiguration"]
    if settings["cleanup.policy"] == ["compact"]:
        return "compacted: the last record of each key"
    kept = settings["retention.ms"]
    return f"{kept // _DAY} days" if kept > 3 * _DAY else f"{kept // _HOUR} h"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _topics(contract: Contract, audience: str) -> str:
    rows = []
    for name, channel in contract.topics.items():
        if contract.is_internal(channel) != (audience == "internal"):
            continue
        (message,) = contract.messages_of(channel)
        key = contract.resolve(message["bindings"]["kafka"]["key"]) if "bindings" in message else {}
        value = f"`{message['x-message']}`" if "x-message" in message else "as it came"
        rows.append(
            [
                f"`{name}`",
                value,
                key.get("description", "as it came"),
                str(channel["bindings"]["kafka"]["partitions"]),
                retention(channel),
            ]
        )
    return _table(["topic", "value", "key", "partitions", "retention"], rows)


def _headers(contract: Contract, schema: str) -> str:
    node = contract.content["components"]["schemas"][schema]
    required = contract.required(node)
    rows = [
        [f"`{name}`", "always" if name in required else "where there is one", _said(header)]
        for name, header in contract.properties(node).items()
    ]
    return _table(["header", "there", "value"], rows)


def _more_headers(contract: Contract, _: str) -> str:
    """Returns the headers of one topic alone."""
    schemas = contract.content["components"]["schemas"]
    shared = contract.properties(schemas["EventHeaders"])
    rows = [
        [f"`{name}`", f"`{topic}`", _said(header)]
        for topic, channel in contract.topics.items()
        if not contract.is_internal(channel)
        for message in contract.messages_of(channel)
        for name, header in contract.properties(message["headers"]).items()
        if name not in shared
    ]
    return _table(["header", "topic", "value"], rows)


def _classes(contract: Contract, _: str) -> str:
    """Returns the fields of public topics that are more than public."""
    rows = [
        [f"`{name}`", f"`{message['x-message'].rsplit('.', 1)[-1]}`", field["x-classification"]]
        for channel in contract.topics.values()
        if not contract.is_internal(channel)
        for message in contract.messages_of(channel)
        for name, field in contract.properties(message["payload"]).items()
        if field["x-classification"] != "public"
    ]
    return _table(["field", "of", "class"], rows)


def _said(node: Node) -> str:
    return " ".join(node.get("description", "").split()).replace("|", "\\|")


def _groups(access: Access) -> str:
    named = [
        [f"`{group}`", _listed(topics), service]
        for service, program in access.services.items()
        for group, topics in program.groups.items()
    ]
    random = [
        [f"`{access.broadcast_groups}<instance>`", _listed(program.broadcasts), f"each {service}"]
        for service, program in access.services.items()
        if program.broadcasts
    ]
    return _table(["group id", "reads", "service"], named + random)


def _rights(access: Access) -> str:
    head = ["user", "reads", "writes", "groups", "creates and alters"]
    rows = []
    for user, rights in access.rights().items():
        altered = _with(rights, "topic", "Alter")
        rows.append(
            [
                f"`{user}`",
                _listed(_with(rights, "topic", "Read")),
                _listed(_with(rights, "topic", "Write")),
                _listed(_with(rights, "group", "Read")),
                "every topic" if set(altered) == set(access.topics) else _listed(altered),
            ]
        )
    return _table(head, rows)


def _with(rights: Rights, kind: str, operation: str) -> list[str]:
    """Names on which there is the right; a star stands for the rest of a name."""
    return [
        resource.name + ("*" if resource.pattern == "prefixed" else "")
        for resource, operations in sorted(rights.items(), key=lambda right: right[0])
        if resource.kind == kind and operation in operations
    ]


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


_OF_CONTRACT: dict[str, Callable[[Contract, str], str]] = {
    "topics": _topics,
    "headers": _headers,
    "more-headers": _more_headers,
    "classes": _classes,
}
_OF_ACCESS: dict[str, Callable[[Access], str]] = {"groups": _groups, "rights": _rights}
