"""The pages of docs/ as a gateway serves them: links that would be dead there are none."""

import tempfile
import unittest
from pathlib import Path

from generate import docs_tree

_FILES = {"docs/api.md", "docs/operations/dns.md", "docs/images/scale.svg"}


class Served(unittest.TestCase):
    """A page's text."""

    def _served(self, text: str) -> str:
        return docs_tree.served("docs/operations/dns.md", text, _FILES)

    def test_a_link_to_what_is_served_stays(self) -> None:
        for text in (
            "[the API](../api.md)",
            "[waiting](../api.md#waiting-for-mail)",
            "[here](#records)",
            "[there](https://www.rfc-editor.org/rfc/rfc5321)",
            "![How it scales](../images/scale.svg)",
        ):
            self.assertEqual(self._served(text), text)

    def test_what_is_not_served_is_named(self) -> None:
        self.assertEqual(
            self._served("See [the reader](../../libs/common/a.cpp)."),
            "See the reader (`libs/common/a.cpp` in the repository).",
        )
        self.assertEqual(self._served("[docs/runbooks](../runbooks/)"), "`docs/runbooks`")
        self.assertEqual(self._served("[runbooks/](../runbooks)"), "`docs/runbooks`")
        self.assertEqual(self._served("[`LICENSE`](../../LICENSE)"), "`LICENSE`")

    def test_code_stays_as_it_is(self) -> None:
        text = "a\n\n```sh\necho [a](b)\n```\n\nb"

        self.assertEqual(self._served(text), text)


class Main(unittest.TestCase):
    """The files it writes."""

    def test_only_markdown_is_changed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            docs_tree.main(Path(folder), ["docs/operations/dns.md", "docs/openapi.yaml"])

            contract = Path(folder, "docs", "openapi.yaml").read_text(encoding="utf-8")
            page = Path(folder, "docs", "operations", "dns.md").read_text(encoding="utf-8")
        root = Path(docs_tree.__file__).resolve().parents[2]
        self.assertEqual(contract, (root / "docs" / "openapi.yaml").read_text(encoding="utf-8"))
        self.assertTrue(page.startswith("# DNS\n"))


if __name__ == "__main__":
    unittest.main()
