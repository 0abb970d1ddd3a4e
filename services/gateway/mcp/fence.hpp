#pragma once

#include "common/json/writer.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox::gateway::mcp {

// Marks what came from a mail, for a reader that takes text for orders: a language model. One fence
// for one result. Every string of a mail goes through `wrap`, so between the marks is data and all
// outside of them is ours. The marks hold a nonce that no mail can know, since the mail was there
// before it; and no mail keeps a character that marks are made of.
class fence
{
public:
    fence(); // with a new nonce
    explicit fence(std::string nonce);

    // The text between the marks: without what nobody sees, at most so many characters.
    std::string wrap(std::string_view mail_text, std::size_t max_characters);
    // Of HTML, `hidden` characters were taken out before.
    void add_hidden(std::size_t characters) { hidden_ += characters; }

    // `mailFence`, the first member of a result: how to read the marks.
    void put_notice(json::writer& out) const;
    // `hiddenCharactersRemoved`, the last.
    void put_hidden(json::writer& out) const;

    std::string open() const;
    std::string close() const;
    std::size_t hidden() const { return hidden_; }
    // Whether a text was longer than was asked for.
    bool was_cut() const { return was_cut_; }

private:
    std::string clean(std::string_view mail_text);

    std::string nonce_;
    std::size_t hidden_ = 0;
    bool was_cut_ = false;
};

} // namespace tempinbox::gateway::mcp
