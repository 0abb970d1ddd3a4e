#!/usr/bin/env python3
"""How long partitions pause while a consumer joins its group, leaves it, or is killed and replaced:
assignment by range, which stops all members for a moment, beside cooperative assignment, which
stops those whose partitions move, by turns.

Members are clients of librdkafka with the dispatcher's settings: two and a third that comes and
goes, then one that is killed, with another in its place after a second. Every partition gets 50
records a second. A pause is the age of the oldest record that a partition's reader got meanwhile,
at its arrival.

Usage: ./dev bench rebalance [--rounds 5]
"""

import argparse
import subprocess
import sys
from pathlib import Path

from dev import python_packages

_BENCHES = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="of each strategy (default 5)")
    options = parser.parse_args()
    command = [str(python_packages.python()), "-m", "measuring.rebalancing", str(options.rounds)]
    return subprocess.run(command, cwd=_BENCHES).returncode


if __name__ == "__main__":
    sys.exit(main())
