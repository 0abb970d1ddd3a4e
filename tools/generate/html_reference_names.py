#!/usr/bin/env python3
"""Writes a C++ source with HTML's named character references: the table behind
libs/html/reference_names.hpp.

Usage: html_reference_names.py OUTPUT

Python carries WHATWG's list (https://html.spec.whatwg.org/entities.json), which is closed: no
name will be added. The same list makes the same bytes.
"""

import sys
from html.entities import html5
from pathlib import Path

NAMES = 2231


def source() -> str:
    """The whole file, names in the order of their bytes."""
    lines = [
        "// Made by tools/generate/html_reference_names.py.",
        '#include "html/reference_names.hpp"',
        "",
        "namespace tempinbox::html {",
        "namespace {",
        "constexpr reference_name table[] = {",
    ]
    for name, text in sorted(html5.items()):
        points = ", ".join(f"{ord(character):#x}" for character in text)
        lines.append(f'    {{"{name}", {{{points}}}}},')
    lines += [
        "};",
        "} // namespace",
        "constinit const std::span<const reference_name> reference_names{table};",
        "} // namespace tempinbox::html",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    if len(html5) != NAMES:
        print(f"this Python knows {len(html5)} names of characters, not {NAMES}", file=sys.stderr)
        return 1
    Path(sys.argv[1]).write_text(source(), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
