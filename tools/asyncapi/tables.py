"""Tables of docs/events that are made of the contract. A page holds each between two marks:
`<!-- table: topics -->` and `<!-- end -->`.
"""

import re
from collections.abc import Callable

from asyncapi.document import Contract, Node

_HOUR, _DAY = 3_600_000, 86_400_000
_MARKED = re.compile(r"(<!-- table: (?P<name>[^>]+?) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def fill(contract: Contract, text: str) -> str:
    """The page with its tables as the contract has them; an unknown table is a ValueError."""

    def made(found: re.Match[str]) -> str:
        kind, _, of = found["name"].partition(" ")
        if kind not in _TABLES:
            raise ValueError(f"no table is called {kind}; there are: {', '.join(_TABLES)}")
        return f"{found[1]}\n{_TABLES[kind](contract, of)}\n"

    return _MARKED.sub(made, text)


def retention(channel: Node) -> str:
    """How long a topic keeps a record, in words."""
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
    """Those of one topic alone."""
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


def _fields(contract: Contract, message: str) -> str:
    properties = contract.properties(contract.messages[message]["payload"])
    rows = [
        [
            str(field["x-field"]),
            f"`{name}`",
            field["x-type"].rsplit(".", 1)[-1],
            field["x-classification"],
            _said(field),
        ]
        for name, field in properties.items()
    ]
    return _table(["number", "field", "type", "class", "meaning"], rows)


def _said(node: Node) -> str:
    return " ".join(node.get("description", "").split()).replace("|", "\\|")


_TABLES: dict[str, Callable[[Contract, str], str]] = {
    "topics": _topics,
    "headers": _headers,
    "more-headers": _more_headers,
    "fields": _fields,
}
