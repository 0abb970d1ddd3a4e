import tempfile
import unittest
from pathlib import Path

from dev import node_packages


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


class NodeVersions(unittest.TestCase):
    def test_which_run_vite(self) -> None:
        for version, is_enough in [
            ("v18.20.4\n", False),
            ("v20.18.3", False),
            ("v20.19.0", True),
            ("v21.7.0", False),
            ("v22.11.0", False),
            ("v22.12.0", True),
            ("v24.1.0", True),
            ("", False),
        ]:
            with self.subTest(version):
                self.assertEqual(node_packages.runs_vite(version), is_enough)


if __name__ == "__main__":
    unittest.main()
