"""The programs of examples/consumers, built once and run against the suite's Kafka."""

import contextlib
import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Self

from dev import places
from dev.kafka import verify_jars
from dev.locks import in_turn

from harness.suite import ROOT, Suite

LANGUAGES = ["python", "java", "go"]
_SCHEMAS = ROOT / "proto-schemas"
# What build.sh makes, or a build by hand left.
_MADE = {"build", "target", "events", "__pycache__"}


def build(language: str) -> Path:
    """The folder of a built program: a copy in the cache, named by what it is made of."""
    source = ROOT / "examples" / "consumers" / language
    pinned = [
        path
        for path in sorted([*source.rglob("*"), *_SCHEMAS.rglob("*.proto")])
        if path.is_file() and not _MADE & set(path.relative_to(ROOT).parts[3:])
    ]
    digest = hashlib.sha256()
    for path in pinned:
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    top = places.cache("consumers")
    folder = top / f"{language}-{digest.hexdigest()[:16]}"
    with in_turn(top / f"{language}.lock"):
        if not (folder / "ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*_MADE))
            done = subprocess.run(
                ["sh", "build.sh"],
                cwd=folder,
                env=os.environ | {"SCHEMAS": str(_SCHEMAS)},
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
            )
            assert done.returncode == 0, f"{language}: {done.stdout}{done.stderr}"
            if language == "java":
                verify_jars(folder / "target" / "dependency", folder / "jars.sha512")
            (folder / "ready").touch()
    return folder


class ExampleConsumer:
    """One of them, with a group and a file of its own. Use as a context manager."""

    def __init__(self, suite: Suite, language: str, group: str, folder: Path) -> None:
        self._program = build(language)
        self._language = language
        self._database = folder / f"{language}.db"
        self._log = folder / f"{language}.log"
        self._settings = {"BROKERS": suite["KAFKA"], "GROUP": group}
        self._settings["DATABASE"] = str(self._database)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self, group: str | None = None) -> None:
        """Runs it, from where it was; as another group from the start of the topics."""
        more = {"GROUP": group} if group else {}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ["sh", "run.sh"],
                cwd=self._program,
                env=os.environ | self._settings | more,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def kill(self) -> None:
        """As a crash ends it."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """As its operator ends it; it has an exit code of its own then."""
        self._end(signal.SIGTERM)

    def _end(self, sent: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(sent)
        self._process.wait(timeout=60)
        self._process = None

    def check_runs(self) -> None:
        """Fails with what it said where it has ended by itself."""
        assert self._process is not None
        code = self._process.poll()
        assert code is None, f"{self._language} ended with {code}:\n{self._log.read_text()[-3000:]}"

    def ids(self) -> set[str]:
        """The events whose work is done."""
        return {str(row[0]) for row in self._rows("SELECT id FROM events")}

    def work(self) -> int:
        """How many events were counted in all inboxes: as many as ids, where none was twice."""
        return sum(int(row[0]) for row in self._rows("SELECT events FROM inboxes"))

    def _rows(self, query: str) -> list[tuple[int | str, ...]]:
        if not self._database.exists():
            return []
        with contextlib.closing(sqlite3.connect(self._database, timeout=30)) as database:
            try:
                return database.execute(query).fetchall()
            except sqlite3.OperationalError:
                return []  # the tables are not made yet
