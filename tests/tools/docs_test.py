"""Tests that documents list what exists: plans, statuses, topics, metrics, replies, limits."""

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar

import yaml
from dev import debian, metric_names, packages
from dev.paths import ROOT
from generate import error_reasons, plans_page, settings_page
from openapi.document import split_prefix

_HERE = Path(__file__).parent
_DOCS = ROOT / "docs"
_REFERENCE = _DOCS / "reference"
_UNITS = {
    "ms": 1,
    "milliseconds": 1,
    "s": 1_000,
    "seconds": 1_000,
    "m": 60_000,
    "min": 60_000,
    "minutes": 60_000,
    "h": 3_600_000,
    "hours": 3_600_000,
    "d": 86_400_000,
    "day": 86_400_000,
    "days": 86_400_000,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
}
# Answers of the HTTP server before a request is one to the API.
_TRANSPORT = {"400", "408", "413", "431", "501", "505"}


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _rows(text: str, title: str) -> list[list[str]]:
    """The cells of the first table after a heading, its two header lines left out."""
    table = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def _all_rows(text: str) -> list[list[str]]:
    """The cells of every table of a page, header lines left out."""
    tables = re.findall(r"^\|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)*)", text, re.MULTILINE)
    lines = [line for table in tables for line in table.splitlines()]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


class Plans(unittest.TestCase):
    """docs/reference/plans.md, the described limits and the rows of the schema."""

    def test_the_table_is_the_seed(self) -> None:
        self.assertEqual(
            _read(plans_page.PAGE),
            plans_page.page(),
            "python3 tools/generate/plans_page.py writes it anew",
        )

    def test_every_described_limit_is_read(self) -> None:
        columns = set(plans_page.seed()[0]) - {"plan", "position", "price_amount", "price_period"}

        self.assertEqual({limit.name for limit in plans_page.limits()}, columns)

    def test_the_bounds_are_those_of_the_limits(self) -> None:
        bounds = {f"`{limit.name}`": limit.bounds for limit in plans_page.limits()}
        for name, _, given, *_ in _rows(_read(plans_page.PAGE), "What a number means"):
            if given != "true, false":
                self.assertEqual(given.split(", not ")[0], bounds[name], name)

    def test_the_prices_are_the_seed(self) -> None:
        table = _rows(_read(plans_page.PAGE), "Prices")
        seed = [
            [row["plan"], row["price_amount"], row["price_period"]] for row in plans_page.seed()
        ]

        self.assertEqual(table, seed)


class Requirements(unittest.TestCase):
    """What an operator brings is the same on each page that names it."""

    _PAGES = (
        ROOT / "README.md",
        ROOT / "deploy" / "helm" / "tempinbox" / "README.md",
        _DOCS / "operations" / "install.md",
        _DOCS / "operations" / "linux.md",
    )

    def test_postgresql_is_that_of_the_tests(self) -> None:
        for page in self._PAGES:
            with self.subTest(page.name):
                named = re.findall(r"PostgreSQL \W*(\d+ (?:to \d+|or newer))", _read(page))
                self.assertEqual(named, ["{} to {}".format(*packages.TESTED_POSTGRESQL)])

    def test_every_release_of_debian_has_one_that_is_tested(self) -> None:
        oldest, newest = packages.TESTED_POSTGRESQL
        for release in debian.RELEASES:
            listed = packages.read_list(_read(packages.LIST), release)
            names = {package.name for package in listed}
            versions = {f"postgresql-{version}" for version in range(oldest, newest + 1)}
            self.assertEqual(len(names & versions), 1, release)


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


class ErrorCodes(unittest.TestCase):
    """ErrorCode of docs/dashboard-openapi.yaml."""

    def test_it_has_the_dashboard_s_own_words_and_those_of_the_api(self) -> None:
        contract = yaml.safe_load(_read(_DOCS / "dashboard-openapi.yaml"))
        table = _read(ROOT / "services" / "gateway" / "dashboard" / "errors.cpp")
        rows = re.findall(r"\brow\{\s*dashboard_error::\w+,\s*\"(\w+)\"", table)

        self.assertTrue(rows)
        words = [reason.word for reason in error_reasons.reasons()]
        own = [row for row in rows if row not in words]
        self.assertEqual(contract["components"]["schemas"]["ErrorCode"]["enum"], own + words)


