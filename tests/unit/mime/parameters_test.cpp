#include "mime/parameters.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

std::string filename(std::string_view parameters)
{
    const auto found =
        mime::read_parameters("attachment; " + std::string(parameters), {"filename", "size"});
    return found.contains("filename") ? found.at("filename") : "absent";
}

} // namespace

TEST_CASE("a parameter in the forms of RFC 2231", "[mime][torture-7]")
{
    CHECK(filename("filename*=utf-8''r%C3%A9s.pdf") == "rés.pdf");
    CHECK(filename("FileName*=iso-8859-1'en'r%E9s.pdf; x=y") == "rés.pdf");
    CHECK(filename("filename*0*=utf-8''a%C3; filename*1*=%A9; filename*2=\"b;%C3\"") == "aéb;%C3");
    CHECK(filename("filename*2=c; filename*0=a; filename*1=b") == "abc");
    CHECK(filename("filename*0=a; filename=plain; filename*=''starred") == "starred");
    CHECK(filename("filename*0=a; filename*2=c") == "a");
    CHECK(filename("filename*=bogus''r%E9s%zz%4") == "rés%zz%4");
    CHECK(filename("filename*=no-quotes%20here") == "no-quotes here");
    CHECK(filename("x=\"; filename*=inside\"; filename*=''out") == "out");
}

TEST_CASE("encoded words in a parameter are decoded in each of its forms", "[mime]")
{
    CHECK(filename("filename*=\"=?utf-8?B?csOpcy5wZGY=?=\"") == "rés.pdf");
    CHECK(filename("filename*=utf-8''=?utf-8?Q?r=C3=A9s.pdf?=") == "rés.pdf");
    CHECK(filename("filename*=utf-8''%3D?iso-8859-1?Q?r=E9s.pdf?%3D") == "rés.pdf");
    CHECK(filename("filename*0=\"=?utf-8?B?csOp\"; filename*1=\"cy5wZGY=?=\"") == "rés.pdf");
    CHECK(filename("filename*1=\"?=\"; filename*0*=\"=?utf-8?Q?r=C3=A9s\"") == "rés");
    CHECK(filename("filename*0=\"=?utf-8?Q?r=C3=A9?= \"; filename*1=\"=?utf-8?Q?s.pdf?=\"") ==
          "rés.pdf");
    CHECK(filename("filename*0*=utf-8''=?utf-8?Q?r=C3=A9s_; filename*1=\"=C3=A4?=\"") == "rés ä");
    CHECK(filename("filename=\"=?utf-8?B?csOp\tcy5wZGY=?=\"") == "rés.pdf");
    CHECK(filename("filename=\"=?utf-8?Q?my r=C3=A9s 1.pdf?=\"") == "my rés 1.pdf");
    CHECK(filename("filename=\"=?a b?=\"") == "=?a b?=");
    CHECK(filename("filename*0=\"=?utf-8?Q?open\"; filename*1=\".pdf\"") == "=?utf-8?Q?open.pdf");
    CHECK(filename("filename=\" a.pdf \"") == " a.pdf ");
}

TEST_CASE("a parameter in its plain form", "[mime][torture-24]")
{
    CHECK(filename("FILENAME = a.pdf ; size=1") == "a.pdf");
    CHECK(filename("filename=my file=1.pdf;") == "my file=1.pdf");
    CHECK(filename("filename=a.pdf; filename=b.pdf") == "a.pdf");
    CHECK(filename("size=\"1; filename=inside\";; filename=\"a;b \\\"c\\\\d\"") == "a;b \"c\\d");
    CHECK(filename("filename=\"=?utf-8?Q?r=C3=A9s?=\"") == "rés");
    CHECK(filename("filename=\"\"") == "");
}

TEST_CASE("quotes that are never closed, and backslashes that were not escaped",
          "[mime][torture-23]")
{
    CHECK(filename("filename=\"unterminated.pdf") == "unterminated.pdf");
    CHECK(filename("filename=\"unterminated.pdf; size=1") == "unterminated.pdf");
    CHECK(filename("filename=\"C:\\Users\\sam\\x.doc\"") == "C:\\Users\\sam\\x.doc");
}

TEST_CASE("a parameter that does not come is absent", "[mime][torture-7]")
{
    for (const char* other :
         {"", "filename*1=b", "filename*x=b", "filename*99999999999=b", "name*=''x", "filename*",
          ";;;*", "filenames*=''x", "filenames=x", "filename"})
        CHECK(filename(other) == "absent");
}
