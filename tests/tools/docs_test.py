"""What documents list is what there is: plans and prices, statuses, topics and their readers."""

import re
import unittest
from pathlib import Path

import yaml
from dev.places import ROOT

_DOCS = ROOT / "docs"
_MIGRATIONS = ROOT / "services" / "gateway" / "migrations"
_NAMES = {"pass7": "7-Day Pass"}  # others are the plan's word with a capital
# What the HTTP server answers before a request is one to the API.
_TRANSPORT = {"400", "408", "413", "431", "501", "505"}


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _rows(text: str, title: str) -> list[list[str]]:
    """The cells of the first table after a heading, its two header lines left out."""
    table = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


class Plans(unittest.TestCase):
    """The table of docs/api.md and the rows that migrations write."""

    @staticmethod
    def _life(seconds: int) -> str:
        days, hours = divmod(seconds // 3600, 24)
        return f"{days} days" if days > 1 else f"{hours + 24 * days} h"

    def _seeded(self) -> list[list[str]]:
        plans = re.search(
            r"INSERT INTO accounts\.plans VALUES(.*?);",
            _read(_MIGRATIONS / "0001_accounts.sql"),
            re.DOTALL,
        )
        priced = re.findall(r"\('(\w+)', (\d+), '(\w+)'\)", _read(_MIGRATIONS / "0005_prices.sql"))
        prices = {
            name: f"{amount} {'a month' if period == 'month' else period}"
            for name, amount, period in priced
        }
        assert plans
        rows = []
        for name, numbers in re.findall(r"\('(\w+)', \d+, (.*?)\)", plans[1]):
            has_api, *rest = numbers.split(", ")
            requests, burst, inboxes, default, longest, size, webhooks, keys, rules = map(int, rest)
            rows.append(
                [
                    _NAMES.get(name, name.capitalize()),
                    prices.get(name, "0"),
                    "yes" if has_api == "true" else "no",
                    f"{requests:,}" if requests else "–",
                    str(burst) if burst else "–",
                    f"{inboxes:,}",
                    f"{self._life(default)}, {self._life(longest)}",
                    f"{size >> 20} MiB",
                    *map(str, (webhooks, keys, rules)),
                ]
            )
        return rows

    def test_the_table_is_the_seed(self) -> None:
        self.assertEqual(_rows(_read(_DOCS / "api.md"), "Plans"), self._seeded())


class Statuses(unittest.TestCase):
    """The error table of docs/api.md."""

    def test_it_has_every_status_of_the_contract(self) -> None:
        contract = yaml.safe_load(_read(_DOCS / "openapi.yaml"))
        known = {
            status
            for item in contract["paths"].values()
            for operation in item.values()
            if isinstance(operation, dict)
            for status in operation.get("responses", {})
        }
        errors = {status for status in known if status >= "4"} | _TRANSPORT | {"404", "405"}
        table = _rows(_read(_DOCS / "api.md"), "Habits of the whole API")

        self.assertEqual({status for row in table for status in row[0].split(", ")}, errors)


class Topics(unittest.TestCase):
    """docs/events.md."""

    text = _read(_DOCS / "events.md")

    def test_what_is_internal_is_said_to_be(self) -> None:
        public, _, internal = self.text.partition("\n## Internal\n")

        self.assertNotIn("account.state", public)
        self.assertIn("| `account.state` |", internal)
        self.assertNotIn("tempinbox.events.v1", internal)

    def test_every_consumer_group_is_listed(self) -> None:
        sources = [*ROOT.glob("services/**/*.[ch]pp"), *ROOT.glob("libs/common/kafka/*.cpp")]
        named = re.compile(r'(?:group = |"group\.id", )"(tempinbox-[^"]+)"')
        groups = {group for path in sources for group in named.findall(_read(path))}
        rows = _rows(self.text, "Who reads")
        listed = {row[0].strip("`").removesuffix("<instance>") for row in rows}

        self.assertIn("tempinbox-inbox", groups)
        self.assertEqual(listed, groups)


if __name__ == "__main__":
    unittest.main()
