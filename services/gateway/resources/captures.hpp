#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/json/capture.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

// The logins of capture inboxes. The passwords are made here; only their digests leave.

// For the field `capture` of a new inbox: fails with the settings that lack where there are no
// captures.
result<void> check_captures(const capture_server& server);

awaitable<http::response> create_login(const http::request& received, const caller& who,
                                       inbox_client& inboxes, const capture_server& server);
awaitable<http::response> check_new_login(const http::request& received, const caller& who,
                                          inbox_client& inboxes, const capture_server& server);
awaitable<http::response> rotate_login(const http::request& received, const caller& who,
                                       inbox_client& inboxes, const capture_server& server);
awaitable<http::response> check_login_rotation(const http::request& received, const caller& who,
                                               inbox_client& inboxes, const capture_server& server);
awaitable<http::response> end_login(const http::request& received, const caller& who,
                                    inbox_client& inboxes);

} // namespace tempinbox::gateway
