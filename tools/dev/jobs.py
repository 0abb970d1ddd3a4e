"""Work that runs side by side: each job is a ./dev of its own, its output shown when it ends."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from dev import paths
from dev.tally import Tally
from dev.terminal import heading, item, say

# A line that names what failed, as Catch2, pytest, node's runner, a compiler and ./dev write it.
_FAILURE = re.compile(
    r": FAILED:|^FAILED |^ERROR |^not ok |^\s*✖ | not good$|^FAILED: |\berror: |: not run, since "
    r"|ERROR: \w+Sanitizer|^#\d+ 0x[0-9a-f]+ in .*/(?:libs|services|tests)/|^SUMMARY: "
    r"|: ended before its closing line|: killed, "
)
_SHOWN_FAILURES = 20  # of one job
_SHOWN_CHARACTERS = 300  # of a line
_CLOSING_LINE = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")


@dataclass(frozen=True)
class Job:
    """One ./dev with these arguments. It starts when the jobs it is `after` have ended well."""

    name: str
    arguments: list[str]
    after: list[str] = field(default_factory=list)
    is_background: bool = False  # keeps every core busy, so it gets what the others leave
    counts: bool = True  # its closing line says what passed and failed; a build has none
    minutes: float | None = None  # that it takes beside the others, where somebody waits for it


@dataclass
class Result:
    """The outcome of one job."""

    seconds: float
    tally: Tally
    failures: list[str] = field(default_factory=list)  # what failed, a line each


class Board:
    """Runs jobs in their order, `workers` at a time; background jobs beside them, one at a time, at
    the lowest priority. Of what `brief` jobs say, only those that failed show more than their last
    line.
    """

    def __init__(self, jobs: list[Job], logs: Path, workers: int, *, brief: bool = False) -> None:
        self._logs = logs
        self._workers = workers
        self._brief = brief
        self._results: dict[str, Result] = {}
        self._waiting = list(jobs)
        self._changed = threading.Condition()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_stopped = False

    def run(self) -> dict[str, Result]:
        """Returns when every job has ended; on KeyboardInterrupt ends what runs and passes it
        on.
        """
        self._logs.mkdir(parents=True, exist_ok=True)
        background = [True] + [False] * self._workers
        threads = [threading.Thread(target=self._work, args=(which,)) for which in background]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            self._stop()
            raise
        finally:
            for thread in threads:
                thread.join()
        return self._results

    def _stop(self) -> None:
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
            for process in self._running:
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGTERM)

    def _work(self, is_background: bool) -> None:
        while job := self._next(is_background):
            started = time.monotonic()
            tally, output = self._attempt(job)
            failures = read_failures(output) if tally.failed else []
            result = Result(time.monotonic() - started, tally, failures)
            with self._changed:
                self._show(job, result, output)
                self._results[job.name] = result
                self._changed.notify_all()

    def _next(self, is_background: bool) -> Job | None:
        """The first job of this kind that may start; waits for one. None when none is left."""
        with self._changed:
            while not self._is_stopped:
                mine = [job for job in self._waiting if job.is_background == is_background]
                if not mine:
                    return None
                ready = [job for job in mine if all(name in self._results for name in job.after)]
                if ready:
                    self._waiting.remove(ready[0])
                    return ready[0]
                self._changed.wait()
            return None

    def _attempt(self, job: Job) -> tuple[Tally, str]:
        """Runs it, or says why not; returns its output as well."""
        with self._changed:
            broken = [name for name in job.after if self._results[name].tally.failed]
        if broken:
            return Tally(failed=1), f"{job.name}: not run, since {' and '.join(broken)} failed"
        log = self._logs / f"{job.name.replace(' ', '-')}.log"
        with log.open("wb") as output, self._started(job, output) as process:
            code = process.wait()
        text = log.read_text(encoding="utf-8", errors="replace").rstrip()
        return read_tally(text, code, job.counts), text

    def _show(self, job: Job, result: Result, output: str) -> None:
        if not self._brief or result.tally.failed:
            heading(f"===== {job.name} =====")
            say(output)
        else:
            item(job.name, f"{duration(result.seconds)}   {result.tally if job.counts else 'done'}")

    @contextmanager
    def _started(self, job: Job, output: IO[bytes]) -> Iterator["subprocess.Popen[bytes]"]:
        command = [sys.executable, "-B", "-m", "dev", *job.arguments]
        if job.is_background:
            command = ["nice", "-n", "19", *command]
        process = subprocess.Popen(
            command,
            cwd=paths.ROOT,
            env=os.environ | {"PYTHONPATH": paths.PYTHON_PATH},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        with self._changed:
            self._running.add(process)
        expected = f" (about {job.minutes:g} min)" if job.minutes else ""
        say(f"  {job.name} ...{expected}")
        try:
            yield process
        finally:
            with self._changed:
                self._running.discard(process)


def read_tally(output: str, exit_code: int, counts: bool) -> Tally:
    """Reads the closing line of a ./dev; one that ended without, or badly, counts as a failure."""
    found = _CLOSING_LINE.match(output.rstrip().rsplit("\n", 1)[-1]) if counts else None
    tally = Tally(*(int(number or 0) for number in found.groups())) if found else Tally()
    if tally.failed == 0 and (exit_code != 0 or (counts and tally.passed == 0)):
        tally.failed = 1
    return tally


def read_failures(output: str) -> list[str]:
    """Reads the lines that name what failed, each once; of an output without any, its last ones."""
    lines = [line.strip()[:_SHOWN_CHARACTERS] for line in output.splitlines() if line.strip()]
    named = list(dict.fromkeys(line for line in lines if _FAILURE.search(line)))
    return named[:_SHOWN_FAILURES] or lines[-5:]


def what_failed(results: dict[str, Result]) -> str:
    """Returns the failures of every job, for whoever has only the end of a long output."""
    return "\n".join(
        f"  {name:<20} {line}" for name, result in results.items() for line in result.failures
    )


def table(results: dict[str, Result]) -> str:
    """Returns a table of what each job took, the longest first."""
    rows = sorted(results.items(), key=lambda entry: -entry[1].seconds)
    return "\n".join(
        f"  {name:<20} {duration(result.seconds)}   {result.tally}" for name, result in rows
    )


def duration(seconds: float) -> str:
    """Minutes and seconds, in columns."""
    return f"{int(seconds) // 60:>3} min {int(seconds) % 60:>2} s"
