// Warnings by their stable codes; a test scans the sources for codes that have no entry.
#include "report/glossary/topics.hpp"

namespace halmark::report {
namespace {

constexpr Term warning_entries[] = {
    {"W-DB-01", "",
     "The figures are complete, but could not be stored in the results database; --db names "
     "another.",
     "", "bench, run"},
    {"W-DB-02", "",
     "Rows of the database do not have their checksum and were left out; halmark salvage "
     "copies the rest.",
     "", "report, history, verify"},
    {"W-ENV-03", "",
     "Rows were disturbed by other work on this machine; results that depend on them are "
     "suspect; "
     "run on a quiet machine.",
     "", "tune, report"},
    {"W-ENV-05", "",
     "This machine has no measured peaks, so that there is no MFU; halmark peaks measures them.",
     "", "bench"},
    {"W-IMPORT-01", "", "An imported table names no known model; --model says which it is of.", "",
     "import"},
    {"W-NODE-01", "",
     "A node of a fleet is not what it was: a few fixed kernels took another time than on the "
     "same node before. What it measured since they last did not is suspect, and it claims "
     "nothing until they do not; drain and inspect the node.",
     "", "agent, fleet, tune, report"},
    {"W-PEAK-01", "",
     "Peaks were probed beside other work alone: they are marked busy, may be more, and lower "
     "none that is stored. halmark peaks on an idle machine replaces them.",
     "", "peaks"},
    {"W-PLUGIN-01", "",
     "A plugin that other users could have written was loaded because --allow-insecure-plugin "
     "said so.",
     "", "every command that opens a device"},
    {"W-STUDY-01", "",
     "Something of the storage of a study: a lock of a killed process was taken over, or the "
     "like.",
     "", "study"},
    {"W-STUDY-02", "",
     "The study beside the database was not written; what is in the database is complete.", "",
     "tune"},
};

}  // namespace

std::span<const Term> warning_terms() { return warning_entries; }

}  // namespace halmark::report
