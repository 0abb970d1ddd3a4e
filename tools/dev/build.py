"""Configuring and building with CMake's presets."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import deque

from dev import paths
from dev.terminal import fail, heading, say

RELEASE, SANITIZE = "release", "sanitize"
EACH_SOURCE = "tidy"  # a compile command for each source; nothing but headers is built
FUZZERS = "fuzzers"  # the target that is all programs of tests/fuzz
PRESETS = [RELEASE, "dev", SANITIZE, "tsan"]  # `gcc-warnings` makes nothing that may be run
_SHOWN_LINES = 60
_STEP = re.compile(r"^\[(\d+)/(\d+)\] ")
_LONG_BUILD_STEPS = 50
_FIRST_ESTIMATE_SECONDS = 20  # the precompiled header is one step of these, and nothing goes beside
_LOG_INTERVAL_SECONDS = 20.0
_SCREEN_INTERVAL_SECONDS = 0.2


def package_groups(preset: str) -> list[str]:
    """The groups of packages.txt that building it needs."""
    return ["build"] if preset in (RELEASE, "dev") else ["build", "sanitize"]


def build(preset: str, targets: list[str]) -> None:
    """Configures and builds targets of a preset; everything when none is named.

    Interrupted, it leaves what is done, and the next build goes on from there.
    """
    heading(f"Building ({preset})")
    _configure(preset)
    command = ["ninja", "-C", str(paths.build_folder(preset)), *targets]
    if run_steps(command) != 0:
        fail(f"the build failed: {' '.join(command)}")


def _configure(preset: str) -> None:
    done = subprocess.run(
        ["cmake", "--preset", preset], cwd=paths.ROOT, capture_output=True, text=True
    )
    if done.returncode != 0:
        fail("CMake could not configure:\n" + done.stdout[-3000:] + done.stderr)


def run_steps(command: list[str]) -> int:
    """Runs a ninja and returns its exit code; shows how far it is, and its last lines if it
    fails.
    """
    recent: deque[str] = deque(maxlen=_SHOWN_LINES)
    progress = Progress(time.monotonic(), on_screen=sys.stdout.isatty())
    with subprocess.Popen(
        command,
        cwd=paths.ROOT,
        env=os.environ | {"NINJA_STATUS": "[%f/%t] "},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as building:
        assert building.stdout
        try:
            for line in building.stdout:
                recent.append(line)
                progress.show(line)
        except KeyboardInterrupt:
            # Deletes what is half written. From a terminal it has the signal already.
            building.send_signal(signal.SIGINT)
            building.wait()
            raise
        finally:
            progress.end()
    if building.returncode != 0:
        print("".join(recent), flush=True)
    return building.returncode


class Progress:
    """Shows which step of how many a build is at, and about how long the rest takes: on a screen
    in one line that changes, in a log now and then.
    """

    def __init__(self, started: float, *, on_screen: bool) -> None:
        self._started = started
        self._shown = started - _LOG_INTERVAL_SECONDS
        self._on_screen = on_screen
        self._has_said_length = False

    def show(self, line: str, now: float | None = None) -> None:
        """Reads a line of ninja's."""
        step = _STEP.match(line)
        if not step:
            return
        now = time.monotonic() if now is None else now
        done, total = int(step[1]), int(step[2])
        if total >= _LONG_BUILD_STEPS and not self._has_said_length:
            self._has_said_length = True
            say(f"  {total} steps; should it be interrupted, the next ./dev goes on from there")
        interval = _SCREEN_INTERVAL_SECONDS if self._on_screen else _LOG_INTERVAL_SECONDS
        if now - self._shown < interval:
            return
        self._shown = now
        text = f"  {done} of {total}, {time_left(done, total, now - self._started)}"
        if self._on_screen:
            print(f"\r\x1b[K{text}", end="", flush=True)
        else:
            say(text)

    def end(self) -> None:
        """Takes the line away."""
        if self._on_screen:
            print("\r\x1b[K", end="", flush=True)


def time_left(done: int, total: int, elapsed: float) -> str:
    """Says how long the rest of a build takes if its steps take as long as those before."""
    if done == 0 or elapsed < _FIRST_ESTIMATE_SECONDS:
        return f"{elapsed:.0f} s so far"
    left = elapsed * (total - done) / done
    return f"about {round(left / 60)} min left" if left >= 90 else f"about {round(left)} s left"
