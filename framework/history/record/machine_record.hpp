// Records of machines: made of what a results database has, written, read, and as a side of a
// comparison of devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measured/device_kernels.hpp"
#include "core/measured/machine_record.hpp"
#include "history/record/stored_rows.hpp"
#include "journal/store.hpp"

namespace halmark::history {

// Of one run, also as "FILE.db:RUN", or of the latest runs of the machine that measured last (see
// stored_rows). Samples
// are thinned, and kernels of a class after them, until the file holds them; the record says how
// many were left out. Throws Error (exit 2) as stored_rows does, and where no peaks or no samples
// are stored.
MachineRecord stored_record(const std::string& named, std::optional<std::int64_t> run);

// {"format", "version", "sha256", "record"}: the hash is of the compact text of the last.
std::string record_text(const MachineRecord& record);

// Throws Error (exit 2) where it is none, of a later version, or was changed after it was written.
MachineRecord read_record(const std::string& path);

// The files that are named, and of folders those that are records, by name. Throws Error (exit 2)
// where there is none.
std::vector<std::string> record_files(const std::vector<std::string>& named);

DeviceSide record_side(const MachineRecord& record, const std::string& name);

}  // namespace halmark::history
