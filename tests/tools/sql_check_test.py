"""`./dev check sql` finds the SQL of C++, and reports what a PostgreSQL refuses with its file and
line.
"""

import re
import tempfile
import unittest
from pathlib import Path

from dev import sql_check, statements
from dev.postgres import Server
from dev.sql_check import Database
from dev.statements import Statement
from dev.terminal import Failure


def _found(text: str) -> list[tuple[int, str, str | None]]:
    return [(it.line, it.name, it.sql) for it in statements.find("a.cpp", text)]


class Found(unittest.TestCase):
    """The statements of a C++ file."""

    def test_a_prepared_statement_has_the_line_of_its_name(self) -> None:
        text = '// first\nconstexpr postgres::statement one{"schema_one", R"(\n    SELECT 1)"};\n'
        self.assertEqual(_found(text), [(2, "one", "\n    SELECT 1")])

    def test_literals_side_by_side_are_one_text(self) -> None:
        text = 'constexpr const char* one =\n    "SELECT \\"a\\" "  // why\n    "FROM b";'
        self.assertEqual(_found(text), [(1, "one", 'SELECT "a" FROM b')])

    def test_constants_of_the_file_and_numbers_are_put_in(self) -> None:
        text = """
const std::string limit = std::to_string(most(64 * 1024));
constexpr std::string_view from = " FROM a LIMIT ";
const std::string one_sql = "SELECT b" + std::string(from) + limit;
const postgres::statement one{"one", one_sql.c_str()};
"""
        self.assertEqual(_found(text), [(5, "one", "SELECT b FROM a LIMIT 1")])

    def test_a_text_inside_a_call_goes_by_the_call(self) -> None:
        self.assertEqual(
            _found('tx.exec_params("DELETE FROM a WHERE b = $1", b);'),
            [(1, "exec_params", "DELETE FROM a WHERE b = $1")],
        )

    def test_a_text_for_several_schemas_is_tried_in_one(self) -> None:
        self.assertEqual(
            _found("constexpr const char* one = \"UPDATE %.a SET b = 1 WHERE c LIKE '%'\";"),
            [(1, "one", "UPDATE mailbox.a SET b = 1 WHERE c LIKE '%'")],
        )

    def test_what_a_function_writes_is_not_constant(self) -> None:
        text = """
const std::string one_sql = "SELECT " + columns();
const postgres::statement one{"one", one_sql.c_str()};
const std::string two = around("SELECT 1");
const std::string three = "SELECT 1 FROM " + table;
const std::string four = std::string("SELECT ") + columns + " FROM a";
"""
        self.assertEqual(_found(text), [(3, "one", None), (5, "three", None), (6, "four", None)])

    def test_comments_characters_and_other_texts_are_passed_over(self) -> None:
        text = """
// "SELECT 1"
/* constexpr postgres::statement one{"one", "SELECT 1"}; */
constexpr char quote = '"';
constexpr int digits = 1'000;
constexpr const char* help = "Selects one";
"""
        self.assertEqual(_found(text), [])


class Listed(unittest.TestCase):
    """Compared with statements.txt."""

    _MADE = Statement("libs/a.cpp", 7, "one", None)

    def test_what_is_made_at_run_time_is_listed_with_a_reason(self) -> None:
        listed = statements.read_list("# said to all\n[a reason]\nlibs/a.cpp one\n")

        self.assertEqual(listed, {"libs/a.cpp one": "a reason"})
        self.assertEqual(sql_check.compare_with_list([self._MADE], listed), [])

    def test_what_is_not_listed_is_reported_with_its_place(self) -> None:
        (complaint,) = sql_check.compare_with_list([self._MADE], {})
        self.assertTrue(complaint.startswith("libs/a.cpp:7: one: "), complaint)

    def test_a_line_of_what_is_constant_is_reported(self) -> None:
        constant = Statement("libs/a.cpp", 7, "one", "SELECT 1")
        (complaint,) = sql_check.compare_with_list([constant], {"libs/a.cpp one": "a reason"})
        self.assertIn("libs/a.cpp one", complaint)

    def test_a_name_without_a_reason_is_refused(self) -> None:
        with self.assertRaises(Failure):
            statements.read_list("libs/a.cpp one\n")


