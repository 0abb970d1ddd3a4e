"""`./dev test`: builds and runs the tiers, each against what it needs, and sums what passed and
failed.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from dev import (
    build,
    check,
    dashboard,
    downloads,
    go_toolchain,
    jakarta_mail,
    kafka,
    kubernetes_tools,
    mail_servers,
    node_packages,
    packages,
    paths,
    postgres,
    preflight,
    python_packages,
    services,
    suite_env,
    typescript_client,
)
from dev.jobs import Board, Job, Result, table, what_failed
from dev.locks import exclusively
from dev.running import stop_on_signals
from dev.suite import Suite, SuiteOptions
from dev.supervision import crashes
from dev.tally import Tally, has_catch2_closing, of_catch2, of_junit, of_node
from dev.terminal import Failure, fail, heading, item, paint, say

_TIMEOUT_SECONDS = {
    "unit": 900,
    "integration": 1500,
    "e2e": 3000,
    "browser": 1200,
    "deploy": 600,
    "clients": 1200,
}
_FUZZ_SECONDS = 10
_LAST_LINES = 80  # of a test program that ended early: a sanitizer's report of two threads
_WORKERS = 3  # at a time, of what mostly waits
_ALL_WORKERS = 2  # tiers at a time, in `./dev test` and `--ci`
_E2E = paths.ROOT / "tests" / "e2e"
_BROWSER = paths.ROOT / "tests" / "browser"
_DEPLOY = paths.ROOT / "tests" / "deploy"
_TYPESCRIPT_TESTS = paths.ROOT / "clients" / "typescript" / "tests"
_COMMAND_LINE_TESTS = _TYPESCRIPT_TESTS / "cli"
_CLIENT_TESTS = [
    paths.ROOT / "clients" / "python" / "tests",
    _COMMAND_LINE_TESTS,
    paths.ROOT / "tests" / "quickstarts",
    _TYPESCRIPT_TESTS,
]
_E2E_SUITES = 2
# Parallel runs can be ended from the thread that a signal interrupts.
_interrupted = threading.Event()
_running: set[int] = set()  # process groups


@dataclass(frozen=True)
class Run:
    """The options of one tier's run."""

    preset: str
    arguments: list[str] = field(default_factory=list)
    postgres_programs: Path = postgres.PROGRAMS


def _folder(tier: str, preset: str) -> Path:
    return paths.build_folder(preset) / "test" / tier


def _run_program(tier: str, command: list[str], environment: dict[str, str]) -> tuple[str, int]:
    """Runs a test program, shows and returns its output; kills it with all its children when it
    takes too long.
    """
    if _interrupted.is_set():
        fail("interrupted")
    # A group of its own, so that what it started ends with it.
    process = subprocess.Popen(
        command,
        cwd=paths.ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )

    def end() -> None:
        _kill_group(process.pid)

    _running.add(process.pid)
    timeout = threading.Timer(_TIMEOUT_SECONDS[tier], end)
    timeout.start()
    lines = []
    try:
        assert process.stdout
        for line in process.stdout:
            lines.append(line)
            if not line.startswith("Filters: "):  # Catch2 names every test it was told to run
                sys.stdout.write(line)
                sys.stdout.flush()
        process.wait()
    finally:
        timeout.cancel()
        end()
        process.wait()
        _running.discard(process.pid)
    if process.returncode == -signal.SIGKILL:
        say(f"{tier}: killed, perhaps after {_TIMEOUT_SECONDS[tier]} s")
    return "".join(lines), process.returncode


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _side_by_side(count: int, run_share: Callable[[int], Tally]) -> Tally:
    """Shares 0 to `count` - 1 at a time; an interruption ends their programs first."""
    total = Tally()
    with ThreadPoolExecutor(count) as pool:
        shares = [pool.submit(run_share, number) for number in range(count)]
        try:
            for share in shares:
                total.add(share.result())
        except KeyboardInterrupt:
            _interrupted.set()
            for group in list(_running):
                _kill_group(group)
            raise
    return total


