import Glibc
import Synchronization
import TestSupport
import Testing

@testable import SDLLink

/// The threads of the plugin, and what wakes them.
@Suite struct WorkerThreadTests {
  /// A write to a pipe or socket whose other end is gone must not end the application: on whatever thread this one was
  /// started, and whatever the application has set.
  @Test func blocksTheSignalOfABrokenPipe() throws {
    // Pool threads block most signals, and those that they start inherit that.
    var (signals, former) = (sigset_t(), sigset_t())
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_UNBLOCK, &signals, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
    let isBlocked = Mutex(false)
    let thread = WorkerThread(name: "test")
    try thread.start {
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      let blocks = sigismember(&mask, SIGPIPE) == 1
      isBlocked.withLock { $0 = blocks }
    }
    thread.join()
    #expect(isBlocked.withLock { $0 })
  }

  /// As debuggers show it: as much as the kernel takes.
  @Test(arguments: [("sdl-test", "sdl-test"), ("sdl-a-very-long-name", "sdl-a-very-long")])
  func hasItsName(name: String, shown: String) throws {
    let found = Mutex("")
    let thread = WorkerThread(name: name)
    try thread.start {
      guard let file = fopen("/proc/thread-self/comm", "re") else { return }
      defer { fclose(file) }
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = fread(&bytes, 1, bytes.count, file)
      found.withLock { $0 = String(decoding: bytes.prefix(count).prefix { $0 != 10 }, as: UTF8.self) }
    }
    thread.join()
    #expect(found.withLock { $0 } == shown)
  }

  @Test func runsOnce() throws {
    let count = Mutex(0)
    let thread = WorkerThread(name: "test")
    // Nothing to wait for.
    thread.join()
    for _ in 0..<2 { try thread.start { count.withLock { $0 += 1 } } }
    thread.join()
    try thread.start { count.withLock { $0 += 1 } }
    thread.join()
    #expect(count.withLock { $0 } == 1)
  }

  /// The thread itself, which would wait without end, does not count as one that has waited for its end.
  @Test func othersWaitForTheEnd() throws {
    let stage = Monitor(0)
    let thread = WorkerThread(name: "test")
    try thread.start {
      let isCurrent = thread.isCurrent
      thread.join()
      stage.change { $0 = isCurrent ? 1 : -1 }
      stage.wait(atLatest: MonotonicClock.now + testTimeout) { $0 >= 3 }
      usleep(20_000)
      stage.change { $0 = 10 }
    }
    #expect(stage.wait(until: MonotonicClock.now + testTimeout) { $0 == 0 ? nil : $0 } == 1 && !thread.isCurrent)
    let seen = Mutex<[Int]>([])
    let others = (0..<2).map { _ in WorkerThread(name: "other") }
    for other in others {
      try other.start {
        stage.change { $0 += 1 }
        thread.join()
        seen.withLock { $0.append(stage.withLock { $0 }) }
      }
    }
    for other in others { other.join() }
    #expect(seen.withLock { $0 } == [10, 10])
  }
}

@Suite struct WakeUpTests {
  private func isReadable(_ wakeUp: WakeUp) -> Bool {
    var descriptor = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, 0) == 1
  }

  @Test func signalsAddUpToOne() throws {
    let wakeUp = WakeUp()
    #expect(wakeUp.descriptor == -1)
    // Nobody hears it, and nobody is disturbed.
    wakeUp.signal()
    try wakeUp.open()
    #expect(!isReadable(wakeUp))
    for _ in 0..<3 { wakeUp.signal() }
    #expect(isReadable(wakeUp))
    wakeUp.clear()
    #expect(!isReadable(wakeUp))
    // Without a signal, too, it returns.
    wakeUp.clear()
    wakeUp.signal()
    let deadline = MonotonicClock.now + testTimeout
    wakeUp.wait(until: deadline)
    #expect(MonotonicClock.now < deadline)
    #expect(!isReadable(wakeUp), "the signal was taken")
    wakeUp.wait(until: .zero)
  }

  @Test func opensOneDescriptor() throws {
    let wakeUp = WakeUp()
    try wakeUp.open()
    let descriptor = wakeUp.descriptor
    try wakeUp.open()
    #expect(wakeUp.descriptor == descriptor && fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
  }
}
