// Wrong usage as a shell sees it: exit codes, and what the binary says about it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "client/console/query_session.h"
#include "planner/steps/catalogue.h"
#include "storage/temp_folder.h"

namespace koios::app {
namespace {

struct Outcome {
  int code = -1;
  std::string text;  // both outputs
};

Outcome Koios(const std::string& arguments) {
  Outcome outcome;
  const std::string command = "( " KOIOS_BINARY " " + arguments + " ) 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (size_t read; (read = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    outcome.text.append(buffer, read);
  }
  outcome.code = WEXITSTATUS(pclose(pipe));
  return outcome;
}

std::string WriteVertices(const storage::TempFolder& temp, const std::string& type) {
  std::string path = temp / "vertices.csv";
  std::ofstream(path) << "~id,~label,name:" << type << "\n1,person,marko\n";
  return path;
}

TEST(UsageTest, WrongFlagsOfImportAreUsageErrors) {
  const storage::TempFolder temp;
  const std::string import = "import --data " + temp / "data";
  const std::string nodes = " --nodes " + WriteVertices(temp, "string");
  for (const char* flags :
       {" --id-type foo", " --memory 1", " --delimiter foo", " --delimiter ''", " --delimiter '\"'",
        " --quote ab", " --array-delimiter ''", " --bad-tolerance -5", " --graph bad/name"}) {
    const Outcome outcome = Koios(import + nodes + flags);
    EXPECT_EQ(outcome.code, client::kExitUsage) << flags << ": " << outcome.text;
  }
  EXPECT_EQ(Koios(import).code, client::kExitUsage);
  EXPECT_FALSE(std::filesystem::exists(temp / "data"));
  const Outcome right = Koios(import + nodes + " --quote none --delimiter ,");
  EXPECT_EQ(right.code, client::kExitOk) << right.text;
}

TEST(UsageTest, WhatIsEmptyOrOutOfRangeIsAUsageError) {
  const storage::TempFolder temp;
  const Outcome data = Koios("query --data '' -e 'g.V()'");
  EXPECT_EQ(data.code, client::kExitUsage) << data.text;
  EXPECT_NE(data.text.find("--data"), std::string::npos) << data.text;
  const Outcome scale = Koios("generate rmat --scale 0 --out " + temp / "out");
  EXPECT_EQ(scale.code, client::kExitUsage) << scale.text;
  EXPECT_NE(scale.text.find("between"), std::string::npos) << scale.text;
}

TEST(UsageTest, WhatIsMisspeltHasANearestName) {
  const storage::TempFolder temp;
  const auto says = [](const std::string& arguments, const std::string& nearest) {
    const Outcome outcome = Koios(arguments);
    EXPECT_EQ(outcome.code, client::kExitUsage) << outcome.text;
    EXPECT_NE(outcome.text.find(nearest), std::string::npos) << outcome.text;
  };
  says("qury", "did you mean 'query'?");
  says("--verison", "did you mean '--version'?");
  says("query --dta " + temp / "data", "did you mean '--data'?");
  says("query --qqqqqqq=1", "There is no flag '--qqqqqqq'.");
  says("admin chek", "did you mean 'check'?");
  says("query -e 'g.V()' --format tabel", "did you mean table?");
  const Outcome type =
      Koios("import --data " + temp / "data" + " --nodes " + WriteVertices(temp, "strng"));
  EXPECT_EQ(type.code, client::kExitFailed);
  EXPECT_NE(type.text.find("did you mean string?"), std::string::npos) << type.text;
}

TEST(UsageTest, ScriptsThatFailSayWhere) {
  const storage::TempFolder temp;
  const std::string data = "--data " + temp / "data";
  ASSERT_EQ(Koios("import " + data + " --nodes " + WriteVertices(temp, "string")).code,
            client::kExitOk);
  const std::string script = temp / "script.gremlin";
  std::ofstream(script) << "// two\ng.V().count()\n\ng.V()\n  .outt()\n";
  const Outcome failed = Koios("query " + data + " -f " + script);
  EXPECT_EQ(failed.code, client::kExitFailed);
  EXPECT_NE(failed.text.find("That was the statement from line 4 on."), std::string::npos)
      << failed.text;
  EXPECT_EQ(Koios("query " + data + " -f " + temp / "data").code, client::kExitUsage);
}

TEST(UsageTest, TheConsoleTellsOfEveryStep) {
  const storage::TempFolder temp;
  const std::string script = temp / "help.txt";
  std::ofstream file(script);
  for (const planner::StepSpec& step : planner::StepCatalogue()) {
    file << ":help " << step.name << "\n";
  }
  file.close();
  const Outcome told = Koios("console --data " + temp / "data" + " < " + script);
  ASSERT_EQ(told.code, client::kExitOk) << told.text;
  for (const planner::StepSpec& step : planner::StepCatalogue()) {
    std::string text = std::string(step.name) + "(";
    if (step.IsThere()) text = "  " + std::string(step.example) + "\n";
    EXPECT_NE(told.text.find(text), std::string::npos) << step.name << ": " << text;
  }
}

// What was lost is told and accepted only when it is asked for.
TEST(UsageTest, ADamagedFolderIsRepairedWhenAskedTo) {
  const storage::TempFolder temp;
  const std::string data = "--data " + temp / "data";
  ASSERT_EQ(Koios("import " + data + " --nodes " + WriteVertices(temp, "string")).code,
            client::kExitOk);
  EXPECT_NE(Koios("admin check --repair " + data).text.find("Nothing was wrong"),
            std::string::npos);
  std::filesystem::remove(temp / "data/graphs/g/data-1/MARK");
  for (const char* command : {"query -e 'g.V().count()' ", "admin check ", "admin stats "}) {
    const Outcome damaged = Koios(command + data);
    EXPECT_EQ(damaged.code, client::kExitFailed) << damaged.text;
    EXPECT_NE(damaged.text.find("koios admin check --repair"), std::string::npos) << damaged.text;
  }
  const Outcome repaired = Koios("admin check --repair " + data);
  EXPECT_EQ(repaired.code, client::kExitOk) << repaired.text;
  EXPECT_NE(repaired.text.find("MARK"), std::string::npos) << repaired.text;
  EXPECT_EQ(Koios("query -e 'g.V().count()' " + data).text, "==>1\n");
  for (const std::string& wrong :
       {std::string("admin check --repair"), "admin stats --repair " + data}) {
    const Outcome outcome = Koios(wrong);
    EXPECT_EQ(outcome.code, client::kExitUsage) << outcome.text;
    EXPECT_NE(outcome.text.find("admin check --repair --data DIR"), std::string::npos);
  }
  EXPECT_EQ(Koios("admin check --repair --data " + temp / "none").code, client::kExitFailed);
}

TEST(UsageTest, SnapshotsAreBuiltOfAFolder) {
  const storage::TempFolder temp;
  const std::string data = "--data " + temp / "data";
  ASSERT_EQ(Koios("import " + data + " --nodes " + WriteVertices(temp, "string")).code,
            client::kExitOk);
  const std::string snapshots = temp / "data/graphs/g/data-1/snapshots";
  EXPECT_TRUE(std::filesystem::exists(snapshots + "/p0015-1.snap"));
  const Outcome built = Koios("admin snapshot " + data);
  EXPECT_EQ(built.code, client::kExitOk) << built.text;
  EXPECT_EQ(built.text.find("version 1: 1 vertices, 0 edges\n"), 0) << built.text;
  EXPECT_NE(built.text.find("\n16 files, "), std::string::npos) << built.text;
  EXPECT_TRUE(std::filesystem::exists(snapshots + "/p0015-2.snap"));
  EXPECT_FALSE(std::filesystem::exists(snapshots + "/p0015-1.snap"));
  EXPECT_EQ(Koios("admin check " + data).code, client::kExitOk);
  EXPECT_EQ(Koios("query -e 'g.V().count()' " + data).text, "==>1\n");
  ASSERT_EQ(
      Koios("import --replace --no-snapshot " + data + " --nodes " + WriteVertices(temp, "string"))
          .code,
      client::kExitOk);
  EXPECT_FALSE(std::filesystem::exists(temp / "data/graphs/g/data-2/snapshots"));
  EXPECT_NE(Koios("admin snapshot --server 127.0.0.1:1").code, client::kExitOk);
  EXPECT_EQ(Koios("admin snapshot --graph none " + data).code, client::kExitFailed);
}

TEST(UsageTest, StatisticsComeWithTheSnapshot) {
  const storage::TempFolder temp;
  const std::string data = "--data " + temp / "data";
  const std::string vertices = temp / "v.csv", edges = temp / "e.csv";
  std::ofstream(vertices) << "~id,~label,name:string,age:int\n1,person,marko,29\n"
                             "2,person,vadas,27\n3,person,josh,\n4,city,oslo,\n";
  std::ofstream(edges) << "~from,~to,~label,since:int\n1,2,knows,1999\n1,3,knows,1999\n";
  ASSERT_EQ(Koios("import " + data + " --nodes " + vertices + " --edges " + edges).code,
            client::kExitOk);
  const Outcome stats = Koios("admin stats " + data);
  EXPECT_EQ(stats.code, client::kExitOk) << stats.text;
  for (const char* line : {"vertex | person |     3 | name 3, age 2 in 2",
                           "vertex | city   |     1 | name 1", "edge   | knows  |     2 | since 1",
                           "person   | out knows |     2 |                 1 | "
                           "0.7         |       2"}) {
    EXPECT_NE(stats.text.find(line), std::string::npos) << line << "\n" << stats.text;
  }
  EXPECT_EQ(stats.text.find("not known"), std::string::npos) << stats.text;
}

TEST(UsageTest, IndexesAreMadeListedAndDropped) {
  const storage::TempFolder temp;
  const std::string data = " --data " + temp / "data";
  ASSERT_EQ(Koios("import" + data + " --nodes " + WriteVertices(temp, "string")).code,
            client::kExitOk);
  EXPECT_EQ(Koios("admin index list" + data).text, "There are no indexes.\n");
  const Outcome made = Koios("admin index create person name" + data);
  EXPECT_EQ(made.code, client::kExitOk) << made.text;
  EXPECT_NE(made.text.find("vertices are in the index"), std::string::npos) << made.text;
  const Outcome again = Koios("admin index create person name" + data);
  EXPECT_EQ(again.code, client::kExitFailed);
  EXPECT_NE(again.text.find("person(name) is there already"), std::string::npos) << again.text;
  const Outcome list = Koios("admin index list" + data);
  EXPECT_NE(list.text.find("person | name | ready"), std::string::npos) << list.text;
  const std::string seek = "query" + data + " -e \"g.V().has('person','name','x').explain()\"";
  EXPECT_NE(Koios(seek).text.find("seek person(name): name=[\"x\"]"), std::string::npos);
  EXPECT_EQ(Koios("admin check" + data).code, client::kExitOk);
  EXPECT_EQ(Koios("admin index drop person name" + data).code, client::kExitOk);
  EXPECT_EQ(Koios(seek).text.find("seek"), std::string::npos);
  const Outcome gone = Koios("admin index drop person name" + data);
  EXPECT_EQ(gone.code, client::kExitFailed);
  EXPECT_NE(gone.text.find("no index person(name)"), std::string::npos) << gone.text;
  for (const char* wrong : {"admin index", "admin index create person", "admin index lisst",
                            "admin index drop", "admin index list more", "admin stats more"}) {
    const Outcome outcome = Koios(wrong + data);
    EXPECT_EQ(outcome.code, client::kExitUsage) << outcome.text;
  }
}

TEST(UsageTest, ResultsThatCantBeWrittenAreAFailure) {
  const storage::TempFolder temp;
  const std::string data = "--data " + temp / "data";
  ASSERT_EQ(Koios("import " + data + " --nodes " + WriteVertices(temp, "string")).code,
            client::kExitOk);
  for (const char* format : {"gremlin", "table"}) {
    const Outcome outcome =
        Koios("query " + data + " -e 'g.V(1)' --format " + format + " > /dev/full");
    EXPECT_EQ(outcome.code, client::kExitFailed) << format << outcome.text;
  }
}

}  // namespace
}  // namespace koios::app
