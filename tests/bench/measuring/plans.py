"""Other numbers for a plan of the running suite."""

import functools
import os
import re
import subprocess
import time
import urllib.request
from pathlib import Path

from dev.waiting import wait_until

_ROOT = Path(__file__).resolve().parents[3]
_KNOWN = re.compile(r"^tempinbox_gateway_key_change_version(?:\{[^}]*\})? (\S+)$", re.MULTILINE)
_TIMEOUT_SECONDS = 10.0


def set_numbers(plan: str, **numbers: int) -> None:
    """Changes a plan as `tempinboxctl plan set` does (requests_per_day=5 for --requests-per-day 5);
    returns when every gateway goes by them.
    """
    options = [
        part
        for name, number in numbers.items()
        for part in ("--" + name.replace("_", "-"), str(number))
    ]
    subprocess.run(
        [str(_ROOT / "dev"), "ctl", "plan", "set", plan, *options],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    query = [
        "psql",
        "-XAtq",
        "-d",
        os.environ["TEMPINBOX_DATABASE"],
        "-c",
        "SELECT version FROM accounts.changes",
    ]
    version = int(subprocess.run(query, capture_output=True, text=True, check=True).stdout)
    wait_known(
        version,
        [
            value
            for name, value in os.environ.items()
            if re.fullmatch(r"TEMPINBOX_GATEWAY_\d+_ADMIN", name)
        ],
    )


def wait_known(version: int, gateways: list[str], seconds: float = _TIMEOUT_SECONDS) -> None:
    """Waits until the gateways behind these admin addresses have read all changes of accounts and
    plans up to the version.
    """
    deadline = time.monotonic() + seconds
    for address in gateways:
        knows = functools.partial(_knows, address, version)
        wait_until(knows, deadline, f"gateway {address} knows of change {version}")


def _knows(gateway: str, version: int) -> bool:
    return known_version(gateway) >= version


def known_version(gateway: str) -> int:
    """Returns how far a gateway has read the changes; -1 before its first look."""
    with urllib.request.urlopen(f"http://{gateway}/metrics", timeout=5) as answer:
        found = _KNOWN.search(answer.read().decode())
    return int(float(found[1])) if found else -1
