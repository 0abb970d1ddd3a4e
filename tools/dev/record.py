"""Holds what a suite remembers between two starts: ports, replicas, passwords, the demo account and
its capture. It lies in suite.json in the data folder.
"""

import json
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dev.terminal import fail

_FILE = "suite.json"


@dataclass
class Account:
    """The demo account. Without a password it cannot sign in to the dashboard."""

    account_id: str
    email: str
    api_key: str
    password: str = ""


@dataclass
class Capture:
    """The login of a capture inbox of the demo account's."""

    user: str
    password: str


@dataclass
class Record:
    """All of it. Holds secrets: the file is for its owner only."""

    domain: str
    preset: str = "release"
    brokers: int = 1
    postgres_data: str = ""
    postgres_password: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    ports: dict[str, int] = field(default_factory=dict)
    replicas: dict[str, int] = field(default_factory=dict)
    starttls: bool = False
    account: Account | None = None
    capture: Capture | None = None

    def save(self, suite: Path) -> None:
        """Replaces the file in one step."""
        partial = suite / (_FILE + ".partial")
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        partial.replace(suite / _FILE)


def find(suite: Path) -> Record | None:
    """Returns the record of the folder; None in a new one."""
    try:
        text = (suite / _FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        values = json.loads(text)
        if values["account"]:
            values["account"] = Account(**values["account"])
        if values.get("capture"):
            values["capture"] = Capture(**values["capture"])
        return Record(**values)
    except (ValueError, KeyError, TypeError) as problem:
        fail(f"{suite / _FILE} cannot be read ({problem!r}); ./dev down --wipe starts anew")
