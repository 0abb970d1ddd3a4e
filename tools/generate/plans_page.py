"""Writes the table of limits in docs/reference/plans.md.

What a limit means and its bounds are said in libs/common/plans/plan_limits.hpp, the numbers of a
new installation in the schema of accounts.

Usage: python3 tools/generate/plans_page.py
"""

import re
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).resolve().parents[2]
_LIMITS = _ROOT / "libs" / "common" / "plans" / "plan_limits.hpp"
_ACCOUNTS = _ROOT / "libs" / "accounts" / "schema"
PAGE = _ROOT / "docs" / "reference" / "plans.md"
_TITLES = {"pass7": "7-Day Pass"}  # others are the plan's word with a capital
_TABLE = re.compile(r"(?<=\n## Limits\n\n)(?:\|[^\n]*\n)+")
_WITHOUT_API = {"requests_per_day", "burst_per_second"}  # nothing is counted then


class Limit(NamedTuple):
    """A line of facts_of_limits."""

    name: str
    meaning: str
    bounds: str


def limits() -> list[Limit]:
    """Returns the limits in their order."""
    lines = _LIMITS.read_text(encoding="utf-8").partition("facts_of_limits[] = {")[2]
    lines = lines.partition("\n};")[0]
    found = re.findall(
        r'\{"(\w+)",\s*"([^"]*)",\s*([\w\']+),\s*([\w\']+),\s*audience::\w+\}', lines
    )
    return [
        Limit(name, meaning, f"{_shown(low)} to {_shown(high)}")
        for name, meaning, low, high in found
    ]


def _shown(number: str) -> str:
    known = {"int_max": 2_147_483_647, "max_message_size": 60 << 20}
    literal = re.search(rf"\b{number} = ([\d']+);", _LIMITS.read_text(encoding="utf-8"))
    digits = literal[1] if literal else number
    return f"{known[number] if number in known else int(digits.replace(chr(39), '')):,}"


def _rows(names: str, values: str) -> list[dict[str, str]]:
    columns = [column.strip() for column in names.split(",")]
    rows = [row.split(", ") for row in re.findall(r"\((.*?)\)", values)]
    return [
        {name: word.strip("'") for name, word in zip(columns, row, strict=True)} for row in rows
    ]


def seed() -> list[dict[str, str]]:
    """The plans of a new installation, by column."""
    found = re.search(
        r"INSERT INTO accounts\.plans \((.*?)\) VALUES(.*?);",
        (_ACCOUNTS / "0001_accounts.sql").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert found
    plans = _rows(found[1], found[2])
    # Limits that came later.
    for path in sorted(_ACCOUNTS.glob("*.sql")):
        for values, columns in re.findall(
            r"UPDATE accounts\.plans .*?FROM \(VALUES(.*?)\n\) AS n \((.*?)\)",
            path.read_text(encoding="utf-8"),
            re.DOTALL,
        ):
            for plan, later in zip(plans, _rows(columns, values), strict=True):
                assert plan["plan"] == later["plan"]
                plan.update(later)
    return plans


def _cell(plan: dict[str, str], name: str) -> str:
    number = plan[name]
    if number in ("true", "false"):
        return "yes" if number == "true" else "no"
    if name in _WITHOUT_API and plan["api_access"] == "false":
        return "–"
    return f"{int(number):,}"


def table() -> str:
    """A row a limit, a column a plan."""
    plans = seed()
    titles = [_TITLES.get(plan["plan"], plan["plan"].capitalize()) for plan in plans]
    rows = [
        ["limit", "what it is", *titles],
        ["---"] * (2 + len(titles)),
        ["`plan`", "name in the code", *(plan["plan"] for plan in plans)],
    ]
    for limit in limits():
        cells = [_cell(plan, limit.name) for plan in plans]
        rows.append([f"`{limit.name}`", limit.meaning, *cells])
    lines = ["| " + " | ".join(row) + " |\n" for row in rows]
    lines[1] = lines[1].replace(" ", "")
    return "".join(lines)


def page() -> str:
    """The page as it should be."""
    return _TABLE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
