"""An OpenAPI 3.1 document and what its references point to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml

METHODS = ("get", "post", "put", "patch", "delete")
Node = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """A method of a path (or one webhook of ours, where the path is an event's name)."""

    method: str
    path: str
    node: Node
    parameters: list[Node]

    @property
    def anchor(self) -> str:
        """Its place on the page."""
        return str(self.node["operationId"])


def split_prefix(names: Node) -> tuple[str, Node]:
    """Returns the word that all names of an object begin with, such as `header.`, and the bounds
    of what is behind it: clients write that word themselves.
    """
    found = re.fullmatch(r"\^(\w+)\\\.(.+)", names.get("pattern", ""))
    if not found:
        return "", names
    prefix = f"{found[1]}."
    lengths = {name: names[name] - len(prefix) for name in ("minLength", "maxLength")}
    return prefix, {**names, **lengths, "pattern": f"^{found[2]}"}


class Document:
    """The file as a tree."""

    def __init__(self, content: Node) -> None:
        self.content = content

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads YAML."""
        return cls(yaml.safe_load(path.read_text(encoding="utf-8")))

    def resolve(self, node: Node) -> Node:
        """The node a reference stands for; what stands beside the reference wins."""
        if "$ref" not in node:
            return node
        found: Any = self.content
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        return self.resolve(found) | {name: value for name, value in node.items() if name != "$ref"}

    @staticmethod
    def name_of(node: Node) -> str | None:
        """The component a reference names."""
        return str(node["$ref"]).rsplit("/", 1)[-1] if "$ref" in node else None

    def operations(self, section: str = "paths") -> Iterator[Operation]:
        """Every operation in the file's order; section `webhooks` for what the service sends."""
        for path, item in self.content.get(section, {}).items():
            for method in METHODS:
                if method in item:
                    given = [*item.get("parameters", []), *item[method].get("parameters", [])]
                    yield Operation(method, path, item[method], [self.resolve(it) for it in given])

    @property
    def schemas(self) -> dict[str, Node]:
        """The named ones."""
        found: dict[str, Node] = self.content["components"]["schemas"]
        return found
