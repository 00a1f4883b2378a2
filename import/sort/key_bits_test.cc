// Numbers order as the keys do in the bits that were gathered, and give the keys back.
#include "import/sort/key_bits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/random.h"
#include "import/sort/record_order.h"

namespace koios::import {
namespace {

KeyBits BitsOf(const std::vector<std::string>& keys, KeySwap swap) {
  const KeyBits::Words first = KeyBits::Load(keys[0]);
  KeyBits::Words differ{};
  for (const std::string& key : keys) {
    const KeyBits::Words words = KeyBits::Load(key);
    for (size_t i = 0; i < words.size(); ++i) differ[i] |= words[i] ^ first[i];
  }
  return KeyBits(differ, first, swap);
}

std::string Swapped(const std::string& key, KeySwap swap) {
  std::string buffer;
  return std::string(SwapKey(swap, key, &buffer));
}

// Whether all was gathered.
bool CheckBits(const std::vector<std::string>& keys, KeySwap swap) {
  const KeyBits bits = BitsOf(keys, swap);
  EXPECT_LE(bits.bits(), 64);
  for (const std::string& a : keys) {
    const uint64_t number = bits.Gather(KeyBits::Load(a));
    const std::string whole = Swapped(a, swap);
    if (bits.all()) {
      std::string window(KeyBits::kWindowBytes, '\0');
      bits.Expand(number, window.data());
      EXPECT_EQ(window.substr(0, whole.size()), whole);
    }
    for (const std::string& b : keys) {
      const uint64_t other = bits.Gather(KeyBits::Load(b));
      if (number < other) {
        EXPECT_LT(whole, Swapped(b, swap));
      }
      if (number == other) {
        EXPECT_EQ(whole.substr(0, bits.covered()), Swapped(b, swap).substr(0, bits.covered()));
      }
    }
  }
  return bits.all();
}

// Keys of which byte i is `base` with some of the bits of masks[i].
std::vector<std::string> DrawKeys(Rng* rng, const std::vector<uint8_t>& masks) {
  std::vector<std::string> keys;
  std::string base(masks.size(), '\0');
  for (char& c : base) c = static_cast<char>(rng->Uniform(256));
  for (int i = 0; i < 40; ++i) {
    keys.push_back(base);
    for (size_t j = 0; j < masks.size(); ++j) {
      keys.back()[j] = static_cast<char>(keys.back()[j] ^ (rng->Uniform(256) & masks[j]));
    }
  }
  return keys;
}

TEST(KeyBitsTest, WindowsOfAllSizes) {
  const std::string key = "0123456789abcdefghijklmnopqrstuvwxyz";
  for (size_t size = 0; size <= key.size(); ++size) {
    std::string padded = key.substr(0, std::min(size, KeyBits::kWindowBytes));
    padded.resize(KeyBits::kWindowBytes);
    EXPECT_EQ(KeyBits::Load(key.substr(0, size)), KeyBits::Load(padded)) << size;
  }
}

TEST(KeyBitsTest, KeysOfEdges) {
  Rng rng(1);
  // partition | label | local | neighbour
  const std::vector<uint8_t> masks = {0,   15,  0, 0,  0, 31, 0, 0, 0,   3,
                                      255, 255, 0, 15, 0, 0,  0, 7, 255, 255};
  for (int round = 0; round < 20; ++round) {
    EXPECT_TRUE(CheckBits(DrawKeys(&rng, masks), {}));
    EXPECT_TRUE(CheckBits(DrawKeys(&rng, masks), {2, 6, 12}));
  }
}

TEST(KeyBitsTest, AnyBitsAndSwaps) {
  Rng rng(2);
  int whole = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<uint8_t> masks(1 + rng.Uniform(32));
    const uint64_t share = 1 + rng.Uniform(8);
    for (uint8_t& mask : masks) {
      if (rng.Uniform(8) < share) mask = static_cast<uint8_t>(rng.Uniform(256));
    }
    KeySwap swap;
    if (rng.Uniform(2) == 0 && masks.size() > 2) {
      swap.end = static_cast<uint32_t>(2 + rng.Uniform(masks.size() - 1));
      swap.middle = static_cast<uint32_t>(1 + rng.Uniform(swap.end - 1));
      swap.begin = static_cast<uint32_t>(rng.Uniform(swap.middle));
    }
    whole += CheckBits(DrawKeys(&rng, masks), swap) ? 1 : 0;
  }
  EXPECT_GT(whole, 50);
  EXPECT_LT(whole, 350);
}

}  // namespace
}  // namespace koios::import
