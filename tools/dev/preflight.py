"""Tries before the long build what can fail quickly: room on the disk and the requested ports. What
is brought from elsewhere is brought then, too.
"""

import shutil
from pathlib import Path

from dev import build, paths
from dev.ports import is_free
from dev.terminal import fail

_GIB = 1024**3
_SUITE_BYTES = 1 * _GIB  # a suite's data, or what a new source adds to a build
_CACHE_BYTES = 1 * _GIB
# A release build takes 0.5 GiB, one with sanitizers 2.2.
_BUILD_BYTES = {build.RELEASE: 1 * _GIB}
_OTHER_BUILD_BYTES = 3 * _GIB


def check_disk(presets: set[str]) -> None:
    """Fails where the disk has less room than the builds of these presets and a suite take."""
    check_room(paths.ROOT, _SUITE_BYTES + sum(_bytes_of(preset) for preset in presets))
    check_room(paths.cache(""), _CACHE_BYTES)


def _bytes_of(preset: str) -> int:
    if paths.build_folder(preset).exists():
        return 0
    return _BUILD_BYTES.get(preset, _OTHER_BUILD_BYTES)


def check_room(folder: Path, needed: int) -> None:
    """Fails where the disk of a folder has less room than that many bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        fail(
            f"{folder} has {free / _GIB:.1f} GiB free; building and running takes up to "
            f"{needed / _GIB:.0f} GiB: make room there"
        )


def check_ports(requested: dict[str, int | None]) -> None:
    """Fails where something listens on a port that an option asks for."""
    for option, port in requested.items():
        if port is not None and not is_free(port):
            fail(
                f"port {port} of 127.0.0.1 ({option}) is taken: stop what listens there, or give "
                "another"
            )
