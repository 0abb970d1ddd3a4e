"""Ports for what a test starts by itself."""

import sys

from harness.suite import ROOT

sys.path.append(str(ROOT / "tools"))

from dev.ports import free_port  # noqa: E402

__all__ = ["free_port"]
