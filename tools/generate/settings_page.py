"""Writes docs/settings.md from what the programs say of themselves.

Usage: python3 tools/generate/settings_page.py [--bin build/dev/bin]
"""

import argparse
import json
import re
import subprocess
from pathlib import Path
from typing import TypedDict

_ROOT = Path(__file__).resolve().parents[2]
PAGE = _ROOT / "docs" / "settings.md"
SHARED = "Settings of several programs"
SERVICES = ["gateway", "inbox", "mail-ingest", "rate-limit", "webhook-dispatcher"]
PROGRAMS = [*SERVICES, "migrate"]
ALL = "all services"

_HEAD = """# Settings

Each is given as flag `--name=value`, as environment variable (`listen` is `TEMPINBOX_LISTEN`), \
or as line `name = value` of the file that `--config`
names; flags win over environment over file. All problems are listed at once, with exit code 2; \
`--check-config` does nothing else. `--help` prints what
stands here and the bounds of each value, `--print-settings` the same as JSON. \
A variable `TEMPINBOX_…` that is no setting is warned of at start. \
`rpc-token-file` and `master-key-file` must be set wherever they are listed, \
and one of `database` and `database-file`.
Durations are numbers with `ms`, `s`, `m`, `h` or `d`, sizes with `KiB`, `MiB` or `GiB`; lists of \
addresses and networks have commas between. Files with keys, tokens and certificates are paths. \
What may hold a password is marked secret.

Settings that several programs have with the same default and meaning are in \
[a section of their own](#settings-of-several-programs).

This page is made by `python3 tools/generate/settings_page.py` from the programs themselves; \
an end-to-end test fails when it is not up to date.
"""


class Setting(TypedDict):
    """A setting as --print-settings shows it."""

    name: str
    environment: str
    section: str
    default: str
    meaning: str
    values: str  # what it may be; empty: any text
    required: bool
    secret: bool


class Program(TypedDict):
    """A program with its settings, in the order of its sections."""

    program: str
    purpose: str
    settings: list[Setting]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _row(setting: Setting) -> str:
    meaning = _cell(setting["meaning"][:1].upper() + setting["meaning"][1:])
    if setting["values"].startswith("one of "):
        meaning += f"; {_cell(setting['values'])}"
    if setting["secret"]:
        meaning += " (secret)"
    default = (
        f"`{_cell(setting['default'])}`"
        if setting["default"]
        else "**required**"
        if setting["required"]
        else ""
    )
    return f"| `{setting['name']}` | {default} | {meaning} |"


def _table(rows: list[tuple[str, str]], header: str) -> list[str]:
    """The rows, each with its section, as a table for each section."""
    out: list[str] = []
    for section in dict.fromkeys(section for section, _ in rows):
        out += [f"### {section}", "", header, re.sub(r"[^|]+", "---", header)]
        out += [row for of, row in rows if of == section]
        out.append("")
    return out


def page(programs: list[Program]) -> str:
    """The whole of it, from what each program prints."""
    programs_of: dict[tuple[str, str], list[str]] = {}
    for program in programs:
        name = program["program"].removeprefix("tempinbox-")
        for setting in program["settings"]:
            programs_of.setdefault((setting["section"], _row(setting)), []).append(name)

    out = [_HEAD]
    header = "| setting | default | what |"
    for program in programs:
        name = program["program"].removeprefix("tempinbox-")
        out += [f"## {name}", "", program["purpose"], ""]
        own = [row for row, names in programs_of.items() if names == [name]]
        out += _table(own, header)
    shared = [
        (section, f"{row} {ALL if names == SERVICES else ', '.join(names)} |")
        for (section, row), names in programs_of.items()
        if len(names) > 1
    ]
    if shared:
        out += [f"## {SHARED}", "", *_table(shared, f"{header} of |")]
    return "\n".join(out).rstrip("\n") + "\n"


def read_program(text: str) -> Program:
    """Reads what a program prints."""
    program: Program = json.loads(text)
    return program


def page_of(programs: Path) -> str:
    """The page for the programs of a folder."""
    return page(
        [
            read_program(
                subprocess.run(
                    [str(programs / f"tempinbox-{name}"), "--print-settings"],
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
            )
            for name in PROGRAMS
        ]
    )


def main() -> None:
    """Writes it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bin",
        metavar="DIR",
        type=Path,
        default=_ROOT / "build" / "dev" / "bin",
        help="where the programs are (default: build/dev/bin)",
    )
    PAGE.write_text(page_of(parser.parse_args().bin), encoding="utf-8")


if __name__ == "__main__":
    main()
