"""TempinboxContainer of the Python client, and the page about it, with a real Docker daemon.

`./dev image --check all-in-one` runs them: they need TEMPINBOX_IMAGE, DOCKER_HOST where it is not
the usual one, and TEMPINBOX_TEST_NODE_MODULES, a folder with the packages of the page's TypeScript.
"""

import asyncio
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
from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network

_CONTAINERS = 10
_OPERATOR = {"abuse@inbox.example", "postmaster@inbox.example"}
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


def test_mail_of_a_login_comes_to_its_inbox_alone() -> None:
    with (
        TempinboxContainer() as container,
        container.client() as client,
        client.with_inbox(capture=True) as inbox,
        client.with_inbox() as other,
    ):
        assert inbox.capture
        assert inbox.capture.password
        assert inbox.capture.ports.clear == [1025]
        message = "Subject: Hi\n\nYour code is 482913."
        with smtplib.SMTP(*container.submission, timeout=30) as server:
            with pytest.raises(smtplib.SMTPSenderRefused, match="530"):
                server.sendmail("shop@shop.example", "ann@corp.example", message)
            server.login(inbox.capture.user, inbox.capture.password)
            server.sendmail("shop@shop.example", ["ann@corp.example", other.email_address], message)

        email = inbox.wait_for_email()
        assert email.recipients == ["ann@corp.example", other.email_address]
        assert list(client.list_inbox_emails(other)) == []


def test_a_catch_all_takes_mail_to_any_name_below_the_domain() -> None:
    with (
        TempinboxContainer() as container,
        container.client() as client,
        client.with_inbox(local_part="*", domain="build.inbox.example") as inbox,
    ):
        assert inbox.email_address == "*@build.inbox.example"
        _send(container, "signup-4711@build.inbox.example", "482913")

        assert inbox.wait_for_email().recipients == ["signup-4711@build.inbox.example"]


def test_an_application_in_another_container_reaches_it_by_its_alias() -> None:
    with (
        Network() as network,
        TempinboxContainer()
        .with_env("TEMPINBOX_CAPTURE_HOST", "mail")
        .with_network(network)
        .with_network_aliases("mail") as container,
        container.client() as client,
        client.with_inbox(capture=True) as inbox,
        DockerContainer(container.image, entrypoint="/usr/bin/sleep")
        .with_command("600")
        .with_network(network) as neighbor,
    ):
        assert inbox.capture
        user, password = inbox.capture.user, inbox.capture.password
        assert inbox.capture.url == f"smtp://{user}:{password}@mail:1025"
        smoke = "tempinboxctl smoke --api=http://mail:8080 --smtp=mail:2525 --api-key-file=/tmp/key"
        script = f"echo {container.api_key} >/tmp/key && {smoke}"

        done = neighbor.exec(["bash", "-c", script])

        assert done.exit_code == 0, done.output.decode()
        assert "smoke test passed" in done.output.decode()


def test_its_client_may_be_awaited() -> None:
    async def make_inbox(container: TempinboxContainer) -> str:
        async with container.async_client() as client, client.with_inbox() as inbox:
            return inbox.email_address

    with TempinboxContainer() as container:
        assert asyncio.run(make_inbox(container)).endswith("@inbox.example")


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
                addresses = {each.email_address for each in client.list_inboxes()}
                # A mail domain's operator has two.
                assert addresses - _OPERATOR == {inbox.email_address}


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
