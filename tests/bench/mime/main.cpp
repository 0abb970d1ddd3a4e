// Prints the view of each mail named on standard input, one JSON object a line, for
// tests/bench/mime.py to compare.

#include "common/json/writer.hpp"
#include "mime/view.hpp"

#include <fstream>
#include <iostream>
#include <iterator>

using namespace tempinbox;

namespace {

void write_addresses(json::writer& out, std::string_view name,
                     const std::vector<mime::email_address>& addresses)
{
    out.key(name).begin_array();
    for (const auto& one : addresses)
        out.begin_object().member("name", one.name).member("address", one.address).end_object();
    out.end_array();
}

std::string describe(const mime::view& view)
{
    json::writer out;
    out.begin_object();
    out.member("subject", view.summary.subject);
    out.member("from", view.summary.from).member("fromName", view.summary.from_name);
    write_addresses(out, "to", view.to);
    write_addresses(out, "cc", view.cc);
    out.member("date", view.date);
    out.member("messageId", view.summary.message_id);
    out.member("text", view.text)
        .member("html", view.html)
        .member("isTextDerived", view.is_text_derived);
    out.key("attachments").begin_array();
    for (const auto& one : view.attachments)
        out.begin_object()
            .member("id", one.id)
            .member("filename", one.filename)
            .member("contentType", one.content_type)
            .member("size", one.size)
            .end_object();
    out.end_array();
    out.member("defects", view.defects);
    out.end_object();
    return out.take();
}

} // namespace

int main()
{
    for (std::string path; std::getline(std::cin, path);) {
        std::ifstream file(path, std::ios::binary);
        const std::string raw{std::istreambuf_iterator<char>(file),
                              std::istreambuf_iterator<char>()};
        std::cout << describe(mime::read_view(raw)) << '\n';
    }
    return 0;
}
