// The folder of an onboarded device, built beside its place and put there whole.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "onboard/onboard.hpp"

namespace halmark::onboard {

class DeviceFiles {
 public:
  // Throws Error: exit 2 where another device lies in the folder, exit 1 where it cannot be
  // written.
  DeviceFiles(const Plan& plan, std::string release, std::string utc);
  ~DeviceFiles();
  DeviceFiles(const DeviceFiles&) = delete;
  DeviceFiles& operator=(const DeviceFiles&) = delete;

  // The tables as they are now; those before are replaced.
  void put_tables(std::span<const FittedKind> kinds);
  ForecastFile forecast() const;  // of these tables
  Device device() const;          // with these tables for its own
  // Adds device, evidence, report and sums, and puts the folder in its place. Sets the checksum of
  // `outcome`.
  void write(Outcome& outcome, const std::string& evidence);

 private:
  void put(const std::string& name, const std::string& text);

  const Plan& plan_;
  std::string release_, utc_;
  std::filesystem::path folder_;  // while it is built
  std::map<std::string, std::string> sums_;
};

}  // namespace halmark::onboard
