"""Turns JSON of the API into the dataclasses of `types`, and describes operations."""

import dataclasses
import re
import types
import typing
from datetime import datetime
from typing import Any, Literal, TypeVar

from tempinbox.errors import TempinboxError

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Operation:
    """One operation of the contract; the schemas say which values an argument may have."""

    id: str
    method: str
    path: str
    in_path: dict[str, Any]
    query: dict[str, Any]
    body: dict[str, Any] | None
    has_key: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer of the API; fields that this version does not know are in `extra`."""

    extra: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False, compare=False)


def snake_case(name: str) -> str:
    """Returns a name of the API as Python spells it."""
    spelled = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)
    return f"{spelled}_" if spelled in ("from", "import", "class") else spelled


def camel_case(name: str) -> str:
    """Returns the name as the API spells it."""
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name.rstrip("_"))


def read(kind: type[T], value: Any) -> T:
    """The JSON as this class; unknown fields are kept, a missing one is an error of the service."""
    found: T = _read(kind, value, kind.__name__)
    return found


_known_fields: dict[type[Answer], list[tuple[str, str, Any, bool]]] = {}


def _fields(kind: type[Answer]) -> list[tuple[str, str, Any, bool]]:
    """Each field's name here and in JSON, its type, and whether the contract requires it."""
    if kind not in _known_fields:
        hints = typing.get_type_hints(kind)
        _known_fields[kind] = [
            (one.name, camel_case(one.name), hints[one.name], one.default is dataclasses.MISSING)
            for one in dataclasses.fields(kind)
            if one.name != "extra"
        ]
    return _known_fields[kind]


def _read(kind: Any, value: Any, where: str) -> Any:
    if value is None or kind is Any:
        return value
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return _read(_choose(kind, value), value, where)
    if typing.get_origin(kind) is list and isinstance(value, list):
        [item] = typing.get_args(kind)
        return [_read(item, one, where) for one in value]
    if kind is datetime:
        return _read_time(value, where)
    if isinstance(kind, type) and issubclass(kind, Answer):
        return _read_object(kind, value, where)
    return value


def _choose(kind: Any, value: Any) -> Any:
    """Returns which of several kinds a value is: the one whose `step` or `event` it has.

    An event of a name that this version does not know is an `Answer`.
    """
    kinds = [one for one in typing.get_args(kind) if one is not types.NoneType]
    if len(kinds) == 1 or not isinstance(value, dict):
        return kinds[-1]
    for one in kinds:
        for name in ("step", "event"):
            known = typing.get_type_hints(one).get(name)
            if typing.get_origin(known) is Literal and value.get(name) in typing.get_args(known):
                return one
    return Answer if "event" in value else kinds[-1]


def _read_object(kind: type[Answer], value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise TempinboxError(f"the service answered {where} as {str(value)[:100]!r}, not an object")
    known: dict[str, Any] = {}
    for name, spelled, hint, is_required in _fields(kind):
        if spelled in value:
            known[name] = _read(hint, value[spelled], f"{where}.{spelled}")
        elif is_required:
            raise TempinboxError(f"the service answered {where} without {spelled}")
    names = {spelled for _, spelled, _, _ in _fields(kind)}
    extra = {name: found for name, found in value.items() if name not in names}
    return kind(extra=extra, **known)


def _read_time(value: Any, where: str) -> datetime:
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except ValueError as failure:
        raise TempinboxError(f"the service answered {where} as {value!r}, no time") from failure
