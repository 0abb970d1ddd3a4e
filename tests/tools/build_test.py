"""A build says how far it is, and one that is interrupted goes on where it was."""

import contextlib
import io
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

from dev import build


class TimeLeft(unittest.TestCase):
    def test_the_rest_takes_as_long_as_what_is_done(self) -> None:
        self.assertEqual(build.time_left(50, 200, 120.0), "about 6 min left")
        self.assertEqual(build.time_left(150, 200, 120.0), "about 40 s left")

    def test_the_first_seconds_say_nothing_of_the_rest(self) -> None:
        self.assertEqual(build.time_left(1, 200, 15.0), "15 s so far")
        self.assertEqual(build.time_left(0, 200, 30.0), "30 s so far")


class Shown(unittest.TestCase):
    def shown(self, *lines: tuple[str, float], on_screen: bool = False) -> str:
        """What is shown of ninja's lines, each read so many seconds after the start."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            progress = build.Progress(0.0, on_screen=on_screen)
            for line, seconds in lines:
                progress.show(line, seconds)
        return output.getvalue()

    def test_a_log_gets_a_line_now_and_then(self) -> None:
        shown = self.shown(
            *((f"[{step}/40] Building CXX object {step}.o\n", float(step)) for step in range(1, 41))
        )
        self.assertEqual(shown, "  1 of 40, 1 s so far\n  21 of 40, about 19 s left\n")

    def test_a_long_build_says_that_it_may_be_interrupted(self) -> None:
        shown = self.shown(("[1/300] Building\n", 1.0), ("[2/300] Building\n", 2.0))
        self.assertEqual(
            shown.count("300 steps; should it be interrupted, the next ./dev goes on"), 1
        )
        self.assertNotIn("interrupted", self.shown(("[1/3] Building\n", 1.0)))

    def test_a_screen_has_one_line_that_changes(self) -> None:
        shown = self.shown(("[1/4] a\n", 1.0), ("[2/4] b\n", 2.0), on_screen=True)
        self.assertNotIn("\n", shown)
        self.assertTrue(shown.endswith("\r\x1b[K  2 of 4, 2 s so far"))

    def test_what_a_compiler_says_is_no_step(self) -> None:
        self.assertEqual(self.shown(("error: [1/2] of it\n", 1.0)), "")


class Steps(unittest.TestCase):
    """Real children in the place of ninja."""

    def run_steps(self, program: str) -> tuple[int, str]:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = build.run_steps([sys.executable, "-c", textwrap.dedent(program)])
        return code, output.getvalue()

    def test_a_failure_shows_the_last_lines(self) -> None:
        code, shown = self.run_steps("print('[1/2] a'); print('FAILED: a'); raise SystemExit(3)")
        self.assertEqual(code, 3)
        self.assertIn("FAILED: a\n", shown)

    def test_a_success_shows_no_more_than_steps(self) -> None:
        code, shown = self.run_steps("print('[1/1] a'); print('noise')")
        self.assertEqual((code, shown), (0, "  1 of 1, 0 s so far\n"))

    def test_an_interruption_waits_until_what_is_half_written_is_gone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            half = Path(folder) / "half.o"
            program = f"""
                import pathlib, signal
                signal.signal(signal.SIGINT, signal.default_int_handler)  # a job with & ignores it
                half = pathlib.Path({str(half)!r})
                half.touch()
                try:
                    print("[1/2] a", flush=True)
                    signal.pause()
                except KeyboardInterrupt:
                    half.unlink()
            """
            with (
                mock.patch.object(build.Progress, "show", side_effect=KeyboardInterrupt),
                self.assertRaises(KeyboardInterrupt),
            ):
                self.run_steps(program)
            self.assertFalse(half.exists())


if __name__ == "__main__":
    unittest.main()
