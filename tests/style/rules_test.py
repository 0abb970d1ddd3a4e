"""The rules on snippets that break them and on ones that do not: `python3 -m unittest` in this
folder.
"""

import unittest
from pathlib import Path
from types import ModuleType

import boundaries
import catches
import coroutines
import dead_sql
import house
import layout
import leftovers
import migrations
import rpc_methods
import words
from source import Problem, Source


def _problems(rule: ModuleType, path: str, text: str, *others: Source) -> list[Problem]:
    return list(rule.check([Source(Path(path), text), *others]))


class Coroutines(unittest.TestCase):
    """Tests what must not surround co_await."""

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
    """Tests which folder may include which."""

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
            len(
                _problems(
                    boundaries, "services/inbox/lifecycle/expiry.cpp", "#include <pqxx/pqxx>\n"
                )
            ),
            1,
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

    def test_no_id_passes_as_another(self) -> None:
        for body in (
            "take(key_id{x.who.account().value()});",
            "const key_id key(account.value());",
        ):
            self.assertEqual(len(_problems(boundaries, "services/gateway/a.cpp", body)), 1)
        for body in ("key_id{*uuid}", "f(email.email_id()).value()", "event_id{mix(a, b.value())}"):
            self.assertEqual(_problems(boundaries, "services/gateway/a.cpp", body), [])

    def test_prepared_statements_run_through_their_room(self) -> None:
        calls = [
            'tx.exec_prepared("a", 1);',
            'tx->exec_prepared1("a");',
            "tx\n  .exec_prepared0(a)",
        ]
        for call in calls:
            (found,) = _problems(boundaries, "tests/integration/mailbox/a_test.cpp", call)
            self.assertRegex(found.text, r"call postgres::exec_prepared[01]?\(tx")
            self.assertEqual(_problems(boundaries, "libs/common/postgres/session.hpp", call), [])
        for body in ('postgres::exec_prepared(tx, "a", 1);', '// tx.exec_prepared("a")'):
            self.assertEqual(_problems(boundaries, "services/inbox/storage/a.cpp", body), [])

    def test_no_service_knows_another(self) -> None:
        other = Source(Path("services/inbox/lifecycle/expiry.hpp"), "")
        self.assertEqual(
            len(
                _problems(
                    boundaries,
                    "services/gateway/service.cpp",
                    '#include "inbox/lifecycle/expiry.hpp"\n',
                    other,
                )
            ),
            1,
        )
        self.assertEqual(
            _problems(
                boundaries,
                "services/inbox/service.cpp",
                '#include "inbox/lifecycle/expiry.hpp"\n',
                other,
            ),
            [],
        )

    def test_arrows_inside_a_service_point_down(self) -> None:
        home = "services/webhook-dispatcher/"

        def found(path: str, name: str) -> list[str]:
            text = f'#include "webhook-dispatcher/{name}"\n'
            return [it.text for it in _problems(boundaries, home + path, text)]

        self.assertEqual(found("events/a.cpp", "delivery/engine.hpp"), [])
        self.assertEqual(found("events/a.cpp", "events/b.hpp"), [])
        self.assertEqual(found("service.cpp", "api/webhook_rpc.hpp"), [])
        self.assertIn("lies above", found("delivery/a.cpp", "events/b.hpp")[0])
        self.assertIn("lies above", found("storage/a.hpp", "endpoints/b.hpp")[0])
        self.assertIn("lies above", found("api/a.cpp", "settings.hpp")[0])
        self.assertIn("unknown", found("history/a.cpp", "storage/b.hpp")[0])

    def test_the_roots_of_a_service_are_given_its_core(self) -> None:
        def found(path: str, name: str) -> list[str]:
            text = f'#include "gateway/{name}"\n'
            return [it.text for it in _problems(boundaries, f"services/gateway/{path}", text)]

        self.assertEqual(found("surfaces/api.hpp", "core.hpp"), [])
        self.assertIn("lies above", found("dashboard/keys.cpp", "core.hpp")[0])


