"""Tests that the workflows of the forge run what ./dev has, and say what runs only there."""

import contextlib
import io
import itertools
import re
import shlex
import unittest
from collections.abc import Iterator
from typing import Any

import yaml
from dev import cli, debian, go_toolchain, image, paths, workflows
from fuzz import run as fuzzing

_MARK = "(not run here)"
# A host with a path, as images and packages are named; the forge's own is where tools come from.
_HOST = re.compile(r"\b(?:[a-z0-9-]+\.)+(?:com|dev|io|net|org)(?=[:/])")
_FORGE = "github.com"


def _read(name: str) -> dict[str, Any]:
    text = (workflows.FOLDER / f"{name}.yml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def _steps() -> Iterator[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Every step, after its workflow's name, its workflow and its job."""
    for file in sorted(workflows.FOLDER.glob("*.yml")):
        workflow = _read(file.stem)
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                yield file.stem, workflow, job, step


def _filled(command: str, workflow: dict[str, Any], job: dict[str, Any]) -> Iterator[str]:
    """The command with each combination of the matrix's values that it names."""
    for name, value in workflow["env"].items():
        command = command.replace(f"${name}", str(value))
    command = command.replace("${{ github.run_number }}", "1")
    names = re.findall(r"\$\{\{ matrix\.(\w+) \}\}", command)
    matrix = job.get("strategy", {}).get("matrix", {})
    for values in itertools.product(*(matrix[name] for name in names)):
        filled = command
        for name, value in zip(names, values, strict=True):
            filled = filled.replace(f"${{{{ matrix.{name} }}}}", value)
        yield filled


class Commands(unittest.TestCase):
    def test_a_step_is_a_command_of_dev_or_says_that_it_is_not_run_here(self) -> None:
        for name, _, _, step in _steps():
            if "run" in step:
                with self.subTest(name, step=step["name"]):
                    is_ours = step["run"].startswith("./dev ")
                    self.assertNotEqual(is_ours, step["name"].endswith(_MARK))

    def test_dev_knows_each_with_its_options(self) -> None:
        for name, workflow, job, step in _steps():
            if not step.get("run", "").startswith("./dev "):
                continue
            for command in _filled(step["run"], workflow, job):
                with self.subTest(name, command=command):
                    said = io.StringIO()
                    try:
                        with contextlib.redirect_stderr(said):
                            cli._parser().parse_args(shlex.split(command)[1:])
                    except SystemExit:
                        self.fail(said.getvalue())

    def test_a_job_on_another_system_says_that_it_is_not_run_here(self) -> None:
        for name in ("ci", "nightly"):
            for job in _read(name)["jobs"].values():
                with self.subTest(name, job=job.get("name")):
                    is_ours = str(job.get("container", "")).find("debian:") >= 0
                    self.assertNotEqual(is_ours, job.get("name", "").endswith(_MARK))


class Lists(unittest.TestCase):
    def test_changes_are_tried_on_each_release_of_debian(self) -> None:
        matrix = _read("ci")["jobs"]["debian"]["strategy"]["matrix"]
        self.assertEqual(matrix["release"], list(debian.RELEASES))

    def test_every_target_is_fuzzed(self) -> None:
        matrix = _read("nightly")["jobs"]["fuzz"]["strategy"]["matrix"]
        self.assertEqual(matrix["target"], sorted(fuzzing.targets()))

    def test_every_kind_of_chaos_is_run(self) -> None:
        matrix = _read("nightly")["jobs"]["chaos"]["strategy"]["matrix"]
        kinds = {run.split(" ")[0] for run in matrix["run"]}
        self.assertEqual(
            kinds, {"api", "captures", "events", "mail", "restore", "upgrade", "webhooks"}
        )

    def test_every_image_is_released(self) -> None:
        released = _read("release")["env"]["IMAGES"].split(" ")
        self.assertEqual(sorted(released), sorted(image.IMAGES))


class Trust(unittest.TestCase):
    def test_a_workflow_may_only_read_unless_a_job_says_otherwise(self) -> None:
        for file in workflows.FOLDER.glob("*.yml"):
            with self.subTest(file.name):
                self.assertEqual(_read(file.stem)["permissions"], {"contents": "read"})

    def test_only_actions_of_the_forge_itself_are_used(self) -> None:
        for name, _, _, step in _steps():
            if "uses" in step:
                with self.subTest(name, uses=step["uses"]):
                    self.assertRegex(step["uses"], r"^actions/[a-z-]+@v\d+$")

    def test_no_registry_is_written_down(self) -> None:
        for file in workflows.FOLDER.glob("*.yml"):
            text = file.read_text(encoding="utf-8")
            with self.subTest(file.name):
                self.assertEqual(set(_HOST.findall(text)) - {_FORGE}, set())

    def test_no_text_of_a_stranger_becomes_a_command(self) -> None:
        for name, _, _, step in _steps():
            for inserted in re.findall(r"\$\{\{ *(\S+) *\}\}", step.get("run", "")):
                with self.subTest(name, inserted=inserted):
                    self.assertRegex(inserted, r"^(matrix\.\w+|github\.run_number)$")


class Actionlint(unittest.TestCase):
    def test_its_module_names_a_go_that_is_brought(self) -> None:
        module = paths.ROOT / "tools" / "go" / "actionlint" / "go.mod"
        declared = re.search(r"^go (.+)$", module.read_text(encoding="utf-8"), re.MULTILINE)
        assert declared
        self.assertLessEqual(
            [int(part) for part in declared[1].split(".")],
            [int(part) for part in go_toolchain.VERSION.split(".")],
        )


if __name__ == "__main__":
    unittest.main()
