"""`python3 -m asyncapi FILE FOLDER` writes asyncapi.json and events.html."""

import json
import sys
from pathlib import Path

from asyncapi.document import Contract
from asyncapi.page import render


def main(source: Path, folder: Path) -> None:
    """Reads the YAML once, so that both say the same."""
    contract = Contract.read(source)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "asyncapi.json").write_text(
        json.dumps(contract.content, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )
    (folder / "events.html").write_text(render(contract), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
