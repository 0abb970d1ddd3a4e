#include "common/json/object_reader.hpp"

#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::json {
namespace {

// The given value for error messages: short values as they are, others by their kind.
std::string describe(const value& field)
{
    if (field.is_string())
        return quote(field.text());
    if (field.is_object() || field.is_array())
        return std::string(field.kind());
    return std::string(take_characters(field.to_string(), 60));
}

// Leaves out "to" if both bounds are equal.
std::string range(std::size_t min, std::size_t max, std::string_view noun)
{
    const auto plural = std::string(noun) + (max == 1 ? "" : "s");
    if (min == max)
        return std::to_string(max) + " " + plural;
    if (min == 0)
        return "at most " + std::to_string(max) + " " + plural;
    return std::to_string(min) + " to " + std::to_string(max) + " " + plural;
}

// Why a string is refused; nullopt if it is not.
std::optional<std::string> text_error(std::string_view name, const value& field, std::size_t min,
                                      std::size_t max)
{
    if (!field.is_string())
        return std::string(name) + " must be a string, not " + describe(field);
    const auto text = field.text();
    const auto characters = count_characters(text);
    if (characters < min || characters > max)
        return std::string(name) + " must have " + range(min, max, "character") + ", not " +
               std::to_string(characters) + (characters == 0 ? "" : ": " + quote(text));
    if (has_control_characters(text))
        return std::string(name) + " must not contain control characters: " + quote(text);
    return std::nullopt;
}

} // namespace

bool has_control_characters(std::string_view utf8)
{
    for (std::size_t at = 0; at < utf8.size(); ++at) {
        const auto byte = static_cast<std::uint8_t>(utf8[at]);
        if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f)
            return true;
        if (byte == 0xc2 && at + 1 < utf8.size() && static_cast<std::uint8_t>(utf8[at + 1]) < 0xa0)
            return true;
    }
    return false;
}

result<object_reader> object_reader::parse(std::string_view body, const limits& allowed)
{
    auto parsed = value::parse(body.empty() ? std::string_view("{}") : body, allowed);
    if (!parsed)
        return parsed.error();
    if (!parsed->is_object())
        return failure{errc::invalid_argument,
                       "body must be a JSON object, not " + describe(*parsed),
                       error_reason::invalid_json};
    return object_reader(std::move(*parsed));
}

object_reader::object_reader(value object) : object_(std::move(object))
{
    if (!object_.is_object())
        fail("must be a JSON object, not " + describe(object_));
}

std::optional<value> object_reader::take(std::string_view name)
{
    requested_.emplace(name);
    if (error_)
        return std::nullopt;
    auto found = object_.find(name);
    if (found && found->is_null())
        return std::nullopt;
    return found;
}

std::optional<std::string> object_reader::text(std::string_view name, std::size_t min,
                                               std::size_t max)
{
    const auto field = take(name);
    if (!field)
        return std::nullopt;
    if (auto error = text_error(name, *field, min, max)) {
        fail(std::move(*error));
        return std::nullopt;
    }
    return field->text();
}

std::string object_reader::required_text(std::string_view name, std::size_t min, std::size_t max)
{
    auto field = text(name, min, max);
    if (!field)
        fail(std::string(name) + " is required: a string of " + range(min, max, "character"));
    return field ? std::move(*field) : std::string();
}

std::string object_reader::required_secret(std::string_view name, std::size_t min, std::size_t max)
{
    const auto field = take(name);
    if (!field) {
        fail(std::string(name) + " is required: a string of " + range(min, max, "character"));
        return {};
    }
    if (!field->is_string()) {
        fail(std::string(name) + " must be a string, not " + std::string(field->kind()));
        return {};
    }
    auto text = field->text();
    const auto characters = count_characters(text);
    if (characters >= min && characters <= max)
        return text;
    fail(std::string(name) + " must have " + range(min, max, "character") + ", not " +
         std::to_string(characters));
    return {};
}

std::optional<std::int64_t> object_reader::integer(std::string_view name, std::int64_t min,
                                                   std::int64_t max)
{
    const auto field = take(name);
    if (!field)
        return std::nullopt;
    if (!field->is_integer() || field->integer() < min || field->integer() > max) {
        fail(std::string(name) + " must be an integer from " + std::to_string(min) + " to " +
             std::to_string(max) + ", not " + describe(*field));
        return std::nullopt;
    }
    return field->integer();
}

std::optional<bool> object_reader::boolean(std::string_view name)
{
    const auto field = take(name);
    if (!field)
        return std::nullopt;
    if (!field->is_bool()) {
        fail(std::string(name) + " must be true or false, not " + describe(*field));
        return std::nullopt;
    }
    return field->boolean();
}

