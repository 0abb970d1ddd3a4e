"""TempinboxContainer of the Python client, and the page about it, with a real Docker daemon.

`./dev image --check all-in-one` runs them: they need TEMPINBOX_IMAGE, DOCKER_HOST where it is not
the usual one, and TEMPINBOX_TEST_NODE_MODULES, a folder with the packages of the page's TypeScript.
"""

import os
import smtplib
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from dev import pages, paths
from tempinbox import ConfigurationError
from tempinbox.container import DEFAULT_IMAGE, TempinboxContainer

_CONTAINERS = 10
_PAGE = paths.ROOT / "docs" / "testcontainers.md"


def _send(container: TempinboxContainer, address: str, code: str) -> None:
    with smtplib.SMTP(*container.smtp, timeout=30) as server:
        server.sendmail("shop@shop.example", address, f"Subject: Hi\n\nYour code is {code}.")


def test_the_image_has_the_version_of_the_client() -> None:
    version = (paths.ROOT / "VERSION").read_text(encoding="ascii").strip()

    assert f"localhost/tempinbox/all-in-one:{version}" == DEFAULT_IMAGE


def test_a_timeout_out_of_bounds_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="from 1 to 600 seconds, not 0"):
        TempinboxContainer(timeout=0)


def test_settings_reach_the_service() -> None:
    with (
        TempinboxContainer().with_env("TEMPINBOX_DOMAIN", "mail.test") as container,
        container.client() as client,
        client.with_inbox() as inbox,
    ):
        assert inbox.email_address.endswith("@mail.test")
        assert client.get_account().plan == "premium"


def test_a_container_that_ends_before_it_is_ready_says_so() -> None:
    broken = TempinboxContainer().with_env("TEMPINBOX_LISTEN", "nowhere")
    with pytest.raises(RuntimeError, match="exited"), broken:
        pytest.fail("it must not start")


def test_ten_at_once_each_have_their_own_mail() -> None:
    """Starts them one beside the other, without a name, a port or a folder that they share."""
    with ExitStack() as stack, ThreadPoolExecutor(_CONTAINERS) as pool:
        made = [TempinboxContainer(timeout=600) for _ in range(_CONTAINERS)]
        for container in made:
            stack.callback(container.stop)
        list(pool.map(TempinboxContainer.start, made))

        assert len({container.base_url for container in made}) == _CONTAINERS
        assert len({container.api_key for container in made}) == _CONTAINERS
        for number, container in enumerate(made):
            with container.client() as client, client.with_inbox() as inbox:
                _send(container, inbox.email_address, f"7701{number:02}")
                assert inbox.wait_for_code() == f"7701{number:02}"
                assert len(list(client.list_inboxes())) == 1


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(os.environ["TEMPINBOX_TEST_NODE_MODULES"])

    pages.run(
        _PAGE,
        folder=tmp_path,
        environment=dict(os.environ)
        | {
            "PYTHON": sys.executable,
            "PYTHONDONTWRITEBYTECODE": "1",
            # The client is on the path here, and not installed.
            "PYTEST_ADDOPTS": "-p tempinbox.pytest_plugin",
        },
        seconds=300,
    )
