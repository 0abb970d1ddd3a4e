"""Files that a program sees in place of the system's."""

import functools
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path


@functools.cache
def _can_be_private() -> bool:
    private = ["unshare", "--mount", "--propagation", "private", "true"]
    return subprocess.run(private, capture_output=True).returncode == 0


def _shared_mounts() -> list[Path]:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [Path(line.split(" ")[4]) for line in lines if " shared:" in line]


def _propagation(files: Iterable[Path]) -> str:
    """Returns how a namespace of mounts is made here so that a mount on one of the files does not
    come out of it. In a chroot whose / is a plain folder it can only be left as it is.
    """
    if _can_be_private():
        return "private"
    # Others are shared for a reason: /run/netns by ip.
    around = [it for it in _shared_mounts() if any(file.is_relative_to(it) for file in files)]
    assert not around, f"a mount for one program would be one for all: {around} is shared"
    return "unchanged"


def seeing(files: dict[Path, Path], command: list[str]) -> list[str]:
    """Returns the command as one that finds these files (values) where those of the system are
    (keys), and nobody else does. Needs root.
    """
    mounts = "".join(
        f"mount --bind {shlex.quote(str(shown))} {shlex.quote(str(original))} && "
        for original, shown in files.items()
    )
    unshare = ["unshare", "--mount", "--propagation", _propagation(files)]
    return [*unshare, "sh", "-c", f'{mounts}exec "$0" "$@"', *command]
