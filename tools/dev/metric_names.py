"""The metrics that the services make, as the calls in their sources name them."""

import re
from collections.abc import Iterator

from dev.paths import ROOT

_CALLS = re.compile(r'\b(counter|gauge|histogram|metric)\(\s*(?:"(\w+)"|(\w+))\s*,\s*("?\w*)')
_CONSTANTS = re.compile(r'constexpr const char\* (\w+) = "(\w+)";')
_GAUGES = re.compile(r'\bgauge\(\s*"(\w+)",((?:\s*"[^"]*")+)')


def _sources() -> Iterator[str]:
    for path in [*ROOT.glob("libs/**/*.cpp"), *ROOT.glob("services/**/*.cpp")]:
        yield path.read_text(encoding="utf-8")


def made() -> dict[str, str]:
    """The type of every metric by its name."""
    found = {}
    for text in _sources():
        named = dict(_CONSTANTS.findall(text))
        for kind, literal, constant, second in _CALLS.findall(text):
            name = literal or named.get(constant)
            if name:
                found[name] = second.strip('"') if kind == "metric" else kind
    return found


def of_whole_schema() -> set[str]:
    """The gauges that every replica reports alike, as their help texts say."""
    return {
        name
        for text in _sources()
        for name, literals in _GAUGES.findall(text)
        if "of the whole schema" in "".join(re.findall(r'"([^"]*)"', literals))
    }