class Topics(unittest.TestCase):
    """docs/events/contract.md."""

    text = _read(_DOCS / "events" / "contract.md")

    def test_what_is_internal_is_said_to_be(self) -> None:
        public, _, internal = self.text.partition("\n## Internal\n")

        for topic in ("account.state", "inbox.activity", "feed.activity"):
            self.assertNotIn(topic, public)
            self.assertIn(f"| `{topic}` |", internal)
        self.assertIn("| `email.received` |", public)
        self.assertNotIn("| `email.received` |", internal)

    def test_every_consumer_group_is_listed(self) -> None:
        sources = [*ROOT.glob("services/**/*.[ch]pp"), *ROOT.glob("libs/common/kafka/*.cpp")]
        sources += ROOT.glob("libs/common/events/*.hpp")
        named = re.compile(r'(?:group = |prefixed\(now, |kafka, )"(tempinbox-[^"]+)"')
        groups = {group for path in sources for group in named.findall(_read(path))}
        rows = _rows(self.text, "Who reads")
        listed = {row[0].strip("`").removesuffix("<instance>") for row in rows}

        self.assertIn("tempinbox-inbox", groups)
        self.assertEqual(listed, groups)

    def test_one_place_makes_names_in_kafka(self) -> None:
        sources = [
            path
            for room in ("libs", "services", "programs")
            for path in ROOT.glob(f"{room}/**/*.cpp")
        ]
        used = re.compile(r"\b(?:cluster|kafka|chosen|settings_|now)\.prefix\b")
        users = {path.relative_to(ROOT).as_posix() for path in sources if used.search(_read(path))}

        self.assertEqual(users, {"libs/common/kafka/names.cpp", "libs/common/kafka/settings.cpp"})


class WatchedMetrics(unittest.TestCase):
    """docs/operations/metrics.md: what it names is there, and Prometheus reads what it shows."""

    text = _read(_DOCS / "operations" / "metrics.md")
    # Begin like metrics, but are labels of them.
    labels = frozenset({"http_route", "http_request_method", "http_response_status_code"})

    def _blocks(self, language: str) -> list[str]:
        return re.findall(rf"^```{language}\n(.*?)^```", self.text, re.MULTILINE | re.DOTALL)

    def _expressions(self) -> list[str]:
        """Reads one expression a line; a line that begins with a space goes on."""
        joined = re.sub(r"\n +", " ", "\n".join(self._blocks("promql")))
        return [line for line in joined.splitlines() if line and not line.startswith("#")]

    def test_every_metric_it_names_is_made(self) -> None:
        made = metric_names.made()
        parts = {
            name + part
            for name, kind in made.items()
            if kind == "histogram"
            for part in ("_bucket", "_count", "_sum")
        }
        prefixes = "tempinbox|http|messaging|process"
        named = set(re.findall(rf"\b(?:{prefixes})_[a-z_]+\b", self.text)) - self.labels

        self.assertIn("tempinbox_outbox_oldest_age_seconds", named)
        self.assertEqual(named - parts - made.keys(), set())

    def test_it_lists_the_gauges_of_a_whole_schema(self) -> None:
        shared = metric_names.of_whole_schema()
        listed = {row[0].strip("`") for row in _rows(self.text, "One value of the whole schema")}

        self.assertIn("tempinbox_outbox_pending_events", shared)
        self.assertEqual(listed, shared)

    def test_every_reason_is_one_of_an_alert(self) -> None:
        rules = yaml.safe_load(self._blocks("yaml")[0])["groups"][0]["rules"]
        alerts = {rule["alert"] for rule in rules}
        explained = set(re.findall(r"`(Tempinbox\w+)`", self.text))

        self.assertEqual(alerts - explained - self._unexplained(), set())
        self.assertEqual(explained - alerts, set())

    @staticmethod
    def _unexplained() -> set[str]:
        """Returns the alerts whose threshold needs no reason beyond its summary."""
        return {"TempinboxFilesOutdated"}

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not here: ./dev test brings it")
    def test_prometheus_takes_the_rules_and_the_expressions(self) -> None:
        records = [
            {"record": f"job:expression:{number}", "expr": expression}
            for number, expression in enumerate(self._expressions())
        ]
        shown = yaml.safe_dump({"groups": [{"name": "shown", "rules": records}]})
        self.assertGreater(len(records), 20)
        for rules in (self._blocks("yaml")[0], shown):
            with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as file:
                file.write(rules)
                file.flush()
                done = subprocess.run(
                    ["promtool", "check", "rules", file.name], capture_output=True, text=True
                )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Replies(unittest.TestCase):
    """docs/reference/smtp-replies.md and replies.hpp."""

    def test_every_fixed_reply_is_listed(self) -> None:
        header = _read(ROOT / "services" / "mail-ingest" / "smtp" / "replies.hpp")
        fixed = set(re.findall(r'=\s*"(\d{3} [^"]*)";', header))
        text = _read(_REFERENCE / "smtp-replies.md")
        cells = [re.fullmatch(r"`(\d{3}[ -].*)`", row[0]) for row in _all_rows(text)]
        listed = {cell[1] for cell in cells if cell}
        patterns = {reply for reply in listed if re.search(r"<(hostname|email id)>", reply)}

        self.assertIn("250 2.0.0 Ok", fixed)
        self.assertEqual(listed - patterns, fixed)

    def test_every_result_of_a_message_is_listed(self) -> None:
        folder = ROOT / "services" / "mail-ingest" / "smtp"
        code = _read(folder / "session_machine.cpp") + _read(folder / "session_metrics.cpp")
        ends = r'(?:end_transaction|note_ending|close_in_message|count_transaction)\("(\w+)"'
        rows = _rows(_read(_REFERENCE / "smtp-replies.md"), "What decides at the end of a message")

        self.assertEqual({row[0].strip("`") for row in rows}, set(re.findall(ends, code)))


