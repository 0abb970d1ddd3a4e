#include "mail-ingest/smtp/data_machine.hpp"

namespace tempinbox::smtp {

message_step data_machine::resume(std::string_view& input, incoming_message::time_point now)
{
    if (scanner_.is_complete())
        return {message_step::kind::end, {}};
    if (input.empty())
        return {message_step::kind::read, {}};
    scratch_.clear();
    const auto used = scanner_.scan(input, scratch_);
    input.remove_prefix(used);
    return message_.keep(scratch_, used, now);
}

} // namespace tempinbox::smtp
