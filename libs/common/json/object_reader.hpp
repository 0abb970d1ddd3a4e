#pragma once

#include "common/json/value.hpp"

#include <map>
#include <set>

namespace tempinbox::json {

// Whether the text holds control characters of ASCII (C0, DEL) or Latin-1 (C1, U+0080 to U+009F)
// other than tab, line feed and carriage return: no text from outside may.
bool has_control_characters(std::string_view utf8);

// Reads the fields of one JSON object that came from outside. Each accessor reads a field by name
// and checks it; the first error is kept and later calls return empty values, so a handler reads
// all its fields, then calls `finish()`, which also refuses fields that were never read. Messages
// name the field, what was given and what is allowed: `ttlSeconds must be an integer from 60 to
// 604800, not "soon"`. Strings must be free of control characters other than tab and newlines. JSON
// null counts as absent.
class object_reader
{
public:
    // An empty body is an empty object.
    static result<object_reader> parse(std::string_view body, const limits& allowed = {});
    explicit object_reader(value object);

    // Characters are code points.
    std::optional<std::string> text(std::string_view name, std::size_t min, std::size_t max);
    std::string required_text(std::string_view name, std::size_t min, std::size_t max);
    // A password or the like: error messages do not show it. Empty if absent or invalid.
    std::string required_secret(std::string_view name, std::size_t min, std::size_t max);
    std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max);
    std::optional<bool> boolean(std::string_view name);
    // Bounds on the number of items and on the length of each.
    std::optional<std::vector<std::string>> texts(std::string_view name, std::size_t max_items,
                                                  std::size_t min, std::size_t max);
    std::optional<std::map<std::string, std::string>> text_map(std::string_view name,
                                                               std::size_t max_items,
                                                               std::size_t max_key,
                                                               std::size_t max_value);
    // As text_map, but null stays: it removes the key (RFC 7396).
    std::optional<std::map<std::string, std::optional<std::string>>>
    text_map_patch(std::string_view name, std::size_t max_items, std::size_t max_key,
                   std::size_t max_value);
    std::optional<std::string> choice(std::string_view name,
                                      const std::vector<std::string>& allowed);
    // An array of objects, each to be read by its own object_reader (whose failure the caller
    // passes to `fail`).
    std::optional<std::vector<value>> objects(std::string_view name, std::size_t max_items);
    // One of them.
    std::optional<value> object(std::string_view name);
    bool has(std::string_view name) const;
    // Given, and a string: for fields that take a string or something else.
    bool has_text(std::string_view name) const;
    // Given, and null: for merge patches (RFC 7396), where it means "remove".
    bool has_null(std::string_view name) const;

    void fail(std::string message);
    // The first error, or the name of an unknown field.
    result<void> finish();

private:
    std::optional<value> take(std::string_view name);

    value object_;
    std::set<std::string, std::less<>> requested_;
    std::optional<failure> error_;
};

} // namespace tempinbox::json
