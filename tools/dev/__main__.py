"""Entry point of `python3 -m dev`."""

import sys

from dev.cli import main

sys.exit(main())
