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
    """Each rule of g++ 12.2."""

    def accept(self, body: str) -> None:
        self.assertEqual(_problems(coroutines, "libs/mime/a.cpp", body), [])

    def refuse(self, body: str, reason: str) -> None:
        found = _problems(coroutines, "libs/mime/a.cpp", body)
        self.assertEqual(len(found), 1, found)
        self.assertIn(reason, found[0].text)

    def test_one_await_a_statement(self) -> None:
        self.accept("f() { auto a = co_await x(); auto b = co_await y(a); co_return b; }")
        self.accept("f() { if (auto a = co_await x()) co_await y(a); }")
        self.accept("f() { for (int i = 0; i < 3; ++i) co_await y(i); }")
        self.refuse("f() { g(co_await x(), co_await y()); }", "two co_await")
        self.refuse("f() { co_await y(co_await x()); }", "two co_await")

    def test_no_bare_condition(self) -> None:
        self.accept("f() { const bool is_done = co_await x(); if (is_done) y(); }")
        self.refuse("f() { if (co_await x()) y(); }", "condition")
        self.refuse("f() { if (!co_await x()) y(); }", "condition")
        self.refuse("f() { while (a && co_await x()) y(); }", "condition")

    def test_no_conditional_operator(self) -> None:
        self.accept("f() { auto name = a ? b : c; co_await g(name); }")
        self.refuse("f() { co_await g(a ? b : c); }", "?:")
        self.refuse("f() { auto v = a ? co_await b() : c; }", "?:")

    def test_no_braces_around_an_await(self) -> None:
        self.accept("f() { { co_await x(); } }")
        self.accept("f() { co_await x(milliseconds{5}); }")
        self.refuse("f() { return point{co_await x(), 1}; }", "braces")

    def test_lambdas_with_owning_captures(self) -> None:
        self.accept("f() { co_await g([this] { h(); }); }")
        self.accept("f() { co_await g([&name](int i) { h(i); }); }")
        self.accept("f() { co_await g(values[i]); }")
        self.refuse("f() { co_await g([name](int i) { h(i); }); }", "captures")
        self.refuse("f() { co_await g([n = std::move(n)] { h(); }); }", "captures")

    def test_macros_and_catch_blocks(self) -> None:
        self.refuse("f() { REQUIRE(co_await x()); }", "twice")
        self.refuse("f() { CHECK_FALSE(co_await x()); }", "twice")
        self.accept(
            "f() { try { co_await x(); } catch (const error& e) { log(e); } co_await y(); }"
        )
        self.refuse("f() { try { x(); } catch (...) { co_await y(); } }", "catch block")

    def test_comments_and_literals_are_not_code(self) -> None:
        self.accept('f() { co_await x("a ? b : c"); // co_await y(co_await z()) ?\n }')
        self.accept("f() { co_await x('?', 1'000'000); }")


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
        self.assertEqual(len(_problems(layout, "libs/mime/view.cpp", "\n" * 401)), 1)
        self.assertEqual(_problems(layout, "libs/mime/view.cpp", "\n" * 400), [])


if __name__ == "__main__":
    unittest.main()
