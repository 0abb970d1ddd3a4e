#include "mail-ingest/smtp/chunk_machine.hpp"

#include <algorithm>

namespace tempinbox::smtp {

void chunk_machine::begin(const chunk& given)
{
    begin_refused(given, {});
}

void chunk_machine::begin_refused(const chunk& given, std::string_view refusal)
{
    chunk_ = given;
    refusal_ = refusal;
}

message_step chunk_machine::resume(std::string_view& input, incoming_message::time_point now)
{
    if (chunk_.size == 0)
        return {message_step::kind::end, {}};
    if (input.empty())
        return {message_step::kind::read, {}};
    const auto taken = input.substr(
        0, static_cast<std::size_t>(std::min<std::uint64_t>(input.size(), chunk_.size)));
    input.remove_prefix(taken.size());
    chunk_.size -= taken.size();
    if (!refusal_.empty()) {
        message_.skip(taken.size());
        return {message_step::kind::resume, {}};
    }
    newlines_.scan(taken);
    return message_.keep(taken, taken.size(), now);
}

} // namespace tempinbox::smtp
