#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::extract {

// What a reader sees of a part, made plain for the search of codes: digits of any script and
// full-width letters are ASCII, every blank is a space, dashes are hyphens, invisible characters
// are gone; what stands in URLs is blotted out with \x01. The first byte of each character knows
// its place in the part.
class shown_text
{
public:
    static shown_text of_plain(std::string_view utf8);
    // Without tags, comments and what browsers do not show; blocks begin lines, cells are set off
    // by a blank.
    static shown_text of_html(std::string_view html);

    std::string_view text() const { return text_; }
    // Characters of the part before the one that a byte of the text stands for.
    std::size_t offset_of(std::size_t at) const;

private:
    // From here on bytes and characters of the part go side by side.
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
    std::vector<run> runs_; // by `at`, each of at least a byte
};

} // namespace tempinbox::extract
