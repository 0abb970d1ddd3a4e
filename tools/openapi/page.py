"""The page at /docs: one HTML file, no script, nothing loaded but its style sheet."""

import html
import json
import shlex
from http import HTTPStatus
from typing import Any

from openapi.document import Document, Node, Operation
from openapi.markdown import blocks, inline
from openapi.schemas import example_of, field, fields, type_of

_STANDARD_HEADERS = {
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit-Policy",
    "RateLimit",
    "X-Request-Id",
    "X-Error-Code",
}


def render(document: Document) -> str:
    """The whole page."""
    info = document.content["info"]
    title = html.escape(info["title"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} API</title>
<link rel="stylesheet" href="docs/style.css">
</head>
<body>
<a class="skip" href="#top">Skip to the text</a>
<nav aria-label="Contents">
{_contents(document)}
</nav>
<main id="top">
<header>
<h1>{title} API</h1>
<p class="lead">{inline(info["summary"])}</p>
<p>Version {html.escape(info["version"])} · \
<a href="openapi.json">openapi.json</a> for your tools · \
<a href="llms.txt">llms.txt</a> for agents</p>
</header>
<section>
{blocks(info["description"], heading=2)}
</section>
{"".join(_tag(document, tag) for tag in document.content["tags"])}
{_events(document)}
{_schemas(document)}
</main>
</body>
</html>
"""


def _contents(document: Document) -> str:
    lines = []
    for tag in document.content["tags"]:
        lines.append(f'<p><a href="#tag-{tag["name"]}">{tag["name"]}</a></p>\n<ul>')
        lines += [
            f'<li><a href="#{it.anchor}">'
            f'<span class="method {it.method}">{it.method.upper()}</span> '
            f"{html.escape(it.node['summary'])}</a></li>"
            for it in document.operations()
            if tag["name"] in it.node["tags"]
        ]
        lines.append("</ul>")
    lines.append('<p><a href="#events">Events</a></p>\n<p><a href="#schemas">Schemas</a></p>')
    return "\n".join(lines)


def _tag(document: Document, tag: Node) -> str:
    parts = [
        _operation(document, it) for it in document.operations() if tag["name"] in it.node["tags"]
    ]
    return (
        f'<section id="tag-{tag["name"]}">\n<h2>{tag["name"]}</h2>\n'
        f"{blocks(tag['description'])}\n</section>\n"
    ) + "\n".join(parts)


def _operation(document: Document, it: Operation) -> str:
    path = html.escape(it.path).replace("/", "/<wbr>")
    parts = [
        f'<article id="{it.anchor}">',
        f"<h3>{html.escape(it.node['summary'])}</h3>",
        (
            f'<p class="call"><span class="method {it.method}">{it.method.upper()}</span> '
            f"<code>{path}</code></p>"
        ),
        _scopes(it),
        blocks(it.node.get("description", "")),
    ]
    for location, heading in (
        ("path", "In the path"),
        ("query", "Query parameters"),
        ("header", "Headers"),
    ):
        parts.append(
            _parameters(
                document, [each for each in it.parameters if each["in"] == location], heading
            )
        )
    parts += [_body(document, it), _sample(document, it), _answers(document, it), "</article>"]
    return "\n".join(part for part in parts if part)


def _scopes(it: Operation) -> str:
    """Says what a key with scopes needs."""
    named = [name for each in it.node.get("security", []) for name in each.get("apiKey", [])]
    scopes = ", ".join(f"<code>{html.escape(name)}</code>" for name in named)
    return f"<p>Scope of the key: {scopes}</p>" if scopes else ""


def _parameters(document: Document, parameters: list[Node], heading: str) -> str:
    rows = [
        field(
            document,
            it["name"],
            it["schema"],
            is_required=it.get("required", False),
            description=it.get("description", ""),
        )
        for it in parameters
    ]
    return f'<h4>{heading}</h4>\n<div class="fields">' + "\n".join(rows) + "</div>" if rows else ""


def _body_schema(it: Operation) -> Node | None:
    body = it.node.get("requestBody")
    return body["content"]["application/json"]["schema"] if body else None


def _body(document: Document, it: Operation) -> str:
    schema = _body_schema(it)
    return "<h4>Body</h4>\n" + fields(document, document.resolve(schema)) if schema else ""


def _body_example(document: Document, it: Operation) -> Any:
    content = it.node["requestBody"]["content"]["application/json"]
    if "examples" in content:
        return list(content["examples"].values())[-1]["value"]
    return content.get("example", example_of(document, content["schema"]))


def _sample(document: Document, it: Operation) -> str:
    words = ["curl"]
    if it.method != "get":
        words += ["-X", it.method.upper()]
    words += ["-H", '"X-API-Key: $KEY"']
    if _body_schema(it):
        words += [
            "-H",
            "'Content-Type: application/json'",
            "\\\n  -d",
            shlex.quote(json.dumps(_body_example(document, it), ensure_ascii=False)),
        ]
    query = "&".join(
        f"{each['name']}={_query_word(document, each)}"
        for each in it.parameters
        if each["in"] == "query" and each.get("required")
    )
    words.append(
        f'\\\n  "$API{it.path.replace("{", "$").replace("}", "")}{"?" + query if query else ""}"'
    )
    return f"<h4>Example</h4>\n<pre><code>{html.escape(' '.join(words), quote=False)}</code></pre>"


def _query_word(document: Document, parameter: Node) -> str:
    return str(parameter.get("example", example_of(document, parameter["schema"])))


def _answers(document: Document, it: Operation) -> str:
    lines = ["<h4>Answers</h4>", '<dl class="answers">']
    for status, given in it.node["responses"].items():
        answer = document.resolve(given)
        lines.append(
            f'<dt><span class="status s{status[0]}">{status}</span> {_status_name(status)}</dt>'
        )
        lines.append(
            f"<dd><p>{inline(' '.join(answer['description'].split()))}"
            f"{_answer_type(document, answer)}</p>{_answer_headers(document, answer)}"
        )
        if status.startswith("2"):
            lines.append(_answer_example(document, answer))
        lines.append("</dd>")
    return "\n".join([*lines, "</dl>"])


def _status_name(status: str) -> str:
    """RFC 9110's, some of which Python learned late."""
    if not status.isdigit():
        return ""
    return {"413": "Content Too Large", "422": "Unprocessable Content"}.get(status) or HTTPStatus(
        int(status)
    ).phrase


def _answer_type(document: Document, answer: Node) -> str:
    types = [
        f"<code>{html.escape(kind)}</code>: {type_of(document, content['schema'])}"
        for kind, content in answer.get("content", {}).items()
    ]
    return " " + ", ".join(types) if types else ""


def _answer_headers(document: Document, answer: Node) -> str:
    special = {
        name: document.resolve(it)
        for name, it in answer.get("headers", {}).items()
        if name not in _STANDARD_HEADERS
    }
    return "".join(
        f"<p><code>{name}</code>: {inline(it['description'])}</p>" for name, it in special.items()
    )


def _answer_example(document: Document, answer: Node) -> str:
    content = answer.get("content", {}).get("application/json")
    return (
        _as_code(content.get("example", example_of(document, content["schema"]))) if content else ""
    )


def _as_code(example: Any) -> str:
    text = json.dumps(example, indent=2, ensure_ascii=False)
    return f"<pre><code>{html.escape(text, quote=False)}</code></pre>"


def _events(document: Document) -> str:
    parts = [
        (
            '<section id="events">\n<h2>Events</h2>\n'
            "<p>What the service sends to your webhooks.</p>\n</section>"
        )
    ]
    for it in document.operations("webhooks"):
        schema = _body_schema(it) or {}
        described = blocks(it.node.get("description", ""))
        parts.append(
            f'<article id="{it.anchor}"><h3>{html.escape(it.node["summary"])}</h3>\n'
            f'<p class="call"><code>{it.path}</code></p>\n{described}'
        )
        parts.append(_parameters(document, it.parameters, "Headers"))
        parts.append(
            f"<h4>Body</h4>\n{fields(document, document.resolve(schema))}\n"
            f"{_as_code(example_of(document, schema))}</article>"
        )
    return "\n".join(parts)


def _schemas(document: Document) -> str:
    parts = ['<section id="schemas">\n<h2>Schemas</h2>\n</section>']
    for name, schema in document.schemas.items():
        if "properties" not in schema:
            continue
        described = blocks(schema.get("description", ""))
        parts.append(
            f'<article id="schema-{name}"><h3>{name}</h3>\n{described}\n'
            f"{fields(document, schema)}</article>"
        )
    return "\n".join(parts)
