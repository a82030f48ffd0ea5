import CLinux
import Glibc
import Synchronization

/// A descriptor that wakes a thread out of poll(2).
package final class WakeUp: Sendable {
  private let atomicDescriptor = Atomic<Int32>(-1)

  /// Readable after ``signal()``; -1, which poll(2) ignores, before ``open()``.
  package var descriptor: Int32 { atomicDescriptor.load(ordering: .acquiring) }

  package init() {}

  deinit {
    let descriptor = descriptor
    if descriptor >= 0 { close(descriptor) }
  }

  /// Must come before the first poll. Earlier signals are lost, so look at the polled state first.
  package func open() throws(LinkError) {
    guard descriptor < 0 else { return }
    let new = linux_event_descriptor()
    guard new >= 0 else { throw .system(operation: "eventfd", errno: errno) }
    atomicDescriptor.store(new, ordering: .releasing)
  }

  /// From any thread. Signals add up to one wake-up.
  package func signal() {
    var one: UInt64 = 1
    // Fails only when the counter is full, and then the descriptor is readable anyway.
    _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  /// Waits for a signal until `deadline` (nil: none), and takes it.
  package func wait(until deadline: Duration?, clock: TimeSource = .monotonic) {
    withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 1) { descriptors in
      descriptors[0] = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      pollDescriptors(descriptors, until: deadline, clock: clock)
    }
    clear()
  }

  /// Takes all signals so far.
  package func clear() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
  }
}
