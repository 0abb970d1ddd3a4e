"""`python3 tools/generate/python_client.py` writes the Python client's types and the bounds of its
arguments from docs/openapi.yaml, and the blocking client from the asynchronous one.

With --check nothing is written; the exit code is 1 where a file is not what it would write. Needs
PyYAML and ruff beside its interpreter: `./dev check python` and `--fix` run it.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from openapi.document import Document, Node, split_prefix

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGE = _ROOT / "clients" / "python" / "src" / "tempinbox"
_HEAD = (
    '"""{}"""\n\n# Made by tools/generate/python_client.py; '
    "./dev check python --fix makes it again.\n\n"
)
_SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_BOUNDS = ["type", "enum", "format", "minimum", "maximum", "minLength", "maxLength", "pattern"]
_BOUNDS += ["minItems", "maxItems", "minProperties", "maxProperties"]
# In a line of its own each: longer names first.
_WITHOUT_ASYNC = [
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\bAsync(Tempinbox|Inbox|Transport|Iterator)\b", r"\1"),
    (r"\baclose\b", "close"),
    (r"\b_async_(client|inbox)\b", r"_\1"),
    (r", for `async` code", ""),
]


def snake_case(name: str) -> str:
    """Returns a name of the API as Python spells it; a word of the language gets an underscore
    behind.
    """
    spelled = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)
    return f"{spelled}_" if spelled in ("from", "import", "class") else spelled


class Types:
    """The answers' schemas as dataclasses."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._schemas: dict[str, Node] = document.content["components"]["schemas"]
        self._done: dict[str, str] = {}

    def render(self) -> str:
        """All that answers and webhooks hold, each after what it is made of."""
        for name in self._roots():
            self._add(name)
        imports = "from dataclasses import dataclass, field\nfrom datetime import datetime\n"
        imports += "from typing import Any, Literal\n\nfrom tempinbox._answers import Answer\n\n"
        head = _HEAD.format(
            "The answers of the API, as dataclasses with the names of the contract."
        )
        names = f"__all__ = {sorted([*self._done, 'Answer'])!r}\n\n"
        return head + imports + names + "\n\n".join(self._done.values())

    def _roots(self) -> Iterator[str]:
        for operation in self._document.operations():
            yield from _answers_of(operation.node)
        for operation in self._document.operations("webhooks"):
            body = operation.node["requestBody"]["content"]["application/json"]["schema"]
            yield str(Document.name_of(body))
        yield "ErrorBody"

    def _add(self, name: str) -> None:
        if name in self._done:
            return
        node = self._schemas[name]
        if "oneOf" in node:
            steps = [str(Document.name_of(one)) for one in node["oneOf"]]
            for step in steps:
                self._add(step)
            self._done[name] = f"{name} = {' | '.join([*steps, 'Answer'])}\n"
            return
        self._done[name] = self._class(name, node)

    def _class(self, name: str, node: Node) -> str:
        required = node.get("required", [])
        fields = []
        for field, schema in node["properties"].items():
            read = self._type(schema, name + field[0].upper() + field[1:])
            if field not in required:
                read = read if read.endswith("| None") else f"{read} | None"
                read += " = None"
            fields.append(f"    {snake_case(field)}: {read}\n")
            if says := schema.get("description"):
                fields.append(f"    {_docstring(says.split('. ')[0], 4)}\n")
        title = node.get("description") or f"`{name}` of the contract."
        # Taken out and put in again: what it is made of has to stand before it.
        return (
            f"@dataclass(frozen=True, kw_only=True)\nclass {name}(Answer):\n"
            f"    {_docstring(title, 4)}\n\n{''.join(fields)}"
        )

    def _type(self, schema: Node, name: str) -> str:
        if reference := Document.name_of(schema):
            return self._referenced(reference)
        if "oneOf" in schema:
            kinds = [self._type(one, name) for one in schema["oneOf"]]
            return " | ".join(kind for kind in kinds if kind != "None") + " | None"
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        [kind] = [kind for kind in kinds if kind != "null"] or ["null"]
        if kind == "null":
            return "None"
        if "enum" in schema:
            found = f"Literal[{', '.join(repr(one) for one in schema['enum'])}]"
        elif kind == "array":
            found = f"list[{self._type(schema['items'], name)}]"
        elif kind == "object" and "properties" in schema:
            self._done.setdefault(name, self._class(name, schema))
            found = name
        elif kind == "object":
            found = f"dict[str, {self._type(schema['additionalProperties'], name)}]"
        else:
            found = _SIMPLE[kind]
        return f"{found} | None" if "null" in kinds else found

    def _referenced(self, name: str) -> str:
        node = self._schemas[name]
        if node.get("format") == "date-time":
            return "datetime | None" if "null" in node["type"] else "datetime"
        if "oneOf" in node or "properties" in node:
            self._add(name)
            return f"{name} | None" if "null" in node.get("type", []) else name
        return self._type(node, name)


