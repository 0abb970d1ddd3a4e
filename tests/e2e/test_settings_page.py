"""The page of all settings says what the programs say of themselves."""

from generate import settings_page
from harness import Suite


def test_the_page_is_up_to_date(suite: Suite) -> None:
    programs = suite.program("tempinbox-gateway").parent

    assert settings_page.PAGE.read_text(encoding="utf-8") == settings_page.page_of(programs), (
        "python3 tools/generate/settings_page.py writes it anew"
    )
