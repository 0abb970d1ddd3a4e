#include "common/core/exception_text.hpp"

namespace tempinbox {

std::string text_of(const std::exception_ptr& error)
{
    // The one way to read an exception that is held by a pointer.
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& caught) {
        std::string text = caught.what();
        while (!text.empty() && text.back() == '\n')
            text.pop_back();
        return text;
    } catch (...) {
        return "unknown exception";
    }
}

} // namespace tempinbox
