#include "mime/parameters.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

std::string filename(std::string_view parameters)
{
    return mime::extended_parameter("attachment; " + std::string(parameters), "filename").value_or("absent");
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

TEST_CASE("a parameter that does not come so is absent", "[mime][torture-7]")
{
    for (const char* other : {"", "filename=plain", "filename*1=b", "filename*x=b", "filename*99999999999=b", "name*=''x",
                              "filename*", "filename=*", ";;;*", "filenames*=''x"})
        CHECK(filename(other) == "absent");
}
