#include "common/postgres/binary_array.hpp"

namespace tempinbox::postgres {
namespace {

// 2000-01-01T00:00:00Z, the epoch of PostgreSQL's times and dates.
constexpr std::chrono::sys_days postgres_epoch{std::chrono::year{2000} / 1 / 1};

template <class T>
void put_number(std::string& out, T number)
{
    for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8)
        out.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> shift));
}

constexpr std::size_t length_size = 4;

} // namespace

void binary_format<bool>::put(std::string& out, bool flag)
{
    out.push_back(flag ? '\1' : '\0');
}

void binary_format<std::int64_t>::put(std::string& out, std::int64_t number)
{
    put_number(out, number);
}

void binary_format<std::int32_t>::put(std::string& out, std::int32_t number)
{
    put_number(out, number);
}

void binary_format<std::chrono::sys_days>::put(std::string& out, std::chrono::sys_days day)
{
    put_number(out, static_cast<std::int32_t>((day - postgres_epoch).count()));
}

void binary_format<time_point>::put(std::string& out, time_point time)
{
    put_number(out, static_cast<std::int64_t>((time - time_point(postgres_epoch)).count()));
}

void binary_format<uuid>::put(std::string& out, const uuid& id)
{
    out.append(reinterpret_cast<const char*>(id.bytes().data()), id.bytes().size());
}

std::size_t binary_array::begin(std::string& out)
{
    out.append(length_size, '\0');
    return out.size();
}

void binary_array::end(std::string& out, std::size_t start)
{
    const auto length = static_cast<std::uint32_t>(out.size() - start);
    for (std::size_t i = 0; i < length_size; ++i)
        out[start - 1 - i] = static_cast<char>(length >> (8 * i));
}

void binary_array::put_type(type_oid type)
{
    put_number(items_, type);
}

// The header: number of dimensions, whether there are nulls, the element type, then length and
// lower bound of the one dimension.
std::string binary_array::bytes() const
{
    std::string whole;
    whole.reserve(items_.size() + 5 * length_size);
    put_number(whole, std::int32_t{count_ > 0 ? 1 : 0});
    put_number(whole, std::int32_t{has_null_ ? 1 : 0});
    put_number(whole, element_type_);
    if (count_ > 0) {
        put_number(whole, count_);
        put_number(whole, std::int32_t{1});
    }
    whole.append(items_);
    return whole;
}

pqxx::binarystring binary_array::parameter() const
{
    const auto whole = bytes();
    return pqxx::binarystring(whole.data(), whole.size());
}

} // namespace tempinbox::postgres
