#include "mail-ingest/ingest/reading.hpp"

#include "mailbox/header_addresses.hpp"
#include "mime/view.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

mail_ingest::read_mail read(const std::string& raw, const mime::view_limits& limits = {})
{
    mail_ingest::reading_facts facts;
    facts.hostname = "mx.test";
    facts.view = limits;
    smtp::recipient one;
    one.domain = "in.test";
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

TEST_CASE("a message that was here before is a loop, one that names this server otherwise is none",
          "[mail-ingest]")
{
    const auto trace = [](const std::string& field) {
        return read("Received: " + field + "\r\n\r\nx\r\n").is_looping;
    };
    CHECK(trace("from a.test by mx.test with ESMTP id 01890a5d-ac96-774b-bcce-b302099a8057; Mon, 1 "
                "Jan 2024 10:00:00 +0000"));
    CHECK_FALSE(
        trace("from a.test by mx.test with ESMTP id 12345; Mon, 1 Jan 2024 10:00:00 +0000"));
    CHECK_FALSE(trace("from mx.test by b.test with ESMTP id 01890a5d-ac96-774b-bcce-b302099a8057"));
    // As the inbox service writes it at the front of a download (inbox::trace_headers).
    CHECK(trace("from mx.example.org ([192.0.2.1])\r\n\tby in.test with ESMTPS id "
                "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f\r\n"
                "\tfor <Ann+x@in.test>; Thu, 5 Nov 2026 09:08:07 +0000"));
    CHECK_FALSE(trace("from mx.example.org ([192.0.2.1])\r\n\tby other.test with ESMTPS id "
                      "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f; "
                      "Thu, 5 Nov 2026 09:08:07 +0000"));
}

TEST_CASE("what a message holds counts every copy of its subject, and its links", "[mail-ingest]")
{
    mail_ingest::reading_facts facts;
    for (int i = 0; i < 100; ++i) {
        smtp::recipient one;
        one.inbox = inbox_id::make();
        one.as_given = "box" + std::to_string(i) + "@in.test";
        facts.envelope.recipients.push_back(one);
    }

    const auto plain = mail_ingest::read("Subject: x\r\n\r\nx\r\n", facts);
    const auto subject =
        mail_ingest::read("Subject: " + std::string(16 * 1024, 's') + "\r\n\r\nx\r\n", facts);
    const auto link = mail_ingest::read(
        "Subject: x\r\n\r\nhttps://a.test/" + std::string(1'000, 'l') + "\r\n", facts);

    CHECK(subject.message->held_bytes() >= plain.message->held_bytes() + 101 * (16 * 1024 - 1));
    CHECK(link.message->held_bytes() >= plain.message->held_bytes() + 1'000);
}

TEST_CASE("a code is found in an opaque signature, and in a second page", "[mail-ingest]")
{
    const auto codes = [](const std::string& raw) { return read(raw).message->codes; };

    CHECK(codes("Subject: x\r\nContent-Type: application/pkcs7-mime; smime-type=signed-data\r\n"
                "Content-Transfer-Encoding: base64\r\n\r\n"
                "MIIB9wYJKoZIhvcNAQcCoIIB6DCCAeQCAQExDTALBglghkgBZQMEAgEwTwYJKoZIhvcNAQcBoEIEQENvbn"
                "RlbnQt"
                "VHlwZTogdGV4dC9wbGFpbjsgY2hhcnNldD11dGYtOA0KDQpZb3VyIGNvZGUgaXMgNDgyOTEzDQoxggF9MI"
                "IBeQIB"
                "ATArMBMxETAPBgNVBAMMCHNhbS50ZXN0AhQMkxZO0MPZSkIuKX8aaB9KajKcNTALBglghkgBZQMEAgGgge"
                "QwGAYJ"
                "KoZIhvcNAQkDMQsGCSqGSIb3DQEHATAcBgkqhkiG9w0BCQUxDxcNMjYxMTI4MTc0NTQxWjAvBgkqhkiG9w"
                "0BCQQx"
                "IgQgij1piqOB2HouWm/"
                "EfA8C78BWFzZ19uakFqZnH+7MmjwweQYJKoZIhvcNAQkPMWwwajALBglghkgBZQMEASow"
                "CwYJYIZIAWUDBAEWMAsGCWCGSAFlAwQBAjAKBggqhkiG9w0DBzAOBggqhkiG9w0DAgICAIAwDQYIKoZIhv"
                "cNAwIC"
                "AUAwBwYFKw4DAgcwDQYIKoZIhvcNAwICASgwCgYIKoZIzj0EAwIERzBFAiAURUXEIL1qTUCxNZ9OaxnxwR"
                "qAoLxB"
                "dZx2yCH4feTWKAIhALu2U3BB1fJ7bEnqFDqU8nbTJfVWgMZ74Ck6NWsTlX/W"
                "\r\n")
              .find("482913") != std::string::npos);
    CHECK(
        codes("Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: "
              "text/html\r\n\r\n<p>Hello</p>\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Your code "
              "is "
              "482913</p>\r\n--b--\r\n")
            .find("482913") != std::string::npos);
}

TEST_CASE("a message is read within the bounds that are set", "[mail-ingest]")
{
    mime::view_limits limits;
    limits.header_bytes = 8;
    const std::string mail = "X-A: filler\r\nSubject: a long one\r\n\r\nx\r\n";

    CHECK(read(mail).message->subject == "a long one");
    CHECK(read(mail, limits).message->subject.empty());
}

TEST_CASE("broken mail is read, its faults are noted, and one inbox by two names gets it once",
          "[mail-ingest]")
{
    const auto outcome =
        read(std::string("Subject: a\0b\r\nContent-Type: multipart/mixed\r\n\r\nx\ny", 50));
    REQUIRE(outcome.message);
    CHECK(outcome.message->subject == "a\xef\xbf\xbd"
                                      "b");
    for (const char* defect : {"bare_newline", "no_boundary", "nul"})
        CHECK(std::find(outcome.message->defects.begin(), outcome.message->defects.end(), defect) !=
              outcome.message->defects.end());
    REQUIRE(outcome.message->deliveries.size() == 1);
    CHECK(outcome.message->deliveries[0].rcpt_to ==
          std::vector<std::string>{"box+a@in.test", "box+b@in.test"});
}

TEST_CASE("whom the header names is stored with the mail, whoever its recipients are",
          "[mail-ingest]")
{
    const auto message = read("To: All <list@lists.test>\r\nCc: c@x.test\r\n\r\nx\r\n").message;

    const auto named = mailbox::header_addresses_from_json(message->header_addresses);
    CHECK(named.to == std::vector<mime::email_address>{{"All", "list@lists.test"}});
    CHECK(named.cc == std::vector<mime::email_address>{{"", "c@x.test"}});
    CHECK(named.reply_to.empty());
}
