"""The version of the checkout: the content of VERSION.

Between releases it is the next one with `-dev`, so that nothing built in between passes for either.
"""

import re

from dev import paths
from dev.terminal import fail

FILE = paths.ROOT / "VERSION"
CHANGELOG = paths.ROOT / "CHANGELOG.md"
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


def find_reuse(version: str, changelog: str, tagged: str | None, here: str) -> str | None:
    """Says why this content must not have this version, or returns None.

    `tagged` is the content of the tag v<version>, if there is one, and `here` that of the checkout,
    each as git names a tree.
    """
    if not is_release(version):
        released = changelog_headings(changelog)[1:]
        if version.removesuffix(_DEVELOPMENT) in released:
            return f"{version} leads to a version that is released already: take a later one"
        return None
    if tagged is not None and tagged != here:
        return f"the tag v{version} has other content: give VERSION the next version with -dev"
    if changelog_section(changelog, "Unreleased"):
        return f"CHANGELOG.md has changes after {version}: give VERSION the next version with -dev"
    return None
