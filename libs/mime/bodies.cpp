#include "mime/bodies.hpp"

#include "common/core/text.hpp"

#include <algorithm>

namespace tempinbox::mime {
namespace {

std::string_view without_brackets(std::string_view id)
{
    id = trim(id);
    return id.size() > 1 && id.front() == '<' && id.back() == '>' ? id.substr(1, id.size() - 2)
                                                                  : id;
}

bool is_named(const part& one)
{
    return !one.placement.filename.empty() || !one.type.name.empty();
}

// What a part, and all in it, has to show.
struct shown
{
    std::vector<int> text;
    std::vector<int> html;
    bool has_plain = false;
    bool has_html = false;

    bool is_empty() const { return !has_plain && !has_html; }
};

void append(std::vector<int>& to, const std::vector<int>& more)
{
    to.insert(to.end(), more.begin(), more.end());
}

class body_finder
{
public:
    explicit body_finder(const structure& from)
        : parts_(from.parts),
          children_(from.parts.size()),
          related_(from.parts.size())
    {
        for (std::size_t i = 1; i < parts_.size(); ++i) {
            const auto& one = parts_[i];
            const auto parent = static_cast<std::size_t>(one.parent);
            const auto index = static_cast<int>(i);
            children_[parent].push_back(index);
            auto& related = related_[parent];
            if (is_start(one, parts_[parent]))
                related.start = index;
            if (one.is_multipart || one.type.type.starts_with("text/"))
                keep_first(related.text, index);
            if (one.type.type == "text/plain")
                keep_first(related.plain, index);
            if (one.type.type == "text/html")
                keep_first(related.html, index);
        }
    }

    bodies find()
    {
        auto root = show_all();
        if (root.is_empty()) {
            takes_named_ = true;
            root = show_all();
        }
        bodies found;
        found.text = std::move(root.text);
        found.html = std::move(root.html);
        list_attachments(found);
        return found;
    }

private:
    static constexpr int none = -1;

    // What may be the root of a multipart/related.
    struct roots
    {
        int start = none; // the part that its `start` names
        int text = none;  // the first text or multipart
        int plain = none; // the first of its type
        int html = none;
    };

    static void keep_first(int& first, int index)
    {
        if (first == none)
            first = index;
    }

    const part& at(int index) const { return parts_[static_cast<std::size_t>(index)]; }
    const std::vector<int>& children_of(int index) const
    {
        return children_[static_cast<std::size_t>(index)];
    }

    // From the last part to the first, as each stands behind the one that holds it.
    shown show_all() const
    {
        std::vector<shown> all(parts_.size());
        for (auto i = static_cast<int>(parts_.size()) - 1; i >= 0; --i) {
            const auto& one = at(i);
            auto& result = all[static_cast<std::size_t>(i)];
            if (one.is_multipart)
                result = show_multipart(i, all);
            else if (is_body(i))
                result = show_leaf(i);
        }
        return std::move(all.front());
    }

    shown show_leaf(int index) const
    {
        shown result;
        result.text = result.html = {index};
        (at(index).type.type == "text/html" ? result.has_html : result.has_plain) = true;
        return result;
    }

    shown show_multipart(int index, const std::vector<shown>& all) const
    {
        std::vector<const shown*> inner;
        for (const int child : children_of(index))
            if (const auto& one = all[static_cast<std::size_t>(child)]; !one.is_empty())
                inner.push_back(&one);
        if (at(index).type.type == "multipart/alternative")
            return choose(inner);
        if (at(index).type.type == "multipart/related" || are_alternatives(index, all))
            return merge_by_type(inner);
        return merge(inner);
    }

    // RFC 2046 5.1.4: the last alternative is the richest. A branch with HTML is the HTML's even if
    // it has plain text too; branches of plain text are shown one below the other.
    static shown choose(const std::vector<const shown*>& branches)
    {
        std::vector<const shown*> plain;
        const shown* html = nullptr;
        for (const auto* branch : branches) {
            if (branch->has_html)
                html = branch;
            else
                plain.push_back(branch);
        }
        if (html == nullptr)
            return merge(plain);
        auto result = *html;
        if (!plain.empty()) {
            result.text = merge(plain).text;
            result.has_plain = true;
        }
        return result;
    }

    static shown merge(const std::vector<const shown*>& inner)
    {
        shown result;
        for (const auto* one : inner) {
            append(result.text, one->text);
            append(result.html, one->html);
            result.has_plain = result.has_plain || one->has_plain;
            result.has_html = result.has_html || one->has_html;
        }
        return result;
    }

