"""The clients' packages carry the license."""

import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class License(unittest.TestCase):
    """The packers of npm and of Python take the file LICENSE of a package's own folder."""

    def test_each_has_it(self) -> None:
        text = (ROOT / "LICENSE").read_text(encoding="utf-8")
        for client in ("python", "typescript"):
            with self.subTest(client):
                own = ROOT / "clients" / client / "LICENSE"
                self.assertEqual(own.read_text(encoding="utf-8"), text)


if __name__ == "__main__":
    unittest.main()
