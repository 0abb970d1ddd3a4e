#include "cli/waiting.hpp"

#include "cli/mail_links.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::cli;
using namespace std::chrono_literals;

namespace {

std::string chosen_link(const std::string& links, const std::optional<std::string>& kind = {})
{
    const auto email = json::value::parse(R"({"links":)" + links + "}").value();
    const auto chosen = choose_link(email, kind);
    return chosen ? text_of(*chosen, "url") : "";
}

} // namespace

TEST_CASE("a wait asks for all its conditions", "[cli]")
{
    criteria wanted;
    wanted.subject = "Your code";
    wanted.has_code = true;
    wanted.expects_none = true;

    const auto call = wait_call("id", wanted, 4, 25s);

    CHECK(call.path == "/v1/inboxes/id/emails/wait?subject=Your%20code&hasCode=true&expect=none"
                       "&after=4&timeoutSeconds=25");
    CHECK(call.timeout == 40s);
}

TEST_CASE("the last request of a wait does not outlast it by more than seconds", "[cli]")
{
    const auto timeout = [](std::chrono::seconds hold, std::chrono::seconds left) {
        return wait_call("id", {}, 0, hold, left).timeout;
    };

    CHECK(timeout(55s, 600s) == 70s);
    CHECK(timeout(55s, 62s) == 67s);
    CHECK(timeout(55s, 55s) == 60s);
    CHECK(timeout(1s, 0s) == 6s);
}

TEST_CASE("conditions are described for people", "[cli]")
{
    criteria wanted;
    CHECK(describe(wanted).empty());
    wanted.from = "shop";
    wanted.has_code = true;
    CHECK(describe(wanted) == "sender contains \"shop\", with a code");
}

TEST_CASE("the link to follow is the one to verify, and never the one to unsubscribe", "[cli]")
{
    const std::string all = R"([{"url":"u","kind":"unsubscribe"},{"url":"o","kind":"other"},
                                {"url":"v","kind":"verify"}])";

    CHECK(chosen_link(all) == "v");
    CHECK(chosen_link(all, "unsubscribe") == "u");
    CHECK(chosen_link(all, "reset").empty());
    CHECK(chosen_link(R"([{"url":"u","kind":"unsubscribe"},{"url":"o","kind":"other"}])") == "o");
    CHECK(chosen_link(R"([{"url":"u","kind":"unsubscribe"}])").empty());
}
