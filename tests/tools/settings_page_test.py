"""Reading --help and making a page of it."""

import unittest

import settings_page

_HELP = """tempinbox-gateway: The public API.

Settings are given as flag --name=value.
Shown as --name=default.

Service
  --listen=127.0.0.1:8080
      where the API is served; 0.0.0.0 (in a container) too (host:port)
      TEMPINBOX_LISTEN
  --bare-newlines=refuse
      550 | stored (one of refuse, take)
      TEMPINBOX_BARE_NEWLINES

PostgreSQL
  --database
      PostgreSQL, as libpq takes it (required)
      TEMPINBOX_DATABASE
  --tls-key-file
      Private key (PEM) (a readable file)
      TEMPINBOX_TLS_KEY_FILE

Other
  --config=FILE    settings
  --help           prints this, and ends
"""


class SettingsPage(unittest.TestCase):
    def test_every_setting_with_its_section_default_and_values(self) -> None:
        found = list(settings_page.read_help(_HELP))

        self.assertEqual(
            [it.name for it in found], ["listen", "bare-newlines", "database", "tls-key-file"]
        )
        self.assertEqual(
            [it.section for it in found], ["Service", "Service", "PostgreSQL", "PostgreSQL"]
        )
        self.assertEqual(found[0].meaning, "where the API is served; 0.0.0.0 (in a container) too")
        self.assertEqual((found[0].default, found[0].kind), ("127.0.0.1:8080", "host:port"))
        self.assertEqual(
            (found[3].meaning, found[3].kind), ("Private key (PEM)", "a readable file")
        )

    def test_tables(self) -> None:
        page = settings_page.page({"gateway": _HELP})

        self.assertIn("## gateway\n\nThe public API.\n\n### Service\n", page)
        self.assertIn(
            "| `listen` | `127.0.0.1:8080` | Where the API is served; 0.0.0.0 (in a container) "
            "too | host:port |\n",
            page,
        )
        self.assertIn(
            "| `bare-newlines` | `refuse` | 550 \\| stored | one of refuse, take |\n", page
        )
        self.assertIn("| `database` | **required** | PostgreSQL, as libpq takes it |  |\n", page)
        self.assertNotIn("config=FILE", page)


if __name__ == "__main__":
    unittest.main()
