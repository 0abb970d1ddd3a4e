"""A checkout and its built programs: this one, or an older one that is upgraded from."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dev import paths
from dev.terminal import fail


@dataclass(frozen=True)
class Release:
    """The programs that a suite runs."""

    root: Path
    preset: str
    # Names of the environment variables that each program knows; of a program that is not in it, or
    # without any, all are taken for known.
    known: dict[str, frozenset[str]] | None = None

    @property
    def topics(self) -> Path:
        """Its topics, as data."""
        return self.root / "deploy" / "kafka" / "topics.json"

    def program(self, name: str) -> Path:
        """A built program of it."""
        path = self.root / "build" / self.preset / "bin" / name
        return path if path.exists() else fail(f"{path} is not built: ./dev build")

    def environment(self, program: str, requested: dict[str, str]) -> dict[str, str]:
        """Returns the settings that the program knows."""
        known = (self.known or {}).get(program)
        return {name: value for name, value in requested.items() if known is None or name in known}


def this(preset: str) -> Release:
    """The checkout that ./dev belongs to."""
    return Release(paths.ROOT, preset)


def with_known_settings(release: Release, programs: list[str]) -> Release:
    """The release, and what its programs say of the settings they know."""
    known = {name: _settings(release.program(name)) for name in programs}
    return Release(release.root, release.preset, known)


def _settings(program: Path) -> frozenset[str]:
    done = subprocess.run(
        [str(program), "--print-settings"], capture_output=True, text=True, timeout=30
    )
    if done.returncode != 0:
        fail(f"{program} does not print its settings ({done.returncode}): {done.stderr}")
    return frozenset(setting["environment"] for setting in json.loads(done.stdout)["settings"])
