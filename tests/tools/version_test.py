"""The file VERSION is what programs, API descriptions and the dashboard say of themselves."""

import json
import re
import unittest

import yaml
from dev import version
from dev.paths import ROOT
from generate import version as generator

VERSION = version.current()
_NPM_FOLDERS = [ROOT / "web" / "dashboard", ROOT / "clients" / "typescript"]


class Version(unittest.TestCase):
    def test_it_is_semantic(self) -> None:
        version.check_form(VERSION)

    def test_the_last_releases_version_is_not_that_of_other_content(self) -> None:
        released, here = version.released_tree(VERSION), version.git("rev-parse", "HEAD^{tree}")
        changelog = version.CHANGELOG.read_text(encoding="utf-8")

        self.assertIsNone(version.find_reuse(VERSION, changelog, released, here))

    def test_programs_are_built_with_it(self) -> None:
        top = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")

        self.assertIn('/VERSION" tempinbox_version', top)
        room = (ROOT / "libs/common/core/CMakeLists.txt").read_text(encoding="utf-8")
        self.assertIn('TEMPINBOX_VERSION=\\"${tempinbox_version}\\"', room)

    def test_every_text_that_is_written_anew_has_it_and_no_other(self) -> None:
        files = r"\b(?:tempinbox/[\w-]+:|all-in-one-|_VERSION=)(\d+\.\d+\.\d+(?:-dev)?)"
        for name in generator.TEXTS:
            with self.subTest(name):
                text = (ROOT / name).read_text(encoding="utf-8")
                self.assertRegex(text, generator.pattern(VERSION))
                self.assertEqual({*re.findall(files, text), VERSION}, {VERSION})

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
        headings = version.changelog_headings(log)

        self.assertEqual(headings[0], "Unreleased")
        if version.is_release(VERSION):
            self.assertEqual(headings[1], VERSION)

    def test_the_python_client_has_it_in_pythons_form(self) -> None:
        written = ROOT / "clients/python/src/tempinbox/__init__.py"
        text = written.read_text(encoding="utf-8")

        self.assertIn(f'__version__ = "{version.for_python(VERSION)}"', text)

    def test_the_chart_and_its_images_have_it(self) -> None:
        text = (ROOT / "deploy/helm/tempinbox/Chart.yaml").read_text(encoding="utf-8")
        chart = yaml.safe_load(text)

        self.assertEqual((chart["version"], chart["appVersion"]), (VERSION, VERSION))


if __name__ == "__main__":
    unittest.main()
