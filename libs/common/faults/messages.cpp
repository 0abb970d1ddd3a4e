#include "common/faults/messages.hpp"

#include "common/core/text.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace tempinbox::faults {
namespace {

constexpr std::string_view cut_names[] = {"", "unstored", "stored"};

failure not_read(const std::string& path, const std::string& why)
{
    return failure{errc::invalid_argument, path + why};
}

void put_schedule(inbox::v1::FaultStep& message, const schedule& when)
{
    switch (when.what) {
    case schedule::kind::always:
        break;
    case schedule::kind::times:
        return message.set_times(when.number);
    case schedule::kind::for_seconds:
        return message.set_for_seconds(when.number);
    case schedule::kind::above_per_minute:
        return message.set_above_per_minute(when.number);
    case schedule::kind::every:
        return message.set_every(when.number);
    }
}

result<schedule> read_schedule(const inbox::v1::FaultStep& message, const std::string& path)
{
    using kind = schedule::kind;
    const std::pair<bool, schedule> schedules[] = {
        {message.has_times(), {kind::times, message.times()}},
        {message.has_for_seconds(), {kind::for_seconds, message.for_seconds()}},
        {message.has_above_per_minute(), {kind::above_per_minute, message.above_per_minute()}},
        {message.has_every(), {kind::every, message.every()}}};
    schedule found;
    for (const auto& [is_set, when] : schedules) {
        if (is_set && found.what != kind::always)
            return not_read(path, " must have at most one of times, forSeconds, abovePerMinute "
                                  "and every");
        if (is_set)
            found = when;
    }
    return found;
}

result<step> read_step(const inbox::v1::FaultStep& message, const std::string& path)
{
    step read;
    const auto at = parse_stage(message.stage());
    if (!at)
        return not_read(path, ".stage must be one of auth, mail, rcpt, data, end, not " +
                                  quote(message.stage()));
    read.at = *at;
    const auto cut = std::ranges::find(cut_names, message.cut());
    if (cut == std::end(cut_names))
        return not_read(path, ".cut must be one of unstored, stored, not " + quote(message.cut()));
    read.cut = static_cast<cut_kind>(cut - std::begin(cut_names));
    read.delay = std::chrono::seconds(message.delay_seconds());
    const auto when = read_schedule(message, path);
    if (!when)
        return when.error();
    read.when = *when;
    read.reply = message.reply();
    read.to = message.to();
    read.is_per_recipient = message.per_recipient();
    if (const auto fits = check(read, path); !fits)
        return fits.error();
    return read;
}

} // namespace

inbox::v1::FaultSteps to_proto(const std::vector<step>& steps)
{
    inbox::v1::FaultSteps message;
    for (const auto& each : steps) {
        auto& out = *message.add_steps();
        out.set_stage(std::string(to_text(each.at)));
        out.set_reply(each.reply);
        out.set_delay_seconds(each.delay.count());
        out.set_cut(std::string(cut_names[static_cast<std::size_t>(each.cut)]));
        put_schedule(out, each.when);
        out.set_to(each.to);
        out.set_per_recipient(each.is_per_recipient);
    }
    return message;
}

result<std::vector<step>> from_proto(const inbox::v1::FaultSteps& message)
{
    if (static_cast<std::size_t>(message.steps_size()) > max_steps)
        return not_read("steps", " must be an array of at most " + std::to_string(max_steps) +
                                     " objects, not of " + std::to_string(message.steps_size()));
    std::vector<step> steps;
    for (const auto& each : message.steps()) {
        auto read = read_step(each, "steps[" + std::to_string(steps.size()) + "]");
        if (!read)
            return read.error();
        steps.push_back(std::move(*read));
    }
    return steps;
}

} // namespace tempinbox::faults
