"""Files that a program sees in place of the system's."""

import functools
import shlex
import subprocess
from pathlib import Path


@functools.cache
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


def seeing(files: dict[Path, Path], command: list[str]) -> list[str]:
    """Returns the command as one that finds these files (values) where those of the system are
    (keys), and nobody else does. Needs root.
    """
    mounts = "".join(
        f"mount --bind {shlex.quote(str(shown))} {shlex.quote(str(original))} && "
        for original, shown in files.items()
    )
    unshare = ["unshare", "--mount", "--propagation", _propagation()]
    return [*unshare, "sh", "-c", f'{mounts}exec "$0" "$@"', *command]
