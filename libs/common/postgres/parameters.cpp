#include "common/postgres/parameters.hpp"

namespace tempinbox::postgres {

std::string text_array(const std::vector<std::string>& items)
{
    std::string array = "{";
    for (const auto& item : items) {
        array += array.size() > 1 ? ",\"" : "\"";
        for (const char c : item) {
            if (c == '"' || c == '\\')
                array += '\\';
            array += c;
        }
        array += '"';
    }
    return array + "}";
}

std::string integer_array(const std::vector<std::int64_t>& items)
{
    std::string array = "{";
    for (const auto item : items) {
        if (array.size() > 1)
            array += ',';
        array += std::to_string(item);
    }
    return array + "}";
}

void packed_bytes::add(std::string_view bytes)
{
    // SQL counts from 1.
    starts_.push_back(static_cast<std::int64_t>(bytes_.size()) + 1);
    lengths_.push_back(static_cast<std::int64_t>(bytes.size()));
    bytes_ += bytes;
}

void packed_bytes::add_null()
{
    starts_.push_back(1);
    lengths_.push_back(-1);
}

std::string bytes_of(const pqxx::field& field)
{
    const pqxx::binarystring bytes(field);
    return std::string(bytes.get(), bytes.size());
}

} // namespace tempinbox::postgres
