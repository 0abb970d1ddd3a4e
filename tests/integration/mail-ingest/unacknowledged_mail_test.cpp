#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "mail-ingest/ingest/unacknowledged_mail.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("unacknowledged mail beyond the limit while the database is away is counted",
          "[mail-ingest][postgres]")
{
    testing::scratch_database scratch({"mailbox"});
    mailbox::ingest_repository store(testing::test_host(), scratch.db(), {});
    // Not started: nothing is written, as without a database.
    mail_ingest::unacknowledged_mail unacknowledged(testing::test_host(), store, "test");
    auto& dropped = testing::test_host().metrics().counter(
        "tempinbox_mail_ingest_unacknowledged_dropped_total",
        "Stored emails dropped from the dedup though their sender may send them again.");
    const auto before = dropped.Value();
    const mail_ingest::sender from;
    const auto note = [&](std::size_t emails) {
        auto mail = unacknowledged.in_flight().begin("digest", from);
        mail->emails.assign(emails, mailbox::email_key{account_id::make(), email_id::make()});
        unacknowledged.note(std::move(mail));
    };

    note(9'999);
    note(1);
    CHECK(dropped.Value() == before);
    note(1);
    note(3);

    CHECK(dropped.Value() == before + 4);
}
