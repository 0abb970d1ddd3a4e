#include "common/json/writer.hpp"

#include "common/core/text.hpp"

#include <charconv>
#include <cmath>

namespace tempinbox::json {
namespace {

bool needs_escape(char c)
{
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

void append_escaped(std::string& out, char c)
{
    constexpr char digits[] = "0123456789abcdef";
    out.push_back('\\');
    switch (c) {
    case '"':
    case '\\':
        out.push_back(c);
        return;
    case '\n':
        out.push_back('n');
        return;
    case '\r':
        out.push_back('r');
        return;
    case '\t':
        out.push_back('t');
        return;
    case '\b':
        out.push_back('b');
        return;
    case '\f':
        out.push_back('f');
        return;
    default:
        out += "u00";
        out.push_back(digits[static_cast<unsigned char>(c) >> 4]);
        out.push_back(digits[static_cast<unsigned char>(c) & 15]);
    }
}

void append_quoted(std::string& out, std::string_view text)
{
    out.push_back('"');
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size() && !needs_escape(text[plain]))
            ++plain;
        out.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (!text.empty()) {
            append_escaped(out, text.front());
            text.remove_prefix(1);
        }
    }
    out.push_back('"');
}

template <class T>
void append_number(std::string& out, T number)
{
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, end);
}

} // namespace

struct writer::state
{
    std::string out;
    bool needs_comma = false;

    // Writes the comma needed before a name or a value.
    void separate()
    {
        if (needs_comma)
            out.push_back(',');
        needs_comma = true;
    }

    void open(char bracket)
    {
        separate();
        out.push_back(bracket);
        needs_comma = false;
    }

    void close(char bracket)
    {
        out.push_back(bracket);
        needs_comma = true;
    }
};

writer::writer() : state_(std::make_unique<state>()) {}
writer::~writer() = default;
writer::writer(writer&&) noexcept = default;

writer& writer::begin_object()
{
    state_->open('{');
    return *this;
}

writer& writer::end_object()
{
    state_->close('}');
    return *this;
}

writer& writer::begin_array()
{
    state_->open('[');
    return *this;
}

writer& writer::end_array()
{
    state_->close(']');
    return *this;
}

writer& writer::key(std::string_view name)
{
    value(name);
    state_->out.push_back(':');
    state_->needs_comma = false;
    return *this;
}

writer& writer::value(std::string_view text)
{
    state_->separate();
    if (is_valid_utf8(text))
        append_quoted(state_->out, text);
    else
        append_quoted(state_->out, to_clean_utf8(text));
    return *this;
}

writer& writer::value(bool truth)
{
    return raw(truth ? "true" : "false");
}

// JSON cannot express infinity and NaN.
writer& writer::value(double number)
{
    if (!std::isfinite(number))
        return null();
    state_->separate();
    append_number(state_->out, number);
    return *this;
}

writer& writer::value(time_point time)
{
    return value(to_iso8601(time));
}

writer& writer::null()
{
    return raw("null");
}

writer& writer::raw(std::string_view json_text)
{
    state_->separate();
    state_->out.append(json_text);
    return *this;
}

writer& writer::integer(std::int64_t number)
{
    state_->separate();
    append_number(state_->out, number);
    return *this;
}

std::string writer::take()
{
    state_->needs_comma = false;
    return std::exchange(state_->out, std::string());
}

} // namespace tempinbox::json
