"""Tests that what is made of the table of error reasons is up to date, and the table is kept."""

import re
import unittest
from pathlib import Path

import yaml
from dev.paths import ROOT
from generate import error_reasons

_SOURCES = ["libs", "services"]
_ERRC = re.compile(r"(?:failure[{(]|failure\{\n)\s*errc::(\w+),(?:(?!failure[{(]).)*?;", re.DOTALL)
_REASON = re.compile(r"error_reason::(\w+)")
_STATUS = {
    "invalid_argument": 400,
    "unauthenticated": 401,
    "permission_denied": 403,
    "not_found": 404,
    "conflict": 409,
    "unprocessable": 422,
    "rate_limited": 429,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "unavailable": 503,
    "deadline_exceeded": 504,
    "internal": 500,
}


def _sources() -> list[Path]:
    return [path for folder in _SOURCES for path in sorted((ROOT / folder).rglob("*.cpp"))]


class ErrorReasons(unittest.TestCase):
    """libs/common/core/error_reason.cpp and what is made of it."""

    def test_every_row_is_read(self) -> None:
        table = (ROOT / "libs/common/core/error_reason.cpp").read_text(encoding="utf-8")

        self.assertEqual(len(error_reasons.reasons()), table.count("error_reason_facts{"))
        for reason in error_reasons.reasons():
            self.assertEqual(reason.name, reason.word)

    def test_what_is_made_of_the_table_is_up_to_date(self) -> None:
        for path, text in error_reasons.files().items():
            self.assertEqual(
                path.read_text(encoding="utf-8"),
                text,
                f"python3 tools/generate/error_reasons.py writes {path.name} anew",
            )

    def test_the_contracts_have_every_word(self) -> None:
        words = [reason.word for reason in error_reasons.reasons()]
        words_of_v1 = [reason.word for reason in error_reasons.reasons_of_v1()]
        contract = yaml.safe_load(error_reasons.CONTRACT.read_text(encoding="utf-8"))
        dashboard = yaml.safe_load(error_reasons.DASHBOARD.read_text(encoding="utf-8"))

        shown = contract["components"]["headers"]["X-Error-Code"]["schema"]["enum"]
        self.assertEqual(shown, words_of_v1)
        self.assertEqual(
            set(words) - set(words_of_v1),
            {"rule_limit", "key_limit", "email_taken", "other_site", "stream_limit", "timeout"},
        )
        shared = dashboard["components"]["schemas"]["ErrorCode"]["enum"]
        self.assertEqual(shared[-len(words) :], words)

    def test_every_error_of_the_contract_has_the_header(self) -> None:
        contract = yaml.safe_load(error_reasons.CONTRACT.read_text(encoding="utf-8"))
        responses = list(contract["components"]["responses"].items())
        for item in contract["paths"].values():
            for operation in item.values():
                if isinstance(operation, dict):
                    responses += operation["responses"].items()
        for name, response in responses:
            schema = response.get("content", {}).get("application/json", {}).get("schema", {})
            if schema.get("$ref") == "#/components/schemas/ErrorBody":
                self.assertIn("X-Error-Code", response["headers"], name)

    def test_a_failure_has_a_reason_of_its_status(self) -> None:
        statuses = {reason.name: reason.status for reason in error_reasons.reasons()}
        pairs = 0
        for path in _sources():
            for found in _ERRC.finditer(path.read_text(encoding="utf-8")):
                for name in _REASON.findall(found[0]):
                    pairs += 1
                    self.assertEqual(statuses[name], _STATUS[found[1]], f"{path}: {name}")
        self.assertGreater(pairs, 20)


if __name__ == "__main__":
    unittest.main()
