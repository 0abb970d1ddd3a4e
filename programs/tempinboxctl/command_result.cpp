#include "tempinboxctl/command_result.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "common/json/writer.hpp"

#include <algorithm>

namespace tempinbox::ctl {
namespace {

void put(json::writer& out, const record& shown);

void put_value(json::writer& out, std::monostate)
{
    out.null();
}

template <class T>
void put_value(json::writer& out, const T& value)
{
    out.value(value);
}

void put_value(json::writer& out, const std::vector<record>& records)
{
    out.begin_array();
    for (const auto& one : records)
        put(out, one);
    out.end_array();
}

void put(json::writer& out, const record& shown)
{
    out.begin_object();
    for (const auto& [name, value] : shown.fields()) {
        out.key(name);
        std::visit([&out](const auto& content) { put_value(out, content); }, value);
    }
    out.end_object();
}

std::string text_of(const record::field& value);

std::string join(const std::vector<std::string>& texts, std::string_view separator)
{
    std::string joined;
    for (const auto& text : texts)
        joined += (joined.empty() ? "" : std::string(separator)) + text;
    return joined.empty() ? "-" : joined;
}

std::string one_line(const record& shown)
{
    std::vector<std::string> texts;
    for (const auto& [name, value] : shown.fields())
        texts.push_back(text_of(value));
    return join(texts, " ");
}

struct field_text
{
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(const std::string& text) const { return text.empty() ? "-" : text; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(bool truth) const { return truth ? "yes" : "no"; }
    std::string operator()(const std::vector<std::string>& texts) const { return join(texts, ","); }
    std::string operator()(const std::vector<record>& records) const
    {
        std::vector<std::string> texts;
        texts.reserve(records.size());
        for (const auto& one : records)
            texts.push_back(one_line(one));
        return join(texts, "; ");
    }
};

std::string text_of(const record::field& value)
{
    return std::visit(field_text(), value);
}

// `requestsPerDay` becomes `REQUESTS PER DAY` over a column and `requests per day` beside a value.
std::string spaced(std::string_view name, bool is_heading)
{
    std::string words;
    for (const char c : name) {
        if (is_upper(c))
            words += is_heading ? '_' : ' ';
        words += is_heading ? to_upper(c) : to_lower(c);
    }
    return words;
}

std::string padded(const std::string& text, std::size_t width)
{
    const auto length = count_characters(text);
    return text + std::string(width > length ? width - length : 0, ' ');
}

std::string lines_of(const record& shown)
{
    std::size_t width = 0;
    for (const auto& [name, value] : shown.fields())
        width = std::max(width, spaced(name, false).size());
    std::string text;
    for (const auto& [name, value] : shown.fields())
        text += padded(spaced(name, false), width) + "  " + text_of(value) + "\n";
    return text;
}

using table_row = std::vector<std::string>;

std::string table_of(const std::vector<table_row>& rows)
{
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], count_characters(row[i]));
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i)
            line += (i == 0 ? "" : "  ") + padded(row[i], widths[i]);
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string table_of(const std::string& list_name, const std::vector<record>& records)
{
    if (records.empty())
        return "no " + spaced(list_name, false) + "\n";
    std::vector<table_row> rows(1);
    for (const auto& [name, value] : records.front().fields())
        rows.front().push_back(spaced(name, true));
    for (const auto& shown : records) {
        table_row row;
        for (const auto& [name, value] : shown.fields())
            row.push_back(text_of(value));
        rows.push_back(std::move(row));
    }
    return table_of(rows);
}

} // namespace

void add_limits(record& fields, const plans::plan_limits& limits, plans::audience audience)
{
    for (const auto& limit : plans::all_limits()) {
        if (limit.shown_to < audience)
            continue;
        const auto number = limit.get(limits);
        fields.add(limit.json_name(),
                   limit.is_truth ? record::field(number != 0) : record::field(number));
    }
}

std::string to_json(const command_result& shown)
{
    json::writer out;
    if (shown.list_name.empty()) {
        put(out, shown.records.front());
        return out.take() + "\n";
    }
    out.begin_object().key(shown.list_name);
    put_value(out, shown.records);
    out.end_object();
    return out.take() + "\n";
}

std::string to_text(const command_result& shown)
{
    if (shown.text)
        return *shown.text;
    return shown.list_name.empty() ? lines_of(shown.records.front())
                                   : table_of(shown.list_name, shown.records);
}

} // namespace tempinbox::ctl
