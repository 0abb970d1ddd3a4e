"""The page at /docs/events: one HTML file without script; loads the style sheet of /docs."""

import html

from openapi.markdown import blocks, inline

from asyncapi.document import Contract, Node
from asyncapi.tables import retention


def render(contract: Contract) -> str:
    """The whole page. Its links are relative, so that it may lie below a path."""
    info = contract.content["info"]
    title = html.escape(info["title"])
    topics = {name: it for name, it in contract.topics.items() if not contract.is_internal(it)}
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<a class="skip" href="#top">Skip to the text</a>
<nav aria-label="Contents">
{_contents(contract, topics)}
</nav>
<main id="top">
<header>
<h1>{title}</h1>
<p class="lead">What happens to inboxes and mail, as Kafka topics and as webhooks.</p>
<p>Version {html.escape(info["version"])} · \
<a href="events/asyncapi.json">asyncapi.json</a> for your tools · \
<a href="../docs">the API</a></p>
</header>
<section>
{blocks(info["description"], heading=2)}
</section>
<section id="topics">
<h2>Topics</h2>
<p>Keys and headers are text; the value is one Protobuf message of <code>proto-schemas/</code>.</p>
</section>
{"".join(_topic(contract, name, channel) for name, channel in topics.items())}
{_shared_headers(contract)}
{_webhooks(contract)}
</main>
</body>
</html>
"""


def _contents(contract: Contract, topics: dict[str, Node]) -> str:
    lines = ['<p><a href="#topics">Topics</a></p>\n<ul>']
    lines += [f'<li><a href="#topic-{name}">{name}</a></li>' for name in topics]
    lines.append('<li><a href="#headers">Headers</a></li>\n</ul>')
    lines.append('<p><a href="#webhooks">Webhooks</a></p>\n<ul>')
    lines += [
        f'<li><a href="#webhook-{it["name"]}">{it["name"]}</a></li>'
        for it in contract.messages_of(contract.webhooks)
    ]
    return "\n".join([*lines, "</ul>"])


def _topic(contract: Contract, name: str, channel: Node) -> str:
    (message,) = contract.messages_of(channel)
    binding = channel["bindings"]["kafka"]
    key = contract.resolve(message["bindings"]["kafka"]["key"])
    described = blocks("\n\n".join(it.get("description", "") for it in (channel, message)))
    summary = f"<p>{inline(message['summary'])}</p>\n" if "summary" in message else ""
    shared = contract.properties(contract.content["components"]["schemas"]["EventHeaders"])
    own = {
        header: node
        for header, node in contract.properties(message["headers"]).items()
        if header not in shared
    }
    more = (
        f"<h4>Headers of its own</h4>\n{_fields(contract, message['headers'], own)}" if own else ""
    )
    return f"""<article id="topic-{name}">
<h3>{html.escape(channel["title"])}</h3>
<p class="call"><code>{name}</code></p>
{summary}{described}
<p>Key: {html.escape(key["description"])}. {binding["partitions"]} partitions. \
Kept: {retention(channel)}.</p>
<h4>Value: <code>{message["x-message"]}</code></h4>
{_fields(contract, message["payload"], contract.properties(message["payload"]))}
{more}
</article>
"""


def _shared_headers(contract: Contract) -> str:
    schema = contract.content["components"]["schemas"]["EventHeaders"]
    return f"""<article id="headers">
<h3>Headers of every event</h3>
<p>CloudEvents 1.0 in Kafka's binary mode.</p>
{_fields(contract, schema, contract.properties(schema))}
</article>"""


def _webhooks(contract: Contract) -> str:
    channel = contract.webhooks
    operation = contract.content["operations"]["sendWebhook"]
    messages = contract.messages_of(channel)
    headers = messages[0]["headers"]
    parts = [
        (
            f'<section id="webhooks">\n<h2>Webhooks</h2>\n<p>{inline(channel["title"])}. '
            f"{inline(operation['summary'])}</p>\n<h4>Headers</h4>\n"
            f"{_fields(contract, headers, contract.properties(headers))}\n</section>"
        )
    ]
    parts += [
        f'<article id="webhook-{it["name"]}"><h3>{html.escape(it["title"])}</h3>\n'
        f'<p class="call"><code>{it["name"]}</code></p>\n<h4>Body</h4>\n'
        f"{_fields(contract, it['payload'], contract.properties(it['payload']))}</article>"
        for it in messages
    ]
    return "\n".join(parts)


def _fields(contract: Contract, schema: Node, properties: dict[str, Node]) -> str:
    required = contract.required(schema)
    rows = []
    for name, given in properties.items():
        field = contract.resolve(given)
        rows.append(
            f'<div class="field"><p class="head"><code class="name">{html.escape(name)}</code> '
            f'<span class="type">{html.escape(_type_of(field))}</span>'
        )
        if name in required:
            rows.append('<span class="required">always</span>')
        if limits := _limits_of(field):
            rows.append(f'<span class="limits">{limits}</span>')
        rows.append("</p>")
        if "description" in field:
            rows.append(f"<p>{inline(' '.join(field['description'].split()))}</p>")
        if "properties" in field:
            rows.append(_fields(contract, field, contract.properties(field)))
        rows.append("</div>")
    return '<div class="fields">' + "\n".join(rows) + "</div>"


def _type_of(field: Node) -> str:
    kind = str(field.get("x-type", field["type"]))
    return f"{kind} = {field['x-field']}" if "x-field" in field else kind


def _limits_of(field: Node) -> str:
    said = []
    if (kind := field.get("x-classification", "public")) != "public":
        said.append(f"<strong>{kind}</strong>")
    if "const" in field:
        said.append(f"always <code>{html.escape(str(field['const']))}</code>")
    if "enum" in field:
        values = ", ".join(f"<code>{html.escape(str(value))}</code>" for value in field["enum"])
        said.append(f"one of {values}")
    return "; ".join(said)
