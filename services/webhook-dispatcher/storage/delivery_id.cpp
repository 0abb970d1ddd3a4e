#include "webhook-dispatcher/storage/delivery_id.hpp"

namespace tempinbox::webhooks {
namespace {

// Mixing twice gives back what was mixed. RFC 9562 5.7: the time (bytes 0 to 5), the version and
// the variant stay.
uuid mix(const uuid& id, const uuid& with)
{
    auto bytes = id.bytes();
    const auto& other = with.bytes();
    bytes[6] = static_cast<std::uint8_t>(bytes[6] ^ (other[6] & 0x0f));
    bytes[7] = static_cast<std::uint8_t>(bytes[7] ^ other[7]);
    bytes[8] = static_cast<std::uint8_t>(bytes[8] ^ (other[8] & 0x3f));
    for (std::size_t i = 9; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(bytes[i] ^ other[i]);
    return uuid{bytes};
}

} // namespace

uuid make_delivery_id(event_id event, webhook_id webhook)
{
    return mix(event.value(), webhook.value());
}

event_id event_of(const uuid& delivery, webhook_id webhook)
{
    return event_id{mix(delivery, webhook.value())};
}

failure no_such_delivery(event_id event, webhook_id webhook)
{
    return failure{errc::not_found,
                   "Delivery " + make_delivery_id(event, webhook).text() + " does not exist"};
}

} // namespace tempinbox::webhooks
