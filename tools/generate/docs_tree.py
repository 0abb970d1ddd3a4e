"""Writes what the gateway serves of docs/, as it serves it: Markdown, contracts and pictures.

A link that leads to another of these files stays. One that leads elsewhere in the repository would
be dead at a gateway, so the file's name stands in its place.

Usage: python3 tools/generate/docs_tree.py FOLDER FILE...   (files by their path in the repository)
"""

import posixpath
import re
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_FENCED = re.compile(r"^( *)```.*?^ *```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<to>[^)\s]+)\)")
_ABSOLUTE = re.compile(r"[a-z]+:|#")


def served(page: str, text: str, files: set[str]) -> str:
    """The text of a page, whose links lead to the files or out of the repository."""
    pieces = []
    end = 0
    for fenced in _FENCED.finditer(text):
        pieces += [_with_links(page, text[end : fenced.start()], files), fenced[0]]
        end = fenced.end()
    return "".join([*pieces, _with_links(page, text[end:], files)])


def _with_links(page: str, text: str, files: set[str]) -> str:
    def link(found: re.Match[str]) -> str:
        target = found["to"].partition("#")[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if _ABSOLUTE.match(found["to"]) or path in files:
            return found[0]
        if f"/{path}".endswith("/" + found["text"].strip("`").rstrip("/")):
            return f"`{path}`"
        return f"{found['text']} (`{path}` in the repository)"

    return _LINK.sub(link, text)


def main(folder: Path, files: list[str]) -> None:
    """Writes each file below the folder."""
    for name in files:
        text = (_ROOT / name).read_text(encoding="utf-8")
        written = folder / name
        written.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".md"):
            text = served(name, text, set(files))
        written.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
