#include "common/tls/expiry.hpp"

#include "unit/common/http/self_signed.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace tempinbox;

TEST_CASE("a file expires with the first of its certificates", "[tls]")
{
    const testing::scratch_folder folder;
    testing::validity hour, day;
    hour.until = 1h;
    day.until = 24h;
    const auto file =
        folder.write("chain.pem", testing::make_self_signed("DNS:a.test", day).certificate +
                                      testing::make_self_signed("DNS:b.test", hour).certificate);

    const auto left = tls::find_expiry(file).value() - system_clock_source{}.now();

    CHECK(left > 50min);
    CHECK(left <= 1h);
}

TEST_CASE("a file without certificates has no expiry, and says why", "[tls]")
{
    const testing::scratch_folder folder;
    const auto file = folder.write("empty.pem", "nothing\n");

    CHECK(tls::find_expiry(file).error().message ==
          "the file \"" + file + "\" holds no certificate");
    CHECK(tls::find_expiry("/nowhere.pem").error().message ==
          "the file \"/nowhere.pem\" cannot be read");
}
