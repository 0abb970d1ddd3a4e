"""Jars of Maven's central repository, brought into the cache by Maven's own client, each compared
with a list of digests.
"""

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dev import packages, paths
from dev.terminal import fail, say

_COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


@dataclass(frozen=True)
class Artifact:
    """What the repository calls a jar."""

    group: str
    name: str
    version: str

    def as_dependency(self) -> str:
        """Returns it as a pom.xml names it."""
        return (
            f"<dependency><groupId>{self.group}</groupId><artifactId>{self.name}</artifactId>"
            f"<version>{self.version}</version></dependency>"
        )


def verify(folder: Path, digests: Path) -> None:
    """Fails unless the folder holds exactly the files of a list by `sha512sum`, byte for byte;
    names what is missing, extra or different.
    """
    expected: dict[str, str] = {}
    for line in digests.read_text(encoding="ascii").splitlines():
        digest, name = line.split(maxsplit=1)
        expected[name] = digest
    found = {path.name: hashlib.sha512(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    problems = [f"{name} is missing" for name in expected.keys() - found.keys()]
    problems += [f"{name} is not in the list" for name in found.keys() - expected.keys()]
    problems += [
        f"{name} is another file than the list's"
        for name in expected.keys() & found.keys()
        if expected[name] != found[name]
    ]
    if problems:
        fail(
            f"what Maven brought is not what {digests.name} lists:\n  "
            + "\n  ".join(sorted(problems))
            + "\nNothing of it is used. Delete the jars named here from Maven's repository (~/.m2) "
            "and try again; with another version renew the list (docs/development/packages.md)."
        )


def bring(work: Path, artifacts: Iterable[Artifact]) -> Path:
    """Brings them, with all that they need, into a folder of `work`, unchecked: for ensure, and to
    renew a list.
    """
    work.mkdir(parents=True, exist_ok=True)
    dependencies = "".join(artifact.as_dependency() for artifact in artifacts)
    (work / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion>"
        "<groupId>local</groupId><artifactId>jars</artifactId><version>1</version>"
        f"<packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>",
        encoding="utf-8",
    )
    jars = work.resolve() / "jars"
    command = [
        "mvn",
        "-q",
        "-B",
        _COPY_DEPENDENCIES,
        "-DincludeScope=runtime",
        f"-DoutputDirectory={jars}",
    ]
    done = subprocess.run(
        command, cwd=work, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        fail("Maven could not bring jars:\n" + done.stdout[-4000:] + done.stderr[-2000:])
    return jars


def folder(name: str) -> Path:
    """Where `ensure` keeps the jars of this name."""
    return paths.cache(name) / "jars"


def ensure(name: str, artifacts: Iterable[Artifact], digests: Path) -> None:
    """Brings the jars into the cache, once, and compares them with their list before they
    are used. What the cache holds already was compared when it was brought and is not again.
    """
    kept = folder(name)
    if kept.is_dir():
        return
    packages.ensure("jars")
    say(f"  bringing the jars of {name} into {kept.parent} ...")
    with tempfile.TemporaryDirectory(dir=kept.parent) as work:
        jars = bring(Path(work), artifacts)
        verify(jars, digests)
        try:
            os.rename(jars, kept)
        except OSError:
            if not kept.is_dir():  # else another ./dev was quicker
                raise
