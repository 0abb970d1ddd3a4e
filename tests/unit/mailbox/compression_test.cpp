#include "mailbox/compression.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::mailbox;

TEST_CASE("a message comes back byte for byte", "[mailbox]")
{
    std::string every_byte;
    for (int i = 0; i < 100'000; ++i)
        every_byte += static_cast<char>(i * 7 % 256);

    for (const auto& raw : {std::string(), std::string("a"), every_byte})
        CHECK(decompress(compress(raw)) == raw);
}

TEST_CASE("what is no whole frame, or too large, is refused", "[mailbox]")
{
    const auto frame = compress(std::string(10'000, 'x'));

    CHECK_THROWS(decompress(""));
    CHECK_THROWS(decompress("not a frame"));
    CHECK_THROWS(decompress(frame.substr(0, frame.size() - 1)));
    CHECK_THROWS(decompress(frame, 9'999));
    CHECK_NOTHROW(decompress(frame, 10'000));
}

TEST_CASE("a frame keeps no room it does not need", "[mailbox]")
{
    const auto frame = compress(std::string(25 * 1024 * 1024, 'x'));

    CHECK(frame.capacity() <= 2 * frame.size());
}
