#include "gateway/json/fields.hpp"
#include "gateway/json/resources.hpp"

#include "tempinbox/inbox/v1/faults.pb.h"

namespace tempinbox::gateway {
namespace {

void put_number(json::writer& out, std::string_view name, bool has_value, std::int64_t number)
{
    if (has_value)
        out.member(name, number);
    else
        out.null_member(name);
}

void put_fault_step(json::writer& out, const inbox::v1::FaultStep& step, std::int64_t used)
{
    out.begin_object();
    out.member("stage", step.stage());
    put_text(out, "reply", !step.reply().empty(), step.reply());
    out.member("delaySeconds", step.delay_seconds());
    put_text(out, "cut", !step.cut().empty(), step.cut());
    put_number(out, "times", step.has_times(), step.times());
    put_number(out, "forSeconds", step.has_for_seconds(), step.for_seconds());
    put_number(out, "abovePerMinute", step.has_above_per_minute(), step.above_per_minute());
    put_number(out, "every", step.has_every(), step.every());
    put_text(out, "to", !step.to().empty(), step.to());
    put_text(out, "per", step.per_recipient(), "recipient");
    out.member("used", used);
    out.end_object();
}

} // namespace

std::string to_json(const inbox::v1::FaultSet& faults)
{
    json::writer out;
    out.begin_object().key("steps").begin_array();
    for (int i = 0; i < faults.steps().steps_size(); ++i)
        put_fault_step(out, faults.steps().steps(i), i < faults.used_size() ? faults.used(i) : 0);
    out.end_array().end_object();
    return out.take();
}

} // namespace tempinbox::gateway
