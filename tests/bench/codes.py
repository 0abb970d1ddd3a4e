#!/usr/bin/env python3
"""Measures how well codes and links are found in the mails of tests/corpus, and how fast.
Needs no suite.

Usage: ./dev bench codes [--preset release] [--no-build]
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--preset", default="release", help="what to build and run (default: release; dev is slow)"
    )
    parser.add_argument("--no-build", action="store_true", help="run what is built already")
    options = parser.parse_args()
    if not options.no_build:
        subprocess.run(
            [ROOT / "dev", "build", "--preset", options.preset, "bench-codes"], check=True
        )
    return subprocess.run([ROOT / "build" / options.preset / "bin" / "bench-codes"]).returncode


if __name__ == "__main__":
    sys.exit(main())
