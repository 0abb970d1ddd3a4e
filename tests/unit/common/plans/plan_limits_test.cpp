#include "common/plans/plan_limits.hpp"

#include "tempinbox/accounts/v1/account_state.pb.h"

#include <catch2/catch.hpp>

#include <google/protobuf/descriptor.h>

#include <map>

using namespace tempinbox;
using google::protobuf::FieldDescriptor;

TEST_CASE("every limit is a field of its name on the wire, and every field a limit", "[plans]")
{
    std::map<std::string, bool> limits, fields; // by name, whether it is a truth
    for (const auto& limit : plans::all_limits())
        limits.emplace(limit.name, limit.is_truth);

    const auto& wire = *accounts::v1::PlanLimits::descriptor();
    for (int index = 0; index < wire.field_count(); ++index)
        fields.emplace(wire.field(index)->name(),
                       wire.field(index)->cpp_type() == FieldDescriptor::CPPTYPE_BOOL);

    CHECK(limits == fields);
}

TEST_CASE("a limit that the wire cannot hold is none that an operator may set", "[plans]")
{
    const auto& wire = *accounts::v1::PlanLimits::descriptor();
    for (const auto& limit : plans::all_limits()) {
        INFO(limit.name);
        const auto* field = wire.FindFieldByName(std::string(limit.name));
        REQUIRE(field != nullptr);
        const bool is_small = field->cpp_type() == FieldDescriptor::CPPTYPE_INT32;
        CHECK((!is_small || limit.max <= plans::int_max));
        CHECK(limit.min <= limit.max);
    }
}

TEST_CASE("each limit is read and written as a number of its own", "[plans]")
{
    plans::plan_limits limits;
    std::int64_t number = 100;
    for (const auto& limit : plans::all_limits())
        limit.set(limits, limit.is_truth ? 1 : number++);

    number = 100;
    for (const auto& limit : plans::all_limits()) {
        INFO(limit.name);
        CHECK(limit.get(limits) == (limit.is_truth ? 1 : number++));
    }
    CHECK(limits.api_access);
    CHECK(limits.requests_per_day == 100);
    CHECK(limits.max_ttl == std::chrono::seconds(104));
    CHECK(limits.routing_rules == 108);
    CHECK(limits.captures == 109);
}

TEST_CASE("a limit has its name in the style of who reads it", "[plans]")
{
    const auto limits = plans::all_limits();

    CHECK(limits[0].json_name() == "apiAccess");
    CHECK(limits[5].json_name() == "maxTtlSeconds");
    CHECK(limits[5].option_name() == "max-ttl-seconds");
    CHECK(limits[7].json_name() == "webhooks");
}
