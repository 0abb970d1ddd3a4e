#include "common/kafka/schema_ids.hpp"

#include "common/json/object_reader.hpp"
#include "common/json/writer.hpp"

#include <stdexcept>

namespace tempinbox::kafka {
namespace {

constexpr std::size_t max_schemas = 1'000;
constexpr std::size_t max_name = 400;
constexpr std::int64_t max_message_index = 1'000;
constexpr char guid_framing = 0x01;

// Protobuf's zigzag varint of a number that is not negative.
void append_varint(std::string& to, std::uint32_t number)
{
    auto left = number << 1;
    while (left >= 0x80) {
        to.push_back(static_cast<char>((left & 0x7f) | 0x80));
        left >>= 7;
    }
    to.push_back(static_cast<char>(left));
}

result<published_schema> read_schema(const json::value& described)
{
    json::object_reader fields(described);
    published_schema schema;
    schema.topic = fields.required_text("topic", 1, max_name);
    schema.subject = fields.required_text("subject", 1, max_name);
    const auto guid = uuid::parse(fields.required_text("guid", 1, max_name));
    if (!guid)
        fields.fail("guid must be a UUID");
    schema.message_index =
        static_cast<int>(fields.integer("messageIndex", 0, max_message_index).value_or(0));
    if (const auto all_known = fields.finish(); !all_known)
        return all_known.error();
    schema.guid = *guid;
    return schema;
}

} // namespace

std::string schema_id_of(const published_schema& schema)
{
    std::string value(1, guid_framing);
    for (const auto byte : schema.guid.bytes())
        value.push_back(static_cast<char>(byte));
    // The path to the message: how many steps, then each. The first message of a file is a 0 alone.
    if (schema.message_index == 0)
        return value + '\0';
    append_varint(value, 1);
    append_varint(value, static_cast<std::uint32_t>(schema.message_index));
    return value;
}

std::string to_json(const std::vector<published_schema>& schemas)
{
    json::writer out;
    out.begin_object().key("schemas").begin_array();
    for (const auto& one : schemas)
        out.begin_object()
            .member("topic", one.topic)
            .member("subject", one.subject)
            .member("guid", one.guid.text())
            .member("messageIndex", one.message_index)
            .end_object();
    out.end_array().end_object();
    return out.take();
}

result<std::vector<published_schema>> parse_published_schemas(std::string_view text)
{
    json::limits limits;
    limits.bytes = 1024 * 1024;
    auto file = json::object_reader::parse(text, limits);
    if (!file)
        return file.error();
    const auto described = file->objects("schemas", max_schemas);
    if (const auto all_known = file->finish(); !all_known)
        return all_known.error();
    std::vector<published_schema> schemas;
    for (const auto& one : described.value_or(std::vector<json::value>())) {
        auto schema = read_schema(one);
        if (!schema)
            return failure{errc::invalid_argument, "schema " + std::to_string(schemas.size() + 1) +
                                                       ": " + schema.error().message};
        schemas.push_back(std::move(*schema));
    }
    return schemas;
}

std::vector<published_schema> read_published_schemas(const std::string& file)
{
    auto schemas = parse_published_schemas(runtime::read_small_file(file));
    if (!schemas)
        throw std::runtime_error(file + ": " + schemas.error().message);
    return std::move(*schemas);
}

schema_ids::schema_ids(runtime::host& host, const std::string& file)
{
    if (!file.empty())
        watch_ =
            host.files().watch("kafka-schema-ids-file", {file}, [this, file] { read_again(file); });
}

std::optional<std::string> schema_ids::find(const std::string& topic) const
{
    const std::lock_guard lock(mutex_);
    const auto known = values_.find(topic);
    return known == values_.end() ? std::nullopt : std::optional(known->second);
}

void schema_ids::stop()
{
    watch_ = {};
}

void schema_ids::read_again(const std::string& file)
{
    std::map<std::string, std::string> values;
    for (const auto& one : read_published_schemas(file))
        values[one.topic] = schema_id_of(one);
    const std::lock_guard lock(mutex_);
    values_ = std::move(values);
}

} // namespace tempinbox::kafka
