import SDLLink

/// The path of frames or samples to the head unit.
protocol StreamPath: AnyObject {
  associatedtype Stream: AppStream
  associatedtype State: StreamPathState

  /// With the lock of the state: a thread begins to use the path.
  func taken(_ state: inout State)
}

/// The state that all threads share for a path.
protocol StreamPathState: Sendable {
  /// A thread has the path.
  var isPathTaken: Bool { get set }
}

/// A path, which one thread at a time uses. The streaming thread has it for each buffer; while that thread has none,
/// the connection thread takes it for the last picture or a notice, and others to flush or end it.
///
/// Unlike a lock it may be kept over a blocking call: the connection thread never waits for it, and has it for no
/// longer than it takes to encode one picture. Nothing is posted or pushed while it is taken: an application or an
/// element may answer with a flush, which needs it.
///
/// `@unchecked Sendable`: the path is reached only through ``HeldPath``, of which there is one at a time. Who has it
/// changes under the monitor's lock, which also orders what one thread has written before what the next one reads.
final class PathAccess<Path: StreamPath>: @unchecked Sendable {
  fileprivate let path: Path
  fileprivate let state: Monitor<Path.State>

  init(_ path: Path, _ state: Monitor<Path.State>) {
    self.path = path
    self.state = state
  }

  /// Waits for the path, and calls `opening` when this thread gets it, with the lock of state and negotiation.
  func take(
    for stream: Path.Stream, _ opening: (Path, inout Path.State, inout Path.Stream.Negotiation) -> Void = { _, _, _ in }
  ) -> HeldPath<Path> {
    while true {
      let isHeld = state.withLock(and: stream.state) { state, negotiation in
        guard hold(&state) else { return false }
        opening(path, &state, &negotiation)
        return true
      }
      if isHeld { return HeldPath(self, of: stream) }
      state.wait { !$0.isPathTaken }
    }
  }

  /// Nil if another thread has the path; for the connection thread.
  func takeIfFree(for stream: Path.Stream) -> HeldPath<Path>? {
    state.withLock(hold) ? HeldPath(self, of: stream) : nil
  }

  fileprivate func hold(_ state: inout Path.State) -> Bool {
    guard !state.isPathTaken else { return false }
    state.isPathTaken = true
    path.taken(&state)
    return true
  }
}

/// A path that this thread has. It has to be given back.
struct HeldPath<Path: StreamPath>: ~Copyable {
  let stream: Path.Stream
  private let access: PathAccess<Path>
  private let flushCount: UInt

  fileprivate init(_ access: PathAccess<Path>, of stream: Path.Stream) {
    self.access = access
    self.stream = stream
    flushCount = stream.progress.flushCount
  }

  var path: Path { access.path }

  /// Whether a flush has come since the path was taken: in answer to something that was posted or pushed meanwhile. It
  /// includes the buffer at hand.
  var wasFlushed: Bool { stream.progress.flushCount != flushCount }

  /// Gives the path back, and calls `closing` with the lock before any other thread gets it.
  consuming func giveBack<Result>(_ closing: (Path, inout Path.State) -> Result) -> Result {
    access.state.change { state in
      state.isPathTaken = false
      return closing(access.path, &state)
    }
  }

  /// Gives the path back while `body` waits, posts or pushes.
  mutating func whileGivenBack<Result>(_ body: (Path.Stream) -> Result) -> Result {
    access.state.change { $0.isPathTaken = false }
    defer { access.state.wait { access.hold(&$0) } }
    return body(stream)
  }
}
