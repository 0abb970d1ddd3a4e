#pragma once

#include "gateway/api/caller.hpp"
#include "gateway/dashboard_api/mail_feed.hpp"
#include "gateway/dashboard_api/session_opener.hpp"

namespace tempinbox::gateway {

awaitable<http::response> stream_events(const http::request& received, const caller& who,
                                        mail_feed& feed, const session_opener& opener);

} // namespace tempinbox::gateway