class WebhookFailures(unittest.TestCase):
    """docs/reference/webhook-failures.md and the dispatcher's delivery folder."""

    folder = ROOT / "services" / "webhook-dispatcher" / "delivery"
    text = _read(_REFERENCE / "webhook-failures.md")

    def test_every_kind_of_result_has_a_row(self) -> None:
        header = _read(self.folder / "delivery_decision.hpp")
        enum = re.search(r"enum class kind \{(.*?)\};", header, re.DOTALL)
        assert enum
        kinds = set(re.findall(r"^\s*(\w+)", re.sub(r"//.*", "", enum[1]), re.MULTILINE))
        rows = _rows(self.text, "The failure table")

        self.assertEqual({kind for row in rows for kind in re.findall(r"`(\w+)`", row[1])}, kinds)

    def test_the_schedule_is_the_code(self) -> None:
        waits = re.search(r"waits\{(.*?)\};", _read(self.folder / "schedule.cpp"), re.DOTALL)
        assert waits
        rows = _rows(self.text, "The schedule")

        self.assertEqual(rows[0][1:], re.split(r",\s*", waits[1]))


class Limits(unittest.TestCase):
    """docs/reference/limits.md: every number is that of the code or the default of a setting."""

    rows = _all_rows(_read(_REFERENCE / "limits.md"))
    # What sets the number of each row; the file says how it names it.
    sources: ClassVar[dict[str, str]] = yaml.safe_load(_read(_HERE / "limits.yaml"))

    def _shown(self, cell: str) -> int:
        found = re.match(r"([\d,]+) ?(\w+)?", cell.strip("*`"))
        assert found, cell
        return int(found[1].replace(",", "")) * _UNITS.get(found[2], 1)

    def _coded(self, name: str, text: str) -> set[int]:
        """The values of a name that is given a plain number, a product or a duration."""
        given = re.compile(
            rf"(?:(milliseconds|seconds|minutes|hours|days)\s+)?\b{re.escape(name)}(?:\s*=\s*|\{{\s*)"
            r"(?:(?:std::chrono::)?(seconds|minutes|hours|days)\{)?"
            r"(\d[\d' *]*)(ms|s|min|h)?\s*[;,})]"
        )
        values = set()
        for kind, inner, product, suffix in given.findall(text):
            value = _UNITS.get(suffix or inner or kind, 1)
            for factor in product.replace("'", "").split("*"):
                value *= int(factor)
            values.add(value)
        return values

    def _default(self, service: str, setting: str) -> int:
        page = _read(_DOCS / "settings.md")
        own = page.partition(f"\n## {service}\n")[2].partition("\n## ")[0]
        shared = page.partition(f"\n## {settings_page.SHARED}\n")[2]
        rows = _all_rows(own) + _all_rows(shared)
        return next(self._shown(row[1]) for row in rows if row[0] == f"`{setting}`")

    def test_every_row_has_a_source(self) -> None:
        self.assertEqual([row[0] for row in self.rows], list(self.sources))

    def test_the_numbers_are_the_code_s(self) -> None:
        for limit, value, _ in self.rows:
            where, _, name = self.sources[limit].partition(" ")
            with self.subTest(limit):
                if "/" not in where:
                    self.assertRegex(value, r"^\*.*\*$", "a setting's default is in italics")
                    self.assertEqual(self._shown(value), self._default(where, name))
                elif "#" in name:
                    shown = str(self._shown(value))
                    self.assertIn(name.replace("#", shown), _read(ROOT / where))
                else:
                    self.assertIn(self._shown(value), self._coded(name, _read(ROOT / where)))


