"""A PostgreSQL cluster of a test's own, to be stopped while the one of the suite runs on."""

import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Self

from dev import paths, postgres
from dev.ports import Ports

from harness.suite import Suite


class Cluster:
    """Made as ./dev makes the suite's, in a folder and at a port of its own.

    With the folder of a certificate, as Authority.issue makes it, it takes no connection without
    TLS. Use as a context manager; nothing of it stays.
    """

    def __init__(self, suite: Suite, schema: str = "all", identity: Path | None = None) -> None:
        self._suite = suite
        self._schema = schema
        self._identity = identity

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
            if self._identity:
                self._require_tls(self._identity)
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
                migrate, env=paths.clean_environment(), check=True, capture_output=True, timeout=60
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
        checked = f"?sslmode=verify-full&sslrootcert={self._identity}/ca.pem"
        return self._server.dsn() + (checked if self._identity else "")

    def renew_certificate(self) -> None:
        """Shows new connections what the folder holds now."""
        assert self._identity
        self._copy_certificate(self._identity)
        self._server.query("SELECT pg_reload_conf()")

    def _copy_certificate(self, identity: Path) -> None:
        data = self._server.data
        for source, target in (("certificate.pem", "server.crt"), ("key.pem", "server.key")):
            shutil.copyfile(identity / source, data / target)
            (data / target).chmod(0o600)
            if os.geteuid() == 0:
                shutil.chown(data / target, postgres.OS_USER, postgres.OS_USER)

    def _require_tls(self, identity: Path) -> None:
        data = self._server.data
        self._copy_certificate(identity)
        with open(data / "postgresql.conf", "a", encoding="utf-8") as settings:
            settings.write("ssl = on\n")
        access = data / "pg_hba.conf"
        lines = re.sub(
            r"^host\b", "hostssl", access.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        access.write_text(lines, encoding="utf-8")

    def start(self) -> None:
        """Returns when it takes connections."""
        spec = self._server.spec(self._folder)
        with open(spec.log, "ab") as log:
            self._process = subprocess.Popen(
                spec.argv,
                cwd=spec.folder,
                env=paths.clean_environment(),
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
