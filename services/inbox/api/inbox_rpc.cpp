#include "inbox/api/inbox_rpc.hpp"

#include "common/rpc/inbox_methods.hpp"
#include "inbox/api/inbox_requests.hpp"
#include "inbox/api/messages.hpp"

namespace tempinbox::inbox {

inbox_rpc::inbox_rpc(runtime::host& host, mailbox::inbox_repository& inboxes,
                     mailbox::login_repository& logins, expiry& ending,
                     outbox::publisher& publisher, partition_maintenance& partitions,
                     renewal& renewals, mailbox::inbox_bounds bounds,
                     std::vector<std::string> reserved_subdomains)
    : clock_(host.clock()),
      inboxes_(inboxes),
      logins_(logins),
      expiry_(ending),
      publisher_(publisher),
      partitions_(partitions),
      renewal_(renewals),
      bounds_(bounds),
      reserved_subdomains_(std::move(reserved_subdomains)),
      creator_(host, inboxes, publisher, partitions)
{}

void inbox_rpc::add_to(rpc::server& server)
{
    server.add(inbox_methods::create_inbox, *this, &inbox_rpc::create);
    server.add(inbox_methods::get_inbox, *this, &inbox_rpc::get);
    server.add(inbox_methods::list_inboxes, *this, &inbox_rpc::list);
    server.add(inbox_methods::delete_inbox, *this, &inbox_rpc::remove);
    server.add(inbox_methods::delete_inboxes_by_tag, *this, &inbox_rpc::remove_tagged);
    server.add(inbox_methods::update_inbox, *this, &inbox_rpc::update);
    server.add(inbox_methods::count_inboxes, *this, &inbox_rpc::count);
    server.add(inbox_methods::check_tag, *this, &inbox_rpc::check_tag);
    server.add(inbox_methods::list_rejections, *this, &inbox_rpc::list_rejections);
    server.add(inbox_methods::create_login, *this, &inbox_rpc::create_login);
    server.add(inbox_methods::rotate_login, *this, &inbox_rpc::rotate_login);
    server.add(inbox_methods::end_login, *this, &inbox_rpc::end_login);
}

awaitable<result<v1::CreateInboxResponse>> inbox_rpc::create(v1::CreateInboxRequest request)
{
    auto parsed = read_new_inbox(request, reserved_subdomains_);
    if (!parsed)
        co_return parsed.error();
    if (request.check_only()) {
        const auto checked = co_await inboxes_.check(std::move(*parsed), clock_.now());
        if (!checked)
            co_return checked.error();
        co_return v1::CreateInboxResponse();
    }

    const auto created = co_await creator_.create(std::move(*parsed));
    if (!created)
        co_return created.error();
    v1::CreateInboxResponse response;
    *response.mutable_inbox() = to_message(*created, bounds_);
    co_return response;
}

awaitable<result<v1::GetInboxResponse>> inbox_rpc::get(v1::GetInboxRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, id] = *name;

    const auto found = co_await inboxes_.find(account, id);
    if (!found)
        co_return found.error();
    if (found->renews_on_use)
        renewal_.note_read(account, id);
    v1::GetInboxResponse response;
    *response.mutable_inbox() = to_message(*found, bounds_);
    co_return response;
}

awaitable<result<v1::ListInboxesResponse>> inbox_rpc::list(v1::ListInboxesRequest request)
{
    const auto owner = read_owner(request);
    if (!owner)
        co_return owner.error();
    const auto limit = read_limit(request.limit());
    if (!limit)
        co_return limit.error();
    auto filter = read_filter(request, *owner);
    if (!filter)
        co_return filter.error();

    const auto page =
        co_await inboxes_.list(owner->account, std::move(*filter), *limit, request.cursor(),
                               to_list_order(request.oldest_first()));
    if (!page)
        co_return page.error();
    v1::ListInboxesResponse response;
    for (const auto& inbox : page->items)
        *response.add_inboxes() = to_message(inbox, bounds_);
    response.set_next_cursor(page->next_cursor);
    co_return response;
}

awaitable<result<v1::DeleteInboxResponse>> inbox_rpc::remove(v1::DeleteInboxRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, id] = *name;

    const auto ended = co_await expiry_.end(account, id);
    if (!ended)
        co_return ended.error();
    co_return v1::DeleteInboxResponse();
}

