"""Benches: programs below tests/, run against the suite unless they say that they need none."""

import os
import subprocess
import tempfile
from pathlib import Path

from dev import charts, packages, paths, suite_env
from dev.suite import Suite
from dev.terminal import fail, item, say

_NEEDS_NO_SUITE = (
    "Needs no suite."  # what a program's first lines say where it asks nothing of a running one
)


def run(
    verb: str, name: str | None, arguments: list[str], suite: Suite, drawn: Path | None = None
) -> int:
    """Runs tests/VERB/NAME with the suite's variables; without a name lists what there is. What the
    program notes is drawn into the file or folder, whether or not its targets are met.
    """
    found = _programs(paths.ROOT / "tests" / verb)
    if not found:
        say(f"there are no {verb} programs: tests/{verb} holds none")
        return 1
    if name is None:
        say("\n".join(found))
        return 0
    if name not in found:
        fail(f"no {verb} program is called {name}; there are: {', '.join(found)}")
    environment = _environment(found[name], suite, arguments)
    command = [str(found[name]), *arguments]
    if drawn is None:
        return subprocess.run(command, env=environment).returncode
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", suffix=".figures") as noted:
        environment[charts.FIGURES_VARIABLE] = noted.name
        code = subprocess.run(command, env=environment).returncode
        figures = charts.read(noted)
    # One that could not measure has said why.
    if figures or code == 0:
        for path in charts.write(figures, drawn, name):
            item("drawn", str(path))
    return code


def _environment(program: Path, suite: Suite, arguments: list[str]) -> dict[str, str]:
    if _needs_no_suite(program):
        return dict(os.environ) | {"PYTHONPATH": paths.PYTHON_PATH}
    if {"-h", "--help"} & {*arguments}:  # what it is for is told without anything that it needs
        return paths.clean_environment() | {"PYTHONPATH": paths.PYTHON_PATH}
    packages.ensure("bench")
    environment = (
        paths.clean_environment()
        | {paths.SUITE_VARIABLE: str(suite.folder)}
        | suite_env.variables(suite)
    )
    environment["PYTHONPATH"] = paths.PYTHON_PATH
    return environment


def _needs_no_suite(program: Path) -> bool:
    return _NEEDS_NO_SUITE in program.read_text(encoding="utf-8", errors="ignore")


def _programs(folder: Path) -> dict[str, Path]:
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    return {path.stem: path for path in files if path.is_file() and os.access(path, os.X_OK)}
