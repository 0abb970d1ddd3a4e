"""Both readings of a mail in one shape: mail-parser's tree of parts brought to the terms of our
API, and our view.
"""

import datetime
from collections.abc import Iterator
from html import escape
from typing import Any

FIELDS = [
    "subject",
    "from",
    "to",
    "cc",
    "date",
    "message id",
    "text",
    "html",
    "attachment names",
    "attachment sizes",
]


def expected_view(message: dict[str, Any]) -> dict[str, Any]:
    """Returns what the API would answer if mail-parser had read the mail."""
    root = message["parts"][0]
    text, html, bodies = _bodies(message)
    attachments = list(_attachments(message, bodies))
    senders = _addresses(root, "from")
    return {
        "subject": _one_line(_first(root, "subject", "Text") or ""),
        "from": senders[:1],
        "to": _addresses(root, "to"),
        "cc": _addresses(root, "cc"),
        "date": _date(_first(root, "date", "DateTime")),
        "message id": _first(root, "message_id", "Text"),
        "text": None if text is None else _lines(text),
        "html": None if html is None else _lines(html),
        "attachment names": [_name(part) for part in attachments],
        "attachment sizes": [_size(part) for part in attachments],
    }


def our_view(view: dict[str, Any]) -> dict[str, Any]:
    """Ours in the same shape: made-up names and derived texts count as none."""
    made_up = "unnamed-"
    return {
        "subject": _one_line(view["subject"]),
        "from": [_pair(view["fromName"], view["from"])] if view["from"] else [],
        "to": [_pair(it["name"], it["address"]) for it in view["to"]],
        "cc": [_pair(it["name"], it["address"]) for it in view["cc"]],
        "date": view["date"] and view["date"][:19] + "Z",
        "message id": view["messageId"] and view["messageId"].strip("<>"),
        "text": None if view["isTextDerived"] or view["text"] is None else _lines(view["text"]),
        "html": None if view["html"] is None else _lines(view["html"]),
        "attachment names": [
            None if it["filename"].startswith(made_up) else it["filename"]
            for it in view["attachments"]
        ],
        "attachment sizes": [it["size"] for it in view["attachments"]],
    }


def _kind(part: dict[str, Any]) -> str:
    return next(iter(part["body"])) if isinstance(part["body"], dict) else str(part["body"])


def _headers(part: dict[str, Any], name: str) -> list[Any]:
    return [it["value"] for it in part["headers"] if it["name"] == name]


def _first(part: dict[str, Any], name: str, kind: str) -> Any:
    for value in _headers(part, name):
        if isinstance(value, dict) and kind in value:
            return value[kind]
        if isinstance(value, dict) and kind + "List" in value:
            return value[kind + "List"][0]
    return None


def _pair(name: str | None, address: str | None) -> list[str]:
    """Keeps as text what has no address (docs/api.md)."""
    shown = " ".join((name or "").split())
    return [shown, address.strip()] if address else ["", shown]


def _addresses(part: dict[str, Any], name: str) -> list[list[str]]:
    found = []
    for value in _headers(part, name):
        given = value.get("Address", {}) if isinstance(value, dict) else {}
        listed = given.get("List", []) + [
            it for group in given.get("Group", []) for it in group["addresses"]
        ]
        found += [_pair(it.get("name"), it.get("address")) for it in listed]
    return found


def _date(given: dict[str, Any] | None) -> str | None:
    if given is None:
        return None
    try:
        zone = datetime.timedelta(hours=given["tz_hour"], minutes=given["tz_minute"])
        moment = datetime.datetime(  # noqa: DTZ001 - the mail's own clock, brought to UTC below
            given["year"],
            given["month"],
            given["day"],
            given["hour"],
            given["minute"],
            given["second"],
        )
        return (moment + (zone if given["tz_before_gmt"] else -zone)).isoformat() + "Z"
    except (ValueError, OverflowError):
        return None


def _lines(text: str) -> str:
    """Line ends, and blanks at the end of the text, are no difference."""
    return text.replace("\r\n", "\n").rstrip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _parameter(part: dict[str, Any], header: str, name: str) -> str | None:
    for value in _headers(part, header):
        for attribute in (value.get("ContentType", {}) if isinstance(value, dict) else {}).get(
            "attributes"
        ) or []:
            if attribute["name"] == name:
                named: str | None = attribute["value"]
                return named
    return None


def _name(part: dict[str, Any]) -> str | None:
    return _parameter(part, "content_disposition", "filename") or _parameter(
        part, "content_type", "name"
    )


def _disposition(part: dict[str, Any]) -> str:
    for value in _headers(part, "content_disposition"):
        if isinstance(value, dict) and "ContentType" in value:
            return str(value["ContentType"]["c_type"]).lower()
    return ""


def _size(part: dict[str, Any]) -> int | None:
    """Decoded bytes; none where mail-parser keeps text of another charset or a message."""
    body = part["body"]
    for kind in ("Binary", "InlineBinary"):
        if kind in body:
            return len(body[kind])
    for kind in ("Text", "Html"):
        if kind in body:
            charset = (_parameter(part, "content_type", "charset") or "us-ascii").lower()
            is_as_sent = charset in ("us-ascii", "utf-8") and body[kind].isascii()
            return len(body[kind]) if is_as_sent else None
    return None


def agree(theirs: Any, ours: Any) -> bool:
    """Equal, but for sizes that they do not know."""
    if (
        isinstance(theirs, list)
        and isinstance(ours, list)
        and len(theirs) == len(ours)
        and all(it is None or isinstance(it, int) for it in theirs)
    ):
        return all(
            known is None or known == found for known, found in zip(theirs, ours, strict=True)
        )
    return bool(theirs == ours)


def _bodies(message: dict[str, Any]) -> tuple[str | None, str | None, set[int]]:
    """What their body lists show, one part below the other, and which parts these are.

    Plain text among HTML is shown as our reader shows it; a text of HTML alone is derived, and so
    is what HTML adds to plain text, which is left out on both sides.
    """
    parts = message["parts"]
    texts = [it for it in message["text_body"] if _kind(parts[it]) in ("Text", "Html")]
    pages = [it for it in message["html_body"] if _kind(parts[it]) in ("Text", "Html")]
    plain = [parts[it]["body"]["Text"] for it in texts if _kind(parts[it]) == "Text"]
    text = _below(plain) if plain else None
    html = None
    if any(_kind(parts[it]) == "Html" for it in pages):
        html = _below([_page(parts[it]["body"]) for it in pages])
    return text, html, {*texts, *pages}


def _page(body: dict[str, str]) -> str:
    if "Html" in body:
        return body["Html"]
    return f'<pre style="white-space:pre-wrap">{escape(body["Text"], quote=False)}</pre>'


def _below(bodies: list[str]) -> str:
    """Each begins a line; blank ones show nothing."""
    shown = [it for it in bodies if it.strip()] if len(bodies) > 1 else bodies
    return "".join(it if it.endswith("\n") else it + "\n" for it in shown)


def _attachments(
    message: dict[str, Any], bodies: set[int], is_inner: bool = False
) -> Iterator[dict[str, Any]]:
    """Every other part, and those of messages within where they are more than its text."""
    for number, part in enumerate(message["parts"]):
        kind = _kind(part)
        if kind == "Multipart" or (number in bodies and not is_inner):
            continue
        if (
            is_inner
            and kind in ("Text", "Html")
            and _disposition(part) != "attachment"
            and not _name(part)
        ):
            continue
        yield part
        if kind == "Message":
            yield from _attachments(part["body"]["Message"], set(), True)
