#include "mime/settings.hpp"

namespace tempinbox::mime {

view_limits read_settings(config::reader& reader)
{
    constexpr std::uint64_t kib = 1024;
    constexpr std::uint64_t mib = 1024 * kib;
    constexpr std::int64_t max_value = 100'000;
    view_limits chosen;
    chosen.header_bytes = reader.bytes("header-view-bytes", 256 * kib, kib, 64 * mib,
                                       "Maximum header bytes of a message that are parsed; of the "
                                       "rest only what a view needs, such as the subject; the "
                                       "same for inbox and mail-ingest");
    chosen.depth = static_cast<std::size_t>(reader.integer(
        "part-depth", 100, 1, 1'000,
        "Maximum depth of nested parts that are parsed; the same for inbox and mail-ingest"));
    chosen.parts = static_cast<std::size_t>(reader.integer(
        "parts", 1'000, 1, max_value,
        "Maximum parts of a message that are parsed; the same for inbox and mail-ingest"));
    return chosen;
}

} // namespace tempinbox::mime
