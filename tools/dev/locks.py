"""Lets one ./dev at a time do what would undo another's work."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from dev.terminal import fail


@contextlib.contextmanager
def exclusively(path: Path, otherwise: str) -> Iterator[None]:
    """Holds the lock file; where another process holds it, fails with the explanation.

    It ends with its process, however that ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            fail(otherwise)
        yield


@contextlib.contextmanager
def in_turn(path: Path) -> Iterator[None]:
    """Holds the lock file once whoever holds it is done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
