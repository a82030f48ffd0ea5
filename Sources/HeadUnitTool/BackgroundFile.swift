import Glibc
import SDLLink

/// A file or pipe that is written on a thread of its own: no thread that adds to it waits for a slow reader or disk.
/// The bytes that wait for such a reader are bounded.
final class BackgroundFile: Sendable {
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

    var isDone: Bool { waiting.isEmpty && beginning == nil && !isWriting }
  }

  /// The bytes that a pipe takes at once.
  private static let pieceByteCount = 4096
  /// How long the end of the program waits for a reader that reads nothing.
  private static let longestStandstill = Duration.seconds(1)

  private let descriptor: Int32
  private let name: String
  private let maximumByteCount: Int
  private let state = Monitor(State())

  /// - Parameters:
  ///   - descriptor: stays open as long as the program runs.
  ///   - name: of the thread.
  ///   - maximumByteCount: while more bytes wait, additions are left out.
  init(_ descriptor: Int32, name: String, maximumByteCount: Int) {
    self.descriptor = descriptor
    self.name = name
    self.maximumByteCount = maximumByteCount
  }

  func start() throws(LinkError) {
    try WorkerThread.detach(name: name) {
      while true { self.writeWaiting() }
    }
  }

  enum Addition {
    /// It waits to be written; so many were left out before it.
    case added(after: Int)
    /// It is left out; `isFirst` says that the one before was not.
    case omitted(isFirst: Bool)
    /// A write has failed since the last addition, with this errno. Nothing more is written.
    case failed(Int32)
  }

  /// Adds bytes at the end.
  /// - Parameter notice: written before them, with the number of additions that were left out.
  func append(_ bytes: [UInt8], notice: (Int) -> [UInt8] = { _ in [] }) -> Addition {
    state.change { state in
      if let failure = state.failure { return .failed(failure) }
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
  var failure: Int32? { state.withLock { $0.failure } }

  /// Replaces as many bytes at the beginning, once all waiting bytes are written. Without effect on a pipe, which has
  /// no beginning.
  func replaceBeginning(_ bytes: [UInt8]) {
    state.change { $0.beginning = bytes }
  }

  /// Waits until everything is written, or nothing more is read.
  func finish() {
    while true {
      let before = state.withLock { $0.writtenCount }
      let isDone = state.wait(until: MonotonicClock.now + Self.longestStandstill) { $0.isDone ? true : nil }
      if isDone != nil || state.withLock({ $0.writtenCount == before }) { return }
    }
  }

  private func writeWaiting() {
    let work = state.wait(until: nil) { state -> (bytes: [UInt8], beginning: [UInt8]?)? in
      guard !state.isDone else { return nil }
      defer { (state.waiting, state.beginning) = ([], nil) }
      state.isWriting = true
      return (state.waiting, state.beginning)
    }
    var rest = work.map { $0.bytes[...] } ?? []
    var failure = state.withLock { $0.failure }
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
    if let beginning = work?.beginning, failure == nil {
      _ = beginning.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
    state.change { state in
      state.isWriting = false
      state.failure = failure
    }
  }
}
