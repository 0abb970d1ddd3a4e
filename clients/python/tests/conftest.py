"""Fixtures of the Python client's tests; `./dev test clients` says where the suite is."""

from collections.abc import Iterator

import pytest
from scripted_server import ScriptedServer

from tempinbox import Tempinbox

pytest_plugins = ["pytester"]


@pytest.fixture
def client() -> Iterator[Tempinbox]:
    """Makes a client of the suite's account, from the environment."""
    with Tempinbox() as made:
        yield made


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """Starts a server that does what the real suite cannot do on demand."""
    with ScriptedServer() as made:
        yield made


@pytest.fixture
def scripted(server: ScriptedServer) -> Iterator[Tempinbox]:
    """A client of it, with 5 s for a call."""
    with Tempinbox(base_url=server.url, api_key="ti_live_x", timeout=5) as made:
        yield made


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Returns the backend that runs the tests that await."""
    return str(request.param)
