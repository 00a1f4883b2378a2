#include "client/console/interrupts.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "core/status.h"

namespace koios::client {
namespace {

constexpr char kInterrupted = 'i';
constexpr char kStop = 's';

std::atomic<int> g_signal_fd{-1};

extern "C" void OnSigint(int) {
  const int saved_errno = errno;
  const int fd = g_signal_fd.load();
  // A full pipe has enough Ctrl-C in it already.
  if (fd >= 0) (void)!write(fd, &kInterrupted, 1);
  errno = saved_errno;
}

void SetHandler(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

Interrupts::Interrupts() {
  CHECK(pipe2(signal_pipe_, O_CLOEXEC) == 0);
  CHECK(pipe2(prompt_pipe_, O_CLOEXEC | O_NONBLOCK) == 0);
  fcntl(signal_pipe_[1], F_SETFL, O_NONBLOCK);
  g_signal_fd = signal_pipe_[1];
  SetHandler(&OnSigint);
  watcher_ = std::thread([this] { Watch(); });
}

Interrupts::~Interrupts() {
  SetHandler(SIG_DFL);
  g_signal_fd = -1;
  (void)!write(signal_pipe_[1], &kStop, 1);
  watcher_.join();
  for (const int fd : {signal_pipe_[0], signal_pipe_[1], prompt_pipe_[0], prompt_pipe_[1]}) {
    close(fd);
  }
}

void Interrupts::Watch() {
  char what = 0;
  while (true) {
    const ssize_t got = read(signal_pipe_[0], &what, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1 || what == kStop) return;
    MutexLock lock(&mutex_);
    if (active_.empty()) {
      (void)!write(prompt_pipe_[1], &kInterrupted, 1);
    } else {
      // Under the lock, so that a scope that has ended is never called.
      active_.back().action(++active_.back().count);
    }
  }
}

Interrupts::Scope::Scope(Interrupts* interrupts, std::function<void(int)> action)
    : interrupts_(interrupts) {
  MutexLock lock(&interrupts_->mutex_);
  interrupts_->active_.push_back({std::move(action), 0});
}

Interrupts::Scope::~Scope() {
  MutexLock lock(&interrupts_->mutex_);
  interrupts_->active_.pop_back();
}

int Interrupts::Scope::count() const {
  MutexLock lock(&interrupts_->mutex_);
  return interrupts_->active_.back().count;
}

}  // namespace koios::client
