#include "webhook-dispatcher/storage/delivery.hpp"

namespace tempinbox::webhooks {

std::string_view to_string(delivery_outcome::state state)
{
    switch (state) {
    case delivery_outcome::state::waiting:
        return "waiting";
    case delivery_outcome::state::succeeded:
        return "succeeded";
    case delivery_outcome::state::exhausted:
        return "exhausted";
    case delivery_outcome::state::aborted:
        return "aborted";
    case delivery_outcome::state::skipped_disabled:
        return "skipped_disabled";
    case delivery_outcome::state::dropped:
        return "dropped";
    }
    return {};
}

} // namespace tempinbox::webhooks
