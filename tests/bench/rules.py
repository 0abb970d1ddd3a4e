#!/usr/bin/env python3
"""Measures how long it takes to evaluate an account's routing rules for one mail. Needs no suite.

Usage: ./dev bench rules [--preset release] [--no-build]
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
            [ROOT / "dev", "build", "--preset", options.preset, "bench-rules"], check=True
        )
    return subprocess.run([ROOT / "build" / options.preset / "bin" / "bench-rules"]).returncode


if __name__ == "__main__":
    sys.exit(main())
