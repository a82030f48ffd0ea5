import CLinux
import Glibc
import Synchronization

/// A thread that can be joined by several others, by itself (which does nothing), or not at all.
package final class WorkerThread: Sendable {
  private enum State: Sendable {
    case notStarted
    case running(pthread_t)
    case joining
    case joined
  }

  private enum JoinStep { case join(pthread_t), nothing }

  private let name: String
  private let state = Monitor(State.notStarted)
  /// A copy of the handle, to be compared without the lock; 0 until the thread runs.
  private let identity = Atomic<pthread_t>(0)

  /// At most 15 bytes of `name` show up in debuggers.
  package init(name: String) {
    self.name = name
  }

  deinit {
    state.withLock { if case .running(let handle) = $0 { _ = pthread_detach(handle) } }
  }

  /// Whether the caller runs on this thread.
  package var isCurrent: Bool { identity.load(ordering: .relaxed) == pthread_self() }

  /// Runs `body` on the new thread; does nothing if there has been one.
  package func start(_ body: @escaping @Sendable () -> Void) throws(LinkError) {
    try state.withLock { state throws(LinkError) in
      guard case .notStarted = state else { return }
      let box = Unmanaged.passRetained(
        ThreadBody { [weak self, name] in
          self?.identity.store(pthread_self(), ordering: .relaxed)
          linux_name_current_thread(name)
          body()
        })
      var handle = pthread_t()
      let code = pthread_create(&handle, nil, runThreadBody, box.toOpaque())
      guard code == 0 else {
        box.release()
        throw .system(operation: "pthread_create", errno: code)
      }
      state = .running(handle)
    }
  }

  /// Waits for the thread's end. Returns at once on the thread itself, and when it was never started.
  package func join() {
    guard !isCurrent else { return }
    let step = state.wait(until: nil) { state -> JoinStep? in
      switch state {
      case .notStarted, .joined: return .nothing
      case .joining: return nil
      case .running(let handle):
        // Only one thread may call pthread_join; the others wait for it.
        state = .joining
        return .join(handle)
      }
    }
    guard case .join(let handle)? = step else { return }
    pthread_join(handle, nil)
    state.change { $0 = .joined }
  }

  package static func detach(name: String, _ body: @escaping @Sendable () -> Void) throws(LinkError) {
    try WorkerThread(name: name).start(body)
  }
}

private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void

  init(run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}

private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  // A write to a pipe or an X server that is gone only fails then, and does not end the application.
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
  Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
