"""Fixtures of the command line's tests.

They run `tempinbox` against a running suite, which the environment names: TEMPINBOX_BASE_URL,
TEMPINBOX_API_KEY (Premium, high limits), TEMPINBOX_TEST_SMTP (host:port),
TEMPINBOX_TEST_SUBMISSION_CA (a file), TEMPINBOX_TEST_CTL (a command line of tempinboxctl). The
program is that of the built package (`npm run build`), or TEMPINBOX_TEST_CLI.
"""

import os
import shlex
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli import Account, Cli, Inbox

_PACKAGE = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program under test, which starts whatever its PATH is."""
    if given := os.environ.get("TEMPINBOX_TEST_CLI"):
        return Path(given)
    built = _PACKAGE / "dist" / "esm" / "cli" / "main.js"
    assert built.is_file(), f"{built} is not built: npm run build"
    node = shutil.which("node")
    assert node, "node is not in the PATH"
    started = tmp_path_factory.mktemp("bin") / "tempinbox"
    command = shlex.join([node, str(built)])
    started.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    started.chmod(0o755)
    return started


@pytest.fixture
def cli(program: Path, tmp_path: Path) -> Cli:
    """The program as a user of the suite's Premium account, with a home of its own."""
    return Cli(
        program,
        tmp_path,
        {
            "TEMPINBOX_BASE_URL": os.environ["TEMPINBOX_BASE_URL"],
            "TEMPINBOX_API_KEY": os.environ["TEMPINBOX_API_KEY"],
        },
    )


@pytest.fixture
def inbox(cli: Cli) -> Iterator[Inbox]:
    """An inbox of the test's own, ended with it."""
    made = cli.json("create", "--name", "command line test")
    yield Inbox(made["inboxId"], made["emailAddress"])
    cli.run("rm", made["inboxId"])


@pytest.fixture
def account() -> Account:
    """A Premium account of the test's own."""
    return Account.make()


@pytest.fixture
def tag() -> str:
    """Returns a tag that no other test uses."""
    return uuid.uuid4().hex[:12]


@pytest.fixture(scope="session")
def smtp() -> str:
    """host:port of the mail server."""
    return os.environ["TEMPINBOX_TEST_SMTP"]