class Tried(unittest.TestCase):
    """Against a PostgreSQL."""

    _SCHEMA = """
CREATE SCHEMA shop;
CREATE TYPE shop.state AS ENUM ('open', 'closed');
CREATE TYPE shop.line AS (name text, state shop.state, at timestamptz);
CREATE TABLE shop.orders (id uuid PRIMARY KEY, amount integer CHECK (amount > 5));
CREATE FUNCTION shop.add(lines shop.line[]) RETURNS bigint LANGUAGE sql AS $$
    INSERT INTO shop.orders SELECT gen_random_uuid(), 10 FROM unnest(lines);
    SELECT count(*) FROM shop.orders $$;
CREATE FUNCTION shop.stale() RETURNS bigint LANGUAGE plpgsql AS $$
    BEGIN RETURN (SELECT max(gone) FROM shop.orders); END $$;
CREATE FUNCTION shop.tell() RETURNS void LANGUAGE plpgsql AS $$
    BEGIN RAISE NOTICE 'told'; RAISE WARNING 'warned'; END $$;
"""
    _server: Server
    _database: Database

    @classmethod
    def setUpClass(cls) -> None:
        folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        folder.chmod(0o711)  # under root another OS user has to pass
        cls._server = cls.enterClassContext(sql_check.own_server(folder))
        cls._database = Database(cls._server.dsn("postgres"))
        cls._database.apply(cls._SCHEMA)

    def _try(self, *texts: str) -> sql_check.Tried:
        source = "\n".join(
            f'constexpr postgres::statement s{number}{{"s{number}", R"({text})"}};'
            for number, text in enumerate(texts, start=1)
        )
        return sql_check.try_statements(self._database, statements.find("libs/a.cpp", source))

    def test_what_is_right_is_executed_and_rolled_back(self) -> None:
        tried = self._try(
            "SELECT shop.add($1)",
            "INSERT INTO shop.orders VALUES ($1, 10) RETURNING id",
            "SELECT shop.tell()",
            "SELECT 1 WHERE $1::shop.state = 'open' AND $2::date < now() AND $3::jsonb ? 'a'",
        )

        self.assertEqual(tried, sql_check.Tried(done=4))
        self.assertEqual(self._database.apply("SELECT count(*) FROM shop.orders"), "0")

    def test_values_may_be_refused(self) -> None:
        tried = self._try("INSERT INTO shop.orders VALUES ($1, $2)")
        self.assertEqual(tried, sql_check.Tried(complaints=[], refused=1))

    def test_what_is_wrong_is_reported_with_file_line_and_name(self) -> None:
        wrong = {
            "SELECT amuont FROM shop.orders": '42703: column "amuont" does not exist',
            "SELECT shop.add($1, $2)": "42883: function shop.add(unknown, unknown) does not exist",
            "SELECT 1 FROM shop.orders WHERE id = 5": "42883: operator does not exist: uuid = int",
            "SELECT 1 WHERE $1::shop.state = 'opne'": "22P02: invalid input value for enum shop.st",
            "SELECT id FROM shop.orders AS a, shop.orders AS b": '42702: column reference "id" is',
            # The body of a function is looked at when it runs.
            "SELECT shop.stale()": '42703: column "gone" does not exist',
        }

        complaints = self._try("SELECT 1", *wrong).complaints

        self.assertEqual(len(complaints), len(wrong))
        for line, complaint in enumerate(complaints, start=2):
            expected = [*wrong.values()][line - 2]
            self.assertRegex(complaint, f"^libs/a.cpp:{line}: s{line}: {re.escape(expected)}")

    def test_the_functions_of_the_schemas_are_called(self) -> None:
        self._server.ensure_database("migrated")
        migrated = Database(self._server.dsn("migrated"))
        sql_check.migrate(migrated)

        calls = {call.path: call.sql for call in sql_check.functions(migrated)}

        self.assertEqual(
            calls["libs/mailbox/functions/read_bodies.sql"],
            "SELECT mailbox.read_bodies($1::uuid[], $2::timestamp with time zone[], $3::uuid[])",
        )
        self.assertNotIn("libs/mailbox/functions/note_extended_inbox.sql", calls)  # a trigger

    def test_a_migration_that_fails_is_told(self) -> None:
        with self.assertRaisesRegex(Failure, "shop.nowhere"):
            self._database.apply("INSERT INTO shop.nowhere VALUES (1)")


if __name__ == "__main__":
    unittest.main()
