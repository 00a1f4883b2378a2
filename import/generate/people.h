// Names and places that generated people have.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/random.h"

namespace koios::import {

inline constexpr std::array<std::string_view, 24> kGivenNames = {
    "Ada",  "Bruno", "Chloe", "Dmitri", "Elif",  "Farid", "Grete", "Hiro",
    "Ines", "Jonas", "Kofi",  "Lena",   "Mateo", "Nadia", "Oskar", "Priya",
    "Qian", "Rosa",  "Sven",  "Tala",   "Umar",  "Vera",  "Wanda", "Yusuf"};
inline constexpr std::array<std::string_view, 24> kFamilyNames = {
    "Abe",   "Berg",   "Costa",  "Diaz",   "Eriksen", "Fofana",   "Garcia", "Haas",
    "Ito",   "Jansen", "Kaya",   "Lopez",  "Moreau",  "Nowak",    "Okafor", "Petrov",
    "Quinn", "Rossi",  "Schulz", "Tanaka", "Usman",   "Virtanen", "Weber",  "Zhang"};
inline constexpr std::array<std::string_view, 12> kCities = {"Accra",  "Bergen", "Cusco", "Delft",
                                                             "Erfurt", "Fes",    "Genoa", "Hue",
                                                             "Izmir",  "Jaipur", "Kyoto", "Lyon"};
inline constexpr std::array<std::string_view, 12> kCountries = {"GH", "NO", "PE", "NL", "DE", "MA",
                                                                "IT", "VN", "TR", "IN", "JP", "FR"};

template <size_t N>
std::string_view Pick(Rng* rng, const std::array<std::string_view, N>& words) {
  return words[rng->Uniform(N)];
}

inline std::string PickName(Rng* rng) {
  std::string name(Pick(rng, kGivenNames));
  return name.append(" ").append(Pick(rng, kFamilyNames));
}

// Seconds from 1970 to 2020-01-01 and 2024-01-01.
inline constexpr int64_t kYear2020 = 1'577'836'800;
inline constexpr int64_t kYear2024 = 1'704'067'200;
inline constexpr uint64_t kDaySeconds = 86'400;
inline constexpr uint64_t kYearSeconds = 365 * kDaySeconds;

}  // namespace koios::import
