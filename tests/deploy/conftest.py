"""`--update` writes what the chart renders as the new goldens."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.addoption("--update", action="store_true", help="renew tests/deploy/golden")


@pytest.fixture
def updates(request: pytest.FixtureRequest) -> bool:
    """Returns whether goldens are to be renewed."""
    return bool(request.config.getoption("--update"))
