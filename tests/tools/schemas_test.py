"""`./dev check schemas` refuses what would break who knows the released schemas: each mutation is
made to a copy of the real ones.
"""

import shutil
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

from dev import schemas

_RECEIVED = "tempinbox/events/v1/email_received.proto"
_NOTICES = "tempinbox/webhooks/v1/notice_service.proto"


class Released(unittest.TestCase):
    """Compared with proto-schemas/released.binpb."""

    def _broken_by(self, mutate: Callable[[Path], object]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "proto-schemas"
            shutil.copytree(schemas.SCHEMAS, copy)
            mutate(copy)
            return schemas.breaks(copy)

    @staticmethod
    def _replace(path: str, before: str, after: str) -> Callable[[Path], object]:
        def mutate(copy: Path) -> None:
            text = (copy / path).read_text(encoding="utf-8")
            assert text.count(before) == 1, f"{path} has no single {before!r} any more"
            (copy / path).write_text(text.replace(before, after), encoding="utf-8")

        return mutate

    def test_the_schemas_of_this_checkout_are_compatible(self) -> None:
        self.assertEqual(schemas.breaks(schemas.SCHEMAS), "")

    def test_an_event_may_get_a_field(self) -> None:
        added = "bool has_code = 11;\n  string language = 100;"
        self.assertEqual(
            self._broken_by(self._replace(_RECEIVED, "bool has_code = 11;", added)), ""
        )

    def test_a_field_of_an_event_is_not_removed_even_when_it_is_reserved(self) -> None:
        reserved = 'reserved 6;\n  reserved "subject";'

        said = self._broken_by(self._replace(_RECEIVED, "string subject = 6;", reserved))

        self.assertIn('field "6" with name "subject"', said)

    def test_a_field_of_an_event_is_neither_renamed_nor_retyped(self) -> None:
        for changed in ("string title = 6;", "int64 subject = 6;", "string subject = 60;"):
            with self.subTest(changed):
                self.assertTrue(
                    self._broken_by(self._replace(_RECEIVED, "string subject = 6;", changed))
                )

    def test_an_event_is_not_removed(self) -> None:
        said = self._broken_by(lambda copy: (copy / _RECEIVED).unlink())

        self.assertIn("email_received.proto", said)

    def test_a_call_between_services_may_lose_a_field_that_it_reserves(self) -> None:
        before = "int32 limit = 1;"
        reserved = self._replace(_NOTICES, before, 'reserved 1;\n  reserved "limit";')

        self.assertEqual(self._broken_by(reserved), "")
        self.assertIn('"limit"', self._broken_by(self._replace(_NOTICES, before, "")))


if __name__ == "__main__":
    unittest.main()
