#include "tempinboxctl/program.hpp"

int main(int argc, char** argv)
{
    return tempinbox::ctl::run(argc, argv);
}
