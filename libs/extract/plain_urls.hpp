#pragma once

#include <re2/stringpiece.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::extract {

constexpr std::size_t max_url_bytes = 4'096;

struct plain_url
{
    std::string url;       // without what is around it
    std::string run;       // all characters from its first that a URL may have; empty if too many
    std::size_t begin = 0; // in the text, with the bracket in front of it
    std::size_t end = 0;   // behind it and what closes it
};

// Finds the http(s) URLs of plain text in their order: what is around a URL decides where it ends
// (RFC 3986 appendix C). Linear; looks at no more than some thousands. The text must outlive it.
class plain_urls
{
public:
    explicit plain_urls(std::string_view text);
    std::optional<plain_url> next();

private:
    bool find_run();

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;
    std::size_t run_end_ = 0;
    std::size_t words_end_ = 0; // of the run, without the marks that it ends in
    std::size_t looked_at_ = 0;
};

} // namespace tempinbox::extract
