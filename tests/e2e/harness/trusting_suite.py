"""The suite's programs on a system that trusts a further authority."""

import shlex
import subprocess
from pathlib import Path

from harness.suite import Suite

_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")


def _propagation() -> str:
    """Returns how a namespace of mounts is made here so that none of them comes out of it. In a
    chroot whose / is a plain folder it can only be left as it is.
    """
    private = ["unshare", "--mount", "--propagation", "private", "true"]
    if subprocess.run(private, capture_output=True).returncode == 0:
        return "private"
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    assert " shared:" not in mounts, "a mount for one program would be one for all"
    return "unchanged"


class TrustingSuite(Suite):
    """Its programs find the authority of a file among those of the system, and nobody else does:
    each has a mount of its own over the system's file. Needs root.
    """

    def __init__(self, folder: Path, ca_file: Path) -> None:
        super().__init__()
        self._folder = folder
        self._bundle = folder / "bundle.pem"
        self._bundle.write_bytes(_BUNDLE.read_bytes() + b"\n" + ca_file.read_bytes())
        self._propagation = _propagation()

    def program(self, name: str) -> Path:
        """Returns a script that becomes the program."""
        script = self._folder / name
        mounted = f'mount --bind {shlex.quote(str(self._bundle))} {_BUNDLE} && exec "$0" "$@"'
        unshare = ["unshare", "--mount", "--propagation", self._propagation]
        command = [*unshare, "sh", "-c", mounted, str(super().program(name))]
        script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        return script
