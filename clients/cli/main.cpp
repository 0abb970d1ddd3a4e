#include "cli/program.hpp"

int main(int argc, char** argv)
{
    return tempinbox::cli::run(argc, argv);
}
