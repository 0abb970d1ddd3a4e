"""Configuring and building with CMake's presets."""

import subprocess
import sys
from collections import deque

from dev import paths
from dev.terminal import fail, heading

RELEASE, SANITIZE = "release", "sanitize"
FUZZERS = "fuzzers"  # the target that is all programs of tests/fuzz
PRESETS = [RELEASE, "dev", SANITIZE, "tsan"]  # `gcc-warnings` makes nothing that may be run
_SHOWN_LINES = 60


def package_groups(preset: str) -> list[str]:
    """The groups of packages.txt that building it needs."""
    return ["build"] if preset in (RELEASE, "dev") else ["build", "sanitize"]


def build(preset: str, targets: list[str]) -> None:
    """Configures and builds targets of a preset; everything when none is named."""
    heading(f"Building ({preset})")
    _configure(preset)
    command = ["cmake", "--build", "--preset", preset]
    if targets:
        command += ["--target", *targets]
    if sys.stdout.isatty():
        done = subprocess.run(command, cwd=paths.ROOT).returncode
    else:
        done = _build_quietly(command)
    if done != 0:
        fail(f"the build failed: {' '.join(command)}")


def _configure(preset: str) -> None:
    done = subprocess.run(
        ["cmake", "--preset", preset], cwd=paths.ROOT, capture_output=True, text=True
    )
    if done.returncode != 0:
        fail("CMake could not configure:\n" + done.stdout[-3000:] + done.stderr)


def _build_quietly(command: list[str]) -> int:
    """Shows one progress line in fifty, enough for a log, and the last lines of a failure."""
    recent: deque[str] = deque(maxlen=_SHOWN_LINES)
    with subprocess.Popen(
        command, cwd=paths.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as building:
        assert building.stdout
        for number, line in enumerate(building.stdout):
            recent.append(line)
            if number % 50 == 0:
                print("  " + line.rstrip(), flush=True)
    if building.returncode != 0:
        print("".join(recent), flush=True)
    return building.returncode
