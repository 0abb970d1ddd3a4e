"""The page made from docs/openapi.yaml: nothing unescaped, nothing loaded from elsewhere, no dead
anchors.
"""

import re
import unittest

import yaml
from dev.paths import ROOT
from openapi.document import Document, split_prefix
from openapi.markdown import blocks, inline
from openapi.page import render
from openapi.schemas import example_of, limits_of, type_of

# What a browser reads itself: no page needs it.
_FOR_THE_BROWSER = {"Content-Security-Policy", "Vary", "X-Content-Type-Options"}


class Markdown(unittest.TestCase):
    """The part of it that descriptions use."""

    def test_a_line(self) -> None:
        self.assertEqual(
            inline("a <b> & `x < y` **now**"),
            "a &lt;b&gt; &amp; <code>x &lt; y</code> <strong>now</strong>",
        )
        self.assertEqual(
            inline("[here](https://a.example/?b&c)"),
            '<a href="https://a.example/?b&amp;c">here</a>',
        )

    def test_a_link_that_could_run_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            inline("[here](javascript:alert)")

    def test_blocks(self) -> None:
        text = "One\nline.\n\n## Title\n\n- a\n  b\n- c\n\n```sh\nx <\n\ny\n```"
        expected = (
            "<p>One line.</p>\n<h3>Title</h3>\n<ul>\n<li>a b</li>\n<li>c</li>\n</ul>\n"
            "<pre><code>x &lt;\n\ny</code></pre>"
        )
        self.assertEqual(blocks(text), expected)


class Schemas(unittest.TestCase):
    """Schemas are shown in words and as examples."""

    def test_types_and_limits(self) -> None:
        document = Document(
            {
                "components": {
                    "schemas": {
                        "Thing": {
                            "type": "object",
                            "properties": {"a": {"type": "integer", "minimum": 3}},
                        }
                    }
                }
            }
        )
        thing = {"$ref": "#/components/schemas/Thing"}
        self.assertEqual(
            type_of(document, {"type": "array", "items": thing}),
            'array of <a href="#schema-Thing">Thing</a>',
        )
        self.assertEqual(
            type_of(document, {"type": ["string", "null"], "format": "uuid"}),
            "string (uuid) or null",
        )
        self.assertEqual(
            limits_of({"type": "string", "minLength": 1, "maxLength": 9}), "1–9 characters"
        )
        self.assertEqual(example_of(document, thing), {"a": 3})

    def test_a_word_before_all_names_is_split_off(self) -> None:
        names = {"minLength": 8, "maxLength": 107, "pattern": r"^header\.[!-9;-~]{1,100}$"}
        self.assertEqual(
            split_prefix(names),
            ("header.", {"minLength": 1, "maxLength": 100, "pattern": "^[!-9;-~]{1,100}$"}),
        )
        self.assertEqual(split_prefix({"maxLength": 50}), ("", {"maxLength": 50}))


class Headers(unittest.TestCase):
    """The headers that the contracts list for responses."""

    def test_a_stored_response_is_a_success(self) -> None:
        for name in ("openapi.yaml", "dashboard-openapi.yaml"):
            for status, headers in _headers(name):
                if not status.startswith("2"):
                    self.assertNotIn("Idempotency-Replayed", headers, f"{name}: {status}")

    def test_pages_of_other_origins_can_read_them(self) -> None:
        cors = (ROOT / "services/gateway/pipeline/cors.cpp").read_text(encoding="utf-8")
        literals = re.findall(r'"([^"]*)"', cors.partition('Expose-Headers",')[2])
        exposed = {name.strip() for name in "".join(literals).split(",")}
        listed = set().union(*(headers for _, headers in _headers("openapi.yaml")))

        self.assertEqual(listed - exposed, _FOR_THE_BROWSER)


def _headers(name: str) -> list[tuple[str, set[str]]]:
    """Returns the names of the headers of each response, with its status or its shared name."""
    document = yaml.safe_load((ROOT / "docs" / name).read_text(encoding="utf-8"))
    responses = list(document["components"]["responses"].items())
    for item in document["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict):
                responses += operation["responses"].items()
    return [(status, set(response.get("headers", {}))) for status, response in responses]


class Page(unittest.TestCase):
    """Tests the page of the real file."""

    page = render(Document.read(ROOT / "docs" / "openapi.yaml"))

    def test_it_loads_its_style_sheet_alone(self) -> None:
        self.assertEqual(
            re.findall(r"<link [^>]*>", self.page),
            ['<link rel="stylesheet" href="docs/style.css">'],
        )
        for forbidden in ("<script", "<img", "<iframe", " src=", " style=", " onclick="):
            self.assertNotIn(forbidden, self.page)

    def test_every_anchor_leads_somewhere(self) -> None:
        ids = re.findall(r' id="([^"]+)"', self.page)
        self.assertEqual(len(ids), len(set(ids)), "an id is given twice")
        self.assertEqual(
            {it for it in re.findall(r'href="#([^"]+)"', self.page) if it not in ids}, set()
        )
