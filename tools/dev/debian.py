"""The Debian release of this machine."""

import functools
import platform

RELEASES = ("bookworm", "trixie")  # Debian 12 and 13
IMAGE_RELEASE = "trixie"  # what the container images are made of


@functools.cache
def release() -> str:
    """The code name of this machine's release; of a system that is neither, the newest of ours."""
    try:
        name = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    except OSError:
        name = ""
    return name if name in RELEASES else RELEASES[-1]
