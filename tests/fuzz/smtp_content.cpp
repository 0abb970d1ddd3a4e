#include "fuzz/require.hpp"
#include "mail-ingest/smtp/data_scanner.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using namespace tempinbox;

namespace {

// RFC 5321 4.5.2 and 4.1.1.4, implemented in another way, on the whole at once.
struct reference_scan
{
    std::string message;
    std::size_t used = 0;
    bool is_complete = false;
    bool has_bare_newline = false;

    explicit reference_scan(std::string_view bytes)
    {
        const std::string stream =
            "\r\n" + std::string(bytes); // the data begin at the start of a line
        const auto end = stream.find("\r\n.\r\n");
        is_complete = end != std::string::npos;
        used = is_complete ? end + 5 - 2 : bytes.size();
        const auto kept = is_complete ? stream.substr(0, end + 2) : stream;
        for (std::size_t at = 2; at < kept.size(); ++at) {
            const bool starts_line = kept[at - 1] == '\n' && kept[at - 2] == '\r';
            if (!starts_line || kept[at] != '.')
                message.push_back(kept[at]);
        }
        for (std::size_t at = 2; at < kept.size(); ++at) {
            const bool is_lone_lf = kept[at] == '\n' && kept[at - 1] != '\r';
            const bool is_lone_cr =
                kept[at] == '\r' && at + 1 < kept.size() && kept[at + 1] != '\n';
            has_bare_newline = has_bare_newline || is_lone_lf || is_lone_cr;
        }
    }
};

struct scanned
{
    std::string message;
    std::size_t used = 0;
    smtp::data_scanner scanner;

    // Scans in pieces of 1 to `max_piece_bytes` bytes.
    scanned(std::string_view bytes, std::size_t max_piece_bytes)
    {
        std::size_t size = 1;
        while (used < bytes.size() && !scanner.is_complete()) {
            const auto piece = bytes.substr(used, size);
            const auto taken = scanner.scan(piece, message);
            fuzz::require(taken == piece.size() || scanner.is_complete(),
                          "a scanner takes all that is no later message");
            used += taken;
            size = size % max_piece_bytes + 1;
        }
    }
};

bool has_bare_newline_in_chunks(std::string_view bytes, std::size_t size)
{
    smtp::newline_policy policy;
    for (std::size_t at = 0; at < bytes.size(); at += size)
        policy.scan(bytes.substr(at, size));
    return policy.has_bare_newline();
}

bool has_bare_newline(std::string_view bytes)
{
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const bool follows_cr = at > 0 && bytes[at - 1] == '\r';
        const bool precedes_lf = at + 1 < bytes.size() && bytes[at + 1] == '\n';
        if ((bytes[at] == '\n' && !follows_cr) || (bytes[at] == '\r' && !precedes_lf))
            return true;
    }
    return false;
}

} // namespace

// What follows DATA or BDAT, split in many ways: the end, the dots and the bare newlines are the
// same for all splits, and as the standard says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(input), size);
    const reference_scan expected(bytes);
    for (const std::size_t max_piece_bytes :
         {size + 1, std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
        const scanned found(bytes, max_piece_bytes);
        fuzz::require(found.scanner.is_complete() == expected.is_complete,
                      "CRLF.CRLF ends the data and nothing else");
        // An unfinished dot or CR is not decided yet.
        if (!expected.is_complete)
            continue;
        fuzz::require(found.used == expected.used, "the data end right after CRLF.CRLF");
        fuzz::require(found.message == expected.message,
                      "one leading dot is removed, and nothing else");
        fuzz::require(found.scanner.has_bare_newline() == expected.has_bare_newline,
                      "every bare CR and LF is noticed");
    }
    for (const std::size_t length : {size + 1, std::size_t{1}, std::size_t{2}, std::size_t{7}})
        fuzz::require(has_bare_newline_in_chunks(bytes, length) == has_bare_newline(bytes),
                      "chunks: every bare CR and LF");
    return 0;
}
