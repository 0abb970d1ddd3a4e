#include "common/http/target.hpp"
#include "fuzz/require.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/email_conditions.hpp"
#include "inbox/api/inbox_requests.hpp"
#include "mailbox/email_filter.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

using namespace tempinbox;
using fuzz::require;
using fuzz::require_clean;

namespace {

mailbox::email_columns read_columns(const mime::view& view)
{
    mailbox::email_columns columns;
    columns.from = view.summary.from;
    columns.from_name = view.summary.from_name;
    columns.to = view.to;
    columns.subject = view.summary.subject;
    columns.preview = view.summary.preview;
    columns.attachment_count = view.summary.attachment_count;
    return columns;
}

// What a list decides by columns and, where these do not decide, by the message is what the message
// alone decides.
void try_message(const mailbox::email_filter& filter, std::string_view raw)
{
    const auto view = mime::read_view(raw);
    const auto texts =
        std::make_shared<const mailbox::message_texts>(mailbox::read_message_texts(view));
    const mailbox::compiled_filter compiled(filter);
    mailbox::filtered_email opened(read_columns(view));
    const bool is_undecided = compiled.is_undecided(opened);
    const auto by_columns = compiled.first_failing(opened);
    opened.open(texts);
    const auto failing = compiled.first_failing(opened);
    require(is_undecided || by_columns == failing, "what is decided stays as it is");
    require(compiled.matches(opened) == !failing, "what matches fails nowhere");
    auto without_preview = read_columns(view);
    without_preview.preview.clear();
    mailbox::filtered_email read(std::move(without_preview));
    read.open(texts);
    require(compiled.first_failing(read) == failing, "the preview is part of the text");
    if (!failing)
        return;
    require_clean(opened.text(*failing), "what an email has is clean text");
    require(!to_string(*failing).empty(), "what failed has a name");
}

void try_filter(const inbox::v1::EmailFilter& accepted, std::string_view raw)
{
    const auto filter = inbox::read_filter(accepted);
    require(filter.has_value(), "what the gateway accepts the inbox service accepts");
    require_clean(filter->key(), "a filter's key is clean text");
    require((*filter == mailbox::email_filter()) == filter->key().empty(),
            "only the filter without conditions has no key");
    try_message(*filter, raw);
}

} // namespace

// The filters of a query, on its first line, and a message after it that they look at.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(input), size);
    const auto query_bytes = std::min(bytes.find('\n'), bytes.size());
    const auto raw = bytes.substr(std::min(query_bytes + 1, bytes.size()));
    auto parsed = http::parse_query(bytes.substr(0, query_bytes));
    if (!parsed)
        return 0;
    http::request received;
    received.query = std::move(*parsed);
    gateway::query_reader query(received);
    const auto filter = gateway::read_conditions(query);
    gateway::read_page(query);
    if (const auto read = query.finish(); !read) {
        require_clean(read.error().message, "what is wrong is said in clean text");
        return 0;
    }
    try_filter(filter, raw);
    return 0;
}
