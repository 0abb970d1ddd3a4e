#include "gateway/resources/rule_fields.hpp"

#include "common/core/ids.hpp"
#include "gateway/pipeline/query_reader.hpp"

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_conditions = 5;
constexpr std::size_t max_value_length = 500;
constexpr std::size_t max_id_length = 100; // only to keep error messages short

std::string required_choice(json::object_reader& body, std::string_view name,
                            const std::vector<std::string>& allowed)
{
    const auto given = body.choice(name, allowed);
    if (given)
        return *given;
    std::string list;
    for (const auto& option : allowed)
        list += (list.empty() ? "" : ", ") + option;
    body.fail(std::string(name) + " is required: one of " + list);
    return {};
}

} // namespace

std::optional<std::string> read_webhook_id(json::object_reader& body)
{
    const auto given = body.text("webhookId", 1, max_id_length);
    if (!given)
        return std::nullopt;
    const auto id = webhook_id::parse(*given);
    if (!id) {
        body.fail(id.error().message);
        return std::nullopt;
    }
    return id->text();
}

std::optional<std::vector<webhooks::v1::Condition>> read_conditions(json::object_reader& body)
{
    const auto given = body.objects("conditions", max_conditions);
    if (!given)
        return std::nullopt;
    std::vector<webhooks::v1::Condition> conditions;
    for (const auto& item : *given) {
        json::object_reader fields(item);
        webhooks::v1::Condition condition;
        condition.set_field(required_choice(fields, "field", {"subject", "from", "to"}));
        condition.set_operator_(required_choice(
            fields, "operator", {"contains", "equals", "starts_with", "ends_with"}));
        condition.set_value(fields.required_text("value", 1, max_value_length));
        report_inner_error(body, "conditions[" + std::to_string(conditions.size()) + "]", fields);
        conditions.push_back(std::move(condition));
    }
    return conditions;
}

} // namespace tempinbox::gateway
