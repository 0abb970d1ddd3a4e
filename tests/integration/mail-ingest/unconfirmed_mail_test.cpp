#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "mail-ingest/intake/unconfirmed_mail.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("unconfirmed mail beyond what is remembered while the database is away is counted",
          "[mail-ingest][postgres]")
{
    testing::scratch_database scratch({"mailbox"});
    mailbox::unconfirmed_store store(scratch.db());
    // Not started: nothing is written down, as without a database.
    mail_ingest::unconfirmed_mail unconfirmed(testing::test_host(), store, "test");
    auto& forgotten = testing::test_host().metrics().counter(
        "tempinbox_mail_ingest_unconfirmed_forgotten_total",
        "Stored emails whose sender may send again, no longer remembered.");
    const auto before = forgotten.Value();
    const mail_ingest::sender from;
    const auto note = [&](std::size_t emails) {
        auto mail = unconfirmed.undecided().begin("digest", from);
        mail->emails.assign(emails, mailbox::email_key{account_id::make(), email_id::make()});
        unconfirmed.note(std::move(mail));
    };

    note(9'999);
    note(1);
    CHECK(forgotten.Value() == before);
    note(1);
    note(3);

    CHECK(forgotten.Value() == before + 4);
}
