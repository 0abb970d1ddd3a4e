#pragma once

#include "common/core/errors.hpp"
#include "common/core/time.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tempinbox {

// Random bytes for ids, not for secrets: they are buffered in memory, since asking the kernel for
// each costs more than the rest of an id.
void fill_with_random(std::span<std::uint8_t> bytes);

// 128 bits, in the order of their text. New ones are version 7 (RFC 9562 5.7): they sort by
// creation time.
class uuid
{
public:
    constexpr uuid() : bytes_{} {}
    explicit constexpr uuid(std::array<std::uint8_t, 16> bytes) : bytes_(bytes) {}

    // 36 characters with hyphens; upper case is accepted, nothing else (no braces, no `urn:`).
    static std::optional<uuid> parse(std::string_view text);
    // A fresh version 7; monotonic within a process even inside one millisecond (RFC 9562 6.2
    // method 2).
    static uuid make_v7(time_point now);
    static uuid make_v7();
    // No version 7 of this millisecond or of a later one is lower.
    static uuid lowest_v7(time_point moment);
    // RFC 9562 5.10: greater than every other, so a list that runs downwards begins below it.
    static constexpr uuid max();

    std::string text() const;
    int version() const { return bytes_[6] >> 4; }
    // The creation time of a version 7, to the millisecond.
    time_point time() const;
    const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }
    bool is_nil() const { return bytes_ == std::array<std::uint8_t, 16>{}; }

    friend constexpr auto operator<=>(const uuid&, const uuid&) = default;

private:
    std::array<std::uint8_t, 16> bytes_;
};

constexpr uuid uuid::max()
{
    std::array<std::uint8_t, 16> bytes{};
    bytes.fill(0xff);
    return uuid{bytes};
}

// A uuid typed by what it identifies; different kinds do not mix.
template <class Tag>
class strong_id
{
public:
    constexpr strong_id() = default;
    explicit constexpr strong_id(uuid value) : value_(value) {}

    // The failure names the kind and what was given (shortened).
    static result<strong_id> parse(std::string_view text);
    static strong_id make() { return strong_id{uuid::make_v7()}; }
    static constexpr strong_id max() { return strong_id{uuid::max()}; }

    const uuid& value() const { return value_; }
    std::string text() const { return value_.text(); }

    friend constexpr auto operator<=>(const strong_id&, const strong_id&) = default;

private:
    uuid value_;
};

failure bad_id(std::string_view kind, std::string_view given);

template <class Tag>
result<strong_id<Tag>> strong_id<Tag>::parse(std::string_view text)
{
    if (const auto value = uuid::parse(text))
        return strong_id{*value};
    return bad_id(Tag::name, text);
}

struct account_tag
{
    static constexpr std::string_view name = "accountId";
};
struct inbox_tag
{
    static constexpr std::string_view name = "inboxId";
};
struct email_tag
{
    static constexpr std::string_view name = "emailId";
};
struct event_tag
{
    static constexpr std::string_view name = "eventId";
};
struct webhook_tag
{
    static constexpr std::string_view name = "webhookId";
};
struct rule_tag
{
    static constexpr std::string_view name = "ruleId";
};
struct key_tag
{
    static constexpr std::string_view name = "keyId";
};
struct body_tag
{
    static constexpr std::string_view name = "bodyId";
};
struct login_tag
{
    static constexpr std::string_view name = "loginId";
};
struct user_tag
{
    static constexpr std::string_view name = "userId";
};

using account_id = strong_id<account_tag>;
using inbox_id = strong_id<inbox_tag>;
using email_id = strong_id<email_tag>;
using event_id = strong_id<event_tag>;
using webhook_id = strong_id<webhook_tag>;
using rule_id = strong_id<rule_tag>;
using key_id = strong_id<key_tag>;
using body_id = strong_id<body_tag>;
using login_id = strong_id<login_tag>;
using user_id = strong_id<user_tag>;

} // namespace tempinbox

template <>
struct std::hash<tempinbox::uuid>
{
    std::size_t operator()(const tempinbox::uuid& id) const noexcept
    {
        // The low half of a version 7 is random.
        std::size_t value = 0;
        for (std::size_t i = 8; i < 16; ++i)
            value = (value << 8) | id.bytes()[i];
        return value;
    }
};

template <class Tag>
struct std::hash<tempinbox::strong_id<Tag>>
{
    std::size_t operator()(const tempinbox::strong_id<Tag>& id) const noexcept
    {
        return std::hash<tempinbox::uuid>{}(id.value());
    }
};
