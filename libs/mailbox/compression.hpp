#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox::mailbox {

// One zstd frame (level 1: a mail is compressed while its sender waits for the 250).
std::string compress(std::string_view raw);

// Throws std::runtime_error if the frame is not complete or expands past `limit`.
std::string decompress(std::string_view frame, std::size_t limit = 256 * 1024 * 1024);

} // namespace tempinbox::mailbox
