"""Pages are run as they stand there, and a page that is not true is noticed."""

import contextlib
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from dev import pages
from dev.waiting import wait_until


def _runs(stat: Path) -> bool:
    """Returns whether the process is there and no zombie."""
    with contextlib.suppress(FileNotFoundError):
        return stat.read_text(encoding="ascii").split()[2] != "Z"
    return False


class Run(unittest.TestCase):
    """A page in an empty folder."""

    def setUp(self) -> None:
        """An empty folder, and none of the reader's variables."""
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self._folder = Path(kept.name, "folder")
        self._folder.mkdir()

    def _run(self, text: str, seconds: float = 20, swaps: dict[str, str] | None = None) -> str:
        page = self._folder.with_name("page.md")
        page.write_text(text, encoding="utf-8")
        return pages.run(page, folder=self._folder, seconds=seconds, swaps=swaps)

    def test_blocks_share_their_variables(self) -> None:
        printed = self._run("```sh\nA=1\n```\n\nThen:\n\n```sh\necho $A\n```\n\n```text\n1\n```\n")

        self.assertEqual(printed, "1\n")

    def test_a_file_is_saved_under_the_name_above_it(self) -> None:
        saved = "Save this as `one.py`:\n\n```python\nprint('$A')\n```\n"
        other = "A variable of `no.py` is:\n\n```python\nx = 1\n```\n"

        self._run(saved + other + "```sh\npython3 one.py\nls\n```\n```text\n$A\none.py\n```\n")

    def test_a_block_has_the_indent_of_its_fence_taken_off(self) -> None:
        self._run("- Run:\n\n  ```sh\n  printf '  a\\n'\n  ```\n\n  ```text\n    a\n  ```\n")

    def test_other_output_than_is_shown_fails(self) -> None:
        for shown in ("```text\n2\n```\n", ""):
            with self.assertRaises(AssertionError):
                self._run("```sh\necho 1\n```\n" + shown)

    def test_an_ellipsis_stands_for_anything(self) -> None:
        ran = "```sh\nprintf 'id a-1!\\nx\\ny\\nend\\n'\n```\n"

        self._run(ran + "```text\nid …!\n…\nend\n```\n")
        with self.assertRaises(AssertionError):
            self._run(ran + "```text\nid …!\n…\nfin\n```\n")

    def test_a_command_that_fails_ends_the_page(self) -> None:
        for command in ("false", "false | true", "echo $UNHEARD_OF_VARIABLE"):
            with self.assertRaises(AssertionError):
                self._run(f"```sh\n{command}\n```\n")

    def test_what_the_page_started_ends_with_it(self) -> None:
        self._run("```sh\nsleep 3600 >/dev/null 2>&1 &\necho $! >pid\n```\n")

        pid = (self._folder / "pid").read_text(encoding="ascii").strip()
        stat = Path("/proc", pid, "stat")
        deadline = time.monotonic() + 10
        wait_until(lambda: not _runs(stat), deadline, "the end of what the page started")

    def test_a_page_that_takes_too_long_fails(self) -> None:
        with self.assertRaises(subprocess.TimeoutExpired):
            self._run("```sh\nsleep 60\n```\n", seconds=0.2)

    def test_texts_of_one_reader_are_swapped_everywhere(self) -> None:
        self._run("```sh\necho 8099\n```\n```text\n8099\n```\n", swaps={"8099": "8100"})
        with self.assertRaises(AssertionError):
            self._run("```sh\necho 1\n```\n```text\n1\n```\n", swaps={"8099": "8100"})


if __name__ == "__main__":
    unittest.main()
