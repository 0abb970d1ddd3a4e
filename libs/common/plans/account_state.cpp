#include "common/plans/account_state.hpp"

#include "common/rpc/timestamp.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/timestamp.pb.h>

#include <stdexcept>
#include <vector>

namespace tempinbox::plans {
namespace {

using google::protobuf::FieldDescriptor;

// The Protobuf field of each limit, in their order.
std::vector<const FieldDescriptor*> find_fields()
{
    std::vector<const FieldDescriptor*> fields;
    for (const auto& limit : all_limits()) {
        const auto name = std::string(limit.name);
        const auto* field = accounts::v1::PlanLimits::descriptor()->FindFieldByName(name);
        if (field == nullptr)
            throw std::logic_error("PlanLimits has no field " + name);
        fields.push_back(field);
    }
    return fields;
}

const std::vector<const FieldDescriptor*>& limit_fields()
{
    static const auto fields = find_fields();
    return fields;
}

void set_number(google::protobuf::Message& message, const FieldDescriptor& field,
                std::int64_t number)
{
    const auto& reflection = *message.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL)
        reflection.SetBool(&message, &field, number != 0);
    else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32)
        reflection.SetInt32(&message, &field, static_cast<std::int32_t>(number));
    else
        reflection.SetInt64(&message, &field, number);
}

// Of a field without presence the default is its value.
bool is_set(const google::protobuf::Message& message, const FieldDescriptor& field)
{
    return !field.has_presence() || message.GetReflection()->HasField(message, &field);
}

std::int64_t get_number(const google::protobuf::Message& message, const FieldDescriptor& field)
{
    const auto& reflection = *message.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL)
        return reflection.GetBool(message, &field) ? 1 : 0;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32)
        return reflection.GetInt32(message, &field);
    return reflection.GetInt64(message, &field);
}

} // namespace

accounts::v1::PlanLimits to_proto(const plan_limits& limits)
{
    accounts::v1::PlanLimits message;
    auto field = limit_fields().begin();
    for (const auto& limit : all_limits())
        if (const auto* current = *field++; limit.is_known(limits))
            set_number(message, *current, limit.get(limits));
    return message;
}

plan_limits from_proto(const accounts::v1::PlanLimits& message)
{
    plan_limits limits;
    auto field = limit_fields().begin();
    for (const auto& limit : all_limits())
        if (const auto* current = *field++; is_set(message, *current))
            limit.set(limits, get_number(message, *current));
    return limits;
}

accounts::v1::AccountState to_proto(const account_state& state)
{
    accounts::v1::AccountState message;
    message.set_account_id(state.account.text());
    message.set_plan(state.plan);
    message.set_version(state.version);
    message.set_deleted(state.is_deleted);
    if (state.plan_ends_at)
        *message.mutable_plan_ends_at() = rpc::to_timestamp(*state.plan_ends_at);
    *message.mutable_limits() = to_proto(state.limits);
    *message.mutable_limits_after_end() = to_proto(state.limits_after_end);
    return message;
}

result<account_state> from_proto(const accounts::v1::AccountState& message)
{
    const auto account = account_id::parse(message.account_id());
    if (!account)
        return account.error();
    account_state state;
    state.account = *account;
    state.plan = message.plan();
    state.version = message.version();
    state.is_deleted = message.deleted();
    if (message.has_plan_ends_at())
        state.plan_ends_at = rpc::to_time(message.plan_ends_at());
    state.limits = from_proto(message.limits());
    state.limits_after_end = from_proto(message.limits_after_end());
    return state;
}

} // namespace tempinbox::plans
