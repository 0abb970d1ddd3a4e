#pragma once

#include <optional>
#include <string_view>

namespace tempinbox::extract {

// Walks over a text's words with digits that have the outer form of a one-time code: 4 to 10 digits, also in equal groups of
// three or four; 4 to 12 letters and digits, also in groups of capitals; `G-123456`. Linear: every byte is looked at a bounded
// number of times.
class candidate_scanner
{
public:
    explicit candidate_scanner(std::string_view text) : text_(text) {}

    // The next one, as a part of the text.
    std::optional<std::string_view> next();

private:
    std::string_view take_word();
    std::string_view with_next_groups(std::string_view word) const;

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace tempinbox::extract
