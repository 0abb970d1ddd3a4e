#include "gateway/resources/fault_steps.hpp"

#include "common/faults/messages.hpp"
#include "gateway/pipeline/query_reader.hpp"

#include <string>
#include <utility>

namespace tempinbox::gateway {
namespace {

// The bounds of what is in a text or depends on other fields are checked together, below.
constexpr std::size_t max_text = 1'000;

inbox::v1::FaultStep read_step(json::object_reader& fields)
{
    inbox::v1::FaultStep step;
    if (const auto stage = fields.choice("stage", {"auth", "mail", "rcpt", "data", "end"}))
        step.set_stage(*stage);
    else
        fields.fail("stage is required: one of auth, mail, rcpt, data, end");
    if (auto reply = fields.text("reply", 1, max_text))
        step.set_reply(std::move(*reply));
    if (const auto delay = fields.integer("delaySeconds", 0, faults::max_delay_seconds))
        step.set_delay_seconds(*delay);
    if (auto cut = fields.choice("cut", {"unstored", "stored"}))
        step.set_cut(std::move(*cut));
    if (const auto times = fields.integer("times", 1, faults::max_uses))
        step.set_times(*times);
    if (const auto seconds = fields.integer("forSeconds", 1, faults::max_for_seconds))
        step.set_for_seconds(*seconds);
    if (const auto rate = fields.integer("abovePerMinute", 1, faults::max_uses))
        step.set_above_per_minute(*rate);
    if (const auto every = fields.integer("every", 1, faults::max_uses))
        step.set_every(*every);
    if (auto to = fields.text("to", 1, faults::max_to_length))
        step.set_to(std::move(*to));
    step.set_per_recipient(fields.choice("per", {"recipient"}).has_value());
    return step;
}

} // namespace

inbox::v1::FaultSteps read_fault_steps(json::object_reader& body)
{
    inbox::v1::FaultSteps steps;
    const auto given = body.objects("steps", faults::max_steps);
    if (!given) {
        body.fail("steps is required: an array of at most " + std::to_string(faults::max_steps) +
                  " objects");
        return steps;
    }
    for (std::size_t i = 0; i < given->size(); ++i) {
        json::object_reader fields((*given)[i]);
        *steps.add_steps() = read_step(fields);
        report_inner_error(body, "steps[" + std::to_string(i) + "]", fields);
    }
    if (const auto checked = faults::from_proto(steps); !checked)
        body.fail(checked.error().message);
    return steps;
}

} // namespace tempinbox::gateway
