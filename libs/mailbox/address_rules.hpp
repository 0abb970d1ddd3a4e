#pragma once

#include "common/core/errors.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tempinbox::mailbox {

// A local part that a customer chose, in lower case: `[a-z0-9][a-z0-9._-]{0,62}`, and a dot-string
// (RFC 5321 4.1.2), since no sender could write to it otherwise.
result<std::string> parse_local_part(std::string_view given);

// A domain in lower-case A-label form (RFC 5321 2.3.5), short enough that every address on it fits
// RFC 5321 4.5.3.1.3.
result<std::string> parse_domain(std::string_view given);

// The local part of a catch-all's address, `*@subdomain.domain`: no other inbox can have it.
inline constexpr std::string_view catch_all_local_part = "*";
std::string catch_all_address(std::string_view domain);

// A subdomain that a customer asks for, as parse_domain; its first label has 3 to 40 of
// `[a-z0-9-]`, begins with a letter, ends with a letter or digit, holds no `--` and is not one that
// hosts of an operator or clients' automatic set-up use.
result<std::string> parse_subdomain(std::string_view given);

// `example.com` of `mail.example.com`; empty for a single label.
std::string_view parent_domain(std::string_view domain);

// Never given to customers, nor caught: the names of RFC 2142, those by which certificate
// authorities validate a domain, and those of clients' automatic set-up.
bool is_reserved(std::string_view local_part);

// Below a domain, these go to its operator (RFC 2142).
bool is_operators(std::string_view local_part);

// The entropy of one random local part.
using name_entropy = std::array<std::uint8_t, 11>;

// Words of syllables and two digits, such as `tavilo-kesumo-dirapu-47`: easy to read and dictate,
// 60.6 bits.
std::string make_local_part(const name_entropy& entropy);
std::string make_random_local_part();

} // namespace tempinbox::mailbox