def _sanitizer_options() -> dict[str, str]:
    known_leaks = paths.ROOT / "tests" / "lsan.supp"
    return {
        # As a signal, so that Catch2 names the test that was under way.
        "ASAN_OPTIONS": "abort_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "LSAN_OPTIONS": f"suppressions={known_leaks}:print_suppressions=0",
    }


def _run_catch2(tier: str, run: Run, share: list[str], environment: dict[str, str]) -> Tally:
    """Runs these tests of the tier's program, or what the arguments choose."""
    program = str(paths.program(run.preset, TIERS[tier].targets[0]))
    environment = environment | _sanitizer_options()
    if run.arguments:
        return of_catch2(*_run_program(tier, [program, *run.arguments], environment))
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as listed:
        listed.write("\n".join(share) + "\n")
        listed.flush()
        command = [program, "--input-file", listed.name]
        output, code = _run_program(tier, command, environment)
    tally = of_catch2(output, code)
    if tally.failed and not has_catch2_closing(output):
        # Shares print side by side, so the last lines of this one stand far above.
        say(f"{tier}: ended before its closing line, with exit code {code}; the last it said:")
        say("".join(f"  {line}\n" for line in output.splitlines()[-_LAST_LINES:]))
    if tally.failed == 0 and tally.passed != len(share):
        fail(f"{len(share)} tests were to run, {tally.passed} did")
    return tally


def _list_tests(program: str) -> str:
    """The names of a program's tests, a line each."""
    # Catch2 3 refuses the option of 2, whose list is one of names only with it.
    for options in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        listed = subprocess.run(
            [program, *options], cwd=paths.ROOT, capture_output=True, text=True
        ).stdout
        if listed:
            break
    return listed


def _shares(tier: str, run: Run) -> list[list[str]]:
    """The tests of the tier's program for each worker; one share where arguments choose."""
    if run.arguments:
        return [[]]
    listed = _list_tests(str(paths.program(run.preset, TIERS[tier].targets[0])))
    # Catch2 cuts at commas even what is quoted.
    names = [line.replace(",", "\\,") for line in listed.splitlines() if line]
    return [names[number::_WORKERS] for number in range(_WORKERS)]


def _run_unit(run: Run) -> Tally:
    shares = _shares("unit", run)
    environment = paths.clean_environment()
    return _side_by_side(
        len(shares), lambda number: _run_catch2("unit", run, shares[number], environment)
    )


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
    """Each worker has a PostgreSQL and a Kafka of its own: services under test share topics and
    consumer groups by name.
    """
    kafka.ensure_jars()
    shares = _shares("integration", run)

    def run_share(number: int) -> Tally:
        with own_suite(f"integration-{number + 1}", run.preset) as suite:
            # Crashes of processes are tested here, crashes of machines are not: writing to disk
            # would only slow the making of databases.
            options = SuiteOptions(is_scratch=True, postgres_programs=run.postgres_programs)
            suite.start_infrastructure(options, outlives_caller=False)
            environment = paths.clean_environment() | {
                "TEMPINBOX_TEST_DATABASE": suite.server.dsn("postgres"),
                "TEMPINBOX_TEST_KAFKA": suite.cluster.brokers,
            }
            return _run_catch2("integration", run, shares[number], environment)

    return _side_by_side(len(shares), run_share)


def _run_e2e(run: Run) -> Tally:
    """Two suites, each with half of the files; one for what --only names."""
    python_packages.python()
    node_packages.ensure(_E2E / "node")
    dashboard.build()
    downloads.build()
    files = [str(path) for path in sorted(_E2E.glob("test_*.py"))]
    if run.arguments:
        return _run_e2e_share("e2e", run, files)
    return _side_by_side(
        _E2E_SUITES,
        lambda number: _run_e2e_share(f"e2e-{number + 1}", run, files[number::_E2E_SUITES]),
    )


