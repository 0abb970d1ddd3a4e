#include "mailbox/header_addresses.hpp"

#include "common/core/text.hpp"
#include "common/json/value.hpp"
#include "common/json/writer.hpp"
#include "common/rules/rules.hpp"

#include <algorithm>
#include <set>

namespace tempinbox::mailbox {
namespace {

std::string cut(const std::string& text)
{
    return std::string(take_bytes(text, header_addresses::max_bytes));
}

std::vector<mime::email_address> take(const std::vector<mime::email_address>& field)
{
    const auto count = std::min(field.size(), header_addresses::max_of_field);
    std::vector<mime::email_address> taken;
    taken.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        taken.push_back({cut(field[i].name), cut(field[i].address)});
    return taken;
}

void put(json::writer& out, std::string_view name, const std::vector<mime::email_address>& field)
{
    out.key(name).begin_array();
    for (const auto& one : field)
        out.begin_object().member("address", one.address).member("name", one.name).end_object();
    out.end_array();
}

// Only this project writes the column: text that cannot be parsed is damage, not input.
json::value parse(std::string_view text)
{
    json::limits wide;
    wide.bytes = 16 * 1024 * 1024;
    return json::value::parse(text, wide).value();
}

std::vector<mime::email_address> read(const json::value& field)
{
    std::vector<mime::email_address> addresses;
    for (const auto& one : field.items()) {
        if (one.is_string())
            addresses.push_back({{}, one.text()}); // of an earlier release, without bounds
        else
            addresses.push_back({one["name"].text(), one["address"].text()});
    }
    return addresses;
}

} // namespace

header_addresses take_addresses(const mime::view& view)
{
    return {take(view.to), take(view.cc), take(view.reply_to)};
}

std::vector<mime::email_address> hidden_recipients(const mime::view& view,
                                                   const std::vector<std::string>& recipients)
{
    std::set<std::string> named;
    for (const auto* field : {&view.to, &view.cc})
        for (const auto& one : *field)
            named.insert(rules::fold(one.address));

    std::vector<mime::email_address> hidden;
    for (auto& one : take(view.bcc))
        if (named.insert(rules::fold(one.address)).second)
            hidden.push_back(std::move(one));
    for (const auto& address : recipients)
        if (named.insert(rules::fold(address)).second)
            hidden.push_back({{}, address});
    return hidden;
}

std::string to_json(const header_addresses& addresses)
{
    json::writer out;
    out.begin_object();
    put(out, "to", addresses.to);
    put(out, "cc", addresses.cc);
    put(out, "replyTo", addresses.reply_to);
    out.end_object();
    return out.take();
}

header_addresses header_addresses_from_json(std::string_view json)
{
    const auto fields = parse(json);
    return {read(fields["to"]), read(fields["cc"]), read(fields["replyTo"])};
}

std::vector<mime::email_address> to_addresses_from_json(std::string_view json)
{
    if (json == "[]")
        return {};
    return take(read(parse(json)));
}

} // namespace tempinbox::mailbox
