"""Writes what is made of the table of error reasons in libs/common/core/error_reason.cpp: the table
of docs/reference/errors.md, the words in docs/openapi.yaml and docs/dashboard-openapi.yaml, and the
constants of both clients. What no operation of /v1 answers is in the page and the contract of the
dashboard alone.

Usage: python3 tools/generate/error_reasons.py
"""

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).resolve().parents[2]
_TABLE = _ROOT / "libs" / "common" / "core" / "error_reason.cpp"
PAGE = _ROOT / "docs" / "reference" / "errors.md"
CONTRACT = _ROOT / "docs" / "openapi.yaml"
DASHBOARD = _ROOT / "docs" / "dashboard-openapi.yaml"
TYPESCRIPT = _ROOT / "clients" / "typescript" / "src" / "error-codes.ts"
PYTHON = _ROOT / "clients" / "python" / "src" / "tempinbox" / "error_codes.py"
_ROW = re.compile(
    r'error_reason_facts\{\s*error_reason::(\w+),\s*"(\w+)",\s*(\d+),((?:\s*"(?:[^"\\]|\\.)*",?)+)'
    r"(\s*false)?\}"
)
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(,?)')
_PAGE_TABLES = re.compile(r"(?P<title>\n## Reasons[^\n]*\n\n)(?:\|[^\n]*\n)+")
# The block of words in a YAML list over several lines, by the comment before it.
_WORDS = re.compile(
    r"(?P<mark> *# The words of tools/generate/error_reasons\.py\.\n)(?P<lines>(?: +[a-z_, ]+\n)*)"
)


class Reason(NamedTuple):
    """A row of the table."""

    name: str
    word: str
    status: int
    cause: str
    remedy: str
    is_of_v1: bool


def reasons() -> list[Reason]:
    """Returns the rows in their order."""
    rows = []
    for name, word, status, texts, beside_v1 in _ROW.findall(_TABLE.read_text(encoding="utf-8")):
        cause, remedy = _texts(texts)
        rows.append(Reason(name, word, int(status), cause, remedy, not beside_v1))
    return rows


def reasons_of_v1() -> list[Reason]:
    """Returns the rows that an operation of /v1 can answer."""
    return [reason for reason in reasons() if reason.is_of_v1]


def _texts(literals: str) -> list[str]:
    """Adjacent literals are one text; a comma ends it."""
    texts = [""]
    for literal, comma in _LITERAL.findall(literals):
        texts[-1] += literal.replace('\\"', '"')
        if comma:
            texts.append("")
    return [text for text in texts if text]


def page() -> str:
    """Returns the page as it should be: a table for /v1, and one for the reasons beside it."""
    tables = iter((reasons_of_v1(), [reason for reason in reasons() if not reason.is_of_v1]))
    return _PAGE_TABLES.sub(
        lambda found: found["title"] + _page_table(next(tables)),
        PAGE.read_text(encoding="utf-8"),
    )


def _page_table(shown: list[Reason]) -> str:
    lines = ["| code | status | cause | what to do |", "|---|---|---|---|"]
    lines += [
        f"| `{reason.word}` | {reason.status} | {reason.cause} | {reason.remedy} |"
        for reason in shown
    ]
    return "".join(line + "\n" for line in lines)


def contract(path: Path, shown: list[Reason]) -> str:
    """Returns a contract with its list of words as it should be."""

    def block(found: re.Match[str]) -> str:
        indent = " " * (len(found["mark"]) - len(found["mark"].lstrip()))
        return found["mark"] + _wrapped([reason.word for reason in shown], indent)

    return _WORDS.sub(block, path.read_text(encoding="utf-8"))


def _wrapped(words: list[str], indent: str) -> str:
    lines = [indent]
    for number, word in enumerate(words):
        shown = word if number + 1 == len(words) else f"{word},"
        if len(lines[-1]) + len(shown) > 118:
            lines.append(indent)
        lines[-1] += shown if lines[-1] == indent else f" {shown}"
    return "".join(f"{line}\n" for line in lines)


def typescript() -> str:
    """Returns the constants of the TypeScript client."""
    head = "// Written by tools/generate/error_reasons.py; do not edit.\n\n"
    head += "/** The reasons of errors, by what `ApiError.code` has for each. */\n"
    head += "export const errorCodes = {\n"
    lines = [
        f"  /** {reason.status}: {reason.cause} {reason.remedy} */\n"
        f"  {_camel(reason.word)}: '{reason.word}',\n"
        for reason in reasons_of_v1()
    ]
    return (
        head
        + "".join(lines)
        + "} as const;\n\n/** A reason that this release knows; a service may have newer ones. */\n"
        + "export type ErrorCode = (typeof errorCodes)[keyof typeof errorCodes];\n"
    )


def _camel(word: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), word)


def python() -> str:
    """Returns the constants of the Python client."""
    head = '"""The reasons of errors: what `ApiError.code` has for each.\n\n'
    head += "A service may have newer ones.\n"
    head += '"""\n\n# Made by tools/generate/error_reasons.py; do not edit.\n'
    lines = [
        f'\n{reason.word.upper()} = "{reason.word}"{_exception(reason.word)}\n'
        f"{_docstring(reason)}\n"
        for reason in reasons_of_v1()
    ]
    return head + "".join(lines)


def _exception(word: str) -> str:
    """Returns the mark that it is no password, which ruff takes the name for."""
    return "  # noqa: S105" if "secret" in word else ""


def _docstring(reason: Reason) -> str:
    text = f"{reason.status}: {reason.cause} {reason.remedy}"
    if len(text) <= 94:
        return f'"""{text}"""'
    cause = textwrap.fill(f'"""{reason.status}: {reason.cause}', 99)
    return f'{cause}\n\n{textwrap.fill(reason.remedy, 99)}\n"""'


def files() -> dict[Path, str]:
    """Returns every file that is made of the table, as it should be."""
    return {
        PAGE: page(),
        CONTRACT: contract(CONTRACT, reasons_of_v1()),
        DASHBOARD: contract(DASHBOARD, reasons()),
        TYPESCRIPT: typescript(),
        PYTHON: python(),
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