def _answers_of(operation: Node) -> Iterator[str]:
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            yield str(Document.name_of(answer["content"]["application/json"]["schema"]))


def _docstring(text: str, indent: int) -> str:
    """Returns a docstring in lines of at most 100 columns."""
    words = text.replace("\\", "\\\\").split()
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) + indent + 4 > 99:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    if len(lines) == 1:
        return f'"""{lines[0]}"""'
    return '"""' + f"\n{' ' * indent}".join(lines) + f'\n{" " * indent}"""'


def _bounds(document: Document, schema: Node) -> Node:
    """Returns the part of a schema that says which values are allowed."""
    resolved = document.resolve(schema)
    kept = {name: resolved[name] for name in _BOUNDS if name in resolved}
    for name in ("items", "propertyNames", "additionalProperties"):
        if isinstance(resolved.get(name), dict):
            kept[name] = _bounds(document, resolved[name])
    if "properties" in resolved:
        fields = resolved["properties"].items()
        kept["properties"] = {name: _bounds(document, field) for name, field in fields}
    return kept


def render_contract(document: Document) -> str:
    """Each operation's method, path and arguments."""
    shown = []
    for operation in document.operations():
        takes: dict[str, Node] = {"path": {}, "query": {}, "header": {}}
        for parameter in operation.parameters:
            resolved = document.resolve(parameter)
            bounds = _bounds(document, resolved["schema"])
            if bounds["type"] == "object":  # stands for several, whose names the caller makes
                prefix, names = split_prefix(bounds["propertyNames"])
                bounds |= {"prefix": prefix, "propertyNames": names}
            takes[resolved["in"]][resolved["name"]] = bounds
        body = operation.node.get("requestBody", {}).get("content", {}).get("application/json")
        fields = document.resolve(body["schema"])["properties"] if body else {}
        allowed = {name: _bounds(document, schema) for name, schema in fields.items()}
        shown.append(
            f"{operation.anchor!r}: Operation(id={operation.anchor!r}, "
            f"method={operation.method.upper()!r}, path={operation.path!r}, "
            f"in_path={takes['path']!r}, query={takes['query']!r}, "
            f"body={allowed if body else None!r}, "
            f"has_key={'Idempotency-Key' in takes['header']})"
        )
    head = _HEAD.format("The operations of the API, and what their arguments may be.")
    imports = "from tempinbox._answers import Operation\n\n"
    return head + imports + f"OPERATIONS = {{{', '.join(shown)}}}\n"


def without_async(name: str, docstring: str) -> str:
    """A file of the client that blocks, from that of the one that awaits."""
    body = (_PACKAGE / name).read_text(encoding="utf-8").split('"""', 2)[2]
    for pattern, plain in _WITHOUT_ASYNC:
        body = re.sub(pattern, plain, body)
    return _HEAD.format(docstring).rstrip("\n") + "\n" + body


def _laid_out(text: str, name: str) -> str:
    """Lays the text out by ruff, like the rest of the tree."""
    ruff = str(Path(sys.executable).with_name("ruff"))
    at = f"--stdin-filename={_PACKAGE / name}"
    for how in (["check", "--quiet", "--fix-only", "--select=I,F401"], ["format"]):
        command = [ruff, *how, "--no-cache", at, "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=_ROOT)
        if done.returncode != 0:
            sys.exit(f"ruff refuses {name}: {done.stderr}")
        text = done.stdout
    return text


def main() -> int:
    """Writes them, or compares."""
    document = Document.read(_ROOT / "docs" / "openapi.yaml")
    files: dict[str, Any] = {
        "types.py": Types(document).render(),
        "_contract.py": render_contract(document),
        "_client.py": without_async("_async_client.py", "The client that blocks."),
        "_inbox.py": without_async("_async_inbox.py", "An inbox with the calls that block."),
    }
    differ = []
    for name, text in files.items():
        laid_out = _laid_out(text, name)
        path = _PACKAGE / name
        if path.exists() and path.read_text(encoding="utf-8") == laid_out:
            continue
        differ.append(path.relative_to(_ROOT))
        if "--check" not in sys.argv:
            path.write_text(laid_out, encoding="utf-8")
    for shown in differ:
        print(f"{shown} differs from what is made of docs/openapi.yaml and _async_*.py")
    if differ and "--check" in sys.argv:
        print("./dev check python --fix writes it anew")
    return 1 if differ and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
