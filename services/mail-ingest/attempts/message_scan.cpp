#include "mail-ingest/attempts/message_scan.hpp"

#include "common/core/text.hpp"
#include "mail-ingest/attempts/digest.hpp"

#include <algorithm>
#include <utility>

namespace tempinbox::mail_ingest {
namespace {

bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

bool is_named(std::string_view field, std::string_view name)
{
    return equals_ignoring_ascii_case(trim(field.substr(0, field.find(':'))), name);
}

} // namespace

void message_scan::append(std::string_view bytes)
{
    if (is_in_header_)
        bytes = take_header(bytes);
    if (!is_in_header_)
        take_body(bytes);
}

// Returns what is left.
std::string_view message_scan::take_header(std::string_view bytes)
{
    while (is_in_header_ && !bytes.empty()) {
        const auto end = bytes.find('\n');
        const auto part = bytes.substr(0, end);
        line_.append(part.substr(0, max_field - std::min(max_field, line_.size())));
        if (end == std::string_view::npos)
            return {};
        bytes.remove_prefix(end + 1);
        end_line();
    }
    return bytes;
}

void message_scan::end_line()
{
    auto line = std::exchange(line_, {});
    if (++header_lines_ == max_header_lines) {
        end_field();
        is_in_header_ = false;
        return;
    }
    if (!line.empty() && line.back() == '\r')
        line.pop_back();
    // RFC 5322 2.2.3: a line that begins with a space goes on with the field.
    if (!line.empty() && is_space(line.front())) {
        field_.append(line.substr(0, max_field - std::min(max_field, field_.size())));
        return;
    }
    end_field();
    is_in_header_ = !line.empty();
    field_ = std::move(line);
}

void message_scan::end_field()
{
    const auto colon = field_.find(':');
    if (colon == std::string::npos)
        return;
    const auto value = trim(std::string_view(field_).substr(colon + 1));
    if (is_named(field_, "message-id") && message_id_.empty())
        message_id_ = value;
    else if (is_named(field_, "received"))
        is_relayed_ = true;
    else if (is_named(field_, "subject"))
        subject_hash_ = add_to_digest(empty_digest, value);
}

void message_scan::take_body(std::string_view bytes)
{
    if (body_size_ == 0)
        body_hash_ = empty_digest;
    if (body_size_ < max_body)
        body_hash_ = add_to_digest(
            body_hash_, bytes.substr(0, max_body - static_cast<std::size_t>(body_size_)));
    body_size_ += bytes.size();
}

std::uint64_t message_scan::content() const
{
    return (subject_hash_ * 31 + body_hash_) * 31 + body_size_;
}

} // namespace tempinbox::mail_ingest