std::optional<std::vector<std::string>>
object_reader::texts(std::string_view name, std::size_t max_items, std::size_t min, std::size_t max)
{
    const auto field = take(name);
    if (!field)
        return std::nullopt;
    if (!field->is_array() || field->size() > max_items) {
        fail(std::string(name) + " must be an array of " + range(0, max_items, "string") +
             ", not " +
             (field->is_array() ? "of " + std::to_string(field->size()) : describe(*field)));
        return std::nullopt;
    }
    std::vector<std::string> texts;
    for (const auto& item : field->items()) {
        const auto item_name = std::string(name) + "[" + std::to_string(texts.size()) + "]";
        if (auto error = text_error(item_name, item, min, max)) {
            fail(std::move(*error));
            return std::nullopt;
        }
        texts.push_back(item.text());
    }
    return texts;
}

std::optional<std::map<std::string, std::string>> object_reader::text_map(std::string_view name,
                                                                          std::size_t max_items,
                                                                          std::size_t max_key,
                                                                          std::size_t max_value)
{
    auto patch = text_map_patch(name, max_items, max_key, max_value);
    if (!patch)
        return std::nullopt;
    std::map<std::string, std::string> texts;
    for (auto& [key, text] : *patch) {
        if (!text) {
            fail(std::string(name) + "." + key + " must be a string, not null");
            return std::nullopt;
        }
        texts.emplace(key, std::move(*text));
    }
    return texts;
}

std::optional<std::map<std::string, std::optional<std::string>>>
object_reader::text_map_patch(std::string_view name, std::size_t max_items, std::size_t max_key,
                              std::size_t max_value)
{
    const auto field = take(name);
    if (!field)
        return std::nullopt;
    if (!field->is_object() || field->size() > max_items) {
        fail(std::string(name) + " must be an object of " + range(0, max_items, "string") +
             ", not " +
             (field->is_object() ? "of " + std::to_string(field->size()) : describe(*field)));
        return std::nullopt;
    }
    std::map<std::string, std::optional<std::string>> texts;
    for (const auto& [key, text] : field->members()) {
        const auto length = count_characters(key);
        if (length == 0 || length > max_key || has_control_characters(key)) {
            fail(std::string(name) + " must have names of " + range(1, max_key, "character") +
                 " and no control characters, not " + quote(key));
            return std::nullopt;
        }
        if (text.is_null()) {
            texts.emplace(key, std::nullopt);
            continue;
        }
        if (auto error = text_error(std::string(name) + "." + std::string(take_characters(key, 60)),
                                    text, 0, max_value)) {
            fail(std::move(*error));
            return std::nullopt;
        }
        texts.emplace(key, text.text());
    }
    return texts;
}

std::optional<std::string> object_reader::choice(std::string_view name,
                                                 const std::vector<std::string>& allowed)
{
    const auto field = take(name);
    if (!field)
        return std::nullopt;
    if (field->is_string() &&
        std::find(allowed.begin(), allowed.end(), field->text()) != allowed.end())
        return field->text();
    std::string list;
    for (const auto& option : allowed)
        list += (list.empty() ? "" : ", ") + option;
    fail(std::string(name) + " must be one of " + list + ", not " + describe(*field));
    return std::nullopt;
}

std::optional<std::vector<value>> object_reader::objects(std::string_view name,
                                                         std::size_t max_items)
{
    const auto field = take(name);
    if (!field)
        return std::nullopt;
    if (!field->is_array() || field->size() > max_items) {
        fail(std::string(name) + " must be an array of " + range(0, max_items, "object") +
             ", not " +
             (field->is_array() ? "of " + std::to_string(field->size()) : describe(*field)));
        return std::nullopt;
    }
    auto items = field->items();
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!items[i].is_object()) {
            fail(std::string(name) + "[" + std::to_string(i) + "] must be an object, not " +
                 describe(items[i]));
            return std::nullopt;
        }
    }
    return items;
}

std::optional<value> object_reader::object(std::string_view name)
{
    auto field = take(name);
    if (field && !field->is_object()) {
        fail(std::string(name) + " must be an object, not " + describe(*field));
        return std::nullopt;
    }
    return field;
}

bool object_reader::has(std::string_view name) const
{
    const auto found = object_.find(name);
    return found && !found->is_null();
}

bool object_reader::has_text(std::string_view name) const
{
    const auto found = object_.find(name);
    return found && found->is_string();
}

bool object_reader::has_null(std::string_view name) const
{
    const auto found = object_.find(name);
    return found && found->is_null();
}

void object_reader::fail(std::string message)
{
    if (!error_)
        error_.emplace(errc::invalid_argument, std::move(message));
}

result<void> object_reader::finish()
{
    if (error_)
        return *error_;
    for (const auto& [name, content] : object_.members()) {
        if (requested_.contains(name))
            continue;
        std::string known;
        for (const auto& field : requested_)
            known += (known.empty() ? "" : ", ") + field;
        return failure{errc::invalid_argument,
                       quote_name(name) + " is unknown here; " +
                           (known.empty() ? "no field is known" : "known are " + known)};
    }
    return {};
}

} // namespace tempinbox::json
