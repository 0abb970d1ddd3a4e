#include "webhook-dispatcher/endpoints/signature.hpp"

#include "common/core/encoding.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;

namespace {

// The vector of the Standard Webhooks specification.
const secret known_secret{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"};
constexpr const char* known_id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const time_point known_time = from_unix_micros(1'614'265'330'000'000);
constexpr const char* known_body = R"({"test": 2432232314})";
constexpr const char* known_signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

} // namespace

TEST_CASE("signatures are those of the Standard Webhooks specification", "[webhooks][signature]")
{
    const auto key = read_signing_secret(known_secret);

    REQUIRE(key.has_value());
    CHECK(sign({*key}, known_id, known_time, known_body) == known_signature);
}

TEST_CASE("while a secret is rotated both signatures are sent, the new one first",
          "[webhooks][signature]")
{
    const auto old_key = *read_signing_secret(known_secret);
    const auto new_key = *read_signing_secret(make_signing_secret());

    const auto both = sign({new_key, old_key}, known_id, known_time, known_body);

    CHECK(both == sign({new_key}, known_id, known_time, known_body) + " " + known_signature);
}

TEST_CASE("the signature covers id, time and body", "[webhooks][signature]")
{
    const auto key = *read_signing_secret(known_secret);

    CHECK(sign({key}, "other", known_time, known_body) != known_signature);
    CHECK(sign({key}, known_id, known_time + std::chrono::seconds(1), known_body) !=
          known_signature);
    CHECK(sign({key}, known_id, known_time, std::string(known_body) + " ") != known_signature);
    // The timestamp has whole seconds.
    CHECK(sign({key}, known_id, known_time + std::chrono::milliseconds(999), known_body) ==
          known_signature);
}

TEST_CASE("new secrets are whsec_ and 24 random bytes", "[webhooks][signature]")
{
    const auto one = make_signing_secret(), two = make_signing_secret();

    CHECK(one.reveal().starts_with("whsec_"));
    CHECK(one.reveal() != two.reveal());
    CHECK(read_signing_secret(one)->reveal().size() == 24);
}

TEST_CASE("what is no webhook secret is refused", "[webhooks][signature]")
{
    for (const char* text :
         {"", "whsec_", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_not base64!"})
        CHECK(read_signing_secret(secret{text}).has_error());
}
