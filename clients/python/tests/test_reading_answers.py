"""Tests how answers are read: what is unknown, and what is no answer."""

import pytest
from scripted_server import INBOX, INBOX_ID, Answer, ScriptedServer, refusal

from tempinbox import BadRequest, Tempinbox, TempinboxError, error_codes


def test_unknown_fields_are_kept_aside(server: ScriptedServer, scripted: Tempinbox) -> None:
    server.steps = [Answer(200, INBOX | {"color": "red", "status": "sleeping"})]

    inbox = scripted.get_inbox(INBOX_ID)

    assert inbox.extra == {"color": "red"}
    assert str(inbox.status) == "sleeping"


def test_words_of_a_later_release_are_passed_on(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    step = {"step": "scanned", "at": "2026-11-21T10:00:00.123Z", "note": None, "by": "x"}
    timeline = {"emailId": INBOX_ID, "inboxId": INBOX_ID, "steps": [step], "isTruncated": False}
    server.steps = [Answer(200, timeline | {"missing": ["scans"]})]

    read = scripted.get_email_timeline(INBOX_ID)

    assert [str(word) for word in read.missing] == ["scans"]
    assert read.steps[0].extra == step


def test_what_is_no_answer_of_the_api_is_said_to_be(
    server: ScriptedServer, scripted: Tempinbox
) -> None:
    server.steps = [Answer(200, [])]
    with pytest.raises(TempinboxError, match="no object"):
        scripted.get_account()

    server.steps = [Answer(200, {"inboxId": INBOX_ID})]
    with pytest.raises(TempinboxError, match="Inbox without emailAddress"):
        scripted.get_inbox(INBOX_ID)


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("ttlSeconds must be an integer", "ttlSeconds"),
        ("inboxes[1].ttlSeconds: too large", "inboxes[1].ttlSeconds"),
        ("steps[2].reply fits no stage", "steps[2].reply"),
        ("header.X-Run", "header.X-Run"),
        ('"a" is no field', None),
    ],
)
def test_the_field_of_a_refusal_is_the_name_that_its_message_begins_with(
    server: ScriptedServer, scripted: Tempinbox, message: str, field: str | None
) -> None:
    server.steps = [refusal(400, message, X_Error_Code=error_codes.INVALID_FIELD)]

    with pytest.raises(BadRequest) as caught:
        scripted.get_account()

    assert caught.value.field == field
