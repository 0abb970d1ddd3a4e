"""The notes of a release: how it is tried, and its section of CHANGELOG.md as it is read outside
the repository.
"""

import re

from dev import version
from dev.terminal import fail


def text(chosen: str, changelog: str, registry: str, architecture: str) -> str:
    """Returns the notes of a version; of one that is not released yet, what it has so far. The
    image comes from the registry, or where none is named from the file for this architecture.
    """
    heading = chosen if version.is_release(chosen) else "Unreleased"
    section = version.changelog_section(changelog, heading)
    if not section:
        if version.is_release(chosen):
            fail(f"CHANGELOG.md says nothing of {heading}")
        section = "Nothing has changed since the last release."
    start = _start(chosen, registry, architecture)
    return f"# Temporary Inbox Service {chosen}\n\n{start}\n{without_relative_links(section)}\n"


def _start(chosen: str, registry: str, architecture: str) -> str:
    lines = []
    if not registry:
        lines.append(f"docker load --input all-in-one-{chosen}-linux-{architecture}.oci.tar")
    name = f"{registry.rstrip('/') or 'localhost/tempinbox'}/all-in-one:{chosen}"
    lines.append(f"docker run --detach --name tempinbox -p 8080:8080 -p 2525:2525 {name}")
    lines.append("docker exec tempinbox cat /var/lib/tempinbox/api-key")
    block = "".join(f"{line}\n" for line in lines)
    return f"All of it in one container, for tests:\n\n```sh\n{block}```\n"


def without_relative_links(markdown: str) -> str:
    """Leaves the text of links that lead into the repository or to another place of its page."""
    return re.sub(r"\[([^\]]+)\]\((?!https?://)[^)\s]+\)", r"\1", markdown)
