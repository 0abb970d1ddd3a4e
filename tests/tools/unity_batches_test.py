"""Sources share a batch of a unity build only where that changes nothing of what they mean."""

import tempfile
import unittest
from pathlib import Path

from generate import unity_batches


class Batches(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def batches(self, **texts: str) -> list[list[str]]:
        """The batches of sources of one folder, by their names."""
        return self.batches_of({f"libs/box/{name}.cpp": text for name, text in texts.items()})

    def batches_of(self, texts: dict[str, str]) -> list[list[str]]:
        """The batches of sources, by their names."""
        sources = []
        for name, text in texts.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            sources.append(unity_batches.read(path))
        made = unity_batches.batches(sources)
        return [[source.path.stem for source in batch] for batch in made]

    def test_sources_without_names_of_their_own_share_one(self) -> None:
        self.assertEqual(self.batches(a="int a();\n", b="int b();\n"), [["a", "b"]])

    def test_the_same_name_in_two_unnamed_namespaces_keeps_them_apart(self) -> None:
        for own in (
            "int count(int each) { return each; }",
            "const int count = 3;",
            "constexpr int count[] = {1, 2};",
            "struct count { int each; };",
            "template <class T> class count {};",
            "using count = int;",
        ):
            text = f"namespace box {{\nnamespace {{\n{own}\n}}\n}}\n"
            other = text.replace("= int", "= long")
            self.assertEqual(self.batches(a=text, b=other), [["a"], ["b"]], own)

    def test_a_name_that_the_other_mentions_keeps_them_apart(self) -> None:
        own = "namespace {\nint count() { return 1; }\n}\n"
        self.assertEqual(self.batches(a=own, b="int b() { return count(); }\n"), [["a"], ["b"]])
        self.assertEqual(self.batches(a="int b(int count);\n", b=own), [["a"], ["b"]])

    def test_a_static_function_is_a_name_of_its_own(self) -> None:
        text = "static int count() { return 1; }\n"
        self.assertEqual(self.batches(a=text, b=text), [["a"], ["b"]])

    def test_members_comments_and_texts_mention_no_name(self) -> None:
        own = "namespace {\nint count() { return 1; }\n}\n"
        other = '// count\nconst char* b = "count()"; /* count */\nint c = x.count + y->count();\n'
        self.assertEqual(self.batches(a=own, b=other), [["a", "b"]])

    def test_braces_in_texts_open_nothing(self) -> None:
        own = (
            'namespace {\nconst char* open = R"({ ")";\nconst char brace = \'{\';\nint count;\n}\n'
        )
        self.assertEqual(self.batches(a=own, b="int count;\n"), [["a"], ["b"]])

    def test_what_a_function_declares_is_nobody_elses(self) -> None:
        own = "namespace {\nint size() { int count = 1; return count; }\n}\n"
        self.assertEqual(self.batches(a=own, b="int b() { int count = 2; }\n"), [["a", "b"]])

    def test_two_may_have_the_same_alias(self) -> None:
        text = "namespace box {\nnamespace {\nusing steady = std::chrono::steady_clock;\n}\n}\n"
        self.assertEqual(self.batches(a=text, b=text), [["a", "b"]])

    def test_what_uses_another_namespace_stays_apart(self) -> None:
        text = "using namespace box;\n"
        self.assertEqual(self.batches(a=text, b="int b();\n", c=text), [["a", "c"], ["b"]])
        literals = "using namespace std::chrono_literals;\n"
        self.assertEqual(self.batches(a=literals, b="int b();\n"), [["a", "b"]])

    def test_a_batch_has_bounds(self) -> None:
        many = {f"s{number:02}": "int x();\n" for number in range(unity_batches.MAX_FILES + 1)}
        self.assertEqual(
            [len(batch) for batch in self.batches(**many)], [unity_batches.MAX_FILES, 1]
        )
        long = "\n" * (unity_batches.MAX_LINES // 2 + 1)
        self.assertEqual(self.batches(a=long, b=long), [["a"], ["b"]])

    def test_sources_of_a_folder_come_together_first(self) -> None:
        names = ["libs/box/a.cpp", "libs/box/in/b.cpp", "libs/box/z.cpp"]
        self.assertEqual(self.batches_of(dict.fromkeys(names, "int x();\n")), [["a", "z", "b"]])


class Files(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.sources = self.root / "libs" / "box"
        self.sources.mkdir(parents=True)
        self.output = self.root / "build" / "unity"

    def write(self, *names: str) -> list[Path]:
        """Writes the batches of these sources, and returns what is to be compiled."""
        for name in names:
            (self.sources / name).write_text(f"int {name[0]}();\n", encoding="utf-8")
        files = [str(self.sources / name) for name in names]
        return unity_batches.write_all(self.root, self.output, files)

    def test_a_batch_includes_its_sources_by_the_include_path(self) -> None:
        (unit,) = self.write("a.cpp", "b.cpp")
        self.assertEqual(
            unit.read_text(encoding="utf-8"), '#include "box/a.cpp"\n#include "box/b.cpp"\n'
        )

    def test_a_source_alone_is_compiled_itself(self) -> None:
        self.assertEqual(self.write("a.cpp"), [self.sources / "a.cpp"])
        self.assertEqual(list(self.output.iterdir()), [])

    def test_a_batch_that_is_the_same_is_not_compiled_again(self) -> None:
        (unit,) = self.write("a.cpp", "b.cpp")
        before = unit.stat().st_mtime_ns
        self.assertEqual(self.write("a.cpp", "b.cpp"), [unit])
        self.assertEqual(unit.stat().st_mtime_ns, before)

    def test_a_batch_that_is_none_any_more_is_deleted(self) -> None:
        (unit,) = self.write("a.cpp", "b.cpp")
        self.write("a.cpp")
        self.assertFalse(unit.exists())


if __name__ == "__main__":
    unittest.main()
