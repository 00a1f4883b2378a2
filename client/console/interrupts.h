// Interrupts: Ctrl-C as an event. Takes SIGINT over for the process; one may exist at a time. A
// thread of its own runs the action of the innermost scope; without one, prompt_fd() gets readable.
// Rule: the signal handler only writes a byte to a pipe.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "core/mutex.h"

namespace koios::client {

class Interrupts {
 public:
  Interrupts();
  ~Interrupts();  // gives SIGINT back
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // While alive, the n-th Ctrl-C calls action(n), n from 1, on the interrupts' thread.
  class Scope {
   public:
    Scope(Interrupts* interrupts, std::function<void(int)> action);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    int count() const;  // of Ctrl-C so far

   private:
    Interrupts* const interrupts_;
  };

  // Readable when Ctrl-C came outside of a scope; read one byte per Ctrl-C.
  int prompt_fd() const { return prompt_pipe_[0]; }

 private:
  struct Active {
    std::function<void(int)> action;
    int count = 0;
  };
  void Watch();

  int signal_pipe_[2] = {-1, -1};
  int prompt_pipe_[2] = {-1, -1};
  mutable Mutex mutex_;
  std::vector<Active> active_ KOIOS_GUARDED_BY(mutex_);
  std::thread watcher_;
};

}  // namespace koios::client
