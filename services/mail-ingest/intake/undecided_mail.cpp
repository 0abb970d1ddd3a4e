#include "mail-ingest/intake/undecided_mail.hpp"

namespace tempinbox::mail_ingest {
namespace {

// Of so many sessions that have the same message it is asked whether their clients are still there: each is a call of the kernel.
constexpr int most_asked = 64;

} // namespace

undecided_mail::undecided_mail(undecided_mails& all, std::string digest, const sender& from)
    : all_(all),
      digest_(std::move(digest)),
      from_(&from),
      place_(all_.by_digest_.emplace(digest_, this))
{}

undecided_mail::~undecided_mail()
{
    all_.by_digest_.erase(place_);
    for (const auto& one : waiting_)
        one->set();
}

std::shared_ptr<undecided_mail> undecided_mails::begin(std::string digest, const sender& from)
{
    return std::make_shared<undecided_mail>(*this, std::move(digest), from);
}

awaitable<bool> undecided_mails::wait_for_earlier(const undecided_mail& mail, std::chrono::steady_clock::time_point deadline)
{
    while (auto* const earlier = find_earlier(mail)) {
        const auto decided = std::make_shared<runtime::completion>(host_.executor());
        earlier->waiting_.push_back(decided);
        if (!co_await decided->wait_until(deadline)) {
            std::erase(earlier->waiting_, decided);
            co_return false;
        }
    }
    co_return true;
}

// Only among those before it, so that two never wait for each other; nor of its own session, which goes on with this one.
undecided_mail* undecided_mails::find_earlier(const undecided_mail& mail) const
{
    int asked = 0;
    for (auto at = by_digest_.lower_bound(mail.digest_); at != by_digest_.end() && at->second != &mail; ++at) {
        const auto* const from = at->second->from_;
        if (from == mail.from_)
            continue;
        if (from == nullptr || (++asked <= most_asked && from->has_hung_up()))
            return at->second;
    }
    return nullptr;
}

} // namespace tempinbox::mail_ingest