awaitable<result<v1::DeleteInboxesByTagResponse>>
inbox_rpc::remove_tagged(v1::DeleteInboxesByTagRequest request)
{
    const auto owner = read_owner(request);
    if (!owner)
        co_return owner.error();
    const auto fits = inbox::check_tag(request.tag());
    if (!fits)
        co_return fits.error();

    const auto ended = co_await expiry_.end_tagged(owner->account, tags_of(request.tag(), *owner));
    v1::DeleteInboxesByTagResponse response;
    response.set_deleted(ended);
    co_return response;
}

awaitable<result<v1::UpdateInboxResponse>> inbox_rpc::update(v1::UpdateInboxRequest request)
{
    auto parsed = read_change(request);
    if (!parsed)
        co_return parsed.error();

    auto changed = co_await inboxes_.change(std::move(*parsed), clock_.now());
    if (!changed)
        co_return changed.error();
    partitions_.note_end(changed->inbox.expires_at);
    publisher_.publish(std::move(changed->events));
    v1::UpdateInboxResponse response;
    *response.mutable_inbox() = to_message(changed->inbox, bounds_);
    co_return response;
}

awaitable<result<v1::CheckTagResponse>> inbox_rpc::check_tag(v1::CheckTagRequest request)
{
    const auto owner = read_owner("", &request.tagged_account());
    if (!owner)
        co_return owner.error();
    if (!request.email_id().empty()) {
        const auto email = email_id::parse(request.email_id());
        if (!email)
            co_return email.error();
        const auto found = co_await inboxes_.check_tag(owner->account, *email, *owner->tag);
        if (!found)
            co_return found.error();
        co_return v1::CheckTagResponse();
    }

    const auto inbox = inbox_id::parse(request.inbox_id());
    if (!inbox)
        co_return inbox.error();
    const auto found = co_await inboxes_.check_tag(owner->account, *inbox, *owner->tag);
    if (!found)
        co_return found.error();
    co_return v1::CheckTagResponse();
}

awaitable<result<v1::CountInboxesResponse>> inbox_rpc::count(v1::CountInboxesRequest request)
{
    const auto owner = read_owner(request);
    if (!owner)
        co_return owner.error();

    const auto live = co_await inboxes_.count_live(owner->account, owner->tag);
    v1::CountInboxesResponse response;
    response.set_live_inboxes(live);
    co_return response;
}

awaitable<result<v1::ListRejectionsResponse>>
inbox_rpc::list_rejections(v1::ListRejectionsRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, id] = *name;

    const auto found = co_await inboxes_.list_rejections(account, id);
    if (!found)
        co_return found.error();
    v1::ListRejectionsResponse response;
    for (const auto& one : *found)
        *response.add_rejections() = to_message(one);
    co_return response;
}

awaitable<result<v1::CreateLoginResponse>> inbox_rpc::create_login(v1::CreateLoginRequest request)
{
    auto account = plans::from_proto(request.account());
    if (!account)
        co_return account.error();
    const auto inbox = inbox_id::parse(request.inbox_id());
    if (!inbox)
        co_return inbox.error();
    auto login = read_new_login(request.login());
    if (!login)
        co_return login.error();

    const auto created =
        co_await logins_.create(std::move(*account), *inbox, std::move(*login), clock_.now());
    if (!created)
        co_return created.error();
    v1::CreateLoginResponse response;
    *response.mutable_login() = to_message(*created);
    co_return response;
}

awaitable<result<v1::RotateLoginResponse>> inbox_rpc::rotate_login(v1::RotateLoginRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, id] = *name;
    auto rotation = read_rotation(request);
    if (!rotation)
        co_return rotation.error();

    const auto rotated = co_await logins_.rotate(account, id, std::move(*rotation));
    if (!rotated)
        co_return rotated.error();
    v1::RotateLoginResponse response;
    *response.mutable_login() = to_message(*rotated);
    co_return response;
}

awaitable<result<v1::EndLoginResponse>> inbox_rpc::end_login(v1::EndLoginRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, id] = *name;

    const auto ended = co_await logins_.end(account, id);
    if (!ended)
        co_return ended.error();
    co_return v1::EndLoginResponse();
}

} // namespace tempinbox::inbox
