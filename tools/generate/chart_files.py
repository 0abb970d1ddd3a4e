"""Writes what the Helm chart has from elsewhere: the settings of the programs, Kafka's topics and
rights, the settings in values.schema.json.

Usage: python3 tools/generate/chart_files.py [--bin build/release/bin]

Without --bin the settings stay as they are. `./dev test deploy` fails when any of these is not up
to date.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from generate import settings_page

_ROOT = Path(__file__).resolve().parents[2]
CHART = _ROOT / "deploy" / "helm" / "tempinbox"
SERVICES = ["gateway", "inbox", "mail-ingest", "rate-limit", "webhook-dispatcher"]
PROGRAMS = {
    **{name: f"tempinbox-{name}" for name in [*SERVICES, "migrate"]},
    "tempinboxctl": "tempinboxctl",
}


def as_json(content: object) -> str:
    """Returns the text of a JSON file in the layout of the chart's files."""
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


def made(programs: Path | None) -> dict[Path, str]:
    """Every file with what it should hold."""
    settings_file = CHART / "files" / "settings.json"
    settings = settings_of(programs) if programs else settings_file.read_text(encoding="utf-8")
    schema = CHART / "values.schema.json"
    kafka = _ROOT / "deploy" / "kafka"
    return {
        settings_file: settings,
        schema: schema_with(json.loads(settings), schema.read_text(encoding="utf-8")),
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
