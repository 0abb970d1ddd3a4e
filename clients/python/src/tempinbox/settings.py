"""Reads the service's address and the API key."""

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from tempinbox.errors import ConfigurationError, quoted

MAX_SECONDS = 86_400.0
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True)
class Settings:
    """Complete and sound."""

    base_url: str
    api_key: str
    timeout: float

    @property
    def dashboard(self) -> str:
        """Its address."""
        return f"{self.base_url}/dashboard"

    def __repr__(self) -> str:
        return f"Settings(base_url={self.base_url!r}, api_key='***', timeout={self.timeout!r})"


def read_settings(base_url: str | None, api_key: str | None, timeout: float) -> Settings:
    """Reads and checks them; what is wrong is an error that names both ways to give it."""
    if not is_timeout(timeout):
        raise ConfigurationError(
            f"timeout must be a number above 0 and up to {MAX_SECONDS:.0f}, not {timeout!r}"
        )
    return Settings(
        _read_base_url(_given(base_url, "TEMPINBOX_BASE_URL")),
        _read_api_key(_given(api_key, "TEMPINBOX_API_KEY")),
        timeout,
    )


def is_timeout(seconds: object) -> bool:
    """Returns whether it is a number of seconds up to a day."""
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return is_number and 0 < float(str(seconds)) <= MAX_SECONDS


def _given(value: str | None, variable: str) -> str:
    return os.environ.get(variable, "") if value is None else value


def _read_base_url(text: str) -> str:
    ways = _both_ways("base_url", "TEMPINBOX_BASE_URL")
    if not text:
        raise ConfigurationError(f"The address of the service is missing: {ways}")
    try:
        parts = urlsplit(text)
        is_plain = "@" not in parts.netloc and not parts.query and not parts.fragment
        is_plain = is_plain and text.isascii() and text.isprintable() and " " not in text
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_plain = is_address = False
    if not is_plain or not is_address:
        raise ConfigurationError(
            "The address of the service must be http(s)://host[:port][/path], without user name, "
            f"query and fragment: {ways}"
        )
    found = text.rstrip("/")
    if found.endswith("/v1"):
        raise ConfigurationError(
            f"The address of the service must be without /v1, not {quoted(text)}: {ways}"
        )
    return found


def _read_api_key(text: str) -> str:
    ways = _both_ways("api_key", "TEMPINBOX_API_KEY")
    if not text:
        raise ConfigurationError(
            "The API key is missing: make one in the dashboard under Settings, API Keys, and "
            + ways
        )
    if not _KEY.fullmatch(text):  # the key itself is never in a message
        raise ConfigurationError(
            f"The API key must be 1 to 200 printable ASCII characters without spaces: {ways}"
        )
    return text


def _both_ways(name: str, variable: str) -> str:
    return f"give it as Tempinbox({name}=…) or in the environment variable {variable}"
