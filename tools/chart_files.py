"""Writes what the Helm chart has from elsewhere: the settings of the programs, Kafka's topics and
rights, the settings in values.schema.json, the table of values in README.md.

Usage: python3 tools/chart_files.py [--bin build/release/bin]

Without --bin the settings stay as they are. `./dev test deploy` fails when any of these is not up
to date.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import settings_page

_ROOT = Path(__file__).resolve().parents[1]
CHART = _ROOT / "deploy" / "helm" / "tempinbox"
SERVICES = ["gateway", "inbox", "mail-ingest", "rate-limit", "webhook-dispatcher"]
PROGRAMS = {
    **{name: f"tempinbox-{name}" for name in [*SERVICES, "migrate"]},
    "tempinboxctl": "tempinboxctl",
}
_KEY = re.compile(r"^( *)([A-Za-z][\w-]*): ?(.*)$")
_BEGIN = "<!-- values: made by tools/chart_files.py -->"
_END = "<!-- end of values -->"


def as_json(content: object) -> str:
    """As these files are written."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _printed(program: Path) -> settings_page.Program:
    command = [str(program), "--print-settings"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    return settings_page.read_program(printed.stdout)


def settings_of(programs: Path) -> str:
    """files/settings.json: of each program the default, the values and whether it is secret."""
    return as_json(
        {
            short: {
                setting["name"]: {
                    "default": setting["default"],
                    "values": setting["values"],
                    "secret": setting["secret"],
                }
                for setting in _printed(programs / program)["settings"]
            }
            for short, program in PROGRAMS.items()
        }
    )


def schema_with(settings: dict[str, dict[str, Any]], schema: str) -> str:
    """values.schema.json with the names of all settings; the rest is written by hand."""
    made = json.loads(schema)
    every: dict[str, Any] = {}
    for service in SERVICES:
        names = {name: {"$ref": "#/definitions/setting"} for name in settings[service]}
        made["definitions"][f"settings-{service}"]["properties"] = names
        every |= names
    made["definitions"]["settings-all"]["properties"] = every
    return as_json(made)


def values_table(values: str) -> str:
    """A table of every value: its path, default and the comment above it."""
    rows: list[str] = []
    path: list[tuple[int, str]] = []
    comments: list[str] = []
    in_list: int | None = None
    lines = values.splitlines()
    for number, line in enumerate(lines):
        if not line.strip():
            comments = []
            continue
        indent = len(line) - len(line.lstrip())
        if in_list is not None and indent > in_list:
            continue
        in_list = None
        if line.lstrip().startswith("#"):
            comments.append(line.strip().removeprefix("#").strip())
            continue
        found = _KEY.match(line)
        if not found:
            raise ValueError(f"line {number + 1} of values.yaml is no key: {line}")
        while path and path[-1][0] >= indent:
            path.pop()
        path.append((indent, found[2]))
        name = ".".join(key for _, key in path)
        below = lines[number + 1] if number + 1 < len(lines) else ""
        is_list = below.strip().startswith("- ")
        is_map = not found[3] and not is_list
        meaning = " ".join(comments)
        comments = []
        if is_map:
            if meaning:
                rows.append(f"| **`{name}`** | | {_cell(meaning)} |")
            continue
        default = "a list" if is_list else found[3]
        in_list = indent if is_list else None
        if not meaning and name.startswith(("services.", "tools.")):
            meaning = "As in `defaults`."
        rows.append(f"| `{name}` | {default if is_list else f'`{default}`'} | {_cell(meaning)} |")
    return "\n".join(["| value | default | what |", "|---|---|---|", *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def readme_with(values: str, readme: str) -> str:
    """README.md with the table of these values."""
    before, rest = readme.split(_BEGIN)
    after = rest.split(_END)[1]
    return f"{before}{_BEGIN}\n\n{values_table(values)}\n\n{_END}{after}"


def made(programs: Path | None) -> dict[Path, str]:
    """Every file with what it should hold."""
    settings_file = CHART / "files" / "settings.json"
    settings = settings_of(programs) if programs else settings_file.read_text(encoding="utf-8")
    schema, readme = CHART / "values.schema.json", CHART / "README.md"
    values = (CHART / "values.yaml").read_text(encoding="utf-8")
    kafka = _ROOT / "deploy" / "kafka"
    return {
        settings_file: settings,
        schema: schema_with(json.loads(settings), schema.read_text(encoding="utf-8")),
        readme: readme_with(values, readme.read_text(encoding="utf-8")),
        **{
            CHART / "files" / "kafka" / name: (kafka / name).read_text(encoding="utf-8")
            for name in ("topics.json", "access.json")
        },
    }


def main() -> int:
    """Writes those that differ."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument(
        "--bin", type=Path, metavar="DIR", help="where the built programs are, for their settings"
    )
    chosen = parser.parse_args()
    for path, text in made(chosen.bin).items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {path.relative_to(_ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
