#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tempinbox {

// Why the API refuses a request, for programs: each has a word, which X-Error-Code carries and
// which keeps its meaning. The table in error_reason.cpp says what each means;
// docs/reference/errors.md, docs/openapi.yaml and the clients' constants are made of it
// (tools/generate/error_reasons.py).
enum class error_reason {
    none, // that of the status

    invalid_field,
    invalid_json,
    invalid_cursor,
    invalid_request,
    key_missing,
    key_invalid,
    key_conflict,
    key_in_url,
    plan_required,
    key_inactive,
    scope_required,
    inbox_limit,
    webhook_limit,
    rule_limit,
    key_limit,
    capture_limit,
    account_deleted,
    other_site,
    forbidden,
    not_found,
    inbox_ended,
    unknown_path,
    method_not_allowed,
    not_acceptable,
    request_timeout,
    address_taken,
    capture_exists,
    email_taken,
    idempotency_in_progress,
    webhook_in_use,
    webhook_disabled,
    delivery_in_progress,
    replay_in_progress,
    secret_limit,
    conflict,
    cursor_expired,
    cursor_reset,
    too_large,
    unsupported_type,
    idempotency_reused,
    daily_limit,
    burst,
    authentication_limit,
    wait_limit,
    stream_limit,
    manual_limit,
    idempotency_limit,
    rate_limited,
    head_too_large,
    internal,
    not_implemented,
    unavailable,
    busy,
    search_busy,
    timeout,
    version_not_supported
};

// The row of a reason.
struct error_reason_facts
{
    error_reason reason;
    std::string_view word; // snake_case
    unsigned status;       // of the response
    std::string_view cause;
    std::string_view remedy; // what its reader does
    bool is_of_v1 = true;    // false: no operation of /v1 answers it
};

// All but `none`, in the order of the enum.
const std::vector<error_reason_facts>& error_reasons();

// Empty for `none`.
std::string_view to_string(error_reason reason);
// `none` for a word that is not known: one of another release.
error_reason error_reason_of(std::string_view word);
// What an error of this status is called where nothing more is known.
error_reason error_reason_of_status(unsigned status);
// 500 for `none`.
unsigned status_of(error_reason reason);

} // namespace tempinbox
