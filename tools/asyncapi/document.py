"""An AsyncAPI 3.1 document and what its references point to."""

from collections.abc import Iterator

from openapi.document import Document, Node

__all__ = ["Contract", "Node"]


class Contract(Document):
    """The file as a tree. A header's or field's description is in its schema."""

    @property
    def topics(self) -> dict[str, Node]:
        """The channels that are Kafka topics, by name."""
        return {
            channel["address"]: channel
            for channel in self.content["channels"].values()
            if channel["address"]
        }

    @property
    def webhooks(self) -> Node:
        """The channel of the requests."""
        found: Node = self.content["channels"]["webhooks"]
        return found

    @property
    def messages(self) -> dict[str, Node]:
        """Returns the messages by their names in the file."""
        found: dict[str, Node] = self.content["components"]["messages"]
        return found

    @staticmethod
    def is_internal(channel: Node) -> bool:
        """Returns whether other teams keep away from it."""
        return bool(channel.get("x-audience") == "internal")

    def messages_of(self, channel: Node) -> list[Node]:
        """Returns the messages of a channel."""
        return [self.resolve(message) for message in channel["messages"].values()]

    def properties(self, schema: Node) -> dict[str, Node]:
        """Fields of an object, those of the schemas that it consists of first."""
        whole = self.resolve(schema)
        found: dict[str, Node] = {}
        for part in whole.get("allOf", []):
            found |= self.properties(part)
        own: dict[str, Node] = whole.get("properties", {})
        return found | own

    def required(self, schema: Node) -> set[str]:
        """Names of the fields that are always there."""
        whole = self.resolve(schema)
        found = set(whole.get("required", []))
        return found.union(*(self.required(part) for part in whole.get("allOf", [])))

    def fields(self) -> Iterator[tuple[str, str, Node]]:
        """Every key, header and field that holds a value: whose, its name, its schema."""
        for owner, message in self.messages.items():
            if "bindings" in message:
                yield owner, "key", self.resolve(message["bindings"]["kafka"]["key"])
            for part in ("headers", "payload"):
                if part in message:
                    yield from self._leaves(owner, message[part])

    def _leaves(self, owner: str, schema: Node, path: str = "") -> Iterator[tuple[str, str, Node]]:
        for name, given in self.properties(schema).items():
            inner = self.resolve(given)
            if "properties" in inner:
                yield from self._leaves(owner, inner, f"{path}{name}.")
            else:
                yield owner, path + name, inner
