"""`./dev check sql`: PostgreSQL takes every migration and every constant SQL statement of the C++.

The SQL files of each schema are applied to a new database in the order of tempinbox-migrate. Then
each statement, and a call of each function, is prepared, which checks names and types, and executed
with a value of each parameter's type, which checks what runs of a function's body; its transaction
is rolled back. A refusal of the values, such as that of a constraint, is fine.
"""

import contextlib
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dev import paths, postgres, statements
from dev.locks import exclusively
from dev.ports import free_port
from dev.statements import Statement
from dev.supervision import Supervision
from dev.terminal import fail, item, say

_HOMES = paths.ROOT / "libs" / "migrations" / "schemas.cpp"
_NOTES = paths.ROOT / "libs" / "common" / "postgres" / "migrations.cpp"
_SHARED_FUNCTIONS = paths.ROOT / "libs" / "common" / "postgres" / "functions"
# The functions of a schema, each with the statement that calls it; triggers have no such statement.
_CALLS = """
SELECT p.proname, format('SELECT %s(%s)', p.oid::regproc, (
    SELECT string_agg(format('$%s::%s', place, type::regtype), ', ' ORDER BY place)
    FROM unnest(p.proargtypes) WITH ORDINALITY AS parameter (type, place)))
FROM pg_proc AS p WHERE p.pronamespace = '{}'::regnamespace AND p.prorettype <> 'trigger'::regtype
ORDER BY p.proname
"""
_NO_TRANSACTION = "-- outside a transaction"
_AFTER_FUNCTIONS = "-- after the functions"
# An error as psql writes it: severity, SQLSTATE, message and details, place in PostgreSQL's source.
_ERROR = re.compile(
    r"^(?:psql:\S+ )?\w+:  (?P<state>[0-9A-Z]{5}): (?P<text>.*?)\n(?=LOCATION:|\Z)",
    re.MULTILINE | re.DOTALL,
)
# SQLSTATE classes of what is refused for its values: data, a constraint, an exception raised by a
# function. While a statement is prepared there are no values, so there nothing may be refused.
_OF_VALUES = ("22", "23", "P0")

# A value of a type, as SQL: an array has one element, so that what is done for each one is done.
_SAMPLES = r"""
CREATE FUNCTION pg_temp.sample(wanted oid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found pg_type;
BEGIN
    SELECT * INTO found FROM pg_type WHERE oid = wanted;
    IF found.typcategory = 'A' THEN
        RETURN format('ARRAY[%s]::%s', pg_temp.sample(found.typelem), wanted::regtype);
    ELSIF found.typtype = 'c' THEN
        RETURN format('ROW(%s)::%s', (
            SELECT string_agg(pg_temp.sample(atttypid), ', ' ORDER BY attnum) FROM pg_attribute
            WHERE attrelid = found.typrelid AND attnum > 0 AND NOT attisdropped), wanted::regtype);
    ELSIF found.typtype = 'e' THEN
        RETURN format('%L::%s', (
            SELECT enumlabel FROM pg_enum WHERE enumtypid = wanted ORDER BY enumsortorder LIMIT 1),
            wanted::regtype);
    END IF;
    RETURN format('%L::%s', CASE found.typname
        WHEN 'uuid' THEN '01900000-0000-7000-8000-000000000000'
        WHEN 'json' THEN '{}'
        WHEN 'jsonb' THEN '{}'
        WHEN 'inet' THEN '192.0.2.1'
        WHEN 'date' THEN 'today'
        WHEN 'timestamp' THEN 'now'
        WHEN 'timestamptz' THEN 'now'
        ELSE '1' END, wanted::regtype);
END $$;
"""
_EXECUTE = """
SELECT 'EXECUTE tried' || coalesce(
    '(' || string_agg(pg_temp.sample(type), ', ' ORDER BY place) || ')', '')
FROM pg_prepared_statements, unnest(parameter_types) WITH ORDINALITY AS parameter (type, place)
WHERE name = 'tried' \\gexec
"""


