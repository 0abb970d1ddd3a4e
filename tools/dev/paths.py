"""The paths of the checkout, of the cache outside it, and of a suite's data folder."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The modules of ./dev, and the packages of tests/ that its verbs run.
PYTHON_PATH = f"{ROOT / 'tools'}:{ROOT / 'tests'}"
# The same with the harness of the end-to-end tests, for programs that run with its packages.
HARNESS_PYTHON_PATH = f"{PYTHON_PATH}:{ROOT / 'tests' / 'e2e'}"
# Names the data folder: a default for every verb, and the mark on every process of a suite.
SUITE_VARIABLE = "TEMPINBOX_DEV_SUITE"


def cache(name: str) -> Path:
    """A folder of the user's cache, made when it is missing; what is in it can be brought again."""
    top = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(top) / "tempinbox" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def default_suite_folder() -> Path:
    """The data folder a verb means when --data is not given."""
    named = os.environ.get(SUITE_VARIABLE)
    return Path(named).resolve() if named else ROOT / ".run"


def build_folder(preset: str) -> Path:
    """Returns the folder in which CMake builds a preset."""
    return ROOT / "build" / preset


def program(preset: str, name: str) -> Path:
    """A built program."""
    return build_folder(preset) / "bin" / name


def clean_environment() -> dict[str, str]:
    """The caller's environment without settings of a suite it may have evaluated `./dev env`
    for.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("TEMPINBOX_")}
