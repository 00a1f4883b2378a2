// Accounts, devices and transfers, with planted fraud rings. Vertex ids: accounts 1..N, then
// devices, the last ones being those that a ring shares.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "import/generate/csv_file.h"
#include "import/generate/draw.h"
#include "import/generate/generate.h"
#include "import/generate/people.h"

namespace koios::import {
namespace {

enum MoneyThing : uint64_t { kAccount, kDevice, kUses, kTransfers, kRing };

constexpr uint64_t kAccountsPerRing = 1000;
constexpr uint64_t kMinRing = 4, kMaxRing = 8;
constexpr std::array<std::string_view, 4> kModels = {"phone", "laptop", "tablet", "terminal"};

class Money {
 public:
  explicit Money(const GenerateOptions& options)
      : options_(options),
        num_accounts_(options.scale),
        num_rings_(std::max<uint64_t>(1, options.scale / kAccountsPerRing)),
        num_own_devices_(std::max<uint64_t>(1, options.scale / 2)),
        spread_(options.scale, options.seed) {}

  StatusOr<GeneratedGraph> Run() {
    GeneratedGraph graph;
    const auto path = [&](const char* name) { return options_.out + "/" + name; };
    CsvFile accounts(path("accounts.csv"), "~id,~label,owner:string,country:string,opened:date");
    CsvFile devices(path("devices.csv"), "~id,~label,model:string");
    CsvFile uses(path("uses.csv"), "~from,~to,~label,since:date");
    CsvFile transfers(path("transfers.csv"), "~from,~to,~label,amount:double,time:datetime");
    CsvFile rings(path("planted-rings.csv"), "ring,device,accounts");
    for (uint64_t i = 0; i < num_accounts_; ++i) {
      WriteAccount(i, &accounts);
      WriteUses(i, &uses);
      WriteTransfers(i, &transfers);
    }
    for (uint64_t i = 0; i < num_own_devices_ + num_rings_; ++i) {
      Rng rng = DrawsOf(options_.seed, kDevice, i);
      devices.Number(DeviceId(i)).Text("device").Text(Pick(&rng, kModels)).EndRow();
    }
    for (uint64_t i = 0; i < num_rings_; ++i) WriteRing(i, &uses, &transfers, &rings);
    for (CsvFile* file : {&accounts, &devices, &uses, &transfers, &rings}) {
      RETURN_IF_ERROR(file->Close());
    }
    graph.nodes = {path("accounts.csv"), path("devices.csv")};
    graph.edges = {path("uses.csv"), path("transfers.csv")};
    graph.num_vertices = accounts.num_rows() + devices.num_rows();
    graph.num_edges = uses.num_rows() + transfers.num_rows();
    return graph;
  }

 private:
  static uint64_t AccountId(uint64_t i) { return i + 1; }
  uint64_t DeviceId(uint64_t i) const { return num_accounts_ + i + 1; }

  void WriteAccount(uint64_t i, CsvFile* file) {
    Rng rng = DrawsOf(options_.seed, kAccount, i);
    file->Number(AccountId(i)).Text("account").Text(PickName(&rng)).Text(Pick(&rng, kCountries));
    file->Date(kYear2020 + static_cast<int64_t>(rng.Uniform(4 * kYearSeconds))).EndRow();
  }

  // One to three devices; most are used by few accounts.
  void WriteUses(uint64_t i, CsvFile* file) {
    Rng rng = DrawsOf(options_.seed, kUses, i);
    const uint64_t count = 1 + rng.Uniform(3);
    std::vector<uint64_t> chosen;
    for (uint64_t k = 0; k < count; ++k) {
      const uint64_t device = rng.Uniform(num_own_devices_);
      if (std::find(chosen.begin(), chosen.end(), device) != chosen.end()) continue;
      chosen.push_back(device);
      file->Number(AccountId(i)).Number(DeviceId(device)).Text("uses");
      file->Date(kYear2020 + static_cast<int64_t>(rng.Uniform(4 * kYearSeconds))).EndRow();
    }
  }

  void WriteTransfer(uint64_t from, uint64_t to, uint64_t cents, uint64_t second, CsvFile* file) {
    file->Number(AccountId(from)).Number(AccountId(to)).Text("transfer").Cents(cents);
    file->Instant(kYear2024 + static_cast<int64_t>(second)).EndRow();
  }

  void WriteTransfers(uint64_t i, CsvFile* file) {
    Rng rng = DrawsOf(options_.seed, kTransfers, i);
    const uint64_t count =
        DrawPowerLaw(&rng, static_cast<double>(options_.edge_factor), num_accounts_);
    for (uint64_t k = 0; k < count; ++k) {
      uint64_t to = spread_.At(DrawPopular(&rng, num_accounts_));
      if (to == i) to = (to + 1) % num_accounts_;
      constexpr double kMeanCents = 25'000;
      constexpr uint64_t kMostCents = 50'000'000;
      const uint64_t cents = 100 + DrawPowerLaw(&rng, kMeanCents, kMostCents);
      WriteTransfer(i, to, cents, rng.Uniform(kYearSeconds), file);
    }
  }

  void WriteRing(uint64_t ring, CsvFile* uses, CsvFile* transfers, CsvFile* truth) {
    Rng rng = DrawsOf(options_.seed, kRing, ring);
    const uint64_t size = kMinRing + rng.Uniform(kMaxRing - kMinRing + 1);
    const uint64_t device = DeviceId(num_own_devices_ + ring);
    const uint64_t start = rng.Uniform(kYearSeconds - 4 * kDaySeconds);
    std::string members;
    for (uint64_t k = 0; k < size; ++k) {
      const uint64_t account = Member(ring, k);
      members += (k == 0 ? "" : ";") + std::to_string(AccountId(account));
      uses->Number(AccountId(account)).Number(device).Text("uses").Date(kYear2024).EndRow();
    }
    uint64_t cents = 900'000 + rng.Uniform(95'000);
    uint64_t second = start;
    for (uint64_t k = 0; k < size; ++k) {
      WriteTransfer(Member(ring, k), Member(ring, (k + 1) % size), cents, second, transfers);
      cents -= cents * (1 + rng.Uniform(3)) / 100;
      second += 600 + rng.Uniform(5 * 3600);
    }
    truth->Number(ring + 1).Number(device).Text(members).EndRow();
  }

  uint64_t Member(uint64_t ring, uint64_t k) const {
    return spread_.At(num_accounts_ - 1 - (ring * kMaxRing + k));
  }

  const GenerateOptions& options_;
  const uint64_t num_accounts_, num_rings_, num_own_devices_;
  const Spread spread_;
};

}  // namespace

StatusOr<GeneratedGraph> GenerateMoney(const GenerateOptions& options) {
  return Money(options).Run();
}

}  // namespace koios::import
