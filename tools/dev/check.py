"""`./dev check`: format, the project's style rules, the figures of its shape, the tools behind
./dev, SQL, schemas, the OpenAPI file, the topics' contract, the clients, the dashboard, Python,
the workflows, clang-tidy. Each part counts as one test.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from dev import (
    dashboard,
    events,
    packages,
    paths,
    python_packages,
    schemas,
    sql_check,
    tidy,
    typescript_client,
    workflows,
)
from dev.tally import Tally
from dev.terminal import Failure, fail, heading, item, paint, say


def cpp_files() -> list[str]:
    """Every C++ file git knows or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.cpp", "*.hpp"]
    listed = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        fail("checks look at what git knows: " + listed.stderr.strip())
    return sorted({name for name in listed.stdout.split() if (paths.ROOT / name).exists()})


def _run(command: list[str], folder: Path = paths.ROOT) -> bool:
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL).returncode == 0


def _check_format(fix: bool) -> bool:
    how = ["-i"] if fix else ["--dry-run", "-Werror", "--ferror-limit=3"]
    return _run(["clang-format-19", *how, *cpp_files()])


def _check_style() -> bool:
    rules = paths.ROOT / "tests" / "style"
    are_right = _run([sys.executable, "-B", "-m", "unittest", "-q", "rules_test"], rules)
    return _run([sys.executable, "-B", str(rules)]) and are_right


def _check_house() -> bool:
    return _run([sys.executable, "-B", str(paths.ROOT / "tests" / "style"), "--house"])


def _check_tools() -> bool:
    command = [
        sys.executable,
        "-B",
        "-m",
        "unittest",
        "discover",
        "-q",
        "-s",
        "tests/tools",
        "-p",
        "*_test.py",
    ]
    environment = {**paths.clean_environment(), "PYTHONPATH": paths.PYTHON_PATH}
    return (
        subprocess.run(
            command, cwd=paths.ROOT, env=environment, stdin=subprocess.DEVNULL
        ).returncode
        == 0
    )


def _check_python(fix: bool) -> bool:
    """Compares the Python client with the contract, then runs ruff for layout and rules, and mypy
    for types; pyproject.toml says what they look at.
    """
    caches = paths.build_folder("python-checks")
    interpreter = python_packages.python(python_packages.CLIENTS, python_packages.CHECKS)
    programs = interpreter.parent
    ruff, known = str(programs / "ruff"), f"--cache-dir={caches / 'ruff'}"
    mypy = [str(programs / "mypy"), f"--cache-dir={caches / 'mypy'}"]
    # All of them, whatever one finds; rules first, since what they fix may need a new layout.
    generator = [
        str(interpreter),
        "-B",
        str(paths.ROOT / "tools" / "generate" / "python_client.py"),
    ]
    found = [
        _run([*generator, *([] if fix else ["--check"])]),
        _run([ruff, "check", known, *(["--fix"] if fix else [])]),
        _run([ruff, "format", known, *([] if fix else ["--check"])]),
        _run(mypy),
        # The client also runs on the oldest Python that its pyproject.toml names.
        _run([*mypy, "--python-version=3.10", "clients/python/src"]),
    ]
    return all(found)


PARTS = ["format", "style", "house", "tools", "sql", "schemas", "openapi", "events"]
PARTS += ["clients", "dashboard", "python", "workflows", "tidy"]


def tally(parts: list[str], everything: bool, fix: bool, server: str | None) -> Tally:
    """Runs the parts (all when none is named) and counts them."""
    checks: dict[str, Callable[[], bool]] = {
        "format": lambda: _check_format(fix),
        "style": _check_style,
        "house": _check_house,
        "tools": _check_tools,
        "sql": lambda: sql_check.check(server),
        "schemas": schemas.check,
        "openapi": schemas.check_openapi,
        "events": lambda: events.check(fix),
        "clients": lambda: typescript_client.check(fix),
        "dashboard": lambda: dashboard.check(fix),
        "python": lambda: _check_python(fix),
        "workflows": workflows.check,
        "tidy": lambda: tidy.check(cpp_files(), everything),
    }
    total = Tally()
    for part in parts or PARTS:
        if part not in checks:
            fail(f"no check is called {part}; there are: {', '.join(PARTS)}")
        heading(f"Check: {part}")
        try:
            is_good = checks[part]()
        except Failure as problem:
            say(paint("error: ", "red") + str(problem))
            is_good = False
        total.add(Tally(passed=int(is_good), failed=int(not is_good)))
        item(part, paint("good", "green") if is_good else paint("not good", "red"))
    return total


def run(parts: list[str], everything: bool, fix: bool, server: str | None) -> int:
    """The verb."""
    packages.ensure("build", "check")
    found = tally(parts, everything, fix, server)
    say(f"\n{found}")
    return 0 if found.is_good() else 1
