#include "gateway/access/same_origin.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

TEST_CASE("only what the browser says comes from the own page is taken", "[gateway][session]")
{
    struct row
    {
        http::header_list headers;
        bool is_own;
    };
    const auto rows = std::vector<row>{
        {{{"Host", "mail.example"}}, false},
        {{{"Host", "mail.example"}, {"Sec-Fetch-Site", "same-origin"}}, true},
        {{{"Host", "mail.example"}, {"Sec-Fetch-Site", "same-site"}}, false},
        {{{"Host", "mail.example"}, {"Sec-Fetch-Site", "cross-site"}}, false},
        {{{"Host", "mail.example"}, {"Sec-Fetch-Site", "none"}}, false},
        {{{"Host", "mail.example"},
          {"Sec-Fetch-Site", "cross-site"},
          {"Origin", "https://mail.example"}},
         false},
        {{{"Host", "mail.example"}, {"Origin", "https://mail.example"}}, true},
        {{{"Host", "mail.example:8443"}, {"Origin", "https://Mail.Example:8443"}}, true},
        {{{"Host", "mail.example:8443"}, {"Origin", "https://mail.example"}}, false},
        {{{"Host", "mail.example"}, {"Origin", "https://mail.example.evil.example"}}, false},
        {{{"Host", "mail.example"}, {"Origin", "null"}}, false},
        {{{"Host", ""}, {"Origin", "https://"}}, false},
        {{{"Origin", "https://mail.example"}}, false},
    };
    for (const auto& [headers, is_own] : rows) {
        http::request received;
        received.headers = headers;
        CAPTURE(headers.size(), headers.back().first, headers.back().second);
        CHECK(check_same_origin(received, {}).has_value() == is_own);
    }
}

TEST_CASE("the host that the browser asked for is a trusted proxy's to say", "[gateway][session]")
{
    const std::vector<network> proxies{network::parse("10.0.0.0/8").value()};
    http::request received;
    received.headers = {{"Host", "gateway.internal"},
                        {"X-Forwarded-Host", "mail.example"},
                        {"Origin", "https://mail.example"}};
    received.peer = boost::asio::ip::make_address("10.1.2.3");

    CHECK(check_same_origin(received, proxies));
    CHECK_FALSE(check_same_origin(received, {}));
}
