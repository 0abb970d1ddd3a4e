"""Load and faults of a chaos run, side by side."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed


def run_all(work: Sequence[Callable[[], object]], end: Callable[[], None]) -> None:
    """Each in a thread of its own; returns when all are done. What fails first makes `end` end the
    others, and is passed on.
    """
    with ThreadPoolExecutor(len(work)) as pool:
        try:
            for task in as_completed([pool.submit(each) for each in work]):
                task.result()
        except BaseException:
            end()
            raise
