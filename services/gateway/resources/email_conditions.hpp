#pragma once

#include "common/http/message.hpp"
#include "gateway/pipeline/query_reader.hpp"

#include "tempinbox/inbox/v1/email_search.pb.h"

#include <string>
#include <string_view>

namespace tempinbox::gateway {

// The filters of a request: what every operation takes that finds emails.
inbox::v1::EmailFilter read_conditions(query_reader& query);

// The value of a filter as the request has it; `field` as in a near miss.
std::string given_condition(const http::request& received, std::string_view field);

} // namespace tempinbox::gateway
