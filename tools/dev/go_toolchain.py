"""A Go that is new enough for the example consumer and actionlint: the machine's, or the release
that the consumer's go.mod names, which an older Go brings as a module into the cache.
"""

import json
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from dev import paths
from dev.locks import in_turn
from dev.terminal import fail, say

VERSION = "1.26.0"
# The module's checksum in Go's own notation: any other content is refused.
_SUMS = {
    "x86_64": ("amd64", "h1:1p2G5COR51f8Q3EQ4HLJQDDL2ytLEqfL/yTawB0Jr8w="),
    "aarch64": ("arm64", "h1:lAFrRm35hIzvRSMYiELtaPaitr22pp6iaBbdPBuJg2U="),
}


def ensure() -> dict[str, str]:
    """Brings a Go new enough where there is none; the environment that it is to be run in."""
    environment = paths.clean_environment() | {"GOTOOLCHAIN": "local"}
    if not shutil.which("go"):
        fail("the example consumer and actionlint are built with Go: install golang-go")
    own = subprocess.run(["go", "version"], capture_output=True, text=True, env=environment).stdout
    if is_new_enough(own):
        return environment
    programs = _brought(environment) / "bin"
    return environment | {"PATH": f"{programs}{os.pathsep}{environment['PATH']}"}


def is_new_enough(printed: str) -> bool:
    """Returns whether a Go that prints this as its version is of VERSION or later."""
    found = re.match(r"go version go(\d+)\.(\d+)", printed)
    minimum = tuple(int(part) for part in VERSION.split(".")[:2])
    return found is not None and (int(found[1]), int(found[2])) >= minimum


def _brought(environment: dict[str, str]) -> Path:
    """The folder of the cache with that Go."""
    if platform.machine() not in _SUMS:
        fail(f"Go {VERSION} is not brought for {platform.machine()}: install it by hand")
    processor, expected = _SUMS[platform.machine()]
    top = paths.cache("go")
    folder = top / f"{VERSION}-{processor}"
    with in_turn(top / f"{folder.name}.lock"):
        if not folder.exists():
            say(f"  bringing Go {VERSION} ...")
            modules = top / "modules"
            module = f"golang.org/toolchain@v0.0.1-go{VERSION}.linux-{processor}"
            brought = _download(module, expected, environment | {"GOMODCACHE": str(modules)})
            # A module's files have no permission to be run.
            for program in [*brought.glob("bin/*"), *brought.glob("pkg/tool/*/*")]:
                program.chmod(0o755)
            brought.rename(folder)
            shutil.rmtree(modules)
    return folder


def _download(module: str, expected: str, environment: dict[str, str]) -> Path:
    command = ["go", "mod", "download", "-json", "-modcacherw", module]
    done = subprocess.run(
        command,
        cwd="/",  # not in a module of another Go version
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        fail(f"Go could not bring {module}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    answer = json.loads(done.stdout)
    if answer["Sum"] != expected:
        fail(f"{module} is not what it was: its sum is {answer['Sum']}, not {expected}")
    return Path(answer["Dir"])
