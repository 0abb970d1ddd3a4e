"""Writes docs/settings.md from what the programs say of themselves.

Usage: python3 tools/settings_page.py [--bin build/dev/bin]
"""

import argparse
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
PAGE = _ROOT / "docs" / "settings.md"
PROGRAMS = ["gateway", "inbox", "mail-ingest", "rate-limit", "webhook-dispatcher", "migrate"]
_FLAG = re.compile(r"^  --(?P<name>[a-z0-9-]+)(?:=(?P<default>.*))?$")
_MEANING = re.compile(r"^(?P<text>.*?)(?: \((?P<kind>[^()]*)\))?$")
_BEFORE_SETTINGS = "Shown as --name=default."
_AFTER_SETTINGS = "Other"

_HEAD = """# Settings

Each is given as flag `--name=value`, as environment variable (`listen` is `TEMPINBOX_LISTEN`), \
or as line `name = value` of the file that `--config`
names; flags win over environment over file. All problems are listed at once, with exit code 2; \
`--check-config` does nothing else, `--help` prints what
stands here. `rpc-token-file` and `master-key-file` must be set wherever they are listed. \
Durations are numbers with `ms`, `s`, `m`, `h` or `d`, sizes with `KiB`, `MiB` or `GiB`. Files \
with keys, tokens and certificates are paths.

This page is made by `python3 tools/settings_page.py` from the programs themselves; an end-to-end \
test fails when it is not up to date.
"""


@dataclass(frozen=True)
class Setting:
    """One, as --help shows it."""

    section: str
    name: str
    default: str
    meaning: str
    kind: str  # what it may be; empty: any text


def read_help(text: str) -> Iterator[Setting]:
    """The settings of a program, in order."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if _BEFORE_SETTINGS in line)
    section = ""
    for number, line in enumerate(lines[start + 1 :], start + 1):
        if line == _AFTER_SETTINGS:
            return
        if line and not line.startswith(" "):
            section = line
        elif flag := _FLAG.match(line):
            meaning = _MEANING.match(lines[number + 1].strip())
            assert meaning
            yield Setting(
                section, flag["name"], flag["default"] or "", meaning["text"], meaning["kind"] or ""
            )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _row(setting: Setting) -> str:
    meaning = _cell(setting.meaning[:1].upper() + setting.meaning[1:])
    values = _cell("" if setting.kind == "required" else setting.kind)
    default = (
        f"`{_cell(setting.default)}`"
        if setting.default
        else "**required**"
        if setting.kind == "required"
        else ""
    )
    return f"| `{setting.name}` | {default} | {meaning} | {values} |"


def page(helps: dict[str, str]) -> str:
    """The whole of it, from what each program's --help prints."""
    out = [_HEAD]
    for program, text in helps.items():
        out.append(f"## {program}\n\n{text.splitlines()[0].partition(': ')[2]}\n")
        section = None
        for setting in read_help(text):
            if setting.section != section:
                section = setting.section
                out.append(
                    ("" if out[-1].endswith("\n") else "\n")
                    + f"### {section}\n\n| setting | default | what | values |\n|---|---|---|---|"
                )
            out.append(_row(setting))
        out.append("")
    return "\n".join(out)


def page_of(programs: Path) -> str:
    """The page for the programs of a folder."""
    helps = {
        name: subprocess.run(
            [str(programs / f"tempinbox-{name}"), "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in PROGRAMS
    }
    return page(helps)


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
