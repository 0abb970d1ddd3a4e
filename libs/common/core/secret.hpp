#pragma once

#include <cstring>
#include <ostream>
#include <string>
#include <utility>

namespace tempinbox {

// Overwrites the bytes of a text, then empties it.
inline void wipe(std::string& text)
{
    ::explicit_bzero(text.data(), text.size());
    text.clear();
}

// A string that never prints itself; `reveal` marks each place that needs it in the clear.
class secret
{
public:
    secret() = default;
    explicit secret(std::string value) : value_(std::move(value)) {}
    const std::string& reveal() const { return value_; }
    bool empty() const { return value_.empty(); }

    friend std::ostream& operator<<(std::ostream& out, const secret&) { return out << "***"; }

private:
    std::string value_;
};

} // namespace tempinbox