class Catches(unittest.TestCase):
    """Tests who handles an exception, and why there."""

    def found(self, body: str, path: str = "services/inbox/a.cpp") -> list[int]:
        return [problem.line for problem in _problems(catches, path, body)]

    def test_a_reason_stands_beside_it(self) -> None:
        plain = (
            "    try {\n        f();\n        g();\n"
            "    } catch (const lost&) {\n        h();\n    }\n"
        )
        self.assertEqual(self.found(plain), [4])
        self.assertEqual(self.found("    // Why.\n" + plain), [])
        self.assertEqual(
            self.found(plain.replace("        g();", "        // Why.\n        g();")), []
        )
        self.assertEqual(
            self.found(plain.replace("        h();", "        // Why.\n        h();")), []
        )

    def test_one_reason_is_enough_for_the_handlers_of_a_try(self) -> None:
        both = (
            "try {\n    f();\n} catch (const a&) {\n    // Why.\n"
            "} catch (const b&) {\n    h();\n}\n"
        )
        self.assertEqual(self.found(both), [])
        self.assertEqual(self.found(both + both.replace("    // Why.\n", "")), [10])

    def test_another_try_and_the_word_in_prose_do_not_count(self) -> None:
        nested = (
            "// Why.\ntry {\n    try {\n        f();\n        g();\n    } catch (const a&) {\n"
            "        h();\n    }\n} catch (const b&) {\n}\n"
        )
        self.assertEqual(self.found(nested), [6])
        self.assertEqual(self.found("f();\n// } catch (\n"), [])

    def test_some_places_are_meant_to(self) -> None:
        body = "try {\n    f();\n} catch (...) {\n    g();\n}\n"
        self.assertEqual(self.found(body, "libs/common/http/session.cpp"), [])
        self.assertEqual(self.found(body, "libs/common/async/batcher.hpp"), [])
        self.assertEqual(self.found(body, "tests/unit/inbox/a_test.cpp"), [])
        self.assertEqual(self.found(body, "libs/common/http/client.cpp"), [3])


class RpcMethods(unittest.TestCase):
    """A method is one constant, with one handler."""

    proto = Source(
        Path("proto-schemas/tempinbox/a/v1/a.proto"),
        "package tempinbox.a.v1;\nservice AService {\n  rpc Get(GetRequest) returns (R);\n}\n",
    )
    constant = Source(
        Path("libs/common/rpc/a_methods.hpp"),
        "namespace tempinbox::a_methods {\n"
        "inline constexpr rpc::method<a::GetRequest,\n"
        '    a::R> get{"tempinbox.a.v1.AService/Get"};\n',
    )

    def found(self, handler: str, *others: Source) -> list[str]:
        problems = _problems(rpc_methods, "services/a/a_rpc.cpp", handler, *others)
        return [problem.text for problem in problems]

    def test_each_has_both(self) -> None:
        handler = "server.add(a_methods::get, *this, &a_rpc::get);\n"
        self.assertEqual(self.found(handler, self.proto, self.constant), [])
        handler = "counts_.add_to(server_, a_methods::get);\n"
        self.assertEqual(self.found(handler, self.proto, self.constant), [])

    def test_one_without_a_constant(self) -> None:
        self.assertIn("has no constant", self.found("", self.proto)[0])

    def test_one_that_is_only_called(self) -> None:
        calling = "co_await client.call(a_methods::get, request);\n"
        found = self.found(calling, self.proto, self.constant)
        self.assertEqual(found, ["no service handles a_methods::get"])

    def test_its_path_stands_once(self) -> None:
        self.assertIn("string", self.found('call("tempinbox.a.v1.AService/Get");\n')[0])
        self.assertEqual(self.found('// "tempinbox.a.v1.AService/Get"\n'), [])


