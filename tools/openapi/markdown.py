"""The part of Markdown that descriptions use: paragraphs, lists, headings, code, links, bold."""

import html
import re
from collections.abc import Iterator

_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\[(?P<text>[^\]]+)\]\((?P<url>[^)\s]+)\)|\*\*(?P<bold>[^*]+)\*\*"
)


def inline(text: str) -> str:
    """Renders one line; everything that is not Markdown is escaped."""
    pieces = []
    end = 0
    for found in _INLINE.finditer(text):
        pieces.append(html.escape(text[end : found.start()], quote=False))
        if found["code"]:
            pieces.append(f"<code>{html.escape(found['code'], quote=False)}</code>")
        elif found["url"]:
            pieces.append(_link(found["text"], found["url"]))
        else:
            pieces.append(f"<strong>{html.escape(found['bold'], quote=False)}</strong>")
        end = found.end()
    pieces.append(html.escape(text[end:], quote=False))
    return "".join(pieces)


def _link(text: str, url: str) -> str:
    if not url.startswith(("https://", "#", "/")):
        raise ValueError(f"a link to {url}: only https:, paths and anchors are")
    return f'<a href="{html.escape(url)}">{html.escape(text, quote=False)}</a>'


def blocks(text: str, heading: int = 3) -> str:
    """Whole descriptions; `##` becomes a heading of the level given."""
    return "\n".join(_block(piece, heading) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[list[str]]:
    """Runs of lines without an empty line between them; fenced code stays in one piece."""
    piece: list[str] = []
    is_code = False
    for line in text.strip().splitlines():
        if line.startswith("```"):
            is_code = not is_code
        if line.strip() or is_code:
            piece.append(line)
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _block(lines: list[str], heading: int) -> str:
    if lines[0].startswith("```"):
        code = "\n".join(line for line in lines if not line.startswith("```"))
        return f"<pre><code>{html.escape(code, quote=False)}</code></pre>"
    if lines[0].startswith("## "):
        title = f"<h{heading}>{inline(lines[0][3:])}</h{heading}>"
        return "\n".join([title, _block(lines[1:], heading)] if lines[1:] else [title])
    if lines[0].startswith("- "):
        return (
            "<ul>\n" + "\n".join(f"<li>{inline(item)}</li>" for item in _items(lines)) + "\n</ul>"
        )
    return f"<p>{inline(' '.join(line.strip() for line in lines))}</p>"


def _items(lines: list[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if line.startswith("- "):
            items.append(line[2:])
        else:
            items[-1] += " " + line.strip()
    return items
