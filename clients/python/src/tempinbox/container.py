"""The whole service in one container, started by the tests that use it.

Needs the extra testcontainers.
"""

import os
from functools import cached_property
from typing import Any

try:
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.wait_strategies import LogMessageWaitStrategy
except ImportError as missing:
    raise ImportError(
        "tempinbox.container needs testcontainers 4.13 or later: install temporary-inbox with its "
        "extra testcontainers"
    ) from missing

from tempinbox import AsyncTempinbox, Tempinbox, __version__
from tempinbox.errors import ConfigurationError, TempinboxError

# Images write versions as the project does, Python's packages as PEP 440 has it.
DEFAULT_IMAGE = f"localhost/tempinbox/all-in-one:{__version__.replace('.dev0', '-dev')}"
_API_PORT, _SMTP_PORT, _SUBMISSION_PORT = 8080, 2525, 1025
_KEY_FILE = "/var/lib/tempinbox/api-key"
_READY = '"service":"all-in-one","msg":"ready"'
_MAX_START_SECONDS = 600


class TempinboxContainer(DockerContainer):
    """A container with the service, its database and its broker, for tests alone.

    Docker chooses its name and its ports, so any number of them run side by side. `image` is
    that of `./dev image all-in-one` unless it is given here or in TEMPINBOX_IMAGE; `more` is what
    DockerContainer takes. Raises TimeoutError where the service is not ready after `timeout`
    seconds, and RuntimeError where it ended before. Use it in a `with` block.
    """

    def __init__(self, image: str | None = None, *, timeout: int = 120, **more: Any) -> None:
        if not 1 <= timeout <= _MAX_START_SECONDS:
            raise ConfigurationError(
                f"timeout must be from 1 to {_MAX_START_SECONDS} seconds, not {timeout!r}"
            )
        super().__init__(image or os.environ.get("TEMPINBOX_IMAGE") or DEFAULT_IMAGE, **more)
        self.with_exposed_ports(_API_PORT, _SMTP_PORT, _SUBMISSION_PORT)
        ready = LogMessageWaitStrategy(_READY).with_startup_timeout(timeout)
        self.waiting_for(ready.with_poll_interval(0.5))

    @property
    def base_url(self) -> str:
        """The API's address, as it is reached from here."""
        return f"http://{self.get_container_host_ip()}:{self.get_exposed_port(_API_PORT)}"

    @property
    def smtp(self) -> tuple[str, int]:
        """Host and port that take mail without TLS, as they are reached from here."""
        return self.get_container_host_ip(), self.get_exposed_port(_SMTP_PORT)

    @property
    def submission(self) -> tuple[str, int]:
        """Host and port that take mail to anybody with the user and password of a capture, without
        TLS, as they are reached from here. `capture.host` and its ports are the container's own.
        """
        return self.get_container_host_ip(), self.get_exposed_port(_SUBMISSION_PORT)

    @cached_property
    def api_key(self) -> str:
        """A key of the account that the container has, on the plan premium."""
        done = self.exec(["cat", _KEY_FILE])
        if done.exit_code != 0:
            raise TempinboxError(f"the container has no {_KEY_FILE}: is it the image all-in-one?")
        return done.output.decode().strip()

    def client(self, *, timeout: float = 30) -> Tempinbox:
        """Makes a client of the service."""
        return Tempinbox(base_url=self.base_url, api_key=self.api_key, timeout=timeout)

    def async_client(self, *, timeout: float = 30) -> AsyncTempinbox:
        """Makes one that is awaited."""
        return AsyncTempinbox(base_url=self.base_url, api_key=self.api_key, timeout=timeout)
