"""Fixtures of the command line's tests.

They run `tempinbox` against a running suite, which the environment names: TEMPINBOX_BASE_URL,
TEMPINBOX_API_KEY (Premium, high limits), TEMPINBOX_TEST_SMTP (host:port), TEMPINBOX_TEST_CTL (a
command line of tempinboxctl). The program is TEMPINBOX_TEST_CLI, or the release build's.
"""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli import Account, Cli, Inbox

_ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def program() -> Path:
    """The program under test."""
    given = os.environ.get("TEMPINBOX_TEST_CLI")
    path = Path(given) if given else _ROOT / "build" / "release" / "bin" / "tempinbox"
    assert path.is_file(), f"{path} is not built: ./dev build --preset release tempinbox"
    return path


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
