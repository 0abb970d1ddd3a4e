"""What users and operators install besides images: the npm package, the wheel and the source of
the Python client, and the chart. Each is made of a copy of the sources that git knows, so that
nothing left behind by an earlier build gets in, and has the same bytes each time.
"""

import datetime
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from dev import archives, node_packages, paths, python_packages, version
from dev.terminal import fail

_CHART = Path("deploy/helm/tempinbox")
_PYTHON = Path("clients/python")
_TYPESCRIPT = Path("clients/typescript")
_TYPES_TOOL = Path("tools/npm/types")
_BUILD = "import sys, flit_core.buildapi as flit; getattr(flit, sys.argv[1])(sys.argv[2])"
# Nothing in a wheel can be older: it is a ZIP archive.
_OLDEST = 315_532_800


def moment() -> int:
    """Returns the time that everything gets: that of the newest commit, or SOURCE_DATE_EPOCH."""
    if chosen := os.environ.get("SOURCE_DATE_EPOCH"):
        return max(int(chosen), _OLDEST)
    printed = subprocess.run(
        ["git", "-C", str(paths.ROOT), "log", "-1", "--format=%ct"], capture_output=True, text=True
    )
    return max(int(printed.stdout.strip() or 0), _OLDEST)


def created() -> str:
    """Returns the same as text."""
    made = datetime.datetime.fromtimestamp(moment(), datetime.UTC)
    return made.strftime("%Y-%m-%dT%H:%M:%SZ")


def sources(folder: Path) -> list[Path]:
    """Lists the files of a folder that git knows or would add, by their paths in the checkout."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", str(folder)]
    printed = subprocess.run(listing, cwd=paths.ROOT, capture_output=True, text=True)
    if printed.returncode != 0:
        fail("packages are made of what git knows: " + printed.stderr.strip())
    names = sorted(set(filter(None, printed.stdout.split("\0"))))
    return [Path(name) for name in names if (paths.ROOT / name).is_file()]


def wheel(into: Path) -> Path:
    """Makes the wheel of the Python client."""
    return _build_python("build_wheel", into, "*.whl")


def sdist(into: Path) -> Path:
    """Makes the source package of the Python client."""
    return _build_python("build_sdist", into, "*.tar.gz")


def npm(into: Path) -> Path:
    """Makes the npm package of the TypeScript client, with the command line in it."""
    for folder in (_TYPESCRIPT, _TYPES_TOOL):
        environment = node_packages.ensure(paths.ROOT / folder)
    with tempfile.TemporaryDirectory(prefix="tempinbox-npm-") as made, _fresh(into) as packed:
        copy = Path(made)
        _copy([*sources(_TYPESCRIPT), *sources(_TYPES_TOOL), Path("docs/openapi.yaml")], copy)
        for folder in (_TYPESCRIPT, _TYPES_TOOL):
            (copy / folder / "node_modules").symlink_to(
                (paths.ROOT / folder / "node_modules").resolve()
            )
        command = ["npm", "pack", "--silent", f"--pack-destination={packed}"]
        node_packages.run(
            command, copy / _TYPESCRIPT, environment, "npm could not pack the TypeScript client"
        )
        return _taken(Path(packed), into, "*.tgz")


def chart(into: Path) -> Path:
    """Makes the package of the chart, as `helm package` does, which writes the time into it. Its
    file has a name of its own, since the npm package has the one that helm would give.
    """
    ignored = _read_ignored(paths.ROOT / _CHART / ".helmignore")
    files = {
        f"tempinbox/{path.relative_to(_CHART)}": paths.ROOT / path
        for path in sources(_CHART)
        if not _is_ignored(path.relative_to(_CHART), ignored)
    }
    target = into / f"tempinbox-chart-{version.current()}.tgz"
    archives.write_tar_gz(target, files, moment())
    return target


def _read_ignored(file: Path) -> list[str]:
    lines = [line.strip() for line in file.read_text(encoding="ascii").splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def _is_ignored(path: Path, ignored: list[str]) -> bool:
    folders = {f"{name}/" for name in path.parts[:-1]}
    return any(pattern in folders or path.match(pattern) for pattern in ignored)


def _build_python(step: str, into: Path, made: str) -> Path:
    interpreter = python_packages.environment(python_packages.BUILD)
    environment = paths.clean_environment() | {"SOURCE_DATE_EPOCH": str(moment())}
    with tempfile.TemporaryDirectory(prefix="tempinbox-python-") as copy, _fresh(into) as packed:
        _copy(sources(_PYTHON), Path(copy))
        done = subprocess.run(
            [str(interpreter), "-B", "-c", _BUILD, step, packed],
            cwd=Path(copy) / _PYTHON,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode != 0:
            fail(f"the Python client could not be packed:\n{done.stderr[-3000:]}")
        return _taken(Path(packed), into, made)


def _fresh(beside: Path) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix=".packing-", dir=beside)


def _taken(packed: Path, into: Path, pattern: str) -> Path:
    (made,) = packed.glob(pattern)
    return made.replace(into / made.name)


def _copy(files: list[Path], into: Path) -> None:
    for path in files:
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(paths.ROOT / path, target)
        target.chmod(0o755 if (paths.ROOT / path).stat().st_mode & 0o100 else 0o644)
