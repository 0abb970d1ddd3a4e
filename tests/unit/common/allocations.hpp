#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEMPINBOX_COUNTS_ALLOCATIONS
#endif
#endif

#ifdef TEMPINBOX_COUNTS_ALLOCATIONS

#include <sanitizer/allocator_interface.h>

#include <cstddef>

namespace tempinbox::testing {

inline thread_local std::size_t counted_allocations = 0;

// How often this thread has allocated memory since it first asked. AddressSanitizer reports it, so
// only its builds can count; the macro says whether this is one.
inline std::size_t allocations()
{
    static const int installed = __sanitizer_install_malloc_and_free_hooks(
        [](const volatile void*, std::size_t) { ++counted_allocations; },
        [](const volatile void*) {});
    static_cast<void>(installed);
    return counted_allocations;
}

} // namespace tempinbox::testing

#endif
