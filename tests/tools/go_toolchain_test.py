import os
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from dev import go_toolchain, paths
from dev.terminal import Failure


class Versions(unittest.TestCase):
    def test_which_are_new_enough(self) -> None:
        for output, is_enough in [
            ("go version go1.19.8 linux/amd64\n", False),
            ("go version go1.25.9 linux/amd64", False),
            ("go version go1.26 linux/amd64", True),
            ("go version go1.27.1 linux/arm64", True),
            ("", False),
        ]:
            with self.subTest(output):
                self.assertEqual(go_toolchain.is_new_enough(output), is_enough)

    def test_the_one_brought_is_what_the_example_asks_for(self) -> None:
        module = paths.ROOT / "examples" / "consumers" / "go" / "go.mod"
        declared = re.search(r"^go (.+)$", module.read_text(encoding="utf-8"), re.MULTILINE)
        assert declared
        self.assertEqual(declared[1], go_toolchain.VERSION)


class OlderGo(unittest.TestCase):
    """Uses a Go of Debian 12 that answers as it would, with a module of one program."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name).resolve()
        self.module = self.top / "module"
        (self.module / "bin").mkdir(parents=True)
        (self.module / "bin" / "go").write_text("#!/bin/sh\necho newer\n", encoding="ascii")
        programs = self.top / "programs"
        programs.mkdir()
        environment = {
            "XDG_CACHE_HOME": str(self.top),
            "PATH": f"{programs}:{os.environ['PATH']}",
        }
        self.go = programs / "go"
        for patched in (
            mock.patch.dict(os.environ, environment),
            mock.patch("platform.machine", return_value="x86_64"),
            mock.patch.object(go_toolchain, "say"),
        ):
            patched.start()
            self.addCleanup(patched.stop)

    def _answer(self, total: str) -> None:
        self.go.write_text(
            "#!/bin/sh\n"
            '[ "$1" = version ] && echo go version go1.19.8 linux/amd64 && exit\n'
            'mkdir -p "$GOMODCACHE"\n'
            f'echo \'{{"Sum": "{total}", "Dir": "{self.module}"}}\'\n',
            encoding="ascii",
        )
        self.go.chmod(0o755)

    def test_it_brings_one_that_can_be_run(self) -> None:
        self._answer("h1:1p2G5COR51f8Q3EQ4HLJQDDL2ytLEqfL/yTawB0Jr8w=")
        path = go_toolchain.ensure()["PATH"]
        program = Path(path.split(os.pathsep)[0]) / "go"
        self.assertTrue(os.access(program, os.X_OK))
        self.assertIn("newer", program.read_text(encoding="ascii"))

    def test_one_with_another_content_is_refused(self) -> None:
        self._answer("h1:another")
        with self.assertRaisesRegex(Failure, "h1:another"):
            go_toolchain.ensure()


if __name__ == "__main__":
    unittest.main()