class Leftovers(unittest.TestCase):
    """Tests what must not stay in the tree."""

    def test_unfinished_work(self) -> None:
        self.assertEqual(len(_problems(leftovers, "libs/a.cpp", "// " + "TO" + "DO: later\n")), 1)
        self.assertEqual(_problems(leftovers, "libs/a.cpp", "// done\n"), [])

    def test_sleeping_tests(self) -> None:
        line = "std::this_thread::" + "sleep_" + "for(1s);\n"
        self.assertTrue(_problems(leftovers, "tests/unit/a_test.cpp", line))
        self.assertEqual(_problems(leftovers, "libs/common/kafka/a.cpp", line), [])

    def test_a_load_keeps_its_rhythm_without_blocking(self) -> None:
        for folder in ("bench", "chaos"):
            path = f"tests/{folder}/a.py"
            self.assertTrue(_problems(leftovers, path, "time." + "sleep" + "(1)\n"))
            self.assertEqual(_problems(leftovers, path, "await asyncio." + "sleep" + "(1)\n"), [])

    def test_python_waits_by_the_function_for_it(self) -> None:
        loop = "if time.monotonic() > " + "deadline:\n    fail()\n"
        for path in ("tools/dev/a.py", "tests/e2e/a.py", "tests/chaos/a.py"):
            self.assertEqual(len(_problems(leftovers, path, loop)), 1)
            self.assertEqual(len(_problems(leftovers, path, "pause." + "wait(1.0)\n")), 1)
            self.assertEqual(_problems(leftovers, path, "left = deadline - monotonic()\n"), [])
        self.assertTrue(_problems(leftovers, "tools/a.py", "asyncio." + "sleep" + "(1)\n"))
        self.assertEqual(_problems(leftovers, "tools/dev/waiting.py", loop), [])

    def test_paths_of_one_machine(self) -> None:
        self.assertEqual(len(_problems(leftovers, "docs/a.md", "see " + "/root" + "/x\n")), 1)
        self.assertEqual(_problems(leftovers, "docs/a.md", "see build" + "/work" + "/x\n"), [])


class House(unittest.TestCase):
    """Tests what the figures count."""

    def figure(self, name: str, *sources: tuple[str, str]) -> house.Figure:
        found = house.figures([Source(Path(path), text) for path, text in sources])
        return next(figure for figure in found if figure.name == name)

    def test_a_loop_that_runs_unless_it_runs_is_a_batcher_of_its_own(self) -> None:
        loop = (
            "void sender::add()\n{\n    if (is_sending_)\n        return;\n"
            "    is_sending_ = true;\n    co_spawn(loop_, send_all(self()), detached);\n}\n"
            "awaitable<void> sender::send_all(self mine)\n{\n    while (true)\n"
            "        co_await next();\n}\n"
        )
        name = "hand-written batch loops"
        self.assertEqual(self.figure(name, ("services/a/sender.cpp", loop)).note, "sender")
        self.assertEqual(self.figure(name, ("libs/common/async/a.hpp", loop)).value, 0)
        unguarded = loop.replace("if (is_sending_)", "if (is_new)")
        self.assertEqual(self.figure(name, ("services/a/sender.cpp", unguarded)).value, 0)
        once = loop.replace("while (true)", "")
        self.assertEqual(self.figure(name, ("services/a/sender.cpp", once)).value, 0)

    def test_a_header_that_only_its_own_file_and_tests_include_is_dead(self) -> None:
        used = ("services/a/b.hpp", "int f();\n")
        own = ("services/a/b.cpp", '#include "a/b.hpp"\n')
        test = ("tests/unit/a/b_test.cpp", '#include "a/b.hpp"\n')
        other = ("services/a/c.cpp", '#include "a/b.hpp"\n')
        name = "C++ units that nothing uses"
        self.assertEqual(self.figure(name, used, own, test).note, "services/a/b.hpp")
        self.assertEqual(self.figure(name, used, own, other).value, 0)

    def test_sql_that_no_statement_names_is_dead(self) -> None:
        schema = Source(
            Path("libs/a/schema/0001_a.sql"),
            "-- seen\nCREATE TABLE a.rows (\n    id uuid NOT NULL, seen text CHECK (f(1, 2) > 0),\n"
            "    PRIMARY KEY (id)\n);\n"
            "CREATE TABLE a.rows_default PARTITION OF a.rows DEFAULT;\n",
        )
        function = Source(
            Path("libs/a/functions/grow.sql"),
            "CREATE OR REPLACE FUNCTION a.grow(n int) RETURNS int AS $$ SELECT n $$;\n",
        )
        self.assertEqual(dead_sql.dead([schema, function]), ["rows.seen", "grow"])

        reads = Source(Path("libs/a/rows.cpp"), 'x("SELECT seen FROM rows WHERE a.grow(1) = 1");\n')
        self.assertEqual(dead_sql.dead([schema, function, reads]), [])
        only_said = Source(Path("libs/a/rows.cpp"), "// seen, grow\nint seen = grow;\n")
        self.assertEqual(dead_sql.dead([schema, function, only_said]), ["rows.seen", "grow"])


