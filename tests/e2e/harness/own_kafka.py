"""A Kafka broker of a test's own, whatever its listeners ask of clients."""

import contextlib
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from dev import kafka, paths


class OwnKafka:
    """A cluster of one, in a folder that goes with it. Use as a context manager; nothing stays."""

    def __init__(self, folder: Path, node: kafka.Cluster) -> None:
        self._folder = folder
        self._node = node
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        kafka.ensure_jars(self._node.version)
        try:
            (spec,) = self._node.specs(self._folder)
            with open(spec.log, "ab") as log:
                self._process = subprocess.Popen(
                    spec.argv,
                    cwd=spec.folder,
                    env=paths.clean_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            self._node.wait_ready()
        except BaseException:
            self._print_log()
            self.__exit__()
            raise
        return self

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """It answers nobody meanwhile, as a broker behind a cut line."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _print_log(self) -> None:
        for log in self._folder.glob("*.log"):
            print(log.read_text(encoding="utf-8", errors="replace")[-4000:])


def write_acl_tool(folder: Path) -> None:
    """Puts kafka-acls.sh there, as Kafka's archive has it; that of the older version, since the
    newer one's is in none of the jars. It works with brokers of both. The first run leaves an
    archive of classes, with which those after it take half of the time.
    """
    kafka.ensure_jars(kafka.OLDER_VERSION)
    command = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xlog:disable"]
    command += ["-cp", kafka.class_path(kafka.OLDER_VERSION)]
    archive = shlex.quote(str(folder / "kafka-acls.jsa"))
    tool = folder / "kafka-acls.sh"
    tool.write_text(
        "#!/bin/sh\n"
        f"[ -e {archive} ] && how=SharedArchiveFile || how=ArchiveClassesAtExit\n"
        f'exec {shlex.join(command)} "-XX:$how="{archive} kafka.admin.AclCommand "$@"\n',
        encoding="utf-8",
    )
    tool.chmod(0o755)
