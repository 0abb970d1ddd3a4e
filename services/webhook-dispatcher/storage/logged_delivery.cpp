#include "webhook-dispatcher/storage/logged_delivery.hpp"

#include "common/core/text.hpp"

#include <stdexcept>

namespace tempinbox::webhooks {

std::string_view to_string(delivery_status status)
{
    switch (status) {
    case delivery_status::pending:
        return "pending";
    case delivery_status::succeeded:
        return "succeeded";
    case delivery_status::failed:
        return "failed";
    }
    return {};
}

result<delivery_status> parse_delivery_status(std::string_view text)
{
    for (const auto status :
         {delivery_status::pending, delivery_status::succeeded, delivery_status::failed})
        if (to_string(status) == text)
            return status;
    return failure{errc::invalid_argument,
                   "status must be one of pending, succeeded, failed, not " + quote(text)};
}

delivery_status status_of(std::string_view state)
{
    if (state == "pending")
        return delivery_status::pending;
    if (state == "succeeded")
        return delivery_status::succeeded;
    if (state == "exhausted" || state == "aborted" || state == "skipped_disabled")
        return delivery_status::failed;
    throw std::runtime_error("a stored delivery has the unknown state " + quote(state));
}

} // namespace tempinbox::webhooks
