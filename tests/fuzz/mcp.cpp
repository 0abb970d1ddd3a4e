#include "common/core/text.hpp"
#include "fuzz/require.hpp"
#include "gateway/mcp/fence.hpp"
#include "gateway/mcp/json_rpc.hpp"
#include "gateway/mcp/revision.hpp"
#include "html/visible_page.hpp"

#include <cstddef>
#include <cstdint>

using namespace tempinbox;
using namespace tempinbox::gateway::mcp;
using fuzz::require;

namespace {

constexpr std::size_t max_text = 4'096;
constexpr std::size_t max_refusal = 2'000;

void require_error(const rpc_error& error)
{
    require(error.code < 0, "an error has a code");
    require(error.message.size() < max_refusal, "an error is said in few words");
    const auto written = json::value::parse(error_message(error), {1 << 20, 32});
    require(written && written->find("error").has_value(), "an error is a message");
}

void try_message(std::string_view body)
{
    const auto read = read_message(body);
    if (!read.message) {
        require_error(read.error);
        return;
    }
    const auto& message = *read.message;
    require(message.is != rpc_message::kind::request || !message.id.empty(), "a request has an id");
    require(message.id.empty() || json::value::parse(result_message(message.id, "{}")),
            "an id can be repeated in a response");
    message_headers headers;
    headers.version = std::string(body.substr(0, 12));
    headers.method = message.method;
    const auto found = find_revision(message, headers);
    if (found.revision.empty())
        require_error(found.error);
    require(!negotiate(message.params).empty(), "a handshake always settles on a revision");
}

void try_mail(std::string_view mail)
{
    const auto page = html::read_linked_page(mail).page;
    require(page.steps <= html::max_page_steps, "a page takes no more work than it may");
    fence marks;
    const auto wrapped = marks.wrap(page.text, max_text);
    require(is_valid_utf8(wrapped), "what is fenced is UTF-8");
    require(wrapped.starts_with(marks.open()) && wrapped.ends_with(marks.close()),
            "what is fenced stands between the marks");
    const auto inside = std::string_view(wrapped).substr(
        marks.open().size(), wrapped.size() - marks.open().size() - marks.close().size());
    require(inside.find("\u27e6") == std::string_view::npos &&
                inside.find("\u27e7") == std::string_view::npos,
            "no mail has a mark");
}

} // namespace

// The first byte says what the rest is: a body, or the HTML of a mail.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
    if (data[0] == 'h')
        try_mail(rest);
    else
        try_message(rest);
    return 0;
}
