"""The rules on snippets that break them and on ones that do not: `python3 -m unittest` in this
folder.
"""

import unittest
from pathlib import Path
from types import ModuleType

import boundaries
import coroutines
import layout
import words
from source import Problem, Source


def _problems(rule: ModuleType, path: str, text: str, *others: Source) -> list[Problem]:
    return list(rule.check([Source(Path(path), text), *others]))


class Coroutines(unittest.TestCase):
    """What must not surround co_await."""

    def accept(self, body: str) -> None:
        self.assertEqual(_problems(coroutines, "libs/mime/a.cpp", body), [])

    def refuse(self, body: str, reason: str) -> None:
        found = _problems(coroutines, "libs/mime/a.cpp", body)
        self.assertEqual(len(found), 1, found)
        self.assertIn(reason, found[0].text)

    def test_no_macro_that_runs_it_twice(self) -> None:
        self.accept("f() { const auto a = co_await x(); REQUIRE(a); }")
        self.refuse("f() { REQUIRE(co_await x()); }", "twice")
        self.refuse("f() { CHECK_FALSE(co_await x()); }", "twice")

    def test_no_lambda_is_spawned(self) -> None:
        self.accept("f() { co_spawn(loop, run(self), [self](error) { done(); }); }")
        self.refuse("f() { co_spawn(host.loop(), [self] { return run(); }, detached); }", "named")

    def test_comments_and_literals_are_not_code(self) -> None:
        self.accept('f() { // CHECK(co_await x())\n log("REQUIRE(co_await x())"); }')


class Boundaries(unittest.TestCase):
    """Who may include what."""

    def test_libraries_stay_in_their_room(self) -> None:
        self.assertEqual(
            _problems(
                boundaries, "libs/common/http/session.cpp", "#include <boost/beast/http.hpp>\n"
            ),
            [],
        )
        self.assertEqual(
            _problems(boundaries, "services/inbox/inbox_store.cpp", "#include <pqxx/pqxx>\n"), []
        )
        self.assertEqual(
            len(_problems(boundaries, "services/inbox/expiry.cpp", "#include <pqxx/pqxx>\n")), 1
        )
        self.assertEqual(
            len(
                _problems(
                    boundaries, "services/gateway/service.cpp", "#include <librdkafka/rdkafka.h>\n"
                )
            ),
            1,
        )

    def test_arrows_point_down(self) -> None:
        self.assertEqual(
            _problems(
                boundaries, "libs/common/http/server.cpp", '#include "common/core/time.hpp"\n'
            ),
            [],
        )
        found = _problems(
            boundaries, "libs/common/core/time.cpp", '#include "common/http/server.hpp"\n'
        )
        self.assertIn("lies above", found[0].text)

    def test_rooms_do_not_include_each_other(self) -> None:
        back = Source(Path("libs/common/kafka/a.cpp"), '#include "common/postgres/pool.hpp"\n')
        found = _problems(
            boundaries, "libs/common/postgres/b.cpp", '#include "common/kafka/producer.hpp"\n', back
        )
        self.assertIn("include each other", found[0].text)

    def test_no_service_knows_another(self) -> None:
        other = Source(Path("services/inbox/expiry.hpp"), "")
        self.assertEqual(
            len(
                _problems(
                    boundaries,
                    "services/gateway/service.cpp",
                    '#include "inbox/expiry.hpp"\n',
                    other,
                )
            ),
            1,
        )
        self.assertEqual(
            _problems(
                boundaries, "services/inbox/service.cpp", '#include "inbox/expiry.hpp"\n', other
            ),
            [],
        )


class Words(unittest.TestCase):
    """What must not stay."""

    def test_unfinished_work(self) -> None:
        self.assertEqual(len(_problems(words, "libs/a.cpp", "// " + "TO" + "DO: later\n")), 1)
        self.assertEqual(_problems(words, "libs/a.cpp", "// done\n"), [])

    def test_sleeping_tests(self) -> None:
        line = "std::this_thread::" + "sleep_" + "for(1s);\n"
        self.assertTrue(_problems(words, "tests/unit/a_test.cpp", line))
        self.assertEqual(_problems(words, "libs/common/kafka/a.cpp", line), [])

    def test_paths_of_one_machine(self) -> None:
        self.assertEqual(len(_problems(words, "docs/a.md", "see " + "/root" + "/x\n")), 1)
        self.assertEqual(_problems(words, "docs/a.md", "see build" + "/work" + "/x\n"), [])


class Layout(unittest.TestCase):
    """Names and sizes."""

    def test_names_and_sizes(self) -> None:
        self.assertEqual(len(_problems(layout, "libs/mime/mime_utils.cpp", "")), 1)
        self.assertEqual(len(_problems(layout, "libs/mime/view.cpp", "\n" * 701)), 1)
        self.assertEqual(_problems(layout, "libs/mime/view.cpp", "\n" * 700), [])


if __name__ == "__main__":
    unittest.main()
