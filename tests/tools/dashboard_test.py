"""The dashboard's types: made from its API's contract, or the check fails. And when its page is
built.
"""

import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from dev import dashboard
from dev.terminal import Failure


class Types(unittest.TestCase):
    """The generator's output decides, not its exit code alone."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.types = Path(folder.name) / "openapi.d.ts"
        self.types.write_text("export interface paths {}", encoding="ascii")

    def _make(self, code: int, said: str) -> list[str]:
        done = subprocess.CompletedProcess([], code, "", said)
        with (
            mock.patch("dev.node_packages.ensure", return_value={}),
            mock.patch("subprocess.run", return_value=done) as run,
        ):
            dashboard.make_types(Path("contract.yaml"), self.types)
        command: list[str] = run.call_args.args[0]
        return command

    def test_they_are_written_where_the_page_reads_them(self) -> None:
        self.assertIn(f"--output={self.types}", self._make(0, ""))
        self.assertTrue(self.types.exists())

    def test_a_reference_that_leads_nowhere_fails_and_leaves_no_old_types(self) -> None:
        with self.assertRaisesRegex(Failure, "Could not resolve"):
            self._make(0, 'Could not resolve $ref "#/components/schemas/Nothing"')
        self.assertFalse(self.types.exists())

    def test_a_contract_that_is_none_fails(self) -> None:
        with self.assertRaises(Failure):
            self._make(1, "not OpenAPI")

    def test_the_page_is_built_without_them(self) -> None:
        self.assertNotIn(dashboard.TYPES, dashboard._sources())


class Page(unittest.TestCase):
    """Uses a folder with one source, and a Vite that only notes that it was run."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        top = Path(folder.name)
        self.source = top / "src" / "main.tsx"
        self.source.parent.mkdir()
        self.source.write_text("let a", encoding="ascii")
        for name in (
            "index.html",
            "package.json",
            "package-lock.json",
            "tsconfig.json",
            "vite.config.ts",
        ):
            (top / name).touch()
        self.dist = top / "dist"
        self.bringing = mock.Mock(return_value={})
        for patched in (
            mock.patch.multiple(
                dashboard,
                FOLDER=top,
                BUILT=self.dist,
                _BUILD_STAMP=top / "built",
                _LOCK=top / "lock",
                heading=mock.DEFAULT,
                item=mock.DEFAULT,
            ),
            mock.patch("dev.node_packages.ensure", self.bringing),
            mock.patch("dev.node_packages.run", self._run_vite),
        ):
            patched.start()
            self.addCleanup(patched.stop)
        self.builds = 0

    def _run_vite(self, *_given: object) -> None:
        self.builds += 1
        self.dist.mkdir(exist_ok=True)
        (self.dist / "index.html").touch()

    def test_one_built_of_the_same_sources_needs_no_node(self) -> None:
        dashboard.build()
        self.bringing.reset_mock()
        dashboard.bring_what_building_needs()
        dashboard.build()
        self.bringing.assert_not_called()
        self.assertEqual(self.builds, 1)

    def test_a_changed_source_is_built(self) -> None:
        dashboard.build()
        self.source.write_text("let b", encoding="ascii")
        self.bringing.reset_mock()
        dashboard.bring_what_building_needs()
        self.bringing.assert_called_once()
        dashboard.build()
        self.assertEqual(self.builds, 2)

    def test_one_that_was_removed_is_built(self) -> None:
        dashboard.build()
        (self.dist / "index.html").unlink()
        dashboard.build()
        self.assertEqual(self.builds, 2)
