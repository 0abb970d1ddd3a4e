#pragma once

#include "mailbox/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// What emails must contain, whatever their case (rules::fold on both sides); all that is given must hold.
class email_filter
{
public:
    email_filter() = default;
    email_filter(std::optional<std::string> from, std::optional<std::string> to, std::optional<std::string> subject);

    bool is_empty() const { return !from_ && !to_ && !subject_; }

    // `from`: the sender's address or display name. `to`: a recipient as given, or an address of the To header. `subject`:
    // decoded.
    bool matches(const email_summary& email, const std::vector<std::string>& to_header) const;

    // One text a filter: for cursors, which belong to it.
    std::string text() const;

private:
    // Folded.
    std::optional<std::string> from_;
    std::optional<std::string> to_;
    std::optional<std::string> subject_;
};

} // namespace tempinbox::mailbox
