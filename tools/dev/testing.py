"""`./dev test`: builds and runs the tiers, each against what it needs, and sums what passed and
failed.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dev import (
    build,
    check,
    dashboard,
    fuzzing,
    node_packages,
    packages,
    places,
    python_packages,
    services,
    suite_env,
)
from dev.locks import exclusively
from dev.running import stop_on_signals
from dev.suite import Suite, Wishes
from dev.supervision import crashes
from dev.tally import Tally, of_catch2, of_junit, of_node
from dev.terminal import Failure, fail, heading, item, paint, say

_PATIENCE_SECONDS = {"unit": 600, "integration": 900, "e2e": 1200, "browser": 1200}


@dataclass(frozen=True)
class Run:
    """How one tier is to be run."""

    preset: str
    arguments: list[str] = field(default_factory=list)


def _folder(tier: str, preset: str) -> Path:
    return places.build_folder(preset) / "test" / tier


def _run_program(tier: str, command: list[str], environment: dict[str, str]) -> tuple[str, int]:
    """Runs a test program, shows and returns its output; kills it with all its children when it
    takes too long.
    """
    # A group of its own, so that what it started ends with it.
    process = subprocess.Popen(
        command,
        cwd=places.ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )

    def end() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    patience = threading.Timer(_PATIENCE_SECONDS[tier], end)
    patience.start()
    lines = []
    try:
        assert process.stdout
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line)
        process.wait()
    finally:
        patience.cancel()
        end()
        process.wait()
    if process.returncode == -signal.SIGKILL:
        say(f"{tier}: killed, perhaps after {_PATIENCE_SECONDS[tier]} s")
    return "".join(lines), process.returncode


def _sanitizer_options() -> dict[str, str]:
    known_leaks = places.ROOT / "tests" / "lsan.supp"
    return {
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "LSAN_OPTIONS": f"suppressions={known_leaks}:print_suppressions=0",
    }


def _run_unit(run: Run) -> Tally:
    program = places.program(run.preset, "unit_tests")
    output, code = _run_program(
        "unit", [str(program), *run.arguments], places.clean_environment() | _sanitizer_options()
    )
    return of_catch2(output, code)


@contextlib.contextmanager
def own_suite(tier: str, preset: str) -> Iterator[Suite]:
    """A suite that exists for one tier or run: ends with it, also when this process is killed, and
    leaves its logs.

    Fails at the end where a process crashed: it is started again at once, so nobody may have
    noticed.
    """
    folder = _folder(tier, preset)
    with exclusively(
        folder.with_suffix(".lock"), f"another {tier} run of ./dev is under way in this checkout"
    ):
        suite = Suite(folder)
        suite.down(wipe=True)  # what a run that was killed left behind
        kept = folder.with_suffix(".logs")
        shutil.rmtree(kept, ignore_errors=True)
        try:
            yield suite
        finally:
            suite.down(wipe=True, keep_logs_in=kept)
        if crashed := crashes(kept):
            fail(f"{', '.join(crashed)}; see {kept}")


def _run_integration(run: Run) -> Tally:
    with own_suite("integration", run.preset) as suite:
        # Crashes of processes are tested here, crashes of machines are not: writing to disk would
        # only slow the making of databases.
        suite.start_infrastructure(Wishes(sync_to_disk=False), outlives_caller=False)
        environment = places.clean_environment() | _sanitizer_options()
        environment |= {
            "TEMPINBOX_TEST_DATABASE": suite.server.dsn("postgres"),
            "TEMPINBOX_TEST_KAFKA": suite.cluster.brokers,
        }
        program = places.program(run.preset, "integration_tests")
        output, code = _run_program("integration", [str(program), *run.arguments], environment)
        return of_catch2(output, code)


def _run_e2e(run: Run) -> Tally:
    python = python_packages.python()
    node = node_packages.ensure(places.ROOT / "tests" / "e2e" / "node")
    with own_suite("e2e", run.preset) as suite:
        wishes = Wishes(
            preset=run.preset, replicas=",".join(f"{service}=2" for service in services.SERVICES)
        )
        suite.start_infrastructure(wishes, outlives_caller=False)
        suite.start_services(wishes)
        environment = node | suite_env.variables(suite) | {places.SUITE_VARIABLE: str(suite.folder)}
        environment["PYTHONPATH"] = str(
            places.ROOT / "tools"
        )  # what ./dev is made of, for the harness
        report = suite.folder.with_suffix(".xml")
        report.unlink(missing_ok=True)
        command = [
            str(python),
            "-B",
            "-m",
            "pytest",
            str(places.ROOT / "tests" / "e2e"),
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
        ]
        _, code = _run_program("e2e", [*command, *run.arguments], environment)
        tally = of_junit(report, code)
        if tally.failed:
            item("logs", f"{suite.folder.with_suffix('.logs')}")
        return tally


def _run_browser(run: Run) -> Tally:
    folder = places.ROOT / "tests" / "browser"
    dashboard.build()  # the mail-html tests build with its packages
    environment = node_packages.ensure(folder)
    with own_suite("browser", run.preset) as suite:
        wishes = Wishes(preset=run.preset, replicas="gateway=2")
        suite.start_infrastructure(wishes, outlives_caller=False)
        suite.start_services(wishes)
        shots = suite.folder.with_suffix(".screenshots")
        shutil.rmtree(shots, ignore_errors=True)
        environment |= suite_env.variables(suite) | {
            places.SUITE_VARIABLE: str(suite.folder),
            "TEMPINBOX_SCREENSHOTS": str(shots),
        }
        report = suite.folder.with_suffix(".xml")
        report.unlink(missing_ok=True)
        reporters = [
            "--test-reporter=spec",
            "--test-reporter-destination=stdout",
            "--test-reporter=junit",
            f"--test-reporter-destination={report}",
        ]
        options = [argument for argument in run.arguments if argument.startswith("-")]
        words = [argument for argument in run.arguments if not argument.startswith("-")] or [""]
        files = [
            str(path)
            for path in sorted(folder.glob("*_test.mjs"))
            if any(word in path.name for word in words)
        ]
        _, code = _run_program(
            "browser",
            ["node", "--test", "--test-concurrency=1", *reporters, *options, *files],
            environment,
        )
        item("screenshots", str(shots))
        return of_node(report, code)


TIERS: dict[str, tuple[Callable[[Run], Tally], list[str]]] = {
    "unit": (_run_unit, ["unit_tests"]),
    "integration": (_run_integration, ["integration_tests"]),
    "e2e": (_run_e2e, services.PROGRAMS),
    "browser": (_run_browser, services.PROGRAMS),
}


def run(tiers: list[str], preset: str, *, is_ci: bool, builds: bool, arguments: list[str]) -> int:
    """Runs the tiers and prints the closing line; the exit code is 0 when something ran and nothing
    failed.
    """
    stop_on_signals()
    wanted = tiers or list(TIERS)
    for tier in wanted:
        if tier not in TIERS:
            fail(f"no tier is called {tier}; there are: {', '.join(TIERS)}")
    if arguments and len(wanted) != 1:
        fail("--only needs exactly one tier")
    total = Tally()
    try:
        packages.ensure("build", "run", "test", *(["check", "fuzz"] if is_ci else []))
        if builds:
            build.build(preset, [target for tier in wanted for target in TIERS[tier][1]])
            if "e2e" in wanted:
                dashboard.build()
        if is_ci:
            total.add(check.tally([], everything=False))
        for tier in wanted:
            total.add(_attempt(tier, Run(preset, arguments)))
        if is_ci:
            total.add(_under_sanitizers())
            total.add(_fuzzed())
    except Failure as problem:
        say(paint("error: ", "red") + str(problem))
        total.failed += 1
    except KeyboardInterrupt:
        say("interrupted")
        total.failed += 1
    say()
    if total.passed + total.failed == 0:
        say("no test ran")
    say(str(total))
    return 0 if total.is_good() else 1


def _attempt(tier: str, how: Run) -> Tally:
    """One tier; what keeps it from running counts as a failure and the others go on."""
    heading(f"Tests: {tier} ({how.preset})")
    try:
        tally = TIERS[tier][0](how)
    except Failure as problem:
        say(paint("error: ", "red") + str(problem))
        tally = Tally(failed=1)
    if tally.passed + tally.failed == 0:
        say(f"{tier}: no test ran")
        tally.failed = 1
    item(tier, str(tally))
    return tally


def _under_sanitizers() -> Tally:
    build.build("asan", TIERS["unit"][1])
    return _attempt("unit", Run("asan"))


def _fuzzed() -> Tally:
    build.build(fuzzing.PRESET, ["fuzzers"])
    # From one seed: what breaks is the change, not the luck of the run.
    return fuzzing.tally(fuzzing.targets(), fuzzing.SECONDS, seed=1)
