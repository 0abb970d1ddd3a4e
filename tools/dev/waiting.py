"""Waiting: for a condition with a deadline, or for the next beat of a load."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
_BETWEEN_LOOKS_SECONDS = 0.05


def wait_until(
    condition: Callable[[], Answer | None],
    deadline: float,
    what: str,
    every: float = _BETWEEN_LOOKS_SECONDS,
) -> Answer:
    """The first true answer of the condition, which is looked at once at least.

    `deadline` is a moment of `time.monotonic()`; past it a TimeoutError says `what` did not come.
    """
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(_lacking(what, answer))
        delay_until(time.monotonic() + every)
    return answer


async def wait_until_async(
    condition: Callable[[], Answer | None],
    deadline: float,
    what: str,
    every: float = _BETWEEN_LOOKS_SECONDS,
) -> Answer:
    """`wait_until` for a coroutine: the event loop runs on between the looks."""
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(_lacking(what, answer))
        await asyncio.sleep(every)
    return answer


def delay_until(moment: float) -> None:
    """Returns at this moment of `time.monotonic()`, for loads and faults that keep a rhythm."""
    threading.Event().wait(max(0.0, moment - time.monotonic()))


def _lacking(what: str, answer: object) -> str:
    seen = "" if answer is None or answer is False else f"; last seen: {answer!r}"
    return f"not in time: {what}{seen}"
