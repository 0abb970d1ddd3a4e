"""Compares the caller's arguments with the contract before anything is sent."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from tempinbox._answers import Operation, snake_case
from tempinbox.errors import InvalidArgument, quoted

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Unset:
    """The type of `UNSET`."""

    def __repr__(self) -> str:
        return "UNSET"


# Leaves a field of a change as it is; None removes what it holds.
UNSET: Final = Unset()


def check_all(operation: Operation, given: Mapping[str, Any]) -> None:
    """Refuses values out of bounds, by the argument's name in Python."""
    rules = operation.in_path | operation.query | (operation.body or {})
    for name, value in given.items():
        check(argument_name(name), rules[name], value)


def argument_name(name: str) -> str:
    """Returns a name of the API as callers of this client write it."""
    return "page_size" if name == "limit" else snake_case(name)


def check(name: str, rule: Mapping[str, Any], value: Any) -> None:
    """Refuses a value out of its rule's bounds."""
    kinds = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    if value is None and "null" in kinds:
        return
    if not _is_allowed(name, kinds[0], rule, value):
        raise InvalidArgument(name, f"must be {_allowed(kinds[0], rule)}, not {_shown(value)}")


def _is_allowed(name: str, kind: str, rule: Mapping[str, Any], value: Any) -> bool:
    if "enum" in rule:
        return isinstance(value, str) and value in rule["enum"]
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        return is_integer and _is_within(value, rule.get("minimum"), rule.get("maximum"))
    if kind == "string":
        return isinstance(value, str) and _is_allowed_text(rule, value)
    if kind == "array":
        if not isinstance(value, list | tuple):
            return False
        for index, item in enumerate(value):
            check(f"{name}[{index}]", rule["items"], item)
        return _is_within(len(value), rule.get("minItems"), rule.get("maxItems"))
    if not isinstance(value, Mapping):
        return False
    if "properties" in rule:
        for key, item in value.items():
            _check_field(name, rule["properties"], key, item)
        return True
    for key, item in value.items():
        check(f"a name in {name}", {"type": "string", **rule.get("propertyNames", {})}, key)
        check(f"{name}[{key!r}]", rule["additionalProperties"], item)
    return _is_within(len(value), rule.get("minProperties"), rule.get("maxProperties"))


def _check_field(name: str, fields: Mapping[str, Any], key: object, value: Any) -> None:
    """Refuses a field of an object that is unknown or out of bounds."""
    if key not in fields:
        known = ", ".join(snake_case(one) for one in fields)
        raise InvalidArgument(f"{name}[{key!r}]", f"is unknown; known are {known}")
    check(f"{name}[{snake_case(str(key))!r}]", fields[str(key)], value)


def _is_allowed_text(rule: Mapping[str, Any], value: str) -> bool:
    if rule.get("format") == "uuid":
        return bool(_UUID.fullmatch(value))
    if rule.get("format") == "date-time":
        return _is_time(value)
    if not _is_within(len(value), rule.get("minLength"), rule.get("maxLength")):
        return False
    pattern = str(rule.get("pattern", "")).removeprefix("^").removesuffix("$")
    return not _CONTROL.search(value) and (not pattern or bool(re.fullmatch(pattern, value)))


def _is_time(value: str) -> bool:
    try:
        return datetime.fromisoformat(value.replace("Z", "+00:00")).tzinfo is not None
    except ValueError:
        return False


def _is_within(number: int, least: int | None, most: int | None) -> bool:
    return (least is None or number >= least) and (most is None or number <= most)


def _allowed(kind: str, rule: Mapping[str, Any]) -> str:
    if "enum" in rule:
        return f"one of {', '.join(str(one) for one in rule['enum'] if one is not None)}"
    if kind == "boolean":
        return "True or False"
    if kind == "integer":
        return f"an integer {_range(rule.get('minimum'), rule.get('maximum'))}".rstrip()
    if kind == "array":
        return f"a list of {_items(rule.get('minItems'), rule.get('maxItems'))}"
    if kind == "object" and "properties" in rule:
        return "a dict"
    if kind == "object":
        return f"a dict of at most {rule.get('maxProperties')} pairs of strings"
    if rule.get("format") == "uuid":
        return "a UUID of 36 characters"
    if rule.get("format") == "date-time":
        return "a time with a zone, such as 2026-11-21T10:00:00Z"
    least, most = rule.get("minLength"), rule.get("maxLength")
    behind = f" that matches {rule['pattern']}" if "pattern" in rule else ", no control characters"
    return f"a string of {_items(least, most, 'characters')}{behind}"


def _range(least: int | None, most: int | None) -> str:
    return (
        f"from {least}" + (f" to {most}" if most is not None else "") if least is not None else ""
    )


def _items(least: int | None, most: int | None, what: str = "items") -> str:
    return f"{least or 0} to {most} {what}" if most is not None else f"at least {least or 0} {what}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"{quoted(value, 60)} ({len(value)} characters)"
    if isinstance(value, list | tuple | Mapping):
        return f"{len(value)} items" if value else "an empty one"
    return quoted(value, 60).strip('"')


def unset_removed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments that were given; a change must have one."""
    found = {name: value for name, value in given.items() if not isinstance(value, Unset)}
    if not found:
        names = ", ".join(snake_case(name) for name in given)
        raise InvalidArgument("the change", f"must have at least one of: {names}")
    return found
