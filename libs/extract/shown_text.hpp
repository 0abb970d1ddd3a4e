#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::extract {

// A part as its reader sees it, normalized for finding codes: digits of any script and full-width
// letters are ASCII, every blank is a space, dashes are hyphens, invisible characters are gone, and
// URLs are overwritten with \x01. The first byte of each character maps to its offset in the part.
class shown_text
{
public:
    static shown_text of_plain(std::string_view utf8);
    // Of HTML that is seen (html/visible_page.hpp): leaves out tags; blocks start lines, cells are
    // separated by a blank. Ends after `max_bytes` of text.
    static shown_text of_html(std::string_view html,
                              std::size_t max_bytes = std::string_view::npos);

    std::string_view text() const { return text_; }
    // The offset in characters, in the part, of the character at byte `at` of the text.
    std::size_t offset_of(std::size_t at) const;

private:
    // From here on, one byte of the text is one character of the part.
    struct run
    {
        std::uint32_t at;
        std::uint32_t offset;
    };

    void note_offset(std::size_t offset);
    void put(std::string_view characters, std::size_t offset);
    void put_folded(std::string_view character, std::size_t offset);
    void put_all(std::string_view text, std::size_t offset);
    void put_blank(std::size_t offset);
    void put_line_break(std::size_t offset);
    void blot_urls();

    std::string text_;
    std::vector<run> runs_; // sorted by `at`, each at least one byte long
};

} // namespace tempinbox::extract
