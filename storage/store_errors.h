// What users are told who meet damage. Errors that reach clients name no paths of the server; its
// log does.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace koios::storage {

// FAILED_PRECONDITION: what a change gets where nothing can be written.
Status OpenForReadingOnly();
// FAILED_PRECONDITION: the graph has what this version does not know.
Status OfNewerVersion(std::string_view what);
// DATA_LOSS gets the ways out, once; other statuses stay as they are.
Status WithWayOut(const Status& status);
// What such a message says without them.
std::string DamageIn(const Status& status);
// The same status without the folder `path` in its message: what is in it keeps its name.
Status WithoutPath(const Status& status, std::string_view path);
// The first name of a database's file in a text, such as "000012.sst"; empty: none.
std::string DatabaseFileIn(std::string_view text);

}  // namespace koios::storage
