#include "mail-ingest/intake/reading.hpp"

#include "mime/view.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

mail_ingest::read_mail read(const std::string& raw)
{
    mime::start();
    mail_ingest::reading_facts facts;
    facts.hostname = "mx.test";
    smtp::recipient one;
    one.as_given = "box+a@in.test";
    facts.envelope.recipients.push_back(one);
    one.as_given = "box+b@in.test";
    facts.envelope.recipients.push_back(one);
    return mail_ingest::read(raw, facts);
}

std::string hops(int count)
{
    std::string fields;
    for (int i = 0; i < count; ++i)
        fields += "Received: from a.test by b.test; Mon, 1 Jan 2024 10:00:00 +0000\r\n";
    return fields + "Subject: x\r\n\r\nx\r\n";
}

} // namespace

TEST_CASE("50 hops are a long way, 51 a loop", "[mail-ingest]")
{
    CHECK_FALSE(read(hops(50)).is_looping);
    CHECK(read(hops(51)).is_looping);
}

TEST_CASE("a message that was here before is a loop, one that names this server otherwise is none", "[mail-ingest]")
{
    const auto trace = [](const std::string& field) { return read("Received: " + field + "\r\n\r\nx\r\n").is_looping; };
    CHECK(trace("from a.test by mx.test with ESMTP id 01890a5d-ac96-774b-bcce-b302099a8057; Mon, 1 Jan 2024 10:00:00 +0000"));
    CHECK_FALSE(trace("from a.test by mx.test with ESMTP id 12345; Mon, 1 Jan 2024 10:00:00 +0000"));
    CHECK_FALSE(trace("from mx.test by b.test with ESMTP id 01890a5d-ac96-774b-bcce-b302099a8057"));
}

TEST_CASE("broken mail is read, its faults are noted, and one inbox by two names gets it once", "[mail-ingest]")
{
    const auto outcome = read(std::string("Subject: a\0b\r\nContent-Type: multipart/mixed\r\n\r\nx\ny", 50));
    REQUIRE(outcome.message);
    CHECK(outcome.message->subject == "a\xef\xbf\xbd"
                                      "b");
    for (const char* defect : {"bare_newline", "no_boundary", "nul"})
        CHECK(std::find(outcome.message->defects.begin(), outcome.message->defects.end(), defect) !=
              outcome.message->defects.end());
    REQUIRE(outcome.message->deliveries.size() == 1);
    CHECK(outcome.message->deliveries[0].rcpt_to == std::vector<std::string>{"box+a@in.test", "box+b@in.test"});
}
