"""Waiting for a condition, never for a time."""

import threading
import time
from collections.abc import Callable

_BETWEEN_LOOKS_SECONDS = 0.05


def wait_until(
    condition: Callable[[], bool],
    deadline: float,
    what: str,
    every: float = _BETWEEN_LOOKS_SECONDS,
) -> None:
    """Returns once the condition holds, which is looked at once at least.

    `deadline` is a moment of `time.monotonic()`; past it a TimeoutError says `what` did not come.
    """
    pause = threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not in time: {what}")
        pause.wait(every)
