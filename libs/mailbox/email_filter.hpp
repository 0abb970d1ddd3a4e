#pragma once

#include "common/core/time.hpp"
#include "mime/view.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::mailbox {

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

    bool operator==(const email_filter&) const = default;

    // One text for each filter, whatever its case; binds cursors to the filter.
    std::string text() const;
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
    until
};

// The parameter of the API, such as hasCode.
std::string_view to_string(filter_field field);

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
};

// An email as filters compare it: what they look at is folded once for any number of them. `text`
// is what a person would see of a field.
class filtered_email
{
public:
    explicit filtered_email(email_columns columns);

    std::string text(filter_field field) const;

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

    email_columns columns_;
    // What was looked at so far.
    mutable folded_text from_, from_name_, subject_;
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
    bool matches(const filtered_email& email) const { return !first_failing(email); }
    // The first condition that fails, in the order of filter_field; nullopt: the email matches.
    std::optional<filter_field> first_failing(const filtered_email& email) const;

private:
    email_filter filter_; // texts are folded
};

} // namespace tempinbox::mailbox
