"""Waiting for a condition, never for a time."""

import time
from collections.abc import Callable

from dev.waiting import Answer, wait_until


def eventually(look: Callable[[], Answer | None], what: str, seconds: float = 30.0) -> Answer:
    """The first true answer of `look`; a TimeoutError with `what` and the last answer when the
    seconds pass before.
    """
    return wait_until(look, time.monotonic() + seconds, f"{what}, within {seconds} s")
