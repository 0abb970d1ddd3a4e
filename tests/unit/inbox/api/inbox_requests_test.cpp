#include "inbox/api/inbox_requests.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::inbox;

namespace {

v1::CreateInboxRequest good_request()
{
    v1::CreateInboxRequest request;
    request.mutable_account()->set_account_id(account_id::make().text());
    request.set_inbox_id(inbox_id::make().text());
    return request;
}

std::string refusal(const v1::CreateInboxRequest& request)
{
    const auto outcome = read_new_inbox(request);
    return outcome ? "none"
                   : std::string(to_string(outcome.error().code)) + ": " + outcome.error().message;
}

} // namespace

TEST_CASE("a request for an inbox is read", "[inbox]")
{
    auto request = good_request();
    request.set_local_part("Ann");
    request.set_domain("Mail.Test");
    request.set_ttl_seconds(90);
    request.set_name(std::string(100, 'n'));
    for (int i = 0; i < 10; ++i)
        request.add_tags(std::string(50, 't'));
    for (int i = 0; i < 20; ++i)
        (*request.mutable_metadata())["key" + std::to_string(i)] = "";
    (*request.mutable_metadata())["key0"] = std::string(500, 'v');

    const auto parsed = read_new_inbox(request).value();

    CHECK(parsed.id.text() == request.inbox_id());
    CHECK(parsed.local_part == "ann");
    CHECK(parsed.domain == "mail.test");
    CHECK(parsed.ttl == std::chrono::seconds(90));
    CHECK(parsed.tags.size() == 10);
    CHECK(parsed.metadata.size() == 20);
}

TEST_CASE("how an inbox keeps mail is read, and what is absent stays", "[inbox]")
{
    auto created = good_request();
    CHECK_FALSE(read_new_inbox(created).value().retention);
    created.mutable_retention()->set_max_age_seconds(60);
    v1::UpdateInboxRequest changed;
    *changed.mutable_account() = created.account();
    changed.set_inbox_id(created.inbox_id());
    changed.mutable_retention()->set_reset(true);
    changed.mutable_retention()->set_max_age_seconds(0);
    changed.mutable_retention()->set_when_full(v1::WHEN_FULL_REFUSE);

    const auto of_new = read_new_inbox(created).value().retention.value();
    const auto of_change = read_change(changed).value().retention.value();

    CHECK_FALSE(of_new.resets);
    CHECK(of_new.max_age == std::chrono::seconds(60));
    CHECK_FALSE(of_new.drops_oldest);
    CHECK(of_change.resets);
    CHECK(of_change.max_age == std::chrono::seconds(0));
    CHECK(of_change.drops_oldest == false);
}

TEST_CASE("mail is kept for a minute at least and 366 days at most", "[inbox]")
{
    const std::int64_t seconds = GENERATE(-1, 1, 59, 31'622'401);
    auto request = good_request();
    request.mutable_retention()->set_max_age_seconds(seconds);

    CHECK(refusal(request) ==
          "invalid_argument: max_age_seconds must be 0 or an integer from 60 to 31622400, not " +
              std::to_string(seconds));
}

TEST_CASE("a catch-all may name its subdomain, which has rules of its own", "[inbox]")
{
    auto request = good_request();
    request.set_local_part("*");
    CHECK(read_new_inbox(request).value().is_catch_all());
    CHECK_FALSE(read_new_inbox(request).value().domain);

    request.set_domain("Team-1.Mail.Test");
    CHECK(read_new_inbox(request).value().domain == "team-1.mail.test");
    request.set_domain("www.mail.test");
    CHECK(refusal(request).starts_with("invalid_argument: domain "));
    request.set_local_part("ann");
    CHECK(refusal(request) == "none");
    request.set_local_part("*");
    request.set_domain("intra.mail.test");
    CHECK(read_new_inbox(request));
    CHECK_FALSE(read_new_inbox(request, {"vpn", "intra"}));
    request.set_local_part("**");
    CHECK(refusal(request).starts_with("invalid_argument: localPart "));
}

TEST_CASE("characters are counted, not bytes", "[inbox]")
{
    auto request = good_request();
    std::string name;
    for (int i = 0; i < 100; ++i)
        name += "ü";
    request.set_name(name);

    CHECK(read_new_inbox(request));
}

TEST_CASE("each bad field of a request is named", "[inbox]")
{
    auto request = good_request();
    SECTION("inbox id")
    {
        request.set_inbox_id("1");
        CHECK(refusal(request).starts_with("invalid_argument: inboxId "));
    }
    SECTION("account id")
    {
        request.mutable_account()->set_account_id("1");
        CHECK(refusal(request).starts_with("invalid_argument: accountId "));
    }
    SECTION("local part")
    {
        request.set_local_part("a b");
        CHECK(refusal(request).starts_with("invalid_argument: localPart "));
    }
    SECTION("domain")
    {
        request.set_domain("nothing");
        CHECK(refusal(request).starts_with("invalid_argument: domain "));
    }
    SECTION("name")
    {
        request.set_name(std::string(101, 'n'));
        CHECK(refusal(request) == "invalid_argument: name must have 1 to 100 characters, not 101");
    }
    SECTION("control characters in a name")
    {
        request.set_name(std::string("a\0b", 3));
        CHECK(refusal(request).starts_with("invalid_argument: name "));
    }
    SECTION("tags")
    {
        for (int i = 0; i < 11; ++i)
            request.add_tags("t");
        CHECK(refusal(request) == "invalid_argument: tags must be at most 10, not 11");
    }
    SECTION("a tag")
    {
        request.add_tags("");
        CHECK(refusal(request).starts_with("invalid_argument: each of tags "));
    }
    SECTION("metadata")
    {
        for (int i = 0; i < 21; ++i)
            (*request.mutable_metadata())[std::to_string(i)] = "v";
        CHECK(refusal(request) == "invalid_argument: metadata must have at most 20 pairs, not 21");
    }
    SECTION("a metadata key")
    {
        (*request.mutable_metadata())[""] = "v";
        CHECK(refusal(request).starts_with("invalid_argument: each key of metadata "));
    }
    SECTION("a long metadata key")
    {
        (*request.mutable_metadata())[std::string(51, 'k')] = "v";
        CHECK(refusal(request).starts_with("invalid_argument: each key of metadata "));
    }
    SECTION("a long metadata value")
    {
        (*request.mutable_metadata())["k"] = std::string(501, 'v');
        CHECK(refusal(request).starts_with("invalid_argument: each value of metadata "));
    }
}

TEST_CASE("a page holds 25 unless asked otherwise, at most 100", "[inbox]")
{
    CHECK(read_limit(0).value() == 25);
    CHECK(read_limit(1).value() == 1);
    CHECK(read_limit(100).value() == 100);
    CHECK_FALSE(read_limit(101));
    CHECK_FALSE(read_limit(-1));
}
