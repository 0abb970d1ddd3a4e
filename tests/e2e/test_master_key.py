"""Tests what the operator's command line says of the keys that seal secrets."""

from harness import Account, Receiver, Suite


def test_the_secrets_are_all_under_the_suite_s_one_key(suite: Suite, account: Account) -> None:
    with Receiver() as receiver:
        account.api.post("/v1/webhooks", {"url": receiver.url})

        (key,) = suite.operate("secrets", "count")["keys"]
        assert key["isCurrent"] is True
        assert key["secrets"] >= 1

        done = suite.operate("secrets", "reseal", "--batch", "10")

        assert done == {
            "currentKey": key["key"],
            "resealed": 0,
            "unopened": 0,
            "remaining": [],
            "keptAnswers": 0,
            "keptAnswersEndAt": None,
        }
