#pragma once

#include <cstdint>
#include <string_view>

namespace tempinbox::mail_ingest {

inline constexpr std::uint64_t empty_digest = 14'695'981'039'346'656'037ULL;

// FNV-1a of 64 bits, which goes on from `digest`: tells texts apart that nobody chose to be equal.
constexpr std::uint64_t add_to_digest(std::uint64_t digest, std::string_view text)
{
    constexpr std::uint64_t prime = 1'099'511'628'211ULL;
    for (const char byte : text)
        digest = (digest ^ static_cast<unsigned char>(byte)) * prime;
    return digest;
}

} // namespace tempinbox::mail_ingest
