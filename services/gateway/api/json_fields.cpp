#include "gateway/api/json_fields.hpp"

#include <stdexcept>

namespace tempinbox::gateway {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

void put_list(json::writer& out, const Message& message, const FieldDescriptor& field)
{
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING)
        throw std::logic_error(field.full_name() + " is no list of texts");
    const auto& access = *message.GetReflection();
    std::string scratch;
    out.begin_array();
    for (int index = 0; index < access.FieldSize(message, &field); ++index)
        out.value(access.GetRepeatedStringReference(message, &field, index, &scratch));
    out.end_array();
}

void put_message(json::writer& out, const Message& message, const FieldDescriptor& field)
{
    if (field.message_type() != google::protobuf::Timestamp::descriptor())
        throw std::logic_error(field.full_name() + " is no time");
    const auto& stamp = message.GetReflection()->GetMessage(message, &field);
    out.value(rpc::to_time(static_cast<const google::protobuf::Timestamp&>(stamp)));
}

} // namespace

void put_field(json::writer& out, const Message& message, const FieldDescriptor& field)
{
    const auto& access = *message.GetReflection();
    std::string scratch;
    out.key(field.json_name());
    if (field.is_repeated())
        return put_list(out, message, field);
    if (field.has_presence() && !access.HasField(message, &field)) {
        out.null();
        return;
    }
    switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
        out.value(access.GetStringReference(message, &field, &scratch));
        break;
    case FieldDescriptor::CPPTYPE_INT64:
        out.value(access.GetInt64(message, &field));
        break;
    case FieldDescriptor::CPPTYPE_INT32:
        out.value(access.GetInt32(message, &field));
        break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
        out.value(access.GetDouble(message, &field));
        break;
    case FieldDescriptor::CPPTYPE_BOOL:
        out.value(access.GetBool(message, &field));
        break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
        put_message(out, message, field);
        break;
    default:
        throw std::logic_error(field.full_name() + " is of a kind that JSON has no form for here");
    }
}

} // namespace tempinbox::gateway
