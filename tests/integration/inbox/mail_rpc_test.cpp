#include "integration/inbox/running_service.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::inbox;

namespace {

const std::string message =
    "From: Ann <ann@example.org>\r\nSubject: hi\r\nMIME-Version: 1.0\r\n"
    "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nthe text\r\n--b\r\n"
    "Content-Type: text/csv\r\nContent-Disposition: attachment; "
    "filename=list.csv\r\n\r\na,b\r\n--b--\r\n";

// The service with an account, its inbox and emails in it.
struct mailed_service : running_service
{
    std::string account = account_id::make().text();
    v1::Inbox inbox;

    mailed_service()
    {
        add_domain();
        inbox = create(account).value().inbox();
    }

    std::string add_email(const std::string& raw)
    {
        return running_service::add_email(account, inbox, raw);
    }

    template <class Request>
    Request about(const std::string& email)
    {
        Request request;
        request.set_account_id(account);
        request.set_email_id(email);
        return request;
    }
};

} // namespace

TEST_CASE("a list gives texts where they are asked for, and all inboxes where none is named",
          "[inbox][postgres][kafka]")
{
    mailed_service running;
    running.add_email(message);
    v1::ListEmailsRequest request;
    request.set_account_id(running.account);
    request.mutable_filter()->set_from("ANN@");

    const auto plain = running.call<v1::ListEmailsResponse>("ListEmails", request).value();
    request.set_include_text(true);
    request.set_inbox_id(running.inbox.inbox_id());
    const auto with_text = running.call<v1::ListEmailsResponse>("ListEmails", request).value();
    request.mutable_filter()->set_from("");
    const auto refused = running.call<v1::ListEmailsResponse>("ListEmails", request);

    REQUIRE(plain.emails_size() == 1);
    CHECK_FALSE(plain.emails(0).has_text());
    REQUIRE(with_text.emails_size() == 1);
    CHECK(with_text.emails(0).text() == "the text");
    CHECK(refused.error().code == errc::invalid_argument);
}

