#pragma once

#include <string_view>

namespace tempinbox::smtp::replies {

// Every fixed reply, without its CRLF; codes per RFC 5321 4.2 and RFC 3463. When each is sent:
// docs/reference/smtp-replies.md.
inline constexpr std::string_view ok = "250 2.0.0 Ok";
inline constexpr std::string_view sender_ok = "250 2.1.0 Sender ok";
inline constexpr std::string_view recipient_ok = "250 2.1.5 Recipient ok";
inline constexpr std::string_view chunk_ok = "250 2.0.0 Chunk ok";
inline constexpr std::string_view start_mail = "354 End data with <CR><LF>.<CR><LF>";
inline constexpr std::string_view start_tls = "220 2.0.0 Ready to start TLS";
inline constexpr std::string_view bye = "221 2.0.0 Bye";
inline constexpr std::string_view logged_in = "235 2.7.0 Authentication successful";
// RFC 4954 4: the text of a 334 is base64. PLAIN has no challenge, yet a blank must follow the
// code.
inline constexpr std::string_view ask_credentials = "334 ";
inline constexpr std::string_view ask_user = "334 VXNlcm5hbWU6";     // Username:
inline constexpr std::string_view ask_password = "334 UGFzc3dvcmQ6"; // Password:
inline constexpr std::string_view help = "214 2.0.0 See RFC 5321";
inline constexpr std::string_view vrfy = "252 2.5.0 Cannot verify; send some mail and see";

inline constexpr std::string_view too_many_connections =
    "421 4.3.2 Too many connections, try again later";
inline constexpr std::string_view too_many_from_address =
    "421 4.7.0 Too many connections from your address";
inline constexpr std::string_view database_away =
    "421 4.3.2 Service not available, try again later";
inline constexpr std::string_view shutting_down = "421 4.3.2 Service shutting down";
inline constexpr std::string_view timed_out = "421 4.4.2 Timeout, closing connection";
inline constexpr std::string_view too_many_errors = "421 4.7.0 Too many errors";
inline constexpr std::string_view too_many_unknown = "421 4.7.0 Too many unknown recipients";
inline constexpr std::string_view too_many_messages =
    "421 4.7.0 Too many messages on one connection";
inline constexpr std::string_view too_many_sessions =
    "421 4.7.0 Too many connections of this login";
inline constexpr std::string_view too_many_failed_logins = "421 4.7.0 Too many failed logins";
inline constexpr std::string_view login_ended = "421 4.7.0 Login is no longer valid";

inline constexpr std::string_view over_rate = "450 4.2.1 Mailbox receives too much mail just now";
inline constexpr std::string_view sender_over_rate =
    "450 4.7.1 Too many messages from your address, try again later";
inline constexpr std::string_view unavailable = "451 4.3.0 Temporary failure, try again later";
// The oldest mail of the inbox is about to go.
inline constexpr std::string_view mailbox_full_for_now =
    "452 4.2.2 Mailbox is full, try again later";
inline constexpr std::string_view out_of_memory =
    "452 4.3.1 Insufficient system storage, try again later";
inline constexpr std::string_view too_many_recipients = "452 4.5.3 Too many recipients";
inline constexpr std::string_view other_size_limit =
    "452 4.5.3 Send this recipient's copy separately";

inline constexpr std::string_view login_unavailable = "454 4.7.0 Temporary authentication failure";

inline constexpr std::string_view unknown_command = "500 5.5.2 Unknown command";
inline constexpr std::string_view line_too_long = "500 5.5.2 Line too long";
inline constexpr std::string_view bad_line = "500 5.5.2 Lines must be plain text and end with CRLF";
inline constexpr std::string_view exchange_too_long =
    "500 5.5.6 Authentication exchange line is too long";
inline constexpr std::string_view bad_arguments = "501 5.5.4 Syntax error in arguments";
inline constexpr std::string_view bad_sender = "501 5.1.7 Bad sender address syntax";
inline constexpr std::string_view bad_recipient = "501 5.1.3 Bad recipient address syntax";
inline constexpr std::string_view bad_response = "501 5.5.2 Cannot decode response";
inline constexpr std::string_view cancelled = "501 5.7.0 Authentication cancelled";
inline constexpr std::string_view not_served = "502 5.5.1 Command not implemented";
inline constexpr std::string_view say_hello_first = "503 5.5.1 Send EHLO first";
inline constexpr std::string_view nested_mail = "503 5.5.1 Transaction already under way";
inline constexpr std::string_view need_mail = "503 5.5.1 Send MAIL first";
inline constexpr std::string_view need_recipient = "503 5.5.1 Send RCPT first";
inline constexpr std::string_view in_chunks = "503 5.5.1 Message is being sent in chunks";
inline constexpr std::string_view tls_already = "503 5.5.1 TLS is already active";
inline constexpr std::string_view logged_in_already = "503 5.5.1 Already logged in";
inline constexpr std::string_view unknown_mechanism = "504 5.5.4 Unrecognized authentication type";
inline constexpr std::string_view not_smtp = "521 5.5.1 This is an SMTP server";
inline constexpr std::string_view needs_tls = "530 5.7.0 Must issue a STARTTLS command first";
inline constexpr std::string_view needs_login = "530 5.7.0 Authentication required";
// The same text for a wrong password and for every login that is not or no longer there.
inline constexpr std::string_view bad_login = "535 5.7.8 Authentication credentials invalid";
// RFC 5321 4.2.3: the same text for never known, expired and deleted, so that they look alike.
inline constexpr std::string_view unknown_recipient = "550 5.1.1 No such mailbox here";
inline constexpr std::string_view mailbox_full = "550 5.2.2 Mailbox is full";
// 550, since RFC 5321 4.5.3.1.10 has clients treat 552 at RCPT as temporary.
inline constexpr std::string_view too_large_for_recipient =
    "550 5.3.4 Message is too large for this mailbox";
inline constexpr std::string_view bare_newline = "550 5.5.2 Message has a bare CR or LF";
inline constexpr std::string_view relaying_denied = "550 5.7.1 Relaying denied";
inline constexpr std::string_view too_large = "552 5.3.4 Message is too large";
inline constexpr std::string_view needs_smtputf8 = "553 5.6.7 Address needs SMTPUTF8";
inline constexpr std::string_view no_valid_recipients = "554 5.5.1 No valid recipients";
inline constexpr std::string_view out_of_turn = "554 5.5.0 Client must wait for the reply";
inline constexpr std::string_view not_for_network = "554 5.7.1 No service for your network";
inline constexpr std::string_view looping = "554 5.4.6 Too many hops, or a loop";
inline constexpr std::string_view unstorable = "554 5.6.0 Message cannot be stored";
inline constexpr std::string_view bad_parameter = "555 5.5.4 Unknown or malformed parameter";

} // namespace tempinbox::smtp::replies
