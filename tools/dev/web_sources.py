"""TypeScript, JavaScript and CSS of ours, wherever they are: laid out by Prettier, looked through
by ESLint. Both live in tools/npm/lint, so that the page is built without them.
"""

import subprocess
from pathlib import Path

from dev import node_packages, paths
from dev.terminal import fail, say

_LINT = paths.ROOT / "tools" / "npm" / "lint"
_PASSED = paths.ROOT / "build" / "eslint.passed"
_PRETTIER_CACHE = [
    "--cache",
    "--cache-strategy=content",
    f"--cache-location={paths.ROOT / 'build' / 'prettier.cache'}",
]
_SCRIPTS = {".ts", ".tsx", ".mjs", ".cjs", ".js"}
_OTHERS = {".css", ".html", ".json"}  # .prettierignore says which of them are not laid out
_TYPES_FROM = [  # ESLint reads the types of what their packages export
    paths.ROOT / "web" / "dashboard",
    paths.ROOT / "tests" / "browser",
    paths.ROOT / "clients" / "typescript",
]


def check(fix: bool) -> bool:
    """Layout and faults; with `fix` what can be put right is, first."""
    for folder in _TYPES_FROM:
        node_packages.ensure(folder)
    environment = node_packages.ensure(_LINT)
    names = _names()
    scripts = [name for name in names if Path(name).suffix in _SCRIPTS]
    has_no_faults = _has_no_faults(scripts, fix, environment)
    layout = ["prettier", "--write" if fix else "--check", "--log-level=warn", *_PRETTIER_CACHE]
    return _run([*layout, *names], environment) and has_no_faults


def _has_no_faults(scripts: list[str], fix: bool, environment: dict[str, str]) -> bool:
    """Returns whether there are no findings; the same input is not checked again.

    ESLint's own cache looks at one file at a time, but a rule about types may say something else
    once another file has changed.
    """
    read = [paths.ROOT / name for name in scripts]
    read += [path for path in _LINT.iterdir() if path.is_file()]
    for folder in _TYPES_FROM:
        read += [folder / "package-lock.json", *folder.glob("tsconfig.json")]
        read += folder.glob("src/openapi*.ts")  # generated, and unknown to git
    checked = node_packages.digest(paths.ROOT, set(read))
    if node_packages.read_stamp(_PASSED) == checked:
        say("  ESLint found nothing in the same files before")
        return True
    command = ["eslint", f"--config={_LINT / 'eslint.config.mjs'}", "--max-warnings=0"]
    command += ["--no-warn-ignored"]  # what programs write is among the files
    if not _run([*command, *(["--fix"] if fix else []), *scripts], environment):
        return False
    if not fix:  # what was put right is another input
        _PASSED.parent.mkdir(parents=True, exist_ok=True)
        _PASSED.write_text(checked, encoding="ascii")
    return True


def _names() -> list[str]:
    """Every file of these kinds that git knows or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        fail("checks look at what git knows: " + listed.stderr.strip())
    return sorted(
        name
        for name in set(listed.stdout.split("\0"))
        if Path(name).suffix in _SCRIPTS | _OTHERS and (paths.ROOT / name).is_file()
    )


def _run(command: list[str], environment: dict[str, str]) -> bool:
    program = _LINT / "node_modules" / ".bin" / command[0]
    done = subprocess.run(
        [str(program), *command[1:]],
        cwd=paths.ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode == 0
