"""Reading --print-settings and making a page of it."""

import json
import unittest

from generate import settings_page


def _setting(name: str, section: str, **others: object) -> dict[str, object]:
    usual = {
        "environment": "TEMPINBOX_" + name.upper().replace("-", "_"),
        "default": "",
        "meaning": "",
        "values": "",
        "required": False,
        "secret": False,
    }
    return {"name": name, "section": section} | usual | others


_PROGRAM = settings_page.read_program(
    json.dumps(
        {
            "program": "tempinbox-gateway",
            "purpose": "The public API.",
            "settings": [
                _setting(
                    "listen",
                    "Service",
                    default="127.0.0.1:8080",
                    meaning="where the API is served; 0.0.0.0 (in a container) too",
                    values="host:port",
                ),
                _setting(
                    "bare-newlines",
                    "Service",
                    default="refuse",
                    meaning="550 | stored",
                    values="one of refuse, take",
                ),
                _setting(
                    "database",
                    "PostgreSQL",
                    meaning="as libpq takes it",
                    required=True,
                    secret=True,
                ),
            ],
        }
    )
)


class SettingsPage(unittest.TestCase):
    def test_tables(self) -> None:
        page = settings_page.page([_PROGRAM])

        self.assertIn("## gateway\n\nThe public API.\n\n### Service\n", page)
        self.assertIn(
            "| `listen` | `127.0.0.1:8080` | Where the API is served; 0.0.0.0 (in a container) "
            "too |\n",
            page,
        )
        self.assertIn(
            "| `bare-newlines` | `refuse` | 550 \\| stored; one of refuse, take |\n", page
        )

    def test_what_must_be_given_and_what_is_secret(self) -> None:
        page = settings_page.page([_PROGRAM])

        self.assertIn("### PostgreSQL\n", page)
        self.assertIn("| `database` | **required** | As libpq takes it (secret) |\n", page)

    def test_what_programs_share_stands_once(self) -> None:
        other: settings_page.Program = {**_PROGRAM, "program": "tempinbox-inbox"}
        other["settings"] = other["settings"][2:]

        page = settings_page.page([_PROGRAM, other])

        row = "| `database` | **required** | As libpq takes it (secret) | gateway, inbox |\n"
        self.assertEqual(page.count("`database`"), 2)  # once in the head
        self.assertIn(row, page.partition(f"\n## {settings_page.SHARED}\n")[2])


if __name__ == "__main__":
    unittest.main()
