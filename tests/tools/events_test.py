"""`./dev check events` refuses each kind of drift: one change is made to a copy of a real file."""

import shutil
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from asyncapi.document import Contract
from asyncapi.page import render
from asyncapi.tables import fill
from dev import events
from dev.paths import ROOT
from generate.kafka_acls import Access

_RECEIVED = Path("tempinbox") / "events" / "v1" / "email_received.proto"


class Drifts(unittest.TestCase):
    """The contract is compared with what makes the topics."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._folder = Path(folder.name)

    def _changed(self, path: Path, before: str, after: str) -> Path:
        text = path.read_text(encoding="utf-8")
        self.assertIn(before, text, f"{path} has no {before!r} any more")
        copy = self._folder / path.name
        copy.write_text(text.replace(before, after, 1), encoding="utf-8")
        return copy

    def _of_contract(self, before: str, after: str) -> str:
        copy = self._changed(events.Sources().contract, before, after)
        return "\n".join(events.drifts(replace(events.Sources(), contract=copy)))

    def _of_schemas(self, before: str, after: str) -> str:
        copy = self._folder / "proto-schemas"
        shutil.copytree(events.Sources().schemas, copy)
        text = (copy / _RECEIVED).read_text(encoding="utf-8")
        self.assertIn(before, text)
        (copy / _RECEIVED).write_text(text.replace(before, after, 1), encoding="utf-8")
        return "\n".join(events.drifts(replace(events.Sources(), schemas=copy)))

    def _of_code(self, file: str, before: str, after: str) -> str:
        copy = self._folder / "code"
        for room in ("libs/common/events", "libs/common/kafka", "libs/mailbox/functions"):
            shutil.copytree(ROOT / room, copy / room)
        text = (copy / file).read_text(encoding="utf-8")
        self.assertIn(before, text)
        (copy / file).write_text(text.replace(before, after, 1), encoding="utf-8")
        return "\n".join(events.drifts(replace(events.Sources(), code=copy)))

    def test_the_contract_of_this_checkout_is_true(self) -> None:
        self.assertEqual(events.drifts(events.Sources()), [])

    def test_partitions(self) -> None:
        self.assertIn("topic email.received", self._of_contract("partitions: 48", "partitions: 47"))

    def test_retention(self) -> None:
        topics = self._changed(events.Sources().topics, "259200000", "86400000")
        said = "\n".join(events.drifts(replace(events.Sources(), topics=topics)))
        self.assertIn("topic email.received", said)
        self.assertIn("86400000", said)

    def test_a_topic_that_the_contract_does_not_know(self) -> None:
        row = (
            '{ "name": "email.deleted", "partitions": 48, "config": {} },\n    { "name": "inbox.st'
        )
        topics = self._changed(events.Sources().topics, '{ "name": "inbox.st', row)
        said = "\n".join(events.drifts(replace(events.Sources(), topics=topics)))
        self.assertIn("topic email.deleted: asyncapi.yaml has None", said)

    def _of_access(self, before: str, after: str) -> events.Sources:
        return replace(
            events.Sources(), access=self._changed(events.Sources().access, before, after)
        )

    def test_rights_that_the_pages_do_not_show(self) -> None:
        self.assertEqual(events.pages(events.Sources(), fix=False), [])
        for before, after, stale in (
            ('"broadcasts": ["inbox.activity", ', '"broadcasts": [', ["access", "contract"]),
            ('"writes": ["email.received", ', '"writes": [', ["access"]),
            ("example-", "sample-", ["access"]),
        ):
            with self.subTest(after):
                said = events.pages(self._of_access(before, after), fix=False)
                expected = [f"docs/events/{it}.md is out of date" for it in stale]
                self.assertEqual([it.partition(":")[0] for it in said], expected)

    def test_rights_that_nobody_means(self) -> None:
        for before, after, problem in (
            ('"writes": ["account.state"]', '"writes": ["account.stat"]', "called account.stat"),
            (
                '"inbox.state"],\n      "n',
                '"account.state"],\n      "n',
                "account.state is no public topic",
            ),
            ('"namePrefix": "example-"', '"namePrefix": "inbox."', "inbox.created begins with"),
            ('"namePrefix": "example-"', '"namePrefix": ""', "groups of the suite begin with ''"),
            ('"example-consumer"', '"tools"', "the suite has a user of this name"),
            (
                '"consumers": {',
                '"consumers": { "other": { "reads": [], "namePrefix": "example-other." },',
                "consumer example-consumer: names of other begin with 'example-'",
            ),
        ):
            with self.subTest(problem):
                said = "\n".join(events.drifts(self._of_access(before, after)))
                self.assertIn("access.json: ", said)
                self.assertIn(problem, said)

    def test_public_topics_of_the_rights_that_the_contract_calls_internal(self) -> None:
        sources = self._of_access('"inbox.state"],\n  "b', '"account.state"],\n  "b')
        said = "\n".join(events.drifts(sources))
        self.assertIn("public topics: asyncapi.yaml has", said)

    def test_a_new_field(self) -> None:
        added = "bool has_code = 11;\n  string language = 12;"
        said = self._of_schemas("bool has_code = 11;", added)
        self.assertIn("EmailReceived.language: asyncapi.yaml has None", said)
        self.assertIn("changes.md does not say since when", said)

    def test_a_field_s_number_type_or_comment(self) -> None:
        for before, after in (
            ("subject: { type: string, x-field: 6,", "subject: { type: string, x-field: 60,"),
            ("x-field: 10, x-type: int32", "x-field: 10, x-type: int64"),
            ("Whether a one-time code was found.", "Whether a code was found."),
        ):
            with self.subTest(after):
                self.assertIn("tempinbox.events.v1.EmailReceived", self._of_contract(before, after))

    def test_a_value_of_an_enum(self) -> None:
        said = self._of_contract(", EXPIRY_REASON_DELETED]", "]")
        self.assertIn("InboxExpired.reason", said)

    def test_a_header_that_the_code_writes_and_the_contract_does_not_know(self) -> None:
        added = 'headers.emplace_back("ce_time", to_iso8601(facts.time));\n'
        said = self._of_code(
            "libs/common/events/events.cpp",
            added,
            added + '    headers.emplace_back("ce_mood", "good");\n',
        )
        self.assertIn("header ce_mood: asyncapi.yaml does not describe it", said)

    def test_a_header_that_no_code_writes(self) -> None:
        said = self._of_contract("        ce_time: {", "        ce_times: {")
        self.assertIn("header ce_time: asyncapi.yaml does not describe it", said)
        self.assertIn("header ce_times: no code writes it", said)

    def test_a_field_of_a_webhook(self) -> None:
        openapi = self._changed(
            events.Sources().openapi,
            "required: [emailId, inboxId, from, subject]",
            "required: [emailId, inboxId, from]",
        )
        said = "\n".join(events.drifts(replace(events.Sources(), openapi=openapi)))
        self.assertIn("webhook EmailReceivedEvent data.subject", said)

    def test_a_field_or_header_without_a_class(self) -> None:
        for before, after in (
            ("x-type: string, x-classification: credential-bearing", "x-type: string"),
            (
                "x-classification: personal, description: First",
                "x-classification: secret, description: First",
            ),
            (
                "pattern: '^\\d{19}$'\n              x-classification: public",
                "pattern: '^\\d{19}$'",
            ),
        ):
            with self.subTest(after):
                self.assertIn("x-classification", self._of_contract(before, after))

    def test_a_field_that_the_changelog_does_not_list(self) -> None:
        changes = self._changed(events.Sources().changes, ", `has_code`", "")
        said = "\n".join(events.drifts(replace(events.Sources(), changes=changes)))
        self.assertIn("EmailReceived.has_code: docs/events/changes.md", said)

    def test_what_is_no_asyncapi(self) -> None:
        self.assertEqual(events.validate(events.Sources().contract), [])
        for before, after in (
            ("    address: email.received\n", "    adress: email.received\n"),
            ("partitions: 48", "partitions: many"),
            ("$ref: '#/components/messages/InboxState'", "$ref: '#/components/messages/Nothing'"),
        ):
            with self.subTest(after):
                copy = self._changed(events.Sources().contract, before, after)
                self.assertNotEqual(events.validate(copy), [])


class Page(unittest.TestCase):
    """/docs/events, and the tables of docs/events."""

    contract = Contract.read(events.Sources().contract)

    def test_it_loads_its_style_sheet_alone(self) -> None:
        page = render(self.contract)
        self.assertIn('<link rel="stylesheet" href="style.css">', page)
        for forbidden in ("<script", "<img", "<iframe", " src=", " style=", " onclick="):
            self.assertNotIn(forbidden, page)

    def test_it_shows_topics_and_webhooks_and_nothing_internal(self) -> None:
        page = render(self.contract)
        for shown in ("topic-email.received", "topic-inbox.state", "webhook-inbox.expired"):
            self.assertIn(f'id="{shown}"', page)
        self.assertNotIn("account.state</code>", page)
        self.assertIn("<strong>credential-bearing</strong>", page)

    def test_a_table_that_is_out_of_date_is_made_anew(self) -> None:
        stale = "<!-- table: topics public -->\nold\n<!-- end -->\n"
        fresh = fill(self.contract, Access.read(), stale)
        self.assertNotIn("old", fresh)
        self.assertIn("| `email.received` | `tempinbox.events.v1.EmailReceived` |", fresh)
        self.assertEqual(fill(self.contract, Access.read(), fresh), fresh)

    def test_fields_that_are_more_than_public_are_listed_with_their_class(self) -> None:
        table = fill(self.contract, Access.read(), "<!-- table: classes -->\n<!-- end -->\n")
        self.assertIn("| `subject` | `EmailReceived` | credential-bearing |", table)
        self.assertNotIn("`has_code`", table)


if __name__ == "__main__":
    unittest.main()
