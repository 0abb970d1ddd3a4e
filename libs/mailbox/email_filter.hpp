#pragma once

#include "common/core/time.hpp"
#include "mime/view.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::mailbox {

// One of the decoded values of a header contains a text.
struct header_condition
{
    std::string name; // in any case
    std::string value;

    bool operator==(const header_condition&) const = default;
};

// Conditions on emails: every one that is set must hold.
struct email_filter
{
    std::optional<std::string> from;      // in the address or the display name
    std::optional<std::string> to;        // in a recipient as given or an address of To
    std::optional<std::string> recipient; // in a recipient as given
    std::optional<std::string> subject;   // in the decoded subject
    std::optional<bool> has_code;         // whether a one-time code was found
    std::optional<bool> has_link;         // whether a link of any kind was found
    std::optional<std::string> link_kind; // a link of this kind was found
    std::optional<bool> has_attachment;
    std::optional<bool> is_read;
    std::optional<time_point> since; // received at it or later
    std::optional<time_point> until; // received before it
    std::vector<header_condition> headers;
    std::optional<std::string> text; // in the text of the message

    // Whether columns alone cannot tell which emails match.
    bool needs_message() const { return text || !headers.empty(); }

    bool operator==(const email_filter&) const = default;

    // One text for each filter, whatever its case; binds cursors to the filter.
    std::string key() const;
};

// In the order in which they are looked at.
enum class filter_field {
    from,
    to,
    recipient,
    subject,
    has_code,
    has_link,
    link_kind,
    has_attachment,
    is_read,
    since,
    until,
    header,
    text
};

// The parameter of the API, such as hasCode.
std::string_view to_string(filter_field field);

// A condition that an email does not meet.
struct failed_condition
{
    filter_field field = filter_field::from;
    std::string header; // its name in lower case, of filter_field::header

    failed_condition(filter_field which, std::string name = {})
        : field(which),
          header(std::move(name))
    {}

    bool operator==(const failed_condition&) const = default;
};

// The parameter of the API, such as hasCode or header.x-mailer.
std::string to_string(const failed_condition& failed);

// What filters look at of an email.
struct email_columns
{
    std::string from;
    std::string from_name;
    std::vector<std::string> rcpt_to;
    std::vector<mime::email_address> to;
    std::string subject;
    bool has_code = false;
    std::vector<std::string> link_kinds; // of each link
    int attachment_count = 0;
    bool is_read = false;
    time_point received_at;
    std::string preview; // how the text begins
};

// What filters look at of a stored message.
struct message_texts
{
    std::string text;                                         // folded as running text
    std::vector<std::pair<std::string, std::string>> headers; // names in lower case
    bool is_cut = false;        // not read to its end, so that there may be more text
    bool is_unreadable = false; // what is stored is damaged: it matches no condition on messages
};

message_texts read_message_texts(const mime::view& view);

// An email as filters compare it: what they look at is folded once for any number of them. `text`
// is what a person would see of a field.
class filtered_email
{
public:
    explicit filtered_email(email_columns columns);

    // From here on filters look at the message, too.
    void open(std::shared_ptr<const message_texts> message) { message_ = std::move(message); }

    std::string text(const failed_condition& failed) const;

private:
    friend class compiled_filter;

    using folded_text = std::optional<std::string>;
    using folded_texts = std::optional<std::vector<std::string>>;

    const std::string& folded_from() const;
    const std::string& folded_from_name() const;
    const std::string& folded_subject() const;
    const std::vector<std::string>& folded_recipients() const;
    const std::vector<std::string>& folded_to() const; // addresses of To
    // As the API shows it, so that a time taken from there means what its reader thinks.
    time_point received_at() const;

    // The beginning of the text, as far as the rest of the text cannot change how it is folded.
    const std::string& folded_preview() const;
    std::vector<std::string> header_values(const std::string& name) const;

    email_columns columns_;
    std::shared_ptr<const message_texts> message_;
    // What was looked at so far.
    mutable folded_text from_, from_name_, subject_, preview_;
    mutable folded_texts recipients_, to_;
};

// A filter prepared for many emails: contains, after NFC and Unicode case folding on both sides, as
// rules compare.
class compiled_filter
{
public:
    explicit compiled_filter(const email_filter& filter);

    // Every email matches.
    bool is_empty() const { return filter_ == email_filter(); }
    bool needs_message() const { return filter_.needs_message(); }
    bool matches_columns(const filtered_email& email) const { return !first_of_columns(email); }
    // Whether the email has to be opened before the functions below can tell.
    bool is_undecided(const filtered_email& email) const;
    bool matches(const filtered_email& email) const { return !first_failing(email); }
    // The first condition that fails, in the order of filter_field, headers by their names;
    // nullopt: the email matches.
    std::optional<failed_condition> first_failing(const filtered_email& email) const;

private:
    std::optional<filter_field> first_of_columns(const filtered_email& email) const;
    bool text_matches(const filtered_email& email) const;

    email_filter filter_; // texts are folded, names in lower case and in order
};

} // namespace tempinbox::mailbox
