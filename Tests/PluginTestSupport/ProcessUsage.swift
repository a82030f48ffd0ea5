import GStreamerKit

import enum TestSupport.ProcessCounts

/// Threads and descriptors, without the threads that GLib keeps for later.
struct ProcessUsage {
  let threads: Int
  let descriptors: [String]

  init() {
    // Again and again, because threads are not unused before a while after their work.
    _ = eventually {
      g_thread_pool_stop_unused_threads()
      return g_thread_pool_get_num_unused_threads() == 0
    }
    threads = ProcessCounts.threads
    descriptors = ProcessCounts.descriptorTargets
  }

  /// Whether as much is left as there was, after a while at most.
  func isRestored() -> Bool {
    eventually {
      let now = ProcessUsage()
      return now.threads <= threads && now.descriptors.count <= descriptors.count
    }
  }
}
