#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("digests agree with their standards", "[crypto]")
{
    CHECK(to_hex(crypto::sha256("abc")) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(to_hex(crypto::sha256("")) ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    // RFC 4231 4.2 and 4.7
    CHECK(to_hex(crypto::hmac_sha256(std::string(20, '\x0b'), "Hi There")) ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(to_hex(crypto::hmac_sha256(std::string(131, '\xaa'),
                                     "Test Using Larger Than Block-Size Key - Hash Key First")) ==
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("a digest of pieces is that of the whole", "[crypto]")
{
    crypto::sha256_digest pieces;
    for (const std::string piece : {"", "a", "bc", ""})
        pieces.add(piece);

    CHECK(pieces.finish() == crypto::sha256("abc"));
    CHECK(crypto::sha256_digest().finish() == crypto::sha256(""));
}

TEST_CASE("random bytes differ", "[crypto]")
{
    CHECK(crypto::random_bytes(16).size() == 16);
    CHECK(crypto::random_bytes(16) != crypto::random_bytes(16));
    CHECK(crypto::random_bytes(0).empty());
}

TEST_CASE("the comparison in constant time still compares", "[crypto]")
{
    CHECK(crypto::equal_constant_time("same", "same"));
    CHECK_FALSE(crypto::equal_constant_time("same", "sane"));
    CHECK_FALSE(crypto::equal_constant_time("same", "samE"));
    CHECK_FALSE(crypto::equal_constant_time("same", "sam"));
    CHECK(crypto::equal_constant_time("", ""));
}
