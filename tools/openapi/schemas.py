"""Schemas in words, as fields of a page, and as examples."""

import html
from typing import Any

from openapi.document import Document, Node
from openapi.markdown import inline


def type_of(document: Document, schema: Node) -> str:
    """`string (uuid) or null`, `array of Inbox` …; names of components are links. HTML."""
    name = document.name_of(schema)
    if name and document.resolve(schema).get("properties"):
        return f'<a href="#schema-{name}">{name}</a>'
    schema = document.resolve(schema)
    if "oneOf" in schema:
        return " or ".join(type_of(document, choice) for choice in schema["oneOf"])
    kinds = schema.get("type", "any")
    return " or ".join(
        _kind(document, schema, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)
    )


def _kind(document: Document, schema: Node, kind: str) -> str:
    if kind == "array":
        return "array of " + type_of(document, schema["items"])
    if kind == "string" and "format" in schema:
        return f"string ({schema['format']})"
    if kind == "string" and "contentEncoding" in schema:
        return f"string ({schema['contentEncoding']})"
    return kind


def limits_of(schema: Node) -> str:
    """Returns the limits of a value, in words. HTML."""
    said = []
    if "enum" in schema:
        said.append(
            "one of "
            + ", ".join(f"<code>{html.escape(str(value))}</code>" for value in schema["enum"])
        )
    if "const" in schema:
        said.append(f"always <code>{html.escape(_as_json_word(schema['const']))}</code>")
    for least, most, noun in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minProperties", "maxProperties", " pairs"),
    ):
        if said_range := _range(schema.get(least), schema.get(most)):
            said.append(said_range + noun)
    if "default" in schema:
        said.append(f"default <code>{html.escape(_as_json_word(schema['default']))}</code>")
    return "; ".join(said)


def _as_json_word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _range(least: Any, most: Any) -> str:
    if least is None and most is None:
        return ""
    if most is None:
        return f"{least} or more"
    return f"at most {most}" if least is None else f"{least}–{most}"


def field(
    document: Document,
    name: str,
    schema: Node,
    *,
    is_required: bool,
    description: str | None = None,
) -> str:
    """Renders one field: name, type, limits, description, and what is inside it. HTML."""
    whole = document.resolve(schema)
    text = description if description is not None else whole.get("description", "")
    lines = [
        (
            f'<div class="field"><p class="head"><code class="name">{html.escape(name)}</code> '
            f'<span class="type">{type_of(document, schema)}</span>'
        )
    ]
    if is_required:
        lines.append('<span class="required">required</span>')
    if limits := limits_of(whole):
        lines.append(f'<span class="limits">{limits}</span>')
    lines.append("</p>")
    if text:
        lines.append(f"<p>{inline(' '.join(text.split()))}</p>")
    if "properties" in whole and not document.name_of(schema):
        lines.append(fields(document, whole))
    return "\n".join(lines) + "</div>"


def fields(document: Document, schema: Node) -> str:
    """All properties of an object. HTML."""
    required = schema.get("required", [])
    rows = [
        field(document, name, inner, is_required=name in required)
        for name, inner in schema["properties"].items()
    ]
    return '<div class="fields">' + "\n".join(rows) + "</div>"


def example_of(document: Document, schema: Node) -> Any:
    """The schema's own example, or one made from its parts."""
    schema = document.resolve(schema)
    for known in ("example", "const", "default"):
        if known in schema:
            return schema[known]
    if "enum" in schema:
        return schema["enum"][0]
    if "oneOf" in schema:
        return example_of(document, schema["oneOf"][0])
    if "properties" in schema:
        return {name: example_of(document, inner) for name, inner in schema["properties"].items()}
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "array":
        return [example_of(document, schema["items"])]
    if kind == "string" and schema.get("format") == "uuid":
        return "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f"
    return {
        "string": "…",
        "integer": schema.get("minimum", 0),
        "number": 0.5,
        "boolean": True,
        "object": {},
    }.get(kind)