def _run_e2e_share(name: str, run: Run, files: list[str]) -> Tally:
    with own_suite(name, run.preset) as suite:
        options = SuiteOptions(
            preset=run.preset,
            replicas=",".join(f"{service}=2" for service in services.SERVICES),
            starttls=True,
            postgres_programs=run.postgres_programs,
        )
        suite.start_infrastructure(options, outlives_caller=False)
        suite.start_services(options)
        environment = node_packages.ensure(_E2E / "node") | suite_env.variables(suite)
        environment[paths.SUITE_VARIABLE] = str(suite.folder)
        # The modules of ./dev, for the harness.
        environment["PYTHONPATH"] = str(paths.ROOT / "tools")
        report = suite.folder.with_suffix(".xml")
        tally = _run_pytest("e2e", report, _E2E, [*run.arguments, *files], environment)
        if tally.failed:
            item("logs", f"{suite.folder.with_suffix('.logs')}")
        return tally


def _run_pytest(
    tier: str,
    report: Path,
    folder: Path,
    arguments: list[str],
    environment: dict[str, str],
    *lists: Path,
) -> Tally:
    report.unlink(missing_ok=True)
    pytest = [str(python_packages.python(*lists)), "-B", "-m", "pytest", f"--rootdir={folder}"]
    pytest += ["-p", "no:cacheprovider", f"--junitxml={report}"]
    _, code = _run_program(tier, [*pytest, *arguments], environment)
    return of_junit(report, code)


def _run_deploy(run: Run) -> Tally:
    """Tests what is installed elsewhere, as far as that shows without a cluster; no suite runs."""
    python_packages.python()
    kubernetes_tools.helm()
    report = _folder("deploy", run.preset).with_suffix(".xml")
    report.parent.mkdir(parents=True, exist_ok=True)
    environment = paths.clean_environment() | {"PYTHONPATH": str(paths.ROOT / "tools")}
    return _run_pytest("deploy", report, _DEPLOY, [*run.arguments, str(_DEPLOY)], environment)


def _run_browser(run: Run) -> Tally:
    folder = _BROWSER
    dashboard.build()
    dashboard.bring_packages()  # the mail-html tests build with them
    environment = node_packages.ensure(folder)
    with own_suite("browser", run.preset) as suite:
        options = SuiteOptions(preset=run.preset, replicas="gateway=2")
        suite.start_infrastructure(options, outlives_caller=False)
        suite.start_services(options)
        shots = suite.folder.with_suffix(".screenshots")
        shutil.rmtree(shots, ignore_errors=True)
        environment |= suite_env.variables(suite) | {
            paths.SUITE_VARIABLE: str(suite.folder),
            "TEMPINBOX_SCREENSHOTS": str(shots),
        }
        flags = [argument for argument in run.arguments if argument.startswith("-")]
        words = [argument for argument in run.arguments if not argument.startswith("-")] or [""]
        files = [
            path
            for path in sorted(folder.glob("*_test.mjs"))
            if any(word in path.name for word in words)
        ]
        report = suite.folder.with_suffix(".xml")
        tally = _run_node("browser", report, flags, files, environment)
        item("screenshots", str(shots))
        return tally


def _run_node(
    tier: str, report: Path, flags: list[str], files: list[Path], environment: dict[str, str]
) -> Tally:
    """Node's own test runner, one file after the other."""
    report.unlink(missing_ok=True)
    reporters = [
        "--test-reporter=spec",
        "--test-reporter-destination=stdout",
        "--test-reporter=junit",
        f"--test-reporter-destination={report}",
    ]
    names = [str(path) for path in files]
    command = ["node", "--test", "--test-concurrency=1", *reporters, *flags, *names]
    _, code = _run_program(tier, command, environment)
    return of_node(report, code)


