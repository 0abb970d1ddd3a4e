#include "mail-ingest/ingest/in_flight_dedup.hpp"

namespace tempinbox::mail_ingest {
namespace {

// At most this many sessions with the same message are checked for whether their client is still
// there: each check is a system call.
constexpr int max_checked = 64;

} // namespace

in_flight_message::in_flight_message(in_flight_dedup& all, std::string digest, const sender& from)
    : all_(all),
      from_(&from),
      arrival_(++all.arrivals_),
      group_(all.by_digest_.try_emplace(std::move(digest)).first)
{
    auto& own = group_->second.by_session[from_];
    if (own.empty())
        group_->second.oldest.emplace(arrival_, this);
    own.emplace(arrival_, this);
}

in_flight_message::~in_flight_message()
{
    if (from_)
        leave_session();
    else
        group_->second.lost.erase(arrival_);
    if (group_->second.lost.empty() && group_->second.by_session.empty())
        all_.by_digest_.erase(group_);
    for (const auto& one : waiters_)
        one->set();
}

void in_flight_message::lose_sender()
{
    if (!from_)
        return;
    leave_session();
    from_ = nullptr;
    group_->second.lost.emplace(arrival_, this);
}

void in_flight_message::leave_session()
{
    auto& group = group_->second;
    const auto own = group.by_session.find(from_);
    own->second.erase(arrival_);
    const bool was_oldest = group.oldest.erase(arrival_) > 0;
    if (own->second.empty())
        group.by_session.erase(own);
    else if (was_oldest)
        group.oldest.insert(*own->second.begin());
}

std::shared_ptr<in_flight_message> in_flight_dedup::begin(std::string digest, const sender& from)
{
    return std::make_shared<in_flight_message>(*this, std::move(digest), from);
}

awaitable<bool> in_flight_dedup::wait_for_earlier(const in_flight_message& mail,
                                                  std::chrono::steady_clock::time_point deadline)
{
    while (auto* const earlier = find_earlier(mail)) {
        const auto decided = std::make_shared<async::reset_event>(host_.executor());
        earlier->waiters_.insert(decided);
        if (!co_await decided->wait_until(deadline)) {
            earlier->waiters_.erase(decided);
            co_return false;
        }
    }
    co_return true;
}

// Looks only at earlier messages, so that two never wait for each other, and not at those of the
// same session, which goes on with this one. A hang-up concerns a whole session, so its oldest
// message stands for all.
in_flight_message* in_flight_dedup::find_earlier(const in_flight_message& mail) const
{
    const auto& group = mail.group_->second;
    if (!group.lost.empty()) {
        ++examined_;
        const auto& [arrival, lost] = *group.lost.begin();
        if (arrival < mail.arrival_)
            return lost;
    }
    int checked = 0;
    for (const auto& [arrival, oldest] : group.oldest) {
        ++examined_;
        if (arrival >= mail.arrival_ || checked == max_checked)
            return nullptr;
        if (oldest->from_ == mail.from_)
            continue;
        ++checked;
        if (oldest->from_->has_hung_up())
            return oldest;
    }
    return nullptr;
}

} // namespace tempinbox::mail_ingest
