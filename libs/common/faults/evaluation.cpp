#include "common/faults/evaluation.hpp"

#include "common/core/text.hpp"
#include "common/rules/rules.hpp"

#include <algorithm>

namespace tempinbox::faults {
namespace {

constexpr std::chrono::seconds minute{60};

// `recipients` are those of the evaluation_request, folded.
bool fits(const step& candidate, const evaluation_request& request,
          const std::vector<std::string>& recipients)
{
    if (candidate.at != request.at)
        return false;
    if (request.at == stage::rcpt && candidate.closes() && !request.has_login)
        return false;
    if (candidate.to.empty())
        return true;
    const auto part = rules::fold(candidate.to);
    return std::ranges::any_of(recipients, [&](const std::string& recipient) {
        return recipient.find(part) != std::string::npos;
    });
}

// Whether this use is one to play; counts it.
bool is_due(const schedule& when, count& counted, time_point now)
{
    switch (when.what) {
    case schedule::kind::always:
        return true;
    case schedule::kind::times:
        return counted.used < when.number;
    case schedule::kind::for_seconds:
        if (!counted.since)
            counted.since = now;
        return now < *counted.since + std::chrono::seconds(when.number);
    case schedule::kind::above_per_minute:
        if (!counted.since || now >= *counted.since + minute) {
            counted.since = now;
            counted.seen = 0;
        }
        return ++counted.seen > when.number;
    case schedule::kind::every:
        return ++counted.seen % when.number == 0;
    }
    return false;
}

// Absent: one recipient too many.
count* find_or_add(counts& counted, const count_key& key)
{
    if (key.recipient.empty())
        return &counted[key];
    const auto known = counted.find(key);
    if (known != counted.end())
        return &known->second;
    auto& all = counted[{key.step, ""}];
    if (all.seen >= max_recipients_counted)
        return nullptr;
    ++all.seen;
    return &counted[key];
}

} // namespace

std::string fold_recipient(const std::string& recipient)
{
    return rules::fold(to_clean_utf8(recipient));
}

std::vector<count_key> keys_of(const std::vector<step>& steps, const evaluation_request& request)
{
    std::vector<count_key> keys;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].at != request.at)
            continue;
        keys.push_back({i, ""});
        if (steps[i].is_per_recipient)
            keys.push_back({i, fold_recipient(request.recipients.front())});
    }
    return keys;
}

evaluation_result evaluate(const std::vector<step>& steps, counts& counted,
                           const evaluation_request& request, time_point now)
{
    // Once for all steps, since a message may have a hundred.
    std::vector<std::string> recipients;
    recipients.reserve(request.recipients.size());
    for (const auto& each : request.recipients)
        recipients.push_back(fold_recipient(each));
    evaluation_result result;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto& candidate = steps[i];
        if (!fits(candidate, request, recipients))
            continue;
        count_key key{i, ""};
        if (candidate.is_per_recipient)
            key.recipient = recipients.front();
        const auto known = std::ranges::find(request.decided, key, &decision::key);
        bool is_played = known != request.decided.end() && known->is_played;
        if (known == request.decided.end()) {
            auto* of_step = find_or_add(counted, key);
            if (!of_step) {
                result.is_uncounted = true;
                continue;
            }
            is_played = is_due(candidate.when, *of_step, now);
            if (is_played) {
                ++of_step->used;
                if (candidate.is_per_recipient)
                    ++counted[{i, ""}].used;
            }
            result.decided.push_back({key, is_played});
        }
        if (is_played) {
            result.step = i;
            break;
        }
    }
    return result;
}

} // namespace tempinbox::faults
