#include "common/runtime/host.hpp"

#include "common/core/encoding.hpp"
#include "common/core/version.hpp"

#include <sodium.h>

namespace tempinbox::runtime {
namespace {

std::string random_instance()
{
    // Idempotent; whatever the process does next may need random bytes.
    if (sodium_init() < 0)
        throw std::runtime_error("libsodium cannot be initialized");
    std::array<char, 8> bytes;
    randombytes_buf(bytes.data(), bytes.size());
    return to_hex({bytes.data(), bytes.size()});
}

} // namespace

host::host(std::string name, process_settings chosen)
    : name_(std::move(name)),
      instance_(random_instance()),
      settings_(std::move(chosen))
{
    metrics_
        .gauge("tempinbox_build_info", "Always 1",
               {{"service", name_}, {"version", std::string(version())}})
        .Set(1);
}

} // namespace tempinbox::runtime
