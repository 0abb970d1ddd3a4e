#include "mail-ingest/intake/undecided_mail.hpp"

namespace tempinbox::mail_ingest {
namespace {

// Of so many sessions that have the same message it is asked whether their clients are still there:
// each is a call of the kernel.
constexpr int most_asked = 64;

} // namespace

undecided_mail::undecided_mail(undecided_mails& all, std::string digest, const sender& from)
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

undecided_mail::~undecided_mail()
{
    if (from_)
        leave_session();
    else
        group_->second.lost.erase(arrival_);
    if (group_->second.lost.empty() && group_->second.by_session.empty())
        all_.by_digest_.erase(group_);
    for (const auto& one : waiting_)
        one->set();
}

void undecided_mail::lose_sender()
{
    if (!from_)
        return;
    leave_session();
    from_ = nullptr;
    group_->second.lost.emplace(arrival_, this);
}

void undecided_mail::leave_session()
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

std::shared_ptr<undecided_mail> undecided_mails::begin(std::string digest, const sender& from)
{
    return std::make_shared<undecided_mail>(*this, std::move(digest), from);
}

awaitable<bool> undecided_mails::wait_for_earlier(const undecided_mail& mail,
                                                  std::chrono::steady_clock::time_point deadline)
{
    while (auto* const earlier = find_earlier(mail)) {
        const auto decided = std::make_shared<runtime::completion>(host_.executor());
        earlier->waiting_.insert(decided);
        if (!co_await decided->wait_until(deadline)) {
            earlier->waiting_.erase(decided);
            co_return false;
        }
    }
    co_return true;
}

// Only among those before it, so that two never wait for each other; nor of its own session, which
// goes on with this one. A session has hung up or not, whichever of its messages is asked for: its
// oldest stands for all.
undecided_mail* undecided_mails::find_earlier(const undecided_mail& mail) const
{
    const auto& group = mail.group_->second;
    if (!group.lost.empty()) {
        ++looked_at_;
        const auto& [arrival, lost] = *group.lost.begin();
        if (arrival < mail.arrival_)
            return lost;
    }
    int asked = 0;
    for (const auto& [arrival, oldest] : group.oldest) {
        ++looked_at_;
        if (arrival >= mail.arrival_ || asked == most_asked)
            return nullptr;
        if (oldest->from_ == mail.from_)
            continue;
        ++asked;
        if (oldest->from_->has_hung_up())
            return oldest;
    }
    return nullptr;
}

} // namespace tempinbox::mail_ingest