TEST_CASE("a list gives links where they are asked for, left out if they are too large",
          "[inbox][postgres][kafka]")
{
    mailed_service running;
    running.add_email(message);
    v1::ListEmailsRequest request;
    request.set_account_id(running.account);

    const auto plain = running.call<v1::ListEmailsResponse>("ListEmails", request).value();
    request.set_include_links(true);
    request.set_most_bytes(10);
    const auto left_out = running.call<v1::ListEmailsResponse>("ListEmails", request).value();
    request.set_include_text(true);
    const auto both_left_out = running.call<v1::ListEmailsResponse>("ListEmails", request).value();
    request.set_most_bytes(1'000);
    const auto both = running.call<v1::ListEmailsResponse>("ListEmails", request).value();

    CHECK_FALSE(plain.emails(0).has_links());
    CHECK_FALSE(left_out.emails(0).has_links());
    CHECK(left_out.omitted_bytes() > 10);
    CHECK_FALSE(both_left_out.emails(0).has_text());
    CHECK(both_left_out.omitted_bytes() > left_out.omitted_bytes());
    CHECK(both.omitted_bytes() == 0);
    CHECK(both.emails(0).text() == "the text");
    REQUIRE(both.emails(0).links().links_size() == 1);
    CHECK(both.emails(0).links().links(0).kind() == "verify");
}

TEST_CASE("a page of emails with large links ends early, and the next one has the rest",
          "[inbox][postgres][kafka]")
{
    mailed_service running;
    for (int i = 0; i < 12; ++i)
        running.add_email(message);
    running.scratch.execute(
        "UPDATE mailbox.emails SET links = (SELECT jsonb_agg(jsonb_build_object('url', "
        "repeat('u', 4096), 'text', '', 'kind', 'other')) FROM generate_series(1, 200))");
    v1::ListEmailsRequest request;
    request.set_account_id(running.account);
    request.set_inbox_id(running.inbox.inbox_id());
    request.set_include_links(true);

    const auto first = running.call<v1::ListEmailsResponse>("ListEmails", request).value();
    request.set_cursor(first.next_cursor());
    const auto second = running.call<v1::ListEmailsResponse>("ListEmails", request).value();

    CHECK(first.emails_size() == 10); // of 820 KB each
    CHECK(first.emails(9).links().links_size() == 200);
    REQUIRE(second.emails_size() == 2);
    CHECK(second.emails(0).sequence() == 2);
    CHECK(second.next_cursor().empty());
}

TEST_CASE("texts larger than the limit are left out, and their size is reported",
          "[inbox][postgres][kafka]")
{
    mailed_service running;
    const auto id = running.add_email(message);
    auto request = running.about<v1::GetEmailRequest>(id);
    request.set_most_bytes(3);
    v1::ListEmailsRequest list;
    list.set_account_id(request.account_id());
    list.set_include_text(true);
    list.set_most_bytes(3);

    const auto email = running.call<v1::GetEmailResponse>("GetEmail", request).value();
    request.set_most_bytes(1'000);
    const auto whole = running.call<v1::GetEmailResponse>("GetEmail", request).value();
    const auto page = running.call<v1::ListEmailsResponse>("ListEmails", list).value();
    list.set_most_bytes(1'000);
    const auto whole_page = running.call<v1::ListEmailsResponse>("ListEmails", list).value();

    CHECK_FALSE(email.email().has_text());
    CHECK_FALSE(email.email().has_html());
    CHECK(email.email().attachments_size() == 1);
    CHECK(email.omitted_bytes() ==
          static_cast<std::int64_t>(whole.email().text().size() + whole.email().html().size()));
    CHECK(whole.email().text() == "the text");
    CHECK(whole.omitted_bytes() == 0);
    REQUIRE(page.emails_size() == 1);
    CHECK_FALSE(page.emails(0).has_text());
    CHECK(page.omitted_bytes() == 8);
    CHECK(whole_page.emails(0).text() == "the text");
    CHECK(whole_page.omitted_bytes() == 0);
}

TEST_CASE("a large message is not read for a call that would leave its texts out",
          "[inbox][postgres][kafka]")
{
    mailed_service running;
    const auto id = running.add_email("\r\n" + std::string(1024 * 1024, 'x'));
    auto request = running.about<v1::GetEmailRequest>(id);
    request.set_most_bytes(64 * 1024);
    v1::ListEmailsRequest list;
    list.set_account_id(request.account_id());
    list.set_include_text(true);
    list.set_most_bytes(request.most_bytes());

    const auto left_out = running.call<v1::GetEmailResponse>("GetEmail", request).value();
    const auto page = running.call<v1::ListEmailsResponse>("ListEmails", list).value();
    request.set_most_bytes(0);
    const auto whole = running.call<v1::GetEmailResponse>("GetEmail", request).value();

    CHECK_FALSE(left_out.has_email());
    CHECK(left_out.omitted_bytes() == 1024 * 1024 + 2);
    CHECK(page.omitted_bytes() == 1024 * 1024 + 2);
    CHECK(whole.email().text().size() == 1024 * 1024);
    CHECK(whole.omitted_bytes() == 0);
}

TEST_CASE("a message is given out with its trace, a larger one than wanted without its bytes",
          "[inbox][postgres][kafka]")
{
    mailed_service running;
    auto request = running.about<v1::GetRawEmailRequest>(running.add_email(message));

    const auto whole = running.call<v1::GetRawEmailResponse>("GetRawEmail", request).value();
    request.set_most_bytes(10);
    const auto size = running.call<v1::GetRawEmailResponse>("GetRawEmail", request).value();

    CHECK(whole.raw() == message);
    CHECK(whole.trace().starts_with(
        "Return-Path: <bounce@example.org>\r\nReceived: from mx.example.org"));
    CHECK_FALSE(size.has_raw());
    CHECK(size.size_bytes() == static_cast<std::int64_t>(message.size()));
}

TEST_CASE("an attachment is given out decoded, or only described", "[inbox][postgres][kafka]")
{
    mailed_service running;
    const auto id = running.add_email(message);
    const auto email =
        running.call<v1::GetEmailResponse>("GetEmail", running.about<v1::GetEmailRequest>(id))
            .value()
            .email();
    REQUIRE(email.attachments_size() == 1);
    auto request = running.about<v1::GetAttachmentRequest>(id);
    request.set_attachment_id(email.attachments(0).attachment_id());

    const auto whole = running.call<v1::GetAttachmentResponse>("GetAttachment", request).value();
    request.set_most_bytes(1);
    const auto described =
        running.call<v1::GetAttachmentResponse>("GetAttachment", request).value();
    request.set_attachment_id("99");
    const auto absent = running.call<v1::GetAttachmentResponse>("GetAttachment", request);

    CHECK(whole.content().starts_with("a,b"));
    CHECK(whole.attachment().filename() == "list.csv");
    CHECK_FALSE(described.has_content());
    CHECK(described.attachment().size_bytes() == static_cast<std::int64_t>(whole.content().size()));
    CHECK(absent.error().code == errc::not_found);
}

TEST_CASE("an inbox of more emails than a batch is emptied by one call", "[inbox][postgres][kafka]")
{
    mailed_service running;
    mailbox::seeds::store_emails(running.mail, running.as_stored(running.account, running.inbox),
                                 1'200);
    v1::EmptyInboxRequest request;
    request.set_account_id(running.account);
    request.set_inbox_id(running.inbox.inbox_id());

    const auto emptied = running.call<v1::EmptyInboxResponse>("EmptyInbox", request).value();

    CHECK(emptied.deleted_emails() == 1'200);
    CHECK(running.scratch.execute("SELECT 1 FROM mailbox.emails").empty());
    CHECK(running.scratch.execute("SELECT 1 FROM mailbox.bodies").empty());
}

TEST_CASE("inboxes ended by their tag each have their event", "[inbox][postgres][kafka]")
{
    mailed_service running;
    v1::UpdateInboxRequest tagging;
    tagging.mutable_account()->set_account_id(running.account);
    tagging.mutable_account()->set_version(1);
    tagging.set_inbox_id(running.inbox.inbox_id());
    tagging.mutable_tags()->add_tags("run 7");
    v1::DeleteInboxesByTagRequest ending;
    ending.set_account_id(running.account);
    ending.set_tag("run 7");

    const auto tagged = running.call<v1::UpdateInboxResponse>("UpdateInbox", tagging).value();
    const auto ended =
        running.call<v1::DeleteInboxesByTagResponse>("DeleteInboxesByTag", ending).value();

    CHECK(tagged.inbox().tags_size() == 1);
    CHECK(ended.deleted() == 1);
    CHECK(running.wait_for("inbox.expired", running.inbox.inbox_id()) != nullptr);
}

TEST_CASE("an account with a tag has only inboxes with the tag, their emails and their counts",
          "[inbox][postgres][kafka][key-access]")
{
    mailed_service running;
    running.add_email(message);
    const auto ours = running.create(running.account, {"ci", "a"}).value().inbox();
    const auto email =
        static_cast<running_service&>(running).add_email(running.account, ours, message);
    const auto narrow = [&](auto request) {
        request.mutable_tagged_account()->set_account_id(running.account);
        request.mutable_tagged_account()->set_tag("ci");
        return request;
    };
    auto about_ours = narrow(v1::CheckTagRequest());
    about_ours.set_inbox_id(ours.inbox_id());
    auto about_theirs = narrow(v1::CheckTagRequest());
    about_theirs.set_inbox_id(running.inbox.inbox_id());
    auto about_email = narrow(v1::CheckTagRequest());
    about_email.set_email_id(email);
    auto of_days = narrow(v1::CountEmailsRequest());
    of_days.set_days(1);
    auto ending = narrow(v1::DeleteInboxesByTagRequest());
    ending.set_tag("a");
    auto of_one_inbox = narrow(v1::ListEmailsRequest());
    of_one_inbox.set_inbox_id(ours.inbox_id());

    const auto inboxes =
        running.call<v1::ListInboxesResponse>("ListInboxes", narrow(v1::ListInboxesRequest()));
    const auto emails =
        running.call<v1::ListEmailsResponse>("ListEmails", narrow(v1::ListEmailsRequest()));
    const auto live =
        running.call<v1::CountInboxesResponse>("CountInboxes", narrow(v1::CountInboxesRequest()));
    const auto days = running.call<v1::CountEmailsResponse>("CountEmails", of_days);
    const auto without_account =
        running.call<v1::ListInboxesResponse>("ListInboxes", v1::ListInboxesRequest());

    REQUIRE(inboxes.value().inboxes_size() == 1);
    CHECK(inboxes.value().inboxes(0).inbox_id() == ours.inbox_id());
    REQUIRE(emails.value().emails_size() == 1);
    CHECK(emails.value().emails(0).email_id() == email);
    CHECK(live.value().live_inboxes() == 1);
    CHECK(days.value().days(0).emails() == 1);
    CHECK(running.call<v1::CheckTagResponse>("CheckTag", about_ours));
    CHECK(running.call<v1::CheckTagResponse>("CheckTag", about_email));
    CHECK(running.call<v1::CheckTagResponse>("CheckTag", about_theirs).error().code ==
          errc::not_found);
    CHECK(running.call<v1::ListEmailsResponse>("ListEmails", of_one_inbox).error().code ==
          errc::invalid_argument);
    // As a service answers that does not know the tag.
    CHECK(without_account.error().code == errc::invalid_argument);
    CHECK(running.call<v1::DeleteInboxesByTagResponse>("DeleteInboxesByTag", ending)
              .value()
              .deleted() == 1);
}

TEST_CASE("an email is marked and deleted by its account alone", "[inbox][postgres][kafka]")
{
    mailed_service running;
    const auto id = running.add_email(message);
    auto mark = running.about<v1::UpdateEmailRequest>(id);
    mark.set_is_read(true);
    auto foreign = mark;
    foreign.set_account_id(account_id::make().text());
    auto foreign_delete = running.about<v1::DeleteEmailRequest>(id);
    foreign_delete.set_account_id(foreign.account_id());

    CHECK(running.call<v1::UpdateEmailResponse>("UpdateEmail", mark).value().email().is_read());
    CHECK(running.call<v1::UpdateEmailResponse>("UpdateEmail", foreign).error().code ==
          errc::not_found);
    CHECK(running.call<v1::DeleteEmailResponse>("DeleteEmail", foreign_delete).error().code ==
          errc::not_found);
    CHECK(running.call<v1::DeleteEmailResponse>("DeleteEmail",
                                                running.about<v1::DeleteEmailRequest>(id)));
    CHECK(running.call<v1::UpdateEmailResponse>("UpdateEmail", mark).error().code ==
          errc::not_found);
}

TEST_CASE("how an email came is answered to its account alone", "[inbox][postgres][kafka]")
{
    mailed_service running;
    const auto id = running.add_email(message);
    const auto own = running.about<v1::GetEmailArrivalRequest>(id);
    auto foreign = own;
    foreign.set_account_id(account_id::make().text());
    auto wrong = own;
    wrong.set_email_id("none");

    const auto found = running.call<v1::GetEmailArrivalResponse>("GetEmailArrival", own).value();

    CHECK(found.inbox_id() == running.inbox.inbox_id());
    CHECK(found.has_received_at());
    CHECK(found.size_bytes() == static_cast<std::int64_t>(message.size()));
    CHECK(found.envelope().mail_from() == "bounce@example.org");
    REQUIRE(found.recipients_size() == 1);
    CHECK(found.recipients(0) == running.inbox.email_address());
    CHECK(found.envelope().remote_address() == "192.0.2.1");
    CHECK(found.envelope().tls() == "TLSv1.3");
    CHECK(running.call<v1::GetEmailArrivalResponse>("GetEmailArrival", foreign).error().code ==
          errc::not_found);
    CHECK(running.call<v1::GetEmailArrivalResponse>("GetEmailArrival", wrong).error().code ==
          errc::invalid_argument);
}

TEST_CASE("lists and searches look into messages, and lists say how far",
          "[inbox][filter][postgres][kafka]")
{
    mailed_service running;
    std::vector<std::string> ids;
    for (int i = 1; i <= 30; ++i)
        ids.push_back(running.add_email("Subject: mail\r\nX-Run: R-" + std::to_string(i % 3) +
                                        "\r\n\r\n" + std::string(300, 'x') + "\r\nnumber\r\n" +
                                        std::to_string(i) + " ends\r\n"));
    v1::ListEmailsRequest list;
    list.set_account_id(running.account);
    list.set_inbox_id(running.inbox.inbox_id());
    list.mutable_filter()->set_text("NUMBER 7 ends");
    v1::ListEmailsRequest headers = list;
    headers.mutable_filter()->clear_text();
    auto& header = *headers.mutable_filter()->add_headers();
    header.set_name("x-run");
    header.set_value("r-1");
    headers.set_limit(4);
    v1::FindFirstEmailsRequest find;
    find.set_account_id(running.account);
    find.set_inbox_id(running.inbox.inbox_id());
    *find.add_searches()->mutable_filter() = list.filter();
    find.add_searches()->mutable_filter()->set_subject("mail");
    find.add_searches()->mutable_filter()->set_text("absent");

    const auto by_text = running.call<v1::ListEmailsResponse>("ListEmails", list).value();
    std::vector<std::string> by_header;
    v1::ListEmailsResponse page;
    do {
        page = running.call<v1::ListEmailsResponse>("ListEmails", headers).value();
        for (const auto& email : page.emails())
            by_header.push_back(email.email_id());
        headers.set_cursor(page.next_cursor());
    } while (!page.next_cursor().empty());
    const auto found = running.call<v1::FindFirstEmailsResponse>("FindFirstEmails", find).value();
    list.mutable_filter()->set_text("\u00ad");
    const auto refused = running.call<v1::ListEmailsResponse>("ListEmails", list);

    REQUIRE(by_text.emails_size() == 1);
    CHECK(by_text.emails(0).email_id() == ids.at(6));
    CHECK(by_text.next_cursor().empty());
    CHECK(by_text.searched().emails() == 30);
    CHECK(by_text.searched().texts() == 30);
    CHECK(by_text.searched().has_back_to());
    std::vector<std::string> expected;
    for (int i = 28; i >= 1; i -= 3)
        expected.push_back(ids.at(static_cast<std::size_t>(i - 1)));
    CHECK(by_header == expected);
    REQUIRE(found.results_size() == 3);
    CHECK(found.results(0).email_ids(0) == ids.at(6));
    CHECK(found.results(0).near_misses_size() == 6);
    CHECK(found.results(0).near_misses(0).field() == "text");
    CHECK(found.results(0).near_misses(0).actual() == std::string(200, 'x'));
    CHECK(found.results(1).email_ids(0) == ids.front());
    CHECK(found.results(2).email_ids().empty());
    CHECK(found.results(2).searched_to() == 30);
    CHECK(refused.error().code == errc::invalid_argument);
}

TEST_CASE("a search finds several emails, and summaries leave out those that are gone",
          "[inbox][filter][postgres][kafka]")
{
    mailed_service running;
    std::vector<std::string> ids;
    for (const auto* subject : {"yes", "no", "yes", "yes"})
        ids.push_back(running.add_email("Subject: " + std::string(subject) + "\r\n\r\nhello\r\n"));
    v1::FindFirstEmailsRequest find;
    find.set_account_id(running.account);
    find.set_inbox_id(running.inbox.inbox_id());
    auto& search = *find.add_searches();
    search.mutable_filter()->set_subject("yes");
    search.set_max_matches(2);
    v1::GetEmailSummariesRequest read;
    read.set_account_id(running.account);
    for (const auto& id : {ids[2], email_id::make().text(), ids[0]})
        read.add_email_ids(id);

    const auto found = running.call<v1::FindFirstEmailsResponse>("FindFirstEmails", find).value();
    const auto emails =
        running.call<v1::GetEmailSummariesResponse>("GetEmailSummaries", read).value();
    read.set_account_id(account_id::make().text());
    const auto foreign =
        running.call<v1::GetEmailSummariesResponse>("GetEmailSummaries", read).value();

    REQUIRE(found.results(0).email_ids_size() == 2);
    CHECK(found.results(0).email_ids(0) == ids[0]);
    CHECK(found.results(0).email_ids(1) == ids[2]);
    CHECK(found.results(0).searched_to() == 3);
    REQUIRE(emails.emails_size() == 2);
    CHECK(emails.emails(0).email_id() == ids[2]);
    CHECK(emails.emails(1).subject() == "yes");
    CHECK(foreign.emails().empty());
}

TEST_CASE("a deleted message is passed over, and one larger than the bounds is found",
          "[inbox][filter][postgres][kafka]")
{
    mailed_service running;
    const auto large = running.add_email("\r\n" + std::string(300, 'x') + " needle\r\n" +
                                         std::string(1024 * 1024, 'x'));
    const auto deleted = running.add_email("\r\n" + std::string(300, 'y') + " needle");
    running
        .call<v1::DeleteEmailResponse>("DeleteEmail",
                                       running.about<v1::DeleteEmailRequest>(deleted))
        .value();
    const auto last = running.add_email("\r\n" + std::string(300, 'z') + " needle");
    v1::ListEmailsRequest list;
    list.set_account_id(running.account);
    list.mutable_filter()->set_text("needle");

    std::vector<std::string> found;
    int pages = 0;
    do {
        const auto page = running.call<v1::ListEmailsResponse>("ListEmails", list).value();
        for (const auto& email : page.emails())
            found.push_back(email.email_id());
        list.set_cursor(page.next_cursor());
    } while (!list.cursor().empty() && ++pages < 10);

    CHECK(found == std::vector{last, large});
}
