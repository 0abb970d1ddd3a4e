"""A PostgreSQL cluster of a test's own, to be stopped while the one of the suite runs on."""

import secrets
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Self

from dev import places, postgres
from dev.ports import Ports

from harness.suite import Suite


class Cluster:
    """Made as ./dev makes the suite's, in a folder and at a port of its own.

    Use as a context manager; nothing of it stays.
    """

    def __init__(self, suite: Suite, schema: str = "all") -> None:
        self._suite = suite
        self._schema = schema

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="tempinbox-e2e-"))
        self._folder.chmod(0o711)  # under root another OS user has to pass
        # Below the range of outgoing connections: none must take the port while the cluster is
        # stopped.
        port = Ports(self._folder, {}).take("postgres")
        self._server = postgres.Server(
            postgres.choose_folder(self._folder), port, secrets.token_hex(16)
        )
        self._process: subprocess.Popen[bytes] | None = None
        try:
            postgres.initialize(self._server.data, self._server.password)
            self.start()
            self._server.ensure_database()
            migrate = [
                str(self._suite.program("tempinbox-migrate")),
                "--database",
                self.dsn,
                "--schema",
                self._schema,
            ]
            subprocess.run(
                migrate, env=places.clean_environment(), check=True, capture_output=True, timeout=60
            )
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self.crash()
        shutil.rmtree(self._server.data, ignore_errors=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def dsn(self) -> str:
        """The URI libpq takes."""
        return self._server.dsn()

    def start(self) -> None:
        """Returns when it takes connections."""
        spec = self._server.spec(self._folder)
        with open(spec.log, "ab") as log:
            self._process = subprocess.Popen(
                spec.argv,
                cwd=spec.folder,
                env=places.clean_environment(),
                user=spec.user,
                group=spec.user,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._server.wait_ready()

    def crash(self) -> None:
        """Stops it as `pg_ctl stop -m immediate` does: connections break, nothing is tidied up."""
        assert self._process
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(timeout=30)
        self._process = None

    def query(self, statement: str) -> str:
        """The rows of one statement as text."""
        return self._server.query(statement, postgres.ROLE)
