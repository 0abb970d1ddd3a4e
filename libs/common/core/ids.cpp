#include "common/core/ids.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"

#include <sodium.h>

#include <algorithm>
#include <mutex>

namespace tempinbox {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

} // namespace

std::optional<uuid> uuid::parse(std::string_view text)
{
    if (text.size() != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' ||
        text[23] != '-')
        return std::nullopt;
    std::array<std::uint8_t, 16> bytes{};
    std::size_t at = 0;
    for (auto& byte : bytes) {
        if (text[at] == '-')
            ++at;
        const int high = hex_value(text[at]), low = hex_value(text[at + 1]);
        if (high < 0 || low < 0)
            return std::nullopt;
        byte = static_cast<std::uint8_t>(high << 4 | low);
        at += 2;
    }
    return uuid{bytes};
}

void fill_with_random(std::span<std::uint8_t> bytes)
{
    thread_local std::array<std::uint8_t, 4096> pool;
    thread_local std::size_t left = 0;
    for (auto& byte : bytes) {
        if (left == 0) {
            randombytes_buf(pool.data(), pool.size());
            left = pool.size();
        }
        byte = std::exchange(pool[--left], std::uint8_t{0});
    }
}

uuid uuid::make_v7(time_point now)
{
    static std::mutex mutex;
    static std::uint64_t last_millis = 0;
    static std::uint16_t counter = 0;

    std::array<std::uint8_t, 16> bytes;
    fill_with_random(bytes);
    auto millis = static_cast<std::uint64_t>(
        std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()).count());
    std::uint16_t low = 0;
    {
        // RFC 9562 6.2: 12 bits of counter, started at random with room to grow, keep one process
        // monotonic.
        const std::lock_guard lock(mutex);
        const auto fresh = static_cast<std::uint16_t>((bytes[6] << 8 | bytes[7]) & 0x07ff);
        if (millis > last_millis || last_millis - millis > 10'000) {
            counter = fresh;
        } else {
            millis = last_millis;
            if (++counter > 0x0fff) {
                ++millis;
                counter = fresh;
            }
        }
        last_millis = millis;
        low = counter;
    }
    for (std::size_t i = 0; i < 6; ++i)
        bytes[i] = static_cast<std::uint8_t>(millis >> (40 - 8 * i));
    bytes[6] = static_cast<std::uint8_t>(0x70 | low >> 8);
    bytes[7] = static_cast<std::uint8_t>(low & 0xff);
    bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);
    return uuid{bytes};
}

uuid uuid::make_v7()
{
    return make_v7(system_clock_source{}.now());
}

uuid uuid::lowest_v7(time_point moment)
{
    std::array<std::uint8_t, 16> bytes{};
    const auto since_1970 = std::max(moment.time_since_epoch(), time_point::duration());
    const auto millis = static_cast<std::uint64_t>(
        std::chrono::floor<std::chrono::milliseconds>(since_1970).count());
    for (std::size_t i = 0; i < 6; ++i)
        bytes[i] = static_cast<std::uint8_t>(millis >> (8 * (5 - i)));
    return uuid{bytes};
}

std::string uuid::text() const
{
    std::string text;
    text.reserve(36);
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text.push_back('-');
        text.push_back(hex_digits[bytes_[i] >> 4]);
        text.push_back(hex_digits[bytes_[i] & 15]);
    }
    return text;
}

time_point uuid::time() const
{
    std::int64_t millis = 0;
    for (std::size_t i = 0; i < 6; ++i)
        millis = millis << 8 | bytes_[i];
    return time_point{std::chrono::milliseconds{millis}};
}

failure bad_id(std::string_view kind, std::string_view given)
{
    return failure{errc::invalid_argument,
                   std::string(kind) +
                       " must be a UUID such as 01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f, not " +
                       quote(given)};
}

} // namespace tempinbox
