// Agents on other machines, started by what users have: Slurm, ssh or Kubernetes. Texts are made
// here and shown or handed over; none of these engines learns anything of units of work.
#pragma once

#include <string>
#include <vector>

namespace halmark::fleet {

struct LaunchRequest {
  std::string url;                // of the shared database, without a password
  std::string program;            // halmark on the nodes
  std::vector<std::string> more;  // words of each agent: --plugin FOLDER
  double idle_s = 600;            // after which agents leave
  double lease_s = 60;
  int nodes = 1;
  std::string partition, constraint, gres,
      time_limit;                  // of Slurm, as sbatch has them; may be empty
  std::vector<std::string> hosts;  // of ssh
  std::string image;               // of Kubernetes
};

// Throws Error (exit 2) for what is no shared database, and for a URL with a password, which every
// user of the machines could read in the list of processes: libpq takes it from ~/.pgpass or
// PGPASSWORD.
void check_url(const std::string& url);

// The words that start an agent.
std::vector<std::string> agent_command(const LaunchRequest& request);

// A batch script: an array of one exclusive node each, ended by SIGTERM a minute before its limit.
std::string slurm_script(const LaunchRequest& request);
// What ssh runs on a host: the agent in the background, its process id on stdout.
std::string ssh_line(const LaunchRequest& request);
// An Indexed Job, one pod a node. The password comes from the secret "halmark-database".
std::string kubernetes_manifest(const LaunchRequest& request);

struct Started {
  std::string place;  // "job 17", "node3"
  std::string detail;
  bool is_ok = false;
};
// Throw Error (exit 5) where there is no sbatch or ssh.
Started submit_to_slurm(const LaunchRequest& request);
std::vector<Started> start_by_ssh(const LaunchRequest& request);

}  // namespace halmark::fleet
