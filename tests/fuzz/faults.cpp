#include "common/core/time.hpp"
#include "common/faults/evaluation.hpp"
#include "common/faults/messages.hpp"
#include "common/json/object_reader.hpp"
#include "fuzz/require.hpp"
#include "gateway/resources/fault_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

using namespace tempinbox;
using fuzz::require;
using fuzz::require_clean;

namespace {

void require_step(const faults::step& step)
{
    const auto& reply = step.reply;
    require(reply.size() <= faults::max_reply_length, "a reply is bounded");
    require(std::ranges::all_of(reply, [](char c) { return c >= ' ' && c <= '~'; }),
            "a reply is one line of printable ASCII");
    require(reply.empty() || reply[0] == '4' || reply[0] == '5', "a reply refuses");
    require(!reply.empty() || step.delay.count() > 0 || step.cut != faults::cut_kind::none,
            "a step does something");
    require(step.cut != faults::cut_kind::stored || step.at == faults::stage::end,
            "only a whole message is stored");
    require_clean(step.to, "a recipient's part is clean text");
}

// The recipients come one by one, as transactions of their own.
void try_transactions(const std::vector<faults::step>& steps, std::string_view recipients)
{
    faults::counts counted;
    auto now = time_point();
    while (!recipients.empty()) {
        const auto end = std::min(recipients.find('\n'), recipients.size());
        faults::evaluation_request request;
        request.at = faults::stage::rcpt;
        request.recipients = {std::string(recipients.substr(0, end))};
        recipients.remove_prefix(std::min(end + 1, recipients.size()));
        now += std::chrono::seconds(request.recipients.front().size());

        const auto first = faults::evaluate(steps, counted, request, now);
        request.decided = first.decided;
        const auto counted_once = counted;
        const auto again = faults::evaluate(steps, counted, request, now);
        require(first.step == again.step, "a transaction meets one fault at a recipient");
        require(counted == counted_once, "a transaction uses a step once");
        require(!first.step || steps[*first.step].at == request.at,
                "a step is played at its stage");
    }
    for (const auto& [key, count] : counted)
        require(key.step < steps.size() && count.used >= 0, "a count is of a step");
}

} // namespace

// The body of PUT …/faults, up to the first NUL, and recipients after it, one a line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(input), size);
    const auto body_bytes = std::min(bytes.find('\0'), bytes.size());
    auto body = json::object_reader::parse(bytes.substr(0, body_bytes));
    if (!body)
        return 0;
    const auto message = gateway::read_fault_steps(*body);
    if (const auto read = body->finish(); !read) {
        require_clean(read.error().message, "what is wrong is said in clean text");
        return 0;
    }
    const auto steps = faults::from_proto(message);
    require(steps.has_value(), "what the gateway accepts the inbox service accepts");
    require(steps->size() <= faults::max_steps, "steps are bounded");
    for (const auto& step : *steps)
        require_step(step);
    require(faults::from_proto(faults::to_proto(*steps)).value() == *steps,
            "what was written is read as the same");
    try_transactions(*steps, bytes.substr(std::min(body_bytes + 1, bytes.size())));
    return 0;
}
