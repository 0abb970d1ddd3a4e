#pragma once

#include "common/core/ids.hpp"
#include "common/core/secret.hpp"
#include "common/faults/step.hpp"
#include "mail-ingest/envelope/fault.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tempinbox::smtp {

// What a client gave as its login. The bytes are overwritten when it ends.
struct credentials
{
    std::string user;
    std::string password;
    std::string acts_as; // PLAIN's authorization identity; empty: the user's own

    credentials() = default;
    credentials(credentials&& other) noexcept { *this = std::move(other); }
    credentials& operator=(credentials&& other) noexcept
    {
        for (const auto part :
             {&credentials::user, &credentials::password, &credentials::acts_as}) {
            wipe(this->*part);
            (this->*part).swap(other.*part);
        }
        return *this;
    }
    ~credentials()
    {
        for (const auto part : {&credentials::user, &credentials::password, &credentials::acts_as})
            wipe(this->*part);
    }
};

// Who is logged in, and the one inbox that all mail of the session goes to.
struct login
{
    std::string user;
    std::string password_digest; // it is compared again at each MAIL: passwords are rotated
    account_id account;
    inbox_id inbox;
    std::uint64_t max_message_bytes = 0;
    faults::stage_set fault_stages = {}; // at which the inbox may play one
};

// The result of an attempt to log in.
enum class login_status {
    good,
    bad,               // one status for unknown, wrong, ended and revoked, which must look alike
    unavailable,       // it cannot be checked at present
    too_many_sessions, // good, but the login has as many sessions as it may
    too_many_failures  // not looked at: the client's address failed too often
};

struct login_result
{
    login_status status = login_status::unavailable;
    std::optional<smtp::login> login;  // if good; if bad, the one that the password is wrong for
    std::chrono::milliseconds wait{0}; // before the reply
    std::optional<smtp::fault> fault = {}; // that the inbox plays after a good login
};

// Whether a login may send another message.
enum class admission_status {
    admitted,
    ended,       // the login was revoked, rotated out, or ended with its inbox or plan
    over_rate,   // also after a wait
    unavailable, // it cannot be checked at present
};

struct admission_result
{
    admission_status status = admission_status::unavailable;
    std::uint64_t max_message_bytes = 0; // by the plan at present, if admitted
    faults::stage_set fault_stages = {};
    std::optional<smtp::fault> fault = {}; // that the inbox plays at MAIL
};

} // namespace tempinbox::smtp
