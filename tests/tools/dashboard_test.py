"""The dashboard's types: made from its API's contract, or the check fails."""

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
