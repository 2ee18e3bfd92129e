#include <cstdlib>
#include <iostream>

#include "synthetic_report.hpp"

// render_report FILE [batches kernels]
int main(int argc, char** argv) {
  if (argc < 2) return 2;
  halmark::test::SyntheticSize size;
  if (argc > 3) size = {std::atoi(argv[2]), std::atoi(argv[3]), 9};
  const halmark::RunReport report = halmark::test::synthetic_report(size);
  halmark::write_report(report, argv[1]);
  std::cout << halmark::report_text(report, false);
}