class Words(unittest.TestCase):
    """The glossary."""

    def found(self, path: str, text: str) -> list[str]:
        return [problem.text for problem in _problems(words, path, text)]

    def test_old_words_as_names(self) -> None:
        self.assertIn("max", self.found("libs/a.hpp", "constexpr int most_rows = 1;\n")[0])
        self.assertTrue(self.found("libs/a.hpp", "struct find_wish {};\n"))
        self.assertTrue(self.found("libs/a.hpp", "void stop(milliseconds patience);\n"))

    def test_every_language_and_case(self) -> None:
        for path, text in (
            ("tools/a.py", "class SuiteWishes:\n    _PATIENCE_SECONDS = 1\n"),
            ("web/a.ts", "type Asked = string;\nconst LONGEST_PAUSE_MS = 2;\n"),
            ("web/a.tsx", "const useNews = () => <p>{told}</p>;\nfunction tell() {}\n"),
            ("tests/a.mjs", "const text = `a ${told} b`;\nconst by_hand = 1;\n"),
            ("proto-schemas/a.proto", "message Wish {}\nmessage ToldDebt {}\n"),
        ):
            with self.subTest(path):
                lines = {problem.line for problem in _problems(words, path, text)}
                self.assertEqual(lines, {1, 2})

    def test_prose_is_free_in_every_language(self) -> None:
        sentence = "def test_it_is_told() -> None: ...\n"
        script = "// asked\nconst x = 'news' + `told ${y} \\` asked` + /told['\"]/.test(y);\n"
        for path, text in (
            ("tools/a.py", '"""As told."""\n# asked\nx = "news"\n\n' + sentence),
            ("web/a.ts", script),
            ("web/a.tsx", 'const x = <p class="a">Webhooks were\n told {x} of news</p>;\n'),
            ("proto-schemas/a.proto", "// told\nmessage Usage {} /* asked */\n"),
        ):
            with self.subTest(path):
                self.assertEqual(self.found(path, text), [])

    def test_comments_texts_and_other_names_are_free(self) -> None:
        self.assertEqual(self.found("libs/a.hpp", "// most_rows, a find_wish\n"), [])
        self.assertEqual(self.found("libs/a.cpp", 'log("most_rows");\n'), [])
        self.assertEqual(self.found("libs/a.cpp", "auto almost_there = foremost_;\n"), [])

    def test_scope_and_exemptions(self) -> None:
        line = "struct lease {};\n"
        self.assertTrue(self.found("services/rate-limit/a.hpp", line))
        self.assertEqual(self.found("services/webhook-dispatcher/a.hpp", line), [])

    def test_one_type_of_a_name_in_a_library(self) -> None:
        here = Source(Path("libs/mime/a.hpp"), "struct part\n{\n    struct inner {};\n};\n")
        twice = Source(Path("libs/mime/deep/b.hpp"), "class part\n{\n};\nstruct inner;\n")
        other = Source(Path("libs/extract/b.hpp"), "class part\n{\n};\nstruct settings {};\n")
        self.assertEqual(len(list(words.check([here, twice]))), 1)
        self.assertEqual(list(words.check([here, other])), [])


