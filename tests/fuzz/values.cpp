#include "common/core/encoding.hpp"
#include "common/core/time.hpp"
#include "common/json/value.hpp"
#include "common/rules/rules.hpp"
#include "fuzz/require.hpp"
#include "gateway/long_poll/feed_cursor.hpp"
#include "html/references.hpp"
#include "mailbox/cursor.hpp"
#include "mime/addresses.hpp"
#include "mime/date.hpp"

#include <cstddef>
#include <cstdint>

using namespace tempinbox;
using fuzz::require;
using fuzz::require_clean;

namespace {

constexpr unsigned max_depth = 32;

void require_value(const json::value& given, unsigned depth)
{
    require(depth <= max_depth, "depth is bounded");
    if (given.is_string())
        require(is_valid_utf8(given.text()), "a string is UTF-8");
    if (given.is_integer())
        require(std::to_string(given.integer()) == given.to_string() || given.integer() == 0,
                "an integer is what was written");
    if (given.is_array())
        for (const auto& item : given.items())
            require_value(item, depth + 1);
    if (!given.is_object())
        return;
    const auto members = given.members();
    for (const auto& [name, member] : members) {
        require(is_valid_utf8(name), "a name is UTF-8");
        require_value(member, depth + 1);
    }
}

void try_json(std::string_view text)
{
    const auto parsed = json::value::parse(text);
    if (!parsed) {
        require_clean(parsed.error().message, "what is wrong is said in clean text");
        require(parsed.error().message.size() < 1'000, "what is wrong is said in few words");
        return;
    }
    require_value(*parsed, 0);
    const auto once = parsed->to_string();
    const auto again = json::value::parse(once);
    require(again && again->to_string() == once, "what was written is read as the same");
}

void try_cursor(std::string_view text)
{
    constexpr std::string_view filter = "account=a";
    const auto position = mailbox::read_cursor(text, filter);
    if (position)
        require(mailbox::make_cursor(filter, *position) == text, "a position has one cursor");
    const auto made = mailbox::make_cursor(filter, text);
    const auto read = mailbox::read_cursor(made, filter);
    require(read && *read == text, "a cursor leads back to its position");
    require(!mailbox::read_cursor(made, "account=b"), "a cursor belongs to its list");
}

// What `after` and Last-Event-ID are read by.
void try_feed_cursor(std::string_view text)
{
    static const auto account = account_id::parse("01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f").value();
    const auto position = gateway::read_feed_cursor(account, text);
    if (position)
        require(gateway::make_feed_cursor(account, *position) == text,
                "a position of a feed has one cursor");
    else
        require_clean(position.error().message, "a wrong cursor is refused in clean text");
    if (text.size() < 9)
        return;
    std::int64_t number = 0;
    for (const auto byte : text.substr(0, 8))
        number = (number << 8 | static_cast<unsigned char>(byte)) & 0x7fff'ffff'ffff'ffff;
    const gateway::feed_position made{static_cast<unsigned char>(text[8]), number};
    const auto read = gateway::read_feed_cursor(account, gateway::make_feed_cursor(account, made));
    require(read && *read == made, "a cursor of a feed leads back to its position");
}

void try_encodings(std::string_view text)
{
    if (const auto bytes = from_base64(text))
        require(to_base64(*bytes) == text, "base64 is read strictly");
    if (const auto bytes = from_base64url(text))
        require(to_base64url(*bytes) == text, "base64url is read strictly");
    require(from_base64(to_base64(text)) == std::string(text), "base64 keeps all bytes");
    require(from_hex(to_hex(text)) == std::string(text), "hexadecimal keeps all bytes");
    if (const auto time = parse_iso8601(text))
        require(parse_iso8601(to_iso8601(*time)).has_value(), "a time that is read can be written");
    const auto clean = to_clean_utf8(text);
    require_clean(clean, "text is cleaned");
    require(to_clean_utf8(clean) == clean, "clean text stays as it is");
}

void try_rules(std::string_view text)
{
    const auto clean = to_clean_utf8(text);
    const auto folded = rules::fold(clean);
    require(is_valid_utf8(folded), "folded text is UTF-8");
    require(rules::fold(folded) == folded, "folded text stays as it is");
    const rules::rule_input mail(clean, {clean}, clean);
    for (const auto how : {rules::comparison::contains, rules::comparison::equals,
                           rules::comparison::starts_with, rules::comparison::ends_with})
        require(mail.matches(rules::field::to, how, folded), "a text matches itself");
}

// The format of RFC 5322 3.3.
std::string write_date(time_point time)
{
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const auto iso = to_iso8601(time);
    const auto month = static_cast<std::size_t>(std::stoi(iso.substr(5, 2)) - 1);
    return iso.substr(8, 2) + " " + std::string(months.substr(3 * month, 3)) + " " +
           iso.substr(0, 4) + " " + iso.substr(11, 8) + " +0000";
}

void try_dates(std::string_view text)
{
    const auto date = mime::parse_date(text);
    if (!date)
        return;
    require(parse_iso8601(to_iso8601(*date)) == date,
            "a date is a whole second that the API can show");
    // A date of 1900 in a zone far to the east is of 1899 in UTC, which is out of range.
    if (to_iso8601(*date).substr(0, 4) != "1899")
        require(mime::parse_date(write_date(*date)) == date,
                "a date that is written is read as the same");
    require(mime::parse_date("(c)" + std::string(text) + " (c") == date,
            "comments around a date say nothing");
}

void try_addresses(std::string_view text)
{
    const auto value = to_clean_utf8(text);
    constexpr std::size_t max_addresses = 4;
    const auto some = mime::parse_addresses(value, max_addresses);
    const auto all = mime::parse_addresses(value, value.size() + 1);
    require(some.addresses.size() == std::min(max_addresses, all.addresses.size()),
            "addresses are bounded");
    for (const auto& [name, address] : all.addresses) {
        require_clean(name, "a name is clean");
        require_clean(address, "an address is clean");
        require(!address.empty(), "an address is not empty");
        // A byte of an encoded word may become a character of three.
        require(address.size() <= 3 * value.size(), "an address is no longer than its list");
        if (!mime::is_address(address))
            continue;
        const auto again =
            mime::parse_addresses("N (c) <(c)" + address + "(c)> (c)", max_addresses);
        require(again.addresses.size() == 1 && again.addresses[0].address == address &&
                    !again.lacks_comma,
                "an address in brackets and comments is the same");
    }
    require(!all.lacks_comma || all.addresses.size() > 1, "a comma is missing between two");
}

void try_html(std::string_view text)
{
    const auto value = to_clean_utf8(text);
    for (const auto context : {html::reference_context::text, html::reference_context::attribute}) {
        const auto decoded = html::decode_character_references(value, context);
        require_clean(decoded, "text without references is clean");
        require(decoded.size() <= value.size() + value.size() / 5,
                "references are longer than what they stand for");
    }
}

} // namespace

// Untrusted values that the API and the rules parse: JSON, cursors, encodings, times, rule values;
// dates, addresses and HTML's characters of mail.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(input), size);
    try_json(text);
    try_cursor(text);
    try_feed_cursor(text);
    try_encodings(text);
    try_rules(text);
    try_dates(text);
    try_addresses(text);
    try_html(text);
    return 0;
}
