"""Waiting for a condition, never for a time."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
_BETWEEN_LOOKS_SECONDS = 0.05


def eventually(look: Callable[[], Answer | None], what: str, seconds: float = 15.0) -> Answer:
    """The first true answer of `look`; fails with `what` and the last answer when the deadline
    passes before.
    """
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not (answer := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}; last seen: {answer!r}")
        pause.wait(_BETWEEN_LOOKS_SECONDS)
    return answer
