#include "common/postgres/binary_array.hpp"

namespace tempinbox::postgres {
namespace {

// 2000-01-01T00:00:00Z, the epoch of PostgreSQL's times, in microseconds since 1970.
constexpr std::int64_t postgres_epoch = 946'684'800'000'000;

template <class T>
void put(std::string& out, T number)
{
    for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8)
        out.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> shift));
}

} // namespace

void binary_array::add(std::string_view bytes)
{
    ++count_;
    put(items_, static_cast<std::int32_t>(bytes.size()));
    items_.append(bytes);
}

void binary_array::add(const std::optional<std::string>& maybe)
{
    if (maybe) {
        add(std::string_view(*maybe));
        return;
    }
    ++count_;
    has_null_ = true;
    put(items_, std::int32_t{-1});
}

void binary_array::add(const uuid& id)
{
    add(std::string_view(reinterpret_cast<const char*>(id.bytes().data()), id.bytes().size()));
}

void binary_array::add_bool(bool flag)
{
    add(std::string_view(flag ? "\1" : "\0", 1));
}

void binary_array::add_int4(std::int32_t number)
{
    ++count_;
    put(items_, std::int32_t{4});
    put(items_, number);
}

void binary_array::add_int8(std::int64_t number)
{
    ++count_;
    put(items_, std::int32_t{8});
    put(items_, number);
}

void binary_array::add_time(time_point time)
{
    add_int8(to_unix_micros(time) - postgres_epoch);
}

// The header: number of dimensions, whether there are nulls, the element type, then length and
// lower bound of the one dimension.
pqxx::binarystring binary_array::parameter() const
{
    std::string whole;
    whole.reserve(items_.size() + 20);
    put(whole, std::int32_t{count_ > 0 ? 1 : 0});
    put(whole, std::int32_t{has_null_ ? 1 : 0});
    put(whole, static_cast<std::uint32_t>(type_));
    if (count_ > 0) {
        put(whole, count_);
        put(whole, std::int32_t{1});
    }
    whole.append(items_);
    return pqxx::binarystring(whole.data(), whole.size());
}

pqxx::binarystring to_array(const std::vector<std::string>& texts)
{
    binary_array array(binary_array::element::text);
    for (const auto& text : texts)
        array.add(std::string_view(text));
    return array.parameter();
}

pqxx::binarystring to_array(const std::vector<std::int64_t>& numbers)
{
    binary_array array(binary_array::element::int8);
    for (const auto number : numbers)
        array.add_int8(number);
    return array.parameter();
}

pqxx::binarystring to_array(const std::vector<bool>& flags)
{
    binary_array array(binary_array::element::boolean);
    for (const bool flag : flags)
        array.add_bool(flag);
    return array.parameter();
}

} // namespace tempinbox::postgres
