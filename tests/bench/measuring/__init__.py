"""What benches share: peers to compare with, what processes use, clients that load. They use what ./dev is made of, too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "tools"))
