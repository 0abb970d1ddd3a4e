#include "extract/link_kinds.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace tempinbox;

TEST_CASE("what a link says decides before its URL, both before the words in front", "[extract]")
{
    const std::vector<std::array<std::string, 4>> links = {
        {"https://a.test/verify/1", "Unsubscribe", "", "unsubscribe"},
        {"https://a.test/reset-password?k=1", "Confirm", "", "verify"},
        {"https://a.test/l/1", "here", "To reset your password, click", "reset"},
        {"https://a.test/l/1", "Read the story of the week", "Please confirm your address.", "other"},
        {"https://a.test/login", "Log in", "", "other"},
        {"https://a.test/login?token=8c1d2e", "Log in", "", "verify"},
        {"https://verify.test/blog", "Blog", "", "other"},
        {"https://a.test/x", "https://a.test/x", "Подтвердите почту:", "verify"},
        {"https://a.test/x", "비밀번호 재설정", "", "reset"},
        {"https://a.test/x", "إلغاء الاشتراك", "", "unsubscribe"},
    };
    for (const auto& [url, text, before, kind] : links) {
        INFO(url << " / " << text << " / " << before);
        CHECK(extract::kind_of_link(url, text, before) == kind);
    }
}
