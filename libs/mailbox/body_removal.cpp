#include "mailbox/body_removal.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"

#include <map>
#include <vector>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

// The hour is a literal, so that the plan has one partition: a generic plan has, and locks,
// hundreds.
std::string bodies_of(std::int64_t hour)
{
    return "mailbox.bodies AS b WHERE b.body_hour = mailbox.from_micros(" + std::to_string(hour) +
           ") AND b.body_id = ANY ($1::uuid[])";
}

// The lock on the body orders concurrent deletions: the one that deletes the account's last email
// of a shared body sees that the others are gone, and deletes the body. A message to several
// accounts has a body of the same id in each.
constexpr const char* where_unused = " AND NOT EXISTS (SELECT 1 FROM mailbox.emails AS e WHERE "
                                     "e.body_id = b.body_id AND e.account_id = b.account_id AND "
                                     "e.is_body_shared)";

// Body ids by the hour of their partition, so that each statement touches one partition; in lock
// order.
using bodies_by_hour = std::map<std::int64_t, std::vector<body_id>>;

std::int64_t delete_own_bodies(pqxx::work& tx, const bodies_by_hour& bodies)
{
    std::int64_t deleted = 0;
    for (const auto& [hour, ids] : bodies) {
        const auto remove = "DELETE FROM " + bodies_of(hour);
        auto rows = postgres::written_rows(tx.exec_params(remove, postgres::to_array(ids)));
        // One statement can miss a body that was just moved to its new partition; a second finds
        // it.
        if (rows < ids.size())
            rows += postgres::written_rows(tx.exec_params(remove, postgres::to_array(ids)));
        deleted += static_cast<std::int64_t>(rows);
    }
    return deleted;
}

std::int64_t delete_shared_bodies(pqxx::work& tx, const bodies_by_hour& bodies)
{
    std::int64_t deleted = 0;
    for (const auto& [hour, ids] : bodies)
        tx.exec_params("SELECT 1 FROM " + bodies_of(hour) + " ORDER BY b.body_id FOR UPDATE",
                       postgres::to_array(ids));
    for (const auto& [hour, ids] : bodies)
        deleted += static_cast<std::int64_t>(
            tx.exec_params("DELETE FROM " + bodies_of(hour) + where_unused, postgres::to_array(ids))
                .affected_rows());
    return deleted;
}

} // namespace

std::vector<left_body> read_left_bodies(const pqxx::result& deleted)
{
    std::vector<left_body> left;
    left.reserve(postgres::row_count(deleted));
    for (const auto& row : deleted)
        left.push_back({column<std::int64_t>(row, "body_micros"), column<body_id>(row, "body_id"),
                        column<bool>(row, "is_body_shared")});
    return left;
}

std::int64_t remove_bodies(pqxx::work& tx, const std::vector<left_body>& left)
{
    bodies_by_hour own, shared;
    for (const auto& body : left)
        (body.is_shared ? shared : own)[body.hour].push_back(body.id);
    return delete_own_bodies(tx, own) + delete_shared_bodies(tx, shared);
}

} // namespace tempinbox::mailbox
