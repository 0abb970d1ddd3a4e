#include "common/core/encoding.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("base64 is written and read as RFC 4648 says", "[core]")
{
    const std::pair<const char*, const char*> table[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
    for (const auto& [bytes, text] : table) {
        CHECK(to_base64(bytes) == text);
        CHECK(from_base64(text) == bytes);
    }
    CHECK(to_base64("\xfb\xff") == "+/8=");
    CHECK(to_base64url("\xfb\xff") == "-_8");
    CHECK(from_base64url("-_8") == "\xfb\xff");
}

TEST_CASE("bytes of every value survive", "[core]")
{
    std::string bytes;
    for (int i = 0; i < 256; ++i)
        bytes.push_back(static_cast<char>(i));

    CHECK(from_base64(to_base64(bytes)) == bytes);
    CHECK(from_base64url(to_base64url(bytes)) == bytes);
    CHECK(from_hex(to_hex(bytes)) == bytes);
}

TEST_CASE("encodings are read strictly", "[core]")
{
    for (const auto* text :
         {"Zg", "Zg=", "Zg===", "Zm9v\n", "Z g=", "Zh==", "-_8=", "VGas\xdf\xdf\xdf\xdf"}) {
        CAPTURE(text);
        CHECK_FALSE(from_base64(text));
    }
    for (const auto* text : {"Zg==", "+/8", "Z", "Zm9v "}) {
        CAPTURE(text);
        CHECK_FALSE(from_base64url(text));
    }
    CHECK(to_hex("\x01\xab") == "01ab");
    CHECK(from_hex("01AB") == "\x01\xab");
    CHECK_FALSE(from_hex("1"));
    CHECK_FALSE(from_hex("0g"));
}

TEST_CASE("appending base64 writes what to_base64 does, behind what is there", "[core][encoding]")
{
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        std::string text = "before:";
        append_base64(text, bytes);
        REQUIRE(text == "before:" + to_base64(bytes));
        bytes += static_cast<char>(i * 167 + 13);
    }
}