def _run_clients(run: Run) -> Tally:
    """The clients, their plugins and the quick starts, each with its own language's test runner,
    against one suite. Words among the arguments choose folders, options are for the runner.
    """
    python_packages.python(python_packages.CLIENTS)
    flags = [argument for argument in run.arguments if argument.startswith("-")]
    words = [argument for argument in run.arguments if not argument.startswith("-")] or [""]
    chosen = [
        folder
        for folder in _CLIENT_TESTS
        if any(word in str(folder.relative_to(paths.ROOT)) for word in words)
    ]
    downloads.build()
    total = Tally()
    with own_suite("clients", run.preset) as suite:
        options = SuiteOptions(preset=run.preset, replicas="gateway=2")
        suite.start_infrastructure(options, outlives_caller=False)
        suite.start_services(options)
        known = _client_environment(suite, run.preset)
        for folder in chosen:
            heading(f"clients: {folder.relative_to(paths.ROOT)}")
            if not folder.is_dir():
                say("  does not exist yet: skipped")
                total.skipped += 1
            else:
                total.add(_run_client_tests(folder, suite, flags, known))
        if total.failed:
            item("logs", f"{suite.folder.with_suffix('.logs')}")
    return total


def _run_client_tests(folder: Path, suite: Suite, flags: list[str], known: dict[str, str]) -> Tally:
    name = "-".join(folder.relative_to(paths.ROOT).parts)
    report = suite.folder.with_suffix(f".{name}.xml")
    if folder == _TYPESCRIPT_TESTS:
        environment = node_packages.ensure(folder.parent) | known
        files = sorted(folder.glob("*_test.*"))
        return _run_node("clients", report, flags, files, environment)
    python_path = os.pathsep.join(
        str(paths.ROOT / path) for path in ("clients/python/src", "tools")
    )
    environment = paths.clean_environment() | known | {"PYTHONPATH": python_path}
    if folder == _COMMAND_LINE_TESTS:
        environment["PATH"] = typescript_client.build()["PATH"]
    arguments = [*flags, str(folder)]
    return _run_pytest("clients", report, folder, arguments, environment, python_packages.CLIENTS)


def _client_environment(suite: Suite, preset: str) -> dict[str, str]:
    """Returns the variables by which the tests of every client find the suite: an account with room
    for all of them, and the operator's command line for accounts, plans and keys of their own.
    """
    plan = ["--requests-per-day", "1000000", "--burst-per-second", "0", "--live-inboxes", "10000"]
    suite.operate("plan", "set", "premium", *plan)
    found = suite_env.variables(suite)
    control = [str(paths.ROOT / "dev"), "ctl", "--data", str(suite.folder)]
    # 1: waits are minutes long, with the holds of real life.
    lengths = {name: os.environ[name] for name in ["TEMPINBOX_TEST_LONG"] if name in os.environ}
    return lengths | {
        "TEMPINBOX_BASE_URL": found["TEMPINBOX_API"],
        "TEMPINBOX_API_KEY": found["TEMPINBOX_API_KEY"],
        "TEMPINBOX_TEST_SMTP": found["TEMPINBOX_SMTP"],
        "TEMPINBOX_TEST_MAIL_DOMAIN": found["TEMPINBOX_DOMAIN"],
        "TEMPINBOX_TEST_SUBMISSION_CA": found["TEMPINBOX_SUBMISSION_CA"],
        "TEMPINBOX_TEST_CTL": shlex.join(control),
        "TEMPINBOX_TEST_PROGRAMS": str(paths.program(preset, "")),
        # `./dev restart gateway-1` and the like reach this suite.
        paths.SUITE_VARIABLE: str(suite.folder),
    }


@dataclass(frozen=True)
class Tier:
    """A kind of tests: what runs them, what that needs built and brought, and how long it takes."""

    run: Callable[[Run], Tally]
    targets: list[str]
    brings: Callable[[], object]  # from elsewhere: tried before the build
    minutes: float  # on two cores, beside what `./dev test` runs at the same time


