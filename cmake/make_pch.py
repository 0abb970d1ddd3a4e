"""Compiler launcher of the target that owns the precompiled header.

Clang writes absolute paths into a precompiled header, so its bytes differ from clone to clone and
ccache would find nothing that another clone has compiled. Beside the header this therefore writes
the digest of every file it was made of; ccache takes that instead (CCACHE_PCH_EXTSUM).
"""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path


def digest(depfile: str) -> str:
    """Returns a digest of the files that a compiler's depfile names, by content and not by path."""
    names = re.sub(r"\\\n", " ", Path(depfile).read_text(encoding="utf-8")).split(": ", 1)[1]
    total = hashlib.sha256()
    for name in re.split(r"(?<!\\)\s+", names.strip()):
        content = Path(name.replace("\\ ", " ")).read_bytes()
        total.update(f"{os.path.basename(name)} {len(content)}\n".encode() + content)
    return total.hexdigest()


def main(command: list[str]) -> int:
    """Compiles; for a precompiled header also writes its digest, which ninja need not know of."""
    done = subprocess.run(command, check=False).returncode
    output = command[command.index("-o") + 1]
    if done == 0 and output.endswith(".pch"):
        content = digest(command[command.index("-MF") + 1])
        Path(f"{output}.sum").write_text(content + "\n", encoding="ascii")
    return done


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
