"""docs/quickstart and the recipes do what they say, in five minutes: each page is run from its own
text.

Needs the environment of `./dev test clients`.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from dev import kubernetes_tools, node_packages, pages, paths
from dev.ports import free_port

_PAGES = paths.ROOT / "docs" / "quickstart"
_SECONDS = 300


def _operate(*arguments: str) -> Any:
    """The operator's command line; its JSON answer."""
    command = [*shlex.split(os.environ["TEMPINBOX_TEST_CTL"]), *arguments, "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def _reader() -> dict[str, str]:
    """The variables of a shell that knows nothing of a suite or of the tests."""
    return {
        name: value for name, value in paths.clean_environment().items() if "PYTHON" not in name
    }


def _with_key(*access: str) -> dict[str, str]:
    """The variables of a reader with a key: of an account of its own, for others' mail would be in
    the way.
    """
    email = f"{uuid.uuid4().hex[:12]}@example.com"
    _operate("account", "create", "--email", email, "--plan", "premium")
    key = _operate("key", "create", email, "--label", "quick start", *access)["key"]
    return _reader() | {
        "TEMPINBOX_BASE_URL": os.environ["TEMPINBOX_BASE_URL"],
        "TEMPINBOX_API_KEY": key,
        "TEMPINBOX_SMTP": os.environ["TEMPINBOX_TEST_SMTP"],
    }


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with what is in a clone, where the page may save files."""
    listed = subprocess.run(
        ["git", "ls-tree", "--name-only", "HEAD"],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        (tmp_path / name).symlink_to(paths.ROOT / name)
    return tmp_path


def test_automation(tmp_path: Path) -> None:
    pages.run(
        _PAGES / "automation.md",
        folder=tmp_path,
        environment=_with_key(),
        swaps={"8099": str(free_port())},
        seconds=_SECONDS,
    )


def test_agent(tmp_path: Path) -> None:
    page = _PAGES / "agent.md"
    # The command of the page that makes the key is the operator's, and stands in its prose.
    access = re.findall(r"--(?:scope|tag) [\w:]+", page.read_text(encoding="utf-8"))
    assert len(access) == 4

    pages.run(
        page,
        folder=tmp_path,
        environment=_with_key(*" ".join(access).split()),
        seconds=_SECONDS,
    )


def test_tester(tmp_path: Path) -> None:
    """Uses the packages that ./dev has brought, in place of those from registries; the client is
    the gateway's own.
    """
    client = paths.ROOT / "clients" / "typescript"
    programs = node_packages.ensure(client)["PATH"]  # a newer Node.js than Debian 12's
    chromium = shutil.which("chromium")
    assert chromium
    modules = str(client / "node_modules")
    package = '"$TEMPINBOX_BASE_URL/downloads/tempinbox.tgz"'
    brought = modules + "/{@playwright,playwright,playwright-core}"

    pages.run(
        _PAGES / "tester.md",
        folder=tmp_path,
        environment=_with_key() | {"CHROMIUM": chromium, "PATH": programs},
        swaps={
            "8098": str(free_port()),
            f"npm install --save-dev @playwright/test {package} >>npm.txt\n": (
                f"npm install {package} >>npm.txt\n"
                f"ln -s {brought} node_modules/\n"
                f"ln -s {modules}/.bin/playwright node_modules/.bin/\n"
            ),
        },
        seconds=_SECONDS,
    )


def test_follow(tmp_path: Path) -> None:
    programs = node_packages.ensure(paths.ROOT / "clients" / "typescript")["PATH"]

    pages.run(
        _PAGES / "follow.md",
        folder=tmp_path,
        environment=_with_key() | {"PATH": programs},
        swaps={"8097": str(free_port())},
        seconds=_SECONDS,
    )


def test_staging(tmp_path: Path) -> None:
    authority = {"TEMPINBOX_SUBMISSION_CA": os.environ["TEMPINBOX_TEST_SUBMISSION_CA"]}

    pages.run(
        _PAGES / "staging.md",
        folder=tmp_path,
        environment=_with_key() | authority,
        swaps={"8096": str(free_port())},
        seconds=_SECONDS,
    )


def test_consumer(clone: Path) -> None:
    known = {paths.SUITE_VARIABLE: os.environ[paths.SUITE_VARIABLE]}

    pages.run(_PAGES / "consumer.md", folder=clone, environment=_reader() | known, seconds=_SECONDS)


def test_operator(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Uses a suite of its own, which the page starts and ends; this tier has built the programs."""
    suite = tmp_path_factory.mktemp("suite")
    programs = f"{kubernetes_tools.helm().parent}:{os.environ['PATH']}"
    try:
        pages.run(
            _PAGES / "operator.md",
            folder=clone,
            environment=_reader() | {paths.SUITE_VARIABLE: str(suite), "PATH": programs},
            swaps={"./dev up -d": "./dev up -d --no-build --no-dashboard"},
            seconds=_SECONDS,
        )
    finally:
        down = [str(paths.ROOT / "dev"), "down", "--wipe", "--data", str(suite)]
        subprocess.run(down, capture_output=True, check=True, timeout=60)


def test_recipes(tmp_path: Path) -> None:
    """Uses this interpreter's packages in place of those from a registry; the client is the
    gateway's own.
    """
    packages = Path(sys.prefix) / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    made = "python3 -m venv .venv\n"

    pages.run(
        paths.ROOT / "docs" / "recipes.md",
        folder=tmp_path,
        environment=_with_key()
        | {
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        swaps={
            made: f"{sys.executable} -m venv .venv\n"
            f"echo {packages} >$(echo .venv/lib/*/site-packages)/tests.pth\n"
        },
        seconds=_SECONDS,
    )


def test_every_quick_start_is_run() -> None:
    tests = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}

    assert {page.stem for page in _PAGES.glob("*.md")} <= tests
