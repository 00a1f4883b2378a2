// The handler may run at any time on any thread: it reads atomics only, of slots that are never
// freed. mmap is no function that POSIX promises for handlers, but a plain system call here.
#include "storage/snapshot/sigbus_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "core/mutex.h"

namespace koios::storage {

struct SigbusGuard::Slot {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> damaged{false};
  Slot* next = nullptr;       // of all slots; never changed once it is published
  Slot* next_free = nullptr;  // guarded by the registry's mutex
};

struct SigbusGuard::Registry {
  Mutex mutex;
  Slot* free KOIOS_GUARDED_BY(mutex) = nullptr;
  std::atomic<Slot*> all{nullptr};
  uintptr_t page_bytes = 4096;
  struct sigaction before = {};

  static Registry& Get() {
    static Registry* const kRegistry = [] {
      auto* made = new Registry();
      made->page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
      handled = made;
      struct sigaction action = {};
      action.sa_sigaction = &Handle;
      action.sa_flags = SA_SIGINFO | SA_NODEFER;
      sigemptyset(&action.sa_mask);
      sigaction(SIGBUS, &action, &made->before);
      return made;
    }();
    return *kRegistry;
  }

  // As the handler sees it.
  static Registry* handled;

  static void Handle(int signal, siginfo_t* info, void* context) {
    const int error = errno;
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    const uintptr_t page = address / handled->page_bytes * handled->page_bytes;
    for (Slot* slot = handled->all.load(); slot != nullptr; slot = slot->next) {
      if (address < slot->begin.load() || address >= slot->end.load()) continue;
      slot->damaged.store(true);
      void* const zeros = mmap(reinterpret_cast<void*>(page), handled->page_bytes, PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      if (zeros != MAP_FAILED) {
        errno = error;
        return;
      }
    }
    const struct sigaction& before = handled->before;
    if ((before.sa_flags & SA_SIGINFO) != 0) {
      before.sa_sigaction(signal, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
      before.sa_handler(signal);
    } else {
      // The fault comes again at once, and finds nobody.
      ::signal(SIGBUS, SIG_DFL);
    }
    errno = error;
  }
};

SigbusGuard::Registry* SigbusGuard::Registry::handled = nullptr;

SigbusGuard::SigbusGuard(const void* begin, size_t bytes)
    : slot_([] {
        Registry& registry = Registry::Get();
        MutexLock lock(&registry.mutex);
        if (registry.free != nullptr) {
          Slot* const slot = registry.free;
          registry.free = slot->next_free;
          return slot;
        }
        auto* const slot = new Slot();
        slot->next = registry.all.load();
        registry.all.store(slot);
        return slot;
      }()) {
  slot_->damaged.store(false);
  // Empty until its end is known, whenever a handler looks.
  slot_->begin.store(reinterpret_cast<uintptr_t>(begin));
  slot_->end.store(reinterpret_cast<uintptr_t>(begin) + bytes);
}

SigbusGuard::~SigbusGuard() {
  slot_->end.store(0);
  slot_->begin.store(0);
  Registry& registry = Registry::Get();
  MutexLock lock(&registry.mutex);
  slot_->next_free = registry.free;
  registry.free = slot_;
}

bool SigbusGuard::damaged() const { return slot_->damaged.load(std::memory_order_relaxed); }

}  // namespace koios::storage
