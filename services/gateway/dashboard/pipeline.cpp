#include "gateway/dashboard/pipeline.hpp"

namespace tempinbox::gateway {

bool changes_something(const http::request& received)
{
    return received.method != "GET" && received.method != "HEAD";
}

} // namespace tempinbox::gateway
