#include "inbox/reading/trace_headers.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

mailbox::stored_email some_email()
{
    mailbox::stored_email email;
    email.summary.id = email_id::parse("01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f").value();
    email.summary.rcpt_to = {"Ann+x@mail.test"};
    email.summary.received_at = *parse_iso8601("2026-11-05T09:08:07Z");
    email.inbox_address = "ann@mail.test";
    email.mail_from = "bounce@example.org";
    email.remote_address = "192.0.2.1";
    email.helo = "mx.example.org";
    return email;
}

} // namespace

TEST_CASE("the trace names the sender, the way and the only recipient", "[inbox][trace]")
{
    CHECK(inbox::trace_headers(some_email()) ==
          "Return-Path: <bounce@example.org>\r\n"
          "Received: from mx.example.org ([192.0.2.1])\r\n"
          "\tby mail.test with ESMTP id 01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f\r\n"
          "\tfor <Ann+x@mail.test>; Thu, 5 Nov 2026 09:08:07 +0000\r\n");
}

TEST_CASE("with other recipients none is named", "[inbox][trace]")
{
    auto to_several = some_email();
    to_several.is_to_several_inboxes = true;
    auto twice = some_email();
    twice.summary.rcpt_to.emplace_back("ann+y@mail.test");

    CHECK(inbox::trace_headers(to_several).find("for <") == std::string::npos);
    CHECK(inbox::trace_headers(twice).find("for <") == std::string::npos);
}

TEST_CASE("the protocol says TLS and addresses outside ASCII", "[inbox][trace]")
{
    auto email = some_email();
    email.tls = "TLSv1.3";
    CHECK(inbox::trace_headers(email).find("with ESMTPS id") != std::string::npos);
    email.mail_from = "jürgen@example.org";
    CHECK(inbox::trace_headers(email).find("with UTF8SMTPS id") != std::string::npos);
}

TEST_CASE("an empty sender, an IPv6 address and line ends of a stranger make no harm",
          "[inbox][trace]")
{
    auto email = some_email();
    email.mail_from.clear();
    email.remote_address = "2001:db8::1";
    email.helo = "mx\r\nBcc: all@example.org";

    const auto trace = inbox::trace_headers(email);

    CHECK(trace.starts_with("Return-Path: <>\r\n"));
    CHECK(trace.find("([IPv6:2001:db8::1])") != std::string::npos);
    CHECK(trace.find("\nBcc") == std::string::npos);
}
