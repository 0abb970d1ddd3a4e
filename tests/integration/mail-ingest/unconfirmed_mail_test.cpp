#include "common/testing/await.hpp"
#include "mail-ingest/intake/unconfirmed_mail.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

postgres::settings nowhere()
{
    postgres::settings chosen;
    chosen.dsn = "host=127.0.0.1 port=1 dbname=nothing";
    chosen.connections = 1;
    return chosen;
}

std::vector<mailbox::email_key> emails(std::size_t count)
{
    return std::vector<mailbox::email_key>(count, mailbox::email_key{account_id::make(), email_id::make()});
}

} // namespace

TEST_CASE("unconfirmed mail beyond what is remembered while the database is away is counted", "[mail-ingest]")
{
    postgres::pool db(testing::test_host(), nowhere());
    mailbox::unconfirmed_store store(db);
    mail_ingest::unconfirmed_mail unconfirmed(testing::test_host(), store, "test");
    auto& forgotten = testing::test_host().metrics().counter("tempinbox_mail_ingest_unconfirmed_forgotten_total",
                                                             "Stored emails whose sender may send again, no longer remembered.");
    const auto before = forgotten.Value();

    unconfirmed.note(emails(9'999));
    unconfirmed.note(emails(1));
    CHECK(forgotten.Value() == before);
    unconfirmed.note(emails(1));
    unconfirmed.note(emails(3));

    CHECK(forgotten.Value() == before + 4);
}
