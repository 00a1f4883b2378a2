// koios admin index: makes, drops and lists indexes of vertices.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "client/client.h"

namespace koios::app {

// create LABEL KEY..., drop LABEL KEY..., or list; INVALID_ARGUMENT for other words.
Status CheckIndexWords(const std::vector<std::string>& words);
// REQUIRES: CheckIndexWords is content.
Status RunIndexWords(client::Client* client, const std::string& graph,
                     const std::vector<std::string>& words, std::ostream& out);

}  // namespace koios::app
