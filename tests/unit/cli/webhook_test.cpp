#include "cli/webhook.hpp"

#include "cli/position_file.hpp"
#include "unit/common/scratch_folder.hpp"
#include "webhook-dispatcher/endpoints/signature.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::cli;

namespace {

constexpr const char* secret_text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

} // namespace

TEST_CASE("the payload is the webhook's", "[cli]")
{
    const auto email = json::value::parse(R"({"emailId":"e","inboxId":"i","sequence":3,"from":"a@b",
        "subject":"Hi \"you\"","receivedAt":"2026-11-21T10:00:07.512Z","text":"secret"})");

    CHECK(webhook_payload(*email) ==
          R"({"event":"email.received","timestamp":"2026-11-21T10:00:07.512Z",)"
          R"("data":{"emailId":"e","inboxId":"i","from":"a@b","subject":"Hi \"you\""}})");
}

TEST_CASE("the signature is the webhook's", "[cli]")
{
    const auto key = read_webhook_secret(secret_text).value();

    const auto headers = webhook_headers("id", 1'700'000'000, "{}", key, 2);

    CHECK(http::find_header(headers, "webhook-id") == "id");
    CHECK(http::find_header(headers, "webhook-timestamp") == "1700000000");
    CHECK(http::find_header(headers, "webhook-attempt") == "2");
    const auto same = webhooks::read_signing_secret(secret(secret_text)).value();
    CHECK(http::find_header(headers, "webhook-signature") ==
          webhooks::sign({same}, "id", time_point(std::chrono::seconds(1'700'000'000)), "{}"));
    CHECK_FALSE(http::find_header(webhook_headers("id", 1, "{}", {}, 1), "webhook-signature"));
}

TEST_CASE("what is no webhook's secret is refused", "[cli]")
{
    for (const char* const wrong : {"", "abc", "whsec_", "whsec_YWJj", "whsec_***"})
        CHECK_FALSE(read_webhook_secret(wrong));
}

TEST_CASE("a position outlasts the run", "[cli]")
{
    const testing::scratch_folder folder;
    const auto path = folder.file("new/folder/position");
    {
        position_file first(path);
        CHECK_FALSE(first.read());
        first.write(9'000'000'000);
        first.write(7);
    }

    CHECK(position_file(path).read() == 7);
}

TEST_CASE("two runs cannot share a position", "[cli]")
{
    const testing::scratch_folder folder;
    const position_file first(folder.file("position"));

    try {
        position_file second(folder.file("position"));
        FAIL("the second run has it, too");
    } catch (const failure_error& refused) {
        CHECK(refused.reason().code == errc::conflict);
        CHECK_THAT(refused.what(), Catch::Contains("another tempinbox listen"));
    }
}

TEST_CASE("a position that is none is no position", "[cli]")
{
    const testing::scratch_folder folder;

    CHECK_FALSE(position_file(folder.write("short", "12\n")).read());
    CHECK_FALSE(position_file(folder.write("words", "what is this doing here\n")).read());
}
