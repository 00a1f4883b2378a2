// Floating-point numbers as Java prints them: the shortest digits that read back as the same
// number, with a point, and with an exponent below 10^-3 and from 10^7 on: 1.0, 1.0E10, NaN.
#pragma once

#include <string>

namespace koios {

std::string PrintDouble(double v);
std::string PrintFloat(float v);

}  // namespace koios