@dataclass(frozen=True)
class Database:
    """A database, and psql to use it with."""

    uri: str

    def run(self, script: str, *options: str) -> "subprocess.CompletedProcess[str]":
        """Runs a script in the root of the checkout, where its \\i find files."""
        command = [str(postgres.PROGRAMS / "psql"), "-Xqt", "-v", "VERBOSITY=verbose", *options]
        return subprocess.run(
            [*command, "-d", self.uri, "-f", "-"],
            cwd=paths.ROOT,
            env=paths.clean_environment(),
            input=script,
            capture_output=True,
            text=True,
        )

    def apply(self, script: str) -> str:
        """Runs a script that must not fail and answers the rows it gave."""
        done = self.run(script, "-v", "ON_ERROR_STOP=1", "-A")
        if done.returncode != 0:
            fail(f"psql: {done.stderr.strip()}")
        return done.stdout.strip()


def check(where: str | None) -> bool:
    """Prepares and executes all; `where` is a folder of PostgreSQL's programs, or the URI of a
    server, if not Debian's programs.
    """
    found = statements.find_all()
    complaints = compare_with_list(found, statements.read_list(statements.LIST.read_text("utf-8")))
    constant = [it for it in found if it.sql is not None]
    with _new_database(where) as database:
        migrate(database)
        tried = try_statements(database, constant)
        called = try_statements(database, functions(database))
        version = database.apply("SHOW server_version")
    complaints += tried.complaints + called.complaints
    for complaint in complaints:
        say(complaint)
    item(f"PostgreSQL {version.split()[0]}", f"statements: {tried}; functions: {called}")
    return not complaints


def compare_with_list(found: list[Statement], listed: dict[str, str]) -> list[str]:
    """Returns what the list lacks, and what it has too much."""
    built = {it.key: it for it in found if it.sql is None}
    missing = [
        f"{it.path}:{it.line}: {it.name}: its text is made at run time: make it a constant, or say "
        f"why in {statements.LIST.name}"
        for key, it in built.items()
        if key not in listed
    ]
    return missing + [
        f"{statements.LIST.name}: {key}: is constant, or there is none: take the line out"
        for key in listed
        if key not in built
    ]


# The database.


@contextlib.contextmanager
def _new_database(where: str | None) -> Iterator[Database]:
    if where and "://" in where:
        with _scratch(Database(where)) as database:
            yield database
        return
    programs = postgres.find_programs(where)
    folder = paths.build_folder("check") / "sql"
    with (
        exclusively(folder.with_suffix(".lock"), "another ./dev check sql is under way here"),
        own_server(folder, programs) as server,
    ):
        server.ensure_database()
        yield Database(server.dsn())


@contextlib.contextmanager
def own_server(folder: Path, programs: Path = postgres.PROGRAMS) -> Iterator[postgres.Server]:
    """A server that ends with this process, however that ends, and leaves its logs."""
    supervision = Supervision(folder)
    supervision.shutdown()  # what a run that was killed left behind
    logs = folder / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    shutil.rmtree(postgres.choose_folder(folder))
    data = postgres.choose_folder(folder)
    server = postgres.Server(data, free_port(), secrets.token_hex(16), True, programs)
    try:
        postgres.initialize(data, server.password, programs)
        supervision.start(outlives_caller=False)
        supervision.put(server.spec(logs))
        server.wait_ready()
        yield server
    finally:
        supervision.shutdown(quick_layers=2)
        shutil.rmtree(data, ignore_errors=True)


@contextlib.contextmanager
def _scratch(server: Database) -> Iterator[Database]:
    """A database of its own on a server of somebody's."""
    name = f"tempinbox_check_sql_{os.getpid()}"
    server.apply(f"CREATE DATABASE {name}")
    try:
        yield Database(re.sub(r"(://[^/?]*)(/[^?]*)?", rf"\1/{name}", server.uri))
    finally:
        server.apply(f"DROP DATABASE {name} WITH (FORCE)")


def migrate(database: Database) -> None:
    """Applies the files of all schemas, and makes the tables in which tempinbox-migrate notes
    them.
    """
    notes = re.findall(r'create_\w+_table = R"\((.*?)\)";', _NOTES.read_text("utf-8"), re.DOTALL)
    for sql in [*notes, *(_files_of(home) for home in _homes())]:
        database.apply(sql)


