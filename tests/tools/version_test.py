"""The file VERSION is what programs, API descriptions and the dashboard say of themselves."""

import json
import re
import unittest

import yaml
from dev.paths import ROOT

VERSION = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
_NPM_FOLDERS = [ROOT / "web" / "dashboard", ROOT / "clients" / "typescript"]


class Version(unittest.TestCase):
    def test_it_is_semantic(self) -> None:
        self.assertRegex(VERSION, r"^\d+\.\d+\.\d+$")

    def test_programs_are_built_with_it(self) -> None:
        top = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")

        self.assertIn('/VERSION" tempinbox_version', top)
        self.assertIn("project(tempinbox VERSION ${tempinbox_version} ", top)

    def test_the_contracts_have_it(self) -> None:
        for name in ("openapi.yaml", "dashboard-openapi.yaml"):
            with self.subTest(name):
                contract = yaml.safe_load((ROOT / "docs" / name).read_text(encoding="utf-8"))
                self.assertEqual(contract["info"]["version"], VERSION)
                self.assertEqual(contract["info"]["license"]["identifier"], "Apache-2.0")

    def test_the_dashboard_and_the_client_have_it(self) -> None:
        for folder in _NPM_FOLDERS:
            with self.subTest(folder.name):
                package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
                lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))

                self.assertEqual(package["version"], VERSION)
                self.assertEqual(lock["version"], VERSION)
                self.assertEqual(lock["packages"][""]["version"], VERSION)

    def test_the_changelog_knows_it(self) -> None:
        log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## \[([^\]]+)\]", log, re.MULTILINE)

        self.assertEqual(headings[:2], ["Unreleased", VERSION])


if __name__ == "__main__":
    unittest.main()
