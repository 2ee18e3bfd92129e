// What a machine is called in the database: by its fingerprint, and by that of earlier versions.
#pragma once

#include <map>
#include <string>

namespace halmark {

// Fingerprints of versions up to 0.1 say nothing of the cores that were in use, but the rows of
// their runs do.
struct EarlierIdentity {
  std::string fingerprint;              // "" = none
  std::map<int, std::string> affinity;  // of the first of so many equal parts: "0-3,8"
};

struct MachineIdentity {
  std::string fingerprint;
  EarlierIdentity earlier;
};

}  // namespace halmark
