"""The notes of a release: its section of CHANGELOG.md, as it is read outside the repository."""

import re

from dev import version
from dev.terminal import fail


def text(chosen: str, changelog: str) -> str:
    """Returns the notes of a version; of one that is not released yet, what it has so far."""
    heading = chosen if version.is_release(chosen) else "Unreleased"
    section = version.changelog_section(changelog, heading)
    if not section:
        if version.is_release(chosen):
            fail(f"CHANGELOG.md says nothing of {heading}")
        section = "Nothing has changed since the last release."
    return f"# Temporary Inbox Service {chosen}\n\n{without_relative_links(section)}\n"


def without_relative_links(markdown: str) -> str:
    """Leaves the text of links that lead into the repository or to another place of its page."""
    return re.sub(r"\[([^\]]+)\]\((?!https?://)[^)\s]+\)", r"\1", markdown)