class Tools(unittest.TestCase):
    """docs/mcp.md lists the tools of MCP in their order, each with operations of the API."""

    rows = _rows(_read(_DOCS / "mcp.md"), "Tools")
    tools = json.loads(_read(ROOT / "services" / "gateway" / "mcp" / "tools.json"))
    contract = yaml.safe_load(_read(_DOCS / "openapi.yaml"))
    # A tool answers before its client gives up, sooner than the API.
    of_their_own = frozenset({"timeoutSeconds"})

    def _operations(self) -> list[tuple[str, str, str]]:
        """Tool, method and path; `the same` is what the row before has."""
        found = []
        before: list[tuple[str, str]] = []
        for tool, _, cell in self.rows:
            here = re.findall(r"`([A-Z]+) (\S+)`", cell)
            before = (before if "the same" in cell else []) + here
            found += [(tool.strip("`"), *one) for one in before]
        return found

    def _resolved(self, node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            at, node = node["$ref"], self.contract
            for name in at.removeprefix("#/").split("/"):
                node = node[name]
        return node

    def _accepted(self, method: str, path: str) -> dict[str, dict[str, Any]]:
        """Returns what an operation accepts, by name: parameters and members of its body."""
        item = self.contract["paths"][path]
        operation = item[method.lower()]
        schemas = {}
        for one in item.get("parameters", []) + operation.get("parameters", []):
            parameter = self._resolved(one)
            schemas[parameter["name"]] = self._resolved(parameter["schema"])
        body = self._resolved(operation.get("requestBody", {}))
        for content in body.get("content", {}).values():
            for name, one in self._resolved(content["schema"]).get("properties", {}).items():
                schemas[name] = self._resolved(one)
        return schemas

    def _bounds(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Returns the bounds that a schema sets for a value and for what is in it."""
        found = {name: one for name, one in schema.items() if name.startswith(("min", "max"))}
        for name in ("items", "additionalProperties"):
            if isinstance(schema.get(name), dict):
                found[name] = self._bounds(self._resolved(schema[name]))
        if "propertyNames" in schema:  # tools take the names without the word that all begin with
            found["propertyNames"] = self._bounds(split_prefix(schema["propertyNames"])[1])
        return found

    def test_every_tool_has_its_row(self) -> None:
        self.assertEqual(
            [f"`{tool['name']}`" for tool in self.tools], [row[0] for row in self.rows]
        )

    def test_their_operations_are_in_the_contract(self) -> None:
        for tool, method, path in self._operations():
            with self.subTest(tool):
                self.assertIn(method.lower(), self.contract["paths"][path])

    def test_arguments_have_the_bounds_of_the_contract(self) -> None:
        arguments = {tool["name"]: tool["inputSchema"]["properties"] for tool in self.tools}
        compared = 0
        for tool, method, path in self._operations():
            accepted = self._accepted(method, path)
            for name in (arguments[tool].keys() & accepted.keys()) - self.of_their_own:
                with self.subTest(f"{tool} {name}"):
                    said = self._bounds(arguments[tool][name])
                    self.assertEqual(said, self._bounds(accepted[name]))
                    compared += 1
        self.assertGreater(compared, 20)


class WhereItIsDecided(unittest.TestCase):
    """docs/architecture.md answers each question with a file and a text that the file holds."""

    rows = _rows(_read(_DOCS / "architecture.md"), "Where it is decided")
    pointer = re.compile(r"\[([^\]]+)\]\(([^)]+)\): `([^`]+)`")

    def test_every_file_holds_the_text(self) -> None:
        self.assertTrue(self.rows)
        for question, cell in self.rows:
            pointers = self.pointer.findall(cell)
            with self.subTest(question):
                self.assertTrue(pointers)
            for name, link, text in pointers:
                with self.subTest(question, file=name):
                    self.assertEqual((_DOCS / link).resolve(), ROOT / name)
                    self.assertIn(text, _read(ROOT / name))


class Mutations(unittest.TestCase):
    """The tests that docs/development/break.md names for each fault."""

    def test_every_test_exists(self) -> None:
        page = _DOCS / "development" / "break.md"
        for title, file in re.findall(
            r"\[([^]]*)\]\((\.\./\.\./tests/[^)]*_test\.cpp|[^)]*/test_\w+\.py)\)", _read(page)
        ):
            text = re.sub(r'"\s*\n\s*"', "", _read(page.parent / file))
            name = f"def {title.strip('`')}(" if file.endswith(".py") else f'TEST_CASE("{title}"'
            self.assertIn(name, re.sub(r"TEST_CASE\(\s+", "TEST_CASE(", text), file)


class FrontDoor(unittest.TestCase):
    """README.md and the pages beside it: what they point at is there, and commands exist."""

    pages = tuple(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))

    def test_links_and_pictures_lead_to_files(self) -> None:
        pointer = re.compile(r"""\]\(([^)#:]+)[)#]|(?:src|srcset)="([^":]+)\"""")
        for page in self.pages:
            targets = [one or other for one, other in pointer.findall(_read(page))]
            self.assertTrue(targets)
            for target in targets:
                with self.subTest(page.name, target=target):
                    self.assertTrue((ROOT / target).exists())

    def test_pictures_are_small(self) -> None:
        for picture in sorted((_DOCS / "images").iterdir()):
            with self.subTest(picture.name):
                self.assertLess(picture.stat().st_size, 200_000)

    def test_verbs_of_dev_exist(self) -> None:
        done = subprocess.run([ROOT / "dev", "--help"], capture_output=True, text=True, check=True)
        verbs = set(re.findall(r"^    (\w+) ", done.stdout, re.MULTILINE))
        self.assertIn("up", verbs)
        for page in self.pages:
            named = set(re.findall(r"\./dev ([a-z]\w*)", _read(page)))
            self.assertEqual(named - verbs, set(), page.name)


class Links(unittest.TestCase):
    """Every link of every page leads to a file, and to a heading of it."""

    pages = tuple(
        sorted(
            {
                page
                for pattern in (
                    "*.md",
                    "llms.txt",
                    "docs/**/*.md",
                    "libs/**/README.md",
                    "services/*/README.md",
                )
                for page in ROOT.glob(pattern)
            }
        )
    )

    @staticmethod
    def _prose(page: Path) -> str:
        return re.sub(r"^ *```.*?^ *```", "", _read(page), flags=re.MULTILINE | re.DOTALL)

    def _anchors(self, page: Path) -> set[str]:
        """Returns the anchors of a page's headings, as the sites that show Markdown make them."""
        seen: dict[str, int] = {}
        for heading in re.findall(r"^#+ (.*)$", self._prose(page), re.MULTILINE):
            shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
            anchor = re.sub(r"[^\w\- ]", "", shown).strip().replace(" ", "-")
            seen[anchor] = seen.get(anchor, 0) + 1
        repeated = {f"{one}-{n}" for one, count in seen.items() for n in range(1, count)}
        return repeated | seen.keys()

    def test_they_lead_to_files_and_headings(self) -> None:
        self.assertIn("by-hand", self._anchors(_DOCS / "operations" / "capacity.md"))
        for page in self.pages:
            for target in re.findall(r"\]\(([^)\s]+)\)", self._prose(page)):
                name, _, anchor = target.partition("#")
                if re.match(r"[a-z]+:", target):
                    continue
                with self.subTest(page.relative_to(ROOT).as_posix(), target=target):
                    file = (page.parent / name).resolve() if name else page
                    self.assertTrue(file.exists())
                    if anchor and file.suffix == ".md":
                        self.assertIn(anchor, self._anchors(file))


class Installing(unittest.TestCase):
    """The clients are fetched from a release or a gateway: a registry may have another package of
    their names.
    """

    by_name = re.compile(
        r"\b(?:pipx?3?|uvx?|npm|npx|pnpm|yarn) [^`\n]*?(?<![\w./$-])(?:temporary-inbox|tempinbox)"
        r"(?![\w./*-]|\S* @ )"
    )

    def test_a_name_is_told_from_a_file_and_an_address(self) -> None:
        for command in (
            'pip install "temporary-inbox[testcontainers]"',
            "python -m pip install temporary-inbox==0.2.0",
            "uv add temporary-inbox",
            "npm install --save-dev tempinbox",
            "npm i tempinbox@latest nodemailer",
            "npx tempinbox list",
        ):
            self.assertRegex(command, self.by_name)
        for command in (
            'pip install "temporary-inbox[testcontainers] @ $TEMPINBOX_BASE_URL/downloads/$WHEEL"',
            'npm install --save-dev "$TEMPINBOX_BASE_URL/downloads/tempinbox.tgz"',
            "npm install --global ./tempinbox-*.tgz",
            "`npm install` brings the program `tempinbox`",
        ):
            self.assertNotRegex(command, self.by_name)

    def test_nothing_is_installed_by_its_name(self) -> None:
        patterns = ("*.md", "clients/*.py", "clients/*.ts", "examples/*.sh")
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        for name in listed.stdout.split("\0")[:-1]:
            with self.subTest(name):
                self.assertNotRegex(_read(ROOT / name), self.by_name)


class LlmsTxt(unittest.TestCase):
    """llms.txt has the shape that llmstxt.org describes, and names every page."""

    lines = tuple(_read(ROOT / "llms.txt").splitlines())

    def test_it_begins_with_a_title_and_a_summary(self) -> None:
        self.assertEqual(self.lines[0][:2], "# ")
        self.assertEqual(self.lines[2][:2], "> ")
        self.assertEqual([line for line in self.lines if re.match("#(?!# )", line)][1:], [])

    def test_its_sections_are_lists_of_links(self) -> None:
        _, *sections = "\n".join(self.lines).split("\n## ")

        self.assertIn("Optional", [section.partition("\n")[0] for section in sections])
        for section in sections:
            for line in section.splitlines()[2:]:
                self.assertRegex(line or "- [a](b)", r"^- \[[^\]]+\]\([^)\s]+\)(?:: .+)?$")

    def test_it_names_every_page_once(self) -> None:
        linked = re.findall(r"\]\((docs/[^)\s]+\.md)\)", "\n".join(self.lines))

        self.assertEqual(
            sorted(linked), sorted(it.relative_to(ROOT).as_posix() for it in _DOCS.rglob("*.md"))
        )


class Decisions(unittest.TestCase):
    """docs/decisions/README.md has a line for every decision, in their order."""

    def test_every_decision_has_its_line(self) -> None:
        folder = _DOCS / "decisions"
        linked = re.findall(r"\]\((\d[^)]*)\) \|$", _read(folder / "README.md"), re.MULTILINE)

        self.assertEqual(linked, sorted(page.name for page in folder.glob("[0-9]*.md")))


class SharedFolders(unittest.TestCase):
    """libs/common/README.md has a line for every folder, each below what it includes."""

    folder = ROOT / "libs" / "common"

    def test_every_folder_stands_below_what_it_includes(self) -> None:
        listed = re.findall(r"^\| `(\w+)` \|", _read(self.folder / "README.md"), re.MULTILINE)
        for number, name in enumerate(listed):
            text = "\n".join(_read(path) for path in (self.folder / name).glob("*.[ch]pp"))
            included = set(re.findall(r'^#include "common/(\w+)/', text, re.MULTILINE))
            with self.subTest(name):
                self.assertEqual(included - set(listed[: number + 1]), set())

        folders = sorted(path.name for path in self.folder.iterdir() if path.is_dir())
        self.assertEqual(sorted(listed), folders)


class Failures(unittest.TestCase):
    """Every service says what happens without each part that it needs."""

    def test_every_service_has_its_table(self) -> None:
        for page in sorted(ROOT.glob("services/*/README.md")):
            with self.subTest(page.parent.name):
                self.assertRegex(_read(page), r"\n\| lost \| then \|\n\|---\|---\|\n\| ")
                self.assertIn("\n| PostgreSQL | ", _read(page))


if __name__ == "__main__":
    unittest.main()