@dataclass(frozen=True)
class _Home:
    """Where the files of a schema are."""

    schema: str
    folder: str
    shared: str  # a file of _SHARED_FUNCTIONS, or nothing

    def function_files(self) -> list[Path]:
        found = sorted((paths.ROOT / self.folder / "functions").glob("*.sql"))
        return found + ([_SHARED_FUNCTIONS / f"{self.shared}.sql"] if self.shared else [])


def _homes() -> list[_Home]:
    listed = re.findall(r'\{"(\w+)", "(\S+)/", "(\w*)"\}', _HOMES.read_text(encoding="utf-8"))
    return [_Home(*home) for home in listed] or fail(f"{_HOMES} lists no schemas")


def functions(database: Database) -> list[Statement]:
    """Returns a call of each function; it stands where the function does."""
    found = []
    for home in _homes():
        files = {path.stem: str(path.relative_to(paths.ROOT)) for path in home.function_files()}
        for row in database.apply(_CALLS.format(home.schema)).splitlines():
            name, sql = row.split("|", 1)
            found.append(Statement(files.get(name, home.folder), 1, name, sql))
    return found


def _files_of(home: _Home) -> str:
    """The script that applies the files of one schema, as libs/common/postgres/migrations.hpp says
    it.
    """
    numbered = sorted((paths.ROOT / home.folder / "schema").glob("*.sql"))
    last = [path for path in numbered if path.read_text("utf-8").startswith(_AFTER_FUNCTIONS)]
    script = [f"CREATE SCHEMA {home.schema};"]
    script += [_in_transaction([path]) for path in numbered if path not in last]
    # Functions call each other, so bodies are checked in a second round, when all exist.
    for setting in ("off", "on"):
        script += [
            f"SET search_path = {home.schema}; SET check_function_bodies = {setting};",
            _in_transaction(home.function_files()),
            "RESET ALL;",
        ]
    script += [_in_transaction([path]) for path in last]
    return "\n".join(script)


def _in_transaction(files: list[Path]) -> str:
    included = "\n".join(f"\\i {path}" for path in files)
    if any(path.read_text("utf-8").startswith(_NO_TRANSACTION) for path in files):
        return included
    return f"BEGIN;\n{included}\nCOMMIT;"


# The statements.


@dataclass
class Tried:
    """What came of trying statements."""

    complaints: list[str] = field(default_factory=list)
    done: int = 0
    refused: int = 0  # executed, but with values that were refused

    def __str__(self) -> str:
        return (
            f"{self.done} ran, {self.refused} refused the values, {len(self.complaints)} are wrong"
        )


def try_statements(database: Database, constant: list[Statement]) -> Tried:
    """Prepares and executes each one and rolls back what it did."""
    script = ["SET client_min_messages = error;", _SAMPLES]
    for number, statement in enumerate(constant):
        script += [
            f"\\warn = {number} prepare\nBEGIN;\nPREPARE tried AS {statement.sql};",
            f"\\warn = {number} execute\n{_EXECUTE}\nROLLBACK;\nDEALLOCATE ALL;",
        ]
    done = database.run("\n".join(script))
    said = re.split(r"^= (\d+) (\w+)\n", done.stderr, flags=re.MULTILINE)
    if done.returncode != 0 or said[0] or len(said) != 1 + 6 * len(constant):
        fail(f"psql ended early: {done.stderr[-1000:].strip()}")
    tried = Tried()
    for number, statement in enumerate(constant):
        prepared, executed = (_ERROR.search(said[1 + 6 * number + at]) for at in (2, 5))
        if prepared or (executed and not executed["state"].startswith(_OF_VALUES)):
            refusal = prepared or executed
            assert refusal
            tried.complaints.append(
                f"{statement.path}:{statement.line}: {statement.name}: "
                f"{refusal['state']}: {refusal['text']}"
            )
        elif executed:
            tried.refused += 1
        else:
            tried.done += 1
    return tried
