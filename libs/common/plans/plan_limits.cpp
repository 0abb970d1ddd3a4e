#include "common/plans/plan_limits.hpp"

#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>

#include <array>
#include <optional>
#include <type_traits>

namespace tempinbox::plans {
namespace {

using members = boost::describe::describe_members<plan_limits, boost::describe::mod_public>;

template <class Member>
using type_of = std::remove_cvref_t<decltype(std::declval<plan_limits&>().*Member::pointer)>;

template <class Member>
constexpr bool is_duration = std::is_same_v<type_of<Member>, std::chrono::seconds>;

constexpr bool is_name_of(std::string_view name, std::string_view member, std::string_view unit)
{
    return name.starts_with(member) && name.substr(member.size()) == unit;
}

template <class... Member>
constexpr bool are_in_order(boost::mp11::mp_list<Member...>)
{
    std::size_t index = 0;
    return (is_name_of(facts_of_limits[index++].name, Member::name,
                       is_duration<Member> ? "_seconds" : "") &&
            ...);
}

static_assert(boost::mp11::mp_size<members>::value == std::size(facts_of_limits),
              "each described member of plan_limits has its line in facts_of_limits");
static_assert(are_in_order(boost::mp11::mp_rename<members, boost::mp11::mp_list>()),
              "facts_of_limits names the members of plan_limits in their order");

template <class Member>
constexpr bool is_optional = std::is_same_v<type_of<Member>, std::optional<int>>;

template <class Member>
bool is_known([[maybe_unused]] const plan_limits& limits)
{
    if constexpr (is_optional<Member>)
        return (limits.*Member::pointer).has_value();
    else
        return true;
}

template <class Member>
std::int64_t get(const plan_limits& limits)
{
    if constexpr (is_duration<Member>)
        return (limits.*Member::pointer).count();
    else if constexpr (is_optional<Member>)
        return (limits.*Member::pointer).value_or(0);
    else
        return std::int64_t{limits.*Member::pointer};
}

template <class Member>
void set(plan_limits& limits, std::int64_t number)
{
    if constexpr (is_duration<Member>)
        limits.*Member::pointer = std::chrono::seconds(number);
    else if constexpr (is_optional<Member>)
        limits.*Member::pointer = static_cast<int>(number);
    else
        limits.*Member::pointer = static_cast<type_of<Member>>(number);
}

template <class... Member>
constexpr auto make_limits(boost::mp11::mp_list<Member...>)
{
    std::size_t index = 0;
    return std::array{limit{facts_of_limits[index++], std::is_same_v<type_of<Member>, bool>,
                            is_known<Member>, get<Member>, set<Member>}...};
}

constexpr auto limits = make_limits(boost::mp11::mp_rename<members, boost::mp11::mp_list>());

} // namespace

std::string limit::json_name() const
{
    std::string json;
    bool starts_word = false;
    for (const char c : name) {
        if (c != '_')
            json += starts_word ? static_cast<char>(c - 'a' + 'A') : c;
        starts_word = c == '_';
    }
    return json;
}

std::string limit::option_name() const
{
    std::string option(name);
    for (auto& c : option)
        c = c == '_' ? '-' : c;
    return option;
}

std::span<const limit> all_limits()
{
    return limits;
}

} // namespace tempinbox::plans
