#include "mailbox/compression.hpp"

#include <zstd.h>

#include <memory>
#include <stdexcept>

namespace tempinbox::mailbox {
namespace {

std::size_t checked(std::size_t code)
{
    if (ZSTD_isError(code))
        throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(code));
    return code;
}

} // namespace

std::string compress(std::string_view raw)
{
    // Creating a context costs more than compressing a small mail, so contexts are reused.
    struct context_deleter
    {
        void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    };
    thread_local const std::unique_ptr<ZSTD_CCtx, context_deleter> context(ZSTD_createCCtx());
    std::string frame(ZSTD_compressBound(raw.size()), '\0');
    frame.resize(checked(
        ZSTD_compressCCtx(context.get(), frame.data(), frame.size(), raw.data(), raw.size(), 1)));
    // Frames wait in memory for their commit, so free the worst-case buffer, which is as large as
    // the mail.
    frame.shrink_to_fit();
    return frame;
}

std::string decompress(std::string_view frame, std::size_t limit)
{
    const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > limit)
        throw std::runtime_error("zstd: not a frame that tells a size within the limit");
    std::string raw(static_cast<std::size_t>(size), '\0');
    if (checked(ZSTD_decompress(raw.data(), raw.size(), frame.data(), frame.size())) != raw.size())
        throw std::runtime_error("zstd: the frame is cut short");
    return raw;
}

} // namespace tempinbox::mailbox
