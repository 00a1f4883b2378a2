// A scripted client for tests of sessions: it reads a message when the test says so.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "core/mutex.h"
#include "server/submit_session.h"

namespace koios::server {

class FakeStream final : public SubmitStream {
 public:
  void SetQueryId(const std::string& id) override { query_id = id; }
  void SendQueryId() override { ++announced; }
  ClientName Client() const override { return {client, ""}; }
  void Abort() override { ++aborted; }
  std::optional<uint64_t> RemainingNs() const override { return remaining_ns; }
  void Write(const v1::SubmitResponse* message) override {
    MutexLock lock(&mutex_);
    CHECK(!writing_ && !ended_);  // one at a time, none behind the end
    writing_ = true;
    messages_.push_back(*message);
    changed_.NotifyAll();
  }
  void WriteLast(const v1::SubmitResponse* message) override { EndWith(OkStatus(), *message); }
  void Fail(const Status& status) override { EndWith(status, {}); }

  // The next message, as soon as there is one; its write is outstanding until Written().
  v1::SubmitResponse WaitForWrite() {
    MutexLock lock(&mutex_);
    while (!writing_) changed_.Wait(&mutex_);
    return messages_.back();
  }
  void Written(SubmitSession* session, bool ok = true) {
    {
      MutexLock lock(&mutex_);
      writing_ = false;
    }
    session->OnWriteDone(ok);
  }
  // Reads whatever comes until the call ends.
  Status ReadAll(SubmitSession* session) {
    while (true) {
      {
        MutexLock lock(&mutex_);
        while (!writing_ && !ended_) changed_.Wait(&mutex_);
        if (ended_) return status_;
      }
      Written(session);
    }
  }
  size_t num_messages() {
    MutexLock lock(&mutex_);
    return messages_.size();
  }
  std::vector<v1::SubmitResponse> messages() {
    MutexLock lock(&mutex_);
    return messages_;
  }
  v1::Summary summary() { return last().summary(); }
  v1::SubmitResponse last() {
    MutexLock lock(&mutex_);
    return last_;
  }

  std::string query_id;
  std::atomic<int> announced{0};
  std::atomic<int> aborted{0};
  std::string client = "somebody";
  std::optional<uint64_t> remaining_ns;

 private:
  // Shares nothing with the session's, which its thread may let go later: Abseil counts references
  // where the thread sanitizer does not see it.
  static Status OwnCopy(const Status& status) {
    Status copy(status.code(), status.message());
    status.ForEachPayload([&copy](absl::string_view url, const absl::Cord& payload) {
      copy.SetPayload(url, absl::Cord(std::string(payload)));
    });
    return copy;
  }
  void EndWith(const Status& status, const v1::SubmitResponse& last) {
    MutexLock lock(&mutex_);
    CHECK(!writing_ && !ended_);  // once, and not during a write
    ended_ = true;
    status_ = OwnCopy(status);
    last_ = last;
    changed_.NotifyAll();
  }

  Mutex mutex_;
  CondVar changed_;
  std::vector<v1::SubmitResponse> messages_ KOIOS_GUARDED_BY(mutex_);
  v1::SubmitResponse last_ KOIOS_GUARDED_BY(mutex_);
  Status status_ KOIOS_GUARDED_BY(mutex_);
  bool writing_ KOIOS_GUARDED_BY(mutex_) = false;
  bool ended_ KOIOS_GUARDED_BY(mutex_) = false;
};

}  // namespace koios::server
