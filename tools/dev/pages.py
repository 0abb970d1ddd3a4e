"""Pages whose commands are run as they stand there: what a reader copies works.

The `sh` blocks of a page are one script, in their order. A `text` block is what was printed since
the one before it. Any other block is a file that is saved before the next `sh` block runs, if the
line above it ends with the file's name in backticks and a colon; else it is there to be read.
"""

import contextlib
import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dev import paths

_FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"`([\w.-]+)`:\s*\Z")
_SEPARATOR = "\x1e"  # between what the blocks print


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: str  # the file's name
    language: str
    text: str
    saved_as: str = ""

    def __str__(self) -> str:
        return f"{self.page}: {self.text.splitlines()[0]}"


def blocks(page: Path) -> list[Block]:
    """Returns the blocks of a page in their order."""
    return blocks_of(page.name, page.read_text(encoding="utf-8"))


def blocks_of(page: str, text: str) -> list[Block]:
    """Returns the blocks of a text."""
    found = []
    for fenced in _FENCED.finditer(text):
        name = _NAME.search(text[: fenced.start()])
        # A list's blocks are indented as their fences are.
        content = re.sub(f"^{fenced[1]}", "", fenced[3], flags=re.MULTILINE)
        found.append(Block(page, fenced[2], content, name[1] if name else ""))
    return found


def run(
    page: Path,
    *,
    folder: Path = paths.ROOT,
    environment: dict[str, str] | None = None,
    swaps: dict[str, str] | None = None,
    seconds: float = 300,
) -> str:
    """Runs the whole page in a folder, and returns what it printed.

    Fails where a command does, where the page shows other output than came, and after `seconds`.
    The swaps put texts in place of those that are right for one reader only.
    """
    text = page.read_text(encoding="utf-8")
    for example, ours in (swaps or {}).items():
        assert example in text, f"{example} is not in {page.name}"
        text = text.replace(example, ours)
    parts = blocks_of(page.name, text)
    script = "".join(_command(part) for part in parts)
    expected = [part.text for part in parts if part.language == "text"]
    printed = _run_script(page.name, script, folder, environment, seconds).split(_SEPARATOR)
    # Nothing is printed that the page does not show.
    for shown, came in zip([*expected, ""], printed, strict=True):
        assert re.fullmatch(_pattern(shown), came), (
            f"{page.name} shows:\n{shown}\nThis came:\n{came}"
        )
    return "".join(printed)


def _command(part: Block) -> str:
    if part.language == "sh":
        return part.text
    if part.language == "text":
        return f"printf '\\x{ord(_SEPARATOR):x}'\n"
    if part.saved_as:
        return f"cat >{part.saved_as} <<'END OF THE FILE'\n{part.text}END OF THE FILE\n"
    return ""


def _run_script(
    name: str, script: str, folder: Path, environment: dict[str, str] | None, seconds: float
) -> str:
    with subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            printed, said = running.communicate(timeout=seconds)
        finally:
            # Processes that the page started, if it did not get as far as ending them.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == 0, f"{name} ended with {running.returncode}:\n{printed}{said}"
    return printed


def _pattern(shown: str) -> str:
    """An ellipsis stands for what is different each time; alone on a line, for any lines."""
    lines = shown.splitlines(keepends=True)
    return "".join(
        r"(?:.*\n)*?" if line == "…\n" else re.escape(line).replace("…", ".+") for line in lines
    )
