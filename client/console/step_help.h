// What :help tells of a step of Gremlin. The app fills it in: the client knows no planner.
#pragma once

#include <string>
#include <vector>

namespace koios::client {

struct StepHelp {
  std::string name;
  std::vector<std::string> forms;  // "limit(n: integer)"
  std::string help;
  std::string example;    // a whole statement, on the sample graph of the README
  bool is_there = false;  // false: Gremlin that the server refuses
};

}  // namespace koios::client
