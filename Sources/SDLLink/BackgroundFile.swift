import Glibc

/// A file or pipe that is written on a thread of its own: no thread that adds to it waits for a slow reader or disk.
/// The bytes that wait for such a reader are bounded.
package final class BackgroundFile: Sendable {
  private struct State: Sendable {
    var waiting: [UInt8] = []
    /// Replaces the beginning of the file once all waiting bytes are written.
    var beginning: [UInt8]?
    /// How many additions were left out since the last one.
    var omittedCount = 0
    var isWriting = false
    var writtenCount = 0
    /// Of the write that has failed. Nothing is written after it.
    var failure: Int32?
    /// The thread has been started.
    var isRunning = false
    /// Nothing is added any more, and the descriptor is closed once the rest is written.
    var isEnding = false
    var isClosed = false

    var isDone: Bool { waiting.isEmpty && beginning == nil && !isWriting }
  }

  /// The bytes that a pipe takes at once.
  private static let pieceByteCount = 4096
  /// How long the end waits for a reader that reads nothing.
  private static let longestStandstill = Duration.seconds(1)

  private let descriptor: Int32
  private let maximumByteCount: Int
  private let failed: (@Sendable (Int32) -> Void)?
  private let thread: WorkerThread
  private let state = Monitor(State())

  /// - Parameters:
  ///   - descriptor: belongs to it from now on.
  ///   - name: of the thread.
  ///   - maximumByteCount: while more bytes wait, additions are left out.
  ///   - failed: called once, on that thread, with the errno of a write that has failed.
  package init(
    _ descriptor: Int32, name: String, maximumByteCount: Int, failed: (@Sendable (Int32) -> Void)? = nil
  ) {
    self.descriptor = descriptor
    self.maximumByteCount = maximumByteCount
    self.failed = failed
    thread = WorkerThread(name: name)
  }

  /// Creates a file, which is empty then, or opens a pipe.
  ///
  /// - Parameter waitsForReader: of a pipe; otherwise one without a reader is an error.
  package convenience init(
    creating path: String, name: String, maximumByteCount: Int, waitsForReader: Bool = true,
    failed: (@Sendable (Int32) -> Void)? = nil
  ) throws(LinkError) {
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (waitsForReader ? 0 : O_NONBLOCK)
    let descriptor = open(path, flags, 0o644)
    guard descriptor >= 0 else { throw .system(operation: "open \(path)", errno: errno) }
    if !waitsForReader { _ = fcntl(descriptor, F_SETFL, 0) }
    self.init(descriptor, name: name, maximumByteCount: maximumByteCount, failed: failed)
  }

  deinit {
    if !state.withLock({ $0.isClosed }) { Glibc.close(descriptor) }
  }

  package func start() throws(LinkError) {
    state.withLock { $0.isRunning = true }
    do {
      try thread.start { self.run() }
    } catch {
      state.withLock { $0.isRunning = false }
      throw error
    }
  }

  private func run() {
    while writeWaiting() {}
    Glibc.close(descriptor)
    state.change { $0.isClosed = true }
  }

  package enum Addition {
    /// It waits to be written; so many were left out before it.
    case added(after: Int)
    /// It is left out; `isFirst` says that the one before was not.
    case omitted(isFirst: Bool)
    /// A write has failed since the last addition, with this errno. Nothing more is written.
    case failed(Int32)
  }

  /// Adds bytes at the end.
  /// - Parameter notice: written before them, with the number of additions that were left out.
  package func append(_ bytes: [UInt8], notice: (Int) -> [UInt8] = { _ in [] }) -> Addition {
    state.change { state in
      if let failure = state.failure { return .failed(failure) }
      guard !state.isEnding else { return .omitted(isFirst: false) }
      guard state.waiting.count < maximumByteCount else {
        state.omittedCount += 1
        return .omitted(isFirst: state.omittedCount == 1)
      }
      let omitted = state.omittedCount
      state.omittedCount = 0
      if omitted > 0 { state.waiting += notice(omitted) }
      state.waiting += bytes
      return .added(after: omitted)
    }
  }

  /// Of the write that has failed, after which nothing is written; nil if none has.
  package var failure: Int32? { state.withLock { $0.failure } }

  /// Replaces as many bytes at the beginning, once all waiting bytes are written. Without effect on a pipe, which has
  /// no beginning.
  package func replaceBeginning(_ bytes: [UInt8]) {
    state.change { $0.beginning = bytes }
  }

  /// Waits until everything is written, or nothing more is read. Does not wait in `failed`.
  package func finish() {
    wait { $0.isDone }
  }

  /// Closes the file once everything is written, and waits for that like ``finish()``. Additions are left out from now
  /// on.
  package func close() {
    state.change { $0.isEnding = true }
    wait { $0.isClosed }
  }

  private func wait(for condition: @Sendable (State) -> Bool) {
    guard !thread.isCurrent, state.withLock({ $0.isRunning }) else { return }
    while true {
      let before = state.withLock { $0.writtenCount }
      let isMet = state.wait(atLatest: MonotonicClock.now + Self.longestStandstill) { condition($0) }
      if isMet || state.withLock({ $0.writtenCount == before }) { return }
    }
  }

  /// Waits for something to write, and writes it; false at the end.
  private func writeWaiting() -> Bool {
    let work = state.wait(until: nil) { state -> (bytes: [UInt8], beginning: [UInt8]?, isEnd: Bool)? in
      guard !state.isDone || state.isEnding else { return nil }
      defer { (state.waiting, state.beginning) = ([], nil) }
      state.isWriting = !state.isDone
      return (state.waiting, state.beginning, !state.isWriting)
    }
    guard let work, !work.isEnd else { return false }
    var rest = work.bytes[...]
    let former = state.withLock { $0.failure }
    var failure = former
    while !rest.isEmpty, failure == nil {
      let piece = rest.prefix(Self.pieceByteCount)
      let count = piece.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        failure = errno
        break
      }
      rest = rest.dropFirst(count)
      state.withLock { $0.writtenCount &+= count }
    }
    if let beginning = work.beginning, failure == nil {
      _ = beginning.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
    state.change { state in
      state.isWriting = false
      state.failure = failure
    }
    if former == nil, let failure { failed?(failure) }
    return true
  }
}
