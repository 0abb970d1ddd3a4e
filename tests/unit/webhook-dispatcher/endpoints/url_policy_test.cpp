#include "webhook-dispatcher/endpoints/url_policy.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;

namespace {

const url_policy strict;

url_policy open_policy()
{
    url_policy policy;
    policy.addresses = address_policy({*network::parse("127.0.0.0/8")}, {});
    policy.allows_http = true;
    return policy;
}

std::string refusal(std::string_view url, const url_policy& policy = strict)
{
    const auto checked = check_url(url, policy);
    if (checked)
        return "taken";
    CHECK(checked.error().code == errc::invalid_argument);
    return checked.error().message;
}

} // namespace

TEST_CASE("ordinary https URLs are taken", "[webhooks][url]")
{
    for (const char* url :
         {"https://example.com", "https://example.com/hook", "HTTPS://Example.com/hook?x=1&y=%20",
          "https://hooks.example.com:8443/a/b", "https://example.com:443/",
          "https://example.com:3000/", "https://1.1.1.1/hook",
          "https://[2606:4700:4700::1111]/hook", "https://xn--bcher-kva.example/",
          "https://a_b.example.com/", "https://8.8.8.8.example.com/", "https://example.com./",
          "https://3com.example/", "https://does-not-resolve.invalid/"}) {
        INFO(url);
        CHECK(refusal(url) == "taken");
    }
}

TEST_CASE("the target says where a URL leads", "[webhooks][url]")
{
    CHECK(check_url("https://Example.com:8443/x", strict)->host == "example.com");
    CHECK_FALSE(check_url("https://example.com/x", strict)->is_literal);
    CHECK(check_url("https://[2606:4700:4700::1111]/", strict)->host == "2606:4700:4700::1111");
    CHECK(check_url("https://1.1.1.1/", strict)->is_literal);
}

TEST_CASE("http is taken only where the operator allows it", "[webhooks][url]")
{
    CHECK(refusal("http://example.com/hook") ==
          "url must begin with https://, not \"http://example.com/hook\"");
    CHECK(refusal("http://example.com/hook", open_policy()) == "taken");
    CHECK(refusal("ftp://example.com/", open_policy()) ==
          "url must begin with https:// or http://, not \"ftp://example.com/\"");
}

TEST_CASE("what is no absolute URL is refused", "[webhooks][url]")
{
    for (const char* url :
         {"example.com", "/hook", "https:", "https:example.com", "https://", "https:///hook",
          "not a url", "javascript:alert(1)", "https://exa mple.com/",
          "https://example.com\\@evil.example/", "https://ex\tample.com",
          "https://b\xc3\xbc"
          "cher.example/",
          "https://example.com:port/", "https://[::1", "https://-x.example/", "https://a..b/",
          "https://%31%32%37.0.0.1/"}) {
        INFO(url);
        CHECK(refusal(url) != "taken");
    }
    CHECK(refusal("") == "url is required");
    CHECK(refusal("https://example.com/" + std::string(2'048, 'a'))
              .starts_with("url must be at most 2048 characters long"));
}

TEST_CASE("credentials and fragments are refused", "[webhooks][url]")
{
    CHECK(refusal("https://user:secret@example.com/") ==
          "url must not contain a user name or password");
    CHECK(refusal("https://user@example.com/") == "url must not contain a user name or password");
    CHECK(refusal("https://example.com/#top") == "url must not have a fragment (#…)");
}

TEST_CASE("ports of other protocols are refused", "[webhooks][url]")
{
    for (const int port : {0, 1, 22, 25, 465, 587, 1023, 2379, 5432, 6379, 9092, 65'536})
        CHECK(refusal("https://example.com:" + std::to_string(port) + "/")
                  .starts_with("url must use port 80, 443, 8080"));
    for (const int port : {80, 443, 1024, 8080, 8443, 9000, 65'535})
        CHECK(refusal("https://example.com:" + std::to_string(port) + "/") == "taken");
}

TEST_CASE("hosts that system resolvers take for numbers are refused", "[webhooks][url]")
{
    for (const char* host :
         {"2130706433", "0x7f000001", "0x7f.1", "127.1", "017700000001", "0177.0.0.1", "1.2.3",
          "1.2.3.4.5", "1.2.3.04", "256.1.1.1", "1.2.3.4.", "example.123", "foo.0x1f", "0x"}) {
        INFO(host);
        CHECK(refusal("https://" + std::string(host) + "/")
                  .starts_with("url must not have a host that ends in a number"));
    }
}

TEST_CASE("literal addresses that are not public are refused", "[webhooks][url]")
{
    for (const char* host :
         {"127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "0.0.0.0", "[::1]",
          "[::ffff:127.0.0.1]", "[fe80::1]", "[fd00:ec2::254]", "[::]", "[64:ff9b::7f00:1]"}) {
        INFO(host);
        CHECK(refusal("https://" + std::string(host) + "/")
                  .starts_with("url must lead to a public address"));
    }
    CHECK(refusal("https://[fe80::1%25eth0]/") != "taken");
    CHECK(refusal("http://127.0.0.1:9000/hook", open_policy()) == "taken");
    CHECK(refusal("http://10.0.0.1:9000/hook", open_policy()) != "taken");
}

TEST_CASE("an endpoint that the policy refuses by now is off and says why", "[webhooks][url]")
{
    endpoint stored;
    stored.url = "http://example.com/hook";

    CHECK(apply_url_policy(stored, open_policy()).is_enabled);
    const auto refused = apply_url_policy(stored, strict);
    CHECK_FALSE(refused.is_enabled);
    CHECK(refused.is_refused);
    CHECK(refused.disabled_reason.value_or("").find("url must begin with https://") !=
          std::string::npos);

    stored.url = "https://example.com:6379/";
    CHECK_FALSE(apply_url_policy(stored, open_policy()).is_enabled);
    // Addresses are checked at each connection.
    stored.url = "https://10.0.0.1/";
    CHECK(apply_url_policy(stored, strict).is_enabled);
    stored.is_enabled = false;
    CHECK_FALSE(apply_url_policy(stored, strict).is_refused);
}
