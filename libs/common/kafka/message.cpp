#include "common/kafka/message.hpp"

namespace tempinbox::kafka {

std::optional<std::string_view> record::header(std::string_view name) const
{
    for (auto entry = headers.rbegin(); entry != headers.rend(); ++entry)
        if (entry->first == name)
            return entry->second;
    return std::nullopt;
}

} // namespace tempinbox::kafka
