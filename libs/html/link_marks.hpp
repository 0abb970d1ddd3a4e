#pragma once

#include <string>
#include <string_view>

namespace tempinbox::html {

// Writes the host of a link into HTML so that it stands as `⟨link: HOST⟩` in the text that is made
// of it. No mail can write that: around a host stands a nonce until the text is there, and angle
// brackets of the mail itself are replaced by then.
class link_marks
{
public:
    link_marks();

    // For the HTML: the host between two nonces.
    std::string mark(std::string_view host) const { return nonce_ + std::string(host) + nonce_; }
    // The text of such HTML, with `⟨link: HOST⟩` in place of each.
    std::string name_hosts(std::string_view text) const;

private:
    std::string nonce_;
};

// Less-than and greater-than signs in place of the angle brackets around a host.
std::string without_link_marks(std::string_view text);

} // namespace tempinbox::html
