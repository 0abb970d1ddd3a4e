"""The arguments and results of both clients beside the types of the contract."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from tempinbox._answers import camel_case


@dataclass(frozen=True, kw_only=True)
class AttachmentFile:
    """An attachment with its bytes; the name is the sender's choice, but safe to show."""

    filename: str
    content_type: str
    content: bytes = field(repr=False)


class NewInbox(TypedDict, total=False):
    """An inbox to create in a batch: the arguments of `create_inbox`."""

    local_part: str | None
    domain: str | None
    ttl_seconds: int | None
    name: str | None
    tags: Sequence[str] | None
    metadata: Mapping[str, str] | None


def in_contract(given: Any) -> Any:
    """Returns a batch with the names of the API; what is no inbox is left, and refused later."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        return given
    return [
        {camel_case(str(name)): items_of(value) for name, value in one.items()}
        if isinstance(one, Mapping)
        else one
        for one in given
    ]


def without_none(**given: Any) -> dict[str, Any]:
    """Returns the arguments that are not None."""
    return {name: value for name, value in given.items() if value is not None}


def items_of(given: Any) -> Any:
    """Returns a list; a value that is no sequence of texts, such as a single text, stays as it is
    and is refused later.
    """
    return list(given) if isinstance(given, Sequence) and not isinstance(given, str) else given
