"""Writes the C++ that goes through the fields of one Protobuf message, by name and at compile time.

Protobuf's reflection does the same at run time, but costs two to three times as much as calls by
name (decision 0016). The schema is read as text: one field a line, as `./dev check format` has it.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

_SCALARS = {"string", "bytes", "bool", "int32", "int64", "uint32", "uint64", "double", "float"}
_FIELD = re.compile(r"^\s*(optional |repeated )?([\w.]+) (\w+) = \d+;$", re.MULTILINE)


class _Field(NamedTuple):
    label: str
    type: str
    name: str

    @property
    def json_name(self) -> str:
        first, *others = self.name.split("_")
        return first + "".join(other.capitalize() for other in others)

    def shown(self) -> str:
        """A call of `visit`."""
        if self.label == "optional ":
            return ""
        if self.label == "" and self.type not in _SCALARS:
            value = f"message.has_{self.name}() ? &message.{self.name}() : nullptr"
        else:
            value = f"message.{self.name}()"
        return f'    visit("{self.json_name}", {value});\n'

    def set(self) -> str:
        """A statement that fills the field from `source`."""
        if self.label == "optional ":
            return ""
        if self.label == "" and self.type in _SCALARS:
            return f'    message.set_{self.name}(source.template value<"{self.name}">());\n'
        return f'    source.template fill<"{self.name}">(*message.mutable_{self.name}());\n'


def header(schema: str, message: str, include: str) -> str:
    """The C++ for `message` of the text of a .proto file."""
    package = re.search(r"^package ([\w.]+);$", schema, re.MULTILINE)
    body = re.search(rf"^message {message} {{\n(.*?)^}}$", schema, re.MULTILINE | re.DOTALL)
    if not package or not body:
        raise SystemExit(f"error: no message {message} in {include}")
    fields = [_Field(*found) for found in _FIELD.findall(body[1])]
    return f"""#pragma once

#include "{include}"

namespace {package[1].replace(".", "::")} {{

// Calls `visit` with the JSON name and the value of each field that is not optional; a message is a
// pointer, null where it is not set.
template <class Visit>
void for_each_field(const {message}& message, const Visit& visit)
{{
{"".join(field.shown() for field in fields)}}}

// Sets each field that is not optional: `source.value<"name">()` is a scalar,
// `source.fill<"name">(target)` fills a message or a list.
template <class Source>
void set_fields({message}& message, const Source& source)
{{
{"".join(field.set() for field in fields)}}}

}} // namespace {package[1].replace(".", "::")}
"""


def main() -> None:
    schema, message, include, output = sys.argv[1:]
    written = header(Path(schema).read_text(encoding="utf-8"), message, include)
    Path(output).write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
