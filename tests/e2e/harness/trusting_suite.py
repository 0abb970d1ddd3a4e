"""The suite's programs on a system that trusts a further authority."""

import shlex
from pathlib import Path

from dev import mounts

from harness.suite import Suite

_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")


class TrustingSuite(Suite):
    """Its programs find the authority of a file among those of the system, and nobody else does:
    each has a mount of its own over the system's file. Needs root.
    """

    def __init__(self, folder: Path, ca_file: Path) -> None:
        super().__init__()
        self._folder = folder
        self._bundle = folder / "bundle.pem"
        self._bundle.write_bytes(_BUNDLE.read_bytes() + b"\n" + ca_file.read_bytes())

    def program(self, name: str) -> Path:
        """Returns a script that becomes the program."""
        script = self._folder / name
        command = mounts.seeing({_BUNDLE: self._bundle}, [str(super().program(name))])
        script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        return script
