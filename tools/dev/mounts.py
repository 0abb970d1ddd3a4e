"""Files that a program sees in place of the system's."""

import shlex
from pathlib import Path


def seeing(files: dict[Path, Path], command: list[str]) -> list[str]:
    """Returns the command as one that finds these files (values) where those of the system are
    (keys), and nobody else does. Needs root.
    """
    mounts = "".join(
        f"mount --bind {shlex.quote(str(shown))} {shlex.quote(str(original))} && "
        for original, shown in files.items()
    )
    return ["unshare", "--mount", "sh", "-c", f'{mounts}exec "$0" "$@"', *command]