    // Plain text beside HTML is another form of it.
    static shown merge_by_type(const std::vector<const shown*>& inner)
    {
        auto result = merge(inner);
        result.text.clear();
        result.html.clear();
        for (const auto* one : inner) {
            if (one->has_plain || !result.has_plain)
                append(result.text, one->text);
            if (one->has_html || !result.has_html)
                append(result.html, one->html);
        }
        return result;
    }

    // Text, then HTML, and nothing else to show: programs forget to say multipart/alternative.
    bool are_alternatives(int index, const std::vector<shown>& all) const
    {
        const auto& children = children_of(index);
        const auto is_shown = [&](int child) {
            return !all[static_cast<std::size_t>(child)].is_empty();
        };
        const auto first = std::find_if(children.begin(), children.end(), is_shown);
        if (first == children.end() || first + 1 == children.end())
            return false;
        return at(*first).type.type == "text/plain" && at(first[1]).type.type == "text/html" &&
               is_shown(first[1]) && std::none_of(first + 2, children.end(), is_shown);
    }

    bool is_body(int index) const
    {
        const auto& one = at(index);
        if (one.is_in_message || one.is_message || one.placement.kind == "attachment" ||
            (one.type.type != "text/plain" && one.type.type != "text/html"))
            return false;
        if (one.parent < 0 || (takes_named_ && one.placement.kind == "inline"))
            return true;
        const auto& holder = at(one.parent);
        if (holder.type.type == "multipart/alternative")
            return true;
        if (holder.type.type == "multipart/related")
            return is_body_of_related(index);
        return !is_named(one) || children_of(one.parent).front() == index ||
               is_other_form_of_named(index);
    }

    // RFC 2387: the part that `start` names, else the first text. The others are its files, but for
    // the first of another type, which is another form of the text.
    bool is_body_of_related(int index) const
    {
        const auto& roots = related_[static_cast<std::size_t>(at(index).parent)];
        if (roots.start != none)
            return roots.start == index;
        return roots.text == index ||
               (!is_named(at(index)) && (roots.plain == index || roots.html == index));
    }

    // The root of a multipart/related, if it is text (RFC 2387 3.2).
    static bool is_start(const part& one, const part& holder)
    {
        return !holder.type.start.empty() &&
               (one.is_multipart || one.type.type.starts_with("text/")) &&
               without_brackets(one.content_id) == without_brackets(holder.type.start);
    }

    // `body.txt`, then `body.html`, both inline.
    bool is_other_form_of_named(int index) const
    {
        const auto& siblings = children_of(at(index).parent);
        return siblings.size() > 1 && siblings[1] == index &&
               at(index).placement.kind == "inline" && at(index).type.type == "text/html" &&
               at(siblings[0]).type.type == "text/plain" && is_named(at(siblings[0])) &&
               at(siblings[0]).placement.kind != "attachment";
    }

    void list_attachments(bodies& found) const
    {
        std::vector<bool> is_shown(parts_.size());
        for (const auto* list : {&found.text, &found.html})
            for (const int index : *list)
                is_shown[static_cast<std::size_t>(index)] = true;
        // In the order of the message: a decoded part's own parts were found last.
        std::vector<int> open = {0};
        while (!open.empty()) {
            const int index = open.back();
            open.pop_back();
            open.insert(open.end(), children_of(index).rbegin(), children_of(index).rend());
            if (!is_shown[static_cast<std::size_t>(index)] && is_attachment(index))
                found.attachments.push_back(index);
        }
    }

    bool is_attachment(int index) const
    {
        const auto& one = at(index);
        if (one.is_multipart)
            return false;
        if (one.parent >= 0 && one.fields.empty() && one.body.empty())
            return false; // nothing
        if (one.placement.kind == "attachment" || is_named(one))
            return true;
        // The text root of an attached message is not listed: the message is the attachment.
        if (one.is_in_message)
            return !one.type.type.starts_with("text/");
        return !is_further_form(one);
    }

    // Of the same text: for programs that are neither mail nor web, or a poorer alternative.
    bool is_further_form(const part& one) const
    {
        return one.type.type == "text/x-amp-html" || one.type.type == "text/watch-html" ||
               (one.type.type == "text/html" && one.parent >= 0 &&
                at(one.parent).type.type == "multipart/alternative");
    }

    const std::deque<part>& parts_;
    std::vector<std::vector<int>> children_;
    std::vector<roots> related_;
    bool takes_named_ = false; // nothing else is shown
};

} // namespace

bodies find_bodies(const structure& from)
{
    return body_finder(from).find();
}

} // namespace tempinbox::mime
