"""The arguments and results of both clients beside the types of the contract."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypedDict

from tempinbox._answers import camel_case
from tempinbox.errors import InvalidArgument

LinkKind = Literal["verify", "reset", "unsubscribe", "other"]
EventName = Literal["email.received", "inbox.created", "inbox.expired"]


@dataclass(frozen=True, kw_only=True)
class AttachmentFile:
    """An attachment with its bytes; the name is the sender's choice, but safe to show."""

    filename: str
    content_type: str
    content: bytes = field(repr=False)


class Retention(TypedDict, total=False):
    """How an inbox keeps mail: what is absent stays; without an age mail lives as long as it."""

    max_age_seconds: int | None
    when_full: Literal["refuse", "dropOldest"]


class NewInbox(TypedDict, total=False):
    """An inbox to create: the arguments of `create_inbox`."""

    local_part: str | None
    domain: str | None
    ttl_seconds: int | None
    name: str | None
    tags: Sequence[str] | None
    metadata: Mapping[str, str] | None
    capture: bool | None
    retention: Retention | None
    renew_on_use: bool | None


class _FaultStage(TypedDict):
    stage: Literal["auth", "mail", "rcpt", "data", "end"]


class NewFaultStep(_FaultStage, total=False):
    """What an inbox plays on purpose, and when: the arguments of `set_faults`."""

    reply: str | None
    delay_seconds: int | None
    cut: Literal["unstored", "stored"] | None
    times: int | None
    for_seconds: int | None
    above_per_minute: int | None
    every: int | None
    to: str | None
    per: Literal["recipient"] | None


class _Conditions(TypedDict, total=False):
    from_: str | None
    to: str | None
    recipient: str | None
    subject: str | None
    has_attachment: bool | None
    is_read: bool | None
    since: datetime | str | None
    until: datetime | str | None
    headers: Mapping[str, str] | None
    text: str | None


class LinkConditions(_Conditions, total=False):
    """Select an email with a link: the others of `EmailConditions`."""

    has_code: bool | None


class CodeConditions(_Conditions, total=False):
    """Select an email with a code: the others of `EmailConditions`."""

    has_link: bool | None
    link_kind: LinkKind | None


class EmailConditions(CodeConditions, total=False):
    """Select emails of a list or a wait: all that are given must hold, None is as if absent.

    Texts are parts, whatever their letter case; `headers` has a part of the value for each name,
    such as `{"X-Run": "4711"}`, up to four.
    """

    has_code: bool | None


def conditions_of(kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns conditions with the names of the API; refuses one that this kind does not have."""
    known = kind.__annotations__
    for name in given:
        if name not in known:
            raise InvalidArgument(name, f"is unknown here; known are {', '.join(known)}")
    return {camel_case(name): moment(one) for name, one in given.items() if one is not None}


def moment(given: Any) -> Any:
    """Returns a time as the API writes it; another value as it is."""
    return given.isoformat() if isinstance(given, datetime) else given


def in_contract(given: Any) -> Any:
    """Returns a batch with the names of the API; what is no inbox is left, and refused later."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        return given
    return [
        {
            camel_case(str(name)): fields_of(value) if name == "retention" else items_of(value)
            for name, value in one.items()
        }
        if isinstance(one, Mapping)
        else one
        for one in given
    ]


def without_none(**given: Any) -> dict[str, Any]:
    """Returns the arguments that are not None."""
    return {name: value for name, value in given.items() if value is not None}


def fields_of(given: Any) -> Any:
    """Returns an object with the names of the API; what is none is left, and refused later."""
    if not isinstance(given, Mapping):
        return given
    return {camel_case(str(name)): value for name, value in given.items()}


def items_of(given: Any) -> Any:
    """Returns a list; a value that is no sequence of texts, such as a single text, stays as it is
    and is refused later.
    """
    return list(given) if isinstance(given, Sequence) and not isinstance(given, str) else given
