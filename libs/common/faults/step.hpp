#pragma once

#include "common/core/errors.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::faults {

// Where in an SMTP transaction a step is played. At connect nobody knows the inbox.
enum class stage { auth, mail, rcpt, data, end };
inline constexpr stage all_stages[] = {stage::auth, stage::mail, stage::rcpt, stage::data,
                                       stage::end};

std::string_view to_text(stage at);
std::optional<stage> parse_stage(std::string_view text);

// A set of stages.
class stage_set
{
public:
    stage_set() = default;
    explicit stage_set(unsigned bits) : bits_(bits) {}

    void add(stage at) { bits_ |= 1u << static_cast<unsigned>(at); }
    void add(stage_set other) { bits_ |= other.bits_; }
    bool has(stage at) const { return (bits_ >> static_cast<unsigned>(at) & 1u) != 0; }
    bool empty() const { return bits_ == 0; }
    unsigned bits() const { return bits_; }

private:
    unsigned bits_ = 0;
};

// The end of the connection without a reply.
enum class cut_kind {
    none,
    unstored, // nothing is kept
    stored    // the message is committed first
};

// Which uses a step is played in. One use is one transaction that comes to the step; at `auth` one
// attempt to log in.
struct schedule
{
    enum class kind {
        always,
        times,            // the first `number` uses
        for_seconds,      // for so long from the first use on
        above_per_minute, // past `number` uses in each 60 s, counted from the first
        every             // each use that is a multiple of `number`
    };

    kind what = kind::always;
    std::int64_t number = 0;

    friend bool operator==(const schedule&, const schedule&) = default;
};

inline constexpr std::size_t max_steps = 20;
inline constexpr std::size_t max_reply_length = 200;
inline constexpr std::size_t max_to_length = 320;
inline constexpr std::int64_t max_delay_seconds = 300;
inline constexpr std::int64_t max_uses = 1'000'000;
inline constexpr std::int64_t max_for_seconds = 31'622'400; // as long as an inbox may live
inline constexpr std::int64_t max_recipients_counted = 1'000;

// One entry of an inbox's faults: what it does to whoever sends, and when.
struct step
{
    stage at = stage::rcpt;
    std::string reply; // without CRLF; empty: the ordinary one
    std::chrono::seconds delay{0};
    cut_kind cut = cut_kind::none;
    schedule when;
    std::string to; // for recipients that contain it, as filters compare; empty: for all
    bool is_per_recipient = false;

    // The connection ends with it.
    bool closes() const { return cut != cut_kind::none || reply.starts_with("421"); }
    // The same is seen of both, whenever they are played.
    bool plays_as(const step& other) const
    {
        return reply == other.reply && delay == other.delay && cut == other.cut;
    }

    friend bool operator==(const step&, const step&) = default;
};

stage_set stages_of(const std::vector<step>& steps);

// What is wrong with a step, in the names of the API, `path` in front: "steps[0].reply must …".
result<void> check(const step& candidate, const std::string& path);

} // namespace tempinbox::faults
