"""Which tests run when, and on which build."""

import contextlib
import io
import tempfile
import unittest
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

from dev import build, check, paths, postgres, services, testing
from dev.jobs import Job
from dev.tally import Tally
from dev.terminal import Failure


def _options(job: Job, name: str) -> str:
    return job.arguments[job.arguments.index(name) + 1]


class All(unittest.TestCase):
    """`./dev test` without a tier."""

    def setUp(self) -> None:
        self.jobs = {job.name: job for job in testing._all_jobs(build.RELEASE, builds=True)}
        self.builds = [job for job in self.jobs.values() if job.arguments[0] == "build"]

    def built_before(self, tier: str) -> Iterable[str]:
        return [target for name in self.jobs[tier].after for target in self.jobs[name].arguments]

    def test_every_tier_runs_once_what_it_needs_is_built(self) -> None:
        for name, tier in testing.TIERS.items():
            self.assertLessEqual(set(tier.targets), set(self.built_before(name)), name)
            self.assertIn("--no-build", self.jobs[name].arguments)

    def test_everything_is_built_with_the_objects_of_one_preset(self) -> None:
        self.assertEqual({_options(job, "--preset") for job in self.jobs.values()}, {build.RELEASE})

    def test_the_first_tests_need_no_more_than_up_has_built(self) -> None:
        self.assertEqual(self.builds[0].arguments[3:], services.PROGRAMS)
        for tier in ("e2e", "deploy", "browser"):
            self.assertEqual(self.jobs[tier].after, [self.builds[0].name])

    def test_builds_stay_behind_what_runs(self) -> None:
        self.assertTrue(all(job.is_background for job in self.builds))

    def test_without_builds_nothing_is_waited_for(self) -> None:
        jobs = testing._all_jobs("dev", builds=False)
        self.assertEqual({job.name for job in jobs}, set(testing.TIERS))
        self.assertFalse([name for job in jobs for name in job.after])

    def test_the_whole_is_estimated_by_the_busier_worker(self) -> None:
        jobs = [Job(str(minutes), [], minutes=minutes) for minutes in (9, 2, 3, 5)]
        self.assertEqual(testing._expected_minutes(jobs), 10)


class OnAnotherPostgres(unittest.TestCase):
    """`./dev test integration --postgres FOLDER`."""

    def test_its_programs_run(self) -> None:
        run = mock.Mock(return_value=Tally(passed=1))
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.dict(
                testing.TIERS,
                integration=testing.Tier(run, [], lambda: None, minutes=1),
                e2e=testing.Tier(run, [], lambda: None, minutes=1),
            ),
            mock.patch("dev.packages.ensure"),
        ):
            (Path(folder) / "initdb").touch()
            for server in (folder, None):
                for tier in ("integration", "e2e"):
                    testing.run([tier], None, builds=False, arguments=[], server=server)
            self.assertEqual(
                [call.args[0].postgres_programs for call in run.call_args_list],
                [Path(folder).resolve()] * 2 + [postgres.PROGRAMS] * 2,
            )

    def test_a_folder_without_its_programs_is_refused(self) -> None:
        with self.assertRaisesRegex(Failure, "has no initdb"):
            testing.run(["integration"], None, builds=False, arguments=[], server="/var/empty")

    def test_other_tiers_have_none(self) -> None:
        with self.assertRaisesRegex(Failure, "--postgres is for integration"):
            testing.run(["unit"], None, builds=False, arguments=[], server="/usr")


class AProgramOfTests(unittest.TestCase):
    """Catch2's, or one that ends as a sanitizer ends it."""

    def test_one_that_ends_before_its_closing_line_is_shown_to_its_last_word(self) -> None:
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(paths, "program", return_value=Path(folder) / "tests"),
            contextlib.redirect_stdout(io.StringIO()) as shown,
        ):
            program = Path(folder) / "tests"
            program.write_text("#!/bin/sh\necho ERROR: AddressSanitizer\nexit 7\n")
            program.chmod(0o755)
            run = testing.Run(build.SANITIZE)
            tally = testing._run_catch2("integration", run, ["a test"], {})
        self.assertEqual(tally, Tally(failed=1))
        self.assertIn(
            "integration: ended before its closing line, with exit code 7; the last it said:\n"
            "  ERROR: AddressSanitizer\n",
            shown.getvalue(),
        )


class BeforeAChangeLands(unittest.TestCase):
    """`./dev test --ci`."""

    def test_unit_and_integration_tests_run_under_sanitizers(self) -> None:
        jobs = {job.name: job for job in testing._ci_jobs()}
        for tier in ("unit", "integration"):
            self.assertEqual(_options(jobs[tier], "--preset"), build.SANITIZE)
            self.assertEqual(jobs[tier].after, ["build sanitize"])

    def test_every_check_runs(self) -> None:
        parts = [
            part
            for job in testing._ci_jobs()
            if job.arguments[0] == "check"
            for part in job.arguments[1:]
        ]
        self.assertEqual(sorted(parts), sorted(check.PARTS))


if __name__ == "__main__":
    unittest.main()
