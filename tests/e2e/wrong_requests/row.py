"""The type of a row of the table."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

JSON = {"Content-Type": "application/json"}
UNKNOWN = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f"


@dataclass(frozen=True)
class Row:
    """A request, and what is said to it.

    `{inbox}`, `{email}` and `{webhook}` in the target stand for objects that exist.
    """

    name: str
    method: str
    target: str
    status: int
    mentions: tuple[str, ...] = ()
    body: bytes = b""
    headers: Mapping[str, str | bytes] = field(default_factory=dict)
    has_key: bool = True
    code: str = ""  # that of X-Error-Code, where the row is about it

    def named(self, group: str) -> "Row":
        """Returns the row with the group before its name."""
        return replace(self, name=f"{group}: {self.name}")


def get(target: str, *mentions: str, status: int = 400) -> Row:
    """A GET that is wrong by its target."""
    return Row(f"GET {target}", "GET", target, status, mentions)


def send(
    method: str, target: str, body: Any, *mentions: str, name: str = "", status: int = 400
) -> Row:
    """A body, as bytes or as a value to be written as JSON, sent as application/json."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    shown = (
        content.decode("latin-1") if len(content) <= 70 else content[:67].decode("latin-1") + "..."
    )
    return Row(
        name or f"{method} {target} {shown!r}",
        method,
        target,
        status,
        mentions,
        content,
        dict(JSON),
    )


def create_inbox(body: Any, *mentions: str, name: str = "") -> Row:
    """POST /v1/inboxes."""
    return send("POST", "/v1/inboxes", body, *mentions, name=name)


def create_webhook(body: Any, *mentions: str, name: str = "") -> Row:
    """POST /v1/webhooks."""
    return send("POST", "/v1/webhooks", body, *mentions, name=name)
