#pragma once

#include "mime/view.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::mailbox {

// Conditions on emails: every one that is set must hold.
struct email_filter
{
    std::optional<std::string> from;    // in the address or the display name
    std::optional<std::string> to;      // in a recipient as given or an address of To
    std::optional<std::string> subject; // in the decoded subject
    std::optional<bool> has_code;       // whether a one-time code was found

    bool operator==(const email_filter&) const = default;

    // One text for each filter, whatever its case; binds cursors to the filter.
    std::string text() const;
};

enum class filter_field { from, to, subject, has_code };

// As in the API: from, to, subject, hasCode.
std::string_view to_string(filter_field field);

// The fields of an email that filters compare, folded once for any number of filters. `text` is
// what a person would see of a field.
class filtered_email
{
public:
    filtered_email(std::string from, std::string from_name, std::vector<std::string> rcpt_to,
                   const std::vector<mime::email_address>& to, std::string subject, bool has_code);

    std::string text(filter_field field) const;

private:
    friend class compiled_filter;

    struct folded
    {
        std::string from;
        std::string from_name;
        std::vector<std::string> to;
        std::string subject;
    };

    std::string from_;
    std::string from_name_;
    std::vector<std::string> rcpt_to_;
    std::vector<std::string> to_;
    std::string subject_;
    bool has_code_;
    folded folded_;
};

// A filter prepared for many emails: contains, after NFC and Unicode case folding on both sides, as
// rules compare.
class compiled_filter
{
public:
    explicit compiled_filter(const email_filter& filter);

    // Every email matches.
    bool is_empty() const { return !from_ && !to_ && !subject_ && !has_code_; }
    bool matches(const filtered_email& email) const { return !first_failing(email); }
    // The first condition that fails, in the order from, to, subject, hasCode; nullopt: the email
    // matches.
    std::optional<filter_field> first_failing(const filtered_email& email) const;

private:
    std::optional<std::string> from_;
    std::optional<std::string> to_;
    std::optional<std::string> subject_;
    std::optional<bool> has_code_;
};

} // namespace tempinbox::mailbox