class Migrations(unittest.TestCase):
    """Tests that the release before survives a migration."""

    path = "libs/mailbox/schema/0042_more.sql"

    def accept(self, text: str, path: str = path) -> None:
        self.assertEqual(_problems(migrations, path, text), [])

    def refuse(self, text: str, reason: str) -> None:
        found = _problems(migrations, self.path, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(reason, found[0].text)

    def test_what_adds(self) -> None:
        self.accept("CREATE TABLE mailbox.t (type text);\nALTER TABLE mailbox.t ADD kind text;\n")
        self.accept("ALTER TABLE mailbox.t ALTER COLUMN kind DROP NOT NULL;\n")
        self.accept("ALTER TYPE mailbox.kind ADD VALUE 'more';\n")
        self.accept("-- we DROP nothing\nINSERT INTO mailbox.t VALUES ('RENAME');\n")

    def test_what_takes_away(self) -> None:
        self.refuse("ALTER TABLE mailbox.t\n    DROP COLUMN kind;\n", "DROP breaks")
        self.refuse("drop function mailbox.f(uuid);\n", "DROP breaks")
        self.refuse("ALTER TABLE mailbox.t RENAME COLUMN kind TO sort;\n", "RENAME breaks")
        self.refuse("ALTER TABLE mailbox.t ALTER COLUMN n TYPE bigint;\n", "TYPE breaks")
        self.refuse("ALTER TABLE mailbox.t ALTER n SET DATA TYPE bigint;\n", "TYPE breaks")
        self.refuse("DO $$ BEGIN DROP TABLE mailbox.t; END $$;\n", "DROP breaks")

    def test_a_marked_contract_may(self) -> None:
        self.accept("-- contract of v1.4\nALTER TABLE mailbox.t DROP COLUMN kind;\n")
        self.refuse("-- contract of what\nALTER TABLE mailbox.t DROP COLUMN kind;\n", "DROP breaks")

    def test_functions_are_made_in_their_own_folder(self) -> None:
        path = "libs/mailbox/functions/f.sql"
        text = (
            "-- DROP; nothing\nCREATE OR REPLACE FUNCTION mailbox.f() RETURNS void LANGUAGE sql "
            "AS $$\nDROP TABLE mailbox.u; DROP TABLE mailbox.v $$;\n"
        )
        self.accept(text, path)
        self.accept(text + text, path)
        self.refuse(text, "one text in functions/")
        for other in (
            "CREATE FUNCTION mailbox.g() RETURNS void LANGUAGE sql AS '';\n",
            "DROP FUNCTION mailbox.g;\n",
            "SELECT mailbox.f();\n",
        ):
            found = _problems(migrations, path, text + other)
            self.assertEqual([problem.line for problem in found], [4])

    def test_every_file_of_the_tree_is_refused_once_it_takes_something_away(self) -> None:
        root = Path(__file__).resolve().parents[2]
        checked = 0
        for folder in ("libs/*/", "services/*/storage/", "libs/common/*/"):
            for file in sorted(
                [*root.glob(f"{folder}schema/*.sql"), *root.glob(f"{folder}functions/*.sql")]
            ):
                path, text = str(file.relative_to(root)), file.read_text(encoding="utf-8")
                unmarked = text.replace("-- contract of", "-- of")
                self.assertTrue(
                    _problems(migrations, path, unmarked + "\nDROP TABLE mailbox.t;\n"), path
                )
                self.accept(text, path)
                checked += 1
        self.assertGreater(checked, 0)

    def test_indexes_are_made_outside_a_transaction(self) -> None:
        index = "CREATE INDEX CONCURRENTLY t_x ON mailbox.t (x);\n"
        self.refuse(index, "outside a transaction")
        self.accept("-- outside a transaction\n" + index)
        again = "DROP INDEX CONCURRENTLY IF EXISTS mailbox.t_x;\n"
        self.accept("-- outside a transaction\n" + again + index)
        self.refuse("-- outside a transaction\n" + again, "DROP breaks")


class Layout(unittest.TestCase):
    """Names and sizes."""

    def test_names_and_sizes(self) -> None:
        self.assertEqual(len(_problems(layout, "libs/mime/mime_utils.cpp", "")), 1)
        self.assertEqual(len(_problems(layout, "libs/mime/view.cpp", "\n" * 701)), 1)
        self.assertEqual(_problems(layout, "libs/mime/view.cpp", "\n" * 700), [])


if __name__ == "__main__":
    unittest.main()