def _bring_for_e2e() -> None:
    kafka.ensure_jars()
    jakarta_mail.ensure_jars()
    packages.unpacked(mail_servers.EXIM_PACKAGE)
    python_packages.python()
    node_packages.ensure(_E2E / "node")
    dashboard.bring_what_building_needs()
    python_packages.environment(python_packages.BUILD)
    typescript_client.bring_packages()
    go_toolchain.ensure()


def _bring_for_browser() -> None:
    kafka.ensure_jars()
    dashboard.bring_packages()
    node_packages.ensure(_BROWSER)


def _bring_for_deploy() -> None:
    python_packages.python()
    kubernetes_tools.helm()


def _bring_for_clients() -> None:
    kafka.ensure_jars()
    python_packages.python(python_packages.CLIENTS)
    python_packages.environment(python_packages.BUILD)
    typescript_client.bring_packages()


TIERS = {
    "unit": Tier(_run_unit, ["unit_tests"], lambda: None, minutes=1),
    "integration": Tier(_run_integration, ["integration_tests"], kafka.ensure_jars, minutes=5),
    "e2e": Tier(_run_e2e, services.PROGRAMS, _bring_for_e2e, minutes=15),
    "browser": Tier(_run_browser, services.PROGRAMS, _bring_for_browser, minutes=6),
    "deploy": Tier(_run_deploy, services.PROGRAMS, _bring_for_deploy, minutes=1),
    "clients": Tier(_run_clients, services.PROGRAMS, _bring_for_clients, minutes=5),
}
# In the order in which they start when all run: the longest first, beside it what needs no test
# program, since those are compiled meanwhile.
_ORDER = ["e2e", "deploy", "unit", "browser", "clients", "integration"]


def run(
    tiers: list[str],
    preset: str | None,
    *,
    builds: bool,
    arguments: list[str],
    server: str | None = None,
) -> int:
    """Runs the tiers and prints the closing line; the exit code is 0 when something ran and nothing
    failed. `server` is a folder of PostgreSQL's programs, for integration and e2e alone.
    """
    stop_on_signals()
    chosen_preset = preset or build.RELEASE
    for tier in tiers:
        if tier not in TIERS:
            fail(f"no tier is called {tier}; there are: {', '.join(TIERS)}")
    if arguments and len(tiers) != 1:
        fail("--only needs exactly one tier")
    if server and not (tiers and {"integration", "e2e"}.issuperset(tiers)):
        fail("--postgres is for integration and e2e: ./dev test integration --postgres FOLDER")
    programs = postgres.find_programs(server)
    results: dict[str, Result] = {}
    total = Tally()
    try:
        packages.ensure(*build.package_groups(chosen_preset), "run", "test")
        if builds:
            preflight.check_disk({chosen_preset})
            for tier in tiers or TIERS:
                TIERS[tier].brings()
        if tiers:
            if builds:
                targets = [target for tier in tiers for target in TIERS[tier].targets]
                build.build(chosen_preset, list(dict.fromkeys(targets)))
            for tier in tiers:
                started = time.monotonic()
                tally = _attempt(tier, Run(chosen_preset, arguments, programs))
                results[tier] = Result(time.monotonic() - started, tally)
        else:
            results = _run_all(chosen_preset, builds)
    except Failure as error:
        say(paint("error: ", "red") + str(error))
        total.failed += 1
    except KeyboardInterrupt:
        say("interrupted")
        total.failed += 1
    return _close(results, total)


def _run_all(preset: str, builds: bool) -> dict[str, Result]:
    """Runs every tier, each as soon as what it needs is built."""
    jobs = _all_jobs(preset, builds)
    logs = paths.build_folder(preset) / "test" / "all"
    heading(f"All tests ({preset}), about {round(_expected_minutes(jobs))} min on two cores")
    say(f"  what each prints is kept in {logs}")
    return Board(jobs, logs, _ALL_WORKERS, brief=True).run()


def _expected_minutes(jobs: list[Job]) -> float:
    """The time of the busier worker, if each takes the next tier as it becomes free."""
    workers = [0.0] * _ALL_WORKERS
    for job in jobs:
        if not job.is_background:
            workers.sort()
            workers[0] += job.minutes or 0
    return max(workers)


