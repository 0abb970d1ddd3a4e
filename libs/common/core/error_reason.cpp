#include "common/core/error_reason.hpp"

#include <algorithm>
#include <array>

namespace tempinbox {
namespace {

// tools/generate/error_reasons.py reads these rows: a word, a status, what happened, what to do.
constexpr std::array table{
    error_reason_facts{error_reason::invalid_field, "invalid_field", 400,
                       "A field or parameter is wrong; the message begins with its name.",
                       "Mend the field; the message says what is allowed."},
    error_reason_facts{error_reason::invalid_json, "invalid_json", 400,
                       "The body is no JSON object.",
                       "Send a JSON object; the message names line and column."},
    error_reason_facts{error_reason::invalid_cursor, "invalid_cursor", 400,
                       "The cursor is not of this list with these filters and this order.",
                       "Read the list from its first page, without a cursor, or, of events, "
                       "begin with `latest`."},
    error_reason_facts{error_reason::invalid_request, "invalid_request", 400,
                       "The request itself is malformed: its target, or a header.",
                       "Mend what the message names; this is often the HTTP client's fault."},
    error_reason_facts{error_reason::key_missing, "key_missing", 401, "The request has no API key.",
                       "Send the key in X-API-Key or as Authorization: Bearer."},
    error_reason_facts{error_reason::key_invalid, "key_invalid", 401,
                       "The API key is malformed, unknown, revoked or expired.",
                       "Make a key in the dashboard under Settings, API Keys."},
    error_reason_facts{error_reason::key_conflict, "key_conflict", 401,
                       "The request has two API keys.", "Send one key in one header."},
    error_reason_facts{error_reason::key_in_url, "key_in_url", 401,
                       "The API key is in the URL, which logs store.",
                       "Send it in a header, and revoke the one that was in the URL."},
    error_reason_facts{error_reason::plan_required, "plan_required", 403,
                       "The plan does not include this, or no further catch-all.",
                       "Choose a plan that does."},
    error_reason_facts{error_reason::key_inactive, "key_inactive", 403,
                       "The plan has no room for this key: older keys come first.",
                       "Use an older key, revoke one, or choose a larger plan."},
    error_reason_facts{error_reason::scope_required, "scope_required", 403,
                       "The API key lacks the scope that the message names.",
                       "Use a key with this scope."},
    error_reason_facts{error_reason::inbox_limit, "inbox_limit", 403,
                       "All live inboxes of the plan are used.",
                       "End an inbox with DELETE, or let one expire."},
    error_reason_facts{error_reason::webhook_limit, "webhook_limit", 403,
                       "All webhooks of the plan are used, or it has no place for this one.",
                       "Delete a webhook, or choose a larger plan."},
    error_reason_facts{error_reason::rule_limit, "rule_limit", 403,
                       "All routing rules of the plan are used.", "Delete a rule.", false},
    error_reason_facts{error_reason::key_limit, "key_limit", 403,
                       "All API keys of the plan are used.", "Revoke a key.", false},
    error_reason_facts{error_reason::capture_limit, "capture_limit", 403,
                       "The plan has no room for another inbox with a login.",
                       "End a login with DELETE, or choose a larger plan."},
    error_reason_facts{error_reason::account_deleted, "account_deleted", 403,
                       "The account was deleted.", "Use another account."},
    error_reason_facts{error_reason::other_site, "other_site", 403,
                       "A page of another site sent the request.",
                       "Call from a program, or from a page of this host.", false},
    error_reason_facts{error_reason::forbidden, "forbidden", 403, "The request is not allowed.",
                       "Read the message."},
    error_reason_facts{error_reason::not_found, "not_found", 404,
                       "The object does not exist for this key, or does not any more.",
                       "Check the id, and the account and tag of the key."},
    error_reason_facts{error_reason::inbox_ended, "inbox_ended", 404,
                       "The inbox has ended, and its mail is gone.",
                       "Make a new inbox; this one stays readable by its id for 30 days."},
    error_reason_facts{error_reason::unknown_path, "unknown_path", 404, "There is no such path.",
                       "Check the base address and the path."},
    error_reason_facts{error_reason::method_not_allowed, "method_not_allowed", 405,
                       "The path does not have this method.", "Use one that Allow names."},
    error_reason_facts{error_reason::not_acceptable, "not_acceptable", 406,
                       "Accept allows none of the forms there are.",
                       "Allow one that the message names."},
    error_reason_facts{error_reason::request_timeout, "request_timeout", 408,
                       "The request did not arrive in time.", "Send it again."},
    error_reason_facts{error_reason::address_taken, "address_taken", 409,
                       "The address is taken, reserved, or ended less than 30 days ago.",
                       "Choose another local part, or leave it out for a random one."},
    error_reason_facts{error_reason::capture_exists, "capture_exists", 409,
                       "The inbox has a login.", "Rotate its password for a new one."},
    error_reason_facts{error_reason::email_taken, "email_taken", 409,
                       "An account with this email address exists.", "Sign in to it.", false},
    error_reason_facts{error_reason::idempotency_in_progress, "idempotency_in_progress", 409,
                       "A request with this Idempotency-Key is under way.",
                       "Send it again after Retry-After."},
    error_reason_facts{error_reason::webhook_in_use, "webhook_in_use", 409,
                       "Routing rules name the webhook.",
                       "Delete the rules that the message names first."},
    error_reason_facts{error_reason::webhook_disabled, "webhook_disabled", 409,
                       "The webhook is switched off.", "PATCH it with isEnabled true first."},
    error_reason_facts{error_reason::delivery_in_progress, "delivery_in_progress", 409,
                       "The delivery is being sent, or is due.",
                       "Read the delivery by its id again in a moment."},
    error_reason_facts{error_reason::replay_in_progress, "replay_in_progress", 409,
                       "As many replays as there can be are under way.", "Wait for one to end."},
    error_reason_facts{error_reason::secret_limit, "secret_limit", 409,
                       "The webhook signs with as many secrets as it can have.",
                       "Rotate at the time that the message names."},
    error_reason_facts{error_reason::conflict, "conflict", 409,
                       "The request does not fit the object's state.", "Read the object again."},
    error_reason_facts{error_reason::cursor_expired, "cursor_expired", 410,
                       "Events behind the cursor are gone: older than 72 hours, or not recorded.",
                       "Go on after X-Resume-After; X-Missed-Events says how many are missing."},
    error_reason_facts{error_reason::cursor_reset, "cursor_reset", 410,
                       "The events were put back to an earlier moment than the cursor's.",
                       "Go on after X-Resume-After, and drop what you have by its eventId."},
    error_reason_facts{error_reason::too_large, "too_large", 413, "The body is too large.",
                       "Send at most 64 KiB."},
    error_reason_facts{error_reason::unsupported_type, "unsupported_type", 415,
                       "The body's Content-Type or Content-Encoding is not taken.",
                       "Send application/json, not compressed."},
    error_reason_facts{error_reason::idempotency_reused, "idempotency_reused", 422,
                       "The Idempotency-Key was used for another body.",
                       "Choose a new key for a new request."},
    error_reason_facts{error_reason::daily_limit, "daily_limit", 429,
                       "The plan's requests of the UTC day are used up.",
                       "Wait until X-RateLimit-Reset, or choose a larger plan."},
    error_reason_facts{
        error_reason::burst, "burst", 429,
        "The key sent more requests in a second than the plan allows, each inbox of a "
        "batch counted as one; this one did not count against the day.",
        "Send it again after Retry-After."},
    error_reason_facts{error_reason::authentication_limit, "authentication_limit", 429,
                       "Too many requests without a valid key came from this address.",
                       "Wait for Retry-After, with a valid key."},
    error_reason_facts{error_reason::wait_limit, "wait_limit", 429,
                       "Too many requests of the account wait for mail or events.",
                       "Wait for fewer inboxes at a time; try again after Retry-After."},
    error_reason_facts{error_reason::stream_limit, "stream_limit", 429,
                       "Too many streams of the account are open.", "Close one.", false},
    error_reason_facts{error_reason::manual_limit, "manual_limit", 429,
                       "Too many tests, retries or replays of webhooks were asked for.",
                       "Try again after Retry-After."},
    error_reason_facts{error_reason::idempotency_limit, "idempotency_limit", 429,
                       "The account has used all Idempotency-Keys of 24 hours.",
                       "Send the request without the key, or after Retry-After."},
    error_reason_facts{error_reason::rate_limited, "rate_limited", 429,
                       "Too many requests of this kind.", "Try again after Retry-After."},
    error_reason_facts{error_reason::head_too_large, "head_too_large", 431,
                       "The head of the request is larger than 16 KiB.", "Send shorter headers."},
    error_reason_facts{error_reason::internal, "internal", 500, "The service failed.",
                       "Try again; name X-Request-Id to the operator."},
    error_reason_facts{error_reason::not_implemented, "not_implemented", 501,
                       "The Transfer-Encoding is not known here.",
                       "Send Content-Length or chunked."},
    error_reason_facts{error_reason::unavailable, "unavailable", 503,
                       "A part of the service cannot be reached.",
                       "Try again after Retry-After; repeat a POST with its Idempotency-Key."},
    error_reason_facts{error_reason::busy, "busy", 503, "Too much of this kind is under way.",
                       "Try again after Retry-After."},
    error_reason_facts{error_reason::search_busy, "search_busy", 503,
                       "Other searches of text or headers are under way.",
                       "Try again after Retry-After; read the pages of an account one by one."},
    error_reason_facts{error_reason::timeout, "timeout", 504,
                       "A part of the service did not answer in time.", "Try again.", false},
    error_reason_facts{error_reason::version_not_supported, "version_not_supported", 505,
                       "The request is of another version than HTTP 1.1 or 1.0.", "Use HTTP/1.1."},
};

constexpr bool is_in_order()
{
    for (std::size_t i = 0; i < table.size(); ++i)
        if (static_cast<std::size_t>(table[i].reason) != i + 1)
            return false;
    return table.back().reason == error_reason::version_not_supported;
}
static_assert(is_in_order(), "a row is missing, or not in the order of the enum");

} // namespace

const std::vector<error_reason_facts>& error_reasons()
{
    static const std::vector<error_reason_facts> all(table.begin(), table.end());
    return all;
}

std::string_view to_string(error_reason reason)
{
    if (reason == error_reason::none)
        return {};
    return table[static_cast<std::size_t>(reason) - 1].word;
}

error_reason error_reason_of(std::string_view word)
{
    const auto found = std::find_if(table.begin(), table.end(), [word](const auto& candidate) {
        return candidate.word == word;
    });
    return found == table.end() ? error_reason::none : found->reason;
}

error_reason error_reason_of_status(unsigned status)
{
    switch (status) {
    case 400:
        return error_reason::invalid_request;
    case 401:
        return error_reason::key_invalid;
    case 403:
        return error_reason::forbidden;
    case 404:
        return error_reason::not_found;
    case 405:
        return error_reason::method_not_allowed;
    case 406:
        return error_reason::not_acceptable;
    case 408:
        return error_reason::request_timeout;
    case 409:
        return error_reason::conflict;
    case 410:
        return error_reason::cursor_expired;
    case 413:
        return error_reason::too_large;
    case 415:
        return error_reason::unsupported_type;
    case 422:
        return error_reason::idempotency_reused;
    case 429:
        return error_reason::rate_limited;
    case 431:
        return error_reason::head_too_large;
    case 501:
        return error_reason::not_implemented;
    case 503:
        return error_reason::unavailable;
    case 504:
        return error_reason::timeout;
    case 505:
        return error_reason::version_not_supported;
    default:
        return status < 500 ? error_reason::invalid_request : error_reason::internal;
    }
}

unsigned status_of(error_reason reason)
{
    return reason == error_reason::none ? 500 : table[static_cast<std::size_t>(reason) - 1].status;
}

} // namespace tempinbox
