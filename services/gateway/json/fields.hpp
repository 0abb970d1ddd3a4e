#pragma once

#include "common/json/writer.hpp"
#include "common/rpc/timestamp.hpp"

#include <google/protobuf/map.h>
#include <google/protobuf/repeated_ptr_field.h>
#include <google/protobuf/timestamp.pb.h>

#include <string>
#include <string_view>

namespace tempinbox::gateway {

// Protobuf's types as members of a JSON object.
inline void put_time(json::writer& out, std::string_view name, bool has_value,
                     const google::protobuf::Timestamp& stamp)
{
    if (has_value)
        out.member(name, rpc::to_time(stamp));
    else
        out.null_member(name);
}

inline void put_text(json::writer& out, std::string_view name, bool has_value,
                     const std::string& text)
{
    if (has_value)
        out.member(name, text);
    else
        out.null_member(name);
}

template <class Texts>
void put_texts(json::writer& out, std::string_view name, const Texts& texts)
{
    out.key(name).begin_array();
    for (const auto& text : texts)
        out.value(text);
    out.end_array();
}

template <class Message, class Put>
void put_objects(json::writer& out, std::string_view name,
                 const google::protobuf::RepeatedPtrField<Message>& messages, Put put)
{
    out.key(name).begin_array();
    for (const auto& message : messages)
        put(out, message);
    out.end_array();
}

inline void put_cursor(json::writer& out, const std::string& cursor)
{
    put_text(out, "nextCursor", !cursor.empty(), cursor);
}

} // namespace tempinbox::gateway