def _all_jobs(preset: str, builds: bool) -> list[Job]:
    """The tiers, and beside them the builds of what they need, one after the other."""
    built: list[Job] = []
    of_targets: dict[tuple[str, ...], str] = {}
    for tier in _ORDER if builds else []:
        targets = tuple(TIERS[tier].targets)
        if targets not in of_targets:
            name = f"build for {tier}"
            of_targets[targets] = name
            arguments = ["build", "--preset", preset, *targets]
            built.append(Job(name, arguments, is_background=True, counts=False))
    return built + [
        Job(
            tier,
            ["test", tier, "--no-build", "--preset", preset],
            after=[of_targets[tuple(TIERS[tier].targets)]] if builds else [],
            minutes=TIERS[tier].minutes,
        )
        for tier in _ORDER
    ]


def _close(results: dict[str, Result], total: Tally) -> int:
    for result in results.values():
        total.add(result.tally)
    if failures := what_failed(results):
        heading("What failed")
        say(failures)
    say()
    say(table(results))
    say()
    if total.passed + total.failed == 0:
        say("no test ran")
    say(str(total))
    return 0 if total.is_good() else 1


def _attempt(tier: str, how: Run) -> Tally:
    """Runs one tier; what keeps it from running counts as a failure and the others go on."""
    heading(f"Tests: {tier} ({how.preset})")
    try:
        tally = TIERS[tier].run(how)
    except Failure as error:
        say(paint("error: ", "red") + str(error))
        tally = Tally(failed=1)
    if tally.passed + tally.failed == 0:
        say(f"{tier}: no test ran")
        tally.failed = 1
    item(tier, str(tally))
    return tally


def _ci_jobs() -> list[Job]:
    """The sanitizer build goes on beside the tiers of the release build, which leave the cores idle
    half of the time.
    """
    release, sanitize = "build release", "build sanitize"
    tested = [*TIERS["unit"].targets, *TIERS["integration"].targets, build.FUZZERS]
    fuzz = ["fuzz", "--no-build", "--seconds", str(_FUZZ_SECONDS), "--seed", "1"]
    quick = [part for part in check.PARTS if part != "tidy"]
    return [
        Job(
            release,
            ["build", "--preset", build.RELEASE, *services.PROGRAMS],
            is_background=True,
            counts=False,
        ),
        Job(
            sanitize,
            ["build", "--preset", build.SANITIZE, *tested],
            is_background=True,
            counts=False,
        ),
        Job("checks", ["check", *quick]),
        Job("e2e", ["test", "e2e", "--no-build"], after=[release]),
        Job("browser", ["test", "browser", "--no-build"], after=[release]),
        Job("deploy", ["test", "deploy", "--no-build"], after=[release]),
        Job("clients", ["test", "clients", "--no-build"], after=[release]),
        Job(
            "integration",
            ["test", "integration", "--no-build", "--preset", build.SANITIZE],
            after=[sanitize],
        ),
        Job("unit", ["test", "unit", "--no-build", "--preset", build.SANITIZE], after=[sanitize]),
        # Uses one seed, so that a failure comes from the change and not from the luck of the run.
        Job("fuzz", fuzz, after=[sanitize]),
        Job("tidy", ["check", "tidy"], after=[sanitize]),
    ]


def run_ci() -> int:
    """Everything that must pass before a change lands; ends with what each part took and the
    closing line.
    """
    stop_on_signals()
    results: dict[str, Result] = {}
    total = Tally()
    try:
        packages.ensure("build", "run", "test", "check", "sanitize")
        results = Board(_ci_jobs(), paths.ROOT / "build" / "ci", _ALL_WORKERS).run()
    except Failure as error:
        say(paint("error: ", "red") + str(error))
        total.failed += 1
    except KeyboardInterrupt:
        say("interrupted")
        total.failed += 1
    return _close(results, total)
