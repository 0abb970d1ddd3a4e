#pragma once

#include "common/core/errors.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::json {

struct limits
{
    std::size_t bytes = 64 * 1024;
    unsigned depth = 32;
};

// One parsed JSON value; copies share the document. Strict: whole text, no duplicate keys, no NaN,
// valid UTF-8, depth and size bounded.
class value
{
public:
    // The failure names line, column and reason: `body is not valid JSON at line 2, column 7:
    // missing a comma or } after an object member`.
    static result<value> parse(std::string_view text, const limits& allowed = {});

    bool is_object() const;
    bool is_array() const;
    bool is_string() const;
    bool is_bool() const;
    bool is_integer() const; // fits std::int64_t
    bool is_number() const;
    bool is_null() const;
    // "an object", "a string", "null" …: for messages.
    std::string_view kind() const;

    // Asking for another kind throws failure_error.
    std::string text() const;
    std::int64_t integer() const;
    double number() const;
    bool boolean() const;
    std::vector<value> items() const;
    std::vector<std::pair<std::string, value>> members() const;
    // Absent if there is no such member or this is not an object.
    std::optional<value> find(std::string_view name) const;
    // As `find`, but throws: for tests and trusted documents.
    value operator[](std::string_view name) const;
    value operator[](std::size_t index) const;
    std::size_t size() const;
    std::string to_string() const;

private:
    struct document;
    value(std::shared_ptr<const document> owner, const void* node)
        : owner_(std::move(owner)),
          node_(node)
    {}
    std::shared_ptr<const document> owner_;
    const void* node_;
};

} // namespace tempinbox::json
