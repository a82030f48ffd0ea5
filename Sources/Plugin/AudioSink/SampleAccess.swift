import Glibc
import SDLLink

/// The state that all threads share for samples.
struct SampleState: Sendable {
  var counters = AudioSinkCounters()
  /// How long before its time sound leaves, and its volume.
  var settings = AudioSinkSettings().samples
  /// Payloads that come back from the connection, to be used again.
  var payloads: [SamplePayload] = []
  /// The thread that has the sample path.
  fileprivate var owner: pthread_t?
}

/// The sample path, which one thread at a time uses: the streaming thread, or the thread that ends the stream.
///
/// Unlike a lock it may be kept over a blocking call. Nothing is posted or pushed while it is taken: the answer may be
/// a flush, which needs it.
///
/// `@unchecked Sendable`: the path is reached only through the methods, by the thread that has set `owner` under the
/// monitor's lock, which also orders what one thread has written before what the next one reads.
final class SampleAccess: @unchecked Sendable {
  private let path: SamplePath
  private let shared: Monitor<SampleState>

  init(_ path: SamplePath) {
    self.path = path
    shared = path.sink.state
  }

  /// Waits for the path, and calls `body` with it.
  ///
  /// - Parameter arriving: the bytes of a buffer, whose samples are counted under the same lock.
  func withPath<Result>(arriving byteCount: Int = 0, _ body: (SamplePath) -> Result) -> Result {
    take(arriving: byteCount)
    defer { give() }
    return body(path)
  }

  /// Gives the path back while `body` waits or calls other code, if this thread has it.
  func whileGivenBack<Result>(_ body: () -> Result) -> Result {
    let isMine = shared.withLock { $0.owner.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    guard isMine else { return body() }
    give()
    defer { take(arriving: 0) }
    return body()
  }

  private func take(arriving byteCount: Int) {
    shared.wait(until: nil) { shared -> Void? in
      guard shared.owner == nil else { return nil }
      shared.owner = pthread_self()
      return path.taken(&shared, arriving: byteCount)
    }
  }

  private func give() {
    shared.change { $0.owner = nil }
  }
}
