"""`./dev fuzz`: builds the libFuzzer programs of tests/fuzz, runs each for a time and within a
memory, and keeps what broke one.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from dev import build, packages, paths
from dev.running import stop_on_signals
from dev.tally import Tally
from dev.terminal import Failure, fail, heading, item, paint, say

PRESET = build.SANITIZE
_SOURCES = paths.ROOT / "tests" / "fuzz"
_MAX_MEGABYTES = 2048  # with the sanitizers' own share
_ONE_INPUT_SECONDS = 10
_MAX_INPUT = {"mime_view": 32_768, "extract": 16_384}
_DEFAULT_MAX_INPUT = 4_096
_TIMEOUT_SECONDS = 120  # for reading the corpus, and for the report of a crash
_SHOWN_LINES = 40


@dataclass(frozen=True)
class Outcome:
    """One program's run."""

    is_good: bool
    runs: int
    seconds: float
    coverage: int
    inputs: int

    def __str__(self) -> str:
        each_second = int(self.runs / max(self.seconds, 1))
        return (
            f"{self.runs} runs, {each_second} a second, {self.coverage} edges covered, "
            f"{self.inputs} inputs kept"
        )


def targets() -> list[str]:
    """Every program has one source."""
    return sorted(source.stem for source in _SOURCES.glob("*.cpp"))


def run(target: str | None, seconds: int, seed: int, *, builds: bool, rerun: Path | None) -> int:
    """Runs one target or all; the exit code is 0 when none broke."""
    stop_on_signals()
    if target and target not in targets():
        fail(f"no fuzz target is called {target}; there are: {', '.join(targets())}")
    packages.ensure("build", "sanitize")
    if builds:
        build.build(PRESET, [f"fuzz_{target}"] if target else [build.FUZZERS])
    if rerun:
        if not target:
            fail("--rerun needs the target")
        return subprocess.run(
            [str(_program(target)), *_bounds(), str(rerun)], env=_environment()
        ).returncode
    total = tally([target] if target else targets(), seconds, seed)
    say()
    say(str(total))
    return 0 if total.is_good() else 1


def tally(names: list[str], seconds: int, seed: int) -> Tally:
    """Runs targets that are built; each counts as one test.

    The same seed makes the same inputs; 0 is another one each time.
    """
    heading(f"Fuzzing: {len(names)} targets, {seconds} s each")
    total = Tally()
    for name in names:
        try:
            outcome = _fuzz(name, seconds, seed)
        except Failure as problem:
            say(paint("error: ", "red") + str(problem))
            total.failed += 1
            continue
        item(name, str(outcome) if outcome.is_good else paint("broken: ", "red") + str(outcome))
        total.add(Tally(passed=1) if outcome.is_good else Tally(failed=1))
    return total


def _program(name: str) -> Path:
    return paths.program(PRESET, f"fuzz_{name}")


def _environment() -> dict[str, str]:
    symbolizer = shutil.which("llvm-symbolizer-19") or ""
    return paths.clean_environment() | {
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "ASAN_SYMBOLIZER_PATH": symbolizer,
    }


def _fuzz(name: str, seconds: int, seed: int) -> Outcome:
    if not _program(name).exists():
        fail(f"{_program(name)} is not built")
    folder = paths.build_folder(PRESET) / "fuzzing" / name
    found, broken = folder / "corpus", folder / "broken"
    for made in (found, broken):
        made.mkdir(parents=True, exist_ok=True)
    command = [
        str(_program(name)),
        *_options(name, seconds, seed),
        f"-artifact_prefix={broken}/",
        str(found),
    ]
    if (kept := _SOURCES / "corpus" / name).is_dir():
        command.append(str(kept))
    before = set(broken.iterdir())
    log = folder / "log"
    started = time.monotonic()
    code = _run_bounded(command, log, seconds + _TIMEOUT_SECONDS)
    report = log.read_text(encoding="utf-8", errors="replace")
    outcome = Outcome(
        code == 0,
        _last(r"stat::number_of_executed_units: (\d+)", report),
        time.monotonic() - started,
        _last(r" cov: (\d+)", report),
        sum(1 for _ in found.iterdir()),
    )
    if not outcome.is_good:
        _report(name, report, sorted(set(broken.iterdir()) - before), log)
    return outcome


def _bounds() -> list[str]:
    return [f"-timeout={_ONE_INPUT_SECONDS}", f"-rss_limit_mb={_MAX_MEGABYTES}"]


def _options(name: str, seconds: int, seed: int) -> list[str]:
    options = [
        f"-max_total_time={seconds}",
        *_bounds(),
        f"-max_len={_MAX_INPUT.get(name, _DEFAULT_MAX_INPUT)}",
        f"-seed={seed}",
        "-print_final_stats=1",
        "-reload=0",
    ]
    words = _SOURCES / "dictionaries" / f"{name}.dict"
    return [*options, f"-dict={words}"] if words.exists() else options


def _run_bounded(command: list[str], log: Path, max_seconds: int) -> int:
    """Runs a program in a group of its own, which ends with it or with its time."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=paths.ROOT,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(timeout=max_seconds)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _last(pattern: str, report: str) -> int:
    found = re.findall(pattern, report)
    return int(found[-1]) if found else 0


def _report(name: str, report: str, inputs: list[Path], log: Path) -> None:
    lines = report.splitlines()
    begins = next(
        (
            at
            for at, line in enumerate(lines)
            if re.search(r"broken promise|ERROR: |runtime error", line)
        ),
        len(lines),
    )
    say("\n".join(lines[begins : begins + _SHOWN_LINES]))
    item("log", str(log))
    for kept in inputs:
        item("input", str(kept))
        item("again", f"./dev fuzz {name} --rerun {kept}")
