"""Tests that all the pages for operators name exists: chart values, settings, commands with flags.

Needs the chart and `tempinboxctl`, and nothing that runs. That the commands do what the pages say
is seen on a cluster; links are looked at by tests/tools/docs_test.py.
"""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from settings_table import settings

_ROOT = Path(__file__).resolve().parents[2]
_BIN = _ROOT / "build" / "release" / "bin"
_PAGES = [  # behind the index, all that it links
    _ROOT / "README.md",
    _ROOT / "docs" / "operations.md",
    _ROOT / "docs" / "quickstart" / "operator.md",
    *sorted((_ROOT / "docs" / "operations").glob("*.md")),
    *sorted((_ROOT / "docs" / "runbooks").glob("*.md")),
]
_NAMES = [page.relative_to(_ROOT).as_posix() for page in _PAGES]
_FILE = re.compile(r"\.(md|env|json|yaml|svg|[ch]pp|sql|proto|crt|key)$")
_OTHERS = {"service.instance.id"}  # named like values, and none: an attribute of spans
_each_page = pytest.mark.parametrize("page", _PAGES, ids=_NAMES)


@cache
def _schema() -> dict[str, Any]:
    path = _ROOT / "deploy" / "helm" / "tempinbox" / "values.schema.json"
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def _resolved(part: Any) -> Any:
    """A part of the schema, with what its `$ref` points to in its place."""
    while isinstance(part, dict) and "$ref" in part:
        found: Any = _schema()
        for step in part["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        part = found
    return part


def _child(part: Any, key: str) -> Any:
    """Returns the schema of a key, True if any key will do, None if it has none."""
    part = _resolved(part)
    if part is True or not isinstance(part, dict):
        return part
    if key in part.get("properties", {}):
        return part["properties"][key]
    for pattern, below in part.get("patternProperties", {}).items():
        if re.search(pattern, key):
            return below
    below = part.get("additionalProperties", True)
    return None if below is False else below


def _is_value(path: list[str], below: Any = None) -> bool:
    part = _schema() if below is None else below
    for key in path:
        part = _child(part, key)
        if part is None:
            return False
    return True


def _beginnings() -> list[Any]:
    """Returns where a shortened path such as `hpa.enabled` may begin."""
    services = _resolved(_schema()["properties"]["services"])["properties"]
    return [_schema(), _schema()["properties"]["defaults"], *services.values()]


def _paths(values: Any, before: tuple[str, ...] = ()) -> Iterator[list[str]]:
    """Every key of nested maps, with those above it."""
    if isinstance(values, dict):
        for key, below in values.items():
            yield [*before, str(key)]
            yield from _paths(below, (*before, str(key)))


def _blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a language, those in lists too."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)


def _commands(page: Path) -> list[str]:
    """The lines of all shell blocks, continued ones in one, without comments."""
    joined = "\n".join(_blocks(page, "sh")).replace("\\\n", " ")
    return [re.sub(r"(^|\s)#.*", "", line).strip() for line in joined.splitlines()]


@cache
def _help(*verb: str) -> str:
    done = subprocess.run(
        [_BIN / "tempinboxctl", *verb, "--help"], capture_output=True, text=True, check=True
    )
    return done.stdout


@cache
def _verbs() -> frozenset[str]:
    listed = _help().partition("\nCommands ")[2]
    return frozenset(re.findall(r"^  ([a-z][a-z-]*(?: [a-z][a-z-]*)?)  ", listed, re.MULTILINE))


def _all_settings() -> set[str]:
    return set().union(*settings().values())


def _run_by(command: str) -> Iterator[list[str]]:
    """The arguments of each `tempinboxctl` of a shell line, or of the page's function `ctl`."""
    for part in re.split(r"\||&&|;|\$\(", command):
        try:
            words = shlex.split(part)
        except ValueError:  # a quote that goes on in another line
            continue
        while words and re.fullmatch(r"\w+=.*", words[0]):
            words = words[1:]
        if words and words[0] in ("tempinboxctl", "ctl", "ctl()") and words[1:2] != ["{"]:
            yield words[1:]


def _problems(arguments: list[str]) -> list[str]:
    """Returns the parts of a command that tempinboxctl does not have."""
    verb = next(
        (arguments[:count] for count in (2, 1) if " ".join(arguments[:count]) in _verbs()), None
    )
    if verb is None:
        if len(arguments) == 1 and any(one.startswith(f"{arguments[0]} ") for one in _verbs()):
            return []  # a sentence on a group of commands
        return [f"no command: {' '.join(arguments)}"]
    flags = {word.partition("=")[0] for word in arguments if word.startswith("--")}
    known = set(re.findall(r"--[a-z][a-z-]*", _help(*verb) + _help()))
    return [f"{' '.join(verb)} has no {flag}" for flag in sorted(flags - known)]


@_each_page
def test_values_in_blocks_are_those_of_the_chart(page: Path) -> None:
    keys = set(_schema()["properties"])
    for block in _blocks(page, "yaml"):
        values = yaml.safe_load(block)
        if isinstance(values, dict) and keys & values.keys():
            unknown = [".".join(path) for path in _paths(values) if not _is_value(path)]
            assert not unknown


@_each_page
def test_values_named_in_sentences_are_those_of_the_chart(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    firsts = {key for begin in _beginnings() for key in _resolved(begin)["properties"]}
    named = re.findall(r"`([a-z][A-Za-z]*(?:\.[A-Za-z][\w-]*)+)(?:: [^`]*)?`", text)
    for name in named:
        path = name.split(".")
        if path[0] in firsts and name not in _OTHERS and not _FILE.search(name):
            assert any(_is_value(path, begin) for begin in _beginnings()), name


@_each_page
def test_values_that_are_set_on_the_command_line_are_those_of_the_chart(page: Path) -> None:
    for command in _commands(page):
        for name in re.findall(r"--set(?:-string|-json|-file)? ([\w.-]+)=", command):
            assert _is_value(name.split(".")), name


@_each_page
def test_commands_of_tempinboxctl_and_their_flags_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = [
        one.group(1)
        for one in re.finditer(r"`((?:tempinboxctl|ctl) [a-z][^`\n]*)`", text)
        if "|" not in one.group(1)
    ]
    commands = [*_commands(page), *named]
    problems = [
        problem
        for command in commands
        for arguments in _run_by(command)
        for problem in _problems(arguments)
    ]
    assert not problems


@_each_page
def test_settings_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    known = _all_settings()
    named = set(re.findall(r"\bsettings? `([a-z][a-z0-9-]*)[`:=]", text))
    variables = set(re.findall(r"\bTEMPINBOX_([A-Z][A-Z0-9_]*[A-Z0-9])\b(?!…)", text))
    # Variables of ./dev env, of smoke, of the clients, and of the all-in-one image.
    of_tests = {"API_KEY", "API", "BASE_URL", "GATEWAY_1_ADMIN", "SMTP"}
    of_tests |= {"ACCOUNT", "DOMAIN", "EMAIL", "PASSWORD"}
    of_tests |= {"VERSION"}  # of Compose
    named |= {name.lower().replace("_", "-") for name in variables - of_tests}
    assert not {name for name in named if name not in known}


@_each_page
def test_settings_in_values_are_those_of_the_service(page: Path) -> None:
    for block in _blocks(page, "yaml"):
        values = yaml.safe_load(block)
        if not isinstance(values, dict):
            continue
        for service, own in (values.get("services") or {}).items():
            known = settings()[service]
            assert not (own.get("settings") or {}).keys() - known


def test_the_index_links_every_page() -> None:
    index = (_ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    links = set(re.findall(r"\]\(([^)#]+)", index))
    pages = {page.relative_to(_ROOT / "docs").as_posix() for page in _PAGES[2:]}
    assert not pages - links


def test_what_is_checked_is_there() -> None:
    install = _ROOT / "docs" / "operations" / "install.md"
    assert {"bootstrap", "key create", "doctor"} <= _verbs()
    assert any("helm install" in command for command in _commands(install))
    assert list(_run_by("x=1 ctl key create a | cat")) == [["key", "create", "a"]]
    assert _problems(["smoke", "--apis", "x"]) == ["smoke has no --apis"]
    assert _problems(["smack"]) == ["no command: smack"]
    assert not _is_value(["database", "maxConnection"])
    assert "quarantine" in settings()["inbox"]
