#include "inbox/api/search_rpc.hpp"

#include "common/rpc/inbox_methods.hpp"
#include "inbox/api/inbox_requests.hpp"

#include <algorithm>

namespace tempinbox::inbox {
namespace {

constexpr int max_searches = 100;
constexpr int max_matches_of_search = 100;

result<mailbox::email_search> read_search(const v1::EmailSearch& message)
{
    mailbox::email_search search;
    search.after = message.after();
    auto filter = read_filter(message.filter());
    if (!filter)
        return filter.error();
    search.filter = std::move(*filter);
    const int max_matches = std::max(message.max_matches(), 1);
    if (const auto fits = check_count("max_matches", max_matches, max_matches_of_search); !fits)
        return fits.error();
    search.max_matches = static_cast<std::size_t>(max_matches);
    return search;
}

void put_result(v1::EmailSearchResult& message, const mailbox::search_result& found_result)
{
    for (const auto& email : found_result.emails)
        message.add_email_ids(email.text());
    message.set_searched_to(found_result.searched_to);
    for (const auto& miss : found_result.near_misses) {
        auto& added = *message.add_near_misses();
        added.set_email_id(miss.email.text());
        added.set_sequence(miss.sequence);
        added.set_field(std::string(to_string(miss.field)));
        added.set_actual(miss.actual);
    }
}

} // namespace

void search_rpc::add_to(rpc::server& server)
{
    server.add(inbox_methods::find_first_emails, *this, &search_rpc::find_first);
    server.add(inbox_methods::get_last_sequences, *this, &search_rpc::last_sequences);
}

awaitable<result<v1::FindFirstEmailsResponse>>
search_rpc::find_first(v1::FindFirstEmailsRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, inbox] = *name;
    if (const auto fits = check_count("searches", request.searches_size(), max_searches); !fits)
        co_return fits.error();
    std::vector<mailbox::email_search> searches;
    for (const auto& message : request.searches()) {
        auto search = read_search(message);
        if (!search)
            co_return search.error();
        searches.push_back(std::move(*search));
    }

    renewal_.note_read(account, inbox);
    const auto found = co_await search_.find_first(account, inbox, std::move(searches));
    if (!found)
        co_return found.error();
    v1::FindFirstEmailsResponse response;
    response.set_last_sequence(found->last_sequence);
    for (const auto& found_result : found->results)
        put_result(*response.add_results(), found_result);
    co_return response;
}

awaitable<result<v1::GetLastSequencesResponse>>
search_rpc::last_sequences(v1::GetLastSequencesRequest request)
{
    auto inboxes = read_inbox_names(request.inboxes());
    if (!inboxes)
        co_return inboxes.error();

    const auto sequences = co_await emails_.last_sequences(std::move(*inboxes));
    v1::GetLastSequencesResponse response;
    response.mutable_last_sequences()->Assign(sequences.begin(), sequences.end());
    co_return response;
}

} // namespace tempinbox::inbox
