#pragma once

#include "common/core/time.hpp"
#include "mail-ingest/envelope/envelope.hpp"
#include "mailbox/ingest_repository.hpp"
#include "mime/view.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace tempinbox::mail_ingest {

// What `read` needs beside the message.
struct reading_facts
{
    smtp::envelope envelope;
    std::string remote_address;
    std::string hostname;
    time_point received_at;
    int max_hops = 50;
    mime::view_limits view;
};

struct read_mail
{
    bool is_looping = false;
    std::shared_ptr<mailbox::new_message> message;
};

// Reads a message once, for everything its rows need: summary, codes, links, digest, compressed
// body, and one delivery and event for each inbox. Pure but for the ids it generates; runs on any
// thread.
read_mail read(std::string_view raw, const reading_facts& facts);

} // namespace tempinbox::mail_ingest
