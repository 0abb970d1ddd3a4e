#!/usr/bin/env python3
"""Our reading of mails beside that of mail-parser (Rust) on the mails of its own tests.

Needs no suite.

Usage: ./dev bench mime --corpus DIR [--preset release] [--no-build] [--show N]

DIR is a clone of https://github.com/stalwartlabs/mail-parser, with files or bare (default:
$TEMPINBOX_MAIL_PARSER_CORPUS):

  git clone --depth 1 --bare https://github.com/stalwartlabs/mail-parser mail-parser.git

Differences that are kept on purpose are listed with their reasons in
tests/bench/mime/differences.json; any other is a failure.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "mime"))
from expected_view import FIELDS, agree, expected_view, our_view

ROOT = Path(__file__).resolve().parents[2]
DIFFERENCES = Path(__file__).parent / "mime" / "differences.json"
FOLDER = "resources/eml"
EXPECTED = ".crlf.json"


def find_mails(corpus: Path, scratch: Path) -> list[Path]:
    """Copies of a clone's mails with line ends as SMTP brings them, beside what is expected of
    these.
    """
    top = scratch / FOLDER
    if (corpus / FOLDER).is_dir():
        shutil.copytree(corpus / FOLDER, top)
    else:
        packed = subprocess.run(
            ["git", "-C", str(corpus), "archive", "HEAD", FOLDER], capture_output=True
        )
        if packed.returncode != 0:
            sys.exit(
                f"{corpus} holds no {FOLDER}: {packed.stderr.decode(errors='replace').strip()}"
            )
        subprocess.run(["tar", "-x", "-C", str(scratch)], input=packed.stdout, check=True)
    mails = [path for path in sorted(top.rglob("*.eml")) if path.with_suffix(EXPECTED).is_file()]
    for path in mails:
        path.write_bytes(re.sub(rb"(?<!\r)\n", b"\r\n", path.read_bytes()))
    return mails


def read_views(program: Path, mails: list[Path]) -> list[dict[str, Any]]:
    """Returns what our reader makes of each mail."""
    done = subprocess.run(
        [program],
        input="".join(f"{path}\n" for path in mails).encode(),
        capture_output=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(
    mails: list[Path], views: list[dict[str, Any]]
) -> Iterator[tuple[str, str, object, object]]:
    """Mail, field, theirs and ours for each field of each mail."""
    for path, view in zip(mails, views, strict=True):
        name = f"{path.parent.name}/{path.stem}"
        theirs = expected_view(json.loads(path.with_suffix(EXPECTED).read_text(encoding="utf-8")))
        ours = our_view(view)
        for field in FIELDS:
            yield name, field, theirs[field], ours[field]


def shown(value: object, length: int) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"


def report(compared: list[tuple[str, str, object, object]], length: int) -> int:
    """Prints agreement and differences; the exit code."""
    kept = {
        (entry["message"], entry["field"]): entry["reason"]
        for entry in json.loads(DIFFERENCES.read_text(encoding="utf-8"))
    }
    agreed: Counter[str] = Counter()
    explained: Counter[str] = Counter()
    failures = []
    for name, field, theirs, ours in compared:
        if agree(theirs, ours):
            agreed[field] += 1
        elif (name, field) in kept:
            explained[field] += 1
            print(f"{name} {field}: kept: {kept.pop((name, field))}")
        else:
            failures.append(
                f"{name} {field}\n  theirs {shown(theirs, length)}\n  ours   {shown(ours, length)}"
            )
    print(*failures, sep="\n")
    count = len({name for name, *_ in compared})
    print(f"\n{count} mails; fields that agree, that differ on purpose, that differ:")
    for field in FIELDS:
        print(
            f"  {field:<18} {agreed[field]:>4} {explained[field]:>4} "
            f"{count - agreed[field] - explained[field]:>4}"
        )
    stale = [f"{name} {field}" for name, field in kept]
    if stale:
        print("differences.json explains what does not differ: " + ", ".join(stale))
    return 1 if failures or stale else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--corpus", metavar="DIR", type=Path, default=os.environ.get("TEMPINBOX_MAIL_PARSER_CORPUS")
    )
    parser.add_argument(
        "--preset", default="release", help="what to build and run (default: release)"
    )
    parser.add_argument("--no-build", action="store_true", help="run what is built already")
    parser.add_argument(
        "--show",
        metavar="N",
        type=int,
        default=160,
        help="characters of each side of a difference (default: 160)",
    )
    options = parser.parse_args()
    if not options.corpus or not Path(options.corpus).is_dir():
        print(__doc__)
        print(
            "there is no corpus: name a clone with --corpus or TEMPINBOX_MAIL_PARSER_CORPUS",
            file=sys.stderr,
        )
        return 2
    if not options.no_build:
        subprocess.run(
            [ROOT / "dev", "build", "--preset", options.preset, "bench-mime-view"], check=True
        )
    with tempfile.TemporaryDirectory() as scratch:
        mails = find_mails(Path(options.corpus), Path(scratch))
        views = read_views(ROOT / "build" / options.preset / "bin" / "bench-mime-view", mails)
        return report(list(compare(mails, views)), options.show)


if __name__ == "__main__":
    sys.exit(main())
