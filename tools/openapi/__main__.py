"""`python3 -m openapi FILE FOLDER` writes openapi.json, docs.html and style.css."""

import json
import sys
from pathlib import Path

from openapi.document import Document
from openapi.page import render


def main(source: Path, folder: Path) -> None:
    """Reads the YAML once, so that both say the same."""
    document = Document.read(source)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "openapi.json").write_text(
        json.dumps(document.content, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )
    (folder / "docs.html").write_text(render(document), encoding="utf-8")
    (folder / "style.css").write_text(
        Path(__file__).with_name("style.css").read_text(encoding="utf-8"), encoding="utf-8"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
