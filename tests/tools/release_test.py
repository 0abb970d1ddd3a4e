"""Tests that a release's files are the same each time, and what may be released."""

import contextlib
import gzip
import io
import json
import os
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from dev import (
    archives,
    client_packages,
    debian,
    image,
    paths,
    release,
    release_notes,
    spdx_files,
    version,
)
from dev.terminal import Failure, Missing

_CHANGELOG = """# Changelog

## [Unreleased]

### Added

- Of [the next](docs/next.md), and [Semantic](https://semver.org/).

## [1.2.0] - 2026-01-02

- All of it.

[1.2.0]: https://example.com/
"""
_RELEASED = _CHANGELOG.replace("### Added", "").replace(
    "- Of [the next](docs/next.md), and [Semantic](https://semver.org/).", ""
)


class Archives(unittest.TestCase):
    def test_order_time_and_owner_of_files_do_not_show(self) -> None:
        made = []
        for order in ([1, 2], [2, 1]):
            with tempfile.TemporaryDirectory() as folder:
                files = {}
                for number in order:
                    files[f"a/{number}"] = Path(folder) / str(number)
                    files[f"a/{number}"].write_text(str(number))
                target = Path(folder) / "a.tgz"
                archives.write_tar_gz(target, files, 1_700_000_000)
                made.append(target.read_bytes())
                with tarfile.open(target) as packed:
                    members = packed.getmembers()

        self.assertEqual(*made)
        self.assertEqual([member.name for member in members], ["a/1", "a/2"])
        self.assertEqual({(it.uid, it.mode, it.mtime) for it in members}, {(0, 0o644, 1.7e9)})

    def test_a_program_can_be_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "x"
            program.touch(0o755)
            target = Path(folder) / "a.tgz"
            archives.write_tar_gz(target, {"x": program}, 0)
            with tarfile.open(target) as packed:
                self.assertEqual(packed.getmember("x").mode, 0o755)

    def test_the_compressed_form_says_no_time_and_no_name(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "named.gz"
            with target.open("wb") as output, archives.compressed(output) as packed:
                packed.write(b"x")
            content = target.read_bytes()

        self.assertEqual(content[3:8], b"\0\0\0\0\0")
        self.assertEqual(gzip.decompress(content), b"x")


class Packages(unittest.TestCase):
    def test_python_and_the_chart_are_the_same_each_time(self) -> None:
        for pack in (client_packages.wheel, client_packages.sdist, client_packages.chart):
            digests = set()
            for _ in range(2):
                with tempfile.TemporaryDirectory() as folder:
                    digests.add(archives.sha256(pack(Path(folder))))
            self.assertEqual(len(digests), 1, pack)

    def test_the_chart_has_all_but_what_helm_leaves_out(self) -> None:
        with (
            tempfile.TemporaryDirectory() as folder,
            tarfile.open(client_packages.chart(Path(folder))) as packed,
        ):
            names = packed.getnames()

        self.assertIn("tempinbox/Chart.yaml", names)
        self.assertIn("tempinbox/templates/deployments.yaml", names)
        self.assertIn("tempinbox/files/kafka/topics.json", names)
        self.assertEqual([name for name in names if "/ci/" in name], [])

    def test_the_moment_is_the_commits_or_that_which_is_named(self) -> None:
        command = ["git", "-C", str(paths.ROOT), "log", "-1", "--format=%ct"]
        committed = subprocess.run(command, capture_output=True, text=True).stdout
        with mock.patch.dict(os.environ):
            os.environ.pop("SOURCE_DATE_EPOCH", None)
            self.assertEqual(client_packages.moment(), int(committed))
        with mock.patch.dict("os.environ", SOURCE_DATE_EPOCH="1700000000"):
            self.assertEqual(client_packages.created(), "2023-11-14T22:13:20Z")
        with mock.patch.dict("os.environ", SOURCE_DATE_EPOCH="1"):
            self.assertEqual(client_packages.created(), "1980-01-01T00:00:00Z")

    def test_a_document_names_the_file_and_what_it_needs(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "x.whl"
            file.write_bytes(b"x")
            needed = spdx_files.python_packages()
            made = spdx_files.document(file, "1.2.0", "2026-01-01T00:00:00Z", needed, has=False)

        self.assertEqual(
            made["packages"][0]["checksums"][0]["checksumValue"],
            "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
        )
        self.assertEqual(
            made["packages"][1]["externalRefs"][0]["referenceLocator"], "pkg:pypi/httpx"
        )
        self.assertEqual(made["relationships"][1]["relationshipType"], "DEPENDS_ON")

    def test_npm_installs_nothing_else_by_itself(self) -> None:
        content = json.loads(
            (paths.ROOT / "clients/typescript/package.json").read_text(encoding="utf-8")
        )

        self.assertEqual(content.get("dependencies", {}), {})
        names = [it.name for it in spdx_files.npm_packages()]
        self.assertEqual(names, ["@playwright/test", "testcontainers"])


class Sums(unittest.TestCase):
    def test_every_file_is_named_with_its_digest_as_sha256sum_reads_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "b").write_bytes(b"x")
            (Path(folder) / "a").write_bytes(b"")
            sums = release.write_sums(Path(folder))
            checked = subprocess.run(
                ["sha256sum", "--check", "--strict", release.SUMS], cwd=folder, capture_output=True
            )

            self.assertEqual(list(release.read_sums(Path(folder)).items()), sorted(sums.items()))
        self.assertEqual(checked.returncode, 0)

    def test_what_differs_without_a_known_reason_is_told_apart(self) -> None:
        with mock.patch.dict(release.VARYING, {"x-": "of chance"}):
            found = release.differing(
                {"same": "1", "x-1": "1", "y": "1"}, {"same": "1", "x-1": "2", "z": "1"}
            )

        self.assertEqual(found, (["y", "z"], ["x-1"]))


class Versions(unittest.TestCase):
    def test_the_version_of_a_release_is_of_its_content_alone(self) -> None:
        self.assertIsNone(version.find_reuse("1.2.0", _RELEASED, "tree", "tree"))
        refused = str(version.find_reuse("1.2.0", _RELEASED, "tree", "other"))
        self.assertIn("1.2.0 was released with other content", refused)

    def test_without_a_tag_it_is_the_content_that_upgrades_are_rehearsed_from(self) -> None:
        commit = (paths.ROOT / "deploy" / "baseline").read_text(encoding="ascii").strip()
        printed = {
            ("show", f"{commit}:VERSION"): "1.2.0",
            ("rev-parse", f"{commit}^{{tree}}"): "tree",
        }
        with mock.patch.object(version, "git", lambda *command: printed.get(command, "")):
            self.assertEqual(version.released_tree("1.2.0"), "tree")
            self.assertIsNone(version.released_tree("1.3.0"))

    def test_of_a_version_without_a_release_the_changelog_tells(self) -> None:
        self.assertIsNone(version.find_reuse("1.2.0", _RELEASED, None, "other"))
        self.assertIn("-dev", str(version.find_reuse("1.2.0", _CHANGELOG, None, "other")))

    def test_what_is_developed_leads_to_a_later_version(self) -> None:
        self.assertIsNone(version.find_reuse("1.3.0-dev", _CHANGELOG, None, "other"))
        self.assertIn("later", str(version.find_reuse("1.2.0-dev", _CHANGELOG, None, "other")))

    def test_python_writes_it_in_its_own_way(self) -> None:
        self.assertEqual(version.for_python("1.3.0-dev"), "1.3.0.dev0")
        self.assertEqual(version.for_python("1.3.0"), "1.3.0")

    def test_other_forms_are_refused(self) -> None:
        for wrong in ("1.2", "1.2.3-rc1", "v1.2.3", "1.2.3-dev\n"):
            with self.subTest(wrong), self.assertRaises(Failure):
                version.check_form(wrong)


def _notes(chosen: str, changelog: str, registry: str = "") -> str:
    return release_notes.text(chosen, changelog, registry, "amd64")


class Notes(unittest.TestCase):
    def test_they_are_the_section_of_the_version(self) -> None:
        notes = _notes("1.2.0", _CHANGELOG)

        self.assertTrue(notes.startswith("# Temporary Inbox Service 1.2.0\n\n"))
        self.assertTrue(notes.endswith("```\n\n- All of it.\n"))

    def test_they_say_how_the_image_is_run_from_the_registry_or_the_file(self) -> None:
        pulled = _notes("1.2.0", _CHANGELOG, "registry.example.com/suite/")
        loaded = _notes("1.2.0", _CHANGELOG)

        self.assertIn(" registry.example.com/suite/all-in-one:1.2.0\n", pulled)
        self.assertNotIn("docker load", pulled)
        self.assertIn("docker load --input all-in-one-1.2.0-linux-amd64.oci.tar\n", loaded)
        self.assertIn(" localhost/tempinbox/all-in-one:1.2.0\n", loaded)

    def test_before_the_release_they_are_what_there_is_so_far(self) -> None:
        self.assertIn("### Added", _notes("1.3.0-dev", _CHANGELOG))
        with self.assertRaisesRegex(Failure, "nothing of 1.3.0"):
            _notes("1.3.0", _CHANGELOG)

    def test_right_after_a_release_they_say_that_nothing_has_changed(self) -> None:
        self.assertIn("Nothing has changed", _notes("1.3.0-dev", _RELEASED))

    def test_links_into_the_repository_become_text(self) -> None:
        self.assertIn(
            "- Of the next, and [Semantic](https://semver.org/).",
            _notes("1.3.0-dev", _CHANGELOG),
        )


class Trees(unittest.TestCase):
    def test_where_programs_cannot_be_built_nothing_is_made(self) -> None:
        with (
            tempfile.TemporaryDirectory() as made,
            mock.patch.object(release, "FOLDER", Path(made) / "dist"),
            mock.patch.object(release, "check_tree"),
            mock.patch.object(debian, "release", return_value="bookworm"),
        ):
            with self.assertRaisesRegex(Missing, "./dev root trixie"):
                release.run([], image.Source(None), None, None, dry_run=True)
            self.assertFalse(release.FOLDER.exists())

    def test_a_folder_to_compare_with_that_no_run_made_is_refused_before_anything(self) -> None:
        with (
            tempfile.TemporaryDirectory() as made,
            mock.patch.object(release, "FOLDER", Path(made) / "dist"),
            mock.patch.object(release, "check_tree"),
        ):
            with self.assertRaisesRegex(Failure, "misspelled has no SHA256SUMS"):
                release.run(
                    ["npm"],
                    image.Source(None),
                    None,
                    Path(made) / "misspelled",
                    dry_run=True,
                )
            self.assertFalse(release.FOLDER.exists())

    def test_dist_is_compared_as_it_was_before(self) -> None:
        def make(*_: object) -> None:
            (release.FOLDER / "a").write_bytes(b"new")

        with (
            tempfile.TemporaryDirectory() as made,
            mock.patch.object(paths, "ROOT", Path(made)),
            mock.patch.object(release, "FOLDER", Path(made) / "dist"),
            mock.patch.object(release, "check_tree"),
            mock.patch.object(release, "_make", make),
        ):
            release.FOLDER.mkdir()
            (release.FOLDER / "a").write_bytes(b"old")
            release.write_sums(release.FOLDER)

            with contextlib.redirect_stdout(io.StringIO()):
                code = release.run(
                    ["npm"],
                    image.Source(None),
                    None,
                    release.FOLDER,
                    dry_run=True,
                )
        self.assertEqual(code, 1)

    def test_without_docker_nothing_is_made(self) -> None:
        with (
            tempfile.TemporaryDirectory() as made,
            mock.patch.object(release, "FOLDER", Path(made) / "dist"),
            mock.patch.object(release, "check_tree"),
            mock.patch.object(debian, "release", return_value=debian.IMAGE_RELEASE),
            mock.patch("dev.docker.shutil.which", return_value=None),
        ):
            with self.assertRaisesRegex(Missing, "docker-cli"):
                release.run([], image.Source(None), None, None, dry_run=True)
            self.assertFalse(release.FOLDER.exists())

    def test_what_is_not_committed_is_not_released(self) -> None:
        with (
            mock.patch.object(version, "git", return_value=" M README.md"),
            self.assertRaisesRegex(Failure, "README.md"),
        ):
            release.check_tree("1.3.0-dev", dry_run=True)

    def test_a_version_in_development_is_only_tried(self) -> None:
        with mock.patch.object(version, "git", return_value=""):
            release.check_tree("99.0.0-dev", dry_run=True)
            with self.assertRaisesRegex(Failure, "--dry-run"):
                release.check_tree("99.0.0-dev", dry_run=False)


if __name__ == "__main__":
    unittest.main()
