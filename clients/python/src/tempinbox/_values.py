"""The arguments and results of both clients beside the types of the contract."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class AttachmentFile:
    """An attachment with its bytes; the name is the sender's choice, but safe to show."""

    filename: str
    content_type: str
    content: bytes = field(repr=False)


def without_none(**given: Any) -> dict[str, Any]:
    """Returns the arguments that are not None."""
    return {name: value for name, value in given.items() if value is not None}


def items_of(given: Any) -> Any:
    """Returns a list; a value that is no sequence of texts, such as a single text, stays as it is
    and is refused later.
    """
    return list(given) if isinstance(given, Sequence) and not isinstance(given, str) else given
