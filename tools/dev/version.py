"""The version of the checkout: the content of VERSION.

Between releases it is the next one with `-dev`, so that nothing built in between passes for either.
"""

import re
import subprocess

from dev import paths
from dev.terminal import fail

FILE = paths.ROOT / "VERSION"
CHANGELOG = paths.ROOT / "CHANGELOG.md"
# Names the commit of the last release.
_BASELINE = paths.ROOT / "deploy" / "baseline"
_DEVELOPMENT = "-dev"
_FORM = re.compile(r"\d+\.\d+\.\d+(-dev)?")


def current() -> str:
    """Returns the version, such as 0.2.0 or 0.2.0-dev."""
    return FILE.read_text(encoding="ascii").strip()


def is_release(version: str) -> bool:
    """Returns whether it is the version of a release, and not of what leads to one."""
    return not version.endswith(_DEVELOPMENT)


def for_python(version: str) -> str:
    """Returns the version as Python's packages write it (PEP 440)."""
    return version.replace(_DEVELOPMENT, ".dev0")


def check_form(version: str) -> None:
    """Fails for what is no version of this project."""
    if not _FORM.fullmatch(version):
        fail(f"{version!r} is no version: expected 1.2.3, or 1.2.3-dev before it is released")


def changelog_headings(changelog: str) -> list[str]:
    """Lists what the sections of a changelog are named, the newest first."""
    return re.findall(r"^## \[([^\]]+)\]", changelog, re.MULTILINE)


def changelog_section(changelog: str, name: str) -> str:
    """Returns the text of a section of a changelog, without its heading; nothing if there is
    none.
    """
    found = re.search(
        rf"^## \[{re.escape(name)}\][^\n]*\n(.*?)(?=^## \[|^\[[^\]]+\]: |\Z)",
        changelog,
        re.MULTILINE | re.DOTALL,
    )
    return found[1].strip() if found else ""


def git(*arguments: str) -> str:
    """Returns what git prints of the checkout; nothing if it fails."""
    printed = subprocess.run(
        ["git", "-C", str(paths.ROOT), *arguments], capture_output=True, text=True
    )
    return printed.stdout.strip()


def released_tree(version: str) -> str | None:
    """Returns the content that was released under the version, as git names a tree: that of its
    tag, or else of the last release's commit if that has the version.
    """
    if tagged := git("rev-parse", "--verify", "--quiet", f"v{version}^{{tree}}"):
        return tagged
    commit = _BASELINE.read_text(encoding="ascii").strip()
    if git("show", f"{commit}:VERSION") != version:
        return None
    return git("rev-parse", f"{commit}^{{tree}}")


def find_reuse(version: str, changelog: str, released: str | None, here: str) -> str | None:
    """Says why this content must not have this version, or returns None.

    `released` is the content that was released under it, if any, and `here` that of the checkout,
    each as git names a tree.
    """
    if not is_release(version):
        versions = changelog_headings(changelog)[1:]
        if version.removesuffix(_DEVELOPMENT) in versions:
            return f"{version} leads to a version that is released already: take a later one"
        return None
    if released is not None and released != here:
        return f"{version} was released with other content: give VERSION the next one with -dev"
    if changelog_section(changelog, "Unreleased"):
        return f"CHANGELOG.md has changes after {version}: give VERSION the next version with -dev"
    return None
