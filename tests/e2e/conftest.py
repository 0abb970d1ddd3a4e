"""Fixtures of the end-to-end tests.

The suite under test is made by `./dev test e2e`, or is the one of `./dev up`.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from dev import paths
from harness import Account, Api, Capture, Suite, make_certificate

_ENOUGH_REQUESTS = "1000000"
# Hypothesis would keep its tables in a folder of the checkout.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(paths.ROOT / "build" / "hypothesis"))


@pytest.fixture(scope="session")
def suite() -> Suite:
    """The running suite, with limits on requests no test runs into unless it wants to."""
    running = Suite()
    unlimited = ("--requests-per-day", _ENOUGH_REQUESTS, "--burst-per-second", "0")
    running.operate("plan", "set", "premium", *unlimited)
    return running


@pytest.fixture(scope="session")
def api(suite: Suite) -> Api:
    """The demo account's API."""
    return Api(suite["API"], suite["API_KEY"])


@pytest.fixture
def account(suite: Suite) -> Account:
    """A Premium account of the test's own."""
    return Account.make(suite)


@pytest.fixture
def capture(suite: Suite, account: Account) -> Capture:
    """A capture of that account's."""
    return Capture(suite, account)


@pytest.fixture(scope="session")
def other_account(suite: Suite) -> Account:
    """Somebody else."""
    return Account.make(suite)


@pytest.fixture
def pro(suite: Suite) -> Iterator[Account]:
    """An account with 3,000 requests a day and no burst limit."""
    suite.operate("plan", "set", "pro", "--requests-per-day", "3000", "--burst-per-second", "0")
    yield Account.make(suite, plan="pro")
    suite.operate("plan", "set", "pro", "--requests-per-day", "3000", "--burst-per-second", "50")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Makes a folder with a certificate and its key, for a replica that speaks TLS."""
    make_certificate(tmp_path, "first.test")
    return tmp_path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Moves tests that wait for a clock to the end: the time passes while the others run."""
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


def pytest_configure(config: pytest.Config) -> None:
    """Markers of this folder."""
    config.addinivalue_line("markers", "last: run after all others")
