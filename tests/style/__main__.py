"""The project's own rules, checked on the text of the tree: `python3 tests/style [ROOT]` lists what
breaks them; `python3 tests/style --house [ROOT]` prints the figures of its shape.
"""

import subprocess
import sys
from pathlib import Path

import boundaries
import catches
import coroutines
import house
import layout
import leftovers
import migrations
import rpc_methods
import words
from source import Problem, Source

_SUFFIXES = {
    ".cpp",
    ".hpp",
    ".py",
    ".sql",
    ".sh",
    ".ts",
    ".tsx",
    ".mjs",
    ".css",
    ".html",
    ".proto",
    ".cmake",
    ".txt",
    ".json",
    ".yaml",
    ".md",
    "",
}
_RULES = [
    boundaries.check,
    catches.check,
    coroutines.check,
    layout.check,
    leftovers.check,
    migrations.check,
    rpc_methods.check,
    words.check,
]


def read_tree(root: Path) -> list[Source]:
    """Every text file git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    paths = [
        Path(name)
        for name in sorted(set(listed))
        if name and Path(name).suffix in _SUFFIXES and (root / name).is_file()
    ]
    return [
        Source(path, (root / path).read_text(encoding="utf-8", errors="replace")) for path in paths
    ]


def main() -> int:
    """Prints each problem as path:line: text, or the figures; exit code 1 when one is not good."""
    arguments = [one for one in sys.argv[1:] if one != "--house"]
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    sources = read_tree(root)
    if "--house" in sys.argv:
        found = house.figures(sources)
        print(*found, sep="\n")
        return 0 if all(figure.is_good for figure in found) else 1
    problems: list[Problem] = [problem for rule in _RULES for problem in rule(sources)]
    for problem in sorted(problems):
        print(problem)
    print(f"{len(sources)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
