"""The consumers of a chaos run: the three of examples/consumers, killed in the middle of their work
and started again with what they had stored.
"""

import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from dev.example_consumers import LANGUAGES, ExampleConsumer, dead_letter_topic
from dev.terminal import fail, say
from dev.waiting import delay_until, wait_until

_BETWEEN_KILLS_SECONDS = 8.0
_DOWN_SECONDS = 2.0  # meanwhile work piles up
_KILLS = 2  # as its work comes, then in what has piled up
# Between two transactions at most: what is killed is at work on a batch, has stored it, or has
# committed its offsets.
_CYCLE_SECONDS = 0.6
_GOING_ON_SECONDS = 120.0


def group(language: str) -> str:
    """The consumer group of one."""
    return f"chaos-{language}"


def dead_letter_topics() -> list[str]:
    """Returns the topics of all of them."""
    return [dead_letter_topic(group(language)) for language in LANGUAGES]


@contextlib.contextmanager
def running(brokers: str, folder: Path) -> Iterator[list[ExampleConsumer]]:
    """All three, with fresh files in the folder; ends them."""
    folder.mkdir()
    with contextlib.ExitStack() as started:
        yield [
            started.enter_context(ExampleConsumer(brokers, language, group(language), folder))
            for language in LANGUAGES
        ]


def kill_again_and_again(
    consumer: ExampleConsumer,
    seed: int,
    began: float,
    goes_on: Callable[[], bool],
    counts: Counter[str],
) -> list[str]:
    """Returns when the run is over; answers how it ended by itself, if it did: it is started
    again.
    """
    delays = random.Random(f"{seed} {consumer.language}")  # noqa: S311 - the same for the same seed
    ended: list[str] = []
    while goes_on():
        for _ in range(_KILLS):
            _wait_at_work(consumer, goes_on)
            delay_until(time.monotonic() + delays.uniform(0.0, _CYCLE_SECONDS))
            if end := consumer.ended_by_itself():
                ended.append(end)
            consumer.kill()
            counts[f"{consumer.language} SIGKILL"] += 1
            say(f"  {time.monotonic() - began:5.1f} s  {consumer.language}: SIGKILL")
            delay_until(time.monotonic() + _DOWN_SECONDS)
            consumer.start()
        delay_until(time.monotonic() + _BETWEEN_KILLS_SECONDS)
    return ended


def _wait_at_work(consumer: ExampleConsumer, goes_on: Callable[[], bool]) -> None:
    """It has just stored something, or has ended."""
    known = consumer.printed()
    try:
        wait_until(
            lambda: consumer.printed() > known or consumer.ended_by_itself() or not goes_on(),
            time.monotonic() + _GOING_ON_SECONDS,
            "it stores events",
        )
    except TimeoutError:
        fail(f"the consumer in {consumer.language} stored nothing in {_GOING_ON_SECONDS:.0f} s")
