#include "mime/content_fields.hpp"

#include "common/crypto/digest.hpp"
#include "unit/mime/mails.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using mime::encoding;

namespace {

std::string base64(std::string_view text)
{
    return mime::decode(encoding::base64, text).bytes;
}

std::string quoted(std::string_view text)
{
    return mime::decode(encoding::quoted_printable, text).bytes;
}

bool is_damaged(encoding how, std::string_view text)
{
    return mime::decode(how, text).is_damaged;
}

} // namespace

TEST_CASE("quoted-printable, also when it is broken", "[mime][torture-11]")
{
    CHECK(quoted("a=20b=3D=c3=A4") == "a b=ä");
    CHECK(quoted("soft=\r\nbreak") == "softbreak");
    CHECK(quoted("soft=  \r\nbreak") == "softbreak");
    CHECK(quoted("soft at the end=") == "soft at the end");
    CHECK(quoted("trailing \t \r\nblanks  ") == "trailing\r\nblanks");
    CHECK(quoted("=ZZ=4") == "=ZZ=4");
    CHECK(quoted("==41") == "=A");
    CHECK(quoted("a\nb\r\nc") == "a\nb\r\nc");
    CHECK(is_damaged(encoding::quoted_printable, "=ZZ"));
    CHECK_FALSE(is_damaged(encoding::quoted_printable, "=41=\r\n"));
}

TEST_CASE("base64, also when it is broken", "[mime][torture-12]")
{
    CHECK(base64("aGVsbG8=") == "hello");
    CHECK(base64("aGVs\r\nbG8=\r\n") == "hello");
    CHECK(base64("a!G*V#s bG8=") == "hello");
    CHECK(base64(std::string_view("aGVs\0bG8=", 9)) == "hello");
    CHECK(base64("aGVsbG8") == "hello");
    CHECK(base64("aGVsbG8=aGVsbG8=") == "hello");
    CHECK(base64("aGVsb") == "hel");
    CHECK(base64("====") == "");
    CHECK(is_damaged(encoding::base64, "aGVs!bG8="));
    CHECK(is_damaged(encoding::base64, "aGVsbG8=aGVsbG8="));
    CHECK(is_damaged(encoding::base64, "aGVsb"));
    CHECK_FALSE(is_damaged(encoding::base64, "aGVsbG8=\r\n"));
    CHECK_FALSE(is_damaged(encoding::base64, ""));
    CHECK(base64(testing::repeated("A", 30'000'000)).size() == 22'500'000);
}

TEST_CASE("size and digest of what would be decoded are those of what is", "[mime]")
{
    for (const std::string text :
         {"aGVsbG8=", "aGVsbG8", "a=20b", "soft=\r\nbreak \r\n", "", "=", "=Z", "\r\n\r\n"}) {
        for (const auto how : {encoding::identity, encoding::base64, encoding::quoted_printable}) {
            bool was_damaged = false;
            CHECK(mime::decoded_size(how, text, was_damaged) ==
                  mime::decode(how, text).bytes.size());
            CHECK(was_damaged == mime::decode(how, text).is_damaged);
            const auto digested = mime::digest_decoded(how, text);
            CHECK(digested.size == mime::decode(how, text).bytes.size());
            CHECK(digested.sha256 == crypto::sha256(mime::decode(how, text).bytes));
            CHECK(digested.is_damaged == was_damaged);
        }
    }
    const auto large = testing::repeated("QUJDRA==", 5'000) + testing::repeated("QUJD", 5'000);
    for (const auto how : {encoding::identity, encoding::base64, encoding::quoted_printable})
        CHECK(mime::digest_decoded(how, large).sha256 ==
              crypto::sha256(mime::decode(how, large).bytes));
}

TEST_CASE("an encoding is known by its first word, without quotes and comments", "[mime]")
{
    for (const char* value :
         {"base64", "\"base64\"", "'base64'", " BASE64 ; x=y", "(a (nested) one) base64 (another)",
          "\"base64\" (quoted)", "base64, 8bit", "base64 charset=utf-8", "base64:", "base-64",
          "base64(unclosed", "x-base64"}) {
        INFO(value);
        CHECK(mime::parse_encoding(value) == encoding::base64);
    }
    for (const char* value : {"\"quoted-printable\"", "quoted-printable;", "quoted-printable (a) b",
                              "Quoted_Printable", "quotedprintable", "\"Quoted-Printable\";"})
        CHECK(mime::parse_encoding(value) == encoding::quoted_printable);
    for (const char* value : {"", "\"7bit\"", "8-bit", "7bit, base64", "binary(x)", "(base64)"})
        CHECK(mime::parse_encoding(value) == encoding::identity);
    for (const char* value : {"x-uuencode", "base640", "utf-8", "\""})
        CHECK_FALSE(mime::parse_encoding(value));
}
