#pragma once

#include "mailbox/inbox_store.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// Requests as read and checked; failures name the field, what was given and what is allowed.
result<mailbox::new_inbox> read_new_inbox(const v1::CreateInboxRequest& request);
result<mailbox::inbox_filter> read_filter(const v1::ListInboxesRequest& request);

// 1–100; 0 stands for 25.
result<int> read_limit(int given);

} // namespace tempinbox::inbox
