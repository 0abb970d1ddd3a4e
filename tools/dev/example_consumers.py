"""The programs of examples/consumers, built once and run against a suite's Kafka."""

import contextlib
import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Self

from dev import go_toolchain, maven, paths
from dev.locks import in_turn
from dev.terminal import fail

LANGUAGES = ["python", "java", "go"]
TOPICS = ["email.received", "inbox.created", "inbox.expired"]
_SCHEMAS = paths.ROOT / "proto-schemas"
# Files that build.sh makes, or that a build by hand left.
_MADE = {"build", "target", "events", "__pycache__"}


def dead_letter_topic(group: str) -> str:
    """Returns the topic for records that a group cannot read; it must exist before the group needs
    it.
    """
    return f"{group}.dead-letter"


def build(language: str) -> Path:
    """The folder of a built program: a copy in the cache, named by what it is made of."""
    source = paths.ROOT / "examples" / "consumers" / language
    pinned = [
        path
        for path in sorted([*source.rglob("*"), *_SCHEMAS.rglob("*.proto")])
        if path.is_file() and not _MADE & set(path.relative_to(paths.ROOT).parts[3:])
    ]
    digest = hashlib.sha256()
    for path in pinned:
        digest.update(f"{path.relative_to(paths.ROOT)}\0".encode() + path.read_bytes())
    top = paths.cache("consumers")
    folder = top / f"{language}-{digest.hexdigest()[:16]}"
    with in_turn(top / f"{language}.lock"):
        if not (folder / "ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*_MADE))
            done = subprocess.run(
                ["sh", "build.sh"],
                cwd=folder,
                env=_environment(language) | {"SCHEMAS": str(_SCHEMAS)},
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
            )
            if done.returncode != 0:
                fail(f"the consumer in {language} could not be built: {done.stdout}{done.stderr}")
            if language == "java":
                maven.verify(folder / "target" / "dependency", folder / "jars.sha512")
            (folder / "ready").touch()
    return folder


def _environment(language: str) -> dict[str, str]:
    return go_toolchain.ensure() if language == "go" else dict(os.environ)


class ExampleConsumer:
    """Runs one of the consumers, with a group and a file of its own. Use as a context manager."""

    def __init__(self, brokers: str, language: str, group: str, folder: Path) -> None:
        self.language = language
        self._program = build(language)
        self._database = folder / f"{language}.db"
        self._log = folder / f"{language}.log"
        self._settings = {"BROKERS": brokers, "GROUP": group, "DATABASE": str(self._database)}
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
        """Ends it as a crash does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ends it as its operator does; it has an exit code of its own then."""
        self._end(signal.SIGTERM)

    def _end(self, sent: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(sent)
        self._process.wait(timeout=60)
        self._process = None

    def ended_by_itself(self) -> str:
        """Its exit code and what it said last, where nobody ended it; empty while it runs."""
        code = self._process.poll() if self._process else None
        if code is None:
            return ""
        last = self._log.read_text(encoding="utf-8", errors="replace")[-3000:]
        return f"{self.language} ended with {code}:\n{last}"

    def printed(self) -> int:
        """The size of what it has printed: it grows with each transaction that had new events."""
        return self._log.stat().st_size if self._log.exists() else 0

    def types(self) -> dict[str, str]:
        """The type of each event whose work is done, by the event's id."""
        return dict(self._rows("SELECT id, type FROM events"))

    def ids(self) -> set[str]:
        """The events whose work is done."""
        return set(self.types())

    def counts(self) -> Counter[str]:
        """Returns how many events were counted in each inbox."""
        return Counter(dict(self._rows("SELECT id, events FROM inboxes")))

    def work(self) -> int:
        """Returns how many events were counted in all inboxes: as many as ids if none was counted
        twice.
        """
        return self.counts().total()

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        """Read without a lock while it runs: it may take a locked file for a failure and end.

        A look in the middle of a commit may see nothing; what is read after its end is exact.
        """
        if not self._database.exists():
            return []
        how = "?immutable=1" if self._process else ""
        address = f"{self._database.absolute().as_uri()}{how}"
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=30)) as database:
            try:
                return database.execute(query).fetchall()
            except sqlite3.DatabaseError:
                if self._process:
                    return []  # the tables are not made yet, or just change
                raise
